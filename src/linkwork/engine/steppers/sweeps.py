"""Sequential impulses on mechanisms that touch nothing: SIMGC and SIMMC.

Mikhaylyuk, Strashnov and Timokhin, "Algorithms of multibody dynamics simulation using articulated-body method" (SIMGC);
Strashnov and Mikhaylyuk, "Simulation of restrictions for the relative motion of articulated rigid bodies" (SIMMC). The
response to impulses comes from the factored joint-space inertia instead of passes through the tree: the same numbers,
cheaper. In maximal coordinates every body is a tree of its own, all joints are rows, and those of one joint are solved
together.

Sweeps over A = J H⁻¹ Jᵀ and the matrix-free search of contact (`contact`) are two solvers since a few rows are swept
faster over a matrix: 3.4 instead of 5.5 µs a step on the Peaucellier linkage, 1.6 instead of 3.3 on two four-bars.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..control.act import pass_between
from ..coordinates.factor import factor, project_row, solve_inward, solve_outward
from ..coordinates.gyroscopic import turn_freely
from ..coordinates.tree import place
from ..elements.impulse import set_targets
from ..kernels.clock import cycles
from ..kernels.jit import kernel, woven
from ..kernels.record import new_records
from ..kernels.rows import measure
from ..loads import apply_loads
from ..solvers.impulses import (
    SWEPT,
    factor_blocks,
    load_rows,
    store_rows,
    sweep,
    sweep_blocks,
    warm,
)
from ..tables import FRICTION
from .state import DISSIPATED, SUPPLIED

# A row whose Jacobian in joint space is this small against that of twists moves nothing: it is degenerate.
DEGENERATE = 1e-12


class Matrix(NamedTuple):
    """Rows in joint space, the matrix over them, and scratch of the sweeps."""

    H: np.ndarray
    """Factored inertia: dofs x depth of the tree."""
    D: np.ndarray
    rhs: np.ndarray
    """Accelerations without rows; scratch."""
    Y: np.ndarray
    """Rows in joint space, solved inward if they are active: rows x dofs."""
    A: np.ndarray
    live: np.ndarray
    """The rows that are active, in their order; all that follows counts these."""
    near: np.ndarray
    """The first row that each row reaches, and the one behind the last."""
    support: np.ndarray
    """The first dof of each row, and the one behind the last."""
    velocity: np.ndarray
    pseudo: np.ndarray
    X: np.ndarray
    """What the sweeps read of each row."""
    x: np.ndarray
    dropped: np.ndarray
    """1 for each of all rows that is degenerate here."""
    B: np.ndarray
    """Factored diagonal blocks of A."""
    block: np.ndarray
    ends: np.ndarray
    """The first row behind each block."""


def new_matrix(dofs: int, depth: int, rows: int) -> Matrix:
    """Scratch for a mechanism of so many dofs, in a tree of so many levels, and rows."""
    return Matrix(
        np.zeros((dofs, depth)), np.zeros(dofs), np.zeros(dofs), np.zeros((rows, dofs)), np.zeros((rows, rows)),
        np.zeros(rows, np.int64), np.zeros((rows, 2), np.int64), np.zeros((rows, 2), np.int64),
        np.zeros(rows), np.zeros(rows), new_records(rows, SWEPT), np.zeros(dofs), np.zeros(rows, np.int64),
        np.zeros((rows, rows)), np.zeros((2, rows)), np.zeros(rows + 1, np.int64),
    )  # fmt: skip


@woven
def solve_rows(tables, constraints, work, state, plan, t, h):
    """Impulses of all rows in a step of h from time t => rates at its end, pseudo rates (plan.delta), rates of rows
    (plan.after).

    The comments number the steps of SIMGC.
    """
    dofs, rows, H, v = tables.dofs, constraints.rows, work.H, state.v
    options, stats, shift = plan.options[0], plan.stats[0], plan.delta
    n = dofs.shape[0] - 1
    deadline = cycles() + options.budget
    place(dofs, tables.islands, state.q, v)  # (q, v) => R r S V A0 I p
    measure(tables, constraints, state.q)  # frames => phi, J
    if constraints.tape.shape[0] > 0:
        pass_between(tables, constraints, v, t)
    if tables.loads.shape[0] > 0:
        supplied, dissipated = apply_loads(tables, state.q, v, t)  # loads => p, tau
        state.work[SUPPLIED] += h * supplied
        state.work[DISSIPATED] += h * dissipated
    turn_freely(dofs, h, plan.ahead)  # V => p, ahead
    _project(dofs, constraints, work, v)  # J => Y, rate
    set_targets(tables, constraints, t, h, options.erp)
    factor(dofs, H, work.D, work.rhs)  # (I, p, tau) => L D, rhs

    # Steps 1 to 3: free motion.
    solve_inward(dofs, H, work.rhs)
    for i in range(n):
        work.rhs[i] *= work.D[i]
    solve_outward(dofs, H, work.rhs)
    count = _gather(dofs, rows, work, h)
    for i in range(n):
        v[dofs[i + 1].v] += h * work.rhs[i]
        shift[i] = 0.0

    # Steps 4 to 7: impulses and pseudo impulses.
    if count > 0:
        load_rows(rows, work.A, work.X, count, work.live)
        warm(work.A, work.near, work.X, work.velocity, count)
        if options.blocks != 0:
            parts = factor_blocks(rows, work.A, work.B, work.ends, count, work.live)
            sweeps, cut = sweep_blocks(
                work.A, work.B, work.ends, parts, work.near, work.X, work.velocity, work.pseudo,
                work.block[0], work.block[1], options.epsilon, options.most_sweeps, deadline,
            )  # fmt: skip
        else:
            sweeps, cut = sweep(
                work.A, work.near, work.X, work.velocity, work.pseudo, count, options.epsilon,
                options.most_sweeps, deadline,
            )  # fmt: skip
        stats.last_sweeps += sweeps
        stats.last_cut += cut
        store_rows(rows, work.X, count, work.live)
        _respond(dofs, work, count, v, shift)
        for k in range(count):
            plan.after[work.live[k]] = work.velocity[k]
        _stick(constraints, work, count, v, dofs, options.epsilon)


@kernel
def _project(dofs, constraints, work, v):
    """Rows in joint space and their rates; which of them are degenerate."""
    rows, Y = constraints.rows, work.Y
    for i in range(rows.shape[0]):
        magnitude = project_row(dofs, constraints, rows[i], Y[i])
        before, largest = 0.0, 0.0
        for k in range(dofs.shape[0] - 1):
            before += Y[i, k] * v[dofs[k + 1].v]
            largest = max(largest, abs(Y[i, k]))
        rows[i].rate = before
        work.dropped[i] = 1 if largest <= DEGENERATE * magnitude else 0


@kernel
def _gather(dofs, rows, work, h):
    """Active rows solved inward, their velocities in free motion, and the matrix A over them; returns their number."""
    n = dofs.shape[0] - 1
    Y, live, support = work.Y, work.live, work.support
    count = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if work.dropped[i] != 0:
            row.active = 0
        if row.active == 0:
            row.p = 0.0
            continue
        free = row.rate
        first, last = n, 0
        for k in range(n):
            free += h * Y[i, k] * work.rhs[k]
        solve_inward(dofs, work.H, Y[i])
        for k in range(n):
            if Y[i, k] != 0.0:
                first, last = min(first, k), k + 1
        support[count, 0], support[count, 1] = first, last
        live[count] = i
        work.velocity[count] = free
        work.pseudo[count] = 0.0
        count += 1
    _couple(work.D, Y, live, support, work.near, work.A, count)
    return count


@kernel
def _couple(D, Y, live, support, near, A, count):
    """A = Y D⁻¹ Yᵀ where rows share dofs."""
    for k in range(count):
        near[k, 0], near[k, 1] = k, k + 1
    for k in range(count):
        for j in range(k + 1):
            total = 0.0
            for i in range(max(support[k, 0], support[j, 0]), min(support[k, 1], support[j, 1])):
                total += Y[live[k], i] * Y[live[j], i] * D[i]
            A[k, j] = A[j, k] = total
            if total != 0.0:
                near[k, 0] = min(near[k, 0], j)
                near[j, 1] = max(near[j, 1], k + 1)


@kernel
def _respond(dofs, work, count, v, shift):
    """v += H⁻¹ Jᵀ p, and shift = H⁻¹ Jᵀ p' (the pseudo velocities)."""
    n, H, x, other = dofs.shape[0] - 1, work.H, work.x, work.rhs
    for i in range(n):
        x[i] = 0.0
        other[i] = 0.0
    for k in range(count):
        p, shoved = work.X[k].p, work.X[k].shoved
        for i in range(work.support[k, 0], work.support[k, 1]):
            x[i] += work.Y[work.live[k], i] * p
            other[i] += work.Y[work.live[k], i] * shoved
    for i in range(n):
        x[i] *= work.D[i]
        other[i] *= work.D[i]
    solve_outward(dofs, H, x)
    solve_outward(dofs, H, other)
    for i in range(n):
        v[dofs[i + 1].v] += x[i]
        shift[dofs[i + 1].v] = other[i]


@kernel
def _stick(constraints, work, count, v, dofs, epsilon):
    """A coordinate of the tree held by friction stands still: what is left of its velocity is the solver's error."""
    rows, coords = constraints.rows, constraints.coords
    for k in range(count):
        row = rows[work.live[k]]
        if row.role == FRICTION and coords[row.first].v >= 0 and row.lo < row.p < row.hi:
            i = dofs[coords[row.first].v].v
            if abs(v[i]) <= 10.0 * work.A[k, k] * epsilon:
                v[i] = 0.0
