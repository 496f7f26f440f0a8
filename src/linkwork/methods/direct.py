"""The direct solver: loops closed to rounding, order four between events."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compile.colliders import may_touch
from ..compile.compiler import Compiled
from ..compile.constrain import RowTable, without_addresses
from ..compile.order import new_work
from ..engine.kernels.clock import cycles_per_second
from ..engine.solvers import layout
from ..engine.steppers import stepping
from ..engine.steppers.integrate import dormand_prince, rk4
from ..engine.steppers.samples import Samples
from ..engine.steppers.state import new_state
from ..engine.tables import FREE, HELD, HOLD, LIMIT, Constraints
from ..mechanism.dependence import better_choice
from ..mechanism.softness import softness
from ..mechanism.switching import Attachment
from ..model import Model
from ..model.rotation import Array
from ..observe.observer import Block, DirectObserver
from .base import Method, samples
from .contact import DEFAULT_ERP, DEFAULT_SLOP, ContactMethod
from .explicit import ExplicitMethod
from .options import DEFAULT_TOLERANCE, RowOptions, option
from .rows import Start, ordered_rows, settle

INTEGRATORS = {
    "adams": stepping.ADAMS,
    "rk4": stepping.RUNGE_KUTTA,
    "adaptive": stepping.ADAPTIVE,
    "euler": stepping.EULER,
}
DEFAULT_SWEEPS = 100
_PROBES = 3
_LATER = 0.5  # how much smaller pivots must have become before another choice of rows is looked for again


@dataclass(frozen=True, kw_only=True)
class Direct(RowOptions):
    """The direct solver: loops closed to rounding, any mechanism; with contact at first order.

    Integrators: "adams" (order 4, one evaluation a step; the default), "rk4" (order 4), "adaptive" (order 5) and
    "euler" (impulses, order 1; all that there is with contact).
    """

    integrators: ClassVar = tuple(INTEGRATORS)
    text: ClassVar = "any mechanism, constraints solved exactly"
    solver: ClassVar = "direct"

    tolerance: float | None = option(None, "Local error that adaptive steps keep; 1e-8 by default.")
    iterations: int | None = option(
        None, "Limit of sweeps over contacts a step; 100 by default.", contact=True
    )
    erp: float | None = option(
        None,
        "Share of a penetration beyond the slop that is removed in a step; 0.8 by default.",
        contact=True,
    )

    def _build(self, model: Compiled, dt: float) -> Method:
        assert self.integrator is not None
        if not may_touch(model.flat):
            tolerance = self.tolerance or DEFAULT_TOLERANCE
            return DirectMethod(model, self.method, self.integrator, dt, tolerance, self.budget)
        return ContactMethod(
            model, self.method, self.solver, dt, 0.0, self.iterations or DEFAULT_SWEEPS, self.budget,
            self.erp or DEFAULT_ERP, self.slop or DEFAULT_SLOP, self.sleep,
        )  # fmt: skip


class DirectMethod(ExplicitMethod):
    """The direct solver in generalized (`simgc`) or maximal coordinates (`simmc`).

    `integrator`: "adams" (order four, one evaluation a step), "rk4", "adaptive" (order five, keeps the local error at
    `tolerance`) or "euler" (impulses, order one). `budget`: time that a step should take at most [s].
    """

    solver = Direct.solver

    def __init__(
        self,
        model: Model | Compiled,
        name: str,
        integrator: str,
        dt: float,
        tolerance: float,
        budget: float | None,
    ):
        compiled = Compiled.of(model)
        self.name = name
        self.adaptive = integrator == "adaptive"
        self._dt, self._integrator, self._tolerance, self._budget = dt, integrator, tolerance, budget
        start = Start(compiled, name == "simmc")
        self._begin_scratch(compiled, start)
        tableau = dormand_prince() if self.adaptive else rk4()
        self._tableau = np.vstack([tableau.a, tableau.b, tableau.c, tableau.e])
        self.observer: DirectObserver = DirectObserver(compiled, start.system, self.scratch)
        self._open(start)
        self.reset()

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        self._rows = ordered_rows(self.system, set(start.dependence.idle))
        self._work = new_work(self._tables, self._rows.constraints)
        self._scale = self._probed()

    def _fill(self) -> None:
        super()._fill()
        self._work.row[layout.SCALE] = self._scale
        self._keep(self._first_choice())

    def _first_choice(self) -> Any:
        """Joint equations and couplings that are solved for when a run begins."""
        others = set(self._start.dependence.others)
        return np.array([i for i in self._held() if self._rows.names[i] not in others], np.int64)

    def _held(self) -> Any:
        """Joint equations and couplings, kept or not."""
        return np.flatnonzero(self._constraints.rows["role"] == HOLD)

    def _keep(self, chosen: Array) -> None:
        """Solve for these joint equations; the others follow from them."""
        rows, held = self._constraints.rows, self._held()
        rows["mode"][held] = FREE
        rows["mode"][chosen] = HELD
        rows["active"][held] = rows["mode"][held] == HELD
        self._work.row[layout.USUAL] = 0.0
        self._work.report[layout.WEAKEST] = 1.0
        self._work.report[layout.WORN] = stepping.USED_UP if len(chosen) < len(held) else 0.0

    def _choose_anew(self) -> None:
        """Exchange joint equations that have come near to following from each other, if others are better here."""
        system = dataclasses.replace(self.system, rows=self._rows)
        chosen = better_choice(system, self.state.q, self._kept())
        if chosen is not None:
            self._keep(chosen)
        else:  # no use to ask again before it is much worse
            self._work.report[layout.WORN] = _LATER * self._work.report[layout.WEAKEST]

    @property
    def _redundant(self) -> tuple[str, ...]:  # type: ignore[override]
        rows, names = self._constraints.rows, self._rows.names
        out = np.flatnonzero((rows["role"] == HOLD) & (rows["mode"] == FREE))
        return (*self._start.dependence.idle, *(names[i] for i in out))

    def _kept(self) -> Any:
        """Joint equations and couplings that are solved for."""
        rows = self._constraints.rows
        return np.flatnonzero((rows["role"] == HOLD) & (rows["mode"] == HELD))

    def _carry(self, old: list[tuple[RowTable, Constraints]]) -> None:
        super()._carry(old)
        self._keep(self._first_choice())

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        theirs, first = self._kept(), self._first_choice()
        self._keep(theirs if len(theirs) == len(first) else first)

    def _bring(self, values: Mapping[str, float]) -> None:
        super()._bring(values)
        if self._work.report[layout.WORN] > 0.0:
            self._choose_anew()

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
        motion = layout.new_motion(self.system.nq, nv, len(self._constraints.inputs), self._rows.states)
        motion.q[layout.NOW] = start.q
        now = motion.y[layout.NOW]
        now[nv : 2 * nv] = start.v
        self._motion = motion
        state = new_state(start.q, start.v, self._dt)
        self.state = state._replace(q=motion.q[layout.NOW], v=now[nv : 2 * nv], work=now[2 * nv : 2 * nv + 2])
        self._choose()

    def _probed(self) -> Array:
        """How large the diagonals of A are at a few random poses: pivots are judged against that.

        The start will not do for it, which may be singular.
        """
        random = np.random.default_rng(0)
        options = np.array([stepping.PROBE, 0.0, 0.0, 0.0])
        nothing = Samples(*samples(0, self.system), *(np.empty((0, 0)) for _ in range(6)))
        constraints, stats = self._rows.fresh(), np.zeros(layout.STATS)
        motion = layout.new_motion(self.system.nq, self.system.nv, len(constraints.inputs), self._rows.states)
        state = new_state(self._start.q, self._start.v, self._dt)
        for _ in range(_PROBES):
            motion.q[layout.NOW] = self._start.q + random.normal(size=self.system.nq)
            stepping.run_direct(
                self._tables, constraints, constraints, self._work, motion, state.clock,
                self._tableau, stats, self._dt, options, np.empty(0), nothing,
            )  # fmt: skip
        scale: Array = self._work.row[layout.SCALE].copy()
        return scale

    def _choose(self) -> None:
        """Which parts are too stiff for the step and taken implicitly, and what the kernel is told."""
        rows, h = self._constraints.rows, self._dt
        rows["stiff"], self._implicit = 0, ()
        if not self.adaptive:
            self._implicit = tuple(softness(self._start.tree, self._start.tree_q).implicit(h))
            for name in self._implicit:
                rows["stiff"][self._rows.names.index(name)] = 1
        code = INTEGRATORS[self._integrator]
        if code == stepping.ADAMS and self._implicit:
            code = stepping.RUNGE_KUTTA
        bounded = (rows["role"] == LIMIT) | np.isfinite(rows["strength"])
        ticks = 0.0 if self._budget is None else self._budget * cycles_per_second()
        self._options = np.array([code, bounded.any(), self._tolerance, ticks])

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out, wanted, done = self._room(len(targets)), np.array(targets, float), 0
        while True:
            reached, status = stepping.run_direct(
                self._tables, self._constraints, self._every_row, self._work, self._motion, self.state.clock,
                self._tableau, self._stats, self._dt, self._options, wanted[done:],
                Samples(*(part[done:] for part in out)),
            )  # fmt: skip
            done += reached
            if status != stepping.CHOOSE:
                return done, status, self._block(out)
            self._choose_anew()

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
            "rows": without_addresses(constraints.rows),
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
        return {"solver": self.solver, **super().info()}

    def outcome(self) -> dict[str, Any]:
        s = self._stats
        events = {"events": int(s[layout.EVENTS]), "steps_by_impulses": int(s[layout.EULER_STEPS])}
        return {**super().outcome(), **events}

    def warnings(self) -> list[str]:
        found = super().warnings()
        crowded = int(self._stats[layout.EULER_STEPS])
        if self._integrator != "euler" and crowded:
            found.append(f"in {crowded} steps events crowded so much that they were taken at first order")
        return found
