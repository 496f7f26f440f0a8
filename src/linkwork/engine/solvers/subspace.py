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

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.spatial import add_scaled6, dot6, get6, scale6
from .reach import answer, answer_row, relative_twist, row_rate

MOST_PATCHES = 64
MOST_UNKNOWNS = 384
_WORK = 2.0e6  # products that a solution may take: more are better spent on sweeps
_SPAN = 1e-9  # a row that adds less than this share to those before follows from them
_PIVOT = 1e-11
_UNEVEN = 1.5  # largest load of a point over the mean at which loads are shared anew
_TINY = 1e-300


class Subspace(NamedTuple):
    """Working memory; the same for every model."""

    Q: Any
    """Basis of each patch against twists: patches x 6 x 6."""
    C: Any
    """Rows of the points in that basis: patches x 12 x 6."""
    F: Any
    """Wrench of each unknown: patches x 6 (unknowns) x 6."""
    size: Any
    """Unknowns of each patch; where its first one stands."""
    M: Any
    """Matrix of the unknowns: its lower half, and transposed, so that both are read along rows, its upper half."""
    V: Any
    first: Any
    """First column of each row of it."""
    x: Any
    """Right side, then solution; pivots."""
    T: Any
    """What dofs do under each unknown of one patch: dofs x 6."""
    near: Any
    """The one or two mechanisms (clusters) that each unknown acts on."""
    who: Any
    """The row that an unknown behind those of the patches belongs to."""
    N: Any
    """Cholesky factors of CᵀC: patches x 6 x 6."""


def make_subspace(dofs: int) -> Subspace:
    """Working memory for a system of so many dofs."""
    return Subspace(
        np.zeros((MOST_PATCHES, 6, 6)), np.zeros((MOST_PATCHES, 12, 6)), np.zeros((MOST_PATCHES, 6, 6)),
        np.zeros((2, MOST_PATCHES), np.int64), np.zeros((MOST_UNKNOWNS, MOST_UNKNOWNS)),
        np.zeros((MOST_UNKNOWNS, MOST_UNKNOWNS)), np.zeros(MOST_UNKNOWNS, np.int64),
        np.zeros((2, MOST_UNKNOWNS)), np.zeros((dofs, 6)), np.zeros((MOST_UNKNOWNS, 2), np.int64),
        np.zeros(MOST_UNKNOWNS, np.int64), np.zeros((MOST_PATCHES, 6, 6)),
    )  # fmt: skip


@kernel
def solve_subspace(work, reach, space, rows, patches, points, island, damping):
    """Impulses of all points that push and rows within their bounds, at once; False if there are too many of them.

    damping: added to the diagonal, as a share of it.
    """
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    first_row, last_row = reach.islands[island].row, reach.islands[island + 1].row
    if last - first > MOST_PATCHES:
        return False
    size, near, x = space.size, space.near, space.x
    count = 0
    for k in range(last - first):
        patch = patches[reach.order[first + k]]
        span = _basis(space, k, patch, points)
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
    cost = 0.0
    for i in range(count):
        start = i
        for j in range(i):
            if _meet(near, i, j):
                start = j
                break
        space.first[i] = start
        cost += (i - start + 1.0) ** 2
    if cost > _WORK:
        return False
    _assemble(work, reach, space, rows, patches, points, first, last, contacts, count)
    for i in range(count):
        space.M[i, i] *= 1.0 + damping
    _factor(space.M, space.V, space.first, x, count)
    _apply(reach, space, rows, patches, points, first, last, contacts, count)
    return True


@kernel
def spread(space, patch, points, slop):
    """Share the load of a sticking patch evenly among its points, if it has gathered on few of them.

    The wrench is the same, and of all impulses that make it up these are the smallest: corners that push or pull
    against each other for nothing are relieved.
    """
    if patch.count < 3 or patch.touches == 0 or patch.friction == 0.0:
        return
    total, largest = 0.0, 0.0
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        if point.gap > slop or (point.slides != 0 and point.p[0] > 0.0):
            return
        total += point.p[0]
        largest = max(largest, point.p[0])
    if largest * patch.count <= _UNEVEN * total:
        return
    for i in range(patch.first, patch.first + patch.count):
        for m in range(3):
            points[i].last[m] = points[i].p[m]
        points[i].p[0] = max(points[i].p[0], _TINY)  # all points take part
        points[i].slides = 0
    span = _basis(space, 0, patch, points)
    C, x = space.C[0], space.x[0]
    for s in range(span):
        x[s] = 0.0
        for m in range(3 * patch.count):
            x[s] += C[m, s] * points[patch.first + m // 3].last[m % 3]
    _divide(space.N[0], x, 0, span)
    fine = True
    for i in range(patch.count):
        point = points[patch.first + i]
        for m in range(3):
            point.p[m] = 0.0
            for s in range(span):
                point.p[m] += C[3 * i + m, s] * x[s]
        most = patch.friction * point.p[0]
        fine &= point.p[0] >= 0.0 and point.p[1] * point.p[1] + point.p[2] * point.p[2] <= most * most
    if not fine:
        for i in range(patch.first, patch.first + patch.count):
            for m in range(3):
                points[i].p[m] = points[i].last[m]


@inlined
def _meet(near, i, j):
    """Whether two unknowns act on a common mechanism."""
    a, b, c, d = near[i, 0], near[i, 1], near[j, 0], near[j, 1]
    return (a >= 0 and (a == c or a == d)) or (b >= 0 and (b == c or b == d))


@kernel
def _basis(space, k, patch, points):
    """Rows of the points that push (and, where they stick, of their tangents) => orthonormal Q and C, J = C Q."""
    Q, C = space.Q[k], space.C[k]
    scale = patch.radius if patch.radius > 0.0 else 1.0
    span = 0
    for m in range(3 * patch.count):
        point = points[patch.first + m // 3]
        kind = m % 3
        for c in range(6):
            C[m, c] = 0.0
        if not _takes_part(patch, point, kind):
            continue
        J = _measures(patch, point, kind)
        x0, x1, x2, x3, x4, x5 = J[0] / scale, J[1] / scale, J[2] / scale, J[3], J[4], J[5]
        whole = x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3 + x4 * x4 + x5 * x5
        for _ in range(2):  # twice: the second time takes away what rounding left
            for s in range(span):
                q = Q[s]
                along = x0 * q[0] + x1 * q[1] + x2 * q[2] + x3 * q[3] + x4 * q[4] + x5 * q[5]
                C[m, s] += along
                x0, x1, x2 = x0 - along * q[0], x1 - along * q[1], x2 - along * q[2]
                x3, x4, x5 = x3 - along * q[3], x4 - along * q[4], x5 - along * q[5]
        left = x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3 + x4 * x4 + x5 * x5
        if span < 6 and left > _SPAN * whole:
            left = math.sqrt(left)
            C[m, span] = left
            q = Q[span]
            q[0], q[1], q[2], q[3], q[4], q[5] = (
                x0 / left,
                x1 / left,
                x2 / left,
                x3 / left,
                x4 / left,
                x5 / left,
            )
            span += 1
    for s in range(span):
        for c in range(3):
            Q[s, c] *= scale
    _normal(C, 3 * patch.count, space.N[k], span)
    _wrenches(space, k, patch, points, span)
    return span


@kernel
def _wrenches(space, k, patch, points, span):
    """Wrench of each unknown: of the smallest impulses that make it up, with the friction that they carry along."""
    F, C, x = space.F[k], space.C[k], space.x[1]
    slides = False
    for i in range(patch.count):
        point = points[patch.first + i]
        slides |= point.p[0] > 0.0 and point.slides != 0 and patch.friction > 0.0
    for s in range(span):
        for c in range(6):
            F[s, c] = space.Q[k, s, c]
        if not slides:
            continue
        for r in range(span):
            x[r] = 1.0 if r == s else 0.0
        _divide(space.N[k], x, 0, span)
        for i in range(patch.count):
            point = points[patch.first + i]
            if point.p[0] > 0.0 and point.slides != 0:
                normal = 0.0
                for r in range(span):
                    normal += C[3 * i, r] * x[r]
                along, across = _direction(point)
                normal *= patch.friction
                for c in range(6):
                    F[s, c] += normal * (along * point.Jt[c] + across * point.Js[c])


@inlined
def _takes_part(patch, point, kind):
    """Rows of a point that pushes: its normal (0); if it sticks both tangents (1, 2), else the one across (1)."""
    if point.p[0] <= 0.0:
        return False
    if kind == 0:
        return True
    if patch.friction == 0.0:
        return False
    if point.slides == 0:
        return True
    return kind == 1 and (point.p[1] != 0.0 or point.p[2] != 0.0)


@inlined
def _measures(patch, point, kind):
    """The row itself, against the relative twist."""
    if kind == 0:
        return get6(point.Jn)
    if point.slides == 0:
        return get6(point.Jt) if kind == 1 else get6(point.Js)
    along, across = _direction(point)
    J = scale6(-across, get6(point.Jt))
    return add_scaled6(J, along, get6(point.Js))


@inlined
def _direction(point):
    """Direction of the friction of a sliding point along its tangents, of length one; zero if there is none."""
    size = math.sqrt(point.p[1] * point.p[1] + point.p[2] * point.p[2])
    if size == 0.0:
        return 0.0, 0.0
    return point.p[1] / size, point.p[2] / size


@inlined
def _slip(point, w):
    """How fast a point slides [m/s]."""
    along, across = dot6(get6(point.Jt), w), dot6(get6(point.Js), w)
    return math.sqrt(along * along + across * across)


@kernel
def _soften(space, k, m, at, span, soft):
    """Add the softness of row m of a patch to the matrix."""
    M, V, x, C = space.M, space.V, space.x[1], space.C[k]
    for s in range(span):
        x[s] = C[m, s]
    _divide(space.N[k], x, 0, span)
    for r in range(span):
        for s in range(r + 1):
            M[at + r, at + s] += soft * x[r] * x[s]
            if s < r:
                V[at + r, at + s] += soft * x[r] * x[s]


@kernel
def _assemble(work, reach, space, rows, patches, points, first, last, contacts, count):
    """M = (what an unknown measures) of (what another one does), and what each lacks."""
    M, V, T, size, x = space.M, space.V, space.T, space.size, space.x
    for i in range(count):
        for j in range(space.first[i], i + 1):
            M[i, j] = 0.0
            V[i, j] = 0.0
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
                    M[i, at + s] = _measure_row(work, reach, T, space.who[i], s)
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
            if space.first[j] <= i:
                M[j, i] = V[j, i] = _measure_row(work, reach, T, space.who[j], 0)
        for e in range(z, stop):
            T[reach.rzi[e], 0] = 0.0
        M[i, i] += rows[r].soft
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
    M, V, T, Q, at, span = space.M, space.V, space.T, space.Q[k], space.size[1, k], space.size[0, k]
    for s in range(width):
        w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for e in range(patch.y, patch.y + patch.ny):
            t = T[reach.yi[e], s]
            if t != 0.0:
                w = add_scaled6(w, t, get6(reach.Y[e]))
        for r in range(span):
            value = dot6(get6(Q[r]), w)
            if at + r >= column + s:
                M[at + r, column + s] = value
            else:
                V[column + s, at + r] = value


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
        if not _takes_part(patch, point, kind):
            continue
        lack = (point.goal if kind == 0 else 0.0) - dot6(_measures(patch, point, kind), w)
        if kind == 1 and point.slides != 0:
            _soften(space, k, m, at, span, _slip(point, w) / (patch.friction * point.p[0]))
        for s in range(span):
            x[0, at + s] += C[m, s] * lack
    _divide(space.N[k], x[0], at, span)


@kernel
def _normal(C, rows, N, span):
    """N ← Cholesky factor of CᵀC, which has full rank."""
    for i in range(span):
        for j in range(i + 1):
            total = 0.0
            for m in range(rows):
                total += C[m, i] * C[m, j]
            for k in range(j):
                total -= N[i, k] * N[j, k]
            N[i, j] = math.sqrt(total) if i == j else total / N[j, j]


@kernel
def _divide(N, x, at, span):
    """x[at:at + span] ← (CᵀC)⁻¹ x."""
    for i in range(span):
        total = x[at + i]
        for k in range(i):
            total -= N[i, k] * x[at + k]
        x[at + i] = total / N[i, i]
    for i in range(span - 1, -1, -1):
        total = x[at + i]
        for k in range(i + 1, span):
            total -= N[k, i] * x[at + k]
        x[at + i] = total / N[i, i]


@kernel
def _factor(M, V, first, x, count):
    """x[0] ← M⁻¹ x[0]: LU within the envelope; unknowns that follow from others stay as they are."""
    for i in range(count):
        low = first[i]
        for j in range(low, i):
            lower, upper = M[i, j], V[i, j]
            for k in range(max(low, first[j]), j):
                lower -= M[i, k] * V[j, k]
                upper -= M[j, k] * V[i, k]
            M[i, j] = lower * x[1, j]
            V[i, j] = upper if x[1, j] != 0.0 else 0.0
        diagonal = M[i, i]
        pivot = diagonal
        for k in range(low, i):
            pivot -= M[i, k] * V[i, k]
        x[1, i] = 1.0 / pivot if pivot > _PIVOT * diagonal else 0.0
    for i in range(count):
        total = x[0, i]
        for j in range(first[i], i):
            total -= M[i, j] * x[0, j]
        x[0, i] = total if x[1, i] != 0.0 else 0.0
    for i in range(count - 1, -1, -1):
        x[0, i] *= x[1, i]
        for j in range(first[i], i):
            x[0, j] -= V[i, j] * x[0, i]


@kernel
def _apply(reach, space, rows, patches, points, first, last, contacts, count):
    """Go as far as no point would pull and no row pass a bound: what blocks is let go by the next sweep."""
    x, y, size, share = space.x[0], space.x[1], space.size, 1.0
    for k in range(last - first):
        patch, C, at, span = patches[reach.order[first + k]], space.C[k], size[1, k], size[0, k]
        for s in range(span):
            y[at + s] = x[at + s]
        _divide(space.N[k], y, at, span)
        for i in range(patch.count):
            point = points[patch.first + i]
            for m in range(3):
                total = 0.0
                for s in range(span):
                    total += C[3 * i + m, s] * y[at + s]
                point.last[m] = total
            if point.slides != 0 and patch.friction > 0.0:
                along, across = _direction(point)
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
