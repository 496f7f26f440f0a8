"""Unknowns of a patch: what its points can do together.

A patch whose points all stick (or have no friction) acts as one: at most six directions, whose orthonormal basis are
its unknowns, however many points repeat each other; of the impulses that make up a wrench the smallest are taken. In a
patch that slides, friction follows the load of each point, and impulses of its points are the unknowns.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.skyline import Skyline, new_skyline
from ..kernels.spatial import add_scaled6, dot6, get6, scale6, set6

MOST_PATCHES = 64
MOST_UNKNOWNS = 384
MOST_ROWS = 12  # of a patch: four points, three directions each
_SPAN = 1e-9  # a row that adds less than this share to those before follows from them
_PARTS = 4  # of the way to even loads that are tried, each half of the one before
_FEW = 2  # points whose impulses are as few unknowns as a basis of them
SLIDING, POINTS, ONE, WHOLE = -1, 0, 1, 2
"""What the unknowns of a patch are: impulses of points, some of which slide; impulses of points; wrenches in a basis of
what its points can do together; wrenches in all six directions, along the axes."""


class Subspace(NamedTuple):
    """Working memory; the same for every model."""

    Q: Any
    """What each unknown of a patch measures of its twist: patches x 12 x 6."""
    F: Any
    """Wrench of each unknown: patches x 12 x 6."""
    C: Any
    """Rows of the points in the basis Q, of patches that act as one: patches x 12 x 6."""
    N: Any
    """Inverse Cholesky factors of CᵀC: patches x 6 x 6."""
    size: Any
    """Unknowns of each patch; where its first one stands; how it acts: POINTS, ONE or WHOLE."""
    which: Any
    """The row (three times the point, plus 0 for its normal, 1 and 2 for tangents) of each unknown: patches x 12."""
    matrix: Skyline
    """Of the unknowns, in the order of its rows."""
    x: Any
    """Right side, then solution; scratch."""
    T: Any
    """What dofs do under each unknown of one patch: dofs x 12."""
    near: Any
    """The one or two mechanisms (clusters) that each unknown acts on."""
    who: Any
    """The row that an unknown behind those of the patches belongs to."""
    number: Any
    """How many unknowns the patches have, and how many there are."""


def make_subspace(dofs: int) -> Subspace:
    """Working memory for a system of so many dofs."""
    Q, F, C = np.zeros((3, MOST_PATCHES, MOST_ROWS, 6))
    return Subspace(
        Q, F, C, np.zeros((MOST_PATCHES, 6, 6)), np.zeros((3, MOST_PATCHES), np.int64),
        np.zeros((MOST_PATCHES, MOST_ROWS), np.int64),
        new_skyline(list(range(MOST_UNKNOWNS)), [set(range(MOST_UNKNOWNS))]),
        np.zeros((2, MOST_UNKNOWNS)), np.zeros((dofs, MOST_ROWS)), np.zeros((MOST_UNKNOWNS, 2), np.int64),
        np.zeros(MOST_UNKNOWNS, np.int64), np.zeros(2, np.int64),
    )  # fmt: skip


@kernel
def find_unknowns(space, k, patch, points):
    """Unknowns of the k-th patch, by who pushes and who slides; their number."""
    pushing, slides = 0, False
    for i in range(patch.first, patch.first + patch.count):
        pushing += points[i].pushes
        slides |= points[i].slides != 0
    if pushing > _FEW and not slides:
        if patch.friction > 0.0 and _take_axes(space, k, patch, points):
            space.size[2, k] = WHOLE
            return 6
        space.size[2, k] = ONE
        return find_basis(space, k, patch, points)
    space.size[2, k] = SLIDING if slides else POINTS
    count, Q, F = 0, space.Q[k], space.F[k]
    for m in range(3 * patch.count):
        point, kind = points[patch.first + m // 3], m % 3
        if not takes_part(patch, point, kind):
            continue
        J = measures(point, kind)
        set6(Q[count], J)
        if kind == 0 and point.slides != 0:  # friction follows the load
            J = add_scaled6(J, patch.friction * point.d[0], get6(point.Jt))
            J = add_scaled6(J, patch.friction * point.d[1], get6(point.Js))
        set6(F[count], J)
        space.which[k, count] = m
        count += 1
    return count


@kernel
def _take_axes(space, k, patch, points):
    """The axes as Q, rows of the points as C; False if there is a motion that none of the points would feel."""
    Q, F, C, N = space.Q[k], space.F[k], space.C[k], space.N[k]
    scale = patch.radius if patch.radius > 0.0 else 1.0
    inverse = 1.0 / scale
    for i in range(6):
        for j in range(i + 1):
            N[i, j] = 0.0
    for m in range(3 * patch.count):
        point = points[patch.first + m // 3]
        c = C[m]
        if not takes_part(patch, point, m % 3):
            set6(c, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            continue
        J = measures(point, m % 3)
        set6(c, (inverse * J[0], inverse * J[1], inverse * J[2], J[3], J[4], J[5]))
        for i in range(6):
            for j in range(i + 1):
                N[i, j] += c[i] * c[j]
    for i in range(6):
        whole = N[i, i]
        for j in range(i + 1):
            total = N[i, j]
            for n in range(j):
                total -= N[i, n] * N[j, n]
            if j < i:
                N[i, j] = total * N[j, j]
            elif total > _SPAN * whole:
                N[i, i] = 1.0 / math.sqrt(total)
            else:
                return False
    _invert(N, 6)
    for s in range(6):
        for c in range(6):
            Q[s, c] = F[s, c] = 0.0
        Q[s, s] = F[s, s] = scale if s < 3 else 1.0
    return True


@kernel
def find_basis(space, k, patch, points):
    """Rows of the points that push, and of their tangents => orthonormal Q and C, J = C Q."""
    Q, C = space.Q[k], space.C[k]
    scale = patch.radius if patch.radius > 0.0 else 1.0
    span = 0
    for m in range(3 * patch.count):
        point = points[patch.first + m // 3]
        kind = m % 3
        for c in range(6):
            C[m, c] = 0.0
        if not takes_part(patch, point, kind):
            continue
        J = measures(point, kind)
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
            set6(Q[span], (x0 / left, x1 / left, x2 / left, x3 / left, x4 / left, x5 / left))
            span += 1
    for s in range(span):
        for c in range(3):
            Q[s, c] *= scale
        for c in range(6):
            space.F[k, s, c] = Q[s, c]
    _normal(C, 3 * patch.count, space.N[k], span)
    return span


@kernel
def spread(space, patch, points, slop):
    """Share the load of a sticking patch evenly among its points, as far as their cones allow.

    The wrench is the same, and of all impulses that make it up the even ones are the smallest: sweeps leave corners
    that push or pull against each other for nothing.
    """
    if patch.count <= _FEW or patch.touches == 0 or patch.friction == 0.0:
        return
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        if point.gap > slop or point.mass == 0.0 or (point.slides != 0 and point.p[0] > 0.0):
            return
        point.pushes, point.slides = 1, 0
        for m in range(3):
            point.last[m] = point.p[m]
    span = find_basis(space, 0, patch, points)
    C, x = space.C[0], space.x[0]
    for s in range(span):
        x[s] = 0.0
        for m in range(3 * patch.count):
            x[s] += C[m, s] * points[patch.first + m // 3].last[m % 3]
    divide_normal(space.N[0], x, 0, span)
    share, fits = 1.0, False
    for _ in range(_PARTS):
        fits = True
        for i in range(patch.count):
            point = points[patch.first + i]
            p = point.p
            for m in range(3):
                even = 0.0
                for s in range(span):
                    even += C[3 * i + m, s] * x[s]
                p[m] = point.last[m] + share * (even - point.last[m])
            most = patch.friction * p[0]
            fits &= p[0] >= 0.0 and p[1] * p[1] + p[2] * p[2] <= most * most
        if fits:
            return
        share *= 0.5
    for i in range(patch.first, patch.first + patch.count):
        for m in range(3):
            points[i].p[m] = points[i].last[m]


@inlined
def takes_part(patch, point, kind):
    """Rows of a point that pushes: its normal (0); if it sticks both tangents (1, 2), else the one across (1)."""
    if point.pushes == 0:
        return False
    return kind == 0 or (patch.friction > 0.0 and (point.slides == 0 or kind == 1))


@inlined
def measures(point, kind):
    """The row itself, against the relative twist."""
    if kind == 0:
        return get6(point.Jn)
    if point.slides == 0:
        return get6(point.Jt) if kind == 1 else get6(point.Js)
    J = scale6(-point.d[1], get6(point.Jt))
    return add_scaled6(J, point.d[0], get6(point.Js))


@inlined
def lacking(point, kind, w):
    """The velocity that a row wants and does not have [m/s]."""
    rate = dot6(measures(point, kind), w)
    if kind == 0:
        return point.goal - rate
    if point.slides != 0:
        return -rate - point.turn * (point.d[0] * point.p[2] - point.d[1] * point.p[1])
    return -rate


@inlined
def add_impulse(patch, point, kind, p):
    """Give a point an impulse p along one of its rows."""
    if kind == 0:
        point.p[0] += p
        if point.slides != 0:
            point.p[1] += patch.friction * point.d[0] * p
            point.p[2] += patch.friction * point.d[1] * p
    elif point.slides == 0:
        point.p[kind] += p
    else:
        point.p[1] -= point.d[1] * p
        point.p[2] += point.d[0] * p


@kernel
def _normal(C, rows, N, span):
    """N ← inverse Cholesky factor of CᵀC, which has full rank."""
    for i in range(span):
        for j in range(i + 1):
            total = 0.0
            for m in range(rows):
                total += C[m, i] * C[m, j]
            for k in range(j):
                total -= N[i, k] * N[j, k]
            N[i, j] = 1.0 / math.sqrt(total) if i == j else total * N[j, j]
    _invert(N, span)


@inlined
def _invert(N, span):
    """Inverse of a lower triangle in its place, which has inverse diagonals already."""
    for i in range(span):
        for j in range(i):
            total = 0.0
            for k in range(j, i):
                total += N[i, k] * N[k, j]
            N[i, j] = -N[i, i] * total


@kernel
def divide_normal(N, x, at, span):
    """x[at:at + span] ← (CᵀC)⁻¹ x."""
    for i in range(span - 1, -1, -1):
        total = 0.0
        for k in range(i + 1):
            total += N[i, k] * x[at + k]
        x[at + i] = total
    for i in range(span):
        total = 0.0
        for k in range(i, span):
            total += N[k, i] * x[at + k]
        x[at + i] = total
