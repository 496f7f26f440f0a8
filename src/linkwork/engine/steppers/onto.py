"""States onto their constraints: gaps closed, rates and accelerations projected, accelerations and multipliers found.

All with the factors of a matrix that has the penalties of the constraints in it (Cuadrado and Dopico, eqs. 28 and 29).
Pushes go along the gradients of which it was made: what is not in the matrix is not resisted by its penalties.
"""

import numpy as np

from ..kernels.jit import kernel
from ..kernels.skyline import factor, solve
from ..solvers.multipliers import (
    ACCELERATIONS,
    AUXILIARY,
    BIAS,
    CHANGE,
    DRIVEN,
    HELD,
    MULTIPLIER,
    PENALTY,
    PHI,
    RATES,
    RESIDUAL,
    SOFT,
    TARGET,
    WANT,
    multiply,
    rate_command,
    scatter,
)
from .balance import account, evaluate, keep_states, look, move, put, stiffen

NOW, TRIAL = 0, 1
"""Of path.q: where the motion is, and where it is tried."""
ASIDE = 1e-9
"""Share of a step: forces that jump at its end are those of just before in it, of just after in the next."""
_ROUNDS = 8  # of projection: each is worth three digits at least
_EXACT = 1e-15  # of rates: rounding
_PLACED = 1e-13  # gaps that a state may have [rad or m]


@kernel
def shove(work, r, weight, out):
    """out += weight times row r as it was when the matrix was made."""
    for k in range(work.ptr[r], work.ptr[r + 1]):
        out[work.idx[k]] += weight * work.pushed[k]


@kernel
def along(work, r, x):
    """That row times a vector of unknowns."""
    total = 0.0
    for k in range(work.ptr[r], work.ptr[r + 1]):
        total += work.pushed[k] * x[work.idx[k]]
    return total


@kernel
def _project(work, s, q_rates):
    """Rates or accelerations onto the constraints (eqs. 28 and 29), round after round, to rounding.

    q_rates ← q_rates - F⁻¹ s Φᵀ α (Φ q_rates - want). Returns whether anything was left to do.
    """
    change, last, moved = work.x[CHANGE], np.inf, False
    for _ in range(_ROUNDS):
        worst, size = 0.0, 0.0
        for i in range(change.shape[0]):
            change[i] = 0.0
            size = max(size, abs(q_rates[i]))
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                miss = multiply(work, r, q_rates) - work.row[WANT, r]
                worst = max(worst, abs(miss))
                shove(work, r, -s * work.row[PENALTY, r] * miss, change)
        if worst <= _EXACT * size or worst > 0.5 * last:
            break
        solve(work.matrix, change)
        for i in range(change.shape[0]):
            q_rates[i] += change[i]
        last, moved = worst, True
    return moved


@kernel
def _close_gaps(tables, work, q, s):
    """(measured rows, factored matrix) => q moved so that gaps close, if they are worth it; returns the largest."""
    change, gap = work.x[CHANGE], 0.0
    for i in range(change.shape[0]):
        change[i] = 0.0
    for r in range(work.kept.shape[0]):
        if work.kept[r] == HELD:
            phi = work.row[PHI, r]
            gap = max(gap, abs(phi))
            shove(work, r, -s * work.row[PENALTY, r] * phi, change)
    if gap > _PLACED:
        solve(work.matrix, change)
        move(tables, work, q, change, q)
    return gap


@kernel
def _want_rates(tables, constraints, work, t):
    """row[WANT] = the rates that constraints want."""
    for r in range(work.kept.shape[0]):
        work.row[WANT, r] = 0.0
        if work.kept[r] == DRIVEN:
            work.row[WANT, r] = rate_command(tables, constraints, constraints.rows[r], t)[0]


@kernel
def _want_accelerations(tables, constraints, work, t):
    """row[WANT] = the accelerations that constraints want of the unknowns."""
    for r in range(work.kept.shape[0]):
        work.row[WANT, r] = -work.row[BIAS, r]
        if work.kept[r] == DRIVEN:
            work.row[WANT, r] += rate_command(tables, constraints, constraints.rows[r], t)[1]


@kernel
def project_motion(tables, constraints, work, q, v, a, t, s):
    """(factored matrix) => rates and accelerations on the constraints, rows measured there."""
    for _ in range(_ROUNDS):
        put(tables, work, q, v)
        look(tables, constraints, work, q, v)
        if _close_gaps(tables, work, q, s) <= _PLACED:
            break
    _want_rates(tables, constraints, work, t)
    if _project(work, s, v):
        put(tables, work, q, v)
        look(tables, constraints, work, q, v)
    _want_accelerations(tables, constraints, work, t)
    _project(work, s, a)


@kernel
def begin(tables, constraints, work, path, t, h):
    """Bring a state onto the constraints and find its accelerations and multipliers."""
    q, v, a, s = path.q[NOW], path.y[RATES], path.y[ACCELERATIONS], 0.25 * h * h
    keep_states(tables, constraints, work, t)
    for i in range(a.shape[0]):
        a[i] = 0.0
    for r in range(work.kept.shape[0]):
        work.row[MULTIPLIER, r] = 0.0
    for _ in range(2 * _ROUNDS):
        evaluate(tables, constraints, work, q, v, a, t, 0.0, 0.0, True)
        stiffen(work, s)
        factor(work.matrix)
        if _close_gaps(tables, work, q, s) <= _PLACED:
            break
    for r in range(work.kept.shape[0]):
        if work.kept[r] == DRIVEN:
            work.row[TARGET, r] = work.row[PHI, r]
    _want_rates(tables, constraints, work, t)
    _project(work, s, v)
    find_accelerations(tables, constraints, work, path, t + ASIDE * h, s)
    keep_states(tables, constraints, work, t)


@kernel
def find_accelerations(tables, constraints, work, path, t, s):
    """(inertia and penalties factored) => accelerations and multipliers of a state."""
    q, v, a = path.q[NOW], path.y[RATES], path.y[ACCELERATIONS]
    residual, change = work.x[RESIDUAL], work.x[CHANGE]
    n = change.shape[0]
    for turn in range(_ROUNDS):  # M a + Φᵀ λ = Q with Φ a = want, augmented likewise
        evaluate(tables, constraints, work, q, v, a, t, 0.0, 0.0, False)
        _want_accelerations(tables, constraints, work, t)
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                pull = s * work.row[PENALTY, r] * (multiply(work, r, a) - work.row[WANT, r])
                work.row[MULTIPLIER, r] += pull if turn > 0 else 0.0
                scatter(work, r, work.row[MULTIPLIER, r] + pull, residual)
        for i in range(n):
            change[i] = -residual[i]
        solve(work.matrix, change)
        for i in range(n):
            a[i] += change[i]
    for i in range(n):
        path.y[AUXILIARY, i] = a[i]
    account(constraints, work)
