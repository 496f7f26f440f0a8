"""The planar joint."""

from .base import Joint, Motion, X, Y, Z, item, slide, turn


@item
class Planar(Joint):
    """Translation in the plane across the axis and rotation about the axis."""

    kind = "planar"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(X, "x"), slide(Y, "y"), turn(Z, "angle"))
