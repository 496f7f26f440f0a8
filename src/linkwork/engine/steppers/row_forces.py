"""Forces of all rows at their present modes, and the accelerations under them, exact to rounding.

Rows of loops that close inside the tree are eliminated with its inertia (`saddle`); the forces of the others that are
kept follow from one sparse factorisation of A = Y D⁻¹ Yᵀ:

    A p = want - (J a + J' v)    a: accelerations without them

The same factors take positions to zero gap (A s = -φ) and velocities to zero rate (A s = -φ'), each with the least
change in the metric of inertia. Rows with bounds are kept, at a bound or free: their `mode`, which is taken as given.
"""

import numpy as np

from ..control.commands import command_slope
from ..elements.respond import command_of, flow, note, power_of, respond, with_state
from ..kernels.jit import inlined, kernel
from ..kernels.signal import signal_slope, signal_value
from ..solvers.envelope import embedded, factor_envelope, solve_envelope, solve_three
from ..solvers.layout import (
    FORCE,
    FORCE_PLACE,
    FORCE_TURN,
    HI,
    LO,
    LOAD,
    ON,
    PLACE,
    SIDE,
    SOFT,
    SUM,
    TAKEN,
    TURN,
    WANT,
    P,
)
from ..solvers.saddle import inward, subtract_free, want, want_corrections
from ..tables import FREE, FRICTION, HELD, HIGH, HOLD, LAW, LIMIT, LOW, SERVO_RATE
from .joint_rows import couple, embed, respond_to, respond_to_three, times

SHAKY = 1e-8
"""Share of its usual pivot below which a row is nearly singular, 1e-4 rad or so. Stages of Runge-Kutta lie off the
constraints by some h² of the motion, and what they say of such a row is worth nothing."""


@inlined
def hold(row, numbers, flag, i, arriving):
    """What a joint equation wants as a kept row; one without a pivot where the last step ended stays out."""
    flag[ON, i] = 1 if arriving or row.active != 0 else 0
    flag[SIDE, i] = HELD
    numbers[SOFT, i] = 0.0
    numbers[P, i] = 0.0
    numbers[WANT, i] = -row.bias
    numbers[LO, i] = -np.inf
    numbers[HI, i] = np.inf
    row.force = 0.0


@kernel
def law(tables, constraints, work, i, t, h):
    """What row i contributes: a force by its law or bound, or what it wants as a kept row (ON, WANT, SOFT, LO,
    HI)."""
    row, flag = constraints.rows[i], work.flag
    role, mode = row.role, row.mode
    flag[ON, i] = 0
    flag[SIDE, i] = HELD
    work.row[SOFT, i] = 0.0
    work.row[P, i] = 0.0
    row.force = 0.0
    if role == LIMIT:
        if mode == HELD:
            flag[ON, i] = 1
            work.row[WANT, i] = -row.bias
            work.row[LO, i], work.row[HI, i] = 0.0, np.inf
        return
    if role == LAW:
        _element(tables, constraints, work, i, t, h)
        return
    command, slope = 0.0, 0.0
    if row.input >= 0:
        scale = constraints.inputs[row.input]
        command = scale * signal_value(tables, row.signal, t)
        slope = scale * signal_slope(tables, row.signal, t)
        if constraints.tape.shape[0] > 0:
            slope += command_slope(constraints.tape, row.input)
    row.goal, row.push = command, slope
    work.row[LO, i], work.row[HI, i] = -row.strength, row.strength
    if mode == HELD:
        flag[ON, i] = 1
        work.row[WANT, i] = slope - row.bias
    else:
        row.force = -row.strength if mode == LOW else row.strength


@kernel
def _element(tables, constraints, work, i, t, h):
    """Force of an element by its law F, with a rotor of inertia I: F - I φ''.

    If it is stiff, by implicit Euler: F + h F_φ φ' - (I - h (F_v + h F_φ)) φ''. Then, and with a rotor, it is a kept
    row with a softness.
    """
    row, stiff = constraints.rows[i], constraints.rows[i].stiff != 0
    command = command_of(tables, constraints, row, t + h if stiff else t)
    answer = respond(tables, row, command, t, stiff)
    note(row, answer)
    if row.state >= 0:
        change = flow(row, command)
        row.flow, row.push = change.rate, 0.0
        if stiff:  # the state follows to the end of the step, with the acceleration that `add_power` knows
            step = h / (1.0 - h * change.by_state)
            answer = with_state(answer, change, step)
            row.flow = step / h * (change.rate + h * change.by_phi * row.rate)
            row.push = step * (change.by_rate + h * change.by_phi)
    work.row[LO, i], work.row[HI, i] = -row.strength, row.strength
    if row.mode == LOW or row.mode == HIGH:
        row.force = -row.strength if row.mode == LOW else row.strength
        return
    pull, resistance = answer.force, row.inertia
    if stiff:
        pull += h * answer.by_phi * row.rate
        resistance -= h * (answer.by_rate + h * answer.by_phi)
    if resistance > 0.0:
        work.flag[ON, i] = 1
        work.row[SOFT, i] = 1.0 / resistance
        work.row[WANT, i] = pull / resistance - row.bias
        row.goal = pull
    else:
        row.force = min(max(pull, -row.strength), row.strength)


@kernel
def solve(tables, constraints, work, t, h, a, bounded, project):
    """(assembled rows) => forces of rows at their present modes, accelerations a; h is how far stiff rows look ahead.

    With `project`, also the corrections that `_correct` applies. Leaves the factors for `_settle`.
    """
    rows = constraints.rows
    pushed = False
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD:
            hold(rows[i], work.row, work.flag, i, project)
            if rows[i].mode == FREE:  # it follows from the others
                work.flag[ON, i] = 0
        else:
            law(tables, constraints, work, i, t, h)
            pushed |= rows[i].force != 0.0
    if pushed:
        _push(constraints, work)
    find_forces(constraints, work, a, project, 0.0 if project else SHAKY)
    account(constraints, work, a, bounded)


@inlined
def find_forces(constraints, work, a, project, least):
    """(what rows want, forces of loads) => factors, forces of rows, accelerations, and with `project` corrections."""
    begin_forces(work, LOAD, 1.0, least)
    factor_envelope(work, ON, 0.0, least)
    if project:
        begin_corrections(constraints, work)
        solve_three(work)
        respond_to_three(work, a)
    else:
        solve_envelope(work, P)
        respond_to(work, FORCE, P, a)


@inlined
def begin_forces(work, x, scale, least):
    """(what rows want; dof[x], scaled: forces on dofs) => factors but for the last rows; their row[WANT], and row[P] to
    begin with, is what they want beyond what they do by themselves."""
    row, dof = work.row, work.dof
    embed(work, least)
    for d in range(work.J.shape[0]):
        dof[FORCE, d] = scale * dof[x, d]
    if embedded(work) != 0:
        want(work, FORCE, WANT)
    inward(work.K, work.near, work.link, dof[FORCE])
    couple(work)
    for i in range(embedded(work), row.shape[1]):
        if work.flag[ON, i] != 0:
            row[WANT, i] -= row[SUM, i]
            row[P, i] = row[WANT, i]
            row[TAKEN, i] = row[SUM, i]


@kernel
def _push(constraints, work):
    """Forces of rows that are not kept, added to those of the loads."""
    rows, J, link = constraints.rows, work.J, work.link
    for d in range(J.shape[0]):
        for r in range(link[d].first, link[d].last):
            work.dof[LOAD, d] += J[d, r] * rows[r].force


@inlined
def aim_corrections(constraints, work):
    """What kept rows want of positions and velocities: no gap, and the rate that they are told."""
    rows, row = constraints.rows, work.row
    for i in range(rows.shape[0]):
        row[PLACE, i] = 0.0
        row[TURN, i] = 0.0
        if work.flag[ON, i] != 0:
            role = rows[i].role
            if role == HOLD or role == LIMIT:
                row[PLACE, i] = -rows[i].phi
            if row[SOFT, i] == 0.0:
                row[TURN, i] = -rows[i].rate if role != SERVO_RATE else rows[i].goal - rows[i].rate


@inlined
def begin_corrections(constraints, work):
    """(factors) => what embedded rows want of positions and velocities, solved inward, and what is left of that for the
    others."""
    aim_corrections(constraints, work)
    if embedded(work) != 0:
        want_corrections(work)
        subtract_free(work, FORCE_PLACE, PLACE)
        subtract_free(work, FORCE_TURN, TURN)


@inlined
def account(constraints, work, a, bounded):
    """(forces of the kept rows) => forces and power of all rows, accelerations of those that may stop."""
    rows, along = constraints.rows, work.row[SUM]
    add_power(constraints, work)
    if bounded:
        times(work, work.J, a, along)
        for i in range(rows.shape[0]):
            if rows[i].role == FRICTION or rows[i].role == SERVO_RATE or rows[i].pieces != 0:
                rows[i].accel = rows[i].bias + along[i]


@kernel
def add_power(constraints, work):
    """(forces of the kept rows) => forces of all rows, and the power of loads and rows."""
    rows, report = constraints.rows, work.report[0]
    report.supplied, report.dissipated = report.loads_supplied, report.loads_dissipated
    for i in range(rows.shape[0]):
        row = rows[i]
        if work.flag[ON, i] != 0:
            row.force = work.row[P, i]
        if row.role == HOLD or row.role == LIMIT:
            continue
        if row.role == LAW:
            accel = 0.0
            if work.flag[ON, i] != 0:
                accel = (row.goal - row.force) * work.row[SOFT, i]
            if row.state >= 0:
                row.flow += row.push * accel
            supplied, dissipated = power_of(row, accel)
            report.supplied += supplied
            report.dissipated += dissipated
        elif row.role == FRICTION:
            report.dissipated -= row.force * row.rate
        else:
            report.supplied += row.force * row.rate
