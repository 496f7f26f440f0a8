"""The free joint."""

from .base import Joint, Motion, X, Y, Z, ball, item, slide


@item
class Free(Joint):
    """All six motions, position first, then a quaternion.

    Coordinates: `x`, `y`, `z` [m] along the axes of the joint frame on a, and the quaternion `qw`, `qx`, `qy`, `qz`
    [1]; rates `x_rate`, `y_rate`, `z_rate` [m/s] and the angular velocity `wx`, `wy`, `wz` in the axes of b's joint
    frame [rad/s].
    """

    kind = "free"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(X, "x"), slide(Y, "y"), slide(Z, "z"), ball())

    def equations(self) -> tuple[tuple[int, int], ...]:
        return ()
