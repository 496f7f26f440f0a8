"""What methods share that sample accelerations and forces of rows: explicit steps onto constraints, implicit ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile.constrain import RowTable, without_addresses
from ..engine.steppers import explicit
from ..engine.steppers.motion import Run
from ..engine.steppers.samples import Samples
from ..engine.tables import Constraints
from ..model.rotation import Array
from .base import Method
from .switching import RowMethod

_GAP_BUDGET = 1e-8  # a gap worth a warning [m or rad]
_KEPT = ("head", "known", "wait", "crowd", "worn")  # what an explicit step leaves to the next in its course
_SINGULAR = 1e-6  # sin² of the angle between constraints that counts as a singular position


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
        self.disturb()

    def memory(self) -> dict[str, Array]:
        return {**super().memory(), "rows": without_addresses(self._constraints.rows)}

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


def run_memory(run: Run) -> dict[str, Array]:
    """All that changes in an explicit run beside its state, to be saved and written back in place."""
    motion = run.motion
    return {
        **{f"course_{name}": np.asarray(run.course)[name] for name in _KEPT},
        "motion_y": motion.y,
        "motion_a": motion.a,
        "motion_past": motion.past,
        "motion_q_past": motion.q_past,
        "motion_seen": motion.seen,
    }


class ExplicitMethod(SampledMethod):
    """A method of the direct solver or of components: statistics as in `engine/steppers/motion.py`."""

    _integrator: str
    _tolerance: float
    _implicit: tuple[str, ...] = ()
    """Rows of elements that are too stiff for the step: taken implicitly, at first order."""
    _redundant: tuple[str, ...]
    """Rows that follow from others wherever the mechanism goes."""

    def _marks(self) -> list[tuple[str, RowTable]]:
        return [("ratio_row", self._rows), ("gap_row", self.system.row_table)]

    def _go_on(self, status: int, wanted: Array) -> int:
        """Do what the loop came back for before these targets; the phase to go on with, or `explicit.END`."""
        return explicit.END

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
            "evaluations": int(self._stats.last_evaluations),
            "gap": float(self._stats.last_gap),
        }

    def outcome(self) -> dict[str, Any]:
        s = self._stats
        steps = max(int(self.state.clock.taken), 1)
        nearest_singular = None
        if s.ratio < np.inf:
            nearest_singular = {
                "row": self._row_name(s.ratio_row, self._rows),
                "time": float(s.ratio_time),
                "distance": float(max(s.ratio, 0.0)),
            }
        return {
            **super().outcome(),
            "evaluations_mean": float(s.evaluations) / steps,
            "steps_redone": int(s.redone),
            "steps_unsettled": int(s.unsettled),
            "rejected_steps": int(self.state.clock.refused),
            "nearest_singular": nearest_singular,
            "redundant_rows": list(self._redundant),
            "events": int(s.events),
            "steps_by_impulses": int(s.leaps),
        }

    def warnings(self) -> list[str]:
        s, found = self._stats, super().warnings()
        if s.leaps and self._integrator != "euler":
            crowded = int(s.leaps)
            found.append(f"in {crowded} steps events crowded so much that they were taken at first order")
        if s.unsettled:
            found.append(
                f"{int(s.unsettled)} steps ended off the constraints, the first at t = "
                f"{s.unsettled_time:.4g} s: take smaller steps"
            )
        if s.ratio < _SINGULAR * min(1.0, s.ratio_first):  # light bodies make small pivots anywhere
            found.append(
                f"a singular position was passed near t = {s.ratio_time:.4g} s: there the equations of "
                f"'{str(self._row_name(s.ratio_row, self._rows)).partition(':')[0]}' follow from the others"
            )
        return found
