"""Implicit methods for large steps: the index-3 augmented Lagrangian with Newton's method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable, without_addresses
from ..compile.order import elimination_order
from ..compile.system import System
from ..engine.coordinates.tangent import SCRATCH
from ..engine.kernels.clock import cycles_per_second
from ..engine.kernels.skyline import new_skyline
from ..engine.solvers import multipliers as m
from ..engine.solvers.partition import Partition, new_partition
from ..engine.steppers import implicit, topological
from ..engine.steppers.onto import NOW
from ..engine.steppers.state import new_state
from ..engine.tables import COORDINATE, Constraints
from ..model import Model
from ..model.errors import UnsupportedError
from ..model.rotation import Array
from ..observe.observer import Block, DirectObserver, RowObserver
from .options import Options, option
from .rows import Start, settle, without_degenerate
from .sampled import SampledMethod

TRAPEZOIDAL, ALPHA = "trapezoidal", "alpha"
INTEGRATORS = (TRAPEZOIDAL, ALPHA)
DEFAULT_RHO = 0.8
TOLERANCE, ITERATIONS, HALVINGS, REFINEMENTS = 1e-12, 20, 6, 12
"""Newton's method ends at corrections this small against the displacement of a step, or after so many iterations; a
step that does not converge is halved so often, one whose error is too large so often."""
# What a partition keeps from step to step; the rest is scratch.
_CHOICE = ("dependent", "independent", "free", "pivots", "scale", "size")
_GAP_BUDGET = 1e-8  # a gap worth a warning [m or rad]


def generalized_alpha(rho: float) -> tuple[float, float, float, float]:
    """β, γ, αm and αf of Chung and Hulbert (1993) for a spectral radius at infinity; 1 is the trapezoidal rule."""
    am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + af - am
    return 0.25 * (gamma + 0.5) ** 2, gamma, am, af


@dataclass(frozen=True, kw_only=True)
class ImplicitOptions(Options):
    """What implicit methods share.

    Integrators: "trapezoidal" (order 2, no numerical damping; the default) and "alpha" (generalized-α, order 2, which
    damps what the step cannot resolve; the default if `rho` is given).
    """

    integrators: ClassVar = INTEGRATORS

    rho: float | None = option(
        None,
        "Of alpha: share of an oscillation too fast for the step that is left after it, 0 to 1; 0.8 by default.",
    )
    tolerance: float | None = option(
        None, "Error of a step [rad or m] beyond which it is taken in halves; by default any."
    )
    iterations: int = option(ITERATIONS, "Limit of Newton's method.")
    budget: float | None = option(None, "Time that a step may take [s]; steps that take longer are told.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rho is not None and self.integrator == TRAPEZOIDAL:
            raise UnsupportedError("rho belongs to the integrator 'alpha', not to 'trapezoidal'")

    def _usual(self) -> str:
        return TRAPEZOIDAL if self.rho is None else ALPHA

    def _build(self, model: Compiled, dt: float) -> ImplicitMethod:
        assert self.integrator is not None
        return self.kind()(
            model, self.way, self.integrator, dt, self.rho, self.tolerance, self.iterations, self.budget
        )

    def kind(self) -> type[ImplicitMethod]:
        """The class of the method."""
        return ImplicitMethod


@dataclass(frozen=True, kw_only=True)
class Hybrid(ImplicitOptions):
    """Large steps of smooth motions: index-3 augmented Lagrangian in relative coordinates, by Newton's method."""

    text: ClassVar = "large steps of smooth motions, in relative coordinates"
    way: ClassVar[str] = "hybrid"


@dataclass(frozen=True, kw_only=True)
class Topological(ImplicitOptions):
    """Large steps of smooth motions in independent relative coordinates, by Newton's method."""

    text: ClassVar = "large steps of smooth motions, in independent coordinates"
    way: ClassVar[str] = "topological"


class ImplicitMethod(SampledMethod):
    """Relative coordinates, loops closed by multipliers and penalties (`hybrid`).

    `rho`: spectral radius at infinite frequency, 1 for the trapezoidal rule. `tolerance`: error that a step may
    make [rad or m] before it is taken in halves; None for any. `iterations`: limit of Newton's method. `budget`: time
    that a step should take at most [s].
    """

    def __init__(
        self,
        model: Model | Compiled,
        name: str,
        integrator: str,
        dt: float,
        rho: float | None,
        tolerance: float | None,
        iterations: int,
        budget: float | None,
    ):
        compiled = Compiled.of(model)
        self.name, self._dt, self._integrator = name, dt, integrator
        self._rho = 1.0 if integrator == TRAPEZOIDAL else DEFAULT_RHO if rho is None else rho
        ticks = 0.0 if budget is None else budget * cycles_per_second()
        self._budget = budget
        self._tolerance = tolerance
        finest = (np.inf, 0) if tolerance is None else (tolerance, REFINEMENTS)
        self._options = np.array(
            [*generalized_alpha(self._rho), TOLERANCE, iterations, HALVINGS, ticks, *finest]
        )
        self._part: Partition | None = None
        start = self._first_start(compiled)
        self._begin_scratch(compiled, start)
        self.observer: RowObserver = self._new_observer(compiled, start)
        self._open(start)
        self.reset()

    def _first_start(self, compiled: Compiled) -> Start:
        return Start(compiled, maximal=False)

    def _new_observer(self, compiled: Compiled, start: Start) -> RowObserver:
        return DirectObserver(compiled, start.system, self.scratch)

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        # Rows that never say anything are left out. Others may take turns in following from each other: all stay.
        self._rows, self._degenerate = without_degenerate(self.system)
        self._work = new_tree_step(self.system, self._rows.constraints)
        if self.name == "topological":
            rank = int((self._work.kept != m.SOFT).sum())
            rank -= len(set(start.dependence.names) - set(self._degenerate))
            self._part = new_partition(self._work.kept, self.system.nv, rank)

    def _fill(self) -> None:
        super()._fill()
        self._work.row[:] = 0.0
        if self._part is not None:
            self._part.scale[:] = 0.0

    def _marks(self) -> list[tuple[int, RowTable]]:
        assert self.system.rows is not None
        return [(m.SMALLEST_ROW, self._rows), (m.GAP_ROW, self.system.rows)]

    def reset(self) -> None:
        self._rewind()
        self._stats = np.zeros(m.STATS)
        self._stats[[m.GAP_ROW, m.SMALLEST_ROW]] = -1.0
        self._fill()
        start = self._start
        settle(self._tables, self._constraints, start.q)
        settle(self._tables, self._every_row, start.q)
        self._path = self._new_path(start.q, start.v)
        path, state = self._path, new_state(start.q, start.v, self._dt)
        self.state = state._replace(q=path.q[NOW], v=path.y[m.RATES], work=path.energy)

    def _new_path(self, q: Array, v: Array) -> m.Path:
        """A path that begins at some unknowns and rates."""
        seen = np.full(len(q) + len(v) + len(self._constraints.inputs), np.nan)
        path = m.Path(np.tile(q, (2, 1)), np.zeros((3, len(v))), np.zeros(2), seen)
        path.y[m.RATES] = v
        return path

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = self._room(len(targets))
        what = (self._tables, self._constraints, self._every_row, self._work)
        how = (
            self._path, self.state.clock, self._stats, self._dt, self._options,
            np.array(targets, np.int64), out,
        )  # fmt: skip
        if self._part is None:
            done, status = implicit.run_implicit(*what, *how)
        else:
            done, status = topological.run_topological(*what, self._part, *how)
        return done, status, self._block(out)

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self.disturb()

    def disturb(self) -> None:
        self._path.seen[:] = np.nan

    def memory(self) -> dict[str, Array]:
        constraints, path = self._constraints, self._path
        return {
            **super().memory(),
            "rows": without_addresses(constraints.rows),
            "coordinates": constraints.coords["value"],
            "commands": constraints.inputs,
            "stats": self._stats,
            "path_y": path.y,
            "path_seen": path.seen,
            "multipliers": self._work.row,
            "report": self._work.report,
            **({} if self._part is None else {f"set_{name}": getattr(self._part, name) for name in _CHOICE}),
        }

    def info(self) -> dict[str, Any]:
        return {
            "integrator": self._integrator,
            "rho": self._rho,
            "tolerance": self._tolerance,
            "budget": self._budget,
        }

    def report(self) -> dict[str, Any]:
        """The last step: iterations, and the largest gap at the last sample."""
        return {
            "iterations": int(self._stats[m.LAST_ITERATIONS]),
            "gap": float(self._stats[m.LAST_GAP]),
        }

    def loose_joints(self) -> list[str]:
        if self._part is None:
            return []
        pivots = self._part.pivots
        rows = self._part.rows[pivots <= 10.0 * pivots.min(initial=np.inf)]
        return list(dict.fromkeys(self._rows.names[i].partition(":")[0] for i in rows))

    def outcome(self) -> dict[str, Any]:
        s, steps = self._stats, max(int(self.state.clock.taken), 1)
        return {
            **super().outcome(),
            "iterations_mean": float(s[m.ITERATIONS]) / steps,
            "iterations_max": int(s[m.MOST_ITERATIONS]),
            "factorisations_mean": float(s[m.FACTORED]) / steps,
            "steps_halved": int(s[m.HALVED]),
            "steps_slow": int(s[m.SLOW_STEPS]),
            "steps_over_budget": int(s[m.OVERRUNS]),
            "sets_chosen_anew": int(s[m.RECHOSEN]),
            "worst_gap_m": float(s[m.GAP]),
            "worst_row": self._gap_row(),
            "degenerate_rows": list(self._degenerate),
        }

    def warnings(self) -> list[str]:
        s, found = self._stats, list(self._start.notes)
        if s[m.GAP] > _GAP_BUDGET:
            found.append(f"{self._gap_row()} is open by {s[m.GAP]:.2g} m at t = {s[m.GAP_TIME]:.4g} s")
        if s[m.HALVED] and self._tolerance is None:
            found.append(
                f"{int(s[m.HALVED])} times a step did not converge and was taken in halves: take smaller steps"
            )
        if s[m.OVERRUNS]:
            found.append(f"{int(s[m.OVERRUNS])} steps took longer than the budget of {self._budget:g} s")
        return found

    def _gap_row(self) -> str | None:
        assert self.system.rows is not None
        return self._row_name(self._stats[m.GAP_ROW], self.system.rows)


def new_tree_step(system: System, constraints: Constraints) -> m.Step:
    """Structure and scratch of implicit steps of a tree under some rows."""
    dofs = system.tables.dofs
    parent, rate = dofs["parent"], dofs["v"]
    n, count = system.nv, len(dofs)
    above = np.zeros((count, count), np.int8)
    for link in range(1, count):
        d = link
        while d != 0:
            above[d, link] = 1
            d = int(parent[d])
    paths = [{int(rate[d]) for d in np.flatnonzero(above[:, link])} for link in range(count)]
    gradients = [_reached(paths, rate, constraints, row) for row in constraints.rows]
    cliques = [*paths, *gradients]
    cliques += [paths[int(load["a"])] | paths[int(load["b"])] for load in system.tables.loads]
    touching = [{k for k, clique in enumerate(cliques) if i in clique} for i in range(n)]
    order = elimination_order(touching, both_ends=True)
    dof_of = np.zeros(n, np.int64)
    dof_of[rate[1:]] = np.arange(n)
    matrix = new_skyline(order, cliques)
    return m.new_step(matrix, gradients, m.kept_rows(constraints), dof_of)._replace(
        spat=np.zeros((count, SCRATCH)), above=above
    )


def _reached(paths: list[set[int]], rate: Array, constraints: Constraints, row: Any) -> set[int]:
    """The unknowns that can change a row. What carries both of its bodies alike does not."""

    def of_pair(index: int) -> set[int]:
        pair = constraints.pairs[index]
        return paths[int(pair["a"])] ^ paths[int(pair["b"])]

    if row["kind"] != COORDINATE:
        return of_pair(int(row["pair"]))
    found: set[int] = set()
    for index in (int(row["first"]), int(row["second"])):
        if index >= 0:
            coord = constraints.coords[index]
            found |= {int(rate[coord["v"]])} if coord["v"] >= 0 else of_pair(int(coord["pair"]))
    return found
