"""The hinge joint."""

from .base import Joint, Motion, Z, item, turn


@item
class Hinge(Joint):
    """Rotation about the axis."""

    kind = "hinge"

    def motions(self) -> tuple[Motion, ...]:
        return (turn(Z, "angle"),)
