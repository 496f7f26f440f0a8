"""The spherical joint."""

from .base import COINCIDE, Joint, Motion, ball, item


@item
class Spherical(Joint):
    """Rotation about every axis, by a quaternion: no gimbal lock."""

    kind = "spherical"

    def motions(self) -> tuple[Motion, ...]:
        return (ball(),)

    def equations(self) -> tuple[tuple[int, int], ...]:
        return COINCIDE
