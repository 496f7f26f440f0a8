"""What methods share that sample accelerations and the forces of rows: the direct solver and the implicit steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile.constrain import RowTable, without_addresses
from ..engine.steppers.samples import Samples
from ..engine.tables import Constraints
from ..model.rotation import Array
from .base import Method
from .rows import carry
from .switching import RowMethod

_GAP_BUDGET = 1e-8  # a gap worth a warning [m or rad]


class SampledMethod(RowMethod):
    """A method with two sets of rows: those that are solved, and all of them, in which gaps are measured.

    Its statistics tell the largest gap (`gap`, `gap_row`, `gap_time`) and steps beyond the budget (`overruns`).
    """

    _every_row: Constraints
    _budget: float | None
    """Time that a step should take at most [s]."""

    def _fill(self) -> None:
        self._constraints = self._rows.fresh()
        self._every_row = self._constraints._replace(rows=self.system.row_table.fresh().rows)

    def _row_sets(self) -> list[tuple[RowTable, Constraints]]:
        return [(self._rows, self._constraints), (self.system.row_table, self._every_row)]

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, type(self)):
            if self._rows.names == other._rows.names:
                np.asarray(self._stats)[...] = np.asarray(other._stats)
            for mine, theirs in zip(self._row_sets(), other._row_sets(), strict=True):
                carry(*mine, *theirs)
        self.disturb()

    def memory(self) -> dict[str, Array]:
        constraints = self._constraints
        return {
            **super().memory(),
            "rows": without_addresses(constraints.rows),
            "coordinates": constraints.coords["value"],
            "commands": constraints.inputs,
            "stats": np.asarray(self._stats),
        }

    def outcome(self) -> dict[str, Any]:
        return {
            **super().outcome(),
            "steps_over_budget": int(self._stats.overruns),
            "worst_gap_m": float(self._stats.gap),
            "worst_row": self._gap_row(),
        }

    def warnings(self) -> list[str]:
        s, found = self._stats, list(self._start.notes)
        if s.gap > _GAP_BUDGET:
            found.append(f"{self._gap_row()} is open by {s.gap:.2g} m at t = {s.gap_time:.4g} s")
        if s.overruns:
            found.append(f"{int(s.overruns)} steps took longer than the budget of {self._budget:g} s")
        return found

    def _gap_row(self) -> str | None:
        return self._row_name(self._stats.gap_row, self.system.row_table)

    def accelerations(self) -> Array:
        a: Array = Samples(*self.now()).a[0]
        return a
