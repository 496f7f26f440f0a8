"""Arrays of the implicit steps.

Unknowns are numbered like the rates of the coordinates in use. Rows in these coordinates are sparse: `val[k]` belongs
to unknown `idx[k]`, k from ptr[r] to ptr[r + 1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.natural import Natural, no_natural
from ..coordinates.natural_tangent import MOTION, Reach
from ..kernels.jit import kernel
from ..kernels.signal import signal_slope, signal_value
from ..kernels.skyline import Skyline
from ..tables import HOLD, SERVO_RATE, Constraints

# row: floats of each row
MULTIPLIER, PENALTY, STEEPEST, TARGET, AIM, WANT, SAFE, PHI, RATE, BIAS, STATE, FLOW = range(12)
"""λ*; α; largest gradient seen; where a servo's coordinate should be, at the start of a step and at its end; wanted
rate or acceleration; λ* at the start of a step; gap, its rate, and φ'' if no unknown accelerated;
the element's state and its flow at the start of a step."""
ROW_FIELDS = 12
HALF = 4
"""In the report: half of the step that states of elements are taken over [s]; 0 between steps."""
# kept: what a row is to the solver
SOFT, HELD, DRIVEN = range(3)
"""It has a law; it is a constraint; it is one that moves: a servo that keeps a rate whatever it takes."""
# x: vectors of unknowns
CHANGE, RESIDUAL, TRIAL_RATE, TRIAL_AUX, TRIAL_ACCELERATION, DELTA = range(6)
"""Correction of a Newton iteration; residual; rates, auxiliary accelerations (of generalized-α) and accelerations at
the end of the step; displacement of the step."""
X_FIELDS = 6
# path.y
RATES, AUXILIARY, ACCELERATIONS = range(3)

(
    ITERATIONS, MOST_ITERATIONS, HALVED, GAP, GAP_ROW, GAP_TIME, OVERRUNS, LAST_ITERATIONS, LAST_GAP, FACTORED, CHANGED,
    SMALLEST, SMALLEST_ROW, SMALLEST_TIME, RECHOSEN, SLOW_STEPS,
) = range(16)  # fmt: skip
"""Counts and extremes of a run."""
STATS = 16


class Step(NamedTuple):
    """Structure and scratch of an implicit step."""

    matrix: Skyline
    ptr: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    pushed: np.ndarray
    """The same when the matrix was last made."""
    dof_of: np.ndarray
    """The dof of each unknown, numbered from 0."""
    row: np.ndarray
    kept: np.ndarray
    """SOFT, HELD or DRIVEN, of the rows of the table and, in natural coordinates, of the rigid rows behind them."""
    x: np.ndarray
    spat: np.ndarray
    """Spatial scratch of each dof: see coordinates.tangent."""
    above: np.ndarray
    """above[d, l] is 1 if dof d carries link l."""
    block: np.ndarray
    spare: np.ndarray
    """Scratch of load derivatives."""
    line: np.ndarray
    """A row on its way into sparse form: zeros between uses."""
    report: np.ndarray
    """Power supplied and dissipated by loads, and by all [W]; HALF."""
    natural: Natural
    """Without bodies if the coordinates are those of the tree."""
    reach: Reach
    mass_at: np.ndarray
    """Rows and columns of the entries of the constant inertia of natural coordinates."""
    mass: np.ndarray
    weight: np.ndarray
    motions: np.ndarray
    state: np.ndarray
    """Coordinates of floating bodies, for loads and records."""
    speed: np.ndarray
    """And their rates."""


class Path(NamedTuple):
    """State of an implicit run: coordinates now and on trial; rates, auxiliary accelerations, accelerations."""

    q: np.ndarray
    y: np.ndarray
    energy: np.ndarray
    """Work supplied and dissipated so far [J]."""
    seen: np.ndarray
    """q, v and commands at the end of the last call: if they differ, somebody wrote to them."""


@kernel
def rate_command(tables, constraints, row, t):
    """What a velocity servo wants at time t: rate and its slope; zero for other constraints."""
    if row.role != SERVO_RATE:
        return 0.0, 0.0
    scale = constraints.inputs[row.input]
    return scale * signal_value(tables, row.signal, t), scale * signal_slope(tables, row.signal, t)


def kept_rows(constraints: Constraints, rigid: int = 0) -> np.ndarray:
    """What rows are to the solver: joint equations and couplings, servos that keep a rate, laws; then rigid rows."""
    role = constraints.rows["role"]
    kept = np.where(role == HOLD, HELD, np.where(role == SERVO_RATE, DRIVEN, SOFT))
    every: np.ndarray = np.r_[kept, np.full(rigid, HELD)].astype(np.int64)
    return every


@kernel
def multiply(work, r, x):
    """Row r times a vector of unknowns."""
    total = 0.0
    for k in range(work.ptr[r], work.ptr[r + 1]):
        total += work.val[k] * x[work.idx[k]]
    return total


@kernel
def scatter(work, r, weight, out):
    """out += weight times row r."""
    for k in range(work.ptr[r], work.ptr[r + 1]):
        out[work.idx[k]] += weight * work.val[k]


def new_step(matrix: Skyline, gradients: list[set[int]], kept: np.ndarray, dof_of: np.ndarray) -> Step:
    """Scratch for rows with these unknowns, without what belongs to one set of coordinates alone."""
    n = matrix.shape.shape[1]
    ptr = np.cumsum([0, *(len(gradient) for gradient in gradients)]).astype(np.int64)
    idx = np.array([i for gradient in gradients for i in sorted(gradient)], np.int64)
    return Step(
        matrix=matrix,
        ptr=ptr,
        idx=idx,
        val=np.zeros(len(idx)),
        pushed=np.zeros(len(idx)),
        dof_of=dof_of,
        row=np.zeros((ROW_FIELDS, len(kept))),
        kept=kept,
        x=np.zeros((X_FIELDS, n)),
        spat=np.zeros((0, 0)),
        above=np.zeros((0, 0), np.int8),
        block=np.zeros((2, 12, 12)),
        spare=np.zeros(24),
        line=np.zeros(n),
        report=np.zeros(5),
        natural=no_natural(),
        reach=Reach(*(np.zeros(0, np.int64) for _ in range(3))),
        mass_at=np.zeros((2, 0), np.int64),
        mass=np.zeros(0),
        weight=np.zeros(0),
        motions=np.zeros((3, 0, MOTION)),
        state=np.zeros(0),
        speed=np.zeros(0),
    )
