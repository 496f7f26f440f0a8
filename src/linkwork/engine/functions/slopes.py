"""Derivatives of forward and inverse dynamics by coordinates, rates and forces, loops and elements included.

With the residual r = H a + h - τ - Q - Jᵀ λ, whose derivatives at fixed a and λ are those of implicit steps
(`coordinates/tangent.py`), and the accelerations φ'' = J a + J̇ v of the kept rows,

    [H  -Jᵀ] [∂a]     [∂r  ]
    [J   0 ] [∂λ] = - [∂φ'']

All of it is exact to rounding but J̇ v by coordinates, a third derivative of the rows: differences of order 6, whose
stride leaves some 1e-13 of it; and loads that are no rows (`loads/tangent.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.factor import solve_inward
from ..coordinates.soften import add_load_tangent, second, straight
from ..coordinates.tangent import (
    AXIS_RATE,
    SCRATCH,
    TURNING,
    add_motion_tangent,
    balance,
    hold,
    prepare,
)
from ..coordinates.tree import place, retract
from ..elements.respond import bounded, command_of, respond
from ..kernels.jit import kernel
from ..kernels.skyline import Skyline, clear, new_skyline
from ..loads import apply_loads
from ..tables import BALL, LAW, SCREW
from .compute import of
from .forces import ALL, eliminate, stir
from .room import FORCE, KEPT, MULTIPLIER, SOFT, WANT
from .rows import measure_rows, solve_kept

BY_Q, BY_V, BY_FORCE = range(3)
FORWARD, INVERSE = range(2)
_STRIDE = 1e-2  # of differences [rad, or sizes of the mechanism]: error and rounding are both some 1e-14
_WEIGHTS = (0.75, -0.15, 1.0 / 60.0)  # central differences of order 6


class Slopes(NamedTuple):
    """Scratch of derivatives."""

    spat: np.ndarray
    """Numbers per dof (`coordinates/tangent.py`)."""
    block: np.ndarray
    spare: np.ndarray
    """Of the derivatives of one load."""
    matrix: Skyline
    """Derivatives of the residual, full."""
    above: np.ndarray
    """Which dofs carry which."""
    moves: np.ndarray
    """Which dofs move which rows."""
    kept: np.ndarray
    """What `add_motion_tangent` spoils."""
    bent: np.ndarray
    """How the line of a row changes: dofs × dofs."""
    drift: np.ndarray
    """J̇ v of every row by coordinates, rows × rates."""
    by_row: np.ndarray
    """φ'' of every row by coordinates and by rates: 2 × rows × rates."""
    line: np.ndarray
    """Numbers per rate: acceleration, residual, displacement, rate."""
    moved: np.ndarray
    """Coordinates, and moved ones."""
    stride: np.ndarray
    """Of differences along each rate."""


def new_slopes(above: np.ndarray, moves: np.ndarray, nq: int, sizes: np.ndarray) -> Slopes:
    """Scratch for a mechanism: which dofs carry which (world included), move which rows, sizes of displacements."""
    count, rows = len(above), len(moves)
    n = count - 1
    return Slopes(
        np.zeros((count, SCRATCH)), np.zeros((2, 12, 12)), np.zeros(24),
        new_skyline(list(range(n)), [set(range(n))]), above, moves, np.zeros((count, AXIS_RATE - TURNING)),
        np.zeros((n, n)), np.zeros((rows, n)), np.zeros((2, rows, n)), np.zeros((4, n)), np.zeros((2, nq)),
        _STRIDE * sizes,
    )  # fmt: skip


@kernel
def differentiate(tables, constraints, room, slopes, asked, inputs, out):
    """Derivatives of states, flat, into out: by coordinates, rates and forces or accelerations, nv × nv each."""
    nv = asked.nv
    size = nv * nv
    for k in range(asked.count):
        q, v, f = slopes.moved[0], slopes.line[3], of(inputs.force, nv, k)
        _copy(of(inputs.q, asked.nq, k), q)  # differences move them to and fro
        _copy(of(inputs.v, nv, k), v)
        x, u = of(inputs.x, asked.nx, k), of(inputs.u, asked.nu, k)
        state = q, v, x, u, inputs.t[k if inputs.t.shape[0] > 1 else 0]
        a, rank = slopes.line[0], 0
        for i in range(nv):
            slopes.line[2, i] = 0.0
        _differentiate_springs(tables, slopes, q, v)
        if constraints is not None:
            _differentiate_drift(tables, constraints, room, slopes, q, v)
        stir(tables, constraints, room, ALL, state)
        if asked.what == FORWARD:
            rank = eliminate(tables, constraints, room, f, a)
        else:
            _copy(f, a)
        base = 3 * size * k
        _differentiate_residual(
            tables, constraints, room, slopes, asked.what, state, out[base : base + 3 * size]
        )
        if asked.what == FORWARD:
            for block in range(3):
                part = out[base + block * size : base + (block + 1) * size]
                _solve_block(tables.dofs, room, slopes, rank, block, part)


@kernel
def _copy(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i]


@kernel
def _differentiate_springs(tables, slopes, q, v):
    """Springs of balls that are no rows along the turns of these, into `bent`."""
    dofs, shift, bent = tables.dofs, slopes.line[2], slopes.bent
    for d in range(1, dofs.shape[0]):
        first = dofs[d].first
        if dofs[d].motion == SCREW or not _is_sprung(dofs, first):
            continue
        for row in range(3):
            bent[first + row - 1, d - 1] = 0.0
        for m in range(6):
            j = m // 2 + 1
            sign = 1.0 if m % 2 == 0 else -1.0
            shift[dofs[d].v] = sign * j * _STRIDE
            retract(dofs, q, shift, slopes.moved[1])
            place(dofs, tables.islands, slopes.moved[1], v)
            for row in range(3):
                bent[first + row - 1, d - 1] += sign / _STRIDE * _WEIGHTS[j - 1] * dofs[first + row].tau
        shift[dofs[d].v] = 0.0


@kernel
def _is_sprung(dofs, first):
    """Whether the ball that begins with this dof has a spring."""
    return (
        dofs[first].stiffness != 0.0 or dofs[first + 1].stiffness != 0.0 or dofs[first + 2].stiffness != 0.0
    )


@kernel
def _differentiate_drift(tables, constraints, room, slopes, q, v):
    """J̇ v of rows that are bent and whose accelerations count, by coordinates."""
    rows, shift = constraints.rows, slopes.line[2]
    for r in range(rows.shape[0]):
        for i in range(v.shape[0]):
            slopes.drift[r, i] = 0.0
    for d in range(1, tables.dofs.shape[0]):
        i, needed = tables.dofs[d].v, False
        for r in range(rows.shape[0]):
            needed |= _bends(constraints, rows[r]) and slopes.moves[r, d] != 0
        if not needed:
            continue
        h = slopes.stride[i]
        for m in range(6):
            j = m // 2 + 1
            sign = 1.0 if m % 2 == 0 else -1.0
            shift[i] = sign * j * h
            retract(tables.dofs, q, shift, slopes.moved[1])
            place(tables.dofs, tables.islands, slopes.moved[1], v)
            measure_rows(tables, constraints, room, slopes.moved[1], v)
            weight = sign / h * _WEIGHTS[j - 1]
            for r in range(rows.shape[0]):
                if slopes.moves[r, d] != 0 and _bends(constraints, rows[r]):
                    slopes.drift[r, i] += weight * rows[r].bias
        shift[i] = 0.0


@kernel
def _bends(constraints, row):
    """Whether the acceleration of a row counts and it is not linear in the coordinates."""
    return (row.role != LAW or row.inertia > 0.0) and not straight(constraints.coords, row)


@kernel
def _differentiate_residual(tables, constraints, room, slopes, what, state, out):
    """(accelerations, forces of kept rows) => derivatives of the residual; of φ'' in by_row. The third block is the
    inertia of inverse dynamics, and the derivative by forces of forward dynamics."""
    q, v, _, _, t = state
    dofs, spat, matrix, nv = tables.dofs, slopes.spat, slopes.matrix, v.shape[0]
    a, residual = slopes.line[0], slopes.line[1]
    place(dofs, tables.islands, q, v)
    hold(dofs, spat, a)
    prepare(dofs, spat)
    if tables.loads.shape[0] > 0:
        apply_loads(tables, q, v, t)
    balance(dofs, spat, a, residual)
    for d in range(dofs.shape[0]):
        for i in range(AXIS_RATE - TURNING):
            slopes.kept[d, i] = spat[d, TURNING + i]
    for block in range(3):
        base = block * nv * nv
        if block == BY_FORCE and what == FORWARD:
            for i in range(nv):
                for j in range(nv):
                    out[base + i * nv + j] = -1.0 if i == j else 0.0
            continue
        clear(matrix)
        for d in range(dofs.shape[0]):
            for i in range(AXIS_RATE - TURNING):
                spat[d, TURNING + i] = slopes.kept[d, i]
        on_q, on_v = 1.0 if block == BY_Q else 0.0, 1.0 if block == BY_V else 0.0
        on_a = 1.0 if block == BY_FORCE else 0.0
        add_motion_tangent(dofs, spat, matrix.shape, matrix.values, on_a, on_v, on_q)
        if tables.loads.shape[0] > 0:
            add_load_tangent(tables, slopes, q, v, t, on_v, on_q)
        _spread(matrix, out[base : base + nv * nv])
    _add_springs(dofs, slopes.bent, out)
    if constraints is not None:
        for r in range(constraints.rows.shape[0]):
            _add_row(tables, constraints, room, slopes, what, r, state, out)


@kernel
def _spread(matrix, out):
    """A skyline whose unknowns stand in their order, dense."""
    n, values = matrix.shape.shape[1], matrix.values
    for i in range(n):
        start = i * (i + 1) // 2
        for j in range(i + 1):
            out[j * n + i] = values[1, start + j]
            out[i * n + j] = values[0, start + j]


@kernel
def _add_springs(dofs, bent, out):
    """Springs and dampers in joints of the tree that are no rows."""
    n = dofs.shape[0] - 1
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        i = dof.v
        out[n * n + i * n + i] += dof.damping
        if dof.motion == SCREW:
            out[i * n + i] += dof.stiffness
        elif dof.motion == BALL and _is_sprung(dofs, d):
            for row in range(3):
                for column in range(3):
                    out[dofs[d + row].v * n + dofs[d + column].v] -= bent[d + row - 1, d + column - 1]


@kernel
def _add_row(tables, constraints, room, slopes, what, r, state, out):
    """What row r adds to the derivatives of the residual, and how its acceleration changes, if that counts."""
    _, v, _, _, t = state
    dofs, row, line, bent = tables.dofs, constraints.rows[r], room.J[r], slopes.bent
    n, a = v.shape[0], slopes.line[0]
    inertia = row.inertia if row.role == LAW else 0.0
    stiffness, damping, force = 0.0, 0.0, 0.0
    if row.role == LAW:
        answer = bounded(row, respond(tables, row, command_of(tables, constraints, row, t), t, True))
        stiffness, damping, force = answer.by_phi, answer.by_rate, answer.force
        if inertia > 0.0:
            total = row.bias
            for d in range(n):
                total += line[d] * a[dofs[d + 1].v]
            force -= inertia * total
    elif what == FORWARD:
        force = room.row[MULTIPLIER, r]
    linear = straight(constraints.coords, row)
    for d in range(n):
        for e in range(n):
            bent[d, e] = 0.0
            if not linear and slopes.moves[r, d + 1] != 0 and slopes.moves[r, e + 1] != 0:
                bent[d, e] = second(tables, constraints, slopes.above, row, d + 1, e + 1)
    for e in range(n):
        i, speeds, turned, pulled = dofs[e + 1].v, 0.0, 0.0, 0.0
        for d in range(n):
            k = dofs[d + 1].v
            speeds += bent[d, e] * v[k]
            turned += bent[e, d] * v[k]
            pulled += bent[d, e] * a[k]
        slopes.by_row[BY_Q, r, i] = pulled + slopes.drift[r, i]
        slopes.by_row[BY_V, r, i] = speeds + turned
        by_q = stiffness * line[e] + damping * speeds - inertia * slopes.by_row[BY_Q, r, i]
        by_v = damping * line[e] - inertia * slopes.by_row[BY_V, r, i]
        for d in range(n):
            k = dofs[d + 1].v
            out[k * n + i] -= line[d] * by_q + force * bent[d, e]
            out[n * n + k * n + i] -= line[d] * by_v
            if what == INVERSE:
                out[2 * n * n + k * n + i] += inertia * line[d] * line[e]


@kernel
def _solve_block(dofs, room, slopes, rank, block, out):
    """(factors; derivatives of the residual in out) => derivatives of accelerations there."""
    n, force, answer = dofs.shape[0] - 1, room.line[FORCE], slopes.line[1]
    for i in range(n):
        for d in range(n):
            force[d] = -out[dofs[d + 1].v * n + i]
        solve_inward(dofs, room.K, force)
        for r in range(room.row.shape[1]):
            room.row[WANT, r] = 0.0
            if block != BY_FORCE and room.flag[KEPT, r] != 0 and room.row[SOFT, r] == 0.0:
                room.row[WANT, r] = -slopes.by_row[block, r, i]
        solve_kept(dofs, room, rank, answer)
        for k in range(n):
            out[k * n + i] = answer[k]
