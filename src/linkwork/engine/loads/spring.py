"""A spring and damper between two points."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from ...model.item import BodyName, NonNegative, Place, item
from ...model.load import Load, Site
from ..elements.respond import spring_law
from ..kernels.jit import kernel
from ..kernels.math3 import dot3, norm3, scale3, sub3
from .base import end_point, gap_between, push


@item
class Spring(Load):
    """A spring and damper along the line between a point of `a` and a point of `b`.

    Pulls with stiffness (length - rest length) + damping d(length)/dt. Without direction, and so without
    force, while its two points coincide.
    """

    kind = "spring"

    a: BodyName
    """One body ('ground' is the world)."""
    b: BodyName
    """The other body."""
    _: KW_ONLY
    at_a: Place
    """Point on a, in the world of the assembled pose [m], or a marker."""
    at_b: Place
    """Point on b, in the world of the assembled pose [m], or a marker."""
    stiffness: NonNegative = 0.0
    """Stiffness [N/m]."""
    damping: NonNegative = 0.0
    """Viscous damping [N s/m]."""
    length: NonNegative | None = None
    """Length at which it is slack [m]; default: as drawn."""

    def fill(self, row: np.void, site: Site) -> None:
        site.end(row, "a", self.a, self.at_a)
        site.end(row, "b", self.b, self.at_b)
        drawn = np.linalg.norm(np.subtract(site.point(self.at_b), site.point(self.at_a)))
        length = drawn if self.length is None else self.length
        row["value"][:3] = self.stiffness, self.damping, length


@kernel
def apply_spring(load, tables, q, v, t):
    r_a, v_a = end_point(tables, load.a, load.X_A)
    r_b, v_b = end_point(tables, load.b, load.X_B)
    d = gap_between(tables, load.a, r_a, load.b, r_b)
    length = norm3(d)
    u = scale3(1.0 / length, d) if length > 0.0 else (0.0, 0.0, 0.0)
    answer = spring_law(load.value, load.value, 0.0, length - load.value[2], dot3(u, sub3(v_b, v_a)), 0.0)
    load.potential, load.force[0] = answer.stored, -answer.force if length > 0.0 else 0.0
    push(tables, load.a, r_a, scale3(-answer.force, u))
    push(tables, load.b, r_b, scale3(answer.force, u))
    return 0.0, answer.dissipated
