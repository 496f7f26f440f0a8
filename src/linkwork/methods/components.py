"""Component-based simulation: the model's own hierarchy of subsystems, kept while it moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..compile import compile_apart
from ..constrain import RowTable
from ..elimination import Placement
from ..model import Model
from ..observe import Block, DirectObserver
from ..partition import refine
from ..rotation import Array
from ..solvers import layout
from ..subsystems import Subsystem, borders, hierarchy, ties
from .implicit import refuse
from .part import Part, Relatives, Steps
from .rows import Start, settle
from .sampled import SampledMethod


class ComponentMethod(SampledMethod):
    """Subsystems eliminated one after the other (Vlasenko and Kasper), in maximal coordinates.

    `integrator`: "rk4", "adams" (order four, one evaluation a step), "adaptive" (order five, keeps the local error at
    `tolerance`) or "euler" (order one). `partition`: the subsystems; by default those that the model was written in,
    divided further where that saves work.
    """

    name = "components"

    def __init__(self, model: Model, steps: Steps, partition: Subsystem | None = None):
        flat = model.flatten()
        refuse(self.name, flat)
        self.adaptive = steps.adaptive
        self._dt, self._steps = steps.dt, steps
        self._relatives: Relatives | None = None
        self._tied = ties(flat)
        self._top = self._subsystems(model) if partition is None else partition
        self._shown = model
        start = self._first_start(model)
        self._tables = start.system.fresh_tables()
        self.observer: DirectObserver = DirectObserver(self._shown, start.system)
        self._open(start)
        self.reset()

    def _subsystems(self, model: Model) -> Subsystem:
        """Those that the user wrote, divided further where that saves work."""
        return refine(hierarchy(model), self._tied)

    def _first_start(self, model: Model) -> Start:
        return Start(model, True, lambda model: compile_apart(model, {}))

    def _placement(self) -> Placement:
        return Placement([self._top], borders(self._top, self._tied))

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        assert self.system.rows is not None
        self._part = Part(self.system, self.system.rows, self._placement(), self._steps)
        self._rows = self._part.rows
        self._configuration = self.observer.configure(
            self.system, self._rows.names, start.attachment, start.tree_q
        )

    def _marks(self) -> list[tuple[int, RowTable]]:
        assert self.system.rows is not None
        return [(layout.RATIO_ROW, self._rows), (layout.GAP_ROW, self.system.rows)]

    def reset(self) -> None:
        self._rewind()
        start = self._start
        self._fill()
        settle(self._tables, self._constraints, start.q)
        settle(self._tables, self._every_row, start.q)
        self._part.begin(self._tables, self._constraints, self._every_row, start.q, start.v)
        self._stats, self.state = self._part.stats, self._part.state

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = self._room(len(targets))
        done, status = self._part.advance(targets, out, self._relatives)
        return done, status, self._block(out)

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self._part.dt = dt
        self.disturb()

    def disturb(self) -> None:
        self._part.disturb()

    def memory(self) -> dict[str, Array]:
        return {**super().memory(), **self._part.memory()}

    def info(self) -> dict[str, Any]:
        return {
            "integrator": self._steps.integrator,
            "tolerance": self._steps.tolerance if self.adaptive else None,
            "budget": self._steps.budget,
            "subsystems": len(self._part.work.node),
        }

    def report(self) -> dict[str, Any]:
        """The last step: evaluations and the largest gap at the last sample."""
        return {
            "evaluations": int(self._stats[layout.LAST_EVALUATIONS]),
            "gap": float(self._stats[layout.LAST_GAP]),
        }
