"""What methods share that step explicitly onto the constraints: what they report, and parts too stiff for a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constrain import RowTable
from ..rotation import Array
from ..solvers import layout
from ..tables import DC_MOTOR, SERVO_PLACE, SPRING
from .sampled import SampledMethod

# Step times frequency, and step times decay, from which a spring or motor is taken implicitly.
_STIFF_SPRING, _STIFF_DAMPER = 0.5, 0.2
# A gap worth a warning [m or rad]; sin² of the angle between constraints that counts as a singular position.
_GAP_BUDGET, _SINGULAR = 1e-8, 1e-6


class ExplicitMethod(SampledMethod):
    """A method of the direct solver or of components: statistics as in `solvers/layout.py`."""

    _integrator: str
    _tolerance: float
    _budget: float | None
    """Time that a step should take at most [s]."""
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
        }

    def report(self) -> dict[str, Any]:
        """The last step: evaluations and the largest gap at the last sample."""
        return {
            "evaluations": int(self._stats[layout.LAST_EVALUATIONS]),
            "gap": float(self._stats[layout.LAST_GAP]),
        }

    def outcome(self) -> dict[str, Any]:
        s = self._stats
        steps = max(int(self.state.counts[1]), 1)
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
            "rejected_steps": int(self.state.counts[2]),
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


def soft_rows(rows: Any) -> np.ndarray:
    """Springs, servos and motors: rows that can be too stiff to be stepped explicitly."""
    return np.flatnonzero(np.isin(rows["role"], (SPRING, SERVO_PLACE, DC_MOTOR)))


def too_stiff(rows: Any, soft: np.ndarray, mobilities: Array, h: float) -> list[int]:
    """Those of the soft rows that are, given how far each yields to a unit of force [1/kg or 1/(kg m²)]."""
    found = []
    for i, mobility in zip(soft, mobilities, strict=True):
        role, value = rows["role"][i], rows["value"][i]
        if role == DC_MOTOR:
            stall, idle, inertia, gear = value[:4]
            stiffness, damping = 0.0, gear * gear * stall / idle
            mobility = 1.0 / (1.0 / mobility + gear * gear * inertia) if mobility > 0.0 else 0.0
        else:
            stiffness, damping = value[1:3] if role == SERVO_PLACE else value[:2]
        if h * np.sqrt(stiffness * mobility) > _STIFF_SPRING or h * damping * mobility > _STIFF_DAMPER:
            found.append(int(i))
    return found
