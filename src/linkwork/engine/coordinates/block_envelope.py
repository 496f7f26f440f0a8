"""Cholesky factor of a damped symmetric matrix JᵀJ + D of 6 × 6 blocks, within its envelope."""

from __future__ import annotations

import math

from ..kernels.jit import inlined, kernel

# Damping against the diagonal of JᵀJ. Rounding disturbs pivots by some 1e-15 of it. A correction leaves the share
# damping/(damping + σ²) of a reaction behind, σ the singular value of J that it needs: σ² is 2e-2 in the Peaucellier
# linkage, 1e-6 in a chain of 40 and 2e-9 in one of 200. Less damping blurs the reactions to a motion that no joint
# forces can cause: by rounding/damping/σ of what they cannot balance.
_DAMPING = 1e-11


@kernel
def factor_envelope(balance):
    """JᵀJ => L, damped."""
    L, first, start = balance.factor, balance.first, balance.start
    for i in range(first.shape[0]):
        for j in range(first[i], i + 1):
            at = 36 * (start[i] + j - first[i])
            if i == j:
                for r in range(6):
                    L[at + 7 * r] += _DAMPING * (1.0 + L[at + 7 * r])
            for k in range(max(first[i], first[j]), j):
                _subtract_product(L, at, 36 * (start[i] + k - first[i]), 36 * (start[j] + k - first[j]))
            _divide(L, at, 36 * (start[j] + j - first[j]))


@inlined
def _subtract_product(L, at, a, b):
    """Block `at` -= block a times block b transposed."""
    for r in range(6):
        k = a + 6 * r
        x0, x1, x2, x3, x4, x5 = L[k], L[k + 1], L[k + 2], L[k + 3], L[k + 4], L[k + 5]
        for c in range(6):
            k = b + 6 * c
            L[at + 6 * r + c] -= (
                (x0 * L[k] + x1 * L[k + 1])
                + (x2 * L[k + 2] + x3 * L[k + 3])
                + (x4 * L[k + 4] + x5 * L[k + 5])
            )


@kernel
def _divide(L, at, diagonal):
    """Block `at` times the inverse transpose of a factored diagonal block; of that block itself: factor it."""
    for r in range(6):
        for c in range(r + 1 if at == diagonal else 6):
            x = L[at + 6 * r + c]
            for k in range(c):
                x -= L[at + 6 * r + k] * L[diagonal + 6 * c + k]
            if at == diagonal and c == r:
                L[at + 7 * r] = math.sqrt(max(x, _DAMPING))
            else:
                L[at + 6 * r + c] = x / L[diagonal + 7 * c]


@kernel
def solve_envelope(balance, x):
    """x <- (JᵀJ + D)⁻¹ x."""
    L, first, start = balance.factor, balance.first, balance.start
    n = first.shape[0]
    for i in range(n):
        diagonal = 36 * (start[i] + i - first[i])
        for r in range(6):
            total = x[6 * i + r]
            for j in range(first[i], i):
                k, m = 36 * (start[i] + j - first[i]) + 6 * r, 6 * j
                total -= (
                    (L[k] * x[m] + L[k + 1] * x[m + 1])
                    + (L[k + 2] * x[m + 2] + L[k + 3] * x[m + 3])
                    + (L[k + 4] * x[m + 4] + L[k + 5] * x[m + 5])
                )
            for c in range(r):
                total -= L[diagonal + 6 * r + c] * x[6 * i + c]
            x[6 * i + r] = total / L[diagonal + 7 * r]
    for i in range(n - 1, -1, -1):
        diagonal = 36 * (start[i] + i - first[i])
        for r in range(5, -1, -1):
            total = x[6 * i + r]
            for c in range(r + 1, 6):
                total -= L[diagonal + 6 * c + r] * x[6 * i + c]
            x[6 * i + r] = total / L[diagonal + 7 * r]
        for j in range(first[i], i):
            at = 36 * (start[i] + j - first[i])
            for r in range(6):
                for c in range(6):
                    x[6 * j + c] -= L[at + 6 * r + c] * x[6 * i + r]
