"""What methods share that step at the level of velocities: semi-implicit Euler, forces as impulses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..compile.constrain import RowTable
from ..engine.kernels.clock import cycles_per_second
from ..engine.kernels.record import as_array, new_record
from ..engine.kernels.steady import Steady
from ..engine.kernels.tape import BY_IMPULSES
from ..engine.steppers.impulse import OPTIONS, STATS, Plan, run_impulses
from ..engine.steppers.samples import Samples
from ..engine.steppers.state import new_state
from ..model.rotation import Array
from ..observe.observer import RowObserver
from .base import NO_BUDGET, Method
from .options import RowOptions
from .rows import Start
from .switching import RowMethod


class ImpulseMethod(RowMethod):
    """Semi-implicit Euler: every force of a row, or of a contact, is an impulse within its bounds."""

    _counting = np.int64
    _matrix: Any = None
    """What the solver works on if nothing can touch."""
    _contact: Any = None
    """And if things may touch."""
    _orders: Plan | None = None
    """How steps are made; None while its tables have been exchanged."""

    def _set_up(self, compiled: Compiled, start: Start, options: RowOptions, dt: float, **more: Any) -> None:
        """The second half of a constructor; `more` are numbers of the step beside its limits."""
        self._dt, self._limits = dt, options.limits
        budget = self._limits.budget
        told = self._options = new_record(OPTIONS)
        told.step, told.erp = dt, self._limits.erp
        told.epsilon, told.most_sweeps = self._limits.epsilon, self._limits.iterations
        told.budget = int(NO_BUDGET if budget is None else budget * cycles_per_second())
        for name, value in more.items():
            told[name] = value
        self._loop = Steady(run_impulses, changing=2)
        self._launch(compiled, start)

    def _new_observer(self, start: Start) -> RowObserver:
        return RowObserver(start.system, self.scratch)

    def _fill(self) -> None:
        self._constraints = self._rows.fresh()
        head = self._constraints.tape[:1]
        head["c"] *= BY_IMPULSES
        head["a"] *= head["p"][:, 5] != 0.0  # nothing else asks for rates, where no event is located
        self._after, self._orders = np.zeros(len(self._rows.names)), None

    def _marks(self) -> Sequence[tuple[str, RowTable]]:
        return [("gap_row", self._rows), ("last_row", self._rows)]

    def _begin(self) -> None:
        self.state = new_state(self._start.q, self._start.v, self._dt)
        self._mean = np.full(self.system.nv, np.nan)
        self._ahead, self._delta = np.zeros(self.system.nv), np.zeros(self.system.nv)
        self._stats = new_record(STATS)
        self._told, self._counted = as_array(self._options), as_array(self._stats)
        self._stats.gap_row = self._stats.last_row = -1  # no row has had a gap
        self._orders = None

    def _travel(self, wanted: Array, out: Samples) -> tuple[int, int]:
        done, status = self._step(wanted, out)
        while self._make_way(status):
            more, status = self._step(wanted[done:], Samples(*(part[done:] for part in out)))
            done += more
        return done, status

    def _step(self, wanted: Array, out: Samples) -> tuple[int, int]:
        """Go through targets, as far as there is room for what that needs."""
        if self._orders is None:
            self._orders = Plan(self._told, self._counted, self._mean, self._ahead, self._delta, self._after)
        found: tuple[int, int] = self._loop(
            self._tables,
            self._constraints,
            self._matrix,
            self._contact,
            self._state,
            self._orders,
            wanted,
            out,
        )
        return found

    def _make_way(self, status: int) -> bool:
        """Whether a run that was interrupted can go on, for there is room now for what it needs."""
        return False

    def row_forces(self) -> dict[str, float]:
        """What rows exerted in the last step, along what they measure, by name [N or N m]."""
        forces = self._constraints.rows["p"] / self._dt
        return dict(zip(self._rows.names, map(float, forces), strict=True))

    def set_states(self, states: Mapping[str, float]) -> None:
        """Continuous states of elements, by the names of their rows."""
        for name, value in states.items():
            self._constraints.rows["x"][self._rows.names.index(name)] = value

    def change_step(self, dt: float) -> None:
        self._constraints.rows["p"] *= dt / self._dt  # the forces go on, so the impulses scale
        self._options.step = dt
        super().change_step(dt)

    def take_over(self, other: Method) -> None:
        super().take_over(other)
        if isinstance(other, type(self)):
            self._mean[:] = other._mean

    def memory(self) -> dict[str, Array]:
        rows = self._constraints.rows
        return {
            **super().memory(),
            "impulses": rows["p"],
            "element_states": rows["x"],
            "element_memory": rows["memory"],
            "element_samples": rows["samples"],
            "mean_accelerations": self._mean,
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
