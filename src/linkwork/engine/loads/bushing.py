"""Springs and dampers along three axes between two points."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import BeforeValidator

from ...model.item import BodyName, LocalOffset, NonNegative, Orientation, Place, Vector, _plain, item
from ...model.load import Load, Site
from ...model.rotation import IDENTITY, matrix
from ..elements.respond import spring_law
from ..kernels.jit import kernel
from ..kernels.math3 import add3, cross3, dot3, get9, rotate, scale3, sub3
from .base import end_point, gap_between, push

if TYPE_CHECKING:
    PerAxis = Vector
else:
    PerAxis = Annotated[tuple[NonNegative, NonNegative, NonNegative], BeforeValidator(_plain)]

_STIFFNESS, _DAMPING, _REST = 9, 12, 15  # behind nine numbers of the frame


@item
class Bushing(Load):
    """Three springs and dampers between a point of `a` and a point of `b`, along axes that turn with a.

    Each pulls with stiffness (offset - rest offset) + damping d(offset)/dt, where the offset is how far b's point is
    from a's along its axis. It has no direction to lose where the points coincide, and resists no rotation. Both bodies
    feel the same force with opposite signs, in one line through the point of b.
    """

    kind = "bushing"

    a: BodyName
    """One body ('ground' is the world)."""
    b: BodyName
    """The other body."""
    _: KW_ONLY
    at_a: Place
    """Point on a, in the world of the assembled pose [m], or a marker."""
    at_b: Place
    """Point on b, in the world of the assembled pose [m], or a marker."""
    rotation: Orientation = IDENTITY
    """Orientation of its axes in the world of the assembled pose."""
    stiffness: PerAxis = (0.0, 0.0, 0.0)
    """Stiffness along each axis [N/m]."""
    damping: PerAxis = (0.0, 0.0, 0.0)
    """Viscous damping along each axis [N s/m]."""
    rest: LocalOffset | None = None
    """From a's point to b's along the axes, where it is slack [m]; default: as drawn."""

    def fill(self, row: np.void, site: Site) -> None:
        site.end(row, "a", self.a, self.at_a)
        site.end(row, "b", self.b, self.at_b)
        axes = matrix(self.rotation)
        drawn = axes.T @ np.subtract(site.point(self.at_b), site.point(self.at_a))
        rest = drawn if self.rest is None else self.rest
        x, y, z = (site.world_vector(self.a, axis) for axis in axes.T.tolist())
        row["first"], row["count"] = site.numbers([*x, *y, *z, *self.stiffness, *self.damping, *rest])


@kernel
def apply_bushing(load, tables, q, v, t):
    r_a, v_a = end_point(tables, load.a, load.X_A)
    r_b, v_b = end_point(tables, load.b, load.X_B)
    d = gap_between(tables, load.a, r_a, load.b, r_b)
    # The axes turn with a: their forces meet a at b's point, and rates are seen from there.
    dof = tables.dofs[load.a]
    R = get9(dof.R)
    seen = sub3(v_b, add3(v_a, cross3((dof.V[0], dof.V[1], dof.V[2]), d)))
    numbers, first = tables.numbers, load.first
    f = (0.0, 0.0, 0.0)
    potential, dissipated = 0.0, 0.0
    for k in range(3):
        axis = first + 3 * k
        u = rotate(R, (numbers[axis], numbers[axis + 1], numbers[axis + 2]))
        p = (numbers[first + _STIFFNESS + k], numbers[first + _DAMPING + k])
        answer = spring_law(p, p, 0.0, dot3(u, d) - numbers[first + _REST + k], dot3(u, seen), 0.0)
        load.force[k] = -answer.force
        f = add3(f, scale3(-answer.force, u))
        potential += answer.stored
        dissipated += answer.dissipated
    push(tables, load.a, add3(r_a, d), f)
    push(tables, load.b, r_b, scale3(-1.0, f))
    load.potential = potential
    return 0.0, dissipated
