"""The direct solver: loops closed to rounding, order four between events."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compile.colliders import may_touch
from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..engine.kernels.clock import cycles_per_second
from ..engine.kernels.steady import Steady, slots
from ..engine.solvers import layout
from ..engine.steppers import explicit
from ..engine.steppers.direct import USED_UP
from ..engine.steppers.integrators import INTEGRATORS, integrators
from ..engine.steppers.motion import ADAMS, ADAPTIVE, RUNGE_KUTTA, Run, new_run
from ..engine.steppers.samples import Samples, new_samples
from ..engine.steppers.state import OK
from ..engine.tables import FREE, HELD, HOLD, LIMIT, Constraints
from ..mechanism.dependence import Dependence, better_choice
from ..mechanism.softness import softness
from ..mechanism.switching import Attachment
from ..model.rotation import Array
from .base import Method, slot
from .contact import DEFAULT_ERP, ContactMethod
from .options import DEFAULT_TOLERANCE, Limits, RowOptions, option
from .rows import Start, coupled_rows, embedded_rows
from .sampled import ExplicitMethod, run_memory

DEFAULT_SWEEPS = 100
_PROBES = 3
_FAST = 0.2  # step times the rate of a state of the diagram
_LATER = 0.5  # how much smaller pivots must have become before another choice of rows is looked for again


@dataclass(frozen=True, kw_only=True)
class Direct(RowOptions):
    """The direct solver: loops closed to rounding, any mechanism.

    Integrators: "adams" (order 4, one evaluation a step; the default), "rk4" (order 4), "adaptive" (order 5) and
    "euler" (impulses, order 1; the default with contact, which the others take as constraints between events).
    """

    integrators: ClassVar = integrators(usual="adams")
    contact_integrators: ClassVar = ("euler", *integrators[:-1])
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

    residual: float | None = option(
        None,
        "What may be left of the equations of contact in a step, over its length [m/s²]; by default 1e-6, and 0.1 "
        "where more than 64 pairs of shapes hang together.",
        contact=True,
    )

    @property
    def limits(self) -> Limits:
        return Limits(0.0, self.iterations or DEFAULT_SWEEPS, self.budget, self.erp or DEFAULT_ERP)

    def _build(self, model: Compiled, dt: float) -> Method:
        if not may_touch(model.flat):
            return DirectMethod(model, self, dt)
        if self.integrator == "euler":
            return ContactMethod(model, self, dt)
        from .smooth import SmoothMethod, refuse_unsmooth

        refuse_unsmooth(self.way, model, self.sleep)
        return SmoothMethod(model, self, dt)


class DirectMethod(ExplicitMethod):
    """The direct solver in generalized (`simgc`) or maximal coordinates (`simmc`)."""

    solver = Direct.solver
    _touch: Any = None
    """Contacts, where things may touch."""
    _nothing: Samples | None = None
    """No room for samples: of steps that are taken one by one."""
    _last: tuple[Any, ...] = (None,) * 4
    """Run, rows, targets and room of the last of these; where other tables are prepared, the room is new."""

    def __init__(self, compiled: Compiled, options: Direct, dt: float):
        self.name, self._integrator = options.method, str(options.integrator)
        self._kind, self._tableau = INTEGRATORS[self._integrator]
        self.adaptive = self._kind == ADAPTIVE
        self._dt, self._budget = dt, options.budget
        self._tolerance = options.tolerance or DEFAULT_TOLERANCE
        self._loop, self._blind = Steady(explicit.run, changing=2), Steady(explicit.run, changing=2)
        self._next = np.zeros(1)
        self._next_target = slots(self._next)
        self._launch(compiled, Start(compiled, self.name == "simmc"))

    def _prepare(self, start: Start) -> None:
        self._nothing = None
        self._rows, self._work = self._eliminated(start.dependence)
        self._scale = self._probed()

    def _eliminated(self, dependence: Dependence) -> tuple[RowTable, layout.Work]:
        """Rows, and the structure and scratch of what eliminates them."""
        rows, work = coupled_rows(self.system, set(dependence.idle))
        planned = embedded_rows(self.system, set(dependence.idle), set(dependence.others))
        return planned[:2] if planned else (rows, work)

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
        self._work.report[0]["weakest"] = 1.0
        self._work.report[0]["worn"] = USED_UP if len(chosen) < len(held) else 0.0

    def _choose_anew(self) -> None:
        """Exchange joint equations that have come near to following from each other, if others are better here."""
        system = dataclasses.replace(self.system, rows=self._rows)
        chosen = better_choice(system, self.state.q, self._kept())
        self._run.course.worn = False
        if chosen is not None:
            self._keep(chosen)
        else:  # no use to ask again before it is much worse
            self._work.report[0]["worn"] = _LATER * self._work.report[0]["weakest"]

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
        if self._work.report[0]["worn"] > 0.0:
            self._choose_anew()

    def _restore(self, attachment: Attachment, tree_q: Array) -> None:
        super()._restore(attachment, tree_q)
        self._choose()

    def _begin(self) -> None:
        start = self._start
        self._run = new_run(start.q, start.v, len(self._constraints.inputs), self._rows.states, self._dt)
        self._stats, self.state = self._run.stats, self._run.state
        self._phase = slot(self._run.course, "phase")
        self._choose()

    def _step(self, run: Run, rows: Constraints, wanted: Array, out: Samples) -> tuple[int, int]:
        if len(out.t):
            loop = self._loop
        else:
            loop, self._last = self._blind, (run, rows, wanted, out)
        found: tuple[int, int] = loop(
            self._tables, rows, self._every_row, self._work, self._touch, None, run.motion, run.books,
            self._tableau, wanted, out,
        )  # fmt: skip
        return found

    def _probed(self) -> Array:
        """How large the diagonals of A are at a few random poses: pivots are judged against that.

        The start will not do for it, which may be singular.
        """
        random = np.random.default_rng(0)
        constraints, nothing = self._rows.fresh(), new_samples(0, self.system.nq, self.system.nv, 0, 0, 0)
        self._every_row = constraints
        run = new_run(self._start.q, self._start.v, len(constraints.inputs), self._rows.states, self._dt)
        for _ in range(_PROBES):
            run.motion.q[:] = self._start.q + random.normal(size=self.system.nq)
            run.course.phase = explicit.PROBE
            self._step(run, constraints, np.empty(0), nothing)
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
        course = self._run.course
        # Adams' method judges steps by accelerations: states of a diagram that are fast for it would grow unseen.
        fast = self._rows.diagram is not None and h * self._rows.diagram.fastest[1] > _FAST
        hard = bool(self._implicit) or fast
        course.integrator = RUNGE_KUTTA if self._kind == ADAMS and hard else self._kind
        course.bounded = bool(
            ((rows["role"] == LIMIT) | np.isfinite(rows["strength"]) | (rows["pieces"] > 0)).any()
            or self._constraints.tape["a"][:1].any()
        )
        course.tolerance, course.step, course.worn = self._tolerance, h, False
        course.budget = 0.0 if self._budget is None else self._budget * cycles_per_second()

    def _go(self, target: float) -> int:
        if self._plan or self._touch is not None or self._rows.diagram is not None:
            return super()._go(target)
        self._next_target[0] = target
        run, rows, wanted, out = self._last
        nothing = self._nothing
        if (
            nothing is not None
            and out is nothing
            and wanted is self._next
            and run is self._run
            and rows is self._constraints
        ):
            self._phase[0] = explicit.PLAN
            done, status = self._blind.repeat()
            return status if status == OK else self._finish(done, status, wanted, nothing)[1]
        if self._nothing is None:
            self._nothing = self._room(0)
        return self._travel(self._next, self._nothing)[1]

    def _travel(self, wanted: Array, out: Samples) -> tuple[int, int]:
        self._phase[0] = explicit.PLAN
        done, status = self._step(self._run, self._constraints, wanted, out)
        return self._finish(done, status, wanted, out)

    def _finish(self, done: int, status: int, wanted: Array, out: Samples) -> tuple[int, int]:
        """Go on as long as the loop comes back for something."""
        while (phase := self._go_on(status, wanted[done:])) != explicit.END:
            self._phase[0] = phase
            rest = Samples(*(part[done:] for part in out))
            reached, status = self._step(self._run, self._constraints, wanted[done:], rest)
            done += reached
        return done, status

    def _go_on(self, status: int, wanted: Array) -> int:
        if status != explicit.CHOOSE:
            return super()._go_on(status, wanted)
        self._choose_anew()
        return explicit.PLAN

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self._choose()
        self.disturb()

    def disturb(self) -> None:
        self._run.motion.seen[:] = np.nan

    def memory(self) -> dict[str, Array]:
        return {
            **super().memory(),
            **run_memory(self._run),
            "work_rows": self._work.row,
            "report": self._work.report,
        }

    def report(self) -> dict[str, Any]:
        self.now()  # steps that are taken one by one leave no sample
        return super().report()

    def info(self) -> dict[str, Any]:
        return {"solver": self.solver, **super().info()}
