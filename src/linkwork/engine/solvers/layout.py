"""Arrays that the direct solver works on: few and wide, for every array that a kernel takes costs compile time.

A name in capitals is the number of a vector inside one of them: work.row[P, i] is the impulse of row i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# row: floats of each row
P, PLACE, TURN, RIGHT, SOFT, WANT, LO, HI, PIVOT, SCALE, BEGAN, BEGAN_RATE, SUM, USUAL = range(14)
"""Force or impulse; pushes that close gaps, and that stop rates; scratch; softness; wanted acceleration or velocity;
bounds; 1/pivot; largest diagonal so far; gap or slip at the start of a step, and its rate; scratch;
largest pivot so far."""
# flag: integers of each row
FIRST, START, ON, SIDE, KEPT = range(5)
"""First column of the envelope; element (i, j) of a matrix over rows stands at START + j; takes part; kept or at
which bound; kept."""
# dof: floats of each dof, numbered from 0: dof d of the table is d - 1
INVERSE, FORCE, RESPONSE, RESPONSE_PLACE, RESPONSE_TURN, DELTA, DELTA_TURN, AHEAD = range(8)
"""1/D of the factored inertia; forces, solved inward; scratch; displacements, changes of rates, and mean rates of a
step less those at its end, numbered like rates."""
# link: integers of each dof
RATE, BEGIN, END = range(3)
"""Index of its rate; first row that touches it or anything it carries, and the one behind the last."""

(
    EVALUATIONS, EVENTS, EULER_STEPS, REDONE, UNSETTLED, UNSETTLED_TIME, RATIO, RATIO_ROW, RATIO_TIME, GAP, GAP_ROW,
    GAP_TIME, OVERRUNS, LAST_EVALUATIONS, LAST_GAP, RATIO_FIRST,
) = range(16)  # fmt: skip
"""Counts and extremes of a run."""
STATS = 16

# report
SMALLEST, SMALLEST_ROW, SUPPLIED, DISSIPATED, LOADS_SUPPLIED, LOADS_DISSIPATED, WEAKEST, WORN = range(8)
"""Smallest pivot against its row's scale, and that row; power by all and by loads alone [W]; smallest pivot against its
row's usual one, and below which share other joint equations are to be chosen (0: never)."""

# motion.y: each as (displacement, velocity, work, states of elements) or its derivative
NOW, TRIAL, PAST, STAGE, LENGTH = 0, 1, 2, 6, 14
"""The state; the trial; derivatives at the last four points, in a ring; stages of Runge-Kutta; how many in all."""
# motion.q
PAST_Q, LENGTH_Q = 2, 6
# motion.tally
KNOWN, STUCK, HEAD, WAIT = range(4)
"""Points of the past that are valid, below 1 while Adams steps have to wait; events in a row without progress; where
the newest of the past stands; how long Adams steps had to wait the last time [steps]."""


class Work(NamedTuple):
    """Structure and scratch of the solver."""

    H: np.ndarray
    row: np.ndarray
    flag: np.ndarray
    dof: np.ndarray
    link: np.ndarray
    J: np.ndarray
    """Rows in joint space, J[d, r]; of each dof, only rows BEGIN to END are ever touched."""
    Y: np.ndarray
    """J of the rows that are on, with the factor of the inertia solved inward: A = Yᵀ D⁻¹ Y."""
    A: np.ndarray
    L: np.ndarray
    report: np.ndarray


class Motion(NamedTuple):
    """State, trial and past of a motion."""

    q: np.ndarray
    y: np.ndarray
    a: np.ndarray
    """Accelerations where the last evaluation was."""
    tally: np.ndarray
    seen: np.ndarray
    """q, v and commands at the end of the last call: if they differ, somebody wrote to them."""


def new_motion(nq: int, nv: int, inputs: int, states: int) -> Motion:
    """A motion that has not begun, of so many coordinates, rates, commands and states of elements."""
    seen = np.full(nq + nv + inputs, np.nan)
    return Motion(
        np.zeros((LENGTH_Q, nq)),
        np.zeros((LENGTH, 2 * nv + 2 + states)),
        np.zeros(nv),
        np.zeros(4, np.int64),
        seen,
    )
