"""Equations of a step reduced to its independent unknowns: Rᵀ A R x = Rᵀ b, with v = R v_i of a `Partition`."""

from ..kernels.jit import kernel, woven
from ..kernels.skyline import FIRST, LOWER, START, UNKNOWN, UPPER
from .partition import follow


@kernel
def _share(part, x, a):
    """Element of R: how unknown x follows independent unknown number a."""
    j = part.independent[a]
    if part.free[x] != 0:
        return 1.0 if x == j else 0.0
    for i in range(part.dependent.shape[0]):
        if part.dependent[i] == x:
            return -part.G[i, j]
    return 0.0


@kernel
def _spread(part, x, y, value):
    """reduced += Rᵀ A R of one element A(x, y)."""
    if value == 0.0:
        return
    k = part.independent.shape[0]
    for a in range(k):
        left = value * _share(part, x, a)
        if left != 0.0:
            for b in range(k):
                part.reduced[a, b] += left * _share(part, y, b)


@kernel
def _reduce_matrix(part, matrix):
    """reduced = Rᵀ A R of a sparse matrix A, element by element: R has a one and the dependent unknowns' shares."""
    shape, values, k = matrix.shape, matrix.values, part.independent.shape[0]
    for a in range(k):
        for b in range(k):
            part.reduced[a, b] = 0.0
    for i in range(shape.shape[1]):
        for j in range(shape[FIRST, i], i + 1):
            at = shape[START, i] + j
            x, y = shape[UNKNOWN, i], shape[UNKNOWN, j]
            _spread(part, x, y, values[LOWER, at])
            if i != j:
                _spread(part, y, x, values[UPPER, at])


@kernel
def _reduce_forces(part, forces, factor):
    """Right side of reduced = factor Rᵀ forces: what forces on all unknowns are worth on the independent ones."""
    k = part.independent.shape[0]
    for a in range(k):
        j = part.independent[a]
        total = forces[j]
        for i in range(part.rows.shape[0]):
            if part.dependent[i] >= 0:
                total -= part.G[i, j] * forces[part.dependent[i]]
        part.reduced[a, k] = factor * total


@woven
def correct_independent(work, part, s):
    """(residual, matrix, eliminated constraints) => Newton's correction of the displacement."""
    k, change = part.independent.shape[0], work.change
    _reduce_matrix(part, work.matrix)
    _reduce_forces(part, work.residual, -s)
    solve_dense(part.reduced)
    for i in range(change.shape[0]):
        change[i] = 0.0
    for a in range(k):
        change[part.independent[a]] = part.reduced[a, k]
    follow(part, change, False)


@woven
def miss_independent(work, part, a):
    """(residual, inertia, eliminated constraints) => how far accelerations are from balance, and how large they are."""
    k, miss, size = part.independent.shape[0], 0.0, 0.0
    _reduce_matrix(part, work.matrix)
    _reduce_forces(part, work.residual, 1.0)
    solve_dense(part.reduced)
    for i in range(k):
        miss, size = max(miss, abs(part.reduced[i, k])), max(size, abs(a[part.independent[i]]))
    return miss, size


@woven
def find_multipliers(work, part):
    """(residual, eliminated constraints) => multipliers from the dependent unknowns' equations: r_d + G_dᵀ λ = 0."""
    n, m = part.free.shape[0], part.rows.shape[0]
    for j in range(m):
        total = 0.0
        for i in range(m):
            if part.dependent[i] >= 0:
                total -= part.G[i, n + 1 + j] * work.residual[part.dependent[i]]
        work.rows[part.rows[j]].multiplier = total


@kernel
def solve_dense(A):
    """Solve A[:, :-1] x = A[:, -1] in place, rows pivoted; x replaces the last column."""
    n = A.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if best != k:
            for j in range(n + 1):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            if factor != 0.0:
                for j in range(k, n + 1):
                    A[i, j] -= factor * A[k, j]
    for k in range(n - 1, -1, -1):
        total = A[k, n]
        for j in range(k + 1, n):
            total -= A[k, j] * A[j, n]
        A[k, n] = total / A[k, k]
