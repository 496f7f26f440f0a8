"""Rows that are solved for at once: folded into the inertia, or eliminated before what is iterated.

Most of them cost next to nothing. A spring, damper or motor is a soft row, p = (goal - J v)/soft, which is the same as
JᵀJ/soft more inertia: where it moves with dofs that carry each other only, that is added to the inertia and fills
nothing in. A row that gives the rate of one dof (a servo, friction that sticks, a stop) locks it: that dof answers to
nothing. A row at a bound (a motor at its strength, friction that slides, a stop that is not touched) is a given force.
Equations of loops that close inside the tree are *embedded*, eliminated together with it (`saddle`). What is left is
eliminated by a factorisation of A = Y D⁻¹ Yᵀ. Which rows are within or at their bounds is guessed from the step before,
and the guess is corrected until it is right: what proves wrong is iterated with contact. Sequential impulses iterate
all rows instead.
"""

import numpy as np

from ..coordinates.tree import pose, retract
from ..kernels.jit import inlined, kernel
from ..kernels.rows import measure_joints
from ..kernels.spatial import dot6, get6
from ..solvers.envelope import embedded, factor_envelope, solve_envelope
from ..solvers.layout import (
    DELTA,
    FORCE,
    FORCE_PLACE,
    GIVEN,
    INVERSE,
    KEPT,
    LO,
    LOAD,
    ON,
    RIGHT,
    SOFT,
    P,
)
from ..solvers.reach import iterated, row_rate
from ..solvers.relax import wrench
from ..solvers.saddle import inward_given, outward
from ..tables import HOLD
from .sleep import asleep

_WELL = 0.95  # share of its bounds that a row within them has used at most
_ROUNDING = 1e-9  # share of its bound that a row at it may be off by: bounds scale with the step
SOLVED_APART, FOLDED, LOCKING, LOWEST, HIGHEST = range(5)
"""What becomes of a row: nothing here, more inertia, a dof whose rate it gives, or an impulse at its bound."""


@kernel
def guess_rows(work, reach, constraints, options):
    """Which rows take part, and which of those with bounds are iterated."""
    rows = constraints.rows
    for r in range(rows.shape[0]):
        row, reached = rows[r], reach.rows[r]
        if options.sleep > 0.0 and reach.clusters[reached.cluster].still >= options.sleep:
            row.active = 0
        work.row[SOFT, r], work.row[LO, r] = row.soft, row.lo
        reached.loose = 0 if row.lo * _WELL < row.p < row.hi * _WELL else 1
        reached.bound = SOLVED_APART
        if reached.loose != 0 and row.push == 0.0:
            if row.p <= row.lo + _ROUNDING * abs(row.lo):
                reached.bound = LOWEST
            elif row.p >= row.hi - _ROUNDING * abs(row.hi):
                reached.bound = HIGHEST


@kernel
def fold_rows(work, reach, rows, h, wanted):
    """(inertia in H, forces in dof[LOAD]) => inertia with rows folded in, if that is wanted; locked dofs and what their
    rates change by, dof[GIVEN]; impulses of loads and what embedded rows want, dof[FORCE]."""
    H, J, link, force, given = work.H, work.J, work.link, work.dof[FORCE], work.dof[GIVEN]
    inner, n = embedded(work), J.shape[0]
    for i in range(link.shape[0]):
        link[i].locked, given[i] = 0, 0.0
        force[i] = h * work.dof[LOAD, i] if i < n else 0.0
    for r in range(rows.shape[0]):
        row, reached = rows[r], reach.rows[r]
        work.flag[ON, r] = row.active
        reached.becomes = SOLVED_APART
        if row.active == 0 or not wanted:
            continue
        if r < inner:
            force[n + r] = row.goal - row.rate
        elif reached.bound != SOLVED_APART:
            reached.becomes = reached.bound
            row.p = row.lo if reached.bound == LOWEST else row.hi
            for k in range(reached.move, reached.move_end if row.p != 0.0 else reached.move):
                d = reach.move_dofs[k]
                force[d] += J[d, r] * row.p
        elif reached.loose == 0:
            if row.soft > 0.0 and reached.chain != 0:
                reached.becomes = FOLDED
                for k in range(reached.move, reached.move_end):
                    d = reach.move_dofs[k]
                    weight = J[d, r] / row.soft
                    force[d] += weight * (row.goal - row.rate)
                    for m in range(k, reached.move_end):
                        a = reach.move_dofs[m]
                        H[d, link[a].level] += weight * J[a, r]
            elif row.soft == 0.0 and reached.dof > 0 and link[reached.dof - 1].locked == 0:
                d = reached.dof - 1
                reached.becomes, link[d].locked = LOCKING, 1
                given[d] = (row.goal - row.rate) / J[d, r]
        if reached.becomes != SOLVED_APART:
            work.flag[ON, r] = 0


@kernel
def answer_at_once(work, x, base, u):
    """u = base and what dof[x] and dof[GIVEN] add to it: forces, what embedded rows want, rates of locked dofs."""
    inward_given(work, x, GIVEN)
    D = work.dof[INVERSE]
    for i in range(u.shape[0]):
        u[i] = base[i] + D[i] * work.dof[x, i] + work.dof[GIVEN, i]


@kernel
def eliminate_rows(work, reach, rows, wanted):
    """Solve for all rows that are neither folded nor iterated at once, if that is wanted; returns whether there are any
    beside embedded ones."""
    any_kept, inner = False, embedded(work)
    for c in range(reach.clusters.shape[0]):
        reach.clusters[c].held = 0
    for r in range(rows.shape[0]):
        reached = reach.rows[r]
        keep = wanted and work.flag[ON, r] != 0 and (r < inner or reached.loose == 0)
        work.flag[KEPT, r] = 1 if keep else 0
        reached.way = 0.0
        reached.shove = 0.0
        if keep and r >= inner:
            any_kept = True
            reach.clusters[reached.cluster].held = 1
    if any_kept:
        factor_envelope(work, KEPT, 0.0, 0.0)
        for r in range(inner, rows.shape[0]):
            work.row[P, r] = rows[r].goal
        _hold(work, reach, reach.u)
        for r in range(inner, rows.shape[0]):
            reach.rows[r].alone = work.row[P, r]
    return any_kept


@kernel
def push_at_once(work, reach, rows, eliminated):
    """Pseudo velocities by which rows that are solved for at once take back what they are beyond their stops; returns
    whether there are any. Gaps of joints need none: `close_loops` takes them back."""
    pseudo, apart, wants = reach.pseudo, False, False
    for i in range(work.link.shape[0]):
        work.dof[FORCE_PLACE, i], work.dof[GIVEN, i], pseudo[i] = 0.0, 0.0, 0.0
    for r in range(embedded(work), rows.shape[0]):
        push = rows[r].push if rows[r].role != HOLD else 0.0
        work.row[P, r] = push
        if push != 0.0:
            apart |= eliminated and work.flag[KEPT, r] != 0
            if reach.rows[r].becomes == LOCKING:
                d = reach.rows[r].dof - 1
                work.dof[GIVEN, d], wants = push / work.J[d, r], True
    if wants:
        answer_at_once(work, FORCE_PLACE, pseudo, pseudo)
    if apart or (wants and eliminated):
        _hold(work, reach, pseudo)
    return wants or apart


@kernel
def _hold(work, reach, u):
    """(row[P]: wanted velocities) => row[P]: impulses of the eliminated rows that give them these, and u with them."""
    row = work.row
    for r in range(embedded(work), row.shape[1]):
        row[P, r] = row[P, r] - row_rate(work, reach, r, u) if work.flag[KEPT, r] != 0 else 0.0
    solve_envelope(work, P)
    D, link = work.dof[INVERSE], work.link
    for d in range(D.shape[0]):
        total = 0.0
        for r in range(link[d].begin, link[d].end):
            if work.flag[KEPT, r] != 0:
                total += work.Y[d, r] * row[P, r]
        u[d] += D[d] * total


@kernel
def guessed_wrong(constraints, work, reach, tolerance, last):
    """Whether rows that were not iterated need more than their bounds allow, or at a bound are faster than they want by
    more than a tolerance [m/s]: now they are, the last time all."""
    rows, wrong = constraints.rows, False
    for r in range(rows.shape[0]):
        row, becomes = rows[r], reach.rows[r].becomes
        if becomes >= LOWEST:
            lack = row.goal - _rate(work, reach, r) - row.soft * row.p
            bad = row.lo < row.hi and (lack > tolerance if becomes == LOWEST else lack < -tolerance)
        else:
            at_once = work.flag[KEPT, r] != 0 or becomes != SOLVED_APART
            bad = at_once and (row.p < row.lo or row.p > row.hi)
        if bad:
            reach.rows[r].loose, reach.rows[r].bound = 1, SOLVED_APART
            wrong = True
    if wrong and last:
        for r in range(rows.shape[0]):
            if rows[r].lo > -np.inf or rows[r].hi < np.inf:
                reach.rows[r].loose, reach.rows[r].bound = 1, SOLVED_APART
    return wrong


@kernel
def recover_rows(work, reach, rows, patches, points, count, sleep, v, eliminated):
    """Impulses of the rows that were solved for at once, now that those of contacts and iterated rows are known, and
    rates at the end of the step: dof[DELTA] of dofs."""
    row, link, D, bare, delta = work.row, work.link, work.dof[INVERSE], reach.bare, work.dof[DELTA]
    n, inner = work.J.shape[0], embedded(work)
    locks = False
    for i in range(n):
        locks |= link[i].locked != 0
    if eliminated or locks:
        _sum_impulses(work, reach, rows, patches, points, count, sleep)
    if eliminated:
        for r in range(inner, rows.shape[0]):
            row[RIGHT, r] = 0.0
        for d in range(D.shape[0]):
            if bare[d] != 0.0:
                for r in range(link[d].begin, link[d].end):
                    if work.flag[KEPT, r] != 0:
                        row[RIGHT, r] -= work.Y[d, r] * D[d] * bare[d]
        solve_envelope(work, RIGHT)
        for r in range(inner, rows.shape[0]):
            if work.flag[KEPT, r] != 0:
                rows[r].p = reach.rows[r].alone + row[RIGHT, r]
    for i in range(link.shape[0]):
        delta[i] = reach.u[i]
    outward(work.K, work.near, link, delta)
    for r in range(rows.shape[0]):
        if r < inner:
            rows[r].p = -delta[n + r]
        elif reach.rows[r].becomes == FOLDED:
            rows[r].p = (rows[r].goal - _rate(work, reach, r)) / rows[r].soft
        elif reach.rows[r].becomes == LOCKING:
            d = reach.rows[r].dof - 1
            rows[r].p = _locking_impulse(work, reach, rows, d, v) / work.J[d, r]


@kernel
def _sum_impulses(work, reach, rows, patches, points, count, sleep):
    """Impulses of contacts and of iterated rows on unknowns, solved inward, into `reach.bare`."""
    bare = reach.bare
    for d in range(bare.shape[0]):
        bare[d] = 0.0
    for k in range(count):
        patch = patches[k]
        if patch.touches == 0 or asleep(reach, patch.island, sleep):
            continue
        f = wrench(patch, points)
        for e in range(patch.y, patch.y + patch.ny):
            bare[reach.yi[e]] += dot6(get6(reach.Y[e]), f)
    for r in range(embedded(work), rows.shape[0]):
        if iterated(work, r) and rows[r].p != 0.0:
            for k in range(reach.rows[r].begin, reach.rows[r].end):
                d = reach.row_dofs[k]
                bare[d] += work.Y[d, r] * rows[r].p


@kernel
def _locking_impulse(work, reach, rows, d, v):
    """What keeps a locked dof at its rate: its own equation, as it stood when it was its turn to be eliminated."""
    K, near, link, n = work.K, work.near, work.link, work.J.shape[0]
    total = K[d, link[d].column] * work.dof[DELTA, d] - reach.bare[d] - work.dof[FORCE, d]
    total -= K[d, link[d].column] * v[link[d].rate]
    for e in range(link[d].near):
        a = near[0, d, e]
        before = v[link[a].rate] if a < n else 0.0
        total += K[d, near[1, d, e]] * (work.dof[DELTA, a] - before)
    for r in range(link[d].begin, link[d].end):
        if work.flag[KEPT, r] != 0:
            total -= work.Y[d, r] * rows[r].p
    return total


@inlined
def _rate(work, reach, r):
    """Rate of a row that is neither embedded, eliminated nor iterated, at the end of the step."""
    total = 0.0
    for k in range(reach.rows[r].move, reach.rows[r].move_end):
        d = reach.move_dofs[k]
        total += work.J[d, r] * work.dof[DELTA, d]
    return total


@kernel
def rates_after(work, reach, rows, after):
    """Rates of the active rows at the end of the step."""
    for r in range(rows.shape[0]):
        if r < embedded(work):
            after[r] = rows[r].goal
        elif reach.rows[r].becomes != SOLVED_APART:
            after[r] = _rate(work, reach, r)
        elif work.flag[ON, r] != 0:
            after[r] = row_rate(work, reach, r, reach.u)


@kernel
def close_loops(tables, constraints, work, reach, q, delta):
    """Take back what a step of finite length has opened of the eliminated joint equations, with the factors of its
    start."""
    rows, row, dofs = constraints.rows, work.row, tables.dofs
    n, inner = work.J.shape[0], embedded(work)
    holds, apart = False, False
    for r in range(rows.shape[0]):
        kept = work.flag[KEPT, r] != 0
        holds |= kept and rows[r].role == HOLD
        apart |= kept and r >= inner
    if not holds:
        return
    pose(dofs, tables.islands, q, None)
    measure_joints(tables, constraints, q)
    way = work.dof[DELTA]
    for i in range(work.link.shape[0]):
        work.dof[FORCE_PLACE, i], work.dof[GIVEN, i], way[i] = 0.0, 0.0, 0.0
    for r in range(rows.shape[0]):
        gap = rows[r].phi if work.flag[KEPT, r] != 0 and rows[r].role == HOLD else 0.0
        row[P, r] = -gap
        if r < inner:
            work.dof[FORCE_PLACE, n + r] = -gap
    answer_at_once(work, FORCE_PLACE, way, way)
    if apart:
        _hold(work, reach, way)
    outward(work.K, work.near, work.link, way)
    for d in range(n):
        delta[work.link[d].rate] = way[d]
    retract(dofs, q, delta, q)
