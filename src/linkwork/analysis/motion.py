"""Prescribed motions: a coordinate over time with its first two derivatives, however the user gives it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..model.signals import Sine, Table

Motion = Callable[[float], tuple[float, float, float]]
"""t [s] => value, first and second derivative."""

# Strides of differences: the first as a share of the time spanned (no simple fraction of any period), how each
# follows from the one before, and how many.
_FIRST, _SHRINK, _LEVELS = 0.0917, 1.5, 22
# A derivative given by the user may differ from differences by this share of its largest value.
_AGREE, _TRIALS = 1e-4, 5


def prescribed(name: str, given: Any, times: Array) -> Motion:
    """The motion that `given` stands for; see `inverse`."""
    span = float(times[-1] - times[0]) or 1.0
    if isinstance(given, Sine):
        return _sine(given)
    if isinstance(given, Table):
        return given.unrolled(float(times[-1])).derivatives
    if callable(given):
        return _function(name, given, times, span)
    if _is_triple(given) and all(callable(part) for part in given):
        x, rate, bend = given
        return _compared(name, lambda t: (float(x(t)), float(rate(t)), float(bend(t))), times, span)
    return _samples(name, given, times)


def corners(given: Any, times: Array) -> list[float]:
    """Times at which the rate of a table jumps, within those asked for [s]."""
    if not isinstance(given, Table):
        return []
    given = given.unrolled(float(times[-1]))
    inside = [float(time) for time in np.unique(given.times) if times[0] <= time <= times[-1]]
    before = [given.derivatives(math.nextafter(time, -math.inf))[1] for time in inside]
    after = [given.derivatives(time)[1] for time in inside]
    rounding = 1e-9 * max(map(abs, [*before, *after]), default=0.0)
    return [
        time
        for time, a, b in zip(inside, before, after, strict=True)
        if not math.isclose(a, b, abs_tol=rounding)
    ]


def _is_triple(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 3


def _sine(signal: Sine) -> Motion:
    offset, amplitude, w, phase = signal.numbers()

    def motion(t: float) -> tuple[float, float, float]:
        s, c = amplitude * math.sin(w * t + phase), amplitude * math.cos(w * t + phase)
        return offset + s, w * c, -w * w * s

    return motion


def _function(name: str, function: Callable[[float], Any], times: Array, span: float) -> Motion:
    """A function that gives the value alone, or the value and both derivatives."""
    first = np.array(function(float(times[0])), float)
    if first.shape == (3,):
        return _compared(name, lambda t: _three(function(t)), times, span)
    if first.shape != ():
        raise LinkworkError(
            f"the function for '{name}' must give one number, or three: value, rate and acceleration; "
            f"it gives an array of shape {first.shape}"
        )

    def motion(t: float) -> tuple[float, float, float]:
        return (
            float(function(t)),
            difference(function, t, 1, span)[0],
            difference(function, t, 2, span)[0],
        )

    return motion


def _three(numbers: Any) -> tuple[float, float, float]:
    x, rate, bend = numbers
    return float(x), float(rate), float(bend)


def difference(function: Callable[[float], Any], t: float, order: int, span: float) -> tuple[float, float]:
    """First or second derivative by extrapolated central differences (Ridders), and how far off it may be.

    Of all strides, the one whose result agrees best with both of its neighbours.
    """
    middle = float(function(t))
    stride = _FIRST * span
    row: list[float] = []
    diagonal: list[float] = []
    for _ in range(_LEVELS):
        ahead, behind = float(function(t + stride)), float(function(t - stride))
        if order == 1:
            fresh = [(ahead - behind) / (2.0 * stride)]
        else:
            fresh = [(ahead - 2.0 * middle + behind) / stride**2]
        factor = _SHRINK**2
        for k in range(min(len(row), 6)):
            fresh.append((factor * fresh[k] - row[k]) / (factor - 1.0))
            factor *= _SHRINK**2
        row = fresh
        diagonal.append(row[-1])
        stride /= _SHRINK
    steps = np.abs(np.diff(diagonal))
    errors = np.maximum(steps[:-1], steps[1:])
    best = int(np.argmin(errors))
    return diagonal[best + 1], float(errors[best])


def _compared(name: str, motion: Motion, times: Array, span: float) -> Motion:
    """The motion itself, unless its derivatives are not those of its value."""
    trials = times[np.unique(np.linspace(0, len(times) - 1, _TRIALS).astype(int))]
    for order, what in ((1, "rate"), (2, "acceleration")):
        pairs = [
            (float(t), motion(t)[order], *difference(lambda u: motion(u)[0], t, order, span)) for t in trials
        ]
        largest = max(max(abs(told), abs(found)) for _, told, found, _ in pairs)
        for t, told, found, doubt in pairs:
            if abs(told - found) > _AGREE * largest + 10.0 * doubt:
                raise LinkworkError(
                    f"the {what} given for '{name}' is not the derivative of its value: at {t:g} s it is {told:.6g}, "
                    f"and differences of the value give {found:.6g}"
                )
    return motion


# --- samples ---


def _samples(name: str, given: Any, times: Array) -> Motion:
    """A constant, values at the times, or values, rates and accelerations there."""
    try:
        x = np.array(given, float)
    except (TypeError, ValueError):
        raise LinkworkError(
            f"the motion of '{name}' must be a number, a function, a signal, {len(times)} values, or three of these "
            f"(value, rate, acceleration), not {type(given).__name__}"
        ) from None
    if not np.isfinite(x).all():
        raise LinkworkError(f"the motion of '{name}' has a number that is not finite")
    if x.shape == ():
        held = float(x)
        return lambda t: (held, 0.0, 0.0)
    if x.shape == (len(times),):
        return _hermite(times, x, *smooth(times, x))
    if x.shape == (3, len(times)):
        return _hermite(times, *x)
    raise LinkworkError(
        f"the motion of '{name}' must have one value for each of the {len(times)} times, not the shape {x.shape}"
    )


def _hermite(times: Array, x: Array, d: Array, s: Array) -> Motion:
    """Polynomials of degree 5 with the given values, slopes and curvatures at the times."""
    if len(times) == 1:
        return lambda t: (float(x[0]), float(d[0]), float(s[0]))

    def motion(t: float) -> tuple[float, float, float]:
        i = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2))
        h, u = times[i + 1] - times[i], (t - times[i]) / (times[i + 1] - times[i])
        rise = x[i + 1] - x[i]
        a3 = 10 * rise - h * (6 * d[i] + 4 * d[i + 1]) - h * h * (1.5 * s[i] - 0.5 * s[i + 1])
        a4 = -15 * rise + h * (8 * d[i] + 7 * d[i + 1]) + h * h * (1.5 * s[i] - s[i + 1])
        a5 = 6 * rise - 3 * h * (d[i] + d[i + 1]) - 0.5 * h * h * (s[i] - s[i + 1])
        value = x[i] + u * (h * d[i] + u * (0.5 * h * h * s[i] + u * (a3 + u * (a4 + u * a5))))
        rate = d[i] + u * (h * s[i] + u * (3 * a3 + u * (4 * a4 + u * 5 * a5)) / h)
        bend = s[i] + u * (6 * a3 + u * (12 * a4 + u * 20 * a5)) / (h * h)
        return float(value), float(rate), float(bend)

    return motion


def smooth(t: Array, x: Array) -> tuple[Array, Array]:
    """Slopes and curvatures at the times of the spline of degree 5 through the values.

    At the ends they are those of the polynomial through the six outermost values; a spline through few values is
    that polynomial.
    """
    n, few = len(t), min(len(t), 6)
    if n <= few:
        return _polynomial(t, x, t)
    first, last = _polynomial(t[:6], x[:6], t[:1]), _polynomial(t[-6:], x[-6:], t[-1:])
    unknowns = np.zeros((n, 2))
    unknowns[0], unknowns[-1] = (first[0][0], first[1][0]), (last[0][0], last[1][0])
    _continue_smoothly(t, x, unknowns)
    return unknowns[:, 0].copy(), unknowns[:, 1].copy()


def _continue_smoothly(t: Array, x: Array, z: Array) -> None:
    """Fill in the inner (slope, curvature) pairs z so that the third and fourth derivatives are continuous.

    With h the length of a piece, its third derivative is (60 rise - h (36 d0 + 24 d1) - h² (9 s0 - 3 s1))/h³ at its
    start, its fourth (-360 rise + h (192 d0 + 168 d1) + h² (36 s0 - 24 s1))/h⁴; mirrored at its end. That makes a
    block-tridiagonal system of 2 × 2 blocks.
    """
    h, rise = np.diff(t), np.diff(x)
    inner = len(t) - 2
    below, middle, above = (np.zeros((inner, 2, 2)) for _ in range(3))
    right = np.zeros((inner, 2))
    for k in range(inner):
        a, b = h[k], h[k + 1]
        below[k] = [[-24 / a**2, -3 / a], [-168 / a**3, -24 / a**2]]
        above[k] = [[24 / b**2, -3 / b], [-168 / b**3, 24 / b**2]]
        middle[k] = [
            [-36 / a**2 + 36 / b**2, 9 / a + 9 / b],
            [-192 / a**3 - 192 / b**3, 36 / a**2 - 36 / b**2],
        ]
        right[k] = [
            -60 * rise[k] / a**3 + 60 * rise[k + 1] / b**3,
            -360 * rise[k] / a**4 - 360 * rise[k + 1] / b**4,
        ]
    right[0] -= below[0] @ z[0]
    right[-1] -= above[-1] @ z[-1]
    for k in range(1, inner):  # Gauss, block by block
        factor = below[k] @ np.linalg.inv(middle[k - 1])
        middle[k] -= factor @ above[k - 1]
        right[k] -= factor @ right[k - 1]
    for k in range(inner - 1, -1, -1):
        ahead = above[k] @ z[k + 2] if k + 1 < inner else 0.0
        z[k + 1] = np.linalg.solve(middle[k], right[k] - ahead)


def _polynomial(t: Array, x: Array, at: Array) -> tuple[Array, Array]:
    """Slope and curvature at some times of the polynomial through all values."""
    centre, scale = t.mean(), max(float(np.ptp(t)), 1e-300)
    u = 2.0 * (t - centre) / scale
    powers = np.linalg.solve(np.vander(u, increasing=True), x)
    p = np.polynomial.Polynomial(powers)
    w = 2.0 * (at - centre) / scale
    return np.array(p.deriv()(w)) * 2.0 / scale, np.array(p.deriv(2)(w)) * (2.0 / scale) ** 2
