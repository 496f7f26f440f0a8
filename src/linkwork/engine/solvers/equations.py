"""The equations of an implicit step, linearised: rows, residual, matrix and the scratch that they are made with.

Unknowns are numbered like the rates of the coordinates in use. Rows in these coordinates are sparse: `val[k]` belongs
to unknown `idx[k]`, k from ptr[r] to ptr[r + 1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.natural import Natural, no_natural
from ..coordinates.natural_tangent import MOTION, Reach
from ..kernels.jit import kernel
from ..kernels.record import new_record, new_records
from ..kernels.skyline import Skyline
from ..tables import HOLD, SERVO_RATE, Constraints, Tables

SOFT, HELD, DRIVEN = range(3)
"""What a row is to the solver: it has a law; it is a constraint; it is one that moves, a servo that keeps a rate
whatever it takes."""

ROW = np.dtype(
    [
        ("multiplier", "f8"),  # λ* of the augmented Lagrangian [N or N m]
        ("penalty", "f8"),  # α [N/m or N m/rad]
        ("steepest", "f8"),  # largest gradient seen
        ("target", "f8"),  # of a rate servo: where its coordinate should be at the start of a step [rad or m]
        ("aim", "f8"),  # and at its end; zero of other rows
        ("want", "f8"),  # displacement, rate or acceleration that a constraint asks for
        ("safe", "f8"),  # λ* at the start of a step
        ("phi", "f8"),  # gap [rad or m]
        ("bias", "f8"),  # φ'' if no unknown accelerated
        ("state", "f8"),  # state of the element at the start of a step
        ("flow", "f8"),  # and its rate
    ]
)

REPORT = np.dtype(
    [
        ("load_supply", "f8"),  # power supplied by loads now [W]
        ("load_loss", "f8"),  # and dissipated
        ("supply", "f8"),  # power supplied by loads and rows now [W]
        ("loss", "f8"),  # and dissipated
        ("half", "f8"),  # half of the step that states of elements are taken over [s]; 0 between steps
    ]
)


class Step(NamedTuple):
    """Structure and scratch of an implicit step."""

    matrix: Skyline
    ptr: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    pushed: np.ndarray
    """`val` when the matrix was last made."""
    dof_of: np.ndarray
    """The dof of each unknown, numbered from 0."""
    rows: np.ndarray
    """Of `ROW`: the rows of the table and, in natural coordinates, the rigid rows behind them."""
    kept: np.ndarray
    """SOFT, HELD or DRIVEN, of each of them."""
    residual: np.ndarray
    """Inertial forces less all others, of each unknown."""
    change: np.ndarray
    """Correction of a Newton iteration or of a projection."""
    report: np.record
    """Of `REPORT`."""
    spat: np.ndarray
    """Spatial scratch of each dof: see coordinates.tangent."""
    above: np.ndarray
    """above[d, l] is 1 if dof d carries link l."""
    block: np.ndarray
    spare: np.ndarray
    """Scratch of load derivatives."""
    line: np.ndarray
    """A row on its way into sparse form: zeros between uses."""
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


class Equations(NamedTuple):
    """What an implicit step solves: bodies and loads, the rows on them, and the linearised form of both."""

    tables: Tables
    constraints: Constraints
    work: Step


def kept_rows(constraints: Constraints, rigid: int = 0) -> np.ndarray:
    """What rows are to the solver: joint equations and couplings, servos that keep a rate, laws; then rigid rows."""
    role = constraints.rows["role"]
    kept = np.where(role == HOLD, HELD, np.where(role == SERVO_RATE, DRIVEN, SOFT))
    every: np.ndarray = np.r_[kept, np.full(rigid, HELD)].astype(np.int64)
    return every


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
        rows=new_records(len(kept), ROW),
        kept=kept,
        residual=np.zeros(n),
        change=np.zeros(n),
        report=new_record(REPORT),
        spat=np.zeros((0, 0)),
        above=np.zeros((0, 0), np.int8),
        block=np.zeros((2, 12, 12)),
        spare=np.zeros(24),
        line=np.zeros(n),
        natural=no_natural(),
        reach=Reach(*(np.zeros(0, np.int64) for _ in range(3))),
        mass_at=np.zeros((2, 0), np.int64),
        mass=np.zeros(0),
        weight=np.zeros(0),
        motions=np.zeros((3, 0, MOTION)),
        state=np.zeros(0),
        speed=np.zeros(0),
    )


@kernel
def multiply(work, gradients, r, x):
    """Row r of `work.val`, or of `work.pushed`, times a vector of unknowns."""
    total = 0.0
    for k in range(work.ptr[r], work.ptr[r + 1]):
        total += gradients[k] * x[work.idx[k]]
    return total


@kernel
def scatter(work, gradients, r, weight, out):
    """out += weight times row r of `work.val`, or of `work.pushed`."""
    for k in range(work.ptr[r], work.ptr[r + 1]):
        out[work.idx[k]] += weight * gradients[k]
