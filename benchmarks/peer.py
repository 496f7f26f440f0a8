"""What every other engine that runs a mechanism of hinges can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linkwork.model.rotation import Array

    from .hinges import Link


class Peer(ABC):
    """A mechanism in another engine; everything per joint is in the order of the tree."""

    @abstractmethod
    def reset(self) -> None:
        """Back to the start."""

    @abstractmethod
    def run(self, steps: int) -> None:
        """Take steps."""

    @property
    @abstractmethod
    def angles(self) -> Array:
        """Of the joints now [rad]."""

    @property
    @abstractmethod
    def rates(self) -> Array:
        """Of the joints now [rad/s]."""

    @property
    @abstractmethod
    def gap(self) -> float:
        """Largest distance now of two points that a loop holds together, by the engine's own kinematics [m]."""

    def largest_gap(self, steps: int) -> float:
        """The farthest that a loop opens in so many steps from the start [m]."""
        self.reset()
        largest = 0.0
        for _ in range(steps):
            self.run(1)
            largest = max(largest, self.gap)
        return largest


def starts(links: dict[int, Link]) -> tuple[Array, Array]:
    """Angles and rates at the start."""
    return (
        np.array([link.start for link in links.values()]),
        np.array([link.rate for link in links.values()]),
    )


def widest(pairs: Iterable[tuple[Array, Array]]) -> float:
    """Largest distance of two points [m]; 0 if there are none."""
    return max((float(np.linalg.norm(a - b)) for a, b in pairs), default=0.0)
