"""The spherical joint."""

from .base import COINCIDE, Joint, Motion, ball, item


@item
class Spherical(Joint):
    """Rotation about every axis, by a quaternion: no gimbal lock.

    Coordinates: the quaternion `qw`, `qx`, `qy`, `qz` [1]; rates: the angular velocity `wx`, `wy`, `wz` of b against a
    in the axes of b's joint frame [rad/s].
    """

    kind = "spherical"

    def motions(self) -> tuple[Motion, ...]:
        return (ball(),)

    def equations(self) -> tuple[tuple[int, int], ...]:
        return COINCIDE
