"""Onto the constraints at the end of a step: which rows are kept, and Newton's step to no gap and no rate of these."""

import numpy as np

from ..coordinates.tree import retract
from ..kernels.jit import apart, kernel, woven
from ..solvers.box import EXACT, FLOOR, solve_box
from ..solvers.envelope import embedded, factor_envelope, solve_envelope, times_envelope
from ..solvers.layout import (
    DELTA,
    DELTA_TURN,
    FORCE,
    FORCE_PLACE,
    FORCE_TURN,
    HI,
    KEPT,
    LO,
    ON,
    PIVOT,
    PLACE,
    RIGHT,
    SCALE,
    SIDE,
    SOFT,
    TAKEN,
    TURN,
    WANT,
    P,
)
from ..solvers.saddle import subtract_free
from ..tables import FREE, FRICTION, HELD, HIGH, HOLD, LIMIT, LOW, SERVO_RATE
from .joint_rows import respond_to
from .row_forces import SHAKY, account, begin_corrections, find_forces

_BLOCKED = 1e-13  # a gap that is worth another factorisation [rad or m]
# Dependent rows whose accelerations differ by more than this share contradict each other.
_CONTRADICTION = 1e-8


@kernel
def note_left_out(constraints, work):
    """Notice joint equations without a pivot; 1 if one that had none has one again.

    At a singular position such a row says nothing, and what velocities are may not suit it afterwards. So it stays
    out for the step, and when it comes back its rate is stopped by an impulse, which loses energy, instead of by
    forces in the midst of the step, which could do any work.
    """
    rows, back = constraints.rows, 0
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD and rows[i].mode != FREE:
            inverse = work.row[PIVOT, i]
            replaced = abs(inverse * FLOOR * work.row[SCALE, i] - 1.0) < 1e-9  # by `solve_box`
            alive = 1 if inverse != 0.0 and not replaced else 0
            if alive > rows[i].active:
                back = 1
            rows[i].active = alive
    return back


@kernel
def _place_alone(constraints, work):
    """Corrections of positions by joint equations and limits alone, after `begin_corrections`.

    A joint equation that repeats what friction holds was left out; but friction does not hold positions.
    """
    rows, row, flag = constraints.rows, work.row, work.flag
    for i in range(rows.shape[0]):
        holds = flag[ON, i] != 0 and (rows[i].role == HOLD or rows[i].role == LIMIT)
        flag[KEPT, i] = 1 if holds else 0
        row[PLACE, i] = -rows[i].phi if holds else 0.0
    subtract_free(work, FORCE_PLACE, PLACE)
    factor_envelope(work, KEPT, 0.0, 0.0)
    solve_envelope(work, PLACE)
    respond_to(work, FORCE_PLACE, PLACE, work.dof[DELTA])


@apart
def solve_firmly(constraints, work, a):
    """Accelerations and corrections without rows that are nearly singular.

    There a gap of 1e-12 would move bodies visibly, and a rate of it would need any force.
    """
    for i in range(embedded(work), work.flag.shape[1]):
        if work.flag[ON, i] != 0:
            work.row[WANT, i] += work.row[TAKEN, i]
    find_forces(constraints, work, a, True, SHAKY)
    account(constraints, work, a, True)


@woven
def correct(tables, constraints, work, q, v, energy, h):
    """Newton's step to zero gap and zero rate of the kept rows, as `solve` found it.

    Returns the largest changes of coordinates and rates, and whether a bounded row would need more than its bound
    for that: such rows are let go.
    """
    rows, on, delta, dv = constraints.rows, work.flag[ON], work.dof[DELTA], work.dof[DELTA_TURN]
    moved, turned, released, blocked = 0.0, 0.0, False, False
    for i in range(rows.shape[0]):
        left_out = on[i] != 0 and rows[i].role == HOLD and work.row[PIVOT, i] == 0.0
        blocked |= left_out and abs(rows[i].phi) > _BLOCKED
    if blocked:
        _place_alone(constraints, work)
    for i in range(v.shape[0]):
        moved = max(moved, abs(delta[i]))
        turned = max(turned, abs(dv[i]))
    if moved > 0.0:
        retract(tables.dofs, q, delta, q)
    for i in range(rows.shape[0]):
        row = rows[i]
        if on[i] != 0 and (row.role == FRICTION or row.role == SERVO_RATE):
            push = work.row[TURN, i]
            if abs(push) > h * row.strength:
                row.mode = LOW if row.rate > row.goal else HIGH
                released = True
            elif row.role == SERVO_RATE:
                energy[0] += 0.5 * push * (row.rate + row.goal)
    if not released:
        for i in range(v.shape[0]):
            v[i] += dv[i]
    return moved, turned, released


@woven
def settle(constraints, work, a):
    """Let bounded rows go whose force is beyond its bound; 1 if any changed its mode."""
    rows, row, flag = constraints.rows, work.row, work.flag
    largest = 0.0
    for i in range(rows.shape[0]):
        largest = max(largest, abs(row[P, i]))
    slack = EXACT * largest
    fine, dependent, yielding = True, False, False
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0:
            fine &= row[LO, i] - slack <= row[P, i] <= row[HI, i] + slack
            dependent |= row[PIVOT, i] == 0.0
            yielding |= row[LO, i] > -np.inf or row[HI, i] < np.inf
    if fine and dependent and yielding:
        # Rows that were left out must follow from the others, or not all of them can be kept.
        times_envelope(work, P, RIGHT)
        for i in range(embedded(work), rows.shape[0]):
            if flag[ON, i] != 0 and row[PIVOT, i] == 0.0:
                miss = abs(row[RIGHT, i] + row[SOFT, i] * row[P, i] - row[WANT, i])
                fine &= miss <= _CONTRADICTION * (abs(row[WANT, i]) + row[SCALE, i] * largest)
    if fine:
        return 0
    solve_box(work)
    respond_to(work, FORCE, P, a)
    account(constraints, work, a, True)
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0 and flag[SIDE, i] != HELD:
            rows[i].mode = FREE if rows[i].role == LIMIT else flag[SIDE, i]
            flag[ON, i] = 0
    begin_corrections(constraints, work)
    solve_envelope(work, PLACE)
    solve_envelope(work, TURN)
    respond_to(work, FORCE_PLACE, PLACE, work.dof[DELTA])
    respond_to(work, FORCE_TURN, TURN, work.dof[DELTA_TURN])
    return 1
