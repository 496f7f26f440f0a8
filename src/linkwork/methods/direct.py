"""The direct solver: loops closed to rounding, order four between events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..closure import Closure, yielding
from ..constrain import RowTable
from ..formulations import stepping
from ..integrate import dormand_prince, new_state, rk4
from ..kernels.clock import cycles_per_second
from ..model import Model
from ..observe import Block, DirectObserver
from ..order import new_work
from ..rotation import Array
from ..solvers import layout
from ..switching import Attachment
from ..tables import DC_MOTOR, FRICTION, LIMIT, SERVO_PLACE, SERVO_RATE, SPRING
from .base import samples
from .rows import Start, ordered_rows, redundant_rows, settle
from .sampled import SampledMethod

INTEGRATORS = {
    "adams": stepping.ADAMS,
    "rk4": stepping.RUNGE_KUTTA,
    "adaptive": stepping.ADAPTIVE,
    "euler": stepping.EULER,
}
# Step times frequency, and step times decay, from which a spring or motor is taken implicitly.
_STIFF_SPRING, _STIFF_DAMPER = 0.5, 0.2
# A gap worth a warning [m or rad]; sin² of the angle between constraints that counts as a singular position.
_GAP_BUDGET, _SINGULAR = 1e-8, 1e-6
_PROBES = 3


class DirectMethod(SampledMethod):
    """The direct solver in generalized (`simgc`) or maximal coordinates (`simmc`).

    `integrator`: "adams" (order four, one evaluation a step), "rk4", "adaptive" (order five, keeps the local error at
    `tolerance`) or "euler" (impulses, order one). `budget`: time that a step should take at most [s].
    """

    def __init__(
        self, model: Model, name: str, integrator: str, dt: float, tolerance: float, budget: float | None
    ):
        self.name = name
        self.adaptive = integrator == "adaptive"
        self._dt, self._integrator, self._tolerance, self._budget = dt, integrator, tolerance, budget
        start = Start(model, name == "simmc")
        self._tables = start.system.fresh_tables()
        tableau = dormand_prince() if self.adaptive else rk4()
        self._tableau = np.vstack([tableau.a, tableau.b, tableau.c, tableau.e])
        self.observer: DirectObserver = DirectObserver(model, start.system)
        self._open(start)
        self.reset()

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        self._redundant = redundant_rows(start)
        self._rows = ordered_rows(self.system, set(self._redundant))
        self._work = new_work(self._tables, self._rows.constraints)
        self._scale = self._probed()
        self._configuration = self.observer.configure(
            self.system, self._rows.names, start.attachment, start.tree_q
        )

    def _fill(self) -> None:
        super()._fill()
        self._work.row[layout.SCALE] = self._scale
        self._work.row[layout.USUAL] = 0.0

    def _marks(self) -> list[tuple[int, RowTable]]:
        assert self.system.rows is not None
        return [(layout.RATIO_ROW, self._rows), (layout.GAP_ROW, self.system.rows)]

    def _restore(self, attachment: Attachment, tree_q: Array) -> None:
        super()._restore(attachment, tree_q)
        self._choose()

    def reset(self) -> None:
        self._rewind()
        start, nv = self._start, self.system.nv
        self._stats = np.zeros(layout.STATS)
        self._stats[[layout.RATIO, layout.RATIO_ROW, layout.GAP_ROW]] = np.inf, -1.0, -1.0
        self._fill()
        settle(self._tables, self._constraints, start.q)
        settle(self._tables, self._every_row, start.q)
        motion = layout.new_motion(self.system.nq, nv, len(self._constraints.inputs))
        motion.q[layout.NOW] = start.q
        now = motion.y[layout.NOW]
        now[nv : 2 * nv] = start.v
        self._motion = motion
        state = new_state(start.q, start.v)
        self.state = state._replace(q=motion.q[layout.NOW], v=now[nv : 2 * nv], work=now[2 * nv :])
        self.state.clock[1] = self._dt
        self._choose()

    def _probed(self) -> Array:
        """How large the diagonals of A are at a few random poses: pivots are judged against that.

        The start will not do for it, which may be singular.
        """
        random = np.random.default_rng(0)
        options = np.array([stepping.PROBE, 0.0, 0.0, 0.0])
        nothing = layout.Samples(*samples(0, self.system), *(np.empty((0, 0)) for _ in range(5)))
        constraints, stats = self._rows.fresh(), np.zeros(layout.STATS)
        motion = layout.new_motion(self.system.nq, self.system.nv, len(constraints.inputs))
        state = new_state(self._start.q, self._start.v)
        for _ in range(_PROBES):
            motion.q[layout.NOW] = self._start.q + random.normal(size=self.system.nq)
            stepping.run_direct(
                self._tables, constraints, constraints, self._work, motion, state.clock, state.counts,
                self._tableau, stats, self._dt, options, np.empty(0), nothing,
            )  # fmt: skip
        scale: Array = self._work.row[layout.SCALE].copy()
        return scale

    def _choose(self) -> None:
        """Which parts are too stiff for the step and taken implicitly, and what the kernel is told."""
        rows, h = self._constraints.rows, self._dt
        rows["stiff"] = 0
        if not self.adaptive:
            for name in _stiff_rows(self._start, h):
                rows["stiff"][self._rows.names.index(name)] = 1
        self._stiff = bool(rows["stiff"].any())
        code = INTEGRATORS[self._integrator]
        if code == stepping.ADAMS and self._stiff:
            code = stepping.RUNGE_KUTTA
        strength = rows["value"][:, 0]
        bounded = np.isin(rows["role"], (LIMIT, FRICTION)) | (
            np.isin(rows["role"], (SERVO_RATE, SERVO_PLACE)) & np.isfinite(strength)
        )
        ticks = 0.0 if self._budget is None else self._budget * cycles_per_second()
        self._options = np.array([code, bounded.any(), self._tolerance, ticks])

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = self._room(len(targets))
        done, status = stepping.run_direct(
            self._tables, self._constraints, self._every_row, self._work, self._motion, self.state.clock,
            self.state.counts, self._tableau, self._stats, self._dt, self._options, np.array(targets, float), out,
        )  # fmt: skip
        return done, status, self._block(out)

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self._choose()
        self._motion.seen[:] = np.nan

    def disturb(self) -> None:
        self._motion.seen[:] = np.nan

    def memory(self) -> dict[str, Array]:
        constraints, motion = self._constraints, self._motion
        return {
            **super().memory(),
            "rows": constraints.rows,
            "coordinates": constraints.coords["value"],
            "commands": constraints.inputs,
            "stats": self._stats,
            "motion_q": motion.q,
            "motion_y": motion.y,
            "motion_a": motion.a,
            "motion_count": motion.tally,
            "motion_seen": motion.seen,
            "work_rows": self._work.row,
            "report": self._work.report,
        }

    def info(self) -> dict[str, Any]:
        return {
            "solver": "direct",
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
            "events": int(s[layout.EVENTS]),
            "steps_redone": int(s[layout.REDONE]),
            "steps_by_impulses": int(s[layout.EULER_STEPS]),
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
        if self._integrator != "euler" and s[layout.EULER_STEPS]:
            found.append(
                f"in {int(s[layout.EULER_STEPS])} steps events crowded so much that they were taken at first order"
            )
        if s[layout.OVERRUNS]:
            found.append(f"{int(s[layout.OVERRUNS])} steps took longer than the budget of {self._budget:g} s")
        return found

    def _gap_row(self) -> str | None:
        assert self.system.rows is not None
        return self._row_name(self._stats[layout.GAP_ROW], self.system.rows)


def _stiff_rows(start: Start, h: float) -> list[str]:
    """Springs, servos and motors too stiff to be stepped explicitly."""
    assert start.tree.rows is not None
    rows, names = start.tree.rows.constraints.rows, start.tree.rows.names
    soft = np.flatnonzero(np.isin(rows["role"], (SPRING, SERVO_PLACE, DC_MOTOR)))
    if not len(soft):
        return []
    found = []
    for i, mobility in zip(
        soft, yielding(Closure(start.tree, start.tree_q), start.tree_q, soft), strict=True
    ):
        role, value = rows["role"][i], rows["value"][i]
        if role == DC_MOTOR:
            stall, idle, inertia, gear = value[:4]
            stiffness, damping = 0.0, gear * gear * stall / idle
            mobility = 1.0 / (1.0 / mobility + gear * gear * inertia) if mobility > 0.0 else 0.0
        else:
            stiffness, damping = value[1:3] if role == SERVO_PLACE else value[:2]
        if h * np.sqrt(stiffness * mobility) > _STIFF_SPRING or h * damping * mobility > _STIFF_DAMPER:
            found.append(names[i])
    return found
