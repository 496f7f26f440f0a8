"""What methods share that step at the level of velocities: semi-implicit Euler, forces as impulses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..engine.kernels.clock import cycles_per_second
from ..engine.kernels.record import as_array, new_record
from ..engine.steppers.impulse import OPTIONS, STATS, Plan, run_impulses
from ..engine.steppers.samples import Samples
from ..engine.steppers.state import new_state
from ..model.rotation import Array
from ..observe.observer import Block, RowObserver
from .base import NO_BUDGET, Method
from .rows import Start, carry, settle
from .switching import RowMethod


class Limits(NamedTuple):
    """When iterations end, and what a step removes of gaps."""

    epsilon: float
    """Change of impulses at which iterations end [N s]."""
    iterations: int
    """Their limit a step."""
    budget: float | None
    """Time that they may take a step [s], None for any."""
    erp: float
    """Share of a gap, or of a penetration beyond the slop, removed in a step."""


class ImpulseMethod(RowMethod):
    """Semi-implicit Euler: every force of a row, or of a contact, is an impulse within its bounds."""

    _matrix: Any = None
    """What the solver works on if nothing can touch."""
    _contact: Any = None
    """And if things may touch."""
    _observer: type[RowObserver] = RowObserver

    def _launch(self, compiled: Compiled, start: Start, dt: float, limits: Limits, **more: Any) -> None:
        """The second half of a constructor; `more` are options of the step beside its limits."""
        ticks = NO_BUDGET if limits.budget is None else limits.budget * cycles_per_second()
        self._dt, self._limits = dt, limits
        self._options = new_record(OPTIONS)
        self._options.step, self._options.erp = dt, limits.erp
        self._options.epsilon, self._options.most_sweeps = limits.epsilon, limits.iterations
        self._options.budget = int(ticks)
        for name, value in more.items():
            self._options[name] = value
        self._begin_scratch(compiled, start)
        self.observer = self._observer(start.system, self.scratch)
        self._open(start)
        self.reset()

    def _fill(self) -> None:
        self._constraints = self._rows.fresh()
        self._after = np.zeros(len(self._rows.names))

    def _marks(self) -> Sequence[tuple[int | str, RowTable]]:
        return [("gap_row", self._rows), ("last_row", self._rows)]

    def reset(self) -> None:
        self._rewind()
        self.state = new_state(self._start.q, self._start.v, self._dt)
        self._mean = np.full(self.system.nv, np.nan)
        self._ahead, self._delta = np.zeros(self.system.nv), np.zeros(self.system.nv)
        self._stats = new_record(STATS)
        self._told, self._counted = as_array(self._options), as_array(self._stats)
        self._stats.gap_row = self._stats.last_row = -1  # no row has had a gap
        self._fill()
        settle(self._tables, self._constraints, self._start.q)

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        steps, out, done = np.array(targets, np.int64), self._room(len(targets)), 0
        rest = out
        while True:
            plan = Plan(self._told, self._counted, self._mean, self._ahead, self._delta, self._after)
            more, status = run_impulses(
                self._tables,
                self._constraints,
                self._matrix,
                self._contact,
                self.state,
                plan,
                steps[done:],
                rest,
            )
            done += more
            if not self._make_way(status):
                return done, status, self._block(out)
            rest = Samples(*(part[done:] for part in out))

    def _make_way(self, status: int) -> bool:
        """Whether a run that was interrupted can go on, for there is room now for what it needs."""
        return False

    def change_step(self, dt: float) -> None:
        self._constraints.rows["p"] *= dt / self._dt  # the forces go on, so the impulses scale
        self._options.step = dt
        super().change_step(dt)

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, type(self)):
            self._mean[:] = other._mean
            if self._rows.names == other._rows.names:
                np.asarray(self._stats)[...] = np.asarray(other._stats)
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
            "stats": np.asarray(self._stats),
        }

    def info(self) -> dict[str, Any]:
        return {"solver": self.solver, "integrator": "euler", **self._limits._asdict()}

    def report(self) -> dict[str, Any]:
        """The last step: iterations, whether it was cut short, largest gap of a joint and its row."""
        s = self._stats
        return {
            "iterations": int(s.last_sweeps),
            "cut_short": bool(s.last_cut),
            "gap": float(s.last_gap),
            "worst_row": self._row_name(s.last_row, self._rows),
        }

    def outcome(self) -> dict[str, Any]:
        s, steps = self._stats, max(int(self.state.clock.taken), 1)
        return {
            **super().outcome(),
            "iterations_mean": float(s.sweeps) / steps,
            "iterations_max": int(s.most_sweeps),
            "steps_cut_short": int(s.cut),
            "worst_gap_m": float(s.gap),
            "worst_row": self._row_name(s.gap_row, self._rows),
        }

    def warnings(self) -> list[str]:
        found = list(self._start.notes)
        if self._stats.cut:
            limits = f"{self._limits.iterations} iterations or the time budget"
            found.append(
                f"{int(self._stats.cut)} steps ended at {limits} before impulses settled; {self._unsettled()}"
            )
        return found

    def _unsettled(self) -> str:
        """What steps that were cut short have left undone, in words."""
        worst = self._row_name(self._stats.gap_row, self._rows)
        return f"the largest gap is {self._stats.gap:.2g} m in {worst}"
