"""Dependent and independent unknowns of a set of constraints: Gauss-Jordan elimination with pivoting.

The constraints G x = b of the kept rows become x_d = b' - (G_d⁻¹ G_i) x_i: how the dependent unknowns follow the
independent ones. With `anew` the elimination picks the largest pivot that is left among all rows and columns, and with
it the dependent unknowns; else these are given. G has its gradients in scale, so that the smallest pivot says how far
from singular the position is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.jit import kernel, woven
from ..kernels.record import new_record

PIVOT = np.dtype(
    [
        ("smallest", "f8"),  # smallest pivot where the last step ended, against its row's scale
        ("slope", "f8"),  # how fast it changes [1/s]
    ]
)


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
    """The tangent of the independent unknowns, and a right side."""
    pivots: np.ndarray
    """Of each kept row at the last elimination, against its scale."""
    scale: np.ndarray
    """Largest gradient of each kept row so far."""
    pivot: np.record
    """Of `PIVOT`: how far from singular the motion is."""


def new_partition(kept: np.ndarray, n: int, rank: int) -> Partition:
    """Room for the kept rows of n unknowns, `rank` of which are independent."""
    rows = np.flatnonzero(kept)
    m, k = len(rows), n - rank
    return Partition(
        rows, np.full(m, -1), np.arange(k), np.ones(n, np.int64), np.zeros(m, np.int64), np.full(m, -1),
        np.zeros((m, n + 1 + m)), np.zeros((k, k + 1)), np.zeros(m), np.zeros(m), new_record(PIVOT),
    )  # fmt: skip


@kernel
def load_gradients(part, work):
    """(measured rows) => G, what the rows want as its right side, and an identity beside it."""
    G, m, n = part.G, part.rows.shape[0], part.free.shape[0]
    for i in range(m):
        for j in range(n + 1 + m):
            G[i, j] = 0.0
        r, largest = part.rows[i], 0.0
        for k in range(work.ptr[r], work.ptr[r + 1]):
            G[i, work.idx[k]] = work.val[k]
            largest = max(largest, abs(work.val[k]))
        G[i, n] = work.rows[r].want
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
    """Gauss-Jordan on G; returns the smallest pivot against its row's scale, 0 if there are too few."""
    G, m, n, smallest = part.G, part.rows.shape[0], part.free.shape[0], np.inf
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
            return 0.0
        smallest = min(smallest, best)
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
        _list_independent(part)
    return smallest


@kernel
def _list_independent(part):
    """(free unknowns) => independent."""
    k = 0
    for j in range(part.free.shape[0]):
        if part.free[j] != 0:
            part.independent[k] = j
            k += 1


@woven
def keep_choice(part):
    """The set in use, to return to if another one is not worth it."""
    for i in range(part.rows.shape[0]):
        part.kept[i] = part.dependent[i]


@woven
def restore_choice(part):
    """Go on with the set that was in use."""
    for j in range(part.free.shape[0]):
        part.free[j] = 1
    for i in range(part.rows.shape[0]):
        part.dependent[i] = part.kept[i]
        if part.dependent[i] >= 0:
            part.free[part.dependent[i]] = 0
    _list_independent(part)


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
