"""What the points of a patch can do together: at most six directions, whose orthonormal basis are its unknowns."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.skyline import Skyline, new_skyline
from ..kernels.spatial import add_scaled6, dot6, get6, scale6

MOST_PATCHES = 64
MOST_UNKNOWNS = 384
_SPAN = 1e-9  # a row that adds less than this share to those before follows from them
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
    matrix: Skyline
    """Of the unknowns, in the order of its rows."""
    x: Any
    """Right side, then solution; scratch."""
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
        np.zeros((2, MOST_PATCHES), np.int64),
        new_skyline(list(range(MOST_UNKNOWNS)), [set(range(MOST_UNKNOWNS))]),
        np.zeros((2, MOST_UNKNOWNS)), np.zeros((dofs, 6)), np.zeros((MOST_UNKNOWNS, 2), np.int64),
        np.zeros(MOST_UNKNOWNS, np.int64), np.zeros((MOST_PATCHES, 6, 6)),
    )  # fmt: skip


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
    span = find_basis(space, 0, patch, points)
    C, x = space.C[0], space.x[0]
    for s in range(span):
        x[s] = 0.0
        for m in range(3 * patch.count):
            x[s] += C[m, s] * points[patch.first + m // 3].last[m % 3]
    divide_normal(space.N[0], x, 0, span)
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


@kernel
def find_basis(space, k, patch, points):
    """Rows of the points that push (and, where they stick, of their tangents) => orthonormal Q and C, J = C Q."""
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
        J = measures(patch, point, kind)
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
        divide_normal(space.N[k], x, 0, span)
        for i in range(patch.count):
            point = points[patch.first + i]
            if point.p[0] > 0.0 and point.slides != 0:
                normal = 0.0
                for r in range(span):
                    normal += C[3 * i, r] * x[r]
                along, across = direction(point)
                normal *= patch.friction
                for c in range(6):
                    F[s, c] += normal * (along * point.Jt[c] + across * point.Js[c])


@inlined
def takes_part(patch, point, kind):
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
def measures(patch, point, kind):
    """The row itself, against the relative twist."""
    if kind == 0:
        return get6(point.Jn)
    if point.slides == 0:
        return get6(point.Jt) if kind == 1 else get6(point.Js)
    along, across = direction(point)
    J = scale6(-across, get6(point.Jt))
    return add_scaled6(J, along, get6(point.Js))


@inlined
def direction(point):
    """Direction of the friction of a sliding point along its tangents, of length one; zero if there is none."""
    size = math.sqrt(point.p[1] * point.p[1] + point.p[2] * point.p[2])
    if size == 0.0:
        return 0.0, 0.0
    return point.p[1] / size, point.p[2] / size


@inlined
def slip(point, w):
    """How fast a point slides [m/s]."""
    along, across = dot6(get6(point.Jt), w), dot6(get6(point.Js), w)
    return math.sqrt(along * along + across * across)


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
def divide_normal(N, x, at, span):
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
