"""The last seconds of some signals, for plots."""

from __future__ import annotations

import numpy as np

from ..model.rotation import Array

_MOST = 4000  # samples kept of a signal


class History:
    """Rows of chosen signals in order of time, the oldest forgotten."""

    def __init__(self, names: tuple[str, ...], seconds: float):
        self.names, self.seconds = names, seconds
        self._rows = np.empty((0, 1 + len(names)))

    def add(self, times: Array, values: Array) -> None:
        """Rows of samples × signals."""
        rows = np.vstack([self._rows, np.column_stack([times, values])])
        rows = rows[rows[:, 0] >= rows[-1, 0] - self.seconds]
        self._rows = rows[-_MOST:]

    def clear(self) -> None:
        """Forget all."""
        self._rows = self._rows[:0]

    @property
    def times(self) -> Array:
        """[s]"""
        return self._rows[:, 0]

    def of(self, name: str) -> Array:
        """The values of one signal."""
        return self._rows[:, 1 + self.names.index(name)]
