"""What a load is to a model: a checked description that writes a record of the load table. Kernels are in `loads/`."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .item import Item, Vector, item
from .rotation import Array


class Site(Protocol):
    """Where a load finds the compiled model while it fills its record."""

    def end(
        self, row: np.void, side: str, body: str, at: Vector | str | None, axes: Array | None = None
    ) -> None:
        """Write the link and the frame of end 'a' or 'b' of a load; at None is the body's origin.

        `axes` are those of the frame as columns, in the world of the assembled pose; by default the body's.
        """

    def world_vector(self, body: str, vector: Vector) -> Vector:
        """A vector in world axes of the assembled pose, in the axes of the link that carries `body`."""

    def signal(self, signal: Any) -> int:
        """Store a time signal and return its index; -1 for None."""

    def numbers(self, values: Any, scratch: int = 0) -> tuple[int, int]:
        """Store numbers, with room for `scratch` more behind them; returns (first, count)."""

    def joint_span(self, joint: str) -> tuple[int, int, int, int]:
        """(first q, number of q, first v, number of v) of a joint of the tree."""

    def point(self, at: Vector | str) -> Vector:
        """A place in the world of the assembled pose [m]."""

    def keep(self, owner: Any) -> None:
        """Hold an object alive as long as the compiled model."""


@item
class Load(Item):
    """Something that pushes."""

    shelf = "loads"

    def fill(self, row: np.void, site: Site) -> None:
        """Write this load's record."""
        raise NotImplementedError
