"""The universal joint."""

from .base import AX, BY, COINCIDE, Joint, Motion, X, Y, item, turn


@item
class Universal(Joint):
    """Rotation about the x axis carried by a, then about the y axis carried by b (a Cardan joint).

    Coordinates: `angle_x`, `angle_y` [rad]; rates `angle_x_rate`, `angle_y_rate` [rad/s].
    """

    kind = "universal"

    def motions(self) -> tuple[Motion, ...]:
        return (turn(X, "angle_x"), turn(Y, "angle_y"))

    def equations(self) -> tuple[tuple[int, int], ...]:
        return (*COINCIDE, (AX, BY))
