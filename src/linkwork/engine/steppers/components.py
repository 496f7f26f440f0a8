"""Evaluations and corrections by subsystems that are eliminated one after the other, for explicit steps.

Maximal coordinates, every body with a reference point of its own, so that a body computes the same bits whatever
process it is in. A step ends with post-stabilisation (Vlasenko and Kasper, section 5): the evaluation at its end
also yields, from the same D, the displacements that close all gaps and the changes of velocity that stop their
rates, least in the metric of inertia.

A part of a model that shares the work with other processes runs the same compiled loop: it returns wherever
something has to cross to a relative (`STATES` … `SAMPLE`), and goes on from there when it is called again. So
results do not depend on how subsystems are placed.
"""

import math

import numpy as np

from ..coordinates.tree import retract
from ..kernels.jit import kernel, woven
from ..solvers.hierarchy import ACCELERATE, MOVE, STOP, go_up
from ..solvers.layout import TURN
from ..solvers.passing import go_down, outflow, receive
from ..tables import SERVO_RATE
from .bounds import meet_bounds, note_bounds, settle_bounds
from .direct import note_singular
from .events import remember
from .floating import evaluate_floating
from .row_forces import add_power
from .state import OK, finite
from .touch_forces import aim_touch
from .touch_parts import push_parts

STATES, SHARES, FORCES, PASSED, VOTE, SAMPLE = range(100, 106)
"""What crosses to relatives when the loop returns: states of bordering bodies; D and r of children; own D and r
against τ from the parent; τ to children; what each thinks of a step; samples."""

_PLACED, _LOOK, _GATHERED, _WAITED, _DOWN, _TAKEN = range(6)  # where an evaluation goes on
# Corrections beyond these leave an error worth another round: gaps are of second order in the first [rad or m].
_FINE_PLACE, _FINE_RATE, _FINEST = 1e-8, 1e-7, 1e-3
_POLISH = 4


@kernel
def columns_of(course):
    """Right-hand sides of an evaluation: accelerations, and at the end of a step also corrections."""
    return 3 if course.project else 1


@woven
def evaluate_parts(tables, constraints, h, touch, motion, course, stats):
    """(trial) => forces of rows, accelerations, power; with course.project also the corrections onto the constraints.

    touch: contacts, None where nothing may touch; then all is in this process.

    Of course.anew see `evaluate_direct`; it means something where course.bounded, and then all is in this process.
    Returns 0, or what has to cross to other processes before it is called again.
    """
    n, y = motion.a.shape[0], motion.y_trial
    columns = columns_of(course)
    if course.inner == _PLACED:
        course.inner = _LOOK
        if course.above or course.below:
            return STATES
    if course.inner == _LOOK:
        if touch is not None and course.anew:
            touch.state[0].renew = 1
        if course.bounded and course.anew:
            meet_bounds(tables, constraints, h, motion, course)
        course.anew = False
        evaluate_floating(
            tables,
            constraints,
            h,
            motion.q_trial,
            y[n : 2 * n],
            course.at,
            course.ahead,
            columns,
            course.sampling,
        )
        course.sampling = False
        stats.evaluations += 1
        course.inner = _GATHERED
    if course.inner == _GATHERED or course.inner == _WAITED:
        # First all without something of other processes inside, then the rest: by one call, for a compiler that
        # makes two copies of it rounds each in its own way.
        waited = 1 if course.inner == _WAITED else 0
        if waited != 0:
            receive(h)
        go_up(h, columns, waited, 0.0)
        if waited == 0 and course.below:
            course.inner = _WAITED
            return SHARES
        course.inner = _DOWN
        if course.above:
            return FORCES
    if course.inner == _DOWN:
        go_down(h, columns)
        if touch is not None:
            push_parts(tables, h, touch, motion, course)
        add_power(constraints, h)
        if course.bounded:
            note_bounds(tables, constraints, h)
        if course.below:
            h.report[0].supplied -= outflow(h, y[n : 2 * n])
        for i in range(n):
            motion.a[i] = h.x[ACCELERATE, i]
        report = h.report[0]
        course.supplied, course.dissipated, course.pivot = report.supplied, report.dissipated, report.weakest
        if touch is not None:
            course.dissipated += touch.state[0].lost
        course.inner = _TAKEN
        if course.below:
            return PASSED
    course.inner = _PLACED
    return 0


@kernel
def judge_parts(h, motion, course, clock, vote):
    """What this part thinks of the end of a step beside its error: corrections, ranks, whether numbers are sane."""
    n, own = motion.a.shape[0], course.own
    if not vote.error < np.inf:  # also NaN, which has no maximum
        vote.error = np.inf
    vote.changed = 1.0 if course.stiff else 0.0
    vote.near = 1.0 / h.report[0].smallest
    _largest(h, own, vote)
    for i in range(h.node.shape[0]):
        if h.node[i].live != h.node[i].arrived or h.node[i].live != h.node[i].firm:
            vote.changed = 1.0
    vote.bad = finite(motion.y_trial[n : n + own], clock, course.ahead)
    if vote.bad == OK:
        vote.bad = finite(motion.a[:own], clock, course.ahead * course.ahead)


@kernel
def _largest(h, own, vote):
    """Of the corrections of this part's bodies."""
    vote.moved, vote.turned = 0.0, 0.0
    for i in range(own):
        vote.moved = max(vote.moved, abs(h.x[MOVE, i]))
        vote.turned = max(vote.turned, abs(h.x[STOP, i]))


@woven
def correct_parts(tables, constraints, h, touch, motion, course, vote):
    """Decide what bounded rows do, and bring the trial onto the constraints; returns whether to do so again."""
    if course.bounded and settle_bounds(tables, constraints, h, course.ahead):
        course.changed = True
        return True
    if touch is not None:
        aim_touch(touch, h.x[MOVE], h.x[STOP])
        _largest(h, course.own, vote)
    return _correct(tables, constraints, h, motion, course, vote)


@kernel
def _correct(tables, constraints, h, motion, course, vote):
    """Newton's step of coordinates and velocities; returns whether another one is worth it.

    What drives that keep a rate do is work.
    """
    n, rows, y = motion.a.shape[0], constraints.rows, motion.y_trial
    for i in range(rows.shape[0]):
        if rows[i].role == SERVO_RATE:
            y[2 * n] += 0.5 * h.row[TURN, i] * (rows[i].rate + rows[i].goal)
    retract(tables.dofs, motion.q_trial, h.x[MOVE], motion.q_trial)
    for i in range(n):
        y[n + i] += h.x[STOP, i]
    # What is left of a rate makes a velocity larger by 1/sin near a singular position.
    fine = 1.0
    if course.rounds < _POLISH:
        fine = max(_FINEST, 1.0 / math.sqrt(max(vote.near, 1.0)))
    return vote.moved > _FINE_PLACE * fine or vote.turned > _FINE_RATE * fine


@woven
def note_parts(constraints, h, course, stats, vote):
    """(end of a step) Where rows start the next one, ranks there, and how near it is to a singular position."""
    if course.bounded:
        remember(constraints, h)
    _note(h, course, stats, vote)


@kernel
def _note(h, course, stats, vote):
    for i in range(h.node.shape[0]):
        h.node[i].arrived = h.node[i].live
    if vote.changed != 0.0:
        course.changed = True
    if not course.staying:
        note_singular(h.report[0], course, stats)
