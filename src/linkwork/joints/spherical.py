"""The spherical joint."""

from .base import Joint, Motion, ball, item


@item
class Spherical(Joint):
    """Rotation about every axis, by a quaternion: no gimbal lock."""

    kind = "spherical"

    def motions(self) -> tuple[Motion, ...]:
        return (ball(),)
