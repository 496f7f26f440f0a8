"""Stretches of a motion with the same joints attached, and which forces of rows each of them samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile.system import System
from ..engine.tables import LAW, Constraints
from ..mechanism.switching import Attachment
from ..model.rotation import Array


class Stretch(NamedTuple):
    """A stretch of motion with the same joints attached."""

    system: System
    rows: tuple[str, ...]
    """Whose forces are sampled."""
    attachment: Attachment
    tree_q: Array
    """A pose of the mechanism's tree in which these joints fit."""


class Stretches:
    """All stretches of a motion. Where joints can be switched at all, forces of a sample begin with its number."""

    def __init__(self, *, switchable: bool):
        self._switchable = switchable
        self._stretches: list[Stretch] = []
        self._idle: dict[int, tuple[tuple[str, ...], Constraints, Any]] = {}

    def __getitem__(self, number: int) -> Stretch:
        return self._stretches[number]

    def add(self, stretch: Stretch) -> int:
        """Begin a stretch; its number."""
        self._stretches.append(stretch)
        return len(self._stretches) - 1

    def idle(self, number: int) -> tuple[tuple[str, ...], Constraints, Any]:
        """Elements that methods leave out in a stretch, since no motion changes what they measure; they push all the
        same."""
        if number not in self._idle:
            table, solved = self._stretches[number].system.rows, self._stretches[number].rows
            assert table is not None
            rows = table.constraints.rows
            lawful = np.flatnonzero((rows["role"] == LAW) & (rows["input"] < 0))
            which = np.array([i for i in lawful if table.names[i] not in solved], np.int64)
            names = tuple(table.names[i] for i in which)
            self._idle[number] = names, table.fresh(), which
        return self._idle[number]

    def split(self, given: Array) -> list[tuple[int, slice, Array]]:
        """Sampled forces of rows by stretches: the number of each, which samples, forces."""
        if not self._switchable:
            return [(0, slice(0, len(given)), given)]
        ends = [*(np.flatnonzero(np.diff(given[:, 0])) + 1), len(given)]
        parts, begin = [], 0
        for end in ends:
            number, here = int(given[begin, 0]), slice(begin, end)
            parts.append((number, here, given[here, 1 : 1 + len(self._stretches[number].rows)]))
            begin = end
        return parts
