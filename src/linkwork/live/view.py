"""What an observer of a running model gets to see, and the methods that a selector offers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..model.rotation import Array
from ..stage.stage import Poses

TRACE = 800
"""Points of a trace."""


@dataclass(frozen=True, eq=False)
class View:
    """What there is to see now."""

    time: float
    """[s]"""
    poses: Poses
    run: int
    """Counts resets and changes of the model."""
    names: list[str]
    """Of all signals that are recorded."""
    numbers: Array
    """Their values."""

    @cached_property
    def values(self) -> dict[str, float]:
        """All signals by name."""
        return dict(zip(self.names, self.numbers.tolist(), strict=True))


class Method(NamedTuple):
    """A way to simulate, as a selector names it."""

    name: str
    method: str
    solver: str | None
