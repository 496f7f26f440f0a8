"""The solver of a step in which things may touch: rows eliminated or iterated, contact iterated by islands.

With the direct solver, rows without bounds are eliminated, and what is iterated is contact, limits and friction alone;
with sequential impulses all rows are iterated. Pseudo impulses, which never enter the motion, take back what gaps,
penetrations and shifts of sticking points there are (split impulses).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..contact.detect import NO_ROOM, detect
from ..coordinates.factor import inertia
from ..coordinates.gyroscopic import turn_freely
from ..coordinates.tree import place
from ..elements.impulse import set_targets
from ..kernels.clock import cycles
from ..kernels.jit import apart, inlined, kernel, woven
from ..kernels.tape import begin_anew
from ..loads import apply_loads
from ..solvers.islands import find_islands
from ..solvers.layout import DELTA, FORCE, LOAD
from ..solvers.mobility import prepare_points, reach_patch, reach_row
from ..solvers.patch_basis import spread
from ..solvers.reach import answer_row, iterated
from ..solvers.relax import warm
from ..solvers.saddle import factor_saddle, measure_rates, outward
from ..solvers.settle import settle_island
from ..solvers.shove import shove_island, to_shove
from .anchors import aim_places, anchor_patches
from .bounce import aim_patch, gains_energy, mark_loaded
from .eliminate import (
    answer_at_once,
    eliminate_rows,
    fold_rows,
    guess_rows,
    guessed_wrong,
    push_at_once,
    rates_after,
    recover_rows,
)
from .joint_rows import couple, evaluate_rows
from .sleep import asleep, wake
from .state import DISSIPATED, OK, SUPPLIED

NO_PAIRS, NO_POOL = 11, 12
"""A step needs more room, for pairs of shapes or for what patches reach: enlarge, and come again."""

_GUESSES = 4  # of which rows with bounds are within them
_SOFTER = 8  # times that bounces which would gain energy are made weaker, the last time to nothing
_FINE_SHOVE = 1e-4  # pseudo impulses are good enough when this share of the slop is left


class Contact(NamedTuple):
    """What a step needs beside rows where things may touch."""

    colliders: Any
    """Shapes and materials."""
    work: Any
    """Rows in joint space and what eliminates them: `layout.Work`."""
    found: Any
    """Patches and points of this step and the last."""
    reach: Any
    """What they act on."""
    space: Any
    """Working memory of solutions of whole islands."""
    events: Any
    """Beginnings and ends of contact that wait to be read: records of `EVENT`."""
    pairs: Any
    """Owners of shapes whose forces on each other are sampled: n × 2."""


@woven
def solve_contact(tables, constraints, contact, state, plan, t, h):
    """Impulses of rows and contacts in a step of h from time t => rates at its end, pseudo rates (plan.delta), rates of
    rows (plan.after). Returns OK, or NO_PAIRS or NO_POOL with nothing changed."""
    found, reach, options, stats = contact.found, contact.reach, plan.options[0], plan.stats[0]
    rows, v, work = constraints.rows, state.v, contact.work
    deadline = cycles() + options.budget
    begin_anew(constraints.tape, 0)
    evaluate_rows(tables, constraints, work, state.q, v, t)  # (q, v, t) => R r S V I p, J, phi, rate
    turn_freely(tables.dofs, h, plan.ahead)  # V => p, ahead
    if detect(tables.dofs, tables.islands, contact.colliders, found, h, options.near) == NO_ROOM:
        return NO_PAIRS
    set_targets(tables, constraints, t, h, options.erp)
    side, count = found.counts[0].side, found.counts[0].patches
    patches, points = found.patches[side], found.points[side]

    # Rows with bounds that were within them a step ago are taken to be so still, unless that proves wrong.
    guess_rows(work, reach, constraints, options)
    sweeps, cut, residual, islands, eliminated = 0, 0, 0.0, 0, False
    for attempt in range(_GUESSES):
        _begin_again(points, found.counts[0].points, attempt > 0)
        if attempt > 0:  # the last one has left composite inertias behind
            place(tables.dofs, tables.islands, state.q, v)
            if tables.loads.shape[0] > 0:
                apply_loads(tables, state.q, v, t)
            turn_freely(tables.dofs, h, plan.ahead)
        eliminated = _move_freely(tables, constraints, work, reach, v, h, options)
        islands = find_islands(work, reach, patches, count, rows)
        if options.sleep > 0.0:
            wake(reach, islands, options.sleep)
        if not _reach_all(tables, work, reach, rows, patches, points, count, h, options):
            found.counts[0].side, found.counts[0].patches = 1 - side, found.counts[0].old_patches
            return NO_POOL
        sweeps, cut, residual = 0, 0, 0.0
        for i in range(islands):
            if not _to_solve(reach, i, options.sleep):
                continue
            took, short, change = _solve_island(
                work, reach, contact.space, rows, patches, points, i, options, deadline
            )
            sweeps, cut, residual = max(sweeps, took), max(cut, short), max(residual, change)
        for k in range(count):
            if not asleep(reach, patches[k].island, options.sleep):
                mark_loaded(patches[k], points)
        recover_rows(work, reach, rows, patches, points, count, options.sleep, v, eliminated)
        if not guessed_wrong(constraints, work, reach, options.tolerance, attempt == _GUESSES - 2):
            break
    rates_after(work, reach, rows, plan.after)
    stats.last_sweeps += sweeps
    stats.last_cut += cut
    stats.contacts, stats.last_residual = count, residual
    if cut != 0:
        stats.residual = max(stats.residual, residual)
    moved = push_at_once(work, reach, rows, eliminated)
    if _shove(work, contact, rows, plan, islands, h, deadline) or moved:
        outward(work.K, work.near, work.link, reach.pseudo)
    for d in range(work.J.shape[0]):
        i = work.link[d].rate
        v[i] = work.dof[DELTA, d]
        plan.delta[i] = reach.pseudo[d]
    state.work[SUPPLIED] += h * work.report[0].loads_supplied
    state.work[DISSIPATED] += h * work.report[0].loads_dissipated
    return OK


@kernel
def _begin_again(points, count, again):
    """Remember the impulses that a step begins with, or go back to them: a servo that was taken to have any strength
    may have jammed something in between."""
    for i in range(count):
        point = points[i]
        for m in range(6):
            if again:
                point.p[m] = point.warm[m]
            else:
                point.warm[m] = point.p[m]


@woven
def _shove(work, contact, rows, plan, islands, h, deadline):
    """Pseudo velocities where something has to be moved, and anchors where patches stick; whether anything is moved."""
    found, reach, options, stats = contact.found, contact.reach, plan.options[0], plan.stats[0]
    side, count = found.counts[0].side, found.counts[0].patches
    patches, points = found.patches[side], found.points[side]
    deepest = aim_places(reach, found, patches, points, count, h, options)
    stats.last_depth = deepest
    stats.deepest = max(stats.deepest, deepest)
    enough, moved = _FINE_SHOVE * options.slop / h, False
    for i in range(islands):
        if not asleep(reach, i, options.sleep) and to_shove(reach, rows, patches, points, i):
            shove_island(work, reach, rows, patches, points, i, enough, options.swept, deadline)
            moved = True
    anchor_patches(found, reach, patches, points, count, h, options)
    return moved


@woven
def _move_freely(tables, constraints, work, reach, v, h, options):
    """Inertia factored with the rows that are folded in or embedded, u = L v + h D⁻¹ (forces), and other rows
    eliminated from it; returns whether there are any of these."""
    rows, u, wanted = constraints.rows, reach.u, options.eliminate != 0
    inertia(tables.dofs, work.H, work.dof[LOAD])
    fold_rows(work, reach, rows, h, wanted)
    factor_saddle(work, 0.0)
    measure_rates(work, v, reach.before)
    answer_at_once(work, FORCE, reach.before, u)
    couple(work)
    if options.sleep > 0.0:
        for d in range(u.shape[0]):
            if reach.clusters[reach.dofs[d].cluster].still >= options.sleep:
                u[d] = 0.0
    return eliminate_rows(work, reach, rows, wanted)


@kernel
def _reach_all(tables, work, reach, rows, patches, points, count, h, options):
    """What patches and iterated rows reach, and what they want; False if there is no room for it.

    All parts by themselves: bundled, they would be unpacked at every call.
    """
    reach.used[0].y, reach.used[0].z, reach.used[0].row_z = 0, 0, 0
    for k in range(count):
        patch = patches[k]
        if asleep(reach, patch.island, options.sleep):
            continue
        if not reach_patch(tables.dofs, tables.islands, work, reach, patch):
            return False
        prepare_points(patch, points)
        aim_patch(reach, patch, points, h, options.slop)
    for r in range(rows.shape[0]):
        row = rows[r]
        if iterated(work, r):
            if not reach_row(work, reach, rows, r):
                return False
            row.p = min(max(row.p, row.lo), row.hi)
            answer_row(reach, r, row.p, reach.u)
        elif row.active == 0:
            row.p = 0.0
    return True


@inlined
def _to_solve(reach, island, sleep):
    """Whether there are impulses to find in an island."""
    this, following = reach.islands[island], reach.islands[island + 1]
    return (this.patch < following.patch or this.row < following.row) and not asleep(reach, island, sleep)


@apart
def _solve_island(work, reach, space, rows, patches, points, island, options, deadline):
    """Impulses of an island; returns (sweeps, cut short, last change).

    All parts by themselves, as in `_reach_all`.
    """
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    took, short, change = 0, 0, 0.0
    for k in range(first, last):
        patch = patches[reach.order[k]]
        if options.eliminate == 0:
            spread(space, patch, points, options.slop)
        warm(reach, patch, points)
    for attempt in range(_SOFTER):
        took, short, change = settle_island(
            work, reach, space, rows, patches, points, island, options, deadline
        )
        if not gains_energy(reach, patches, points, island, attempt == _SOFTER - 2):
            break
    return took, short, change
