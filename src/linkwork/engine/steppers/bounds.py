"""Rows with bounds between floating bodies: what they do at events, at impacts and in steps by impulses.

In a mode, free, kept or at a bound, such a row is like any other for the recursion over subsystems. Which modes are
right is a mixed complementarity problem over all subsystems; it is solved by block principal pivoting as in
`solvers.box`, with a pass up and down the hierarchy instead of one matrix. So it costs passes where modes change, and
nothing between events.
"""

import numpy as np

from ..coordinates.tree import retract
from ..elements.impulse import end_row, set_targets
from ..elements.respond import read_states, write_states
from ..kernels.jit import kernel, woven
from ..solvers.box import EXACT, FLOOR
from ..solvers.hierarchy import ACCELERATE, MOVE, go_up
from ..solvers.layout import HI, KEPT, LO, ON, SCALE, SIDE, SOFT, TURN, WANT, P
from ..solvers.passing import go_down
from ..tables import FREE, FRICTION, HELD, HIGH, LIMIT, LOW, SERVO_RATE
from .floating import add_push, along, evaluate_floating, gather_forces, lighten_all
from .impacts import aim_impact, aim_leap, let_go, set_modes
from .integrators import copy_state
from .row_forces import aim_corrections

# Dependent rows whose accelerations differ by more than this share contradict each other.
_CONTRADICTION = 1e-8
_IMPACTS = 20  # one after the other at one moment
_PATIENCE, _PASSES = 5, 200


@kernel
def _other_side(h, i, excess, largest):
    """Where row i belongs: see `box`."""
    p, side, row = h.row[P, i], h.flag[SIDE, i], h.row
    if side == HELD:
        slack = EXACT * largest
        if p < row[LO, i] - slack:
            return LOW
        return HIGH if p > row[HI, i] + slack else HELD
    slack = EXACT * (abs(row[WANT, i]) + row[SCALE, i] * largest)
    if side == LOW:
        return HELD if excess < -slack else LOW
    return HELD if excess > slack else HIGH


@kernel
def solve_bounds(tables, constraints, h):
    """(forces, rows that are on and their bounds) => forces of rows, h.flag[SIDE], and what the bodies do under them.

    The sides are also where it starts. Forces other than those of rows are left in h.x[MOVE].
    """
    rows, row, flag, dofs = constraints.rows, h.row, h.flag, tables.dofs
    count, n = rows.shape[0], h.force.shape[0]
    for j in range(n):
        h.x[MOVE, j] = h.force[j]
    fewest, patience = count + 1, _PATIENCE
    for i in range(count):
        flag[KEPT, i] = flag[ON, i]
    for _ in range(_PASSES):
        for j in range(n):
            h.force[j] = h.x[MOVE, j]
        for i in range(count):
            side = flag[SIDE, i]
            if flag[KEPT, i] != 0 and side != HELD:
                flag[ON, i] = 0
                add_push(dofs, constraints, h, i, row[LO, i] if side == LOW else row[HI, i])
            else:
                flag[ON, i] = flag[KEPT, i]
        lighten_all(tables, h)
        go_up(h, 1, 0, FLOOR)
        go_down(h, 1)
        largest = 0.0
        for i in range(count):
            if flag[KEPT, i] != 0 and flag[SIDE, i] != HELD:
                row[P, i] = row[LO, i] if flag[SIDE, i] == LOW else row[HI, i]
            largest = max(largest, abs(row[P, i]))
        wrong, last = 0, -1
        for i in range(count):
            flag[ON, i] = flag[SIDE, i]
            if flag[KEPT, i] != 0:
                excess = 0.0
                if flag[SIDE, i] != HELD:
                    excess = (
                        along(dofs, constraints, h, i, h.x[ACCELERATE])
                        + row[SOFT, i] * row[P, i]
                        - row[WANT, i]
                    )
                flag[ON, i] = _other_side(h, i, excess, largest)
                if flag[ON, i] != flag[SIDE, i]:
                    wrong += 1
                    last = i
        patience = _PATIENCE if wrong < fewest else patience - 1
        fewest = min(fewest, wrong)
        for i in range(count):
            if wrong != 0 and (patience >= 0 or i == last):
                flag[SIDE, i] = flag[ON, i]
        if wrong == 0:
            break
    for i in range(count):
        flag[ON, i] = flag[KEPT, i]


@kernel
def _impact(tables, constraints, h, v, energy, t, event):
    """Impulses at limits that are hit, on evaluated rows; returns whether there were any: see `impacts.impact`."""
    if not aim_impact(constraints, h, event):
        return False
    for j in range(h.force.shape[0]):
        h.force[j] = 0.0
    solve_bounds(tables, constraints, h)
    _take_impulses(tables, constraints, h, v, energy, t, 0.0)
    return True


@kernel
def _take_impulses(tables, constraints, h, v, energy, t, step):
    """Velocities after the impulses that were found, with their work."""
    for j in range(v.shape[0]):
        v[j] += h.x[ACCELERATE, j]
    rows = constraints.rows
    for i in range(rows.shape[0]):
        if h.flag[ON, i] != 0:
            after = along(tables.dofs, constraints, h, i, v)
            end_row(tables, constraints, rows[i], h.row[P, i], after, t, step, energy)


@woven
def meet_bounds(tables, constraints, h, motion, course):
    """(trial, no smooth step leads on) Impacts happen and modes are found anew, or row course.event is let go."""
    n, rows = motion.a.shape[0], constraints.rows
    course.changed = True
    if course.event >= 0 and rows[course.event].mode == HELD:
        let_go(rows[course.event])
    else:
        v, energy = motion.y_trial[n : 2 * n], motion.y_trial[2 * n :]
        while True:
            evaluate_floating(tables, constraints, h, motion.q_trial, v, course.at, course.ahead, 1, False)
            if course.rounds == _IMPACTS or not _impact(
                tables, constraints, h, v, energy, course.at, course.event
            ):
                break
            course.rounds += 1
        set_modes(tables, constraints, course.at, course.event)
    course.anew = False


@kernel
def note_bounds(tables, constraints, h):
    """Accelerations of rows that may stop, or whose law is about to become another one."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        if rows[i].role == FRICTION or rows[i].role == SERVO_RATE or rows[i].pieces != 0:
            rows[i].accel = rows[i].bias + along(tables.dofs, constraints, h, i, h.x[ACCELERATE])


@kernel
def settle_bounds(tables, constraints, h, step):
    """(end of a step evaluated) Let rows go whose force is beyond its bound; whether any changed its mode."""
    rows, row, flag = constraints.rows, h.row, h.flag
    largest, fine, released = 0.0, True, False
    for i in range(rows.shape[0]):
        largest = max(largest, abs(row[P, i]))
    slack = EXACT * largest
    for i in range(rows.shape[0]):
        if flag[ON, i] != 0 and (row[LO, i] > -np.inf or row[HI, i] < np.inf):
            fine &= row[LO, i] - slack <= row[P, i] <= row[HI, i] + slack
            if row[P, i] == 0.0:  # perhaps left out: then it must follow from the others
                miss = abs(along(tables.dofs, constraints, h, i, h.x[ACCELERATE]) - row[WANT, i])
                fine &= miss <= _CONTRADICTION * (abs(row[WANT, i]) + row[SCALE, i] * largest)
    if not fine:
        solve_bounds(tables, constraints, h)
        for i in range(rows.shape[0]):
            if flag[ON, i] != 0 and flag[SIDE, i] != HELD:
                rows[i].mode = FREE if rows[i].role == LIMIT else flag[SIDE, i]
                released = True
        if released:
            return True
        for j in range(h.force.shape[0]):
            h.force[j] = h.x[MOVE, j]
        lighten_all(tables, h)
        aim_corrections(constraints, h)
        go_up(h, 3, 0, 0.0)
        go_down(h, 3)
    for i in range(rows.shape[0]):  # what stops a rate must not need more than the bound either
        bounded = rows[i].role == FRICTION or rows[i].role == SERVO_RATE
        if flag[ON, i] != 0 and bounded and abs(row[TURN, i]) > step * rows[i].strength:
            rows[i].mode = LOW if rows[i].rate > rows[i].goal else HIGH
            released = True
    return released


@woven
def leap_parts(tables, constraints, h, motion, course, stats):
    """To the end of the step by impulses: all rows within their bounds, at first order, and no events needed."""
    n, rows, step = motion.a.shape[0], constraints.rows, course.length
    copy_state(motion)
    write_states(constraints, motion.y, 2 * n + 2)
    q, delta, v = motion.q_trial, motion.y_trial[:n], motion.y_trial[n : 2 * n]
    energy = motion.y_trial[2 * n :]
    evaluate_floating(tables, constraints, h, q, v, course.start, step, 1, False)
    for i in range(rows.shape[0]):
        rows[i].force = 0.0
    gather_forces(tables, constraints, h)
    for j in range(n):
        h.force[j] *= step
    energy[0] += step * h.report[0].loads_supplied
    energy[1] += step * h.report[0].loads_dissipated
    set_targets(tables, constraints, course.start, step, 0.0)
    aim_leap(constraints, h)
    solve_bounds(tables, constraints, h)
    _take_impulses(tables, constraints, h, v, energy, course.start, step)
    for j in range(n):
        delta[j] = step * v[j]
    retract(tables.dofs, q, delta, q)
    read_states(constraints, motion.y_trial, 2 * n + 2)
    stats.leaps += 1
    course.fresh, course.anew, course.project, course.at = False, True, True, course.start + step
