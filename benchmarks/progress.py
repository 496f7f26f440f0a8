"""How far a suite is."""

from __future__ import annotations

from collections.abc import Callable


class Progress:
    """Passes on the share done, 0 to 1, to whoever wants to know."""

    def __init__(self, tell: Callable[[float], object] | None):
        self._tell = tell
        self._at = 0.0

    def to(self, share: float) -> None:
        """This much is done."""
        self._at = share
        if self._tell is not None:
            self._tell(share)

    def stretch(self, end: float, rounds: int) -> Callable[[], None]:
        """A function whose `rounds` calls lead from here to `end`."""
        begin = self._at

        def tick() -> None:
            self.to(min(end, self._at + (end - begin) / rounds))

        return tick
