"""The cylindrical joint."""

from .base import ALIGN_Z, AX, AY, D, Joint, Motion, Z, item, slide, turn


@item
class Cylindrical(Joint):
    """Translation along and rotation about the axis."""

    kind = "cylindrical"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(Z, "travel"), turn(Z, "angle"))

    def equations(self) -> tuple[tuple[int, int], ...]:
        return ((AX, D), (AY, D), *ALIGN_Z)
