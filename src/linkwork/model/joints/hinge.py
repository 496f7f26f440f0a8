"""The hinge joint."""

from .base import ALIGN_Z, COINCIDE, Joint, Motion, Z, item, turn


@item
class Hinge(Joint):
    """Rotation about the axis."""

    kind = "hinge"

    def motions(self) -> tuple[Motion, ...]:
        return (turn(Z, "angle"),)

    def equations(self) -> tuple[tuple[int, int], ...]:
        return (*COINCIDE, *ALIGN_Z)
