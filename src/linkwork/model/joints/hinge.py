"""The hinge joint."""

from .base import ALIGN_Z, COINCIDE, Joint, Motion, Z, item, turn


@item
class Hinge(Joint):
    """Rotation about the axis, right-handed.

    Coordinate: `angle` [rad]; rate `angle_rate` [rad/s].
    """

    kind = "hinge"

    def motions(self) -> tuple[Motion, ...]:
        return (turn(Z, "angle"),)

    def equations(self) -> tuple[tuple[int, int], ...]:
        return (*COINCIDE, *ALIGN_Z)
