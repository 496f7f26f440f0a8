"""Sequential impulses on the constraint-space matrix A = J H⁻¹ Jᵀ (projected Gauss-Seidel with split impulses).

Each row in turn gets the impulse that gives it its wanted velocity, clipped to its bounds; the change reaches all
other rows through a column of A. These are the same iterates as impulses sent through the tree one by one, at a
few products each. Mikhaylyuk, Strashnov and Timokhin, "Algorithms of multibody dynamics simulation using
articulated-body method" (SIMGC), steps 4 to 7.
"""

from ..kernels.clock import cycles
from ..kernels.jit import kernel
from ..tables import HOLD

CUT_SHORT = 1


@kernel
def warm(rows, A, near, velocity, count, live):
    """Apply the impulses of the last step (step 4): velocity += A p."""
    for k in range(count):
        row = rows[live[k]]
        row.p = min(max(row.p, row.lo), row.hi)
        if row.p != 0.0:
            for j in range(near[k, 0], near[k, 1]):
                velocity[j] += A[k, j] * row.p


@kernel
def sweep(rows, A, near, velocity, pseudo, shoved, count, live, epsilon, limit, deadline):
    """Iterate (step 7) until no impulse changes by more than epsilon; returns (iterations, cut short).

    velocity and pseudo are those of the rows, shoved their pseudo impulses; near[k] are the rows that row k reaches.
    """
    for iteration in range(limit):
        largest = 0.0
        for k in range(count):
            row = rows[live[k]]
            # The row's impulse: wanted change of velocity times effective mass, clipped (eqs. 3, 8).
            old = row.p
            row.p = min(max(old + (row.goal - velocity[k] - row.soft * old) / (A[k, k] + row.soft), row.lo), row.hi)
            change = row.p - old
            # The same for the pseudo impulse of rows that hold a position.
            shove = 0.0
            if row.role == HOLD or row.push > 0.0:
                shove = (row.push - pseudo[k]) / A[k, k]
                if row.lo == 0.0:
                    shove = max(shove, -shoved[k])
                shoved[k] += shove
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
def factor_blocks(rows, A, B, count, live):
    """B ← LDLᵀ of the diagonal blocks of A that belong to the equations of one joint.

    B[k, j] for rows k > j of a block holds L, B[k, k] holds D; a pivot of zero (a redundant row) is left out.
    """
    for k in range(count):
        first = _block_start(rows, live, k)
        for j in range(first, k + 1):
            total = A[k, j]
            for i in range(first, j):
                total -= B[k, i] * B[j, i] * B[i, i]
            if j < k:
                B[k, j] = total / B[j, j] if B[j, j] > 0.0 else 0.0
            else:
                B[k, k] = total if total > 1e-12 * A[k, k] else 0.0


@kernel
def _block_start(rows, live, k):
    """First of the rows that are solved together with row k: the equations of its joint."""
    row = rows[live[k]]
    while k > 0 and row.role == HOLD and rows[live[k - 1]].role == HOLD and rows[live[k - 1]].group == row.group:
        k -= 1
    return k


@kernel
def _solve_block(B, x, first, last):
    """x ← block⁻¹ x for rows first to last - 1."""
    for k in range(first, last):
        for j in range(first, k):
            x[k] -= B[k, j] * x[j]
    for k in range(first, last):
        x[k] = x[k] / B[k, k] if B[k, k] > 0.0 else 0.0
    for k in range(last - 1, first - 1, -1):
        for j in range(k + 1, last):
            x[k] -= B[j, k] * x[j]


@kernel
def sweep_blocks(rows, A, B, near, velocity, pseudo, shoved, x, y, count, live, epsilon, limit, deadline):
    """The same as `sweep`, but the equations of each joint are solved together (SIMMC, steps 3 to 5)."""
    for iteration in range(limit):
        largest = 0.0
        k = 0
        while k < count:
            last = k + 1
            while last < count and _block_start(rows, live, last) == k:
                last += 1
            for i in range(k, last):
                row = rows[live[i]]
                if row.role == HOLD:
                    x[i] = row.goal - velocity[i]
                    y[i] = row.push - pseudo[i]
                else:
                    old = row.p
                    gain = (row.goal - velocity[i] - row.soft * old) / (A[i, i] + row.soft)
                    x[i] = min(max(old + gain, row.lo), row.hi) - old
                    y[i] = max((row.push - pseudo[i]) / A[i, i], -shoved[i]) if row.push > 0.0 else 0.0
            if rows[live[k]].role == HOLD:
                _solve_block(B, x, k, last)
                _solve_block(B, y, k, last)
            for i in range(k, last):
                rows[live[i]].p += x[i]
                shoved[i] += y[i]
                largest = max(largest, max(abs(x[i]), abs(y[i])))
                for j in range(near[i, 0], near[i, 1]):
                    velocity[j] += A[i, j] * x[i]
                    pseudo[j] += A[i, j] * y[i]
            k = last
        if largest <= epsilon:
            return iteration + 1, 0
        if cycles() > deadline:
            return iteration + 1, CUT_SHORT
    return limit, CUT_SHORT
