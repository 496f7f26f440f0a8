"""How stiff the elements of a mechanism are, judged by the inertia that they really move, the loops closed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compile.system import System
from ..engine.elements.stiffness import EXPLICIT, Slopes, fastest, slopes_of, soft_rows, too_stiff
from ..model.rotation import Array
from .closure import Closure, yielding


@dataclass(frozen=True)
class Softness:
    """Elements of a mechanism at a pose: springs, dampers, servos, motors, functions along a line."""

    names: tuple[str, ...]
    """Of their rows."""
    slopes: Slopes
    mobility: Array
    """How much a force along each accelerates each [1/kg or 1/(kg m²)]."""

    @property
    def limit(self) -> float:
        """Steps beyond this make explicit integrators diverge [s]; infinite if nothing is stiff."""
        rate = fastest(self.slopes, self.mobility)
        return EXPLICIT / rate if rate > 0.0 else np.inf

    def implicit(self, h: float) -> list[str]:
        """Rows that are to be taken implicitly in steps of h [s]."""
        return [self.names[k] for k in too_stiff(self.slopes, self.mobility, h)]


def softness(system: System, q: Array) -> Softness:
    """The elements of a system with rows, at a pose that closes its loops."""
    soft = soft_rows(system.row_table.constraints)
    if not len(soft):
        return Softness((), Slopes(*np.zeros((4, 0))), np.zeros((0, 0)))
    closure = Closure(system, q)
    mobility = yielding(closure, q, soft)
    slopes = slopes_of(closure.kin.tables, closure.kin.constraints, soft)
    return Softness(tuple(system.row_table.names[i] for i in soft), slopes, mobility)
