"""Dependent and independent unknowns of a set of constraints: Gauss-Jordan elimination with pivoting.

The constraints G x = b of the kept rows become x_d = b' - (G_d⁻¹ G_i) x_i: how the dependent unknowns follow the
independent ones. With `anew` the elimination picks the largest pivot that is left among all rows and columns, and with
it the dependent unknowns; else these are given. G has its gradients in scale, so that the smallest pivot says how far
from singular the position is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.jit import kernel


class Partition(NamedTuple):
    """Kept rows, which unknowns depend on which, and the eliminated constraints."""

    rows: np.ndarray
    """The kept rows of the row table."""
    dependent: np.ndarray
    """dependent[i] is the unknown that equation i is solved for, -1 if it follows from the others."""
    independent: np.ndarray
    free: np.ndarray
    """1 for unknowns that are independent."""
    used: np.ndarray
    kept: np.ndarray
    """The dependent unknowns of the set in use while another one is tried."""
    G: np.ndarray
    """Eliminated constraints: gradients (n), a right side (1), the inverse of G_d (as many as there are rows)."""
    reduced: np.ndarray
    """The tangent of the independent unknowns."""
    x: np.ndarray
    pivots: np.ndarray
    """Of each kept row at the last elimination, against its scale."""
    scale: np.ndarray
    """Largest gradient of each kept row so far."""
    size: np.ndarray
    """Smallest pivot where the last step ended, and how fast it changes [1/s]."""


def new_partition(kept: np.ndarray, n: int, rank: int) -> Partition:
    """Room for the kept rows of n unknowns, `rank` of which are independent."""
    rows = np.flatnonzero(kept)
    m, k = len(rows), n - rank
    return Partition(
        rows, np.full(m, -1), np.arange(k), np.ones(n, np.int64), np.zeros(m, np.int64), np.full(m, -1),
        np.zeros((m, n + 1 + m)), np.zeros((k, k + 1)), np.zeros((2, n)), np.zeros(m), np.zeros(m), np.zeros(2),
    )  # fmt: skip


@kernel
def load_gradients(part, work):
    """(measured rows) => G and an identity beside it; right sides are up to the caller."""
    G, m, n = part.G, part.rows.shape[0], work.x.shape[1]
    for i in range(m):
        for j in range(n + 1 + m):
            G[i, j] = 0.0
        r, largest = part.rows[i], 0.0
        for k in range(work.ptr[r], work.ptr[r + 1]):
            G[i, work.idx[k]] = work.val[k]
            largest = max(largest, abs(work.val[k]))
        G[i, n + 1 + i] = 1.0
        part.scale[i] = max(part.scale[i], largest)


@kernel
def _take_out(part, i, k):
    """Eliminate unknown k by equation i from all others."""
    G = part.G
    inverse = 1.0 / G[i, k]
    for j in range(G.shape[1]):
        G[i, j] *= inverse
    for other in range(G.shape[0]):
        factor = G[other, k]
        if other != i and factor != 0.0:
            for j in range(G.shape[1]):
                G[other, j] -= factor * G[i, j]


@kernel
def eliminate(part, anew):
    """Gauss-Jordan on G; returns the smallest pivot against its row's scale, and that kept row's number."""
    G, m, n = part.G, part.rows.shape[0], part.free.shape[0]
    smallest, where = np.inf, -1
    for i in range(m):
        part.used[i] = 0
    if anew:
        for j in range(n):
            part.free[j] = 1
    for _ in range(n - part.independent.shape[0]):
        best, row, column = 0.0, -1, -1
        for i in range(m):
            if part.used[i] != 0 or part.scale[i] == 0.0:
                continue
            if anew:
                for j in range(n):
                    if part.free[j] != 0 and abs(G[i, j]) > best * part.scale[i]:
                        best, row, column = abs(G[i, j]) / part.scale[i], i, j
            else:
                j = part.dependent[i]
                if j >= 0 and abs(G[i, j]) > best * part.scale[i]:
                    best, row, column = abs(G[i, j]) / part.scale[i], i, j
        if row < 0:
            return 0.0, 0
        if best < smallest:
            smallest, where = best, row
        part.used[row] = 1
        part.pivots[row] = best
        if anew:
            part.free[column] = 0
            part.dependent[row] = column
        _take_out(part, row, column)
    if anew:
        for i in range(m):
            if part.used[i] == 0:
                part.dependent[i] = -1
        k = 0
        for j in range(n):
            if part.free[j] != 0:
                part.independent[k] = j
                k += 1
    return smallest, where


@kernel
def follow(part, x, affine):
    """x_d of the dependent unknowns for the independent ones; without `affine`, of changes."""
    n = part.free.shape[0]
    for i in range(part.rows.shape[0]):
        if part.dependent[i] < 0:
            continue
        total = part.G[i, n] if affine else 0.0
        for k in range(part.independent.shape[0]):
            j = part.independent[k]
            total -= part.G[i, j] * x[j]
        x[part.dependent[i]] = total


@kernel
def gather_back(part, r, out):
    """out = Rᵀ r: what forces on all unknowns are worth on the independent ones."""
    for k in range(part.independent.shape[0]):
        j = part.independent[k]
        total = r[j]
        for i in range(part.rows.shape[0]):
            if part.dependent[i] >= 0:
                total -= part.G[i, j] * r[part.dependent[i]]
        out[k] = total


@kernel
def solve_dense(A):
    """Solve A[:, :-1] x = A[:, -1] in place, rows pivoted; x replaces the last column. Returns the smallest pivot."""
    n = A.shape[0]
    smallest = np.inf
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if best != k:
            for j in range(n + 1):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        smallest = min(smallest, abs(A[k, k]))
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
    return smallest
