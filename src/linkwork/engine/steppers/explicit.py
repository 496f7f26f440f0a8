"""Explicit steps, one driver for all back ends: Adams, Runge-Kutta or Euler, from event to event and sample to sample.

A step ends on the constraints with the accelerations there, which the next one begins with:

    plan       what is next: a sample, an element to be sampled, a step and how long it may be
    prepare    history or stages => trial
    evaluate   trial => accelerations, power, flows of states; at the end of the step also corrections
    judge      does the past foretell it, how large is its error, is there an event before it?
    correct    onto the constraints, again while that is worth it
    keep       the trial becomes the state, its derivative the newest of the past

What is particular to a back end is how it evaluates and corrects: `articulated` (an open tree), `direct` (any rows)
and `components` (subsystems; there an evaluation waits for other processes, the loop returns with what has to
cross, and goes on from there when it is called again). A joint that comes to rest against dry friction, or a limit
that is hit, ends a step early: the moment is located (`events`), the mode of the row changes, and the rest of the step
begins anew, so that order is kept between events. Where events crowd, what is left of the step is taken by impulses,
which need no times.
"""

from ..coordinates.tree import retract
from ..elements.respond import read_states, sampling_due, up_to_sample, write_states
from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel, shared_kernel, woven
from ..kernels.tape import SWITCH, joints_wait
from .articulated import evaluate_tree
from .bounds import leap_parts
from .components import SAMPLE as SAMPLE_CROSSES
from .components import VOTE, correct_parts, evaluate_parts, judge_parts, note_parts
from .direct import correct_direct, evaluate_direct, leap_direct, note_direct, scale_pivots_at
from .events import locate
from .integrators import (
    adams,
    copy_state,
    euler,
    evaluations,
    give_up_adams,
    judge,
    keep_derivative,
    next_factor,
    runge_kutta,
    store_stage,
    take_trial,
)
from .motion import ADAMS, ADAPTIVE, EULER
from .samples import write_sample
from .state import OK, TOO_SMALL, count_step, finite, untouched
from .touch_events import locate_touch, note_touch, recall_mean, sample_touch
from .touch_survey import GIVE_UP

CHOOSE = 21
"""A stretch of steps ended because the joint equations in use come near to following from each other, while there are
others that they could be exchanged for: choose anew, and come again."""
HIT = 22
"""Something hits: let impulses happen at the state, and go on."""
PLAN, PREPARE, EVALUATE, DECIDE, CORRECT, SAMPLE, PROBE, END, GO_ON = range(9)
"""Where the loop is; a call begins with PLAN, with GO_ON in the midst of a step whose state somebody has written to, or
with PROBE, which only looks how large the diagonals of A are."""
ROUNDS = 20
"""Corrections onto the constraints at the end of a step before it counts as unsettled."""
_STEP, _REACHED, _CHOOSE, _TOO_SMALL = range(4)
_EVENTS = 10  # in one step, before the rest of it is taken by impulses
_LEAP = 1e-5  # how far the adaptive integrator goes by impulses where events crowd [s]


@kernel
def _remind(constraints, motion, write):
    """Whether state and commands are those that the last call left; with `write`, leave them."""
    n, inputs = motion.a.shape[0], motion.seen[:0]
    if constraints is not None:
        inputs = constraints.inputs
    return untouched(motion.seen, motion.q, motion.y[n : 2 * n], inputs, write)


@kernel
def _stay(motion, course, clock, t):
    """Evaluate the state as it is, at t: no step leads here."""
    course.ahead = clock.proposed if course.integrator == ADAPTIVE else course.step
    copy_state(motion)
    course.staying, course.anew, course.changed, course.fresh = True, True, True, False
    course.project, course.rounds, course.event, course.at = True, 0, -1, t
    course.start, course.length, course.share = t, 0.0, 1.0


@woven
def _plan_step(constraints, course, clock, target):
    """Where the next step, or what is left of it, begins and how far it goes."""
    course.last = False
    if course.integrator == ADAPTIVE:
        t = clock.now
        course.last = t + 1.01 * clock.proposed >= target  # as in DOPRI5: leave no sliver of a step
        rest = target - t if course.last else clock.proposed
        if rest <= 1e-14 * max(1.0, abs(t)):
            return _TOO_SMALL if rest > 0.0 else _REACHED
        course.left = min(rest, _LEAP) if course.crowd >= _EVENTS else rest
        course.start, course.ahead = t, course.left
    else:
        if course.left == 0.0:
            if clock.steps >= target:
                return _REACHED
            course.left, course.crowd = course.step, 0
        course.start = clock.now + (course.step - course.left)
        course.ahead = course.step
    course.length = course.left
    if constraints is not None:  # an open tree knows nothing of events
        if course.worn and (course.integrator == ADAPTIVE or course.left == course.step):
            course.left = 0.0
            return _CHOOSE
        course.length = up_to_sample(constraints, course.start, course.left)
        course.leaping = course.bounded and course.crowd >= _EVENTS
        course.event, course.searches, course.low, course.high = -1, 0, 0.0, 1.0
        course.anew, course.rounds, course.factor = False, 0, 1.0
    course.smooth = course.integrator == ADAMS and course.known >= 4 and course.length == course.ahead
    course.stage, course.share, course.changed, course.fresh = 1, 1.0, False, True
    return _STEP


@inlined
def _due(course, clock, target):
    """Whether a sample is to be taken before anything else happens."""
    return (clock.now if course.integrator == ADAPTIVE else clock.steps) >= target


@woven
def _prepare(tables, motion, course, tableau):
    """The next trial of a step, and when it is."""
    h, s = course.share * course.length, course.stage
    last, share = s == evaluations(tableau, course.integrator, course.smooth), 1.0
    if course.integrator == EULER:
        euler(motion, course, h)
    elif course.smooth:
        adams(tables, motion, course, h)
    else:
        runge_kutta(motion, course, tableau, s, last, h)
        # A stage at the end of the step is still before it, should a signal jump there; by so much that sums of times
        # show it, and so little that no order of convergence does.
        share = 1.0 if last else min(tableau.c[s], 1.0 - 1e-9)
    course.project, course.at = last, course.start + share * h
    retract(tables.dofs, motion.q, motion.y_trial, motion.q_trial)


@inlined
def _count(course, clock, target):
    """A step, or a part of it, has been taken."""
    used = course.share * course.length
    if course.integrator == ADAPTIVE:
        clock.taken += 1
        course.crowd = course.crowd + 1 if used < 1e-3 * course.length else 0
        clock.now = target if course.last and used == course.left else course.start + used
        grown = course.length * course.factor
        # A step cut short to meet a sample says little about the next one.
        short = course.last or course.length < course.left
        clock.proposed = max(grown, clock.proposed) if short else grown
    else:
        course.left -= used
        course.crowd += 1 if course.share < 1.0 else 0
        if course.left <= 1e-12 * course.step:
            course.left = 0.0
            count_step(clock, course.step)


@woven
def _plan(constraints, touch, motion, course, clock, stats, targets):
    """What is next: where the loop goes on, or END with a status."""
    if course.sample == targets.shape[0]:
        return END, OK
    if constraints is not None:  # noqa: SIM102 (alone: it is left out where there are none)
        if joints_wait(constraints.tape) and (course.integrator == ADAPTIVE or course.left == 0.0):
            return END, SWITCH
    course.counted = stats.evaluations
    course.began = cycles() if course.budget > 0.0 else 0
    t = clock.now
    if course.integrator != ADAPTIVE and course.left > 0.0:
        t += course.step - course.left
    course.sampling = False
    if constraints is not None:
        course.sampling = sampling_due(constraints, t)
    if course.staying or course.sampling:
        _stay(motion, course, clock, t)
        return EVALUATE, OK
    what = _plan_step(constraints, course, clock, targets[course.sample])
    if what == _TOO_SMALL:
        return END, TOO_SMALL
    if what == _CHOOSE:
        return END, CHOOSE
    if touch is not None and what == _STEP:
        if course.crowd >= _EVENTS:
            return END, GIVE_UP
        touch.state[0].event = -1
    return PREPARE if what == _STEP else SAMPLE, OK


@woven
def _decide(constraints, work, touch, parts, motion, course, clock, stats, vote):
    """(judged end of a trial) Where the loop goes on: the same step by other means, its correction, or another one."""
    if not course.fresh:
        return CORRECT
    if vote.apart != 0.0:
        give_up_adams(course)
        stats.redone += 1
        course.stage = 1
        return PREPARE
    refused, again = False, False
    if course.integrator == ADAPTIVE and course.event < 0:
        course.factor = next_factor(vote.error)
        refused = not vote.error <= 1.0
    if course.bounded and (touch is None or touch.state[0].event < 0):
        if work is not None:
            again = locate(constraints, work, course, refused)
        if parts is not None:
            again = locate(constraints, parts, course, refused)
    if touch is not None:
        again = locate_touch(touch, course, refused, again)
    if refused:
        clock.refused += 1
        clock.proposed = course.length * course.factor
        course.crowd = 0
        return PLAN
    if again:
        course.stage, course.smooth = 1, False
        return PREPARE
    course.fresh = False
    if touch is not None and touch.state[0].event >= 0:
        touch.state[0].events += 1
        if course.share == 0.0:
            copy_state(motion)
        course.at = course.start + course.share * course.length
        touch.state[0].renew = 1
        return EVALUATE
    if course.event >= 0:
        stats.events += 1
        if course.share == 0.0:
            copy_state(motion)
        course.anew, course.at = True, course.start + course.share * course.length
        return EVALUATE
    return CORRECT


@inlined
def _note_unsettled(course, stats):
    """A step ends off the constraints."""
    if stats.unsettled == 0:
        stats.unsettled_time = course.at
    stats.unsettled += 1


@woven
def _keep(constraints, motion, course, clock, stats, target):
    """The corrected trial becomes the state; returns why the run cannot go on, or OK."""
    n = motion.a.shape[0]
    take_trial(motion)
    unlike = course.share < 1.0 or course.length != course.ahead
    keep_derivative(constraints, motion, course, course.changed or course.staying or unlike)
    if course.staying:
        course.staying, course.sampling = False, False
        return OK
    _count(course, clock, target)
    stats.last_evaluations = stats.evaluations - course.counted
    if course.budget > 0.0 and cycles() - course.began > course.budget:
        stats.overruns += 1
    return finite(motion.y[n : 2 * n], clock, course.length)


@woven
def _sample(tables, constraints, every_row, motion, course, clock, stats, out):
    """State, accelerations, forces of rows, coordinates of all joints and the largest gap at a target."""
    n, t = motion.a.shape[0], clock.now
    if every_row is not None:
        write_states(every_row, motion.y, 2 * n + 2)
    gap, row = write_sample(
        tables, constraints, every_row, motion.q, motion.y[n : 2 * n], motion.a, motion.y[2 * n : 2 * n + 2], t,
        stats.last_evaluations, out, course.sample,
    )  # fmt: skip
    if gap > stats.gap:
        stats.gap, stats.gap_row, stats.gap_time = gap, row, t
    stats.last_gap = gap
    course.sample += 1


# Few and wide: each of these is one thing, and every array that a kernel takes costs compile time. Long: branches on
# what a model does not have are left out of its compiled code only where they stand in the loop itself.
def _run(tables, constraints, every_row, work, touch, parts, motion, books, tableau, targets, out):
    """Steps with a sample at each of `targets`: step counts, or times for the adaptive integrator; (samples, status).

    Without room in `out`, samples are counted and not taken.

    every_row: the constraints with all their rows, redundant ones too. work: of the direct solver; touch: contacts;
    parts: of subsystems. What a model does not have is None; an open tree has none of these. A status of
    `components.STATES` … means: exchange that with the other processes and call again.
    """
    course, clock, stats, vote = books.course[0], books.clock[0], books.stats[0], books.vote[0]
    n, phase, related = motion.a.shape[0], course.phase, course.above or course.below
    if work is not None and phase == PROBE:
        scale_pivots_at(tables, constraints, work, motion)
        return 0, OK
    if phase == PLAN or phase == GO_ON:
        course.sample, course.left = 0, course.left if phase == GO_ON else 0.0
        course.staying = not _remind(constraints, motion, False) or phase == GO_ON
        phase = PLAN
        if constraints is not None:
            read_states(constraints, motion.y, 2 * n + 2)
    while True:
        if touch is not None and touch.state[0].bad != 0:
            if course.staying and course.left == 0.0 and _due(course, clock, targets[course.sample]):
                recall_mean(touch, motion.a)
                phase = SAMPLE
                continue
            return course.sample, int(touch.state[0].bad)
        if phase == PLAN:
            phase, status = _plan(constraints, touch, motion, course, clock, stats, targets)
            if phase == END:
                if status != TOO_SMALL:
                    _remind(constraints, motion, True)
                return course.sample, status
            if phase == SAMPLE and related:
                course.phase = phase
                return course.sample, SAMPLE_CROSSES
        if phase == SAMPLE:
            if out.t.shape[0] == 0:  # nobody looks
                course.sample += 1
                phase = PLAN
                continue
            if touch is not None:
                sample_touch(touch, out.solver[course.sample])
            _sample(tables, constraints, every_row, motion, course, clock, stats, out)
            phase = PLAN
            continue
        if phase == PREPARE:
            if work is not None and (course.leaping or course.integrator == EULER):
                leap_direct(tables, constraints, work, motion, course, stats)
            elif parts is not None and course.leaping:
                leap_parts(tables, constraints, parts, motion, course, stats)
            else:
                _prepare(tables, motion, course, tableau)
            phase = EVALUATE
        if phase == EVALUATE:
            if constraints is not None and motion.y.shape[0] > 2 * n + 2:
                write_states(constraints, motion.y_trial, 2 * n + 2)
            if parts is not None:
                waiting = evaluate_parts(tables, constraints, parts, touch, motion, course, stats)
                if waiting != 0:
                    course.phase = phase
                    return course.sample, waiting
            elif work is not None:
                evaluate_direct(tables, constraints, work, touch, motion, course, stats)
            else:
                evaluate_tree(tables, motion, course, stats)
            if touch is not None and touch.state[0].bad != 0:
                continue
            if course.fresh and not course.smooth and (not course.project or course.integrator == ADAPTIVE):
                store_stage(tables, constraints, motion, course)
            if not course.project:
                course.stage += 1
                phase = PREPARE
                continue
            judge(motion, course, tableau, vote)
            if parts is not None:
                judge_parts(parts, motion, course, clock, vote)
            phase = DECIDE
            if related:
                course.phase = phase
                return course.sample, VOTE
        if phase == DECIDE:
            if parts is not None and vote.bad != OK:
                return course.sample, int(vote.bad)
            phase = _decide(constraints, work, touch, parts, motion, course, clock, stats, vote)
        if phase == CORRECT:
            again = False
            if parts is not None:
                again = correct_parts(tables, constraints, parts, touch, motion, course, vote)
            elif work is not None:
                again = correct_direct(tables, constraints, work, touch, motion, course)
            if again:
                course.rounds += 1
                if course.rounds < ROUNDS:
                    phase = EVALUATE
                    continue
                if touch is not None and touch.state[0].closed > 0:
                    # Corrections that lead nowhere may have changed rates by any amount: impulses are sure.
                    touch.state[0].bad = GIVE_UP
                    continue
                _note_unsettled(course, stats)
            if parts is not None:
                note_parts(constraints, parts, course, stats, vote)
            elif work is not None:
                note_direct(tables, constraints, work, motion, course, stats)
            if touch is not None:
                note_touch(touch)
            status = _keep(constraints, motion, course, clock, stats, targets[course.sample])
            if status != OK and not related:
                return course.sample, status
            phase = PLAN
            if touch is not None and touch.state[0].hit != 0:
                return course.sample, HIT


run = kernel(_run)
"""The loop for open trees and the direct solver."""
run_parts = shared_kernel(_run)
"""The loop for subsystems, whose passes up and down are slower when taken in (car, rk4: 142 or 153 µs a step)."""
