"""The papers' methods: sequential impulses, semi-implicit Euler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compile.colliders import may_touch
from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..engine.kernels.clock import cycles_per_second
from ..engine.steppers.impulses import run_impulses, workspace
from ..engine.steppers.state import new_state
from ..model import Model
from ..model.rotation import Array
from ..observe.observer import Block, RowObserver
from .base import NO_BUDGET, Method
from .contact import DEFAULT_ERP, DEFAULT_SLOP, ContactMethod
from .options import RowOptions, option
from .rows import Start, carry, in_world_axes, settle, without_degenerate
from .switching import RowMethod


@dataclass(frozen=True, kw_only=True)
class Impulses(RowOptions):
    """The papers' sequential impulses: any mechanism, at first order, in steps of predictable cost.

    Integrator: "euler" (semi-implicit, order 1).
    """

    integrators: ClassVar = ("euler",)
    text: ClassVar = "any mechanism, by sequential impulses of first order"
    solver: ClassVar = "impulses"

    epsilon: float = option(1e-6, "Change of impulses at which iterations end [N s].")
    iterations: int = option(1000, "Limit of iterations a step.")
    erp: float = option(
        DEFAULT_ERP, "Share of a gap, or of a penetration beyond the slop, removed in a step."
    )

    def _build(self, model: Compiled, dt: float) -> Method:
        if not may_touch(model.flat):
            return ImpulseMethod(model, self.method, dt, self.epsilon, self.iterations, self.budget, self.erp)
        return ContactMethod(
            model, self.method, self.solver, dt, self.epsilon, self.iterations, self.budget, self.erp,
            self.slop or DEFAULT_SLOP, self.sleep,
        )  # fmt: skip


class ImpulseMethod(RowMethod):
    """Sequential impulses, in generalized (`simgc`) or maximal coordinates (`simmc`).

    `epsilon`: impulse change at which iterations end [N s]; `iterations`: their limit a step; `budget`: time they
    may take a step [s], None for any; `erp`: share of a gap removed in a step.
    """

    solver = Impulses.solver

    def __init__(
        self,
        model: Model | Compiled,
        name: str,
        dt: float,
        epsilon: float,
        iterations: int,
        budget: float | None,
        erp: float,
    ):
        self.name = name
        maximal = name == "simmc"
        compiled = Compiled.of(model)
        start = Start(compiled, maximal)
        start.system = in_world_axes(start.system)
        self._dt = dt
        ticks = NO_BUDGET if budget is None else budget * cycles_per_second()
        self._options = np.array([erp, epsilon, iterations, ticks, float(maximal)])
        self._settings = {"epsilon": epsilon, "iterations": iterations, "budget": budget, "erp": erp}
        self._begin_scratch(compiled, start)
        self.observer: RowObserver = RowObserver(start.system, self.scratch)
        self._open(start)
        self.reset()

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        self._rows, self._degenerate = without_degenerate(self.system)
        self._work = workspace(self.system.nv, self.system.depth, len(self._rows.names))

    def _fill(self) -> None:
        self._constraints = self._rows.fresh()

    def _marks(self) -> list[tuple[int, RowTable]]:
        return [(4, self._rows), (8, self._rows)]

    def reset(self) -> None:
        self._rewind()
        self.state = new_state(self._start.q, self._start.v, self._dt)
        self._mean = np.full(self.system.nv, np.nan)
        self._stats = np.zeros(9)
        self._stats[[4, 8]] = -1.0  # no row has had a gap
        self._fill()
        settle(self._tables, self._constraints, self._start.q)

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        steps = np.array(targets, np.int64)
        out = self._room(len(targets))
        done, status = run_impulses(
            self._tables, self._constraints, self._work, self.state, self._mean, self._stats, self._dt,
            self._options, steps, out,
        )  # fmt: skip
        return done, status, self._block(out)

    def change_step(self, dt: float) -> None:
        self._constraints.rows["p"] *= dt / self._dt  # the forces go on, so the impulses scale
        super().change_step(dt)

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, ImpulseMethod):
            self._mean[:] = other._mean
            if self._rows.names == other._rows.names:
                self._stats[:] = other._stats
            carry(self._rows, self._constraints, other._rows, other._constraints)

    def memory(self) -> dict[str, Array]:
        constraints = self._constraints
        return {
            **super().memory(),
            "impulses": constraints.rows["p"],
            "element_states": constraints.rows["x"],
            "element_memory": constraints.rows["memory"],
            "element_samples": constraints.rows["samples"],
            "mean_accelerations": self._mean,
            "coordinates": constraints.coords["value"],
            "commands": constraints.inputs,
            "stats": self._stats,
        }

    def info(self) -> dict[str, Any]:
        return {"solver": self.solver, "integrator": "euler", **self._settings}

    def report(self) -> dict[str, Any]:
        """The last step: iterations, whether it was cut short, largest gap and its row."""
        iterations, cut, gap, worst = self._stats[5:]
        return {
            "iterations": int(iterations),
            "cut_short": bool(cut),
            "gap": float(gap),
            "worst_row": self._row_name(worst, self._rows),
        }

    def outcome(self) -> dict[str, Any]:
        steps = max(int(self.state.clock.taken), 1)
        now = [name for name, flag in zip(self._rows.names, self._work.dropped, strict=True) if flag]
        return {
            **super().outcome(),
            "iterations_mean": float(self._stats[0]) / steps,
            "iterations_max": int(self._stats[1]),
            "steps_cut_short": int(self._stats[2]),
            "worst_gap_m": float(self._stats[3]),
            "worst_row": self._row_name(self._stats[4], self._rows),
            "degenerate_rows": [*self._degenerate, *now],
        }

    def warnings(self) -> list[str]:
        cut = int(self._stats[2])
        if not cut:
            return self._start.notes
        worst = f"; the largest gap is {self._stats[3]:.2g} m in {self._row_name(self._stats[4], self._rows)}"
        limits = f"{self._settings['iterations']} iterations or the time budget"
        return [*self._start.notes, f"{cut} steps ended at {limits} before impulses settled{worst}"]
