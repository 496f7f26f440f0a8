"""Sparse matrices of symmetric shape, but not values, factored without pivoting: tangents of implicit steps, contacts.

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
    return factor_rows(matrix.shape, matrix.values, matrix.shape.shape[1], -np.inf)


@kernel
def factor_rows(shape, F, count, least):
    """As `factor`, of the first rows.

    least: rows whose pivot is no more than this share of their diagonal follow from others; their solution is zero.
    """
    smallest = np.inf
    for i in range(count):
        first, base = shape[FIRST, i], shape[START, i]
        diagonal = F[LOWER, base + i]
        pivot = diagonal
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
        F[LOWER, base + i] = 0.0 if pivot <= least * abs(diagonal) else 1.0 / pivot
    return smallest


@kernel
def solve(matrix, x):
    """x ← A⁻¹ x by the factors; x is numbered like the unknowns."""
    shape, b = matrix.shape, matrix.scratch
    n = shape.shape[1]
    for k in range(n):
        b[shape[PLACE, k]] = x[k]
    solve_rows(shape, matrix.values, n, b)
    for k in range(n):
        x[k] = b[shape[PLACE, k]]


@kernel
def solve_rows(shape, F, count, b):
    """b ← A⁻¹ b by the factors of the first rows; b is numbered like the rows."""
    for i in range(count):
        base, total = shape[START, i], b[i]
        for k in range(shape[FIRST, i], i):
            total -= F[LOWER, base + k] * b[k]
        b[i] = total
    for i in range(count - 1, -1, -1):
        base = shape[START, i]
        total = b[i] * F[LOWER, base + i]
        b[i] = total
        for k in range(shape[FIRST, i], i):
            b[k] -= F[UPPER, base + k] * total
