"""The cylindrical joint."""

from .base import Joint, Motion, Z, item, slide, turn


@item
class Cylindrical(Joint):
    """Translation along and rotation about the axis."""

    kind = "cylindrical"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(Z, "travel"), turn(Z, "angle"))
