"""The velocity-level step: semi-implicit Euler, every force of a row or contact an impulse within its bounds.

The mechanism moves freely for a step; then impulses keep joint equations, limits, friction, drives and contacts at the
velocities of its end, and pseudo impulses, which never enter the motion, take back what gaps there are (split impulses;
Strashnov and Mikhaylyuk, "Simulation of restrictions for the relative motion of articulated rigid bodies").

A model in which nothing can touch has None for `contact`: its branches are then left out of the compiled code, and the
step is as small as one written for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..contact.detect import NO_ROOM, PATCHES, SIDE, detect
from ..coordinates.tree import retract
from ..elements.impulse import end_rows, set_targets
from ..elements.respond import up_to_sample
from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel, woven
from ..tables import Constraints, Tables
from .bounce import end_patches
from .contact import evaluate_with_contact, solve_contact
from .eliminate import close_loops
from .samples import largest_gap, write_sample
from .sleep import doze
from .state import DISSIPATED, OK, SUPPLIED, State, count_step, finite
from .sweeps import evaluate_rows, solve_rows
from .touch_log import note_events, sample_contact

NO_PAIRS, NO_POOL, FULL = 11, 12, 13
"""A step needs more room, for pairs of shapes or for what patches reach: enlarge, and come again; or the list of
events is nearly full: read it, and come again."""

OPTIONS = np.dtype(
    [
        ("step", "f8"),  # its size [s]
        ("erp", "f8"),  # share of a gap, or of a penetration beyond the slop, that is removed in a step
        ("epsilon", "f8"),  # change of impulses at which iterations end [N s]
        ("tolerance", "f8"),  # change of velocities at which iterations over contacts end [m/s]
        ("most_sweeps", "i8"),  # limit of iterations a step
        ("budget", "i8"),  # clock ticks that a step may take
        ("blocks", "i8"),  # 1 to solve the equations of each joint together, where nothing can touch
        ("eliminate", "i8"),  # 1 to solve for rows within their bounds at once, where things may touch
        ("slop", "f8"),  # penetration that is left alone [m]
        ("near", "f8"),  # shapes nearer than this are looked at even if nothing moves [m]
        ("sleep", "f8"),  # islands that have been at rest for so long are left alone [s]; 0: never
    ]
)

STATS = np.dtype(
    [
        ("sweeps", "i8"),  # since the start
        ("most_sweeps", "i8"),  # of a step
        ("cut", "i8"),  # steps that ended before impulses settled
        ("gap", "f8"),  # largest gap of a joint equation so far, and its row [m or rad]
        ("gap_row", "i8"),
        ("deepest", "f8"),  # penetration [m]
        ("residual", "f8"),  # largest change of a velocity at the end of a step that was cut short [m/s]
        ("events_lost", "i8"),  # beginnings and ends of contact that there was no room for
        # --- of the last step ---
        ("last_sweeps", "i8"),
        ("last_cut", "i8"),
        ("last_gap", "f8"),  # at its start
        ("last_row", "i8"),
        ("last_depth", "f8"),
        ("contacts", "i8"),  # pairs of shapes that touch, or nearly so
        # --- between two calls ---
        ("waiting", "i8"),  # events that wait to be read
        ("left", "f8"),  # rest of a step that had to be interrupted [s]
    ]
)


class Run(NamedTuple):
    """A mechanism on its way: everything that steps read and write, beside contact."""

    tables: Tables
    constraints: Constraints
    work: Any
    """Of the solver: `sweeps.Matrix` or, with contact, `layout.Work`."""
    state: State
    options: np.record
    stats: np.record
    mean: np.ndarray
    """Mean accelerations over the last step before a sample."""
    ahead: np.ndarray
    """Mean rates of a step less those at its end: what free rotation adds."""
    delta: np.ndarray
    """Pseudo rates, then displacements of a step."""
    after: np.ndarray
    """Rates of rows at the end of a step."""


@woven
def step(run, contact, t, h):
    """One step of h from time t; returns OK, or NO_PAIRS or NO_POOL with nothing changed."""
    tables, constraints, state, options = run.tables, run.constraints, run.state, run.options
    q, v, energy = state.q, state.v, state.work
    deadline = cycles() + options.budget
    if contact is None:
        supplied, dissipated = evaluate_rows(tables, constraints, run.work, q, v, t, h, run.ahead)
        set_targets(tables, constraints, t, h, options.erp)
        solve_rows(tables, constraints, run.work, v, run.delta, run.after, h, options, run.stats, deadline)
    else:
        supplied, dissipated = evaluate_with_contact(tables, constraints, run.work, q, v, t, h, run.ahead)
        if detect(tables, contact.colliders, contact.found, h, options.near) == NO_ROOM:
            return NO_PAIRS
        set_targets(tables, constraints, t, h, options.erp)
        if not solve_contact(run, contact, t, h, deadline):
            return NO_POOL
    energy[SUPPLIED] += h * supplied
    energy[DISSIPATED] += h * dissipated
    end_rows(tables, constraints, run.after, t, h, energy)
    if contact is not None:
        found, side = contact.found, contact.found.counts[SIDE]
        end_patches(
            contact.reach,
            found.patches[side],
            found.points[side],
            found.counts[PATCHES],
            energy,
            options.sleep,
        )
    run.stats.last_gap, run.stats.last_row = largest_gap(constraints.rows)
    move(tables.dofs, q, v, run.ahead, run.delta, h)
    if contact is not None:
        close_loops(tables, constraints, run.work, contact.reach, q, v, run.delta)
        if options.sleep > 0.0:
            doze(run.work, contact.reach, v, h)
    return OK


@inlined
def move(dofs, q, v, ahead, delta, h):
    """Coordinates move with the rates of the end of a step, what free rotation adds, and the pseudo rates in delta."""
    for i in range(v.shape[0]):
        delta[i] = h * (v[i] + ahead[i] + delta[i])
    retract(dofs, q, delta, q)


@kernel
def run_impulses(run, contact, targets, out):
    """Steps of equal size with a sample at each step count in `targets`; returns (samples, status)."""
    constraints, state, stats, h = run.constraints, run.state, run.stats, run.options.step
    clock = state.clock
    for k in range(targets.shape[0]):
        while clock.steps < targets[k]:
            last = clock.steps + 1 == targets[k]
            left = h
            if stats.left > 0.0:  # the rest of a step that was interrupted for want of room
                left, stats.left = stats.left, 0.0
            else:
                _begin_step(run, last)
            t = clock.origin + clock.steps * h + (h - left)
            while left > 0.0:  # in one go, unless an element is sampled within the step
                span = up_to_sample(constraints, t, left)
                status = step(run, contact, t, span)
                if status != OK:
                    stats.left = left
                    return k, status
                t, left = t + span, left - span
            count_step(clock, h)
            _end_step(run, last)
            if contact is not None:
                note_events(contact.found, contact.events, stats, clock.now)
            status = finite(state.v, clock, h)
            if status != OK:
                return k, status
            if contact is not None and 2 * stats.waiting > contact.events.shape[0]:
                return k, FULL
        for i in range(constraints.rows.shape[0]):
            constraints.rows[i].force = constraints.rows[i].p / h if clock.taken > 0 else np.nan
        write_sample(
            run.tables, constraints, constraints, state.q, state.v, run.mean, state.work, clock.now,
            stats.last_sweeps, out, k,
        )  # fmt: skip
        out.solver[k, 2] = stats.last_gap
        if contact is not None:
            sample_contact(contact.found, contact.colliders.mounts, stats, clock.taken, h, out.solver[k])
    return targets.shape[0], OK


@inlined
def _begin_step(run, last):
    """Counts of a step begin; if it is the last before a sample, its rates are kept for the mean accelerations."""
    run.stats.last_sweeps, run.stats.last_cut = 0, 0
    if last:
        for i in range(run.mean.shape[0]):
            run.mean[i] = run.state.v[i]


@inlined
def _end_step(run, last):
    """Statistics of a step that has been taken; if it is the last before a sample, mean accelerations over it."""
    stats, v, h = run.stats, run.state.v, run.options.step
    stats.sweeps += stats.last_sweeps
    stats.most_sweeps = max(stats.most_sweeps, stats.last_sweeps)
    stats.cut += 1 if stats.last_cut != 0 else 0
    if stats.last_gap > stats.gap:
        stats.gap, stats.gap_row = stats.last_gap, stats.last_row
    if last:
        for i in range(run.mean.shape[0]):
            run.mean[i] = (v[i] - run.mean[i]) / h
