"""Component-based simulation: the model's own hierarchy of subsystems, kept while it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compile.compiler import Compiled
from ..compile.elimination import Placement
from ..compile.partition import refine
from ..compile.spanning import Edge
from ..compile.subsystems import Subsystem, borders, hierarchy, ties, without_merged
from ..engine.elements.stiffness import slopes_of, soft_rows, too_stiff
from ..engine.steppers.integrators import integrators
from ..engine.steppers.samples import Samples
from ..engine.tables import LAW
from ..mechanism.switching import Attachment
from ..model import Model
from ..model.providers import provider
from ..model.rotation import Array
from .options import DEFAULT_TOLERANCE, Options, option
from .part import Part, Relatives, Steps
from .rows import Start
from .sampled import ExplicitMethod


@dataclass(frozen=True, kw_only=True)
class Components(Options):
    """The model's own hierarchy of components, one subsystem eliminated after the other, in one process or several.

    Integrators: "rk4" (order 4; the default), "adams" (order 4, one evaluation a step), "adaptive" (order 5), "euler"
    (order 1).
    """

    integrators: ClassVar = integrators(usual="rk4")
    text: ClassVar = "any mechanism, subsystem by subsystem, in one process or many"
    way: ClassVar[str] = "components"

    tolerance: float | None = option(None, "Local error that adaptive steps keep; 1e-8 by default.")
    budget: float | None = option(None, "Time that a step may take [s]; steps that take longer are told.")

    def _build(self, model: Compiled, dt: float) -> ComponentMethod:
        steps = Steps(str(self.integrator), dt, self.tolerance or DEFAULT_TOLERANCE, self.budget)
        made: ComponentMethod = provider("component method")(model, steps)
        return made


class ComponentMethod(ExplicitMethod):
    """Subsystems eliminated one after the other (Vlasenko and Kasper), in maximal coordinates.

    `integrator`: "rk4", "adams" (order four, one evaluation a step), "adaptive" (order five, keeps the local error at
    `tolerance`) or "euler" (order one). Springs and motors too stiff for a fixed step are taken implicitly, at order
    one, and Runge-Kutta replaces Adams then. `partition`: the subsystems; by default those that the model was written
    in, divided further where that saves work.
    """

    name = Components.way

    def __init__(self, model: Model | Compiled, steps: Steps, partition: Subsystem | None = None):
        compiled = Compiled.of(model)
        flat = compiled.flat
        self.adaptive = steps.adaptive
        self._dt, self._steps = steps.dt, steps
        self._integrator, self._tolerance, self._budget = steps.integrator, steps.tolerance, steps.budget
        self._relatives: Relatives | None = None
        self._tied = ties(flat, self._merged(compiled))
        self.partition = (
            self._subsystems(compiled)
            if partition is None
            else without_merged(partition, self._merged(compiled))
        )
        """The subsystems that are eliminated, without bodies that are welded to others."""
        self._launch(compiled, self._first_start(compiled))

    def _subsystems(self, compiled: Compiled) -> Subsystem:
        """Those that the user wrote, divided further where that saves work."""
        return refine(without_merged(hierarchy(compiled.model), compiled.merged), self._tied)

    def _merged(self, compiled: Compiled) -> tuple[Edge, ...]:
        """Welds of bodies that count as one."""
        return compiled.merged

    def _first_start(self, compiled: Compiled) -> Start:
        return Start(compiled, True, lambda _: compiled.apart)

    def _placement(self) -> Placement:
        return Placement([self.partition], borders(self.partition, self._tied))

    def _prepare(self, start: Start) -> None:
        placement = self._placement()
        self.part = Part(
            self.system, self.system.row_table, placement, self._steps, alone=not placement.remote
        )
        self._mobilities: Array | None = None
        self._rows = self.part.rows

    def _restore(self, attachment: Attachment, tree_q: Array) -> None:
        before = self.part
        super()._restore(attachment, tree_q)
        self.part.go_on(before, self._constraints, self._every_row)
        self._stiffen()

    @property
    def _redundant(self) -> tuple[str, ...]:  # type: ignore[override]
        """Joint equations that followed from the others when the last step ended."""
        return self.part.redundant()

    def _stiffen(self) -> None:
        """Take implicitly what is too stiff for the step."""
        rows = self._constraints.rows
        soft = soft_rows(self._constraints)
        stiff = []
        if not self.adaptive and len(soft):
            if self._mobilities is None:  # as it starts, in this configuration
                self._mobilities = self.part.yielding(soft)
            slopes = slopes_of(self._tables, self._constraints, soft)
            found = too_stiff(slopes, self._mobilities, self._dt)
            stiff = [self._rows.names[soft[k]] for k in found]
        bounded = {
            name
            for name, row in zip(self._rows.names, rows, strict=True)
            if row["role"] == LAW and np.isfinite(row["strength"])
        }
        self._chatters = [name for name in stiff if name in bounded]
        self._implicit = tuple(name for name in stiff if name not in bounded)
        self.part.stiffen(self._implicit)

    def _begin(self) -> None:
        start = self._start
        self.part.begin(self._tables, self._constraints, self._every_row, start.q, start.v)
        self._stats, self.state = self.part.stats, self.part.state
        self._stiffen()

    def _travel(self, wanted: Array, out: Samples) -> tuple[int, int]:
        return self.part.advance(wanted, out, self._relatives)

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self.part.dt = dt
        self._stiffen()
        self.disturb()

    def disturb(self) -> None:
        self.part.disturb()

    def memory(self) -> dict[str, Array]:
        return {**super().memory(), **self.part.memory()}

    def info(self) -> dict[str, Any]:
        return {**super().info(), "subsystems": len(self.part.work.node)}

    def warnings(self) -> list[str]:
        return [
            *super().warnings(),
            *(
                f"drive '{name.partition(':')[0]}' is too stiff for steps of {self._dt:g} s and has a limited "
                f"strength: it may chatter; shorten dt or use method 'simgc'"
                for name in self._chatters
            ),
        ]
