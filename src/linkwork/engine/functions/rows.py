"""Rows at a state: forces of laws, and the multipliers of those that are kept, found whatever follows from what.

Rows are few here and dense: A = J H⁻¹ Jᵀ of the kept ones is factored with pivots by size, so that equations which
follow from others at this very state are left out at it, and no choice made elsewhere matters.
"""

import math

from ..coordinates.factor import add_row, solve_inward, solve_outward
from ..elements.respond import bounded, command_of, flow, respond
from ..kernels.jit import kernel
from ..kernels.rows import survey
from ..kernels.signal import signal_slope, signal_value
from ..tables import HOLD, LAW, SERVO_RATE
from .room import FORCE, INVERSE, KEPT, MULTIPLIER, ORDER, RATE, RESPONSE, SCALE, SOFT, WANT

REPEATED = 1e-10
"""Square of the sine of the angle between an equation and others below which it follows from them."""


@kernel
def measure_rows(tables, constraints, room, q, v):
    """(placed tables) => gap, rate, bias of every row, and its line in joint space."""
    dofs, rows, coords = tables.dofs, constraints.rows, constraints.coords
    for i in range(coords.shape[0]):
        coords[i].value = room.home[i]
    survey(tables, constraints, q)
    speed = room.line[RATE]
    for d in range(1, dofs.shape[0]):
        speed[d - 1] = v[dofs[d].v]
    for r in range(rows.shape[0]):
        line = room.J[r]
        for d in range(line.shape[0]):
            line[d] = 0.0
        add_row(dofs, constraints, rows[r], 0, line)
        rate = 0.0
        for d in range(line.shape[0]):
            rate += line[d] * speed[d]
        rows[r].rate = rate


@kernel
def respond_rows(tables, constraints, room, x, u, t):
    """(measured rows) => force of every law, and what kept rows want: accelerations beyond those of joints at rest.

    x: states of elements, u: commands of drives.
    """
    rows = constraints.rows
    for i in range(constraints.inputs.shape[0]):
        constraints.inputs[i] = u[i]
    for r in range(rows.shape[0]):
        row = rows[r]
        room.flag[KEPT, r] = 0
        room.row[SOFT, r] = 0.0
        row.force = 0.0
        if row.role == LAW:
            if row.state >= 0:
                row.x = x[row.state]
            command = command_of(tables, constraints, row, t)
            if row.state >= 0:
                row.flow = flow(row, command).rate
            row.force = bounded(row, respond(tables, row, command, t, False)).force
            if row.inertia > 0.0:
                room.flag[KEPT, r] = 1
                room.row[SOFT, r] = 1.0 / row.inertia
                room.row[WANT, r] = row.force / row.inertia - row.bias
        elif row.role == HOLD:
            room.flag[KEPT, r] = 1
            room.row[WANT, r] = -row.bias
        elif row.role == SERVO_RATE:
            room.flag[KEPT, r] = 1
            slope = constraints.inputs[row.input] * signal_slope(tables, row.signal, t)
            room.row[WANT, r] = slope - row.bias


@kernel
def wanted_rate(tables, constraints, row, t):
    """The rate that a kept row wants [of its measure per s]."""
    if row.role == SERVO_RATE:
        return constraints.inputs[row.input] * signal_value(tables, row.signal, t)
    return 0.0


@kernel
def push_laws(constraints, room):
    """Forces of laws without inertia, added to the forces on dofs."""
    rows, force = constraints.rows, room.line[FORCE]
    for r in range(rows.shape[0]):
        if rows[r].role == LAW and rows[r].inertia == 0.0 and rows[r].force != 0.0:
            for d in range(force.shape[0]):
                force[d] += room.J[r, d] * rows[r].force


@kernel
def factor_kept(dofs, room):
    """(factored inertia, lines of kept rows) => Y, and A factored with pivots. Returns how many rows are independent;
    they come first in flag[ORDER]."""
    Y, A, row, order = room.Y, room.A, room.row, room.flag[ORDER]
    inverse, n, m = room.line[INVERSE], room.J.shape[1], 0
    for r in range(room.J.shape[0]):
        if room.flag[KEPT, r] != 0:
            for d in range(n):
                Y[r, d] = room.J[r, d]
            solve_inward(dofs, room.K, Y[r])
            total = room.row[SOFT, r]
            for d in range(n):
                total += Y[r, d] * Y[r, d] * inverse[d]
            if total > 0.0:
                row[SCALE, r] = 1.0 / math.sqrt(total)
                order[m] = r
                m += 1
    for i in range(m):
        r = order[i]
        for j in range(i):
            s, total = order[j], 0.0
            for d in range(n):
                total += Y[r, d] * inverse[d] * Y[s, d]
            A[i, j] = total * (row[SCALE, r] * row[SCALE, s])
        A[i, i] = 1.0
    return _factor_pivoted(A, order, m)


@kernel
def _factor_pivoted(A, order, m):
    """Cholesky's factor in the lower triangle of A, the largest remaining pivot first; returns the rank."""
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if A[i, i] > A[best, best]:
                best = i
        if not A[best, best] > REPEATED:
            return k
        if best != k:
            _exchange(A, order, k, best, m)
        pivot = math.sqrt(A[k, k])
        A[k, k] = pivot
        for i in range(k + 1, m):
            A[i, k] /= pivot
        for i in range(k + 1, m):
            for j in range(k + 1, i + 1):
                A[i, j] -= A[i, k] * A[j, k]
    return m


@kernel
def _exchange(A, order, k, p, m):
    """Exchange rows and columns k < p of a symmetric matrix kept in its lower triangle."""
    order[k], order[p] = order[p], order[k]
    A[k, k], A[p, p] = A[p, p], A[k, k]
    for j in range(k):
        A[k, j], A[p, j] = A[p, j], A[k, j]
    for i in range(k + 1, p):
        A[i, k], A[p, i] = A[p, i], A[i, k]
    for i in range(p + 1, m):
        A[i, k], A[i, p] = A[i, p], A[i, k]


@kernel
def solve_kept(dofs, room, rank, out):
    """(factors; line[FORCE] solved inward; row[WANT]) => row[MULTIPLIER], and accelerations into out, by rates.

    The forces of kept rows are those that give them the accelerations they want, less their softness times the force.
    """
    A, Y, row, order = room.A, room.Y, room.row, room.flag[ORDER]
    inverse, force, response = room.line[INVERSE], room.line[FORCE], room.line[RESPONSE]
    n = response.shape[0]
    for r in range(row.shape[1]):
        row[MULTIPLIER, r] = 0.0
    for i in range(rank):
        r = order[i]
        total = row[WANT, r]
        for d in range(n):
            total -= Y[r, d] * inverse[d] * force[d]
        total *= row[SCALE, r]
        for j in range(i):
            total -= A[i, j] * row[MULTIPLIER, order[j]]
        row[MULTIPLIER, r] = total / A[i, i]
    for i in range(rank - 1, -1, -1):
        total = row[MULTIPLIER, order[i]]
        for j in range(i + 1, rank):
            total -= A[j, i] * row[MULTIPLIER, order[j]]
        row[MULTIPLIER, order[i]] = total / A[i, i]
    for d in range(n):
        response[d] = force[d]
    for i in range(rank):
        r = order[i]
        row[MULTIPLIER, r] *= row[SCALE, r]
        for d in range(n):
            response[d] += Y[r, d] * row[MULTIPLIER, r]
    for d in range(n):
        response[d] *= inverse[d]
    solve_outward(dofs, room.K, response)
    for d in range(n):
        out[dofs[d + 1].v] = response[d]
