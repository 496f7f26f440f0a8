"""Steps of mechanisms and bodies that touch: semi-implicit Euler, every force an impulse within its bounds.

The mechanism moves freely for a step; then impulses keep joint equations, limits, friction, drives and contacts at
the velocities of its end, and pseudo impulses, which never enter the motion, take back what gaps, penetrations and
shifts of sticking points there are (split impulses; Strashnov and Mikhaylyuk, "Simulation of restrictions for the
relative motion of articulated rigid bodies"). With the direct solver, rows without bounds are eliminated, and what is
iterated is contact, limits and friction alone; with sequential impulses all rows are iterated.
"""

from __future__ import annotations

import numpy as np

from ..contact.detect import NO_ROOM as _NO_PAIRS
from ..contact.detect import OLD_PATCHES, PATCHES, SIDE, detect, relative_pose
from ..coordinates.factor import factor, solve_inward, solve_outward
from ..coordinates.gyroscopic import turn_freely
from ..coordinates.observe import read_joints
from ..coordinates.tree import place, retract
from ..elements.impulse import end_row, set_targets
from ..elements.respond import up_to_sample
from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel, woven
from ..kernels.math3 import add3, cross3, dot3, get3, get9, rotate, scale3, set9, sub3
from ..kernels.rows import measure
from ..kernels.spatial import dot6, get6, set6
from ..loads import apply_loads
from ..solvers.envelope import factor_envelope, solve_envelope
from ..solvers.islands import settle_island
from ..solvers.layout import (
    AHEAD,
    BEGIN,
    DELTA,
    END,
    FORCE,
    INVERSE,
    KEPT,
    LO,
    LOADS_DISSIPATED,
    LOADS_SUPPLIED,
    ON,
    RATE,
    RESPONSE,
    RIGHT,
    SOFT,
    P,
)
from ..solvers.subspace import spread
from ..solvers.touch import (
    BARE,
    BEFORE,
    CLUSTER,
    PSEUDO,
    ROW_ALONE,
    ROW_DOF,
    ROW_LOOSE,
    ROW_SHOVE,
    ROW_WAY,
    U,
    answer_row,
    find_islands,
    iterated,
    prepare_points,
    reach_patch,
    reach_row,
    relative_twist,
    row_rate,
    shove_island,
    warm,
    wrench,
)
from ..tables import COORDINATE, HOLD
from .joint_rows import couple, evaluate_rows
from .means import begin_mean, end_mean, sample, sample_means
from .state import OK, finite

NO_PAIRS, NO_POOL, FULL = 11, 12, 13
"""A step needs more room, for pairs of shapes or for what patches reach: enlarge, and come again; or the list of
events is nearly full: read it, and come again."""

# options
ERP, TOLERANCE, EPSILON, LIMIT_SWEEPS, BUDGET, ELIMINATE, SLOP, NEAR, SLEEP = range(9)
OPTIONS = 9
# stats
(
    SWEEPS, MOST_SWEEPS, CUT, GAP, GAP_ROW, LAST_SWEEPS, LAST_CUT, LAST_GAP, LAST_ROW, DEEPEST, DEEPEST_PATCH,
    LAST_DEPTH, CONTACTS, RESIDUAL, EVENTS_LOST,
) = range(15)  # fmt: skip
STATS = 15
REPORT = 5  # numbers of the solver in a sample, before the contact forces

# Sticking points are shifted back when they have strayed by this share of the slop.
_STRAYED = 0.1
_GUESSES = 4  # of which rows with bounds are within them
_WELL = 0.95  # share of its bounds that a row within them has used at most
_SOFTER = 8  # times that bounces which would gain energy are made weaker, the last time to nothing
_ROUNDING = 1e-12
_SLOW = 1e-3  # slower than this is at rest [m/s or rad/s]
_SHOVES = 20  # sweeps of pseudo impulses at most: what is left is taken back in the next step


@woven
def step(
    tables,
    constraints,
    colliders,
    work,
    found,
    reach,
    space,
    q,
    v,
    energy,
    delta,
    t,
    h,
    options,
    stats,
):
    """One step; returns OK, NO_PAIRS or NO_POOL (then nothing has been changed)."""
    deadline = cycles() + int(options[BUDGET])
    dofs, rows = tables.dofs, constraints.rows
    n = dofs.shape[0] - 1
    evaluate_rows(tables, constraints, work, q, v, t)  # (q, v, t) => R r S V I p, J, phi, rate
    turn_freely(dofs, h, work.dof[AHEAD])  # V => p, mean rates
    if detect(tables, colliders, found, h, options[NEAR]) == _NO_PAIRS:
        return NO_PAIRS
    side, count = found.counts[SIDE], found.counts[PATCHES]
    patches, points = found.patches[side], found.points[side]

    # Impulses. Rows with bounds that were within them a step ago are taken to be so still, unless that proves wrong.
    set_targets(tables, constraints, t, h, options[ERP])
    _guess(work, reach, constraints, options)
    sweeps, cut, residual, islands, eliminated = 0, 0, 0.0, 0, False
    for attempt in range(_GUESSES):
        if attempt > 0:  # the last one has left composite inertias behind
            place(dofs, tables.islands, q, v)
            if tables.loads.shape[0] > 0:
                apply_loads(tables, q, v, t)
            turn_freely(dofs, h, work.dof[AHEAD])
        coupled = _fold(tables, constraints, work, reach, v, h)
        factor(dofs, work.H, work.dof[INVERSE], work.dof[FORCE])  # (I, p, tau) => L D, forces
        _unfold(dofs, reach)
        _transform(dofs, work, v, reach.u[BEFORE])
        solve_inward(dofs, work.H, work.dof[FORCE])
        if coupled:
            couple(tables, work)
        _move_freely(dofs, work, reach, v, h, options[SLEEP])
        eliminated = coupled and _eliminate(work, reach, rows, options[ELIMINATE] != 0.0)
        if not coupled:
            for r in range(rows.shape[0]):
                work.flag[KEPT, r] = 0
            for c in range(reach.held.shape[0]):
                reach.held[c] = 0
        islands = find_islands(work, reach, patches, count, rows)
        if options[SLEEP] > 0.0:
            _wake(reach, islands, options[SLEEP])
        if not _reach_all(tables, work, reach, rows, patches, points, count, h, options):
            found.counts[SIDE], found.counts[PATCHES] = 1 - side, found.counts[OLD_PATCHES]
            return NO_POOL
        sweeps, cut, residual = 0, 0, 0.0
        for i in range(islands):
            took, short, change = _solve_island(
                work, reach, space, rows, patches, points, i, options, deadline
            )
            sweeps, cut, residual = max(sweeps, took), max(cut, short), max(residual, change)
        for k in range(count):
            if not _asleep(reach, patches[k].island, options[SLEEP]):
                mark(patches[k], points)
        if eliminated:
            _recover(work, reach, rows, patches, points, count, options[SLEEP])
        for d in range(n):
            work.dof[DELTA, d] = reach.u[U, d]
        solve_outward(dofs, work.H, work.dof[DELTA])
        if not _wrong(constraints, work, reach, attempt == _GUESSES - 2):
            break
    _account(tables, work, reach, constraints, patches, points, count, t, h, energy, options[SLEEP])

    # Pseudo impulses where something has to be moved.
    deepest = _aim_places(reach, found, patches, points, count, h, options)
    for i in range(islands):
        if not _asleep(reach, i, options[SLEEP]) and _to_shove(reach, rows, patches, points, i):
            shove_island(work, reach, rows, patches, points, i, 1e-3 * options[SLOP] / h, _SHOVES, deadline)
    _anchor(found, reach, patches, points, count, h, options)

    # Velocities, and positions that move with them.
    energy[0] += h * work.report[LOADS_SUPPLIED]
    energy[1] += h * work.report[LOADS_DISSIPATED]
    shift = reach.u[PSEUDO]
    solve_outward(dofs, work.H, shift)
    for d in range(n):
        i = work.link[RATE, d]
        v[i] = work.dof[DELTA, d]
        delta[i] = h * (v[i] + work.dof[AHEAD, i] + shift[d])
    _report(rows, stats, sweeps, cut, residual, deepest, count, found)
    retract(dofs, q, delta, q)
    if eliminated:
        _close(tables, constraints, work, reach, q, v, delta)
    if options[SLEEP] > 0.0:
        _doze(work, reach, v, h)
    return OK


@kernel
def _move_freely(dofs, work, reach, v, h, sleep):
    """u = L v + h D⁻¹ (forces): the motion without rows and contact."""
    u, D = reach.u, work.dof[INVERSE]
    _transform(dofs, work, v, u[U])
    for d in range(D.shape[0]):
        u[U, d] += h * D[d] * work.dof[FORCE, d]
        u[PSEUDO, d] = 0.0
        if sleep > 0.0 and reach.still[reach.cluster[d]] >= sleep:
            u[U, d] = 0.0


@kernel
def _guess(work, reach, constraints, options):
    """Which rows take part; which of those with bounds are iterated (LOOSE); which are folded into the inertia.

    Springs, servos and motors on a coordinate of the tree are soft rows on one dof: p = (goal - v)/soft is the same as
    1/soft more inertia there, so nothing has to be solved for. Sequential impulses iterate them like all others.
    """
    rows, coords = constraints.rows, constraints.coords
    for r in range(rows.shape[0]):
        row = rows[r]
        if options[SLEEP] > 0.0 and reach.still[reach.row_z[CLUSTER, r]] >= options[SLEEP]:
            row.active = 0
        work.flag[ON, r] = row.active
        work.row[SOFT, r], work.row[LO, r] = row.soft, row.lo
        reach.row[ROW_LOOSE, r] = 0.0 if row.lo * _WELL < row.p < row.hi * _WELL else 1.0
        reach.row[ROW_DOF, r] = 0.0
        alone = row.kind == COORDINATE and row.second < 0 and coords[row.first].v >= 0
        if options[ELIMINATE] != 0.0 and alone and row.soft > 0.0:
            reach.row[ROW_DOF, r] = coords[row.first].v


@kernel
def _fold(tables, constraints, work, reach, v, h):
    """Rows that are folded into the inertia; returns whether others take part."""
    dofs, rows, others = tables.dofs, constraints.rows, False
    for d in range(dofs.shape[0]):
        reach.armature[d] = dofs[d].armature
    for r in range(rows.shape[0]):
        row, d = rows[r], int(reach.row[ROW_DOF, r])
        work.flag[ON, r] = row.active
        if row.active != 0 and d > 0 and reach.row[ROW_LOOSE, r] == 0.0:
            work.flag[ON, r] = 0
            dofs[d].armature += 1.0 / row.soft
            dofs[d].tau += (row.sign * row.goal - v[dofs[d].v]) / (row.soft * h)
        others |= work.flag[ON, r] != 0
    return others


@kernel
def _unfold(dofs, reach):
    for d in range(dofs.shape[0]):
        dofs[d].armature = reach.armature[d]


@inlined
def _folded(work, reach, rows, r):
    """Whether a row is part of the inertia in this step."""
    return rows[r].active != 0 and work.flag[ON, r] == 0 and reach.row[ROW_DOF, r] > 0.0


@kernel
def _eliminate(work, reach, rows, wanted):
    """Solve for all rows that are not iterated at once; returns whether there are any."""
    any_kept = False
    for c in range(reach.held.shape[0]):
        reach.held[c] = 0
    for r in range(rows.shape[0]):
        keep = wanted and work.flag[ON, r] != 0 and reach.row[ROW_LOOSE, r] == 0.0
        work.flag[KEPT, r] = 1 if keep else 0
        reach.row[ROW_WAY, r] = 0.0
        reach.row[ROW_SHOVE, r] = 0.0
        any_kept |= keep
        if keep:
            reach.held[reach.row_z[CLUSTER, r]] = 1
    if any_kept:
        factor_envelope(work, KEPT, 0.0, 0.0)
        _hold(work, reach, rows, U)
        for r in range(rows.shape[0]):
            reach.row[ROW_ALONE, r] = work.row[P, r]
        _hold(work, reach, rows, PSEUDO)
    return any_kept


@kernel
def _wrong(constraints, work, reach, last):
    """Whether rows that were not iterated need more than their bounds allow: now they are, the last time all.

    Also the impulses of the rows that are part of the inertia.
    """
    rows, wrong = constraints.rows, False
    for r in range(rows.shape[0]):
        row = rows[r]
        folded = _folded(work, reach, rows, r)
        if folded:
            d = int(reach.row[ROW_DOF, r]) - 1
            row.p = (row.goal - row.sign * work.dof[DELTA, d]) / row.soft
        if (folded or work.flag[KEPT, r] != 0) and (row.p < row.lo or row.p > row.hi):
            reach.row[ROW_LOOSE, r] = 1.0
            wrong = True
    if wrong and last:
        for r in range(rows.shape[0]):
            if rows[r].lo > -np.inf or rows[r].hi < np.inf:
                reach.row[ROW_LOOSE, r] = 1.0
    return wrong


@kernel
def _reach_all(tables, work, reach, rows, patches, points, count, h, options):
    """What patches and iterated rows reach and want; False if there is no room for it."""
    reach.used[0], reach.used[1], reach.used[2] = 0, 0, 0
    for k in range(count):
        patch = patches[k]
        if _asleep(reach, patch.island, options[SLEEP]):
            continue
        if not reach_patch(tables, work, reach, patch):
            return False
        prepare_points(patch, points)
        _aim_patch(reach, patch, points, h, options[SLOP])
    for r in range(rows.shape[0]):
        row = rows[r]
        if iterated(work, r):
            if not reach_row(work, reach, rows, r):
                return False
            row.p = min(max(row.p, row.lo), row.hi)
            answer_row(reach, r, row.p, U)
        elif row.active == 0:
            row.p = 0.0
    return True


@kernel
def _solve_island(work, reach, space, rows, patches, points, island, options, deadline):
    """Impulses of an island; returns (sweeps, cut short, last change)."""
    first, last = reach.starts[0, island], reach.starts[0, island + 1]
    took, short, change = 0, 0, 0.0
    if first == last and reach.starts[1, island] == reach.starts[1, island + 1]:
        return took, short, change
    if _asleep(reach, island, options[SLEEP]):
        return took, short, change
    for k in range(first, last):
        patch = patches[reach.order[k]]
        spread(space, patch, points, options[SLOP])
        warm(reach, patch, points)
    for attempt in range(_SOFTER):
        took, short, change = settle_island(
            work, reach, space, rows, patches, points, island, options[TOLERANCE], options[EPSILON],
            int(options[LIMIT_SWEEPS]), options[ELIMINATE] != 0.0, deadline,
        )  # fmt: skip
        if not _gains(reach, patches, points, island, attempt == _SOFTER - 2):
            break
    return took, short, change


@kernel
def _transform(dofs, work, v, u):
    """u = L v, numbered by dofs."""
    H = work.H
    for d in range(dofs.shape[0] - 1):
        total = v[work.link[RATE, d]]
        i, k = dofs[d + 1].parent, dofs[d + 1].depth
        while i != 0:
            k -= 1
            total += H[d, k] * v[work.link[RATE, i - 1]]
            i = dofs[i].parent
        u[d] = total


@kernel
def _hold(work, reach, rows, which):
    """Impulses of the eliminated rows that give them what they want of u[which]."""
    row = work.row
    for r in range(rows.shape[0]):
        row[P, r] = 0.0
        if work.flag[KEPT, r] != 0:
            want = rows[r].goal if which == U else rows[r].push
            row[P, r] = want - row_rate(work, reach, r, which)
    solve_envelope(work, P)
    _push(work, reach, which)


@kernel
def _push(work, reach, which):
    """u[which] += D⁻¹ Yᵀ row[P] of the eliminated rows."""
    u, D, link = reach.u[which], work.dof[INVERSE], work.link
    for d in range(D.shape[0]):
        total = 0.0
        for r in range(link[BEGIN, d], link[END, d]):
            if work.flag[KEPT, r] != 0:
                total += work.Y[d, r] * work.row[P, r]
        u[d] += D[d] * total


@inlined
def mark(patch, points):
    """Which points are loaded."""
    patch.touches = 0
    for i in range(patch.first, patch.first + patch.count):
        points[i].loaded = 1 if points[i].p[0] > 0.0 else 0
        patch.touches |= points[i].loaded


@kernel
def _gains(reach, patches, points, island, last):
    """Whether bounces have given an island energy, as Newton's law may with friction; then they are made weaker.

    Impulses do work on the mean of the velocities before and after; without bounces that is never positive.
    """
    work, size, bounces = 0.0, 0.0, False
    for k in range(reach.starts[0, island], reach.starts[0, island + 1]):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            bounces |= points[i].goal > 0.0
    if not bounces:
        return False
    for k in range(reach.starts[0, island], reach.starts[0, island + 1]):
        patch = patches[reach.order[k]]
        f, was, now = wrench(patch, points), get6(patch.free), relative_twist(reach, patch, U)
        before, after = 0.5 * dot6(f, was), 0.5 * dot6(f, now)
        work += before + after
        size += abs(before) + abs(after)
    if work <= _ROUNDING * size:
        return False
    for k in range(reach.starts[0, island], reach.starts[0, island + 1]):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            if points[i].goal > 0.0:
                points[i].goal *= 0.0 if last else 0.7
    return True


@kernel
def _recover(work, reach, rows, patches, points, count, sleep):
    """Impulses of the eliminated rows: those without contact (row[P]), and what the iterated impulses made of them."""
    row, link, D, bare = work.row, work.link, work.dof[INVERSE], reach.u[BARE]
    for d in range(D.shape[0]):
        bare[d] = 0.0
    for k in range(count):
        patch = patches[k]
        if patch.touches == 0 or _asleep(reach, patch.island, sleep):
            continue
        f = wrench(patch, points)
        for e in range(patch.y, patch.y + patch.ny):
            bare[reach.yi[e]] += dot6(get6(reach.Y[e]), f)
    for r in range(rows.shape[0]):
        if iterated(work, r) and rows[r].p != 0.0:
            for k in range(reach.row_first[r], reach.row_first[r + 1]):
                d = reach.row_dofs[k]
                bare[d] += work.Y[d, r] * rows[r].p
        row[RIGHT, r] = 0.0
    for d in range(D.shape[0]):
        if bare[d] != 0.0:
            for r in range(link[BEGIN, d], link[END, d]):
                if work.flag[KEPT, r] != 0:
                    row[RIGHT, r] -= work.Y[d, r] * D[d] * bare[d]
    solve_envelope(work, RIGHT)
    for r in range(rows.shape[0]):
        if work.flag[KEPT, r] != 0:
            rows[r].p = reach.row[ROW_ALONE, r] + row[RIGHT, r]


@kernel
def _aim_patch(reach, patch, points, h, slop):
    """What points want: no penetration at the end of the step, and a bounce where they hit fast enough."""
    w = relative_twist(reach, patch, BEFORE)
    set6(patch.w, w)
    free = relative_twist(reach, patch, U)
    set6(patch.free, free)
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        rate = dot6(get6(point.Jn), w)
        # Nearer than the slop is touching: corners of a resting face must not want different things, which no rigid
        # motion gives them, and bodies must not dance on rounding errors.
        point.goal = -point.gap / h if point.gap > slop else 0.0
        if patch.restitution > 0.0 and point.gap + h * rate <= 0.0 and -rate > patch.bounce:
            # Spin turns corners away within the step: no more may come back than would have hit.
            hit = max(rate, dot6(get6(point.Jn), free))
            point.goal = max(point.goal, -patch.restitution * hit)


@kernel
def _account(tables, work, reach, constraints, patches, points, count, t, h, energy, sleep):
    """Work of rows and contacts."""
    rows = constraints.rows
    for r in range(rows.shape[0]):
        row = rows[r]
        if work.flag[ON, r] != 0:
            end_row(tables, constraints, row, row.p, row_rate(work, reach, r, U), t, h, energy)
        elif _folded(work, reach, rows, r):
            after = row.sign * work.dof[DELTA, int(reach.row[ROW_DOF, r]) - 1]
            end_row(tables, constraints, row, row.p, after, t, h, energy)
    for k in range(count):
        patch = patches[k]
        if _asleep(reach, patch.island, sleep):
            continue
        w, was = relative_twist(reach, patch, U), get6(patch.w)
        mean = (
            0.5 * (w[0] + was[0]), 0.5 * (w[1] + was[1]), 0.5 * (w[2] + was[2]),
            0.5 * (w[3] + was[3]), 0.5 * (w[4] + was[4]), 0.5 * (w[5] + was[5]),
        )  # fmt: skip
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            p = point.p
            if p[0] > 0.0:
                energy[1] -= p[0] * dot6(get6(point.Jn), mean)
                if patch.friction > 0.0:
                    energy[1] -= p[1] * dot6(get6(point.Jt), mean) + p[2] * dot6(get6(point.Js), mean)
                if patch.rolling > 0.0 or patch.torsion > 0.0:
                    turn = (mean[0], mean[1], mean[2])
                    energy[1] -= p[3] * dot3(get3(point.n), turn)
                    energy[1] -= p[4] * dot3(get3(point.t), turn) + p[5] * dot3(get3(point.s), turn)


@kernel
def _follow(found, patch, points, w, h, slop):
    """The anchor moves on with what truly slips in this step, by its velocities; False if that is too fast."""
    c, count, along, across, fastest = (0.0, 0.0, 0.0), 0, 0.0, 0.0, 0.0
    first = points[patch.first]
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        if point.loaded != 0:
            a, b = dot6(get6(point.Jt), w), dot6(get6(point.Js), w)
            c, count = add3(c, get3(point.x)), count + 1
            along, across, fastest = along + a, across + b, max(fastest, abs(a) + abs(b))
    if h * fastest >= slop:
        return False
    R, p = get9(found.rotations[patch.i]), get3(found.positions[patch.i])
    n, t, s = get3(first.n), get3(first.t), get3(first.s)
    turn = scale3(h * dot3(n, (w[0], w[1], w[2])), _inverse(R, n))
    slip = _inverse(R, add3(scale3(h * along / count, t), scale3(h * across / count, s)))
    middle = _inverse(R, sub3(scale3(1.0 / count, c), p))
    anchor = patch.anchor
    moved = add3(slip, cross3(turn, sub3((anchor[9], anchor[10], anchor[11]), middle)))
    for k in range(3):
        column = cross3(turn, (anchor[k], anchor[3 + k], anchor[6 + k]))
        for m in range(3):
            anchor[3 * m + k] += column[m]
        anchor[9 + k] += moved[k]
    return True


@kernel
def _aim_places(reach, found, patches, points, count, h, options):
    """Pseudo velocities that points want; returns the deepest penetration [m]."""
    slop, erp, deepest = options[SLOP], options[ERP], 0.0
    for k in range(count):
        patch = patches[k]
        if _asleep(reach, patch.island, options[SLEEP]):
            continue
        w = relative_twist(reach, patch, U)
        slides = False
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            slides |= point.loaded != 0 and point.slides != 0
            deepest = max(deepest, -point.gap)
            # What will be left of the gap after this step, beyond the slop: more may not be used up.
            left = point.gap + slop + h * dot6(get6(point.Jn), w)
            point.push[0] = -left / h if left > 0.0 else -erp * left / h
            point.push[1], point.push[2] = 0.0, 0.0
        if patch.touches == 0 or patch.friction == 0.0:
            patch.anchored = 0
        elif patch.anchored != 0:
            _aim_back(found, patch, points, h, _STRAYED * slop)
            if slides and not _follow(found, patch, points, w, h, slop):
                patch.anchored = 0
    return deepest


@inlined
def _aim_back(found, patch, points, h, least):
    """Sticking points go back to where they began to stick, if they have strayed by more than `least`."""
    R, p = get9(found.rotations[patch.i]), get3(found.positions[patch.i])
    Q, q = get9(found.rotations[patch.j]), get3(found.positions[patch.j])
    anchor = patch.anchor
    strayed = 0.0
    for turn in range(2):
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            x = get3(point.x)
            on_a = _inverse(R, sub3(x, p))
            on_b = _inverse(Q, sub3(x, q))
            was = add3(rotate(get9(anchor), on_b), (anchor[9], anchor[10], anchor[11]))
            shift = rotate(R, sub3(on_a, was))
            along, across = dot3(shift, get3(point.t)), dot3(shift, get3(point.s))
            if turn == 0:
                strayed = max(strayed, max(abs(along), abs(across)))
            else:
                point.push[1], point.push[2] = -along / h, -across / h
        if strayed <= least:
            return


@inlined
def _inverse(R, x):
    """Rᵀ x."""
    return (
        R[0] * x[0] + R[3] * x[1] + R[6] * x[2],
        R[1] * x[0] + R[4] * x[1] + R[7] * x[2],
        R[2] * x[0] + R[5] * x[1] + R[8] * x[2],
    )


@inlined
def _to_shove(reach, rows, patches, points, island):
    """Whether anything in an island has to be moved."""
    for k in range(reach.starts[1, island], reach.starts[1, island + 1]):
        if rows[reach.row_order[k]].push != 0.0:
            return True
    for k in range(reach.starts[0, island], reach.starts[0, island + 1]):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            push = points[i].push
            if push[0] > 0.0 or push[1] != 0.0 or push[2] != 0.0:
                return True
    return False


@kernel
def _anchor(found, reach, patches, points, count, h, options):
    """Patches that begin to stick, or slip so slowly that it can be followed, remember where they are."""
    for k in range(count):
        patch = patches[k]
        if _asleep(reach, patch.island, options[SLEEP]):
            continue
        if patch.anchored == 0 and patch.touches != 0 and patch.friction > 0.0:
            w, fastest = relative_twist(reach, patch, U), 0.0
            for i in range(patch.first, patch.first + patch.count):
                if points[i].loaded != 0:
                    fastest = max(
                        fastest, abs(dot6(get6(points[i].Jt), w)) + abs(dot6(get6(points[i].Js), w))
                    )
            if h * fastest < options[SLOP]:
                pose_a = (get3(found.positions[patch.i]), get9(found.rotations[patch.i]))
                pose_b = (get3(found.positions[patch.j]), get9(found.rotations[patch.j]))
                R, p = relative_pose(pose_a, pose_b)
                set9(patch.anchor, R)
                patch.anchor[9], patch.anchor[10], patch.anchor[11] = p
                patch.anchored = 1


@kernel
def _close(tables, constraints, work, reach, q, v, delta):
    """Take back what a step of finite length has opened of joint equations, with the factors of its start."""
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
    bare = reach.u[BARE]
    for d in range(bare.shape[0]):
        bare[d] = 0.0
    solve_envelope(work, P)
    _push(work, reach, BARE)
    solve_outward(dofs, work.H, bare)
    for d in range(bare.shape[0]):
        delta[work.link[RATE, d]] = bare[d]
    retract(dofs, q, delta, q)


# --- sleep ---


@inlined
def _asleep(reach, island, sleep):
    return sleep > 0.0 and reach.rest[island] >= sleep


@kernel
def _wake(reach, islands, sleep):
    """An island sleeps if all of its mechanisms do; one that is touched by what is awake wakes."""
    for i in range(islands):
        reach.rest[i] = np.inf
    clusters = reach.still.shape[0]
    for c in range(clusters):
        i = reach.part[1, c]
        reach.rest[i] = min(reach.rest[i], reach.still[c])
    for c in range(clusters):
        if reach.rest[reach.part[1, c]] < sleep <= reach.still[c]:
            reach.still[c] = 0.0  # its weight is felt again from the next step on


@kernel
def _doze(work, reach, v, h):
    """Count how long mechanisms have been at rest; those with loads or drives never are."""
    for c in range(reach.still.shape[0]):
        fastest = 0.0
        for k in range(reach.cluster_first[c], reach.cluster_first[c + 1]):
            fastest = max(fastest, abs(v[work.link[RATE, reach.cluster_dofs[k]]]))
        reach.still[c] = reach.still[c] + h if fastest <= _SLOW and reach.restless[c] == 0 else 0.0


@woven
def _report(rows, stats, sweeps, cut, residual, deepest, count, found):
    gap, worst = 0.0, -1
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD and abs(rows[i].phi) > gap:
            gap, worst = abs(rows[i].phi), i
    stats[SWEEPS] += sweeps
    stats[MOST_SWEEPS] = max(stats[MOST_SWEEPS], sweeps)
    stats[CUT] += cut
    if gap > stats[GAP]:
        stats[GAP], stats[GAP_ROW] = gap, worst
    stats[LAST_SWEEPS], stats[LAST_CUT], stats[LAST_GAP], stats[LAST_ROW] = sweeps, cut, gap, worst
    stats[DEEPEST] = max(stats[DEEPEST], deepest)
    stats[LAST_DEPTH] = deepest
    stats[CONTACTS] = count
    if cut != 0:
        stats[RESIDUAL] = max(stats[RESIDUAL], residual)


@kernel
def run_contact(
    tables, constraints, colliders, work, found, reach, space, state, mean, stats, events, event_count, h,
    options, targets, out,
):  # fmt: skip
    """Steps of size h with a sample at each step count in `targets`; returns (samples, status).

    `mean`: accelerations over the last step before a target.
    """
    t0, clock = state.clock.origin, state.clock
    for row in range(targets.shape[0]):
        while clock.steps < targets[row]:
            t, left, span = t0 + clock.steps * h, h, 0.0
            if clock.steps + 1 == targets[row]:
                begin_mean(mean, state.v)
            while left > 0.0:  # in one go, unless an element is sampled within the step
                span = up_to_sample(constraints, t, left)
                status = step(
                    tables, constraints, colliders, work, found, reach, space, state.q, state.v, state.work,
                    work.dof[RESPONSE], t, span, options, stats,
                )  # fmt: skip
                if status != OK:
                    return row, status
                t, left = t + span, left - span
            clock.steps += 1
            clock.taken += 1
            clock.now = t0 + clock.steps * h
            if clock.steps == targets[row]:
                end_mean(mean, state.v, h)
            _note_events(found, events, event_count, stats, clock.now)
            status = finite(state.v, clock, h)
            if status != OK:
                return row, status
            if 2 * event_count[0] > events.shape[0]:
                return row, FULL
        sample(state, out.t, out.q, out.v, out.work, row, clock.now)
        strain = read_joints(
            tables, constraints, state.q, state.v, clock.now, out.values[row], out.rates[row]
        )
        sample_means(constraints, mean, clock.taken, h, out, row)
        solver = out.solver
        solver[row, 0], solver[row, 1], solver[row, 2] = strain, stats[LAST_SWEEPS], stats[LAST_GAP]
        solver[row, 3], solver[row, 4] = stats[CONTACTS], stats[LAST_DEPTH]
        _sample_forces(found, colliders.mounts, clock.taken, h, solver, row)
    return targets.shape[0], OK


@kernel
def _sample_forces(found, mounts, steps, h, solver, row):
    """Sum of the contact forces on each owner of shapes, mean of the last step [N]; behind five other numbers."""
    side = found.counts[SIDE]
    for k in range(REPORT, solver.shape[1]):
        solver[row, k] = 0.0 if steps > 0 else np.nan
    for k in range(found.counts[PATCHES]):
        patch = found.patches[side, k]
        a, b = REPORT + 3 * mounts[patch.i].owner, REPORT + 3 * mounts[patch.j].owner
        for i in range(patch.first, patch.first + patch.count):
            point = found.points[side, i]
            if point.p[0] <= 0.0:
                continue
            for axis in range(3):
                push = point.p[0] * point.n[axis] + point.p[1] * point.t[axis] + point.p[2] * point.s[axis]
                solver[row, a + axis] -= push / h
                solver[row, b + axis] += push / h


@woven
def _note_events(found, events, event_count, stats, t):
    """Pairs of shapes that began or ceased to push each other in this step: (time, shape, shape, 1 or -1)."""
    side = found.counts[SIDE]
    old_side = 1 - side
    for k in range(found.counts[PATCHES]):
        patch = found.patches[side, k]
        was = 0
        if patch.old >= 0:
            was = found.patches[old_side, patch.old].touches
            found.patches[old_side, patch.old].touches = 0
        if patch.touches != was:
            _note(events, event_count, stats, t, patch.i, patch.j, 1.0 if patch.touches != 0 else -1.0)
    for k in range(found.counts[OLD_PATCHES]):
        old = found.patches[old_side, k]
        if old.touches != 0:
            old.touches = 0
            _note(events, event_count, stats, t, old.i, old.j, -1.0)


@woven
def _note(events, event_count, stats, t, i, j, sign):
    at = event_count[0]
    if at == events.shape[0]:
        stats[EVENTS_LOST] += 1
        return
    events[at, 0], events[at, 1], events[at, 2], events[at, 3] = t, i, j, sign
    event_count[0] = at + 1
