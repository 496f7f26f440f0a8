"""Constraints by multipliers and penalties: the augmented Lagrangian, solved with sparse factors of a whole matrix.

The matrix has the penalties of the constraints in it (Cuadrado and Dopico, eqs. 28 and 29). Pushes with its factors go
along the gradients of which it was made: what is not in the matrix is not resisted by its penalties.
"""

import numpy as np

from ..kernels.jit import kernel, woven
from ..kernels.skyline import LOWER, START, add, factor, solve
from ..kernels.skyline import PLACE as ROW_OF
from .equations import SOFT, multiply, scatter

ROUNDS = 8
"""Limit of rounds of a projection: each is worth three digits at least."""
# Penalty against the largest inertia that a row moves: each round takes at least so much off a gap. Were it the
# smallest, a heavy body held by a light rod would be held loosely.
_FIRM, _SHARE, _LEAST = 1e6, 0.03, 1e-3  # the last: of the heaviest unknown, for rows of bodies without mass
_EXACT = 1e-15  # of rates: rounding


@kernel
def factor_penalised(work, s):
    """(matrix without constraints) => factors of it with their penalties, s Φᵀ α Φ; their gradients are kept."""
    shape, values = work.matrix.shape, work.matrix.values
    for k in range(work.val.shape[0]):
        work.pushed[k] = work.val[k]
    heaviest = 0.0
    for i in range(shape.shape[1]):
        heaviest = max(heaviest, abs(values[LOWER, shape[START, i] + i]))
    for r in range(work.kept.shape[0]):
        if work.kept[r] == SOFT:
            continue
        row, begin, end = work.rows[r], work.ptr[r], work.ptr[r + 1]
        largest, mass = 0.0, _LEAST * heaviest
        for k in range(begin, end):
            largest = max(largest, abs(work.val[k]))
        for k in range(begin, end):
            if abs(work.val[k]) >= _SHARE * largest:
                i = shape[ROW_OF, work.idx[k]]
                mass = max(mass, abs(values[LOWER, shape[START, i] + i]))
        row.steepest = max(row.steepest, largest)
        row.penalty = 0.0
        if largest > 0.0:
            row.penalty = _FIRM * mass / (s * row.steepest**2)
    for r in range(work.kept.shape[0]):
        if work.kept[r] == SOFT:
            continue
        weight = s * work.rows[r].penalty
        for k in range(work.ptr[r], work.ptr[r + 1]):
            x = weight * work.val[k]
            for m in range(work.ptr[r], work.ptr[r + 1]):
                add(shape, values, work.idx[k], work.idx[m], x * work.val[m])
    factor(work.matrix)


@woven
def correct_penalised(work, s, anew):
    """(residual, rows, and the matrix if `anew`) => Newton's correction of the displacement; multipliers follow.

    λ* ← λ* + α (Φ + Φ_z Δz): the gap that an iteration should leave, not the one that it does leave, whose curvature
    times α would be a force out of all proportion.
    """
    change, residual = work.change, work.residual
    if anew:
        factor_penalised(work, s)
    for r in range(work.kept.shape[0]):
        if work.kept[r] != SOFT:
            row = work.rows[r]
            row.phi -= row.aim
            scatter(work, work.val, r, row.multiplier, residual)
            scatter(work, work.pushed, r, row.penalty * row.phi, residual)
    for i in range(change.shape[0]):
        change[i] = -s * residual[i]
    solve(work.matrix, change)
    for r in range(work.kept.shape[0]):
        if work.kept[r] != SOFT:
            row = work.rows[r]
            row.multiplier += row.penalty * (row.phi + multiply(work, work.pushed, r, change))


@kernel
def project(work, s, x):
    """Rates or accelerations onto the constraints (eqs. 28 and 29), round after round, to rounding.

    x ← x - F⁻¹ s Φᵀ α (Φ x - want). Returns whether anything was left to do.
    """
    change, last, moved = work.change, np.inf, False
    for _ in range(ROUNDS):
        worst, size = 0.0, 0.0
        for i in range(change.shape[0]):
            change[i] = 0.0
            size = max(size, abs(x[i]))
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                miss = multiply(work, work.val, r, x) - work.rows[r].want
                worst = max(worst, abs(miss))
                scatter(work, work.pushed, r, -s * work.rows[r].penalty * miss, change)
        if worst <= _EXACT * size or worst > 0.5 * last:
            break
        solve(work.matrix, change)
        for i in range(change.shape[0]):
            x[i] += change[i]
        last, moved = worst, True
    return moved


@woven
def miss_penalised(work, a):
    """(residual, factors) => how far accelerations are from balance, and how large they are."""
    residual, miss, size = work.residual, 0.0, 0.0
    for r in range(work.kept.shape[0]):
        if work.kept[r] != SOFT:
            scatter(work, work.val, r, work.rows[r].multiplier, residual)
    solve(work.matrix, residual)
    for i in range(residual.shape[0]):
        miss, size = max(miss, abs(residual[i])), max(size, abs(a[i]))
    return miss, size


@woven
def keep_multipliers(work):
    """Multipliers that a step begins with, to return to if it fails."""
    for r in range(work.kept.shape[0]):
        work.rows[r].safe = work.rows[r].multiplier


@woven
def restore_multipliers(work):
    """Back to the multipliers that a step began with."""
    for r in range(work.kept.shape[0]):
        work.rows[r].multiplier = work.rows[r].safe
        work.rows[r].steepest = 0.0  # a trial that goes astray may have seen anything
