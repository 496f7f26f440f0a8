"""Sparse matrices of symmetric shape, but not values: the tangents of implicit steps, factored without pivoting.

Row i of the lower half begins at column FIRST; element (i, j) stands in values[LOWER] at START[i] + j, and (j, i) in
values[UPPER] at the same place, so that both halves are read along contiguous stretches. The factors fill the same
shape. Unknown k stands in row PLACE[k], row i holds UNKNOWN[i]: an order in which rows begin late.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .jit import inlined, kernel

PLACE, UNKNOWN, FIRST, START = range(4)
LOWER, UPPER = range(2)


class Skyline(NamedTuple):
    """Shape and values of a matrix, which its factors replace, and room for a right side."""

    shape: np.ndarray
    values: np.ndarray
    scratch: np.ndarray


def new_skyline(order: list[int], cliques: list[set[int]]) -> Skyline:
    """A matrix in which the unknowns of each clique are coupled; `order` lists the unknowns as rows."""
    n = len(order)
    shape = np.zeros((4, n), np.int64)
    shape[PLACE, order] = np.arange(n)
    shape[UNKNOWN] = order
    shape[FIRST] = np.arange(n)
    for clique in cliques:
        rows = shape[PLACE, sorted(clique)]
        shape[FIRST, rows] = np.minimum(shape[FIRST, rows], rows.min(initial=n))
    offsets = np.cumsum([0, *(np.arange(n) - shape[FIRST] + 1)])
    shape[START] = offsets[:-1] - shape[FIRST]
    return Skyline(shape, np.zeros((2, offsets[-1])), np.zeros(n))


@inlined
def clear(matrix):
    values = matrix.values
    for k in range(values.shape[1]):
        values[LOWER, k] = 0.0
        values[UPPER, k] = 0.0


@inlined
def add(shape, values, i, j, x):
    """values(i, j) += x for unknowns i and j; the diagonal stands in the lower half."""
    r, c = shape[PLACE, i], shape[PLACE, j]
    if c <= r:
        values[LOWER, shape[START, r] + c] += x
    else:
        values[UPPER, shape[START, c] + r] += x


@kernel
def factor(matrix):
    """values ← L U, L with ones on its diagonal, U with inverse pivots there; returns the smallest pivot."""
    shape, F = matrix.shape, matrix.values
    smallest = np.inf
    for i in range(shape.shape[1]):
        first, base = shape[FIRST, i], shape[START, i]
        pivot = F[LOWER, base + i]
        for j in range(first, i):
            other = shape[START, j]
            x, y = F[LOWER, base + j], F[UPPER, base + j]
            for k in range(max(first, shape[FIRST, j]), j):
                x -= F[LOWER, base + k] * F[UPPER, other + k]
                y -= F[UPPER, base + k] * F[LOWER, other + k]
            x *= F[LOWER, other + j]  # the inverse pivot of row j
            F[LOWER, base + j], F[UPPER, base + j] = x, y
            pivot -= x * y
        smallest = min(smallest, pivot)
        F[LOWER, base + i] = 1.0 / pivot
    return smallest


@kernel
def solve(matrix, x):
    """x ← A⁻¹ x by the factors; x is numbered like the unknowns."""
    shape, F, b = matrix.shape, matrix.values, matrix.scratch
    n = shape.shape[1]
    for k in range(n):
        b[shape[PLACE, k]] = x[k]
    for i in range(n):
        base, total = shape[START, i], b[i]
        for k in range(shape[FIRST, i], i):
            total -= F[LOWER, base + k] * b[k]
        b[i] = total
    for i in range(n - 1, -1, -1):
        base = shape[START, i]
        total = b[i] * F[LOWER, base + i]
        b[i] = total
        for k in range(shape[FIRST, i], i):
            b[k] -= F[UPPER, base + k] * total
    for k in range(n):
        x[k] = b[shape[PLACE, k]]
