"""What changes at once: modes of rows at an event, impacts at limits, and steps taken by impulses."""

import numpy as np

from ..coordinates.gyroscopic import turn_freely
from ..coordinates.tree import retract
from ..elements.impulse import end_row, set_targets
from ..elements.respond import choose_piece
from ..kernels.jit import apart, kernel, woven
from ..kernels.signal import signal_value
from ..kernels.tape import begin_anew, push_tape
from ..solvers.box import solve_box
from ..solvers.layout import (
    AHEAD,
    DELTA,
    FORCE,
    HI,
    LO,
    LOAD,
    ON,
    SIDE,
    SOFT,
    SUM,
    WANT,
    P,
)
from ..tables import FREE, FRICTION, GIVEN, HELD, HIGH, HOLD, LIMIT, LOW, SERVO_RATE
from .events import STOPPED
from .joint_rows import evaluate_rows, respond_to, times, weigh
from .row_forces import begin_forces

NEAR, RESTING = 1e-7, 3e-5
"""At an event, limits this near and this slow are taken as closed, and their force says whether they open: else two
limits of one joint would hit each other open for ever, in ever smaller bounces [rad or m, rad/s or m/s]."""


@kernel
def let_go(row):
    """A kept row whose force has come to its bound opens, or slides the way it was pushed.

    Nothing else is asked, for at that moment its force is still within its bound, to rounding.
    """
    if row.role == LIMIT:
        row.mode = FREE
    else:
        row.mode = LOW if row.force < 0.0 else HIGH


@woven
def set_modes(tables, constraints, t, event):
    """Modes from gaps and rates."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.role == HOLD:
            continue
        if i == event and row.mode == HELD:  # its force is used up
            row.mode = FREE if row.role == LIMIT else LOW if row.force < 0.0 else HIGH
        elif row.role == LIMIT:
            touching = row.phi <= NEAR or i == event
            row.mode = HELD if touching and row.rate <= RESTING else FREE
        elif row.role == FRICTION or row.role == SERVO_RATE:
            goal = 0.0
            if row.input >= 0:
                goal = constraints.inputs[row.input] * signal_value(tables, row.signal, t)
            slip = row.rate - goal
            if abs(slip) <= STOPPED or i == event or row.strength == np.inf:
                row.mode = HELD
            else:
                row.mode = LOW if slip > 0.0 else HIGH
        else:
            row.mode = GIVEN
            if row.pieces != 0:
                choose_piece(row, i == event)


@kernel
def aim_impact(constraints, work, event):
    """Rows that take part in an impact, and the changes of their rates that they want (ON, SIDE, SOFT, WANT, LO, HI);
    returns whether a limit is hit."""
    rows, row, flag = constraints.rows, work.row, work.flag
    hit = False
    for i in range(rows.shape[0]):
        record = rows[i]
        flag[ON, i] = 0
        flag[SIDE, i] = HELD
        row[SOFT, i] = 0.0
        row[WANT, i] = 0.0
        row[LO, i], row[HI, i] = -np.inf, np.inf
        if record.role == HOLD:
            flag[ON, i] = 1 if record.mode != FREE else 0
            row[WANT, i] = -record.rate
        elif record.role == LIMIT:
            if record.phi <= NEAR or i == event:
                flag[ON, i] = 1
                row[LO, i] = 0.0
                bounce = -record.value[0] * record.rate
                row[WANT, i] = (bounce if bounce > record.value[1] else 0.0) - record.rate
                hit |= record.rate < -RESTING
        elif record.role == SERVO_RATE:
            flag[ON, i] = 1 if record.strength == np.inf else 0
        elif record.inertia > 0.0:
            flag[ON, i] = 1
            row[SOFT, i] = 1.0 / record.inertia
    return hit


# Apart, as is the end of a leap: rare, and a loop that has to compile them, too, is ready seconds later.
@apart
def impact(tables, constraints, work, v, energy, t, event):
    """Impulses at limits that are hit, on assembled rows; returns whether there were any.

    Finite forces have no time to act; rows without bounds, and rotors, do. Newton's law of restitution.
    """
    rows, row, flag = constraints.rows, work.row, work.flag
    if not aim_impact(constraints, work, event):
        return False
    begin_forces(work, LOAD, 0.0, 0.0)
    solve_box(work)
    delta = work.dof[DELTA]
    respond_to(work, FORCE, P, delta)
    for i in range(v.shape[0]):
        v[i] += delta[i]
    times(work, work.J, v, row[SUM])
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0:
            end_row(tables, constraints, rows[i], row[P, i], row[SUM, i], t, 0.0, energy)
    return True


@kernel
def aim_leap(constraints, work):
    """(targets of rows) => which of them take part in a step by impulses, the changes of their rates that they want,
    softness and bounds (ON, SIDE, SOFT, WANT, LO, HI)."""
    rows, row, flag = constraints.rows, work.row, work.flag
    for i in range(rows.shape[0]):
        flag[ON, i] = 0 if rows[i].role == HOLD and rows[i].mode == FREE else rows[i].active
        flag[SIDE, i] = HELD
        row[SOFT, i], row[LO, i], row[HI, i] = rows[i].soft, rows[i].lo, rows[i].hi
        row[WANT, i] = rows[i].goal - rows[i].rate


@woven
def leap(tables, constraints, work, motion, t, h):
    """(trial at t) => trial at t + h by semi-implicit Euler with all rows as impulses within their bounds."""
    n = motion.a.shape[0]
    begin_anew(constraints.tape, 0)
    evaluate_rows(tables, constraints, work, motion.q_trial, motion.y_trial[n : 2 * n], t)
    turn_freely(tables.dofs, h, work.dof[AHEAD])
    weigh(tables.dofs, work)
    _land(tables, constraints, work, motion, t, h)


@apart
def _land(tables, constraints, work, motion, t, h):
    """(evaluated trial at t) => trial at t + h."""
    rows, row, flag, n = constraints.rows, work.row, work.flag, motion.a.shape[0]
    q, delta, v = motion.q_trial, motion.y_trial[:n], motion.y_trial[n : 2 * n]
    energy = motion.y_trial[2 * n :]
    energy[0] += h * work.report[0].loads_supplied
    energy[1] += h * work.report[0].loads_dissipated
    set_targets(tables, constraints, t, h, 0.0)
    aim_leap(constraints, work)
    begin_forces(work, LOAD, h, 0.0)
    solve_box(work)
    respond_to(work, FORCE, P, delta)
    for i in range(v.shape[0]):
        v[i] += delta[i]
        delta[i] = h * (v[i] + work.dof[AHEAD, i])
    times(work, work.J, v, row[SUM])
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0:
            end_row(tables, constraints, rows[i], row[P, i], row[SUM, i], t, h, energy)
    push_tape(constraints.tape, h)
    retract(tables.dofs, q, delta, q)
