"""The slider joint."""

from .base import ALIGN, AX, AY, D, Joint, Motion, Z, item, slide


@item
class Slider(Joint):
    """Translation along the axis.

    Coordinate: `travel` [m]; rate `travel_rate` [m/s].
    """

    kind = "slider"

    def motions(self) -> tuple[Motion, ...]:
        return (slide(Z, "travel"),)

    def equations(self) -> tuple[tuple[int, int], ...]:
        return ((AX, D), (AY, D), *ALIGN)
