"""Component-based steps: explicit integrators over subsystems that are eliminated one after the other.

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

from ..coordinates.tree import local_rate, retract
from ..elements.respond import read_flows, read_states, sampling_due, up_to_sample, write_states
from ..kernels.clock import cycles
from ..kernels.jit import kernel, woven
from ..solvers.hierarchy import ACCELERATE, ARRIVED, LIVE, MOVE, RANK, STOP, go_up
from ..solvers.layout import (
    DISSIPATED,
    EVALUATIONS,
    HEAD,
    KNOWN,
    LAST_EVALUATIONS,
    NOW,
    OVERRUNS,
    RATIO,
    RATIO_FIRST,
    RATIO_ROW,
    RATIO_TIME,
    REDONE,
    SMALLEST,
    SMALLEST_ROW,
    STAGE,
    SUPPLIED,
    TRIAL,
    TURN,
    UNSETTLED,
    UNSETTLED_TIME,
)
from ..solvers.passing import go_down, outflow, receive
from ..tables import SERVO_RATE
from .direct import add_power
from .floating import look
from .state import OK, TOO_SMALL, finite
from .stepping import (
    ADAMS,
    ADAPTIVE,
    EULER,
    TIMES,
    WEIGHTS,
    adams,
    apart,
    combine,
    falter,
    keep,
    leave_sample,
    local_error,
    past,
    remind,
    take,
)

STATES, SHARES, FORCES, PASSED, VOTE, SAMPLE = range(100, 106)
"""What crosses to relatives when the loop returns: states of bordering bodies; D and r of children; own D and r
against τ from the parent; τ to children; what each thinks of a step; samples."""

# control: integers that survive a return
PHASE, STEP_STAGE, COLUMNS, ROUND, BEGIN, SMOOTH, ROW, LAST, PARENT, CHILDREN, BEGAN, WAITED, SAMPLING = (
    range(13)
)
"""Where the loop goes on; stage; columns of this evaluation; rounds of projection; 1 while a state is taken up that
no step led to; 1 for Adams; samples so far; 1 if this step ends at a target; 1 if there are relatives above, and
below; clock at the start; 1 once the shares of other processes are here; 1 while elements are sampled."""
CONTROL = 13
# plan: floats that survive a return
START_TIME, LENGTH, EVALUATION_TIME, FACTOR, COUNTED, LEFT = range(6)
"""Of the step: time at its start, its size [s]; time of the evaluation; factor for the next adaptive step;
evaluations before; what is left of a fixed step [s]."""
PLAN = 6
STIFF = 4
"""In options: 1 if rows look ahead by a step. What they do then is no derivative that Adams' method could use."""
# vote: judgements of a step, the largest of all parts' counts
APART, ERROR, MOVED, TURNED, BAD, CHANGED, NEAR = range(7)
"""1 if the past does not foretell the accelerations; local error against the tolerance; largest corrections; why to
stop; 1 if what happened so far says nothing of what comes: more or fewer rows than before follow from the rest, or some
are stiff; how near a singular position is, 1/sin²."""
VOTES = 7

_NEXT, _PREPARE, _PLACED, _LOOK, _GATHERED, _DOWN, _TAKEN, _JUDGED, _SAMPLED = range(9)
# Corrections beyond these leave an error worth another round: gaps are of second order in the first [rad or m].
_FINE_PLACE, _FINE_RATE, _FINEST = 1e-8, 1e-7, 1e-3
_ROUNDS, _POLISH = 20, 4


# --- the parts of a step ---


@kernel
def _prepare(tables, h, motion, tableau, control, plan, integrator):
    """The next trial of a step, and when it is."""
    y, q, n, s = motion.y, motion.q, motion.a.shape[0], control[STEP_STAGE]
    stages = _stages(tableau, integrator, control[SMOOTH] != 0)
    last = s == stages
    size = plan[LENGTH]
    control[COLUMNS] = 3 if last else 1
    # A stage at the end of the step is still before it, should a signal jump there.
    share = 1.0
    if integrator == EULER:
        for i in range(n):
            y[TRIAL, n + i] = y[NOW, n + i] + size * motion.a[i]
            y[TRIAL, i] = size * y[TRIAL, n + i]
        newest = past(motion.tally[HEAD], 0)
        for i in range(2 * n, y.shape[1]):
            y[TRIAL, i] = y[NOW, i] + size * y[newest, i]
    elif control[SMOOTH] != 0:
        adams(tables, motion, size)
    else:
        if s == 1:
            newest = past(motion.tally[HEAD], 0)
            for i in range(y.shape[1]):
                y[STAGE, i] = y[newest, i]
        combine(motion, tableau[WEIGHTS] if last else tableau[s], s, size)
        share = 1.0 if last else min(tableau[TIMES, s], 1.0 - 1e-9)
    plan[EVALUATION_TIME] = plan[START_TIME] + share * size
    retract(tables.dofs, q[NOW], y[TRIAL], q[TRIAL])


@kernel
def _stages(tableau, integrator, smooth):
    """Evaluations of a step."""
    if smooth or integrator == EULER:
        return 1
    return tableau.shape[1] - 1 if integrator == ADAPTIVE else tableau.shape[1]


@kernel
def _store(tables, constraints, h, motion, s):
    """The derivative at a stage of Runge-Kutta."""
    y, n = motion.y, motion.a.shape[0]
    stage = y[STAGE + s]
    local_rate(tables.dofs, motion.q[TRIAL], y[TRIAL], y[TRIAL, n : 2 * n], stage)
    for i in range(n):
        stage[n + i] = motion.a[i]
    stage[2 * n], stage[2 * n + 1] = h.report[SUPPLIED], h.report[DISSIPATED]
    read_flows(constraints, stage, 2 * n + 2)


@kernel
def _judge(h, motion, tableau, clock, control, plan, options, own, vote):
    """What this part thinks of the end of a step; its `own` rates come first."""
    n, integrator, tolerance = motion.a.shape[0], int(options[0]), options[1]
    for i in range(VOTES):
        vote[i] = 0.0
    vote[CHANGED] = options[STIFF]
    vote[NEAR] = 1.0 / h.report[SMALLEST]
    if control[BEGIN] == 0 and control[ROUND] == 0:
        if control[SMOOTH] != 0:
            vote[APART] = 1.0 if apart(h, motion, plan[LENGTH], own) else 0.0
        if integrator == ADAPTIVE:
            error = local_error(motion, tableau, plan[LENGTH], tolerance, own)
            vote[ERROR] = error if error < np.inf else np.inf  # also for NaN
    for i in range(own):
        vote[MOVED] = max(vote[MOVED], abs(h.x[MOVE, i]))
        vote[TURNED] = max(vote[TURNED], abs(h.x[STOP, i]))
    for i in range(h.node.shape[0]):
        if h.node[i, LIVE] != h.node[i, ARRIVED] or h.node[i, LIVE] != h.node[i, RANK]:
            vote[CHANGED] = 1.0
    vote[BAD] = finite(motion.y[TRIAL, n : n + own], clock, plan[LENGTH])
    if vote[BAD] == OK:
        vote[BAD] = finite(motion.a[:own], clock, plan[LENGTH] * plan[LENGTH])


@kernel
def _correct(tables, constraints, h, motion):
    """Onto the constraints: Newton's step of coordinates and velocities. What drives that keep a rate do is work."""
    n, rows = motion.a.shape[0], constraints.rows
    for i in range(rows.shape[0]):
        if rows[i].role == SERVO_RATE:
            motion.y[TRIAL, 2 * n] += 0.5 * h.row[TURN, i] * (rows[i].rate + rows[i].goal)
    retract(tables.dofs, motion.q[TRIAL], h.x[MOVE], motion.q[TRIAL])
    for i in range(n):
        motion.y[TRIAL, n + i] += h.x[STOP, i]


@kernel
def _begin_step(constraints, motion, clock, control, plan, step, integrator, target):
    """What is next: 0 for a step, 1 if the target is reached, 2 if no step is small enough."""
    if integrator == ADAPTIVE:
        t = clock.now
        control[LAST] = (
            1 if t + 1.01 * clock.proposed >= target else 0
        )  # as in DOPRI5: leave no sliver of a step
        rest = target - t if control[LAST] != 0 else clock.proposed
        if rest <= 1e-14 * max(1.0, abs(t)):
            return 2 if rest > 0.0 else 1
        plan[LEFT] = rest
    elif plan[LEFT] == 0.0:
        if clock.steps >= target:
            return 1
        plan[LEFT] = step
    plan[START_TIME] = clock.now
    plan[LENGTH] = up_to_sample(constraints, clock.now, plan[LEFT])
    control[STEP_STAGE], control[ROUND] = 1, 0
    whole = plan[LENGTH] == step
    control[SMOOTH] = 1 if integrator == ADAMS and motion.tally[KNOWN] >= 4 and whole else 0
    return 0


@kernel
def _count(clock, control, plan, step, integrator, target):
    """A step has been taken."""
    cut = plan[LENGTH] < (1.0 - 1e-12) * plan[LEFT]  # to sample an element
    clock.taken += 1 if integrator == ADAPTIVE or not cut else 0
    if integrator == ADAPTIVE:
        last = control[LAST] != 0 and not cut
        clock.now = target if last else plan[START_TIME] + plan[LENGTH]
        # A step cut short to meet a sample says little about the next one.
        grown = plan[LENGTH] * plan[FACTOR]
        clock.proposed = max(grown, clock.proposed) if last or cut else grown
    elif cut:
        plan[LEFT] -= plan[LENGTH]
        clock.now += plan[LENGTH]
    else:
        plan[LEFT] = 0.0
        clock.steps += 1
        clock.now = clock.origin + clock.steps * step


@woven
def _notice(h, control, plan, stats):
    """How near the step's end is to a singular position, and how many evaluations it took."""
    if stats[RATIO_FIRST] == 0.0:
        stats[RATIO_FIRST] = h.report[SMALLEST]
    if h.report[SMALLEST] < stats[RATIO]:
        stats[RATIO], stats[RATIO_ROW] = h.report[SMALLEST], h.report[SMALLEST_ROW]
        stats[RATIO_TIME] = plan[EVALUATION_TIME]
    stats[LAST_EVALUATIONS] = stats[EVALUATIONS] - plan[COUNTED]


# --- many steps ---


@kernel
def run_components(
    tables, constraints, every_row, h, motion, clock, tableau, stats, step, options, targets, out,
    control, plan, vote,
):  # fmt: skip
    """Steps with a sample at each of `targets`: step counts, or times for the adaptive integrator; (samples, status).

    A status of `STATES` … `SAMPLE` means: exchange that with the relatives and call again. options: integrator,
    tolerance, budget of a step in clock ticks (0 for none), rates of own bodies, which come before those of other
    processes, 1 if there are stiff rows.
    """
    integrator, budget, own = int(options[0]), options[2], int(options[3])
    n, y, q = motion.a.shape[0], motion.y, motion.q
    related = control[PARENT] != 0 or control[CHILDREN] != 0
    if control[PHASE] == _NEXT:
        control[ROW] = 0
        control[BEGIN] = 0 if remind(constraints, motion, False) else 1
        read_states(constraints, y[NOW], 2 * n + 2)
    while True:
        phase = control[PHASE]
        if phase == _NEXT:
            if control[ROW] == targets.shape[0]:
                remind(constraints, motion, True)
                return control[ROW], OK
            target = targets[control[ROW]]
            plan[COUNTED] = stats[EVALUATIONS]
            control[BEGAN] = cycles() if budget > 0.0 else 0
            control[SAMPLING] = 1 if sampling_due(constraints, clock.now) else 0
            if control[BEGIN] != 0 or control[SAMPLING] != 0:
                control[BEGIN] = 1
                for i in range(q.shape[1]):
                    q[TRIAL, i] = q[NOW, i]
                for i in range(n, y.shape[1]):
                    y[TRIAL, i] = y[NOW, i]
                plan[LENGTH], plan[EVALUATION_TIME] = step, clock.now
                control[COLUMNS], control[ROUND] = 3, 0
                phase = _PLACED
            else:
                how = _begin_step(constraints, motion, clock, control, plan, step, integrator, target)
                if how == 2:
                    return control[ROW], TOO_SMALL
                if how == 1:
                    control[PHASE] = _SAMPLED
                    if related:
                        return control[ROW], SAMPLE
                    continue
                phase = _PREPARE
        if phase == _PREPARE:
            _prepare(tables, h, motion, tableau, control, plan, integrator)
            phase = _PLACED
        if phase == _PLACED:
            phase = _LOOK
            if related:
                control[PHASE] = phase
                return control[ROW], STATES
        if phase == _LOOK:
            v = y[TRIAL, n : 2 * n]
            write_states(constraints, y[TRIAL], 2 * n + 2)
            sampling, control[SAMPLING] = control[SAMPLING] != 0, 0
            look(
                tables,
                constraints,
                h,
                q[TRIAL],
                v,
                plan[EVALUATION_TIME],
                plan[LENGTH],
                control[COLUMNS],
                sampling,
            )
            stats[EVALUATIONS] += 1
            control[WAITED] = 0
            phase = _GATHERED
        if phase == _GATHERED:
            # First all without something of other processes inside, then the rest: by one call, for a compiler that
            # makes two copies of it rounds each in its own way.
            waited = control[WAITED]
            if waited != 0:
                receive(h)
            go_up(h, control[COLUMNS], waited)
            if waited == 0 and control[CHILDREN] != 0:
                control[WAITED], control[PHASE] = 1, phase
                return control[ROW], SHARES
            phase = _DOWN
            if control[PARENT] != 0:
                control[PHASE] = phase
                return control[ROW], FORCES
        if phase == _DOWN:
            go_down(h, control[COLUMNS])
            add_power(constraints, h)
            if control[CHILDREN] != 0:
                h.report[SUPPLIED] -= outflow(h, y[TRIAL, n : 2 * n])
            for i in range(n):
                motion.a[i] = h.x[ACCELERATE, i]
            phase = _TAKEN
            if control[CHILDREN] != 0:
                control[PHASE] = phase
                return control[ROW], PASSED
        if phase == _TAKEN:
            s = control[STEP_STAGE]
            if control[BEGIN] == 0 and control[ROUND] == 0 and control[SMOOTH] == 0 and integrator != EULER:
                _store(tables, constraints, h, motion, s)
            if control[COLUMNS] == 1:
                control[STEP_STAGE] = s + 1
                control[PHASE] = _PREPARE
                continue
            _judge(h, motion, tableau, clock, control, plan, options, own, vote)
            phase = _JUDGED
            if related:
                control[PHASE] = phase
                return control[ROW], VOTE
        if phase == _JUDGED:
            control[PHASE] = _NEXT
            if vote[BAD] != OK:
                return control[ROW], int(vote[BAD])
            if vote[APART] != 0.0:
                falter(motion)
                control[SMOOTH], control[STEP_STAGE], control[PHASE] = 0, 1, _PREPARE
                stats[REDONE] += 1
                continue
            if control[BEGIN] == 0 and control[ROUND] == 0 and integrator == ADAPTIVE:
                error = vote[ERROR]
                plan[FACTOR] = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2)) if error < np.inf else 0.1
                if not error <= 1.0:
                    clock.refused += 1
                    clock.proposed = plan[LENGTH] * plan[FACTOR]
                    continue
            _correct(tables, constraints, h, motion)
            # What is left of a rate makes a velocity larger by 1/sin near a singular position.
            fine = 1.0
            if control[ROUND] < _POLISH:
                fine = max(_FINEST, 1.0 / math.sqrt(max(vote[NEAR], 1.0)))
            if vote[MOVED] > _FINE_PLACE * fine or vote[TURNED] > _FINE_RATE * fine:
                control[ROUND] += 1
                if control[ROUND] < _ROUNDS:
                    control[PHASE] = _PLACED
                    continue
                if stats[UNSETTLED] == 0.0:
                    stats[UNSETTLED_TIME] = plan[EVALUATION_TIME]
                stats[UNSETTLED] += 1
            for i in range(h.node.shape[0]):
                h.node[i, ARRIVED] = h.node[i, LIVE]
            take(motion)
            keep(constraints, h, motion, control[BEGIN] != 0 or vote[CHANGED] != 0.0)
            if control[BEGIN] == 0:
                _count(clock, control, plan, step, integrator, targets[control[ROW]])
            control[BEGIN] = 0
            _notice(h, control, plan, stats)
            if budget > 0.0 and cycles() - control[BEGAN] > budget:
                stats[OVERRUNS] += 1
            continue
        if phase == _SAMPLED:
            leave_sample(tables, constraints, every_row, motion, stats, clock.now, out, control[ROW])
            control[ROW] += 1
            control[PHASE] = _NEXT
