"""One evaluation of floating bodies: rows against their rates, forces, and D and r of each body alone."""

import numpy as np

from ..elements.respond import take_samples
from ..kernels.jit import inlined, kernel
from ..kernels.math3 import (
    add_cross3,
    cross3,
    get3,
    quat_matrix,
    rotate,
    rotate_symmetric,
    scale3,
    set9,
    symmetric_times,
)
from ..kernels.rows import survey
from ..kernels.spatial import get6, set6
from ..loads import apply_loads
from ..solvers.hierarchy import ENDS
from ..solvers.passing import lighten
from ..tables import COORDINATE, HOLD
from .row_forces import aim_corrections, hold, law


@kernel
def place_floating(dofs, islands, q, v):
    """What `place` computes of bodies that float each at a reference point of its own, and no more than is needed of
    it.

    Three slides along the axes of the world, which carry the reference point, then a ball: R, V, A0 and p of the
    last dof.
    """
    for d in range(6, dofs.shape[0], 6):
        dof, island = dofs[d], islands[dofs[d].island]
        i, k = dofs[d - 5].q, dofs[d - 5].v
        for j in range(3):
            island.o[j] = island.p0[j] + q[i + j]
        R = quat_matrix(q[i + 3], q[i + 4], q[i + 5], q[i + 6])
        w = rotate(R, (v[k + 3], v[k + 4], v[k + 5]))
        u = (v[k], v[k + 1], v[k + 2])
        a = add_cross3((dofs[0].A0[3], dofs[0].A0[4], dofs[0].A0[5]), u, w)
        set9(dof.R, R)
        set6(dof.V, (w[0], w[1], w[2], u[0], u[1], u[2]))
        set6(dof.A0, (0.0, 0.0, 0.0, a[0], a[1], a[2]))
        # Newton and Euler at the centre of mass, then about the reference point.
        c = rotate(R, get3(dof.com))
        J = rotate_symmetric(R, get6(dof.inertia))
        f = scale3(dof.mass, add_cross3(a, w, add_cross3(u, w, c)))
        n = add_cross3(cross3(w, symmetric_times(J, w)), c, f)
        set6(dof.p, (n[0], n[1], n[2], f[0], f[1], f[2]))


@inlined
def _spread(dofs, constraints, row, J, v):
    """(surveyed row) => J: the row against the rates of the bodies it touches; its rate."""
    coords, pairs = constraints.coords, constraints.pairs
    rate = 0.0
    if row.kind == COORDINATE:
        first = coords[row.first]
        pair = pairs[first.pair]
        rate += _project(dofs, J[0], pair.a, first.J_A, row.sign, v)
        rate += _project(dofs, J[1], pair.b, first.J_B, row.sign, v)
        if row.second >= 0:
            second = coords[row.second]
            pair = pairs[second.pair]
            rate += _project(dofs, J[2], pair.a, second.J_A, -row.ratio, v)
            rate += _project(dofs, J[3], pair.b, second.J_B, -row.ratio, v)
    else:
        pair = pairs[row.pair]
        rate += _project(dofs, J[0], pair.a, row.J_A, 1.0, v)
        rate += _project(dofs, J[1], pair.b, row.J_B, 1.0, v)
    row.rate = rate


@kernel
def _project(dofs, J, link, against, factor, v):
    """A row against a twist as one against the six rates of a floating body; returns its rate.

    A body floats at its own reference point: first three slides along the axes of the world, then turns about its own.
    """
    if link == 0:
        return 0.0
    R = dofs[link].R
    n0, n1, n2 = factor * against[0], factor * against[1], factor * against[2]
    at = dofs[link - 5].v
    rate = 0.0
    for j in range(3):
        J[j] = factor * against[3 + j]
        J[3 + j] = R[j] * n0 + R[3 + j] * n1 + R[6 + j] * n2
        rate += J[j] * v[at + j] + J[3 + j] * v[at + 3 + j]
    return rate


@kernel
def gather_forces(tables, constraints, h):
    """Forces of loads, gyroscopes and rows that follow a law, against the rates of the bodies; then D and r of each
    body."""
    dofs, rows = tables.dofs, constraints.rows
    for b in range(h.inertia.shape[0]):
        R, p = dofs[6 * b + 6].R, dofs[6 * b + 6].p
        for j in range(3):
            h.force[6 * b + j] = -p[3 + j]
            h.force[6 * b + 3 + j] = -(R[j] * p[0] + R[3 + j] * p[1] + R[6 + j] * p[2])
    for i in range(rows.shape[0]):
        if rows[i].force != 0.0:
            add_push(dofs, constraints, h, i, rows[i].force)
    lighten_all(tables, h)


@kernel
def add_push(dofs, constraints, h, i, push):
    """A force along row i, against the rates of the bodies that it touches."""
    for end in range(ENDS):
        body = _body_of(constraints.pairs, constraints.coords, constraints.rows[i], end)
        if body != 0:
            at = dofs[body - 5].v
            for j in range(6):
                h.force[at + j] += h.J[i, end, j] * push


@kernel
def lighten_all(tables, h):
    """(forces) => D and r of each body."""
    for b in range(h.inertia.shape[0]):
        lighten(h.inertia[b], h.D, h.force, h.r, b, tables.dofs[6 * b + 6].R)


@kernel
def along(dofs, constraints, h, i, v):
    """What row i makes of rates or accelerations of the bodies."""
    total = 0.0
    for end in range(ENDS):
        body = _body_of(constraints.pairs, constraints.coords, constraints.rows[i], end)
        if body != 0:
            at = dofs[body - 5].v
            for j in range(6):
                total += h.J[i, end, j] * v[at + j]
    return total


@kernel
def _body_of(pairs, coords, row, end):
    """The link that an end of a row stands on; 0 for the ground or none."""
    if row.kind == COORDINATE:
        which = row.first if end < 2 else row.second
        if which < 0:
            return 0
        pair = pairs[coords[which].pair]
    else:
        if end > 1:
            return 0
        pair = pairs[row.pair]
    return pair.a if end % 2 == 0 else pair.b


# State and time by themselves: of a trial, or of a pose at rest.
@kernel
def evaluate_floating(tables, constraints, h, q, v, t, step, columns, sampling):
    """(state, t) => all that the passes need: rows, what they want, forces, D and r of every body alone; with
    `sampling`, elements that are due at t are sampled first."""
    rows = constraints.rows
    place_floating(tables.dofs, tables.islands, q, v)
    h.report[0].loads_supplied, h.report[0].loads_dissipated = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        h.report[0].loads_supplied, h.report[0].loads_dissipated = apply_loads(tables, q, v, t)
    survey(tables, constraints, q)
    for i in range(rows.shape[0]):
        _spread(tables.dofs, constraints, rows[i], h.J[i], v)
    if sampling:
        take_samples(tables, constraints, t)
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD:
            hold(rows[i], h.row, h.flag, i, True)
        else:
            law(tables, constraints, h, i, t, step)
    gather_forces(tables, constraints, h)
    if columns > 1:
        aim_corrections(constraints, h)
    h.report[0].smallest, h.report[0].smallest_row, h.report[0].weakest = np.inf, -1, 1.0
