"""Implicit methods for large steps: the index-3 augmented Lagrangian with Newton's method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, ClassVar

import numpy as np

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..compile.implicit import new_tree_step
from ..engine.kernels.clock import cycles_per_second
from ..engine.kernels.record import new_record
from ..engine.kernels.steady import Steady
from ..engine.solvers.equations import SOFT, Equations
from ..engine.solvers.partition import Partition, new_partition
from ..engine.steppers.implicit import run_implicit
from ..engine.steppers.path import OPTIONS, STATS, Path, new_path
from ..engine.steppers.samples import Samples
from ..engine.steppers.state import new_state
from ..model.errors import UnsupportedError
from ..model.rotation import Array
from .options import Options, option
from .rows import Start, without_degenerate
from .sampled import SampledMethod

TRAPEZOIDAL, ALPHA = "trapezoidal", "alpha"
INTEGRATORS = (TRAPEZOIDAL, ALPHA)
DEFAULT_RHO = 0.8
TOLERANCE, ITERATIONS, HALVINGS, REFINEMENTS = 1e-12, 20, 6, 12
"""Newton's method ends at corrections this small against the displacement of a step, or after so many iterations; a
step that does not converge is halved so often, one whose error is too large so often."""
# What a partition keeps from step to step; the rest is scratch.
_CHOICE = ("dependent", "independent", "free", "pivots", "scale", "pivot")


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
        return ImplicitMethod(model, self, dt)


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
    """Relative coordinates, loops closed by multipliers and penalties (`hybrid`) or dependent ones (`topological`)."""

    _part: Partition | None = None
    _equations: Equations | None = None
    _counting = np.int64

    def __init__(self, compiled: Compiled, options: ImplicitOptions, dt: float):
        self.name, self._integrator, self._dt = options.way, str(options.integrator), dt
        rho = DEFAULT_RHO if options.rho is None else options.rho
        self._rho = 1.0 if self._integrator == TRAPEZOIDAL else rho
        self._budget, self._tolerance = options.budget, options.tolerance
        told = self._options = new_record(OPTIONS)
        told.step = dt
        told.beta, told.gamma, told.am, told.af = generalized_alpha(self._rho)
        told.tolerance, told.iterations, told.halvings = TOLERANCE, options.iterations, HALVINGS
        told.error, told.refinements = np.inf, 0
        if self._tolerance is not None:
            told.error, told.refinements = self._tolerance, REFINEMENTS
        told.budget = 0.0 if self._budget is None else self._budget * cycles_per_second()
        self._loop = Steady(run_implicit, changing=2)
        self._launch(compiled, self._first_start(compiled))

    def _first_start(self, compiled: Compiled) -> Start:
        return Start(compiled, maximal=False)

    def _prepare(self, start: Start) -> None:
        # Rows that never say anything are left out. Others may take turns in following from each other: all stay.
        self._rows, self._degenerate = without_degenerate(self.system)
        self._work = new_tree_step(self.system, self._rows.constraints)
        if self.name == "topological":
            rank = int((self._work.kept != SOFT).sum())
            rank -= len(set(start.dependence.names) - set(self._degenerate))
            self._part = new_partition(self._work.kept, self.system.nv, rank)

    def _fill(self) -> None:
        super()._fill()
        self._work.rows[:] = 0.0
        if self._part is not None:
            self._part.scale[:] = 0.0

    def _marks(self) -> Sequence[tuple[str, RowTable]]:
        return [("gap_row", self.system.row_table)]

    def _begin(self) -> None:
        self._stats = new_record(STATS)
        self._stats.gap_row = -1
        self.state = new_state(self._start.q, self._start.v, self._dt)
        self._path = self._new_path()

    def _new_path(self) -> Path:
        """A path that begins at the state, in the unknowns of the method."""
        return new_path(self.state, len(self._constraints.inputs))

    @property
    def equations(self) -> Equations:
        """What steps solve: tables, constraints and working memory."""
        tables = self._tables, self._constraints, self._work
        if self._equations is None or not all(map(is_, tables, self._equations)):
            self._equations = Equations(*tables)
        return self._equations

    def _travel(self, wanted: Array, out: Samples) -> tuple[int, int]:
        found: tuple[int, int] = self._loop(
            self.equations, self._every_row, self._part, self._path, self._stats, self._options, wanted, out
        )
        return found

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self._options.step = dt
        self.disturb()

    def disturb(self) -> None:
        self._path.seen[:] = np.nan

    def memory(self) -> dict[str, Array]:
        path, part = self._path, self._part
        return {
            **super().memory(),
            "path_aux": path.aux,
            "path_a": path.a,
            "path_seen": path.seen,
            "multipliers": self._work.rows,
            "report": np.asarray(self._work.report),
            **({} if part is None else {f"set_{name}": np.asarray(getattr(part, name)) for name in _CHOICE}),
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
        return {"iterations": int(self._stats.last_iterations), "gap": float(self._stats.last_gap)}

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
            "iterations_mean": float(s.iterations / steps),
            "iterations_max": int(s.most_iterations),
            "factorisations_mean": float(s.factored / steps),
            "steps_halved": int(s.halved),
            "steps_slow": int(s.slow),
            "sets_chosen_anew": int(s.rechosen),
            "degenerate_rows": list(self._degenerate),
        }

    def warnings(self) -> list[str]:
        s, found = self._stats, super().warnings()
        if s.halved and self._tolerance is None:
            found.append(
                f"{s.halved} times a step did not converge and was taken in halves: take smaller steps"
            )
        return found
