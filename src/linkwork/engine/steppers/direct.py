"""The direct solver as a back end of explicit steps: any rows, closed to rounding, from event to event.

Rows with bounds are kept, at a bound or free: their `mode`, which is decided here and taken as given everywhere else.
"""

from ..control.sensors import sense_later
from ..elements.respond import read_states, take_samples, write_states
from ..kernels.jit import inlined, kernel, woven
from ..kernels.tape import begin_anew, remember_tape
from ..solvers.layout import DELTA, DELTA_TURN, HI, LO, ON, P
from ..tables import GIVEN, HELD, HIGH, LAW, LOW
from .events import remember
from .impacts import impact, leap, let_go, set_modes
from .integrators import copy_state
from .joint_rows import assemble, scale_pivots
from .projection import correct, note_left_out, settle, solve_firmly
from .row_forces import SHAKY, solve
from .touch_forces import aim_touch
from .touch_modes import push_touch

USED_UP = 0.05
"""Share of its usual pivot below which a joint equation is to be exchanged, if there are others."""
# Corrections beyond these leave an error worth another round: gaps are of second order in the first [rad or m].
_FINE_PLACE, _FINE_RATE = 1e-7, 1e-6
_IMPACTS = 20  # one after the other at one moment


@woven
def evaluate_direct(tables, constraints, work, touch, motion, course, stats):
    """(trial) => forces of rows, accelerations, power; with course.project also the corrections onto the constraints.

    touch: contacts, None where nothing may touch.

    course.anew: no smooth step led here, or row course.event (-1 for none) stops or is hit. Then modes are found anew
    and impacts happen; if that row is kept, it is let go, and nothing else happens.
    """
    n, q = motion.a.shape[0], motion.q_trial
    v, energy = motion.y_trial[n : 2 * n], motion.y_trial[2 * n :]
    if course.fresh and course.bounded:
        _try_servos(constraints)
    if touch is not None and course.anew:
        touch.state[0].renew = 1
    while True:
        assemble(tables, constraints, work, q, v, course.at)
        stats.evaluations += 1
        if course.anew:
            course.changed = True
            if _is_kept(constraints.rows, course.event):
                let_go(constraints.rows[course.event])
            else:
                if course.rounds < _IMPACTS and impact(
                    tables, constraints, work, v, energy, course.at, course.event
                ):
                    course.rounds += 1
                    continue
                take_samples(tables, constraints, course.at)
                if constraints.tape.shape[0] > 0:
                    begin_anew(constraints.tape, max(course.event - constraints.rows.shape[0], 0))
                    assemble(tables, constraints, work, q, v, course.at)
                    if motion.y.shape[0] > 2 * n + 2:  # an integrator that came to its bound is at it
                        read_states(constraints, motion.y_trial, 2 * n + 2)
                set_modes(tables, constraints, course.at, course.event)
            course.anew = False
        solve(tables, constraints, work, course.at, course.ahead, motion.a, course.bounded, course.project)
        if touch is not None:
            push_touch(tables, constraints, work, touch, motion, course)
        # Of the end of a step `correct_direct` takes care.
        if course.project or not course.bounded or not _overstrained(constraints, work):
            break
    report = work.report[0]
    course.supplied, course.dissipated, course.pivot = report.supplied, report.dissipated, report.weakest
    if touch is not None:
        course.dissipated += touch.state[0].lost


@inlined
def _is_kept(rows, event):
    """Whether an event is one of a row that is kept; numbers beyond the rows are those of the diagram."""
    return 0 <= event < rows.shape[0] and rows[event].mode == HELD


@woven
def correct_direct(tables, constraints, work, touch, motion, course):
    """Decide what bounded rows do, and bring the trial onto the constraints; returns whether to do so again."""
    n, other = motion.a.shape[0], False
    if course.bounded and settle(constraints, work, motion.a) != 0:
        course.changed, other = True, True
    if note_left_out(constraints, work) != 0:
        course.changed = True
    if work.report[0].weakest < SHAKY:
        solve_firmly(constraints, work, motion.a)
        course.changed = True
    if touch is not None:
        aim_touch(touch, work.dof[DELTA], work.dof[DELTA_TURN])
    moved, turned, released = correct(
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
    course.supplied, course.dissipated = work.report[0].supplied, work.report[0].dissipated
    if touch is not None:
        course.dissipated += touch.state[0].lost
        released |= other  # what contacts do was found with other rows kept
    return released or not (moved <= _FINE_PLACE and turned <= _FINE_RATE)


@woven
def note_direct(tables, constraints, work, motion, course, stats):
    """(end of a step) Where rows start the next one, and how near it is to a singular position."""
    report = work.report[0]
    if course.bounded:
        remember(constraints, work)
    if constraints.tape.shape[0] > 0:
        remember_tape(constraints.tape)
        sense_later(tables, constraints, motion.a)
    if report.worn > 0.0 and report.weakest > USED_UP:
        report.worn = USED_UP
    course.worn = report.weakest < report.worn
    if not course.staying:
        note_singular(report, course, stats)


@kernel
def note_singular(report, course, stats):
    """Smallest pivot of the joint equations so far, where and when."""
    if stats.ratio_first == 0.0:
        stats.ratio_first = report.smallest
    if report.smallest < stats.ratio:
        stats.ratio, stats.ratio_row = report.smallest, int(report.smallest_row)
        stats.ratio_time = course.at


@woven
def leap_direct(tables, constraints, work, motion, course, stats):
    """To the end of the step by impulses: all rows within their bounds, at first order, and no events needed."""
    n = motion.a.shape[0]
    copy_state(motion)
    write_states(constraints, motion.y, 2 * n + 2)
    leap(tables, constraints, work, motion, course.start, course.length)
    read_states(constraints, motion.y_trial, 2 * n + 2)
    stats.leaps += 1
    course.fresh, course.anew, course.project, course.at = False, True, True, course.start + course.length


@woven
def scale_pivots_at(tables, constraints, work, motion):
    """row[SCALE] at least as large as the diagonals of A at the state."""
    n = motion.a.shape[0]
    assemble(tables, constraints, work, motion.q, motion.y[n : 2 * n], 0.0)
    scale_pivots(work)


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
