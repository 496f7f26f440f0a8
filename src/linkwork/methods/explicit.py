"""What methods share that step explicitly onto the constraints: what they report."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile.constrain import RowTable
from ..engine.solvers import layout
from .sampled import SampledMethod

# A gap worth a warning [m or rad]; sin² of the angle between constraints that counts as a singular position.
_GAP_BUDGET, _SINGULAR = 1e-8, 1e-6


class ExplicitMethod(SampledMethod):
    """A method of the direct solver or of components: statistics as in `engine/solvers/layout.py`."""

    _integrator: str
    _tolerance: float
    _budget: float | None
    """Time that a step should take at most [s]."""
    _implicit: tuple[str, ...] = ()
    """Rows of elements that are too stiff for the step: taken implicitly, at first order."""
    _redundant: tuple[str, ...]
    """Rows that follow from others wherever the mechanism goes."""

    def _marks(self) -> list[tuple[int, RowTable]]:
        assert self.system.rows is not None
        return [(layout.RATIO_ROW, self._rows), (layout.GAP_ROW, self.system.rows)]

    def info(self) -> dict[str, Any]:
        return {
            "integrator": self._integrator,
            "tolerance": self._tolerance if self.adaptive else None,
            "budget": self._budget,
            "implicit_elements": list(self._implicit),
        }

    def report(self) -> dict[str, Any]:
        """The last step: evaluations and the largest gap at the last sample."""
        return {
            "evaluations": int(self._stats[layout.LAST_EVALUATIONS]),
            "gap": float(self._stats[layout.LAST_GAP]),
        }

    def outcome(self) -> dict[str, Any]:
        s = self._stats
        steps = max(int(self.state.clock.taken), 1)
        nearest_singular = None
        if s[layout.RATIO] < np.inf:
            nearest_singular = {
                "row": self._row_name(s[layout.RATIO_ROW], self._rows),
                "time": float(s[layout.RATIO_TIME]),
                "distance": float(max(s[layout.RATIO], 0.0)),
            }
        return {
            **super().outcome(),
            "evaluations_mean": float(s[layout.EVALUATIONS]) / steps,
            "steps_redone": int(s[layout.REDONE]),
            "steps_unsettled": int(s[layout.UNSETTLED]),
            "steps_over_budget": int(s[layout.OVERRUNS]),
            "rejected_steps": int(self.state.clock.refused),
            "worst_gap_m": float(s[layout.GAP]),
            "worst_row": self._gap_row(),
            "nearest_singular": nearest_singular,
            "redundant_rows": list(self._redundant),
        }

    def warnings(self) -> list[str]:
        s, found = self._stats, list(self._start.notes)
        if s[layout.GAP] > _GAP_BUDGET:
            found.append(
                f"{self._gap_row()} is open by {s[layout.GAP]:.2g} m at t = {s[layout.GAP_TIME]:.4g} s"
            )
        if s[layout.UNSETTLED]:
            found.append(
                f"{int(s[layout.UNSETTLED])} steps ended off the constraints, the first at t = "
                f"{s[layout.UNSETTLED_TIME]:.4g} s: take smaller steps"
            )
        if s[layout.RATIO] < _SINGULAR * min(
            1.0, s[layout.RATIO_FIRST]
        ):  # light bodies make small pivots anywhere
            found.append(
                f"a singular position was passed near t = {s[layout.RATIO_TIME]:.4g} s: there the equations of "
                f"'{str(self._row_name(s[layout.RATIO_ROW], self._rows)).partition(':')[0]}' follow from the others"
            )
        if s[layout.OVERRUNS]:
            found.append(f"{int(s[layout.OVERRUNS])} steps took longer than the budget of {self._budget:g} s")
        return found

    def _gap_row(self) -> str | None:
        assert self.system.rows is not None
        return self._row_name(self._stats[layout.GAP_ROW], self.system.rows)
