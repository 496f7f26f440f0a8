"""The one entry of all functions of a state: for one state or an array of them, in a compiled loop.

One entry means that there is one kernel to compile, to load and to call fast. All arrays are flat; one that holds a
single state's numbers serves all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.dynamics import energies, momentum
from ..coordinates.tree import WEIGH, place, pose, retract
from ..elements.respond import stored_energy
from ..kernels.jit import kernel, woven
from ..tables import HOLD, LAW, SERVO_RATE
from .closing import project
from .forces import ALL, put_accelerations, put_bias, put_forces, put_inertia, stir
from .motion import (
    put_centre,
    put_centre_jacobian,
    put_drift,
    put_jacobian,
    put_pose,
    put_poses,
    put_twists,
)
from .room import WANT
from .rows import wanted_rate

# What is asked for: of placed tables, below PLACED; of all; of rows.
POSES, POSE, TWISTS, JACOBIAN, DRIFT, CENTRE, CENTRE_JACOBIAN, PLACED = range(8)
FORWARD, INVERSE, INERTIA, BIAS, ENERGIES, MOMENTUM, MOVED = range(8, 15)
PROJECT, GAPS, RATES, WANTS, ROWS, FLOW = range(15, 21)

ASKED = np.dtype(
    [
        ("what", "i8"),
        ("count", "i8"),  # of states
        ("body", "i8"),
        ("at", "f8", 3),  # a point of that body [m]
        ("nq", "i8"),  # numbers of a state: coordinates, rates, states of elements, commands
        ("nv", "i8"),
        ("nx", "i8"),
        ("nu", "i8"),
        ("width", "i8"),  # numbers of a result
        ("more", "i8"),  # and of the second one
    ]
)


class Inputs(NamedTuple):
    """States, flat, one after the other; or one that serves all."""

    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    """Generalised forces, accelerations or displacements, as the function needs."""
    x: np.ndarray
    """States of elements."""
    u: np.ndarray
    """Commands of drives."""
    t: np.ndarray
    """Times [s]."""


@woven
def of(x, width, k):
    """Numbers of the k-th state, or of the one that serves all."""
    begin = k * width if x.shape[0] > width else 0
    return x[begin : begin + width]


@kernel
def compute(tables, constraints, room, asked, inputs, out, more):
    """Functions of states, flat, into out and more. Returns the largest gap that a projection left, else 0.

    asked: what, how many states, which body, widths of q, v, x, u, out and more; at: a point of that body [m].
    """
    nq, nv, worst = asked.nq, asked.nv, 0.0
    for k in range(asked.count):
        q, v, f = of(inputs.q, nq, k), of(inputs.v, nv, k), of(inputs.force, nv, k)
        x, u = of(inputs.x, asked.nx, k), of(inputs.u, asked.nu, k)
        state = q, v, x, u, inputs.t[k if inputs.t.shape[0] > 1 else 0]
        result = out[k * asked.width : (k + 1) * asked.width]
        second = more[k * asked.more : (k + 1) * asked.more]
        worst = max(worst, put(tables, constraints, room, ALL, asked, state, f, result, second))
    return worst


@kernel
def put(tables, constraints, room, whole, asked, state, f, result, second):
    """A function of a state into result and second. Returns the gap that a projection left.

    whole: None for what asks for nothing but the tree, without loads.
    """
    q, v, _, _, t = state
    what, nv = asked.what, asked.nv
    if what == FORWARD:
        stir(tables, constraints, room, whole, state)
        put_accelerations(tables, constraints, room, f, result, second)
    elif what == INVERSE:
        stir(tables, constraints, room, whole, state)
        put_forces(tables, constraints, room, f, result)
    elif what == INERTIA:
        put_inertia(tables, constraints, room, q, v, result.reshape((nv, nv)))
    elif what == BIAS:
        put_bias(tables, constraints, room, q, v, result)
    elif what < PLACED:
        _place(tables, what, q, v)
        _put_motion(tables, asked, v, result, second)
    elif what == MOMENTUM:
        momentum(tables, q, v, result)
    elif what == MOVED:
        retract(tables.dofs, q, f, result)
    elif whole is not None:
        if what == ENERGIES:
            _put_energies(tables, constraints, room, state, result)
        elif constraints is not None:
            if what == PROJECT:
                return project(tables, constraints, room, state, f, result, second)
            stir(tables, constraints, room, whole, state)
            _put_rows(tables, constraints, room, what, t, result)
    return 0.0


@kernel
def _place(tables, what, q, v):
    """As much of the state as a function of motion needs."""
    if what == TWISTS or what == DRIFT:
        place(tables.dofs, tables.islands, q, v)
    elif what == CENTRE_JACOBIAN:
        pose(tables.dofs, tables.islands, q, WEIGH)
    else:
        pose(tables.dofs, tables.islands, q, None)


@kernel
def _put_motion(tables, asked, v, out, more):
    """(placed tables) => what is asked for of poses, twists and Jacobians."""
    what, body, at = asked.what, asked.body, (asked.at[0], asked.at[1], asked.at[2])
    if what == POSES:
        put_poses(tables, out, more)
    elif what == POSE:
        put_pose(tables, body, at, out, more)
    elif what == TWISTS:
        put_twists(tables, out)
    elif what == JACOBIAN:
        put_jacobian(tables, body, at, out.reshape((6, v.shape[0])))
    elif what == DRIFT:
        put_drift(tables, body, at, out)
    elif what == CENTRE:
        put_centre(tables, out)
    else:
        put_centre_jacobian(tables, out)


@kernel
def _put_energies(tables, constraints, room, state, out):
    """(state) => kinetic energy, that of gravity and that of springs [J]."""
    q, v, _, _, t = state
    kinetic, height, strain = energies(tables, q, v, t)
    if constraints is not None:
        stir(tables, constraints, room, ALL, state)
        strain += stored_energy(tables, constraints, t)
        for r in range(constraints.rows.shape[0]):
            row = constraints.rows[r]
            if row.role == LAW:
                kinetic += 0.5 * row.inertia * row.rate * row.rate
    out[0], out[1], out[2] = kinetic, height, strain


@kernel
def _put_rows(tables, constraints, room, what, t, out):
    """(stirred tables) => what is asked for of constraints, or how fast states of elements change."""
    rows, dofs, k = constraints.rows, tables.dofs, 0
    for r in range(rows.shape[0]):
        row = rows[r]
        if what == FLOW:
            if row.state >= 0:
                out[row.state] = row.flow
        elif row.role == HOLD or row.role == SERVO_RATE:
            if what == GAPS:
                out[k] = row.phi if row.role == HOLD else 0.0
            elif what == RATES:
                out[k] = row.rate - wanted_rate(tables, constraints, row, t)
            elif what == WANTS:
                out[k] = room.row[WANT, r]
            else:
                n = dofs.shape[0] - 1
                for d in range(1, dofs.shape[0]):
                    out[k * n + dofs[d].v] = room.J[r, d - 1]
            k += 1
