"""The papers' methods: sequential impulses, semi-implicit Euler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..compile.colliders import may_touch
from ..compile.compiler import Compiled
from ..engine.steppers.sweeps import new_matrix
from .base import Method
from .contact import DEFAULT_ERP, ContactMethod
from .impulse import ImpulseMethod
from .options import Limits, RowOptions, option
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

    @property
    def limits(self) -> Limits:
        return Limits(self.epsilon, self.iterations, self.budget, self.erp)

    def _build(self, model: Compiled, dt: float) -> Method:
        return (ContactMethod if may_touch(model.flat) else SweptMethod)(model, self, dt)


class SweptMethod(ImpulseMethod):
    """Sequential impulses of a model in which nothing can touch, in generalized (`simgc`) or maximal coordinates
    (`simmc`)."""

    solver = Impulses.solver

    def __init__(self, compiled: Compiled, options: Impulses, dt: float):
        self.name = options.method
        start = Start(compiled, self.name == "simmc")
        start.system = in_world_axes(start.system)
        self._set_up(compiled, start, options, dt, blocks=start.maximal)

    def _prepare(self, start: Start) -> None:
        self._rows, self._degenerate = without_degenerate(self.system)
        self._matrix = new_matrix(self.system.nv, self.system.depth, len(self._rows.names))

    def outcome(self) -> dict[str, Any]:
        now = [name for name, flag in zip(self._rows.names, self._matrix.dropped, strict=True) if flag]
        return {**super().outcome(), "degenerate_rows": [*self._degenerate, *now]}
