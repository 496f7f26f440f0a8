"""The slider joint."""

from .base import Joint, Motion, Z, item, slide


@item
class Slider(Joint):
    """Translation along the axis."""

    kind = "slider"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(Z, "travel"),)
