"""Value of a time signal."""

import math

from .jit import kernel

_SINE, _CURVE = (
    0,
    2,
)  # codes of linkwork.model.signals: Sine and a smooth Table; everything else is a table of lines
WIRE = 3
"""Code of a factor that a control diagram writes."""


@kernel
def signal_value(tables, index, t):
    """Factor that signal `index` gives at time t; 1 for index -1."""
    if index < 0:
        return 1.0
    signal = tables.signals[index]
    numbers, first = tables.numbers, signal.first
    if signal.kind == WIRE:
        return numbers[first]
    if signal.kind == _SINE:
        return numbers[first] + numbers[first + 1] * math.sin(numbers[first + 2] * t + numbers[first + 3])
    count = _size(signal)
    t = _within(numbers, first, count, t)
    first += 1
    values = first + count
    if t <= numbers[first]:
        return numbers[values]
    i = _segment(numbers, first, count, t)
    if i == count:
        return numbers[values + count - 1]
    t0, t1 = numbers[first + i - 1], numbers[first + i]
    y0, y1 = numbers[values + i - 1], numbers[values + i]
    if signal.kind != _CURVE:
        return y0 + (y1 - y0) * (t - t0) / (t1 - t0)
    s = (t - t0) / (t1 - t0)
    d0, b, c = _cubic(numbers, values + count + i, t1 - t0, y1 - y0)
    return y0 + s * (d0 + s * (b + s * c))


@kernel
def _size(signal):
    """Points of a table whose numbers are [repeats, times, values], of a smooth one also slopes."""
    return signal.count // (3 if signal.kind == _CURVE else 2)


@kernel
def _cubic(numbers, slope, h, rise):
    """Coefficients of s, s² and s³ of the cubic with slopes numbers[slope - 1] and numbers[slope] at its ends."""
    d0, d1 = h * numbers[slope - 1], h * numbers[slope]
    return d0, 3.0 * rise - 2.0 * d0 - d1, d0 + d1 - 2.0 * rise


@kernel
def _within(numbers, first, count, t):
    """The time to look up in a table of `count` points: of one that repeats, within it."""
    start, end = numbers[first + 1], numbers[first + count]
    if numbers[first] == 0.0 or t < end or end == start:
        return t
    period = end - start
    return t - period * math.floor((t - start) / period)


@kernel
def _segment(numbers, first, count, t):
    """The first of a table's times that lies after t, by bisection; `count` if there is none."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if numbers[first + middle] > t:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def signal_slope(tables, index, t):
    """Rate of change of that factor [1/s], from the right where it jumps."""
    if index < 0 or tables.signals[index].kind == WIRE:
        return 0.0
    signal = tables.signals[index]
    numbers, first = tables.numbers, signal.first
    if signal.kind == _SINE:
        w = numbers[first + 2]
        return numbers[first + 1] * w * math.cos(w * t + numbers[first + 3])
    count = _size(signal)
    t = _within(numbers, first, count, t)
    first += 1
    values = first + count
    if t < numbers[first]:
        return 0.0
    i = _segment(numbers, first, count, t)
    if i == count:
        return 0.0
    h = numbers[first + i] - numbers[first + i - 1]
    rise = numbers[values + i] - numbers[values + i - 1]
    if signal.kind != _CURVE:
        return rise / h
    s = (t - numbers[first + i - 1]) / h
    d0, b, c = _cubic(numbers, values + count + i, h, rise)
    return (d0 + s * (2.0 * b + 3.0 * s * c)) / h
