"""The weld joint."""

from .base import ALIGN, COINCIDE, Joint, Motion, item


@item
class Weld(Joint):
    """No motion at all: it has no coordinates."""

    kind = "weld"

    def motions(self) -> tuple[Motion, ...]:
        return ()

    def equations(self) -> tuple[tuple[int, int], ...]:
        return (*COINCIDE, *ALIGN)
