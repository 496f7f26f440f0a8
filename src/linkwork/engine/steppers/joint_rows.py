"""Rows of constraints in joint space, and what joints make of forces along them.

With the inertia and embedded rows factored, LᵀDL (`saddle`), and the other rows in the same coordinates, Y = J L⁻¹,
forces of rows meet accelerations in A = Y D⁻¹ Yᵀ. Relative and maximal coordinates differ in the tables only.
"""

from ..control.act import pass_between, pass_within
from ..coordinates.factor import add_row, factor, inertia
from ..coordinates.tree import place
from ..kernels.jit import inlined, kernel, woven
from ..kernels.rows import survey
from ..kernels.tape import HEAD
from ..loads import apply_loads
from ..solvers.envelope import embedded
from ..solvers.layout import (
    DELTA,
    DELTA_TURN,
    FIRST,
    FORCE,
    FORCE_PLACE,
    FORCE_TURN,
    INVERSE,
    LOAD,
    NOISE,
    ON,
    PIVOT,
    PLACE,
    RESPONSE,
    RESPONSE_PLACE,
    RESPONSE_TURN,
    ROOT,
    SCALE,
    START,
    SUM,
    TURN,
    WHOLE,
    P,
)
from ..solvers.saddle import factor_saddle


@kernel
def assemble(tables, constraints, work, q, v, t):
    """(q, v, t) => inertia, forces of loads (dof[LOAD]), every row in joint space, its gap, rate and bias."""
    evaluate_rows(tables, constraints, work, q, v, t)
    weigh(tables.dofs, work)


@inlined
def weigh(dofs, work):
    """(placed, loaded tables) => inertia, already factored if no rows are to be eliminated with it; dof[LOAD]."""
    if embedded(work) == 0:
        factor(dofs, work.K, work.dof[INVERSE], work.dof[LOAD])
    else:
        inertia(dofs, work.H, work.dof[LOAD])


@inlined
def embed(work, least):
    """(what `weigh` left, rows that are on) => factors."""
    if embedded(work) != 0:
        factor_saddle(work, least)


@kernel
def evaluate_rows(tables, constraints, work, q, v, t):
    """(q, v, t) => inertia of every body, forces of loads, every row in joint space, its gap, rate and bias."""
    dofs, rows = tables.dofs, constraints.rows
    place(dofs, tables.islands, q, v)
    survey(tables, constraints, q)
    if constraints.tape.shape[0] > 0:
        if constraints.tape[HEAD].p[1] != 0.0:
            pass_between(tables, constraints, v, t)
        else:
            pass_within(tables, constraints, v, t)
    work.report[0].loads_supplied, work.report[0].loads_dissipated = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        work.report[0].loads_supplied, work.report[0].loads_dissipated = apply_loads(tables, q, v, t)
    J, link, rate = work.J, work.link, work.row[SUM]
    for d in range(J.shape[0]):
        for r in range(link[d].first, link[d].last):
            J[d, r] = 0.0
    for r in range(rows.shape[0]):
        add_row(dofs, constraints, rows[r], work.flag[ROOT, r], J[:, r])
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
        for r in range(link[d].first, link[d].last):
            out[r] += J[d, r] * x


@inlined
def couple(work):
    """(factors) => Y and A = Y D⁻¹ Yᵀ of rows that are on and not embedded; their free accelerations in row[SUM]."""
    K, near, A, J, Y = work.K, work.near, work.A, work.J, work.Y
    flag, link, row = work.flag, work.link, work.row
    n, m = J.shape
    inner = embedded(work)
    for r in range(inner, m):
        row[SUM, r], row[WHOLE, r], row[NOISE, r] = 0.0, 0.0, 1.0
        for j in range(flag[START, r] + flag[FIRST, r], flag[START, r] + r + 1):
            A[j] = 0.0
    coupled = 0
    for r in range(inner, m):
        coupled |= flag[ON, r]
    work.report[0].coupled = coupled
    if coupled == 0:
        return
    for i in range(link.shape[0]):
        for r in range(link[i].begin, link[i].end):
            Y[i, r] = J[i, r] if i < n and flag[ON, r] != 0 else 0.0
    for k in range(link.shape[0]):
        i = link[k].next
        begin, end = link[i].begin, link[i].end
        if begin == end:
            continue
        for e in range(link[i].near if link[i].locked == 0 else 0):
            a, weight = near[0, i, e], K[i, near[1, i, e]]
            for r in range(begin, end):
                Y[a, r] -= weight * Y[i, r]
        inverse = work.dof[INVERSE, i]
        free = inverse * work.dof[FORCE, i]
        for r in range(begin, end):
            y = Y[i, r]
            if y != 0.0:
                row[SUM, r] += y * free
                if i >= n:
                    row[NOISE, r] = max(row[NOISE, r], row[SCALE, i - n] * row[PIVOT, i - n])
                elif inner != 0:
                    row[WHOLE, r] += inverse * y * y
                y *= inverse
                base = flag[START, r]
                for s in range(begin, r + 1):
                    A[base + s] += y * Y[i, s]
    if inner == 0:
        for r in range(m):
            row[WHOLE, r] = A[flag[START, r] + r]


@woven
def scale_pivots(work):
    """(assembled rows) => row[SCALE] at least as large as the diagonals of A here."""
    for r in range(work.row.shape[1]):
        work.flag[ON, r] = 1
    embed(work, 0.0)
    couple(work)
    for r in range(embedded(work), work.row.shape[1]):
        work.row[SCALE, r] = max(work.row[SCALE, r], work.row[WHOLE, r])


@kernel
def respond_to(work, x, p, out):
    """Response to dof[x], solved inward, and to forces row[p] of the rows that are on: rates into out; forces of
    embedded rows into row[p]."""
    Y, link, K, near, z = work.Y, work.link, work.K, work.near, work.dof[RESPONSE]
    n, coupled = work.J.shape[0], work.report[0].coupled
    for k in range(link.shape[0] - 1, -1, -1):
        i = link[k].next
        total = work.dof[x, i]
        for r in range(link[i].begin, link[i].end if coupled != 0 else 0):
            total += Y[i, r] * work.row[p, r]
        total *= work.dof[INVERSE, i]
        for e in range(link[i].near):
            total -= K[i, near[1, i, e]] * z[near[0, i, e]]
        z[i] = total
        if i < n:
            out[link[i].rate] = total
        else:
            work.row[p, i - n] = -total


@inlined
def respond_to_three(work, a):
    """Responses to all forces (a), to the pushes that close gaps (DELTA) and to those that stop rates (DELTA_TURN)."""
    K, near, Y, dof, row, link = work.K, work.near, work.Y, work.dof, work.row, work.link
    n, coupled = work.J.shape[0], work.report[0].coupled
    for k in range(link.shape[0] - 1, -1, -1):
        i = link[k].next
        x, y, z = dof[FORCE, i], dof[FORCE_PLACE, i], dof[FORCE_TURN, i]
        for r in range(link[i].begin, link[i].end if coupled != 0 else 0):
            weight = Y[i, r]
            x += weight * row[P, r]
            y += weight * row[PLACE, r]
            z += weight * row[TURN, r]
        inverse = dof[INVERSE, i]
        x, y, z = inverse * x, inverse * y, inverse * z
        for e in range(link[i].near):
            o, weight = near[0, i, e], K[i, near[1, i, e]]
            x -= weight * dof[RESPONSE, o]
            y -= weight * dof[RESPONSE_PLACE, o]
            z -= weight * dof[RESPONSE_TURN, o]
        dof[RESPONSE, i], dof[RESPONSE_PLACE, i], dof[RESPONSE_TURN, i] = x, y, z
        if i < n:
            r = link[i].rate
            a[r], dof[DELTA, r], dof[DELTA_TURN, r] = x, y, z
        else:
            row[P, i - n], row[PLACE, i - n], row[TURN, i - n] = -x, -y, -z
