"""Records of explicit steps: the state and its past, the step under way, statistics of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.record import as_array, new_record
from .state import State, new_state

PAST = 4
"""Points of the past that Adams' method needs."""
STAGES = 8
"""Of Runge-Kutta methods, the one at the end of the step included."""


class Motion(NamedTuple):
    """State, trial and past of a motion of n rates.

    A y is (displacement since the state, rates, work, states of elements), or its derivative: 2 n + 2 numbers and
    more. Of the state itself the displacement is zero.
    """

    q: np.ndarray
    """Coordinates now."""
    y: np.ndarray
    q_trial: np.ndarray
    """Coordinates of the trial, which becomes the state when a step is taken."""
    y_trial: np.ndarray
    q_past: np.ndarray
    past: np.ndarray
    """Derivatives at the last points, in a ring whose newest is course.head."""
    stages: np.ndarray
    """Derivatives at the stages of Runge-Kutta behind the first, which is the newest of the past."""
    a: np.ndarray
    """Accelerations where the last evaluation was."""
    seen: np.ndarray
    """q, v and commands at the end of the last call: if they differ, somebody wrote to them."""


ADAMS, RUNGE_KUTTA, ADAPTIVE, EULER = range(4)
"""Integrators: Adams of order four, Runge-Kutta of fixed step, the same with its error controlled, and Euler's
semi-implicit method."""

COURSE = np.dtype(
    [
        # --- what is asked for ---
        ("integrator", "i8"),
        ("step", "f8"),  # size of fixed steps [s]
        ("tolerance", "f8"),  # of the local error, where it is controlled
        ("budget", "f8"),  # of a step, in ticks of the processor's clock; 0 for none
        ("bounded", "?"),  # rows have bounds: there may be events
        ("stiff", "?"),  # rows look ahead by a step, which is no derivative that Adams could use
        ("own", "i8"),  # rates of this process, which come before those of others
        ("above", "?"),  # another process holds what this part is inside of
        ("below", "?"),  # other processes hold what is inside of this part
        # --- where the loop is ---
        ("phase", "i8"),
        ("inner", "i8"),  # where an evaluation goes on that waits for other processes
        ("sample", "i8"),  # targets reached
        (
            "staying",
            "?",
        ),  # no step leads to this evaluation: somebody wrote to the state, or elements are sampled
        ("fresh", "?"),  # the trial ends an attempt that has not been judged yet
        ("anew", "?"),  # modes of rows are to be found anew at this evaluation, and impacts happen
        ("sampling", "?"),  # elements are to be sampled at this evaluation
        ("last", "?"),  # the step ends at a target
        ("smooth", "?"),  # it is one of Adams' method
        ("leaping", "?"),  # it is taken by impulses, for events crowd
        ("project", "?"),  # the evaluation also yields the corrections onto the constraints
        ("stage", "i8"),
        ("rounds", "i8"),  # corrections onto the constraints so far
        ("changed", "?"),  # something happened that the past does not foretell
        ("worn", "?"),  # joint equations in use come near to following from each other: choose others
        ("start", "f8"),  # time at the start of what is left of the step [s]
        ("left", "f8"),  # of a fixed step [s]
        ("length", "f8"),  # of the attempt: what is left, or up to the next sample of an element [s]
        ("share", "f8"),  # of that length which is tried, up to an event
        ("ahead", "f8"),  # how far stiff rows look [s]
        ("at", "f8"),  # time of the evaluation [s]
        ("supplied", "f8"),  # power there [W]
        ("dissipated", "f8"),
        ("pivot", "f8"),  # smallest of the constraints against the usual one there: 0 at singular positions
        ("factor", "f8"),  # for the size of the next step
        ("began", "i8"),  # ticks of the clock at the start of the step
        ("counted", "i8"),  # evaluations before it
        # --- the search for an event ---
        ("event", "i8"),  # its row, -1 for none
        ("searches", "i8"),
        ("low", "f8"),  # shares of the length between which it is
        ("high", "f8"),
        ("before", "f8"),  # what is sought to be zero at the last trial but one, and its share
        ("before_at", "f8"),
        # --- the past ---
        ("head", "i8"),  # the newest of the ring
        ("known", "i8"),  # points that are valid, below 1 while Adams has to wait
        ("wait", "i8"),  # how long it had to wait the last time [steps]
        ("crowd", "i8"),  # events so far in this step; of adaptive steps, in a row without progress
    ]
)

STATS = np.dtype(
    [
        ("evaluations", "i8"),
        ("events", "i8"),
        ("leaps", "i8"),  # steps, or parts of steps, that were taken by impulses
        ("redone", "i8"),  # steps that Adams' method gave up
        ("unsettled", "i8"),  # steps that ended off the constraints
        ("unsettled_time", "f8"),  # the first of them [s]
        ("ratio", "f8"),  # smallest pivot against its row's scale
        ("ratio_row", "i8"),
        ("ratio_time", "f8"),
        ("ratio_first", "f8"),
        ("gap", "f8"),  # largest at a sample [m or rad]
        ("gap_row", "i8"),
        ("gap_time", "f8"),
        ("last_gap", "f8"),
        ("overruns", "i8"),  # steps beyond the budget
        ("last_evaluations", "i8"),  # of the last step
    ]
)

VOTE = np.dtype(
    [
        ("apart", "f8"),  # 1 if the past does not foretell the accelerations
        ("error", "f8"),  # local error against the tolerance
        ("moved", "f8"),  # largest corrections of positions
        ("turned", "f8"),  # and of rates
        ("bad", "f8"),  # why to stop
        ("changed", "f8"),  # 1 if what happened so far says nothing of what comes
        ("near", "f8"),  # how near a singular position is, 1/sin²
    ]
)
"""Judgements of a step; of several processes the largest counts."""


class Books(NamedTuple):
    """The records of a run as arrays of one, for the kernel."""

    course: np.ndarray
    clock: np.ndarray
    stats: np.ndarray
    vote: np.ndarray


class Run(NamedTuple):
    """An explicit run: its motion and records. `state` are views of the motion."""

    motion: Motion
    course: np.record
    stats: np.record
    vote: np.record
    state: State
    books: Books


def new_run(q: np.ndarray, v: np.ndarray, inputs: int, states: int, step: float) -> Run:
    """A run that begins at time zero, with so many commands and states of elements."""
    nq, nv = len(q), len(v)
    size = 2 * nv + 2 + states
    motion = Motion(
        q.copy(), np.zeros(size), np.zeros(nq), np.zeros(size), np.zeros((PAST, nq)), np.zeros((PAST, size)),
        np.zeros((STAGES, size)), np.zeros(nv), np.full(nq + nv + inputs, np.nan),
    )  # fmt: skip
    motion.y[nv : 2 * nv] = v
    course, stats, vote = new_record(COURSE), new_record(STATS), new_record(VOTE)
    course.step, course.own, course.pivot, course.event = step, nv, 1.0, -1
    stats.ratio, stats.ratio_row, stats.gap_row = np.inf, -1, -1
    state = new_state(q, v, step)._replace(
        q=motion.q, v=motion.y[nv : 2 * nv], work=motion.y[2 * nv : 2 * nv + 2]
    )
    books = Books(as_array(course), as_array(state.clock), as_array(stats), as_array(vote))
    return Run(motion, course, stats, vote, state, books)
