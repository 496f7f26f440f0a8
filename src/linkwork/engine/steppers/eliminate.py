"""Rows that are solved for at once: folded into the inertia, or eliminated before what is iterated.

Springs, servos and motors on a coordinate of the tree are soft rows on one dof: p = (goal - v)/soft is the same as
1/soft more inertia there, so nothing has to be solved for. Other rows that are within their bounds are eliminated by a
factorisation of A = Y D⁻¹ Yᵀ. Which rows are within their bounds is guessed from the step before, and the guess is
corrected until it is right. Sequential impulses iterate all rows instead.
"""

import numpy as np

from ..coordinates.factor import solve_outward
from ..coordinates.tree import place, retract
from ..kernels.jit import inlined, kernel
from ..kernels.rows import measure
from ..kernels.spatial import dot6, get6
from ..solvers.envelope import factor_envelope, solve_envelope
from ..solvers.layout import DELTA, INVERSE, KEPT, LO, ON, RIGHT, SOFT, P
from ..solvers.reach import iterated, row_rate
from ..solvers.relax import wrench
from ..tables import COORDINATE, HOLD
from .sleep import asleep

_WELL = 0.95  # share of its bounds that a row within them has used at most


@kernel
def guess_rows(work, reach, constraints, options):
    """Which rows take part, which of those with bounds are iterated, and which may be folded into the inertia."""
    rows, coords = constraints.rows, constraints.coords
    for r in range(rows.shape[0]):
        row, reached = rows[r], reach.rows[r]
        if options.sleep > 0.0 and reach.clusters[reached.cluster].still >= options.sleep:
            row.active = 0
        work.flag[ON, r] = row.active
        work.row[SOFT, r], work.row[LO, r] = row.soft, row.lo
        reached.loose = 0 if row.lo * _WELL < row.p < row.hi * _WELL else 1
        reached.dof = 0
        alone = row.kind == COORDINATE and row.second < 0 and coords[row.first].v >= 0
        if options.eliminate != 0 and alone and row.soft > 0.0:
            reached.dof = coords[row.first].v


@kernel
def fold_rows(tables, constraints, work, reach, v, h):
    """Fold rows into the inertia; returns whether others take part."""
    dofs, rows, others = tables.dofs, constraints.rows, False
    for d in range(1, dofs.shape[0]):
        reach.dofs[d - 1].armature = dofs[d].armature
    for r in range(rows.shape[0]):
        row, d = rows[r], reach.rows[r].dof
        work.flag[ON, r] = row.active
        if row.active != 0 and d > 0 and reach.rows[r].loose == 0:
            work.flag[ON, r] = 0
            dofs[d].armature += 1.0 / row.soft
            dofs[d].tau += (row.sign * row.goal - v[dofs[d].v]) / (row.soft * h)
        others |= work.flag[ON, r] != 0
    return others


@kernel
def unfold_rows(dofs, reach):
    """Dofs have their own inertia again; the factors keep what was folded in."""
    for d in range(1, dofs.shape[0]):
        dofs[d].armature = reach.dofs[d - 1].armature


@inlined
def _folded(work, reach, rows, r):
    """Whether a row is part of the inertia in this step."""
    return rows[r].active != 0 and work.flag[ON, r] == 0 and reach.rows[r].dof > 0


@kernel
def eliminate_rows(work, reach, rows, wanted):
    """Solve for all rows that are not iterated at once, if that is wanted; returns whether there are any."""
    any_kept = False
    for c in range(reach.clusters.shape[0]):
        reach.clusters[c].held = 0
    for r in range(rows.shape[0]):
        reached = reach.rows[r]
        keep = wanted and work.flag[ON, r] != 0 and reached.loose == 0
        work.flag[KEPT, r] = 1 if keep else 0
        reached.way = 0.0
        reached.shove = 0.0
        any_kept |= keep
        if keep:
            reach.clusters[reached.cluster].held = 1
    if any_kept:
        factor_envelope(work, KEPT, 0.0, 0.0)
        for r in range(rows.shape[0]):
            work.row[P, r] = rows[r].goal
        _hold(work, reach, reach.u)
        for r in range(rows.shape[0]):
            reach.rows[r].alone = work.row[P, r]
            work.row[P, r] = rows[r].push
        _hold(work, reach, reach.pseudo)
    return any_kept


@kernel
def _hold(work, reach, u):
    """(row[P]: wanted velocities) => row[P]: impulses of the eliminated rows that give them these, and u with them."""
    row = work.row
    for r in range(row.shape[1]):
        row[P, r] = row[P, r] - row_rate(work, reach, r, u) if work.flag[KEPT, r] != 0 else 0.0
    solve_envelope(work, P)
    _push(work, u)


@kernel
def _push(work, u):
    """u += D⁻¹ Yᵀ row[P] of the eliminated rows."""
    D, link = work.dof[INVERSE], work.link
    for d in range(D.shape[0]):
        total = 0.0
        for r in range(link[d].begin, link[d].end):
            if work.flag[KEPT, r] != 0:
                total += work.Y[d, r] * work.row[P, r]
        u[d] += D[d] * total


@kernel
def guessed_wrong(constraints, work, reach, last):
    """Whether rows that were not iterated need more than their bounds allow: now they are, the last time all.

    Also the impulses of the rows that are part of the inertia.
    """
    rows, wrong = constraints.rows, False
    for r in range(rows.shape[0]):
        row = rows[r]
        folded = _folded(work, reach, rows, r)
        if folded:
            row.p = (row.goal - row.sign * work.dof[DELTA, reach.rows[r].dof - 1]) / row.soft
        if (folded or work.flag[KEPT, r] != 0) and (row.p < row.lo or row.p > row.hi):
            reach.rows[r].loose = 1
            wrong = True
    if wrong and last:
        for r in range(rows.shape[0]):
            if rows[r].lo > -np.inf or rows[r].hi < np.inf:
                reach.rows[r].loose = 1
    return wrong


@kernel
def recover_rows(work, reach, rows, patches, points, count, sleep):
    """Impulses of the eliminated rows: those without contact, and what the iterated impulses made of them."""
    row, link, D, bare = work.row, work.link, work.dof[INVERSE], reach.bare
    for d in range(D.shape[0]):
        bare[d] = 0.0
    for k in range(count):
        patch = patches[k]
        if patch.touches == 0 or asleep(reach, patch.island, sleep):
            continue
        f = wrench(patch, points)
        for e in range(patch.y, patch.y + patch.ny):
            bare[reach.yi[e]] += dot6(get6(reach.Y[e]), f)
    for r in range(rows.shape[0]):
        if iterated(work, r) and rows[r].p != 0.0:
            for k in range(reach.rows[r].begin, reach.rows[r].end):
                d = reach.row_dofs[k]
                bare[d] += work.Y[d, r] * rows[r].p
        row[RIGHT, r] = 0.0
    for d in range(D.shape[0]):
        if bare[d] != 0.0:
            for r in range(link[d].begin, link[d].end):
                if work.flag[KEPT, r] != 0:
                    row[RIGHT, r] -= work.Y[d, r] * D[d] * bare[d]
    solve_envelope(work, RIGHT)
    for r in range(rows.shape[0]):
        if work.flag[KEPT, r] != 0:
            rows[r].p = reach.rows[r].alone + row[RIGHT, r]


@kernel
def rates_after(work, reach, rows, after):
    """Rates of the active rows at the end of the step."""
    for r in range(rows.shape[0]):
        if work.flag[ON, r] != 0:
            after[r] = row_rate(work, reach, r, reach.u)
        elif _folded(work, reach, rows, r):
            after[r] = rows[r].sign * work.dof[DELTA, reach.rows[r].dof - 1]


@kernel
def close_loops(tables, constraints, work, reach, q, v, delta):
    """Take back what a step of finite length has opened of the eliminated joint equations, with the factors of its
    start."""
    rows, row, dofs = constraints.rows, work.row, tables.dofs
    holds = False
    for r in range(rows.shape[0]):
        holds |= work.flag[KEPT, r] != 0 and rows[r].role == HOLD
    if not holds:
        return
    place(dofs, tables.islands, q, v)
    measure(tables, constraints, q)
    for r in range(rows.shape[0]):
        row[P, r] = -rows[r].phi if work.flag[KEPT, r] != 0 and rows[r].role == HOLD else 0.0
    bare = reach.bare
    for d in range(bare.shape[0]):
        bare[d] = 0.0
    solve_envelope(work, P)
    _push(work, bare)
    solve_outward(dofs, work.K, bare)
    for d in range(bare.shape[0]):
        delta[work.link[d].rate] = bare[d]
    retract(dofs, q, delta, q)
