"""Contact of a small island at once: all that pushes or sticks now is solved for together.

Sweeps (`touch`) find out quickly which points push and which slide, but pass loads from body to body slowly: a heavy
box on a light one takes as many sweeps as their ratio of mass. Given who pushes and who sticks, the impulses follow
from one linear system (projected Gauss-Seidel with subspace minimisation: Silcowitz-Hansen, Niebe and Erleben,
"Projected Gauss-Seidel subspace minimization method for interactive rigid body dynamics", GRAPP 2010). The next sweep
tells whether the guess was right. Points of a patch repeat each other: what they can do together spans at most six
directions, an orthonormal basis of which are its unknowns.

A point that slides carries its friction along: μ times its normal impulse in the direction d that it has, which makes
the system unsymmetric. Friction also turns with the slip: across d a point that slides at the speed v moves like one
held by a damper, v_e + v/(μ p) Δp_e = 0 (the derivative of the projection onto the cone: Alart and Curnier, "A mixed
formulation for frictional contact problems prone to Newton like solution methods", CMAME 92, 1991). Without that,
points at the edge of the cone that hardly slide would settle very slowly.
"""

from ..kernels.jit import inlined, kernel
from ..kernels.skyline import FIRST, LOWER, START, UPPER, factor_rows, solve_rows
from ..kernels.spatial import add_scaled6, dot6, get6
from .patch_basis import (
    MOST_PATCHES,
    MOST_UNKNOWNS,
    direction,
    divide_normal,
    find_basis,
    measures,
    slip,
    takes_part,
)
from .reach import answer, answer_row, relative_twist, row_rate

_WORK = 2.0e6  # products that a solution may take: more are better spent on sweeps
_PIVOT = 1e-11  # an unknown whose pivot is less than this share of its diagonal follows from others


@kernel
def solve_subspace(work, reach, space, rows, patches, points, island, damping):
    """Impulses of all points that push and rows within their bounds, at once; False if there are too many of them.

    damping: added to the diagonal, as a share of it.
    """
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    first_row, last_row = reach.islands[island].row, reach.islands[island + 1].row
    if last - first > MOST_PATCHES:
        return False
    size, near = space.size, space.near
    count = 0
    for k in range(last - first):
        patch = patches[reach.order[first + k]]
        span = find_basis(space, k, patch, points)
        size[0, k], size[1, k] = span, count
        if count + span > MOST_UNKNOWNS:
            return False
        a = reach.dofs[patch.a - 1].cluster if patch.a != 0 else -1
        b = reach.dofs[patch.b - 1].cluster if patch.b != 0 else -1
        for i in range(count, count + span):
            near[i, 0], near[i, 1] = a, b
        count += span
    contacts = count
    for k in range(first_row, last_row):
        row = rows[reach.row_order[k]]
        if row.lo < row.p < row.hi:
            if count == MOST_UNKNOWNS:
                return False
            near[count, 0] = near[count, 1] = reach.rows[reach.row_order[k]].cluster
            space.who[count] = reach.row_order[k]
            count += 1
    if count == 0:
        return True
    shape, values = space.matrix.shape, space.matrix.values
    cost, room = 0.0, 0
    for i in range(count):
        start = i
        for j in range(i):
            if _meet(near, i, j):
                start = j
                break
        shape[FIRST, i], shape[START, i] = start, room - start
        room += i - start + 1
        cost += (i - start + 1.0) ** 2
    if cost > _WORK:
        return False
    for k in range(room):
        values[LOWER, k] = 0.0
        values[UPPER, k] = 0.0
    _assemble(work, reach, space, rows, patches, points, first, last, contacts, count)
    for i in range(count):
        values[LOWER, shape[START, i] + i] *= 1.0 + damping
    factor_rows(shape, values, count, _PIVOT)
    solve_rows(shape, values, count, space.x[0])
    _apply(reach, space, rows, patches, points, first, last, contacts, count)
    return True


@inlined
def _meet(near, i, j):
    """Whether two unknowns act on a common mechanism."""
    a, b, c, d = near[i, 0], near[i, 1], near[j, 0], near[j, 1]
    return (a >= 0 and (a == c or a == d)) or (b >= 0 and (b == c or b == d))


# All parts by themselves, here and in `_apply`: bundled, they would be unpacked at every call.
@kernel
def _assemble(work, reach, space, rows, patches, points, first, last, contacts, count):
    """M = (what an unknown measures) of (what another one does), and what each lacks."""
    shape, values, T, size, x = space.matrix.shape, space.matrix.values, space.T, space.size, space.x
    for k in range(last - first):
        patch, F, at, span = patches[reach.order[first + k]], space.F[k], size[1, k], size[0, k]
        if span == 0:
            continue
        for e in range(patch.z, patch.z + patch.nz):
            z, d = get6(reach.Z[e]), reach.zi[e]
            for s in range(span):
                T[d, s] = dot6(get6(F[s]), z)
        for other in range(last - first):
            if size[0, other] > 0 and _meet(space.near, size[1, other], at):
                _measure(reach, space, patches[reach.order[first + other]], other, at, span)
        for i in range(contacts, count):
            if _meet(space.near, i, at):
                for s in range(span):
                    values[LOWER, shape[START, i] + at + s] = _measure_row(work, reach, T, space.who[i], s)
        for e in range(patch.z, patch.z + patch.nz):
            for s in range(span):
                T[reach.zi[e], s] = 0.0
        _lacking(reach, space, k, patch, points, at, span)
    for i in range(contacts, count):
        r = space.who[i]
        z, stop = reach.rows[r].z, reach.rows[r].z + reach.rows[r].nz
        for e in range(z, stop):
            T[reach.rzi[e], 0] = reach.RZ[e]
        for other in range(last - first):
            if size[0, other] > 0 and _meet(space.near, size[1, other], i):
                _measure(reach, space, patches[reach.order[first + other]], other, i, 1)
        for j in range(i, count):
            if shape[FIRST, j] <= i:
                rate = _measure_row(work, reach, T, space.who[j], 0)
                values[LOWER, shape[START, j] + i] = rate
                values[UPPER, shape[START, j] + i] = rate
        for e in range(z, stop):
            T[reach.rzi[e], 0] = 0.0
        values[LOWER, shape[START, i] + i] += rows[r].soft
        x[0, i] = rows[r].goal - row_rate(work, reach, r, reach.u) - rows[r].soft * rows[r].p


@inlined
def _measure_row(work, reach, T, r, s):
    """What row r measures of T."""
    total = 0.0
    for m in range(reach.rows[r].begin, reach.rows[r].end):
        d = reach.row_dofs[m]
        total += work.Y[d, r] * T[d, s]
    return total


@kernel
def _measure(reach, space, patch, k, column, width):
    """What patch k measures of T, into columns of the matrix."""
    shape, values, T = space.matrix.shape, space.matrix.values, space.T
    Q, at, span = space.Q[k], space.size[1, k], space.size[0, k]
    for s in range(width):
        w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for e in range(patch.y, patch.y + patch.ny):
            t = T[reach.yi[e], s]
            if t != 0.0:
                w = add_scaled6(w, t, get6(reach.Y[e]))
        for r in range(span):
            value = dot6(get6(Q[r]), w)
            if at + r >= column + s:
                values[LOWER, shape[START, at + r] + column + s] = value
            else:
                values[UPPER, shape[START, column + s] + at + r] = value


@kernel
def _lacking(reach, space, k, patch, points, at, span):
    """The velocities that the points of a patch want and do not have, in its basis: C x = lack, by least squares."""
    C, x = space.C[k], space.x
    w = relative_twist(reach, patch, reach.u)
    for s in range(span):
        x[0, at + s] = 0.0
    for m in range(3 * patch.count):
        point = points[patch.first + m // 3]
        kind = m % 3
        if not takes_part(patch, point, kind):
            continue
        lack = (point.goal if kind == 0 else 0.0) - dot6(measures(patch, point, kind), w)
        if kind == 1 and point.slides != 0:
            _soften(space, k, m, at, span, slip(point, w) / (patch.friction * point.p[0]))
        for s in range(span):
            x[0, at + s] += C[m, s] * lack
    divide_normal(space.N[k], x[0], at, span)


@kernel
def _soften(space, k, m, at, span, soft):
    """Add the softness of row m of a patch to the matrix."""
    shape, values, x, C = space.matrix.shape, space.matrix.values, space.x[1], space.C[k]
    for s in range(span):
        x[s] = C[m, s]
    divide_normal(space.N[k], x, 0, span)
    for r in range(span):
        for s in range(r + 1):
            values[LOWER, shape[START, at + r] + at + s] += soft * x[r] * x[s]
            if s < r:
                values[UPPER, shape[START, at + r] + at + s] += soft * x[r] * x[s]


@kernel
def _apply(reach, space, rows, patches, points, first, last, contacts, count):
    """Go as far as no point would pull and no row pass a bound: what blocks is let go by the next sweep."""
    x, y, size, share = space.x[0], space.x[1], space.size, 1.0
    for k in range(last - first):
        patch, C, at, span = patches[reach.order[first + k]], space.C[k], size[1, k], size[0, k]
        for s in range(span):
            y[at + s] = x[at + s]
        divide_normal(space.N[k], y, at, span)
        for i in range(patch.count):
            point = points[patch.first + i]
            for m in range(3):
                total = 0.0
                for s in range(span):
                    total += C[3 * i + m, s] * y[at + s]
                point.last[m] = total
            if point.slides != 0 and patch.friction > 0.0:
                along, across = direction(point)
                more, turn = patch.friction * point.last[0], point.last[1]
                point.last[1], point.last[2] = along * more - across * turn, across * more + along * turn
            if point.p[0] + point.last[0] < 0.0:
                share = min(share, -point.p[0] / point.last[0])
    for i in range(contacts, count):
        row = rows[space.who[i]]
        new = row.p + x[i]
        if new < row.lo:
            share = min(share, (row.lo - row.p) / x[i])
        elif new > row.hi:
            share = min(share, (row.hi - row.p) / x[i])
    for k in range(last - first):
        patch, F, at, span = patches[reach.order[first + k]], space.F[k], size[1, k], size[0, k]
        if span == 0:
            continue
        f = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for s in range(span):
            f = add_scaled6(f, share * x[at + s], get6(F[s]))
        answer(reach, patch, f, reach.u)
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            for m in range(3):
                point.p[m] += share * point.last[m]
    for i in range(contacts, count):
        rows[space.who[i]].p += share * x[i]
        answer_row(reach, space.who[i], share * x[i], reach.u)
