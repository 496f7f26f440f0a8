"""Sequential impulses on the constraint-space matrix A = J H⁻¹ Jᵀ (projected Gauss-Seidel with split impulses).

Each row in turn gets the impulse that gives it its wanted velocity, clipped to its bounds; the change reaches all
other rows through a column of A. These are the same iterates as impulses sent through the tree one by one, at a
few products each. Mikhaylyuk, Strashnov and Timokhin, "Algorithms of multibody dynamics simulation using
articulated-body method" (SIMGC), steps 4 to 7.
"""

import numpy as np

from ..kernels.clock import cycles
from ..kernels.jit import kernel
from ..tables import HOLD

CUT_SHORT = 1


SWEPT = np.dtype(
    [
        ("goal", "f8"),  # wanted velocity
        ("soft", "f8"),  # velocity error forgiven per impulse
        ("lo", "f8"),  # bounds of the impulse
        ("hi", "f8"),
        ("p", "f8"),  # impulse so far
        ("mass", "f8"),  # effective mass, softness included
        ("push", "f8"),  # wanted pseudo velocity
        ("shoved", "f8"),  # pseudo impulse so far
        ("shove_mass", "f8"),  # effective mass of a row that takes pseudo impulses, else 0
        ("shove_lo", "f8"),  # their lower bound
    ]
)
"""An active row as the sweeps read it: side by side in memory."""


@kernel
def load_rows(rows, A, X, count, live):
    """X ← the active rows: what they want, bounds, impulses so far, effective masses (step 5)."""
    for k in range(count):
        row = rows[live[k]]
        X[k].goal = row.goal
        X[k].soft = row.soft
        X[k].lo = row.lo
        X[k].hi = row.hi
        X[k].p = min(max(row.p, row.lo), row.hi)
        X[k].mass = 1.0 / (A[k, k] + row.soft)
        X[k].push = row.push
        X[k].shoved = 0.0
        # Only rows that hold a position, or a limit that is violated, take pseudo impulses.
        X[k].shove_mass = 1.0 / A[k, k] if row.role == HOLD or row.push > 0.0 else 0.0
        X[k].shove_lo = -np.inf if row.role == HOLD else 0.0


@kernel
def store_rows(rows, X, count, live):
    """The impulses found, back into the rows."""
    for k in range(count):
        rows[live[k]].p = X[k].p


@kernel
def warm(A, near, X, velocity, count):
    """Apply the impulses of the last step (step 4): velocity += A p."""
    for k in range(count):
        p = X[k].p
        if p != 0.0:
            for j in range(near[k, 0], near[k, 1]):
                velocity[j] += A[k, j] * p


# All arrays by themselves, here and below: these two loops take most of the time of a step, and unpack nothing.
@kernel
def sweep(A, near, X, velocity, pseudo, count, epsilon, limit, deadline):
    """Iterate (step 7) until no impulse changes by more than epsilon; returns (iterations, cut short).

    velocity and pseudo are those of the rows; near[k] are the rows that row k reaches. Both kinds of impulses are
    found side by side: two chains of dependent operations take no longer than one.
    """
    for iteration in range(limit):
        largest = 0.0
        for k in range(count):
            # Wanted change of velocity times effective mass, clipped (eqs. 3 and 8); the same for pseudo impulses.
            p, shoved = X[k].p, X[k].shoved
            new = p + (X[k].goal - velocity[k] - X[k].soft * p) * X[k].mass
            pushed = max(shoved + (X[k].push - pseudo[k]) * X[k].shove_mass, X[k].shove_lo)
            new = min(max(new, X[k].lo), X[k].hi)
            X[k].p, X[k].shoved = new, pushed
            change, shove = new - p, pushed - shoved
            largest = max(largest, max(abs(change), abs(shove)))
            for j in range(near[k, 0], near[k, 1]):
                velocity[j] += A[k, j] * change
                pseudo[j] += A[k, j] * shove
        if largest <= epsilon:
            return iteration + 1, 0
        if cycles() > deadline:
            return iteration + 1, CUT_SHORT
    return limit, CUT_SHORT


@kernel
def factor_blocks(rows, A, B, ends, count, live):
    """B ← LDLᵀ of the diagonal blocks of A that belong to the equations of one joint; returns their number.

    ends[b] is the first row behind block b; a row that is no joint equation is a block by itself. B[k, j] for rows
    k > j of a block holds L, B[k, k] holds 1/D; a pivot of zero (a redundant row) is left out.
    """
    blocks, first = 0, 0
    for k in range(count):
        row = rows[live[k]]
        if k > 0:
            before = rows[live[k - 1]]
            if not (row.role == HOLD and before.role == HOLD and before.group == row.group):
                ends[blocks] = k
                blocks += 1
                first = k
        for j in range(first, k + 1):
            total = A[k, j]
            for i in range(first, j):
                if B[i, i] > 0.0:
                    total -= B[k, i] * B[j, i] / B[i, i]
            if j < k:
                B[k, j] = total * B[j, j]
            else:
                B[k, k] = 1.0 / total if total > 1e-12 * A[k, k] else 0.0
    ends[blocks] = count
    return blocks + 1


@kernel
def _solve_block(B, x, first, last):
    """x ← block⁻¹ x for rows first to last - 1."""
    for k in range(first, last):
        for j in range(first, k):
            x[k] -= B[k, j] * x[j]
    for k in range(first, last):
        x[k] *= B[k, k]
    for k in range(last - 1, first - 1, -1):
        for j in range(k + 1, last):
            x[k] -= B[j, k] * x[j]


@kernel
def sweep_blocks(A, B, ends, blocks, near, X, velocity, pseudo, x, y, epsilon, limit, deadline):
    """Iterate until no impulse changes by more than epsilon, the equations of each joint solved together (SIMMC, steps
    3 to 5); returns (iterations, cut short)."""
    for iteration in range(limit):
        largest = 0.0
        k = 0
        for b in range(blocks):
            last = ends[b]
            if last > k + 1 or X[k].shove_lo < 0.0:  # joint equations
                for i in range(k, last):
                    x[i] = X[i].goal - velocity[i]
                    y[i] = X[i].push - pseudo[i]
                _solve_block(B, x, k, last)
                _solve_block(B, y, k, last)
            else:
                p, shoved = X[k].p, X[k].shoved
                new = p + (X[k].goal - velocity[k] - X[k].soft * p) * X[k].mass
                x[k] = min(max(new, X[k].lo), X[k].hi) - p
                y[k] = max(shoved + (X[k].push - pseudo[k]) * X[k].shove_mass, X[k].shove_lo) - shoved
            for i in range(k, last):
                change, shove = x[i], y[i]
                X[i].p += change
                X[i].shoved += shove
                largest = max(largest, max(abs(change), abs(shove)))
                for j in range(near[i, 0], near[i, 1]):
                    velocity[j] += A[i, j] * change
                    pseudo[j] += A[i, j] * shove
            k = last
        if largest <= epsilon:
            return iteration + 1, 0
        if cycles() > deadline:
            return iteration + 1, CUT_SHORT
    return limit, CUT_SHORT
