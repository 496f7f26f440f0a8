"""Component-based simulation: the model's own hierarchy of subsystems, kept while it moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compile import compile_apart
from ..constrain import RowTable
from ..elimination import Placement, new_hierarchy, row_order
from ..formulations import components, stepping
from ..integrate import dormand_prince, new_state, rk4
from ..kernels.clock import cycles_per_second
from ..model import Model
from ..observe import Block, DirectObserver
from ..rotation import Array
from ..solvers import layout
from ..subsystems import Subsystem, borders, hierarchy, ties
from ..tables import GIVEN, HELD, HOLD, SERVO_RATE
from .implicit import refuse
from .rows import Start, settle
from .sampled import SampledMethod

INTEGRATORS = {
    "rk4": stepping.RUNGE_KUTTA,
    "adams": stepping.ADAMS,
    "adaptive": stepping.ADAPTIVE,
    "euler": stepping.EULER,
}
_GAP_BUDGET, _SINGULAR = 1e-8, 1e-6
"""A gap worth a warning [m or rad]; sin² of the angle between constraints that counts as a singular position."""


class ComponentMethod(SampledMethod):
    """Subsystems eliminated one after the other (Vlasenko and Kasper), in maximal coordinates.

    `integrator`: "rk4", "adams" (order four, one evaluation a step), "adaptive" (order five, keeps the local error at
    `tolerance`) or "euler" (order one). `partition`: the subsystems; those that the model was written in by default.
    """

    name = "components"

    def __init__(
        self,
        model: Model,
        integrator: str,
        dt: float,
        tolerance: float,
        budget: float | None,
        partition: Subsystem | None = None,
    ):
        flat = model.flatten()
        refuse(self.name, flat)
        self.adaptive = integrator == "adaptive"
        self._dt, self._integrator, self._tolerance, self._budget = dt, integrator, tolerance, budget
        self._top = hierarchy(model) if partition is None else partition
        self._tied = ties(flat)
        tableau = dormand_prince() if self.adaptive else rk4()
        self._tableau = np.vstack([tableau.a, tableau.b, tableau.c, tableau.e])
        ticks = 0.0 if budget is None else budget * cycles_per_second()
        self._options = np.array([INTEGRATORS[integrator], tolerance, ticks])
        start = Start(model, True, lambda model: compile_apart(model, {}))
        self._tables = start.system.fresh_tables()
        self.observer: DirectObserver = DirectObserver(model, start.system)
        self._open(start)
        self.reset()

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        assert self.system.rows is not None
        placement = Placement(self._top, borders(self._top, self._tied), ())
        order, homes = row_order(self.system, self.system.rows, placement)
        self._rows = self.system.rows.chosen(order)
        self._work = new_hierarchy(self.system, self._rows, homes, placement)
        self._configuration = self.observer.configure(
            self.system, self._rows.names, start.attachment, start.tree_q
        )

    def _fill(self) -> None:
        super()._fill()
        rows = self._constraints.rows
        rows["mode"] = np.where(np.isin(rows["role"], (HOLD, SERVO_RATE)), HELD, GIVEN)

    def _marks(self) -> list[tuple[int, RowTable]]:
        assert self.system.rows is not None
        return [(layout.RATIO_ROW, self._rows), (layout.GAP_ROW, self.system.rows)]

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
        self._control = np.zeros(components.CONTROL, np.int64)
        self._course = np.zeros(components.PLAN)
        self._vote = np.zeros(components.VOTES)
        state = new_state(start.q, start.v)
        self.state = state._replace(q=motion.q[layout.NOW], v=now[nv : 2 * nv], work=now[2 * nv :])
        self.state.clock[1] = self._dt

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = self._room(len(targets))
        done, status = components.run_components(
            self._tables, self._constraints, self._every_row, self._work, self._motion, self.state.clock,
            self.state.counts, self._tableau, self._stats, self._dt, self._options, np.array(targets, float), out,
            self._control, self._course, self._vote,
        )  # fmt: skip
        return done, status, self._block(out)

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self.disturb()

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
            "report": self._work.report,
        }

    def info(self) -> dict[str, Any]:
        return {
            "integrator": self._integrator,
            "tolerance": self._tolerance if self.adaptive else None,
            "budget": self._budget,
            "subsystems": len(self._work.node),
        }

    def report(self) -> dict[str, Any]:
        """The last step: evaluations and the largest gap at the last sample."""
        return {
            "evaluations": int(self._stats[layout.LAST_EVALUATIONS]),
            "gap": float(self._stats[layout.LAST_GAP]),
        }
