"""LDLᵀ of a sparse positive semidefinite matrix within its envelope, and its solutions.

Row k holds the columns first[k] .. k, element (k, j) at A[start[k] + j]. Rows are ordered once so that neighbouring loops
stand side by side (`order.py`); elimination then fills nothing outside the envelope, and a row of N loops costs O(N). A pivot
that vanishes against its diagonal belongs to a row that follows from the rows before it (a redundant constraint, or
a singular position): the row is left out and gets no force.
"""

import numpy as np

from ..kernels.jit import kernel

DEPENDENT = 1e-10
"""Pivot over largest diagonal below which a row is taken to follow from others: sin² of the angle between them."""


@kernel
def factor_envelope(A, L, D, soft, on, start, first, scale, report):
    """A + soft on the rows with on[k] = 1 => L, 1/D; dependent rows have 1/D = 0.

    scale: largest diagonal of each row so far, against which pivots are judged: the whole row may fade at a singular
    position. report[0], report[1]: smallest such ratio and its row.
    """
    smallest, guilty = np.inf, -1
    for k in range(first.shape[0]):
        D[k] = 0.0
        if on[k] == 0:
            continue
        row, low = start[k], first[k]
        diagonal = A[row + k] + soft[k]
        pivot = diagonal
        for j in range(low, k):
            if D[j] == 0.0:
                L[row + j] = 0.0
                continue
            total = A[row + j]
            other = start[j]
            for i in range(max(low, first[j]), j):
                total -= L[row + i] * L[other + i]  # L[row + i] still holds L D here
            L[row + j] = total
        for j in range(low, k):
            total = L[row + j]
            L[row + j] = total * D[j]
            pivot -= total * L[row + j]
        if diagonal > scale[k]:
            scale[k] = diagonal
        if pivot < smallest * scale[k]:
            smallest, guilty = pivot / scale[k], k
        if pivot > DEPENDENT * scale[k]:
            D[k] = 1.0 / pivot
    report[0], report[1] = smallest, guilty


@kernel
def solve_envelope(L, D, start, first, x):
    """x ← (L D Lᵀ)⁻¹ x; zero where a row is off or dependent."""
    count = first.shape[0]
    for k in range(count):
        if D[k] != 0.0:
            row, total = start[k], x[k]
            for j in range(first[k], k):
                total -= L[row + j] * x[j]
            x[k] = total
        else:
            x[k] = 0.0
    for k in range(count):
        x[k] *= D[k]
    for k in range(count - 1, -1, -1):
        if x[k] != 0.0:
            row = start[k]
            for j in range(first[k], k):
                x[j] -= L[row + j] * x[k]
    for k in range(count):
        if D[k] == 0.0:
            x[k] = 0.0


@kernel
def times_envelope(A, on, start, first, x, out):
    """out = A x over the rows with on[k] = 1."""
    count = first.shape[0]
    for k in range(count):
        out[k] = 0.0
    for k in range(count):
        if on[k] == 0:
            continue
        row = start[k]
        total = A[row + k] * x[k]
        for j in range(first[k], k):
            if on[j] != 0:
                total += A[row + j] * x[j]
                out[j] += A[row + j] * x[k]
        out[k] += total
