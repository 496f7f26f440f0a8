"""LDLᵀ of a sparse positive semidefinite matrix within its envelope, and its solutions.

Row k holds the columns FIRST .. k. Rows are ordered once so that neighbouring loops stand side by side (`order.py`);
elimination then fills nothing outside the envelope, and a chain of N loops costs O(N). A pivot that vanishes belongs
to a row that follows from the rows before it (a redundant constraint, or a singular position): that row is left out
and gets no force. Embedded rows, which are the first, have been eliminated before (`saddle`) and are passed over here.
"""

import math

import numpy as np

from ..kernels.jit import inlined, kernel
from .layout import (
    FIRST,
    LO,
    NOISE,
    ON,
    PIVOT,
    PLACE,
    SCALE,
    SOFT,
    START,
    TURN,
    USUAL,
    WHOLE,
    P,
)

DEPENDENT = 1e-13
"""Pivot over largest diagonal below which a row is taken to follow from others: sin² of the angle between them."""
# Rounding in a pivot grows with the root of the smallest one before it (bodies of very different mass make small ones).
_NOISE = 64.0 * np.finfo(float).eps


@inlined
def embedded(work):
    """How many rows are embedded: the first ones."""
    return work.link.shape[0] - work.J.shape[0]


@inlined
def judge(row, k, pivot, diagonal, weakest, floor, least):
    """1/pivot of row k, or 0 if it follows from the rows before it, of which the weakest has come down by that factor.

    Pivots are judged against the largest diagonal that the row has had, row[SCALE], for a row may fade as a whole at a
    singular position. floor: what takes the place of a pivot that vanishes, as a share of that; 0 leaves its row out.
    least: pivots below this share of the largest that the row has had are left out too; 0 learns what is usual instead.

    Softness keeps a row from fading, and comes and goes by powers of ten (a tyre that begins to roll): what was is no
    measure then.
    """
    soft = row[SOFT, k] > 0.0
    scale = diagonal if soft else max(row[SCALE, k], diagonal)
    row[SCALE, k] = scale
    if soft:
        least = 0.0
    elif least == 0.0:
        row[USUAL, k] = max(row[USUAL, k], pivot)
    if pivot > max(max(DEPENDENT, _NOISE * math.sqrt(weakest)) * scale, least * row[USUAL, k]):
        return 1.0 / pivot
    return 1.0 / (floor * scale) if floor > 0.0 else 0.0


@inlined
def factor_envelope(work, on, floor, least):
    """A + soft over the rows with flag[on] set => L, and 1/pivot in row[PIVOT], which is zero for dependent rows.

    floor, least: see `judge`. report: the smallest ratio among rows before the first that has bounds, and its row.
    """
    A, L, row, flag, report = work.A, work.L, work.row, work.flag, work.report[0]
    smallest, guilty, shaky, pure = report.inner, report.inner_row, report.inner_weakest, True
    for k in range(embedded(work), row.shape[1]):
        row[PIVOT, k] = 0.0
        if flag[on, k] == 0:
            continue
        base, low = flag[START, k], flag[FIRST, k]
        for j in range(low, k):
            total = 0.0
            if row[PIVOT, j] != 0.0:
                total = A[base + j]
                other = flag[START, j]
                for i in range(max(low, flag[FIRST, j]), j):
                    total -= L[base + i] * L[other + i]  # L[base + i] still holds L D here
            L[base + j] = total
        pivot, weakest = A[base + k] + row[SOFT, k], row[NOISE, k]
        for j in range(low, k):
            total = L[base + j]
            if total != 0.0:
                L[base + j] = total * row[PIVOT, j]
                pivot -= total * L[base + j]
                weakest = max(weakest, row[SCALE, j] * row[PIVOT, j])
        row[PIVOT, k] = judge(row, k, pivot, row[WHOLE, k] + row[SOFT, k], weakest, floor, least)
        # A joint that friction holds may well repeat a loop: no singular position.
        pure &= row[LO, k] == -np.inf
        if pure and pivot < smallest * row[SCALE, k]:
            smallest, guilty = pivot / row[SCALE, k], k
        if pure and least == 0.0 and pivot < shaky * row[USUAL, k]:
            shaky = pivot / row[USUAL, k]
    report.smallest, report.smallest_row, report.weakest = smallest, guilty, shaky


@kernel
def solve_envelope(work, x):
    """row[x] ← (L D Lᵀ)⁻¹ row[x]; zero where a row is off or dependent."""
    L, row, flag = work.L, work.row, work.flag
    begin, count = embedded(work), row.shape[1]
    for k in range(begin, count):
        total = 0.0
        if row[PIVOT, k] != 0.0:
            base, total = flag[START, k], row[x, k]
            for j in range(flag[FIRST, k], k):
                total -= L[base + j] * row[x, j]
        row[x, k] = total
    for k in range(begin, count):
        row[x, k] *= row[PIVOT, k]
    for k in range(count - 1, begin - 1, -1):
        if row[PIVOT, k] == 0.0:
            row[x, k] = 0.0
        elif row[x, k] != 0.0:
            base = flag[START, k]
            for j in range(flag[FIRST, k], k):
                row[x, j] -= L[base + j] * row[x, k]


@kernel
def solve_columns(work, x):
    """x ← (L D Lᵀ)⁻¹ x for all columns of x, which has one row for each row; zero where a row is off or dependent."""
    L, row, flag = work.L, work.row, work.flag
    begin, count, width = embedded(work), x.shape[0], x.shape[1]
    for k in range(begin, count):
        base = flag[START, k]
        if row[PIVOT, k] != 0.0:
            for j in range(flag[FIRST, k], k):
                for c in range(width):
                    x[k, c] -= L[base + j] * x[j, c]
        else:
            for c in range(width):
                x[k, c] = 0.0
    for k in range(begin, count):
        for c in range(width):
            x[k, c] *= row[PIVOT, k]
    for k in range(count - 1, begin - 1, -1):
        base = flag[START, k]
        if row[PIVOT, k] != 0.0:
            for j in range(flag[FIRST, k], k):
                for c in range(width):
                    x[j, c] -= L[base + j] * x[k, c]


@inlined
def solve_three(work):
    """Solve for row[P], row[PLACE] and row[TURN] at once: most of the time goes into fetching L."""
    L, row, flag = work.L, work.row, work.flag
    begin, count = embedded(work), row.shape[1]
    for k in range(begin, count):
        x, y, z = 0.0, 0.0, 0.0
        if row[PIVOT, k] != 0.0:
            base = flag[START, k]
            x, y, z = row[P, k], row[PLACE, k], row[TURN, k]
            for j in range(flag[FIRST, k], k):
                l = L[base + j]
                x -= l * row[P, j]
                y -= l * row[PLACE, j]
                z -= l * row[TURN, j]
        row[P, k], row[PLACE, k], row[TURN, k] = x, y, z
    for k in range(begin, count):
        pivot = row[PIVOT, k]
        row[P, k] *= pivot
        row[PLACE, k] *= pivot
        row[TURN, k] *= pivot
    for k in range(count - 1, begin - 1, -1):
        if row[PIVOT, k] == 0.0:
            row[P, k], row[PLACE, k], row[TURN, k] = 0.0, 0.0, 0.0
            continue
        base = flag[START, k]
        x, y, z = row[P, k], row[PLACE, k], row[TURN, k]
        for j in range(flag[FIRST, k], k):
            l = L[base + j]
            row[P, j] -= l * x
            row[PLACE, j] -= l * y
            row[TURN, j] -= l * z


@kernel
def times_envelope(work, x, out):
    """row[out] = A row[x] over the rows that are on."""
    A, row, flag = work.A, work.row, work.flag
    begin, count = embedded(work), row.shape[1]
    for k in range(begin, count):
        row[out, k] = 0.0
    for k in range(begin, count):
        if flag[ON, k] == 0:
            continue
        base = flag[START, k]
        total = A[base + k] * row[x, k]
        for j in range(flag[FIRST, k], k):
            if flag[ON, j] != 0:
                total += A[base + j] * row[x, j]
                row[out, j] += A[base + j] * row[x, k]
        row[out, k] += total
