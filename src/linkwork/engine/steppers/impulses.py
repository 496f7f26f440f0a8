"""SIMGC and SIMMC: sequential impulses in generalized and in maximal coordinates.

Mikhaylyuk, Strashnov and Timokhin, "Algorithms of multibody dynamics simulation using articulated-body method" (SIMGC);
Strashnov and Mikhaylyuk, "Simulation of restrictions for the relative motion of articulated rigid bodies" (SIMMC). The
mechanism moves freely for a step, then impulses enforce loops, limits, friction, springs and drives on its velocities,
and pseudo impulses remove what gaps there are. Semi-implicit Euler. The response to impulses comes from the factored
joint-space inertia instead of passes through the tree: the same numbers, cheaper. In maximal coordinates every body is
a tree of its own, all joints are rows, and those of one joint are solved together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.factor import factor, project_row, solve_inward, solve_outward
from ..coordinates.gyroscopic import turn_freely
from ..coordinates.observe import read_joints
from ..coordinates.tree import place, retract
from ..elements.impulse import end_row, set_targets
from ..elements.respond import up_to_sample
from ..kernels.clock import cycles
from ..kernels.jit import kernel, woven
from ..kernels.rows import measure
from ..loads import apply_loads
from ..solvers.impulses import (
    COLUMNS,
    SHOVED,
    P,
    factor_blocks,
    load_rows,
    store_rows,
    sweep,
    sweep_blocks,
    warm,
)
from ..tables import FRICTION, HOLD
from .means import begin_mean, end_mean, sample, sample_means
from .state import OK, finite

# A row whose Jacobian in joint space is this small against that of twists moves nothing: it is degenerate.
DEGENERATE = 1e-12


class Workspace(NamedTuple):
    """Scratch of a step."""

    H: np.ndarray
    D: np.ndarray
    rhs: np.ndarray
    Y: np.ndarray
    A: np.ndarray
    live: np.ndarray
    near: np.ndarray
    support: np.ndarray
    velocity: np.ndarray
    pseudo: np.ndarray
    X: np.ndarray
    x: np.ndarray
    dropped: np.ndarray
    B: np.ndarray
    block: np.ndarray
    ends: np.ndarray
    turn: np.ndarray
    delta: np.ndarray


def workspace(dofs: int, depth: int, rows: int) -> Workspace:
    """Scratch for a mechanism of so many dofs, in a tree of so many levels, and rows."""
    return Workspace(
        np.zeros((dofs, depth)), np.zeros(dofs), np.zeros(dofs), np.zeros((rows, dofs)), np.zeros((rows, rows)),
        np.zeros(rows, np.int64), np.zeros((rows, 2), np.int64), np.zeros((rows, 2), np.int64),
        np.zeros(rows), np.zeros(rows), np.zeros((rows, COLUMNS)), np.zeros(dofs), np.zeros(rows, np.int64),
        np.zeros((rows, rows)), np.zeros((2, rows)), np.zeros(rows + 1, np.int64), np.zeros(dofs), np.zeros(dofs),
    )  # fmt: skip


@woven
def step(tables, constraints, work, q, v, energy, delta, t, h, erp, epsilon, limit, budget, blocks):
    """One step; returns (iterations, cut short, largest gap, its row).

    energy: work supplied and dissipated so far [J]; delta: scratch for the displacement; budget: clock ticks.
    """
    deadline = cycles() + budget
    dofs, rows = tables.dofs, constraints.rows
    n = dofs.shape[0] - 1
    place(dofs, tables.islands, q, v)  # (q, v) => R r S V A0 I p
    if tables.loads.shape[0] > 0:
        supplied, dissipated = apply_loads(tables, q, v, t)  # loads => p, tau
        energy[0] += h * supplied
        energy[1] += h * dissipated
    turn_freely(dofs, h, work.turn)  # V => p, turn
    measure(tables, constraints, q)  # frames => phi, J
    factor(dofs, work.H, work.D, work.rhs)  # (I, p, tau) => L D, rhs
    H = work.H

    # Steps 1 to 3: free motion.
    solve_inward(dofs, H, work.rhs)
    for i in range(n):
        work.rhs[i] *= work.D[i]
    solve_outward(dofs, H, work.rhs)
    count = _gather(tables, constraints, work, v, t, h, erp)

    # Steps 4 to 7: impulses and pseudo impulses.
    for i in range(n):
        v[dofs[i + 1].v] += h * work.rhs[i]
    iterations, cut = 0, 0
    if count > 0:
        load_rows(rows, work.A, work.X, count, work.live)
        warm(work.A, work.near, work.X, work.velocity, count)
        if blocks:
            parts = factor_blocks(rows, work.A, work.B, work.ends, count, work.live)
            iterations, cut = sweep_blocks(
                work.A, work.B, work.ends, parts, work.near, work.X, work.velocity, work.pseudo,
                work.block[0], work.block[1], epsilon, limit, deadline,
            )  # fmt: skip
        else:
            iterations, cut = sweep(
                work.A, work.near, work.X, work.velocity, work.pseudo, count, epsilon, limit, deadline
            )
        store_rows(rows, work.X, count, work.live)
        _respond(dofs, work, count, v, delta)
        for k in range(count):
            row = rows[work.live[k]]
            end_row(tables, constraints, row, row.p, work.velocity[k], t, h, energy)
        _stick(constraints, work, count, v, dofs, epsilon)
    else:
        for i in range(n):
            delta[i] = 0.0

    # Step 8: positions move with velocity and pseudo velocity.
    for i in range(n):
        delta[i] = h * (v[i] + work.turn[i] + delta[i])
    retract(dofs, q, delta, q)
    gap, worst = 0.0, -1
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD and abs(rows[i].phi) > gap:
            gap, worst = abs(rows[i].phi), i
    return iterations, cut, gap, worst


@kernel
def _gather(tables, constraints, work, v, t, h, erp):
    """Rows in joint space, their velocities, what they want, and the matrix A of the active ones; their number."""
    dofs, rows = tables.dofs, constraints.rows
    n = dofs.shape[0] - 1
    H, Y, live, support = work.H, work.Y, work.live, work.support
    for i in range(rows.shape[0]):
        magnitude = project_row(dofs, constraints, rows[i], Y[i])
        before, largest = 0.0, 0.0
        for k in range(n):
            before += Y[i, k] * v[dofs[k + 1].v]
            largest = max(largest, abs(Y[i, k]))
        rows[i].rate = before
        work.dropped[i] = 1 if largest <= DEGENERATE * magnitude else 0
    set_targets(tables, constraints, t, h, erp)
    count = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.active == 0 or work.dropped[i] != 0:
            row.p = 0.0
            continue
        free = row.rate
        first, last = n, 0
        for k in range(n):
            free += h * Y[i, k] * work.rhs[k]
        solve_inward(dofs, H, Y[i])
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
def _respond(dofs, work, count, v, delta):
    """v += H⁻¹ Jᵀ p, and delta = H⁻¹ Jᵀ p' (the pseudo velocities)."""
    n, H, x, other = dofs.shape[0] - 1, work.H, work.x, work.rhs
    for i in range(n):
        x[i] = 0.0
        other[i] = 0.0
    for k in range(count):
        p, shoved = work.X[k, P], work.X[k, SHOVED]
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
        delta[dofs[i + 1].v] = other[i]


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


@kernel
def run_impulses(tables, constraints, work, state, mean, stats, h, options, targets, out):
    """Steps of size h with a sample at each step count in `targets`; returns (samples, status).

    `mean`: accelerations over the last step before a target. options: erp, epsilon, iteration limit, budget in clock
    ticks, 1 for blocks. stats: sum and maximum of iterations, steps cut short, largest gap and its row; of the last
    step: iterations, cut short, gap and its row.
    """
    t0, clock = state.clock.origin, state.clock
    limit, blocks = int(options[2]), options[4] != 0.0
    for row in range(targets.shape[0]):
        while clock.steps < targets[row]:
            t, left, span = t0 + clock.steps * h, h, 0.0
            iterations, cut, gap, worst = 0, 0, 0.0, -1
            if clock.steps + 1 == targets[row]:
                begin_mean(mean, state.v)
            while left > 0.0:  # in one go, unless an element is sampled within the step
                span = up_to_sample(constraints, t, left)
                more, over, gap, worst = step(
                    tables, constraints, work, state.q, state.v, state.work, work.delta, t, span,
                    options[0], options[1], limit, int(options[3]), blocks,
                )  # fmt: skip
                iterations, cut = iterations + more, cut + over
                t, left = t + span, left - span
            stats[0] += iterations
            stats[1] = max(stats[1], iterations)
            stats[2] += cut
            if gap > stats[3]:
                stats[3], stats[4] = gap, worst
            stats[5], stats[6], stats[7], stats[8] = iterations, cut, gap, worst
            clock.steps += 1
            clock.taken += 1
            clock.now = t0 + clock.steps * h
            if clock.steps == targets[row]:
                end_mean(mean, state.v, h)
            status = finite(state.v, clock, h)
            if status != OK:
                return row, status
        sample(state, out.t, out.q, out.v, out.work, row, clock.now)
        strain = read_joints(
            tables, constraints, state.q, state.v, clock.now, out.values[row], out.rates[row]
        )
        sample_means(constraints, mean, clock.taken, h, out, row)
        out.solver[row, 0], out.solver[row, 1], out.solver[row, 2] = strain, stats[5], stats[7]
    return targets.shape[0], OK
