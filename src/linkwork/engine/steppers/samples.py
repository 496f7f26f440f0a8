"""Samples of a motion: what every method leaves at the times that were asked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.observe import read_joints
from ..elements.respond import sample_states
from ..kernels.jit import apart, kernel
from ..tables import HOLD


class Samples(NamedTuple):
    """What a run leaves at each sample."""

    t: np.ndarray
    """[s]"""
    q: np.ndarray
    v: np.ndarray
    work: np.ndarray
    """Supplied and dissipated since the start [J]."""
    values: np.ndarray
    """Coordinates of all joints [rad or m]."""
    rates: np.ndarray
    solver: np.ndarray
    """Energy in elements [J], iterations or evaluations of the last step, largest gap [m or rad], and what else the
    method reports."""
    a: np.ndarray
    """Accelerations of the rates."""
    forces: np.ndarray
    """Of rows [N or N m]."""
    states: np.ndarray
    """Of elements, those that are recorded."""


def new_samples(
    count: int, nq: int, nv: int, coords: int, rows: int, states: int, report: int = 3
) -> Samples:
    """Room for samples of a motion with so many coordinates and rates, coordinates of joints, rows, states of elements
    and numbers of the solver."""
    return Samples(
        np.empty(count), np.empty((count, nq)), np.empty((count, nv)), np.empty((count, 2)), np.empty((count, coords)),
        np.empty((count, coords)), np.empty((count, report)), np.empty((count, nv)), np.empty((count, rows)),
        np.empty((count, states)),
    )  # fmt: skip


@kernel
def largest_gap(rows):
    """Largest gap of the joint equations as last measured [m or rad], and its row; (0, -1) if there is none."""
    gap, worst = 0.0, -1
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD and abs(rows[i].phi) > gap:
            gap, worst = abs(rows[i].phi), i
    return gap, worst


# The state by itself: each stepper keeps it in vectors of its own form.
@apart
def write_sample(tables, constraints, every_row, q, v, a, work, t, iterations, out, k):
    """Sample k: state, accelerations, forces of rows, states of elements, coordinates of all joints.

    constraints: those that are solved, whose rows hold forces; every_row: the same with redundant ones, which are
    measured here; both are None for an open tree. Returns the largest gap and its row.
    """
    # Loops, not slices: an array assignment costs seconds to compile.
    out.t[k] = t
    for i in range(q.shape[0]):
        out.q[k, i] = q[i]
    for i in range(v.shape[0]):
        out.v[k, i] = v[i]
        out.a[k, i] = a[i]
    out.work[k, 0], out.work[k, 1] = work[0], work[1]
    strain, gap, worst = 0.0, 0.0, -1
    if constraints is not None:
        for i in range(constraints.rows.shape[0]):
            out.forces[k, i] = constraints.rows[i].force
        sample_states(constraints, out.states[k])
        strain = read_joints(tables, every_row, q, v, t, out.values[k], out.rates[k])
        gap, worst = largest_gap(every_row.rows)
    out.solver[k, 0], out.solver[k, 1], out.solver[k, 2] = strain, iterations, gap
    return gap, worst
