"""The direct solver: accelerations under all rows, projection onto them, and impacts, exact to rounding.

With the inertia factored, H = LᵀDL, and the rows in the same coordinates, Y = J L⁻¹, the forces of the kept rows follow from
one sparse factorisation of A = Y D⁻¹ Yᵀ:

    A p = want - (J a + J' v)    a: accelerations without them

The same factors take positions to zero gap (A s = -φ) and velocities to zero rate (A s = -φ'), each with the least
change in the metric of inertia. Rows with bounds are kept, at a bound or free: their `mode`, which `settle` decides and
everything else takes as given. Relative and maximal coordinates differ in the tables only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.factor import add_row, factor, solve_inward, solve_outward
from ..coordinates.tree import place, retract
from ..kernels.jit import kernel
from ..kernels.rows import measure, measure_motion
from ..kernels.signal import signal_slope, signal_value
from ..loads import apply_loads
from ..order import Pattern
from ..solvers.box import solve_box
from ..solvers.envelope import factor_envelope, solve_envelope
from ..tables import (
    DC_MOTOR,
    FREE,
    FRICTION,
    GIVEN,
    HELD,
    HIGH,
    HOLD,
    LIMIT,
    LOW,
    SERVO_PLACE,
    SERVO_RATE,
    SPRING,
    TORQUE,
)

TOUCH = 1e-10
"""A limit is closed if its gap is below this [rad or m]."""
NEAR, RESTING = 1e-7, 3e-5
"""At an event, limits this near and this slow are taken as closed, and their force says whether they open: else two
limits of one joint would hit each other open for ever, in ever smaller bounces [rad or m, rad/s or m/s]."""
STOPPED = 1e-9
"""A joint with dry friction stands if it is slower than this [rad/s or m/s]."""
# Corrections beyond these leave an error worth another round: gaps are of second order in the first [rad or m].
_FINE_PLACE, _FINE_RATE = 1e-7, 1e-6
_ROUNDS = 20


class Workspace(NamedTuple):
    """Scratch of the solver."""

    H: np.ndarray
    D: np.ndarray
    rhs: np.ndarray
    x: np.ndarray
    """Zero between uses."""
    delta: np.ndarray
    z: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    A: np.ndarray
    L: np.ndarray
    E: np.ndarray
    soft: np.ndarray
    want: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    p: np.ndarray
    w: np.ndarray
    s: np.ndarray
    on: np.ndarray
    side: np.ndarray
    kept: np.ndarray
    before: np.ndarray
    """Gap, rate and acceleration of every row at the start of a step."""
    scale: np.ndarray
    """Largest diagonal of A so far."""
    report: np.ndarray
    """Smallest ratio of pivot to diagonal and its row."""
    power: np.ndarray
    """Power supplied and dissipated by all, and by loads alone [W]."""


def workspace(pattern: Pattern, depth: int) -> Workspace:
    """Scratch for a mechanism."""
    n, rows, entries = len(pattern.rate_of), len(pattern.first), len(pattern.dof)
    vectors = [np.zeros(rows) for _ in range(7)]
    flags = [np.zeros(rows, np.int64) for _ in range(3)]
    return Workspace(
        np.zeros((n, depth)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(entries), np.zeros(entries),
        np.zeros(pattern.size), np.zeros(pattern.size), np.zeros(rows), *vectors, *flags, np.zeros((rows, 3)), np.zeros(rows),
        np.array([np.inf, -1.0]), np.zeros(4),
    )  # fmt: skip


# --- rows in joint space ---


@kernel
def gather(tables, constraints, pattern, work, q, v, t):
    """(q, v, t) => factored inertia, forces of loads in rhs, every row in joint space, its gap, rate and bias."""
    dofs, rows = tables.dofs, constraints.rows
    place(dofs, tables.islands, q, v)
    work.power[2], work.power[3] = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        work.power[2], work.power[3] = apply_loads(tables, q, v, t)
    measure(tables, constraints, q)
    measure_motion(tables, constraints)
    factor(dofs, work.H, work.D, work.rhs)
    ptr, dof, x = pattern.ptr, pattern.dof, work.x
    for i in range(rows.shape[0]):
        add_row(dofs, constraints, rows[i], x)
        rate = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            d = dof[k]
            work.X[k] = x[d]
            rate += x[d] * v[pattern.rate_of[d]]
            x[d] = 0.0
        rows[i].rate = rate


@kernel
def couple(tables, pattern, work):
    """Y and A = Y D⁻¹ Yᵀ of the rows that are on."""
    dofs, H, Y, A, x, on = tables.dofs, work.H, work.Y, work.A, work.x, work.on
    ptr, dof, start, first = pattern.ptr, pattern.dof, pattern.start, pattern.first
    for r in range(first.shape[0]):
        if on[r] == 0:
            continue
        for k in range(ptr[r], ptr[r + 1]):
            x[dof[k]] = work.X[k]
        for k in range(ptr[r], ptr[r + 1]):
            d = dof[k]
            value = x[d]
            Y[k] = value
            x[d] = 0.0
            if value != 0.0:
                i, depth = dofs[d + 1].parent, dofs[d + 1].depth
                while i != 0:
                    depth -= 1
                    x[i - 1] -= H[d, depth] * value
                    i = dofs[i].parent
        for j in range(start[r] + first[r], start[r] + r + 1):
            A[j] = 0.0
    for d in range(dofs.shape[0] - 1):
        inverse = work.D[d]
        low, high = pattern.col_ptr[d], pattern.col_ptr[d + 1]
        for a in range(low, high):
            r = pattern.col_row[a]
            if on[r] != 0:
                y = Y[pattern.col_at[a]] * inverse
                row = start[r]
                for b in range(low, a + 1):
                    A[row + pattern.col_row[b]] += y * Y[pattern.col_at[b]]


@kernel
def add_response(pattern, work, p, z):
    """z += Yᵀ p of the rows that are on."""
    for r in range(p.shape[0]):
        if work.on[r] != 0 and p[r] != 0.0:
            for k in range(pattern.ptr[r], pattern.ptr[r + 1]):
                z[pattern.dof[k]] += work.Y[k] * p[r]


@kernel
def outward(tables, pattern, work, z, out):
    """out = L⁻¹ D⁻¹ z, numbered like the rates."""
    for d in range(z.shape[0]):
        z[d] *= work.D[d]
    solve_outward(tables.dofs, work.H, z)
    for d in range(z.shape[0]):
        out[pattern.rate_of[d]] = z[d]


# --- what rows do at a given mode ---


@kernel
def _law(tables, constraints, work, i, t, h):
    """What row i contributes: a force by its law or bound, or what it wants as a kept row (on, want, soft, lo, hi)."""
    row = constraints.rows[i]
    role, mode = row.role, row.mode
    work.on[i] = 0
    work.soft[i] = 0.0
    work.p[i] = 0.0
    work.side[i] = HELD
    row.force = 0.0
    if role == HOLD:
        work.on[i] = 1
        work.want[i] = -row.bias
        work.lo[i], work.hi[i] = -np.inf, np.inf
        return
    if role == LIMIT:
        if mode == HELD:
            work.on[i] = 1
            work.want[i] = -row.bias
            work.lo[i], work.hi[i] = 0.0, np.inf
        return
    command, slope = 0.0, 0.0
    if row.input >= 0:
        scale = constraints.inputs[row.input]
        later = t + h if role == SERVO_PLACE and row.stiff != 0 else t
        command = scale * signal_value(tables, row.signal, later)
        slope = scale * signal_slope(tables, row.signal, t)
    if role == FRICTION or role == SERVO_RATE:
        row.goal, row.push = command, slope
        work.lo[i], work.hi[i] = -row.value[0], row.value[0]
        if mode == HELD:
            work.on[i] = 1
            work.want[i] = slope - row.bias
        else:
            row.force = work.lo[i] if mode == LOW else work.hi[i]
    elif role == TORQUE:
        row.force = command
    elif role == SPRING:
        _spring(row, work, i, row.phi, row.value[0], row.value[1], np.inf, h)
    elif role == SERVO_PLACE:
        _spring(row, work, i, row.phi - command, row.value[1], row.value[2], row.value[0], h)
    elif role == DC_MOTOR:
        _motor(row, work, i, command, h)


@kernel
def _spring(row, work, i, stretch, stiffness, damping, strength, h):
    """Explicit, or implicit Euler if it is stiff: f = -k (φ + h φ' + h² φ'') - c (φ' + h φ'')."""
    work.lo[i], work.hi[i] = -strength, strength
    if row.mode == LOW or row.mode == HIGH:
        row.force = work.lo[i] if row.mode == LOW else work.hi[i]
    elif row.stiff != 0:
        work.on[i] = 1
        work.soft[i] = 1.0 / (h * h * stiffness + h * damping)
        pull = stiffness * stretch + (h * stiffness + damping) * row.rate
        work.want[i] = -work.soft[i] * pull - row.bias
    else:
        pull = -stiffness * stretch - damping * row.rate
        row.force = min(max(pull, -strength), strength)


@kernel
def _motor(row, work, i, command, h):
    """DC motor: f = gear M (U - gear φ'/ω_idle) - gear² I φ'', the back-EMF implicit if it is stiff."""
    stall, idle, inertia, gear = row.value[0], row.value[1], row.value[2], row.value[3]
    voltage = min(1.0, max(-1.0, command))
    brake = gear * gear * stall / idle
    pull = gear * stall * voltage - brake * row.rate
    resistance = gear * gear * inertia
    if row.stiff != 0:
        resistance += h * brake
    if resistance > 0.0:
        work.on[i] = 1
        work.soft[i] = 1.0 / resistance
        work.want[i] = pull / resistance - row.bias
        work.lo[i], work.hi[i] = -np.inf, np.inf
    else:
        row.force = pull


@kernel
def evaluate(tables, constraints, pattern, work, q, v, t, h, qdd):
    """Accelerations under all rows at their present modes; h is the step that stiff rows look ahead.

    Leaves the factors for `settle` and `correct`.
    """
    rows = constraints.rows
    gather(tables, constraints, pattern, work, q, v, t)
    for i in range(rows.shape[0]):
        _law(tables, constraints, work, i, t, h)
        force = rows[i].force
        if force != 0.0:
            for k in range(pattern.ptr[i], pattern.ptr[i + 1]):
                work.rhs[pattern.dof[k]] += work.X[k] * force
    solve_inward(tables.dofs, work.H, work.rhs)
    couple(tables, pattern, work)
    for i in range(rows.shape[0]):
        if work.on[i] != 0:
            free = 0.0
            for k in range(pattern.ptr[i], pattern.ptr[i + 1]):
                free += work.Y[k] * work.D[pattern.dof[k]] * work.rhs[pattern.dof[k]]
            work.want[i] -= free
            work.p[i] = work.want[i]
    factor_envelope(
        work.A, work.L, work.E, work.soft, work.on, pattern.start, pattern.first, work.scale, work.report
    )
    solve_envelope(work.L, work.E, pattern.start, pattern.first, work.p)
    _finish(tables, constraints, pattern, work, qdd)


@kernel
def _finish(tables, constraints, pattern, work, qdd):
    """p => accelerations, forces of the rows, power."""
    rows, z = constraints.rows, work.z
    work.power[0], work.power[1] = work.power[2], work.power[3]
    for d in range(z.shape[0]):
        z[d] = work.rhs[d]
    add_response(pattern, work, work.p, z)
    outward(tables, pattern, work, z, qdd)
    for i in range(rows.shape[0]):
        row = rows[i]
        if work.on[i] != 0:
            row.force = work.p[i]
        if row.role == HOLD or row.role == LIMIT:
            continue
        if row.role == FRICTION or row.role == SERVO_RATE:
            accel = row.bias
            for k in range(pattern.ptr[i], pattern.ptr[i + 1]):
                accel += work.X[k] * qdd[pattern.rate_of[pattern.dof[k]]]
            row.accel = accel
        power = row.force * row.rate
        if row.role == FRICTION:
            work.power[1] -= power
        elif row.role == SPRING:
            work.power[1] -= power + row.value[0] * row.phi * row.rate
        else:
            work.power[0] += power


# --- projection ---


@kernel
def correct(tables, constraints, pattern, work, q, v, energy, h):
    """Newton's step to zero gap and zero rate of the kept rows, with the factors of the last evaluation.

    Returns the largest changes of coordinates and rates, and whether a bounded row would need more than its bound
    for that: such rows are let go.
    """
    rows, s, z = constraints.rows, work.s, work.z
    for i in range(rows.shape[0]):
        s[i] = 0.0
        if work.on[i] != 0 and (rows[i].role == HOLD or rows[i].role == LIMIT):
            s[i] = -rows[i].phi
    solve_envelope(work.L, work.E, pattern.start, pattern.first, s)
    for d in range(z.shape[0]):
        z[d] = 0.0
    add_response(pattern, work, s, z)
    outward(tables, pattern, work, z, work.delta)
    moved = 0.0
    for d in range(z.shape[0]):
        moved = max(moved, abs(work.delta[d]))
    if moved > 0.0:
        retract(tables.dofs, q, work.delta, q)

    for i in range(rows.shape[0]):
        s[i] = 0.0
        if work.on[i] != 0 and work.soft[i] == 0.0:
            row = rows[i]
            s[i] = -row.rate if row.role != SERVO_RATE else row.goal - row.rate
    solve_envelope(work.L, work.E, pattern.start, pattern.first, s)
    released = False
    for i in range(rows.shape[0]):
        row = rows[i]
        if work.on[i] != 0 and (row.role == FRICTION or row.role == SERVO_RATE):
            if abs(s[i]) > h * row.value[0]:
                row.mode = LOW if row.rate > row.goal else HIGH
                released = True
            elif row.role == SERVO_RATE:
                energy[0] += 0.5 * s[i] * (row.rate + row.goal)
    if released:
        return moved, 0.0, True
    for d in range(z.shape[0]):
        z[d] = 0.0
    add_response(pattern, work, s, z)
    outward(tables, pattern, work, z, work.delta)
    changed = 0.0
    for d in range(z.shape[0]):
        v[d] += work.delta[d]
        changed = max(changed, abs(work.delta[d]))
    return moved, changed, False


@kernel
def arrive(tables, constraints, pattern, work, q, v, energy, t, h, qdd, fresh, bounded):
    """Bring a state onto the constraints, decide what bounded rows do, and evaluate it.

    fresh: the state has been evaluated already. Returns (1 if a mode changed, evaluations, 1 if it did not settle).
    """
    changed, evaluations = 0, 0
    for _ in range(_ROUNDS):
        if not fresh:
            evaluate(tables, constraints, pattern, work, q, v, t, h, qdd)
            evaluations += 1
        fresh = False
        if bounded:
            changed |= settle(tables, constraints, pattern, work, qdd)
        moved, turned, released = correct(tables, constraints, pattern, work, q, v, energy, h)
        if released:
            changed = 1
        elif moved <= _FINE_PLACE and turned <= _FINE_RATE:
            return changed, evaluations, 0
    return changed, evaluations, 1


@kernel
def settle(tables, constraints, pattern, work, qdd):
    """Let bounded rows go whose force is beyond its bound; 1 if any changed its mode."""
    rows, p = constraints.rows, work.p
    largest = 0.0
    for i in range(p.shape[0]):
        largest = max(largest, abs(p[i]))
    slack = 1e-10 * largest
    fine = True
    for i in range(p.shape[0]):
        if work.on[i] != 0 and (p[i] < work.lo[i] - slack or p[i] > work.hi[i] + slack):
            fine = False
    if fine:
        return 0
    solve_box(
        work.A, work.L, work.E, work.soft, work.want, work.lo, work.hi, work.on, work.side, work.kept,
        pattern.start, pattern.first, p, work.w, work.scale, work.report,
    )  # fmt: skip
    _finish(tables, constraints, pattern, work, qdd)
    changed = 0
    for i in range(p.shape[0]):
        if work.on[i] != 0 and work.side[i] != HELD:
            rows[i].mode = FREE if rows[i].role == LIMIT else work.side[i]
            work.on[i] = 0
            changed = 1
    return changed


# --- modes ---


@kernel
def set_modes(tables, constraints, pattern, work, q, v, t, energy, event):
    """Modes for a state that no step led to, or in which row `event` stops or is hit; impacts happen here."""
    rows = constraints.rows
    gather(tables, constraints, pattern, work, q, v, t)
    if _impact(tables, constraints, pattern, work, v, energy, event):
        gather(tables, constraints, pattern, work, q, v, t)
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.role == HOLD:
            row.mode = HELD
        elif row.role == LIMIT:
            touching = row.phi <= NEAR or i == event
            row.mode = HELD if touching and row.rate <= RESTING else FREE
        elif row.role == FRICTION or row.role == SERVO_RATE:
            goal = 0.0
            if row.input >= 0:
                goal = constraints.inputs[row.input] * signal_value(tables, row.signal, t)
            slip = row.rate - goal
            if abs(slip) <= STOPPED or i == event or row.value[0] == np.inf:
                row.mode = HELD
            else:
                row.mode = LOW if slip > 0.0 else HIGH
        else:
            row.mode = GIVEN


@kernel
def _impact(tables, constraints, pattern, work, v, energy, event):
    """Impulses at limits that are hit, on gathered rows; returns whether there were any.

    Finite forces have no time to act; rows without bounds, and rotors, do. Newton's law of restitution.
    """
    rows = constraints.rows
    hit = False
    for i in range(rows.shape[0]):
        row = rows[i]
        work.on[i] = 0
        work.soft[i] = 0.0
        work.side[i] = HELD
        work.lo[i], work.hi[i] = -np.inf, np.inf
        if row.role == HOLD:
            work.on[i] = 1
            work.want[i] = -row.rate
        elif row.role == LIMIT:
            if row.phi <= NEAR or i == event:
                work.on[i] = 1
                work.lo[i] = 0.0
                bounce = -row.value[0] * row.rate
                work.want[i] = (bounce if bounce > row.value[1] else 0.0) - row.rate
                hit |= row.rate < -RESTING
        elif row.role == SERVO_RATE and row.value[0] == np.inf:
            work.on[i] = 1
            work.want[i] = 0.0
        elif row.role == DC_MOTOR and row.value[2] > 0.0:
            work.on[i] = 1
            work.soft[i] = 1.0 / (row.value[3] * row.value[3] * row.value[2])
            work.want[i] = 0.0
    if not hit:
        return False
    couple(tables, pattern, work)
    solve_box(
        work.A, work.L, work.E, work.soft, work.want, work.lo, work.hi, work.on, work.side, work.kept,
        pattern.start, pattern.first, work.p, work.w, work.scale, work.report,
    )  # fmt: skip
    z = work.z
    for d in range(z.shape[0]):
        z[d] = 0.0
    add_response(pattern, work, work.p, z)
    outward(tables, pattern, work, z, work.delta)
    for d in range(z.shape[0]):
        v[d] += work.delta[d]
    for i in range(rows.shape[0]):
        if rows[i].role == LIMIT and work.on[i] != 0:
            after = 0.0
            for k in range(pattern.ptr[i], pattern.ptr[i + 1]):
                after += work.X[k] * v[pattern.rate_of[pattern.dof[k]]]
            energy[1] -= 0.5 * work.p[i] * (rows[i].rate + after)
    return True
