"""One evaluation of floating bodies: rows against their rates, forces, and D and r of each body alone."""

import numpy as np

from ..coordinates.tree import place
from ..kernels.jit import kernel
from ..kernels.rows import survey
from ..loads import apply_loads
from ..solvers.hierarchy import ENDS
from ..solvers.layout import LOADS_DISSIPATED, LOADS_SUPPLIED, SMALLEST, SMALLEST_ROW
from ..solvers.passing import lighten
from ..tables import COORDINATE, HOLD
from .direct import aim_corrections, hold, law


@kernel
def _spread(tables, constraints, h, v):
    """(surveyed rows) => h.J: rows against the rates of the bodies they touch; rates of rows."""
    rows, coords, pairs = constraints.rows, constraints.coords, constraints.pairs
    for i in range(rows.shape[0]):
        row = rows[i]
        rate = 0.0
        if row.kind == COORDINATE:
            first = coords[row.first]
            pair = pairs[first.pair]
            rate += _project(tables.dofs, h.J[i, 0], pair.a, first.J_A, row.sign, v)
            rate += _project(tables.dofs, h.J[i, 1], pair.b, first.J_B, row.sign, v)
            if row.second >= 0:
                second = coords[row.second]
                pair = pairs[second.pair]
                rate += _project(tables.dofs, h.J[i, 2], pair.a, second.J_A, -row.ratio, v)
                rate += _project(tables.dofs, h.J[i, 3], pair.b, second.J_B, -row.ratio, v)
        else:
            pair = pairs[row.pair]
            rate += _project(tables.dofs, h.J[i, 0], pair.a, row.J_A, 1.0, v)
            rate += _project(tables.dofs, h.J[i, 1], pair.b, row.J_B, 1.0, v)
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
def _forces(tables, constraints, h):
    """Forces of loads, gyroscopes and rows that follow a law, against the rates of the bodies; then D and r of each
    body."""
    dofs, rows = tables.dofs, constraints.rows
    for b in range(h.inertia.shape[0]):
        R, p = dofs[6 * b + 6].R, dofs[6 * b + 6].p
        for j in range(3):
            h.force[6 * b + j] = -p[3 + j]
            h.force[6 * b + 3 + j] = -(R[j] * p[0] + R[3 + j] * p[1] + R[6 + j] * p[2])
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.force != 0.0:
            for end in range(ENDS):
                body = _body_of(constraints.pairs, constraints.coords, row, end)
                if body != 0:
                    at = dofs[body - 5].v
                    for j in range(6):
                        h.force[at + j] += h.J[i, end, j] * row.force
    for b in range(h.inertia.shape[0]):
        lighten(h.inertia[b], h.D, h.force, h.r, b, dofs[6 * b + 6].R)


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


@kernel
def look(tables, constraints, h, q, v, t, step, columns):
    """(state, t) => all that the passes need: rows, what they want, forces, D and r of every body alone."""
    rows = constraints.rows
    place(tables.dofs, tables.islands, q, v)
    h.report[LOADS_SUPPLIED], h.report[LOADS_DISSIPATED] = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        h.report[LOADS_SUPPLIED], h.report[LOADS_DISSIPATED] = apply_loads(tables, q, v, t)
    survey(tables, constraints, q)
    _spread(tables, constraints, h, v)
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD:
            hold(rows[i], h.row, h.flag, i, True)
        else:
            law(tables, constraints, h, i, t, step)
    _forces(tables, constraints, h)
    if columns > 1:
        aim_corrections(constraints, h)
    h.report[SMALLEST], h.report[SMALLEST_ROW] = np.inf, -1.0
