"""LDLᵀ of the equations of motion together with the rows of loops that close inside the tree.

With forces -p of such *embedded* rows as unknowns beside the accelerations a,

    [ H   Jᵀ  ] [  a ]   [  f   ]
    [ J  -soft ] [ -p ] = [ want ]

and a row is eliminated right after the last of the dofs that it touches, before those that carry the whole loop. What
is left there is the inertia of the closed loop, as of one body: rows of loops that hang on the same body never meet,
and any number of them costs in proportion to it (local embedding: Chignoli, Adrian, Kim and Wensing, arXiv 2311.13732;
fill-in as in any sparse Cholesky factorisation along its elimination tree: Davis, Direct Methods, chapter 4).

Pivots of dofs are positive and those of rows negative, whatever the pose, for H is positive definite. A row without a
pivot follows from rows eliminated before: it touches nothing that could still change that, so that it may be left out.
"""

import numpy as np

from ..kernels.jit import inlined, kernel
from .envelope import judge
from .layout import (
    FORCE_PLACE,
    FORCE_TURN,
    INVERSE,
    NOISE,
    ON,
    PIVOT,
    PLACE,
    SCALE,
    SOFT,
    TURN,
    USUAL,
    WHOLE,
)


@kernel
def factor_saddle(work, least):
    """(inertia in H, rows in J) => factors in K, and 1/D of all unknowns, zero for rows that are off or dependent.

    least: as in `judge`.
    """
    K, near, row, link, inverse = work.K, work.near, work.row, work.link, work.dof[INVERSE]
    report, dofs = work.report[0], work.J.shape[0]
    smallest, guilty, shaky = np.inf, -1, 1.0
    _fill(work)
    for k in range(link.shape[0]):
        i = link[k].next
        if link[i].locked != 0:
            inverse[i] = 0.0
            continue
        own = 1.0 / K[i, link[i].column]
        r = i - dofs
        if r >= 0:
            pivot = -K[i, link[i].column]
            row[PIVOT, r] = 0.0
            if work.flag[ON, r] != 0:
                row[PIVOT, r] = judge(row, r, pivot, row[WHOLE, r], row[NOISE, r], 0.0, least)
                if pivot < smallest * row[SCALE, r]:
                    smallest, guilty = pivot / row[SCALE, r], r
                if least == 0.0 and pivot < shaky * row[USUAL, r]:
                    shaky = pivot / row[USUAL, r]
            own = -row[PIVOT, r]
        inverse[i] = own
        trunk = link[i].trunk
        for e in range(link[i].near if trunk < 0 else link[i].near - 6):
            a, c = near[0, i, e], near[1, i, e]
            x = K[i, c]
            if x == 0.0:
                continue
            ratio = x * own
            for j in range(c + 1):
                K[a, j] -= ratio * K[i, j]
            K[i, c] = ratio
            s = a - dofs
            if s >= 0:
                if r < 0:
                    row[WHOLE, s] += ratio * x
                elif ratio != 0.0:
                    row[NOISE, s] = max(row[NOISE, s], row[SCALE, r] * row[PIVOT, r])
        if trunk >= 0:
            _update_trunk(K, i, trunk, own)
    report.inner, report.inner_row, report.inner_weakest = smallest, guilty, shaky


@inlined
def _update_trunk(K, i, b, own):
    """What unknown i leaves of the inertia of a floating body that carries it: most updates are of this kind, and loops
    over one to six numbers take twice as long."""
    x0, x1, x2, x3, x4, x5 = K[i, 0], K[i, 1], K[i, 2], K[i, 3], K[i, 4], K[i, 5]
    r0, r1, r2, r3, r4, r5 = own * x0, own * x1, own * x2, own * x3, own * x4, own * x5
    K[b, 0] -= r0 * x0
    K[b + 1, 0] -= r1 * x0
    K[b + 1, 1] -= r1 * x1
    K[b + 2, 0] -= r2 * x0
    K[b + 2, 1] -= r2 * x1
    K[b + 2, 2] -= r2 * x2
    K[b + 3, 0] -= r3 * x0
    K[b + 3, 1] -= r3 * x1
    K[b + 3, 2] -= r3 * x2
    K[b + 3, 3] -= r3 * x3
    K[b + 4, 0] -= r4 * x0
    K[b + 4, 1] -= r4 * x1
    K[b + 4, 2] -= r4 * x2
    K[b + 4, 3] -= r4 * x3
    K[b + 4, 4] -= r4 * x4
    K[b + 5, 0] -= r5 * x0
    K[b + 5, 1] -= r5 * x1
    K[b + 5, 2] -= r5 * x2
    K[b + 5, 3] -= r5 * x3
    K[b + 5, 4] -= r5 * x4
    K[b + 5, 5] -= r5 * x5
    K[i, 0], K[i, 1], K[i, 2], K[i, 3], K[i, 4], K[i, 5] = r0, r1, r2, r3, r4, r5


@inlined
def _fill(work):
    """The matrix: inertia, and rows that are on."""
    K, H, J, near, row, link = work.K, work.H, work.J, work.near, work.row, work.link
    dofs = J.shape[0]
    for i in range(link.shape[0]):
        column = link[i].column
        for c in range(column + 1):
            K[i, c] = 0.0
        if i >= dofs:
            r = i - dofs
            K[i, column] = -row[SOFT, r]
            row[WHOLE, r], row[NOISE, r] = row[SOFT, r], 1.0
            continue
        k = link[i].level
        K[i, column] = H[i, k]
        for e in range(link[i].near):
            a = near[0, i, e]
            if a < dofs:
                k -= 1
                K[i, near[1, i, e]] = H[i, k]
            elif work.flag[ON, a - dofs] != 0 and link[i].first <= a - dofs < link[i].last:
                K[i, near[1, i, e]] = J[i, a - dofs]


@kernel
def inward(K, near, link, x):
    """x ← L⁻ᵀ x, x being a number of each unknown."""
    for k in range(link.shape[0]):
        i = link[k].next
        own = x[i]
        if own != 0.0:
            for e in range(link[i].near):
                x[near[0, i, e]] -= K[i, near[1, i, e]] * own


@kernel
def inward_given(work, x, given):
    """dof[x] ← L⁻ᵀ dof[x], of forces on dofs and of what embedded rows want; locked ones move by dof[given]."""
    K, near, link, rhs, moved = work.K, work.near, work.link, work.dof[x], work.dof[given]
    for k in range(link.shape[0]):
        i = link[k].next
        own = moved[i] if link[i].locked != 0 else rhs[i]
        if own != 0.0:
            for e in range(link[i].near):
                rhs[near[0, i, e]] -= K[i, near[1, i, e]] * own


@kernel
def outward(K, near, link, x):
    """x ← L⁻¹ x, x being a number of each unknown."""
    for k in range(link.shape[0] - 1, -1, -1):
        i = link[k].next
        if link[i].locked == 0:
            total = x[i]
            for e in range(link[i].near):
                total -= K[i, near[1, i, e]] * x[near[0, i, e]]
            x[i] = total


@kernel
def measure_rates(work, v, u):
    """u = L v: velocities of unknowns, before any impulse, for rates v of the dofs."""
    K, near, link, n = work.K, work.near, work.link, work.J.shape[0]
    for i in range(link.shape[0]):
        total = v[link[i].rate] if i < n else 0.0
        if link[i].locked == 0:
            for e in range(link[i].near):
                a = near[0, i, e]
                if a < n:
                    total += K[i, near[1, i, e]] * v[link[a].rate]
        u[i] = total


@kernel
def want(work, x, wants):
    """What embedded rows want, row[wants], into dof[x] behind the forces on dofs."""
    dofs = work.J.shape[0]
    for i in range(dofs, work.link.shape[0]):
        r = i - dofs
        work.dof[x, i] = work.row[wants, r] if work.flag[ON, r] != 0 else 0.0


@kernel
def want_corrections(work):
    """What embedded rows want of places and rates, row[PLACE] and row[TURN], solved inward."""
    K, near, link = work.K, work.near, work.link
    place, turn, dofs = work.dof[FORCE_PLACE], work.dof[FORCE_TURN], work.J.shape[0]
    for d in range(dofs):
        place[d], turn[d] = 0.0, 0.0
    want(work, FORCE_PLACE, PLACE)
    want(work, FORCE_TURN, TURN)
    for k in range(link.shape[0]):
        i = link[k].next
        x, y = place[i], turn[i]
        if x != 0.0 or y != 0.0:
            for e in range(link[i].near):
                a, weight = near[0, i, e], K[i, near[1, i, e]]
                place[a] -= weight * x
                turn[a] -= weight * y


@kernel
def subtract_free(work, x, r):
    """row[r] less what rows that are not embedded move at without forces of their own, dof[x] being solved inward."""
    link, Y, row, inverse = work.link, work.Y, work.row, work.dof[INVERSE]
    if work.report[0].coupled == 0:
        return
    for i in range(link.shape[0]):
        free = inverse[i] * work.dof[x, i]
        if free != 0.0:
            for s in range(link[i].begin, link[i].end):
                row[r, s] -= Y[i, s] * free
