"""Rows of constraints in joint space, and what joints make of forces along them.

With the inertia factored, H = LᵀDL, and the rows in the same coordinates, Y = J L⁻¹, forces of rows meet accelerations
in A = Y D⁻¹ Yᵀ. Relative and maximal coordinates differ in the tables only.
"""

from ..coordinates.factor import add_row, factor, solve_outward
from ..coordinates.tree import place
from ..kernels.jit import inlined, kernel, woven
from ..kernels.rows import survey
from ..loads import apply_loads
from ..solvers.layout import (
    DELTA,
    DELTA_TURN,
    FIRST,
    FORCE,
    INVERSE,
    ON,
    PLACE,
    RESPONSE,
    RESPONSE_PLACE,
    RESPONSE_TURN,
    SCALE,
    START,
    SUM,
    TURN,
    P,
)


@kernel
def assemble(tables, constraints, work, q, v, t):
    """(q, v, t) => factored inertia, forces of loads, every row in joint space, its gap, rate and bias."""
    evaluate_rows(tables, constraints, work, q, v, t)
    factor(tables.dofs, work.H, work.dof[INVERSE], work.dof[FORCE])


@kernel
def evaluate_rows(tables, constraints, work, q, v, t):
    """(q, v, t) => inertia, forces of loads, every row in joint space, its gap, rate and bias; nothing is factored."""
    dofs, rows = tables.dofs, constraints.rows
    place(dofs, tables.islands, q, v)
    work.report[0].loads_supplied, work.report[0].loads_dissipated = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        work.report[0].loads_supplied, work.report[0].loads_dissipated = apply_loads(tables, q, v, t)
    survey(tables, constraints, q)
    J, link, rate = work.J, work.link, work.row[SUM]
    for d in range(J.shape[0]):
        for r in range(link[d].begin, link[d].end):
            J[d, r] = 0.0
    for r in range(rows.shape[0]):
        add_row(dofs, constraints, rows[r], J[:, r])
    times(work, J, v, rate)
    for r in range(rows.shape[0]):
        rows[r].rate = rate[r]


@kernel
def times(work, J, v, out):
    """out = Jᵀ v, v numbered like the rates: what rows make of rates."""
    link = work.link
    for r in range(out.shape[0]):
        out[r] = 0.0
    for d in range(J.shape[0]):
        x = v[link[d].rate]
        for r in range(link[d].begin, link[d].end):
            out[r] += J[d, r] * x


@inlined
def couple(tables, work):
    """Y and A = Y D⁻¹ Yᵀ of the rows that are on; free accelerations of all of them in row[SUM]."""
    dofs, H, A, J, Y = tables.dofs, work.H, work.A, work.J, work.Y
    flag, link, row = work.flag, work.link, work.row
    n, m = J.shape
    for r in range(m):
        row[SUM, r] = 0.0
        for j in range(flag[START, r] + flag[FIRST, r], flag[START, r] + r + 1):
            A[j] = 0.0
    for d in range(n):
        for r in range(link[d].begin, link[d].end):
            Y[d, r] = J[d, r] if flag[ON, r] != 0 else 0.0
    for d in range(n - 1, -1, -1):
        begin, end = link[d].begin, link[d].end
        if begin == end:
            continue
        i, k = dofs[d + 1].parent, dofs[d + 1].depth
        while i != 0:
            k -= 1
            weight = H[d, k]
            for r in range(begin, end):
                Y[i - 1, r] -= weight * Y[d, r]
            i = dofs[i].parent
        inverse = work.dof[INVERSE, d]
        free = inverse * work.dof[FORCE, d]
        for r in range(begin, end):
            y = Y[d, r]
            if y != 0.0:
                row[SUM, r] += y * free
                y *= inverse
                base = flag[START, r]
                for s in range(begin, r + 1):
                    A[base + s] += y * Y[d, s]


@woven
def scale_pivots(tables, work):
    """(assembled rows) => row[SCALE] at least as large as the diagonals of A here."""
    for r in range(work.row.shape[1]):
        work.flag[ON, r] = 1
    couple(tables, work)
    for r in range(work.row.shape[1]):
        work.row[SCALE, r] = max(work.row[SCALE, r], work.A[work.flag[START, r] + r])


@kernel
def respond_to(tables, work, p, scale, out):
    """out = H⁻¹ (scale · forces + Jᵀ row[p]), numbered like the rates, over the rows that are on."""
    Y, link, z = work.Y, work.link, work.dof[RESPONSE]
    for d in range(z.shape[0]):
        total = scale * work.dof[FORCE, d]
        for r in range(link[d].begin, link[d].end):
            total += Y[d, r] * work.row[p, r]
        z[d] = total * work.dof[INVERSE, d]
    solve_outward(tables.dofs, work.H, z)
    for d in range(z.shape[0]):
        out[link[d].rate] = z[d]


@inlined
def respond_to_three(tables, work, a):
    """Responses to all forces (a), to the pushes that close gaps (DELTA) and to those that stop rates (DELTA_TURN)."""
    dofs, H, Y, dof, row, link = tables.dofs, work.H, work.Y, work.dof, work.row, work.link
    for d in range(dof.shape[1]):
        x, y, z = dof[FORCE, d], 0.0, 0.0
        for r in range(link[d].begin, link[d].end):
            weight = Y[d, r]
            x += weight * row[P, r]
            y += weight * row[PLACE, r]
            z += weight * row[TURN, r]
        inverse = dof[INVERSE, d]
        x, y, z = inverse * x, inverse * y, inverse * z
        i, k = dofs[d + 1].parent, dofs[d + 1].depth
        while i != 0:
            k -= 1
            weight = H[d, k]
            x -= weight * dof[RESPONSE, i - 1]
            y -= weight * dof[RESPONSE_PLACE, i - 1]
            z -= weight * dof[RESPONSE_TURN, i - 1]
            i = dofs[i].parent
        dof[RESPONSE, d], dof[RESPONSE_PLACE, d], dof[RESPONSE_TURN, d] = x, y, z
        i = link[d].rate
        a[i], dof[DELTA, i], dof[DELTA_TURN, i] = x, y, z
