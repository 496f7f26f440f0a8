"""A force between two points, computed by a user's own function, compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from ...model.item import BodyName, Number, Place, Polar, _nonzero, item
from ...model.load import Load, Site
from ..kernels.callback import call_user
from ..kernels.jit import kernel
from ..kernels.math3 import add3, cross3, dot3, get9, norm3, rotate, scale3, sub3
from .base import end_point, gap_between, push
from .function import compile_law

_LENGTH, _RATE, _OUT = 1, 1, 4


@item
class LineFunction(Load):
    """A force between a point of `a` and a point of `b`, computed by your function at every evaluation.

    It acts along the line between the points or, with `axis`, along a direction that turns with a. Either way both
    bodies feel the same force with opposite signs in one line: with an axis, in the one through the point of b.

    `function(t, x, v, parameters, out)` is compiled as for BodyFunction and writes into `out`:

    * t: time [s];
    * x[0]: distance of the points, or, with `axis`, how far b's is from a's along it [m];
    * v[0]: its rate [m/s];
    * parameters: the numbers given here;
    * out[0]: pull [N]; positive pulls the points together;
    * out[1]: energy stored in it [J], a function of x[0] (and of t, if out[3] accounts for that);
    * out[2]: power that it dissipates [W];
    * out[3]: power supplied from outside [W]; zero unless the law depends on time.

    A law that stores and dissipates has out[0] v[0] = d(out[1])/dt + out[2] - out[3]; if not, the energy balance tells.
    While two points coincide, the line between them has no direction and the force is none.
    """

    kind = "line_function"

    a: BodyName
    """One body ('ground' is the world)."""
    b: BodyName
    """The other body."""
    function: Callable[..., None]
    """Your function, compiled when the model is."""
    _: KW_ONLY
    at_a: Place
    """Point on a, in the world of the assembled pose [m], or a marker."""
    at_b: Place
    """Point on b, in the world of the assembled pose [m], or a marker."""
    axis: Annotated[Polar, AfterValidator(_nonzero)] | None = None
    """Direction of the force, in world axes of the assembled pose, any length but zero [1];
    default: between the points."""
    parameters: tuple[Number, ...] = ()
    """Numbers that the function gets [in units of your own]."""

    def fill(self, row: np.void, site: Site) -> None:
        site.end(row, "a", self.a, self.at_a)
        site.end(row, "b", self.b, self.at_b)
        if self.axis is not None:
            axis = np.array(site.world_vector(self.a, self.axis))
            row["value"][:3] = axis / np.linalg.norm(axis)
        compile_law(self, row, site, (_LENGTH, _RATE, max(len(self.parameters), 1), _OUT))


@kernel
def apply_line_function(load, tables, q, v, t):
    r_a, v_a = end_point(tables, load.a, load.X_A)
    r_b, v_b = end_point(tables, load.b, load.X_B)
    d = gap_between(tables, load.a, r_a, load.b, r_b)
    u = (load.value[0], load.value[1], load.value[2])
    if u[0] == 0.0 and u[1] == 0.0 and u[2] == 0.0:
        length = norm3(d)
        u = scale3(1.0 / length, d) if length > 0.0 else u
    else:
        # The axis turns with a: its force meets a in the line through b's point, and its rate is seen from there.
        dof = tables.dofs[load.a]
        u = rotate(get9(dof.R), u)
        r_a = add3(r_a, d)
        v_a = add3(v_a, cross3((dof.V[0], dof.V[1], dof.V[2]), d))
        length = dot3(u, d)
    numbers = tables.numbers
    x = load.first + load.count
    rate, out = x + _LENGTH, x + _LENGTH + _RATE
    numbers[x] = length
    numbers[rate] = dot3(u, sub3(v_b, v_a))
    for k in range(_OUT):
        numbers[out + k] = 0.0
    call_user(load.function, t, numbers, x, rate, load.first, out)
    load.force[0] = numbers[out]
    f = scale3(load.force[0], u)
    push(tables, load.a, r_a, f)
    push(tables, load.b, r_b, scale3(-1.0, f))
    load.potential = numbers[out + 1]
    return numbers[out + 3], numbers[out + 2]
