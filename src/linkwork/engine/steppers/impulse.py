"""The velocity-level step: semi-implicit Euler, every force of a row or contact an impulse within its bounds.

The mechanism moves freely for a step; then impulses keep joint equations, limits, friction, drives and contacts at the
velocities of its end, and pseudo impulses, which never enter the motion, take back what gaps there are (split impulses;
Strashnov and Mikhaylyuk, "Simulation of restrictions for the relative motion of articulated rigid bodies").

A step reads: evaluate rows and free motion, detect, set targets, solve (`sweeps.solve_rows`, or `contact.solve_contact`
where things may touch), account, move. What a model does not need is None, and branches on that are left out of its
compiled code: without contact the step is as small as one written for it alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..control.act import pass_between
from ..control.sensors import sense_forces
from ..coordinates.tree import place, retract
from ..elements.impulse import end_rows
from ..elements.respond import up_to_sample
from ..kernels.jit import kernel, woven
from ..kernels.rows import measure
from ..kernels.tape import SWITCH, joints_wait, push_tape
from .bounce import end_patches
from .contact import solve_contact
from .eliminate import close_loops
from .samples import largest_gap, write_sample
from .sleep import doze
from .state import OK, count_step, finite
from .sweeps import solve_rows
from .touch_log import note_events, sample_contact

FULL = 13
"""The list of events is nearly full: read it, and come again."""

OPTIONS = np.dtype(
    [
        ("step", "f8"),  # its size [s]
        ("erp", "f8"),  # share of a gap, or of a penetration beyond the slop, that is removed in a step
        ("epsilon", "f8"),  # change of impulses at which iterations end [N s]
        ("tolerance", "f8"),  # residual at which iterations over contacts end [m/s],
        ("swept", "f8"),  # and that of islands that are too large to be solved at once [m/s]
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
        ("residual", "f8"),  # largest at the end of a step that was cut short [m/s]
        ("events_lost", "i8"),  # beginnings and ends of contact that there was no room for
        # --- of the last step ---
        ("last_sweeps", "i8"),
        ("last_cut", "i8"),
        ("last_gap", "f8"),  # at its start
        ("last_row", "i8"),
        ("last_depth", "f8"),
        ("last_residual", "f8"),  # of contacts and rows with bounds [m/s]
        ("contacts", "i8"),  # pairs of shapes that touch, or nearly so
        # --- between two calls ---
        ("waiting", "i8"),  # events that wait to be read
        ("left", "f8"),  # rest of a step that had to be interrupted [s]
    ]
)


class Plan(NamedTuple):
    """How steps are made, how they went, and vectors that they leave."""

    options: np.ndarray
    """A table of one record of `OPTIONS`."""
    stats: np.ndarray
    """A table of one record of `STATS`."""
    mean: np.ndarray
    """Mean accelerations over the last step before a sample."""
    ahead: np.ndarray
    """Mean rates of a step less those at its end: what free rotation adds."""
    delta: np.ndarray
    """Pseudo rates, then displacements of a step."""
    after: np.ndarray
    """Rates of rows at the end of a step."""


@woven
def account(tables, constraints, contact, state, plan, t, h):
    """Work of the impulses of a step of h from time t, states of elements at its end, and the largest gap."""
    end_rows(tables, constraints, plan.after, t, h, state.work)
    if constraints.tape.shape[0] > 0:
        push_tape(constraints.tape, h)
        sense_forces(constraints, h)
    if contact is not None:
        end_patches(contact.reach, contact.found, state.work, plan.options[0].sleep)
    plan.stats[0].last_gap, plan.stats[0].last_row = largest_gap(constraints.rows)


@woven
def move(tables, constraints, contact, state, plan, h):
    """Coordinates move with the rates of the end of a step, what free rotation adds, and pseudo rates."""
    q, v, ahead, delta = state.q, state.v, plan.ahead, plan.delta
    for i in range(v.shape[0]):
        delta[i] = h * (v[i] + ahead[i] + delta[i])
    retract(tables.dofs, q, delta, q)
    if contact is not None:
        close_loops(tables, constraints, contact.work, contact.reach, q, delta)
        if plan.options[0].sleep > 0.0:
            doze(contact.work, contact.reach, v, h)


@kernel
def run_impulses(tables, constraints, matrix, contact, state, plan, targets, out):
    """Steps of equal size with a sample at each step count in `targets`; returns (samples, status).

    matrix, contact: what the solver works on; one of them is None.
    """
    stats, h, clock = plan.stats[0], plan.options[0].step, state.clock
    for k in range(targets.shape[0]):
        while clock.steps < targets[k]:
            last = clock.steps + 1 == targets[k]
            left = h
            if stats.left > 0.0:  # the rest of a step that was interrupted for want of room
                left, stats.left = stats.left, 0.0
            else:
                _begin_step(plan, state.v, last)
            t = clock.origin + clock.steps * h + (h - left)
            while left > 0.0:  # in one go, unless an element is sampled within the step
                span = up_to_sample(constraints, t, left)
                # These branches stand here, not in a woven function: such a one is taken in whole before branches are
                # left out, and models without contact would take a third longer to compile.
                if matrix is not None:
                    solve_rows(tables, constraints, matrix, state, plan, t, span)
                if contact is not None:
                    status = solve_contact(tables, constraints, contact, state, plan, t, span)
                    if status != OK:
                        stats.left = left
                        return k, status
                account(tables, constraints, contact, state, plan, t, span)
                move(tables, constraints, contact, state, plan, span)
                t, left = t + span, left - span
            count_step(clock, h)
            _end_step(plan, state.v, last)
            if contact is not None:
                note_events(contact.found, contact.events, stats, clock.now)
            status = finite(state.v, clock, h)
            if status != OK:
                return k, status
            if joints_wait(constraints.tape):
                return k, SWITCH
            if contact is not None and 2 * stats.waiting > contact.events.shape[0]:
                return k, FULL
        if clock.taken == 0 and constraints.tape.shape[0] > 0:
            begin_diagram(tables, constraints, state)
        for i in range(constraints.rows.shape[0]):
            constraints.rows[i].force = constraints.rows[i].p / h if clock.taken > 0 else np.nan
        write_sample(
            tables, constraints, constraints, state.q, state.v, plan.mean, state.work, clock.now,
            stats.last_sweeps, out, k,
        )  # fmt: skip
        out.solver[k, 2] = stats.last_gap
        if contact is not None:
            mounts = contact.colliders.mounts
            sample_contact(contact.found, mounts, contact.pairs, stats, clock.taken, h, out.solver[k])
    return targets.shape[0], OK


@kernel
def begin_diagram(tables, constraints, state):
    """Values of the diagram before the first step."""
    place(tables.dofs, tables.islands, state.q, state.v)
    measure(tables, constraints, state.q)
    pass_between(tables, constraints, state.v, state.clock.now)


@woven
def _begin_step(plan, v, last):
    """Counts of a step begin; if it is the last before a sample, its rates are kept for the mean accelerations."""
    plan.stats[0].last_sweeps, plan.stats[0].last_cut = 0, 0
    if last:
        for i in range(v.shape[0]):
            plan.mean[i] = v[i]


@woven
def _end_step(plan, v, last):
    """Statistics of a step that has been taken; if it is the last before a sample, mean accelerations over it."""
    stats, h = plan.stats[0], plan.options[0].step
    stats.sweeps += stats.last_sweeps
    stats.most_sweeps = max(stats.most_sweeps, stats.last_sweeps)
    stats.cut += 1 if stats.last_cut != 0 else 0
    if stats.last_gap > stats.gap:
        stats.gap, stats.gap_row = stats.last_gap, stats.last_row
    if last:
        for i in range(v.shape[0]):
            plan.mean[i] = (v[i] - plan.mean[i]) / h
