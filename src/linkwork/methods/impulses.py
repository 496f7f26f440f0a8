"""The papers' methods: sequential impulses, semi-implicit Euler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..compile.colliders import may_touch
from ..compile.compiler import Compiled
from ..engine.steppers.sweeps import new_matrix
from .base import Method
from .contact import DEFAULT_ERP, DEFAULT_SLOP, ContactMethod
from .impulse import ImpulseMethod, Limits
from .options import RowOptions, option
from .rows import Start, in_world_axes, without_degenerate


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
            limits = Limits(self.epsilon, self.iterations, self.budget, self.erp)
            return SweptMethod(model, self.method, dt, limits)
        return ContactMethod(
            model, self.method, self.solver, dt, self.epsilon, self.iterations, self.budget, self.erp,
            self.slop or DEFAULT_SLOP, self.sleep,
        )  # fmt: skip


class SweptMethod(ImpulseMethod):
    """Sequential impulses of a model in which nothing can touch, in generalized (`simgc`) or maximal coordinates
    (`simmc`)."""

    solver = Impulses.solver

    def __init__(self, compiled: Compiled, name: str, dt: float, limits: Limits):
        self.name = name
        start = Start(compiled, name == "simmc")
        start.system = in_world_axes(start.system)
        self._launch(compiled, start, dt, limits, blocks=start.maximal)

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        self._rows, self._degenerate = without_degenerate(self.system)
        self._matrix = new_matrix(self.system.nv, self.system.depth, len(self._rows.names))

    def outcome(self) -> dict[str, Any]:
        now = [name for name, flag in zip(self._rows.names, self._matrix.dropped, strict=True) if flag]
        return {**super().outcome(), "degenerate_rows": [*self._degenerate, *now]}
