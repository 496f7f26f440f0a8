"""The planar joint."""

from .base import ALIGN_Z, AZ, D, Joint, Motion, X, Y, Z, item, slide, turn


@item
class Planar(Joint):
    """Translation in the plane across the axis and rotation about the axis.

    Coordinates: `x`, `y` [m] along the x and y axis of the joint frame, `angle` [rad]; rates `x_rate`, `y_rate` [m/s],
    `angle_rate` [rad/s].
    """

    kind = "planar"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(X, "x"), slide(Y, "y"), turn(Z, "angle"))

    def equations(self) -> tuple[tuple[int, int], ...]:
        return ((AZ, D), *ALIGN_Z)
