"""The cylindrical joint."""

from .base import ALIGN_Z, AX, AY, D, Joint, Motion, Z, item, slide, turn


@item
class Cylindrical(Joint):
    """Translation along and rotation about the axis.

    Coordinates: `travel` [m], `angle` [rad]; rates `travel_rate` [m/s], `angle_rate` [rad/s].
    """

    kind = "cylindrical"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(Z, "travel"), turn(Z, "angle"))

    def equations(self) -> tuple[tuple[int, int], ...]:
        return ((AX, D), (AY, D), *ALIGN_Z)
