"""Smooth surfaces through a grid of numbers: bicubic splines with continuous second derivatives.

A spline is its coefficients c of uniform cubic B-splines; at node i of a row it is (c[i-1] + 4 c[i] + c[i+1])/6. The
grid of coefficients has one more row and column on every side, so chosen that second derivatives vanish at the rim.
"""

from __future__ import annotations

import numpy as np

from .rotation import Array


def spline_coefficients(grid: Array) -> Array:
    """Of the spline through all numbers of a grid: two rows and two columns more."""
    return _along_first(_along_first(grid).T).T


def refined(grid: Array, times: int) -> Array:
    """The spline through a grid at its nodes and at `times` - 1 places between any two of them."""
    return _between(_between(spline_coefficients(grid), times).T, times).T


def _along_first(numbers: Array) -> Array:
    """Coefficients of the splines through the columns of numbers: two rows more."""
    count = len(numbers)
    made = np.empty((count + 2, *numbers.shape[1:]))
    inner = made[1:-1]
    inner[:] = numbers  # at the ends the number itself, as the second derivative vanishes there
    # c[i-1] + 4 c[i] + c[i+1] = 6 f[i] between them, without pivots: the middle one is the largest.
    share = np.zeros(count)
    for i in range(1, count - 1):
        pivot = 4.0 - share[i - 1]
        share[i] = 1.0 / pivot
        inner[i] = (6.0 * numbers[i] - inner[i - 1]) / pivot
    for i in range(count - 2, 0, -1):
        inner[i] -= share[i] * inner[i + 1]
    made[0], made[-1] = 2.0 * made[1] - made[2], 2.0 * made[-2] - made[-3]
    return made


def _between(coefficients: Array, times: int) -> Array:
    """Splines at `times` places a cell and at the last node, along the first axis."""
    cells = len(coefficients) - 3
    made = np.empty((cells * times + 1, *coefficients.shape[1:]))
    for k in range(times):
        t = k / times
        weights = ((1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3)
        made[k:-1:times] = sum(w / 6 * coefficients[i : i + cells] for i, w in enumerate(weights))
    made[-1] = (coefficients[-3] + 4 * coefficients[-2] + coefficients[-1]) / 6
    return made
