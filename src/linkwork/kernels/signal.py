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
    count = signal.count // 2
    values = first + count
    if t <= numbers[first]:
        return numbers[values]
    for i in range(1, count):
        t1 = numbers[first + i]
        if t < t1:
            t0 = numbers[first + i - 1]
            y0, y1 = numbers[values + i - 1], numbers[values + i]
            return y0 + (y1 - y0) * (t - t0) / (t1 - t0)
    return numbers[values + count - 1]


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
    count = signal.count // 2
    values = first + count
    if t < numbers[first]:
        return 0.0
    for i in range(1, count):
        t1 = numbers[first + i]
        if t < t1:
            t0 = numbers[first + i - 1]
            return (numbers[values + i] - numbers[values + i - 1]) / (t1 - t0)
    return 0.0
