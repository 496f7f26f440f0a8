"""The direct solver: accelerations under all rows, projection onto them, and impacts, exact to rounding.

With the inertia factored, H = LᵀDL, and the rows in the same coordinates, Y = J L⁻¹, the forces of the kept rows
follow from one sparse factorisation of A = Y D⁻¹ Yᵀ:

    A p = want - (J a + J' v)    a: accelerations without them

The same factors take positions to zero gap (A s = -φ) and velocities to zero rate (A s = -φ'), each with the least
change in the metric of inertia. Rows with bounds are kept, at a bound or free: their `mode`, which `correct_direct` and
`evaluate_direct` decide and everything else takes as given. Relative and maximal coordinates differ in the tables only.
"""

import numpy as np

from ..coordinates.factor import add_row, factor, solve_inward, solve_outward
from ..coordinates.gyroscopic import turn_freely
from ..coordinates.tree import place, retract
from ..elements.impulse import end_row, set_targets
from ..elements.respond import (
    command_of,
    flow,
    note,
    power_of,
    read_states,
    respond,
    take_samples,
    with_state,
    write_states,
)
from ..kernels.jit import inlined, kernel, woven
from ..kernels.rows import survey
from ..kernels.signal import signal_slope, signal_value
from ..loads import apply_loads
from ..solvers.box import EXACT, FLOOR, solve_box
from ..solvers.envelope import factor_envelope, solve_envelope, solve_three, times_envelope
from ..solvers.layout import (
    AHEAD,
    BEGIN,
    DELTA,
    DELTA_TURN,
    DISSIPATED,
    END,
    FIRST,
    FORCE,
    HI,
    INVERSE,
    KEPT,
    LO,
    LOADS_DISSIPATED,
    LOADS_SUPPLIED,
    ON,
    PIVOT,
    PLACE,
    RATE,
    RESPONSE,
    RESPONSE_PLACE,
    RESPONSE_TURN,
    RIGHT,
    SCALE,
    SIDE,
    SMALLEST,
    SMALLEST_ROW,
    SOFT,
    START,
    SUM,
    SUPPLIED,
    TURN,
    WANT,
    WEAKEST,
    WORN,
    P,
)
from ..tables import FREE, FRICTION, GIVEN, HELD, HIGH, HOLD, LAW, LIMIT, LOW, SERVO_RATE
from .events import STOPPED, remember
from .integrators import copy_state

NEAR, RESTING = 1e-7, 3e-5
"""At an event, limits this near and this slow are taken as closed, and their force says whether they open: else two
limits of one joint would hit each other open for ever, in ever smaller bounces [rad or m, rad/s or m/s]."""
USED_UP = 0.05
"""Share of its usual pivot below which a joint equation is to be exchanged, if there are others."""
# Corrections beyond these leave an error worth another round: gaps are of second order in the first [rad or m].
_FINE_PLACE, _FINE_RATE = 1e-7, 1e-6
_IMPACTS = 20  # one after the other at one moment
# Stages of Runge-Kutta lie off the constraints by some h² of the motion: what they say of a row nearer to a singular
# position than this share of its usual pivot, 1e-4 rad or so, is worth nothing.
_SHAKY = 1e-8
_BLOCKED = 1e-13  # a gap that is worth another factorisation [rad or m]
# Dependent rows whose accelerations differ by more than this share contradict each other.
_CONTRADICTION = 1e-8


# --- rows in joint space ---


@kernel
def gather(tables, constraints, work, q, v, t):
    """(q, v, t) => factored inertia, forces of loads, every row in joint space, its gap, rate and bias."""
    look(tables, constraints, work, q, v, t)
    factor(tables.dofs, work.H, work.dof[INVERSE], work.dof[FORCE])


@kernel
def look(tables, constraints, work, q, v, t):
    """The same but for the inertia, which is not factored yet."""
    dofs, rows = tables.dofs, constraints.rows
    place(dofs, tables.islands, q, v)
    work.report[LOADS_SUPPLIED], work.report[LOADS_DISSIPATED] = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        work.report[LOADS_SUPPLIED], work.report[LOADS_DISSIPATED] = apply_loads(tables, q, v, t)
    survey(tables, constraints, q)
    J, link, rate = work.J, work.link, work.row[SUM]
    for d in range(J.shape[0]):
        for r in range(link[BEGIN, d], link[END, d]):
            J[d, r] = 0.0
    for r in range(rows.shape[0]):
        add_row(dofs, constraints, rows[r], J[:, r])
    _times(work, J, v, rate)
    for r in range(rows.shape[0]):
        rows[r].rate = rate[r]


@kernel
def _times(work, J, v, out):
    """out = Jᵀ v, v numbered like the rates: what rows make of rates."""
    link = work.link
    for r in range(out.shape[0]):
        out[r] = 0.0
    for d in range(J.shape[0]):
        x = v[link[RATE, d]]
        for r in range(link[BEGIN, d], link[END, d]):
            out[r] += J[d, r] * x


@inlined
def couple(tables, work):
    """Y and A = Y D⁻¹ Yᵀ of the rows that are on; free accelerations of all of them in row[SUM]."""
    dofs, H, A, J, Y = tables.dofs, work.H, work.A, work.J, work.Y
    flag, link, row = work.flag, work.link, work.row
    n, m = J.shape
    for r in range(m):
        row[SUM, r] = 0.0
        for j in range(flag[START, r] + flag[FIRST, r], flag[START, r] + r + 1):
            A[j] = 0.0
    for d in range(n):
        for r in range(link[BEGIN, d], link[END, d]):
            Y[d, r] = J[d, r] if flag[ON, r] != 0 else 0.0
    for d in range(n - 1, -1, -1):
        begin, end = link[BEGIN, d], link[END, d]
        if begin == end:
            continue
        i, k = dofs[d + 1].parent, dofs[d + 1].depth
        while i != 0:
            k -= 1
            weight = H[d, k]
            for r in range(begin, end):
                Y[i - 1, r] -= weight * Y[d, r]
            i = dofs[i].parent
        inverse = work.dof[INVERSE, d]
        free = inverse * work.dof[FORCE, d]
        for r in range(begin, end):
            y = Y[d, r]
            if y != 0.0:
                row[SUM, r] += y * free
                y *= inverse
                base = flag[START, r]
                for s in range(begin, r + 1):
                    A[base + s] += y * Y[d, s]


@woven
def scale_pivots(tables, work):
    """(gathered rows) => row[SCALE] at least as large as the diagonals of A here."""
    for r in range(work.row.shape[1]):
        work.flag[ON, r] = 1
    couple(tables, work)
    for r in range(work.row.shape[1]):
        work.row[SCALE, r] = max(work.row[SCALE, r], work.A[work.flag[START, r] + r])


@woven
def scale_pivots_at(tables, constraints, work, motion):
    """row[SCALE] at least as large as the diagonals of A at the state."""
    n = motion.a.shape[0]
    gather(tables, constraints, work, motion.q, motion.y[n : 2 * n], 0.0)
    scale_pivots(tables, work)


@kernel
def _respond(tables, work, p, scale, out):
    """out = H⁻¹ (scale · forces + Jᵀ row[p]), numbered like the rates, over the rows that are on."""
    Y, link, z = work.Y, work.link, work.dof[RESPONSE]
    for d in range(z.shape[0]):
        total = scale * work.dof[FORCE, d]
        for r in range(link[BEGIN, d], link[END, d]):
            total += Y[d, r] * work.row[p, r]
        z[d] = total * work.dof[INVERSE, d]
    solve_outward(tables.dofs, work.H, z)
    for d in range(z.shape[0]):
        out[link[RATE, d]] = z[d]


@inlined
def _respond_three(tables, work, a):
    """The same for forces, and for the pushes that close gaps and stop rates: a, DELTA, DELTA_TURN."""
    dofs, H, Y, dof, row, link = tables.dofs, work.H, work.Y, work.dof, work.row, work.link
    for d in range(dof.shape[1]):
        x, y, z = dof[FORCE, d], 0.0, 0.0
        for r in range(link[BEGIN, d], link[END, d]):
            weight = Y[d, r]
            x += weight * row[P, r]
            y += weight * row[PLACE, r]
            z += weight * row[TURN, r]
        inverse = dof[INVERSE, d]
        x, y, z = inverse * x, inverse * y, inverse * z
        i, k = dofs[d + 1].parent, dofs[d + 1].depth
        while i != 0:
            k -= 1
            weight = H[d, k]
            x -= weight * dof[RESPONSE, i - 1]
            y -= weight * dof[RESPONSE_PLACE, i - 1]
            z -= weight * dof[RESPONSE_TURN, i - 1]
            i = dofs[i].parent
        dof[RESPONSE, d], dof[RESPONSE_PLACE, d], dof[RESPONSE_TURN, d] = x, y, z
        i = link[RATE, d]
        a[i], dof[DELTA, i], dof[DELTA_TURN, i] = x, y, z


# --- what rows do at a given mode ---


@inlined
def hold(row, numbers, flag, i, arriving):
    """The same for a joint equation; one that said nothing at the last arrival stays out until the next."""
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
    """(gathered rows) => forces of rows at their present modes, accelerations a; h is how far stiff rows look ahead.

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
    solve_inward(tables.dofs, work.H, work.dof[FORCE])
    couple(tables, work)
    for i in range(rows.shape[0]):
        if work.flag[ON, i] != 0:
            work.row[WANT, i] -= work.row[SUM, i]
            work.row[P, i] = work.row[WANT, i]
    factor_envelope(work, ON, 0.0, 0.0 if project else _SHAKY)
    if project:
        aim_corrections(constraints, work)
        solve_three(work)
        _respond_three(tables, work, a)
    else:
        solve_envelope(work, P)
        _respond(tables, work, P, 1.0, a)
    _account(constraints, work, a, bounded)


@kernel
def _push(constraints, work):
    """Forces of rows that are not kept, added to those of the loads."""
    rows, J, link = constraints.rows, work.J, work.link
    for d in range(J.shape[0]):
        for r in range(link[BEGIN, d], link[END, d]):
            work.dof[FORCE, d] += J[d, r] * rows[r].force


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
def _account(constraints, work, a, bounded):
    """(forces of the kept rows) => forces and power of all rows, accelerations of those that may stop."""
    rows, along = constraints.rows, work.row[SUM]
    add_power(constraints, work)
    if bounded:
        _times(work, work.J, a, along)
        for i in range(rows.shape[0]):
            if rows[i].role == FRICTION or rows[i].role == SERVO_RATE:
                rows[i].accel = rows[i].bias + along[i]


@kernel
def add_power(constraints, work):
    """(forces of the kept rows) => forces of all rows, and the power of loads and rows."""
    rows, report = constraints.rows, work.report
    report[SUPPLIED], report[DISSIPATED] = report[LOADS_SUPPLIED], report[LOADS_DISSIPATED]
    for i in range(rows.shape[0]):
        row = rows[i]
        if work.flag[ON, i] != 0:
            row.force = work.row[P, i]
        if row.role == HOLD or row.role == LIMIT:
            continue
        if row.role == LAW:
            if row.state >= 0 and work.flag[ON, i] != 0:
                row.flow += row.push * (row.goal - row.force) * work.row[SOFT, i]
            supplied, dissipated = power_of(row)
            report[SUPPLIED] += supplied
            report[DISSIPATED] += dissipated
        elif row.role == FRICTION:
            report[DISSIPATED] -= row.force * row.rate
        else:
            report[SUPPLIED] += row.force * row.rate


# --- onto the constraints ---


@woven
def evaluate_direct(tables, constraints, work, motion, course, stats):
    """(trial) => forces of rows, accelerations, power; with course.project also the corrections onto the constraints.

    course.anew: no smooth step led here, or row course.event (-1 for none) stops or is hit. Then modes are found anew
    and impacts happen; if that row is kept, it is let go, and nothing else happens.
    """
    n, q = motion.a.shape[0], motion.q_trial
    v, energy = motion.y_trial[n : 2 * n], motion.y_trial[2 * n :]
    if course.fresh and course.bounded:
        _try_servos(constraints)
    while True:
        gather(tables, constraints, work, q, v, course.at)
        stats.evaluations += 1
        if course.anew:
            course.changed = True
            if course.event >= 0 and constraints.rows[course.event].mode == HELD:
                _let_go(constraints.rows[course.event])
            else:
                if course.rounds < _IMPACTS and _impact(
                    tables, constraints, work, v, energy, course.at, course.event
                ):
                    course.rounds += 1
                    continue
                take_samples(tables, constraints, course.at)
                _set_modes(tables, constraints, course.at, course.event)
            course.anew = False
        solve(tables, constraints, work, course.at, course.ahead, motion.a, course.bounded, course.project)
        # Of the end of a step `correct_direct` takes care.
        if course.project or not course.bounded or not _overstrained(constraints, work):
            break
    course.supplied, course.dissipated = work.report[SUPPLIED], work.report[DISSIPATED]


@woven
def correct_direct(tables, constraints, work, motion, course):
    """Decide what bounded rows do, and bring the trial onto the constraints; returns whether to do so again."""
    n = motion.a.shape[0]
    if course.bounded and _settle(tables, constraints, work, motion.a) != 0:
        course.changed = True
    if _left_out(constraints, work) != 0:
        course.changed = True
    if work.report[WEAKEST] < _SHAKY:
        _solve_firmly(tables, constraints, work, motion.a)
        course.changed = True
    moved, turned, released = _correct(
        tables,
        constraints,
        work,
        motion.q_trial,
        motion.y_trial[n : 2 * n],
        motion.y_trial[2 * n :],
        course.ahead,
    )
    if released:
        course.changed = True
    course.supplied, course.dissipated = work.report[SUPPLIED], work.report[DISSIPATED]
    return released or not (moved <= _FINE_PLACE and turned <= _FINE_RATE)


@woven
def note_direct(constraints, work, course, stats):
    """(end of a step) Where rows start the next one, and how near it is to a singular position."""
    report = work.report
    if course.bounded:
        remember(constraints, work)
    if report[WORN] > 0.0 and report[WEAKEST] > USED_UP:
        report[WORN] = USED_UP
    course.worn = report[WEAKEST] < report[WORN]
    if not course.staying:
        note_singular(report, course, stats)


@kernel
def note_singular(report, course, stats):
    """Smallest pivot of the joint equations so far, where and when."""
    if stats.ratio_first == 0.0:
        stats.ratio_first = report[SMALLEST]
    if report[SMALLEST] < stats.ratio:
        stats.ratio, stats.ratio_row = report[SMALLEST], int(report[SMALLEST_ROW])
        stats.ratio_time = course.at


@kernel
def _overstrained(constraints, work):
    """Whether stiff servos would push with more than their strength; they are at it from now on."""
    rows, found = constraints.rows, False
    for i in range(rows.shape[0]):
        within = work.row[LO, i] <= work.row[P, i] <= work.row[HI, i]
        if rows[i].role == LAW and work.flag[ON, i] != 0 and not within:
            rows[i].mode = LOW if work.row[P, i] < 0.0 else HIGH
            found = True
    return found


@kernel
def _try_servos(constraints):
    """Stiff servos at their strength are tried again as kept."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        if rows[i].role == LAW:
            rows[i].mode = GIVEN


@kernel
def _left_out(constraints, work):
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
def _place_alone(tables, constraints, work):
    """Corrections of positions by joint equations and limits alone.

    A joint equation that repeats what friction holds was left out; but friction does not hold positions.
    """
    rows, row, flag = constraints.rows, work.row, work.flag
    for i in range(rows.shape[0]):
        holds = flag[ON, i] != 0 and (rows[i].role == HOLD or rows[i].role == LIMIT)
        flag[KEPT, i] = 1 if holds else 0
        row[PLACE, i] = -rows[i].phi if holds else 0.0
    factor_envelope(work, KEPT, 0.0, 0.0)
    solve_envelope(work, PLACE)
    _respond(tables, work, PLACE, 0.0, work.dof[DELTA])


@kernel
def _solve_firmly(tables, constraints, work, a):
    """Accelerations and corrections without rows that are nearly singular.

    There a gap of 1e-12 would move bodies visibly, and a rate of it would need any force.
    """
    for i in range(work.flag.shape[1]):
        work.flag[KEPT, i] = work.flag[ON, i]
        work.row[P, i] = work.row[WANT, i]
    factor_envelope(work, KEPT, 0.0, _SHAKY)
    aim_corrections(constraints, work)
    solve_envelope(work, P)
    solve_envelope(work, PLACE)
    solve_envelope(work, TURN)
    _respond(tables, work, P, 1.0, a)
    _account(constraints, work, a, True)
    _respond(tables, work, PLACE, 0.0, work.dof[DELTA])
    _respond(tables, work, TURN, 0.0, work.dof[DELTA_TURN])


@woven
def _correct(tables, constraints, work, q, v, energy, h):
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
        _place_alone(tables, constraints, work)
    for i in range(delta.shape[0]):
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
        for i in range(delta.shape[0]):
            v[i] += dv[i]
    return moved, turned, released


@woven
def _settle(tables, constraints, work, a):
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
        for i in range(rows.shape[0]):
            if flag[ON, i] != 0 and row[PIVOT, i] == 0.0:
                miss = abs(row[RIGHT, i] + row[SOFT, i] * row[P, i] - row[WANT, i])
                fine &= miss <= _CONTRADICTION * (abs(row[WANT, i]) + row[SCALE, i] * largest)
    if fine:
        return 0
    solve_box(work)
    _respond(tables, work, P, 1.0, a)
    _account(constraints, work, a, True)
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0 and flag[SIDE, i] != HELD:
            rows[i].mode = FREE if rows[i].role == LIMIT else flag[SIDE, i]
            flag[ON, i] = 0
    aim_corrections(constraints, work)
    solve_envelope(work, PLACE)
    solve_envelope(work, TURN)
    _respond(tables, work, PLACE, 0.0, work.dof[DELTA])
    _respond(tables, work, TURN, 0.0, work.dof[DELTA_TURN])
    return 1


# --- modes and impacts ---


@kernel
def _let_go(row):
    """A kept row whose force has come to its bound opens, or slides the way it was pushed.

    Nothing else is asked, for at that moment its force is still within its bound, to rounding.
    """
    if row.role == LIMIT:
        row.mode = FREE
    else:
        row.mode = LOW if row.force < 0.0 else HIGH


@woven
def _set_modes(tables, constraints, t, event):
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


@woven
def _impact(tables, constraints, work, v, energy, t, event):
    """Impulses at limits that are hit, on gathered rows; returns whether there were any.

    Finite forces have no time to act; rows without bounds, and rotors, do. Newton's law of restitution.
    """
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
    if not hit:
        return False
    couple(tables, work)
    solve_box(work)
    delta = work.dof[DELTA]
    _respond(tables, work, P, 0.0, delta)
    for i in range(delta.shape[0]):
        v[i] += delta[i]
    _times(work, work.J, v, row[SUM])
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0:
            end_row(tables, constraints, rows[i], row[P, i], row[SUM, i], t, 0.0, energy)
    return True


@woven
def leap_direct(tables, constraints, work, motion, course, stats):
    """To the end of the step by impulses: all rows within their bounds, at first order, and no events needed."""
    n = motion.a.shape[0]
    copy_state(motion)
    write_states(constraints, motion.y, 2 * n + 2)
    _leap(
        tables, constraints, work, motion.q_trial, motion.y_trial[n : 2 * n], motion.y_trial[2 * n :],
        motion.y_trial[:n], course.start, course.length,
    )  # fmt: skip
    read_states(constraints, motion.y_trial, 2 * n + 2)
    stats.leaps += 1
    course.fresh, course.anew, course.project, course.at = False, True, True, course.start + course.length


@woven
def _leap(tables, constraints, work, q, v, energy, delta, t, h):
    """Semi-implicit Euler with all rows as impulses within their bounds."""
    rows, row, flag = constraints.rows, work.row, work.flag
    look(tables, constraints, work, q, v, t)
    turn_freely(tables.dofs, h, work.dof[AHEAD])
    factor(tables.dofs, work.H, work.dof[INVERSE], work.dof[FORCE])
    energy[0] += h * work.report[LOADS_SUPPLIED]
    energy[1] += h * work.report[LOADS_DISSIPATED]
    set_targets(tables, constraints, t, h, 0.0)
    for i in range(rows.shape[0]):
        flag[ON, i] = 0 if rows[i].role == HOLD and rows[i].mode == FREE else rows[i].active
        flag[SIDE, i] = HELD
        row[SOFT, i], row[LO, i], row[HI, i] = rows[i].soft, rows[i].lo, rows[i].hi
    solve_inward(tables.dofs, work.H, work.dof[FORCE])
    couple(tables, work)
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0:
            row[WANT, i] = rows[i].goal - rows[i].rate - h * row[SUM, i]
    solve_box(work)
    _respond(tables, work, P, h, delta)
    for i in range(v.shape[0]):
        v[i] += delta[i]
        delta[i] = h * (v[i] + work.dof[AHEAD, i])
    _times(work, work.J, v, row[SUM])
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0:
            end_row(tables, constraints, rows[i], row[P, i], row[SUM, i], t, h, energy)
    retract(tables.dofs, q, delta, q)
