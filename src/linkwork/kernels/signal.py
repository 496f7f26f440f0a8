"""Value of a time signal."""

import math

from .jit import kernel

_SINE = 0  # code of linkwork.signals.Sine; everything else is a table


@kernel
def signal_value(tables, index, t):
    """Factor that signal `index` gives at time t; 1 for index -1."""
    if index < 0:
        return 1.0
    signal = tables.signals[index]
    numbers, first = tables.numbers, signal.first
    if signal.kind == _SINE:
        return numbers[first] + numbers[first + 1] * math.sin(numbers[first + 2] * t + numbers[first + 3])
    t = _within(numbers, first, signal.count, t)
    first, count = first + 1, signal.count // 2
    values = first + count
    if t <= numbers[first]:
        return numbers[values]
    i = _segment(numbers, first, count, t)
    if i == count:
        return numbers[values + count - 1]
    t0, t1 = numbers[first + i - 1], numbers[first + i]
    y0, y1 = numbers[values + i - 1], numbers[values + i]
    return y0 + (y1 - y0) * (t - t0) / (t1 - t0)


@kernel
def _within(numbers, first, count, t):
    """The time to look up in a table whose numbers are [repeats, times, values]: of one that repeats, within it."""
    start, end = numbers[first + 1], numbers[first + count // 2]
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
    if index < 0:
        return 0.0
    signal = tables.signals[index]
    numbers, first = tables.numbers, signal.first
    if signal.kind == _SINE:
        w = numbers[first + 2]
        return numbers[first + 1] * w * math.cos(w * t + numbers[first + 3])
    t = _within(numbers, first, signal.count, t)
    first, count = first + 1, signal.count // 2
    values = first + count
    if t < numbers[first]:
        return 0.0
    i = _segment(numbers, first, count, t)
    if i == count:
        return 0.0
    rise = numbers[values + i] - numbers[values + i - 1]
    return rise / (numbers[first + i] - numbers[first + i - 1])
