"""The weld joint."""

from .base import Joint, Motion, item


@item
class Weld(Joint):
    """No motion at all."""

    kind = "weld"

    def motions(self) -> tuple[Motion, ...]:
        return ()
