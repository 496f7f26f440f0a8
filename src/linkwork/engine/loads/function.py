"""Loads computed by a user's own function, compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from ...model.item import BodyName, JointName, Number, item
from ...model.load import Load, Site
from ..kernels.callback import call_user, compile_callback
from ..kernels.jit import kernel
from ..kernels.math3 import dot3, get9, rotate
from .base import end_point, push, twist

_POSE, _TWIST, _WRENCH = 12, 6, 6


@item
class BodyFunction(Load):
    """A force and torque on a body, computed by your function at every evaluation.

    `function(t, x, v, parameters, out)` is compiled by Numba; it must use only what Numba compiles, must not
    keep state (an integrator calls it several times a step), and writes into `out`:

    * t: time [s];
    * x: position of the body's origin (x[0:3]) [m] and its rotation matrix, row by row (x[3:12]);
    * v: angular velocity (v[0:3]) [rad/s] and velocity of the origin (v[3:6]) [m/s];
    * parameters: the numbers given here;
    * out[0:3]: torque [N m]; out[3:6]: force at the body's origin [N]. Everything in world axes.
    """

    kind = "body_function"

    body: BodyName
    """The body that it acts on."""
    function: Callable[..., None]
    """Your function, compiled when the model is."""
    _: KW_ONLY
    parameters: tuple[Number, ...] = ()
    """Numbers that the function gets [in units of your own]."""

    def fill(self, row: np.void, site: Site) -> None:
        site.end(row, "a", self.body, None)
        sizes = (_POSE, _TWIST, max(len(self.parameters), 1), _WRENCH)
        compile_law(self, row, site, sizes)


@item
class JointFunction(Load):
    """Generalised forces on a joint, computed by your function at every evaluation.

    `function(t, x, v, parameters, out)` as for BodyFunction, with x the joint's coordinates, v its rates, and
    out its generalised forces, one per rate [N m or N].
    """

    kind = "joint_function"

    joint: JointName
    """The joint that it acts on."""
    function: Callable[..., None]
    """Your function, compiled when the model is."""
    _: KW_ONLY
    parameters: tuple[Number, ...] = ()
    """Numbers that the function gets [in units of your own]."""

    def fill(self, row: np.void, site: Site) -> None:
        first_q, count_q, first_v, count_v = site.joint_span(self.joint)
        row["value"][:4] = first_q, count_q, first_v, count_v
        compile_law(self, row, site, (count_q, count_v, max(len(self.parameters), 1), count_v))


def compile_law(load: Any, row: np.void, site: Site, sizes: tuple[int, int, int, int]) -> None:
    """Compile the function of a load; write its address and the place of its numbers into the load's record.

    sizes: of x, v, parameters and out, of which scratch is kept behind the parameters in this order, parameters apart.
    """
    row["function"], owner = compile_callback(load.function, sizes)
    site.keep(owner)
    nx, nv, np_, no = sizes
    values = [*load.parameters, *[0.0] * (np_ - len(load.parameters))]
    row["first"], row["count"] = site.numbers(values, scratch=nx + nv + no)


@kernel
def apply_body_function(load, tables, q, v, t):
    numbers = tables.numbers
    x = load.first + load.count
    w, out = x + _POSE, x + _POSE + _TWIST
    dof = tables.dofs[load.a]
    r, velocity = end_point(tables, load.a, load.X_A)
    o = tables.islands[dof.island].o
    R = get9(dof.R)
    for k in range(3):
        numbers[x + k] = o[k] + r[k]
        numbers[w + k] = dof.V[k]
        numbers[w + 3 + k] = velocity[k]
        # Column k of the body's rotation matrix: the link's frame times the body's frame in it.
        column = rotate(R, (load.X_A[k], load.X_A[3 + k], load.X_A[6 + k]))
        for i in range(3):
            numbers[x + 3 + 3 * i + k] = column[i]
    for k in range(6):
        numbers[out + k] = 0.0
    call_user(load.function, t, numbers, x, w, load.first, out)
    n = (numbers[out], numbers[out + 1], numbers[out + 2])
    f = (numbers[out + 3], numbers[out + 4], numbers[out + 5])
    twist(tables, load.a, n)
    push(tables, load.a, r, f)
    return dot3(f, velocity) + dot3(n, (dof.V[0], dof.V[1], dof.V[2])), 0.0


@kernel
def apply_joint_function(load, tables, q, v, t):
    numbers = tables.numbers
    first_q, count_q = int(load.value[0]), int(load.value[1])
    first_v, count_v = int(load.value[2]), int(load.value[3])
    x = load.first + load.count
    w, out = x + count_q, x + count_q + count_v
    for k in range(count_q):
        numbers[x + k] = q[first_q + k]
    for k in range(count_v):
        numbers[w + k] = v[first_v + k]
        numbers[out + k] = 0.0
    call_user(load.function, t, numbers, x, w, load.first, out)
    power = 0.0
    for d in range(1, tables.dofs.shape[0]):
        dof = tables.dofs[d]
        if first_v <= dof.v < first_v + count_v:
            tau = numbers[out + dof.v - first_v]
            dof.tau += tau
            power += tau * v[dof.v]
    return power, 0.0
