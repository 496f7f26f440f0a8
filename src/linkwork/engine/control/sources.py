"""Sources over time, and when they change."""

import math

from ..kernels.jit import exact_kernel
from .codes import CHIRP, CLOCK, PULSE, RAMP, SINE, STEP, TABLE

_TURN = 2.0 * math.pi
_MASK = 0xFFFFFFFF


@exact_kernel
def source_value(op, numbers, t):
    """Value of a source at t, by the piece that holds, and its rate."""
    p, kind = op.p, op.kind
    if kind == CLOCK:
        return t, 1.0
    if kind == STEP:
        return (p[2] if op.mode == 1 else p[1]), 0.0
    if kind == RAMP:
        if op.mode == 1:
            return p[3] + p[0] * (t - p[1]), p[0]
        return (p[3] + p[0] * (p[2] - p[1]) if op.mode == 2 else p[3]), 0.0
    if kind == SINE:
        angle = p[1] * t + p[2]
        return p[3] + p[0] * math.sin(angle), p[0] * p[1] * math.cos(angle)
    if kind == CHIRP:
        return _chirp(p, t)
    if kind == PULSE:
        return (p[4] if op.mode == 1 else p[3]), 0.0
    if kind == TABLE:
        return _table(op, numbers, t)
    return op.value, 0.0


@exact_kernel
def _chirp(p, t):
    """p: frequencies [Hz], duration [s], amplitude."""
    first, last, duration = p[0], p[1], p[2]
    if t < duration:
        turns = t * (first + 0.5 * (last - first) * t / duration)
        now = first + (last - first) * t / duration
    else:
        turns = 0.5 * (first + last) * duration + last * (t - duration)
        now = last
    return p[3] * math.sin(_TURN * turns), p[3] * _TURN * now * math.cos(_TURN * turns)


@exact_kernel
def _table(op, numbers, t):
    """p: first of its numbers, count; memory[0]: when its times begin to count; mode: how many of them are over."""
    first, count, k = int(op.p[0]), int(op.p[1]), op.mode
    values = first + count
    if k <= 0:
        return numbers[values], 0.0
    if k >= count:
        return numbers[values + count - 1], 0.0
    t0, t1 = numbers[first + k - 1], numbers[first + k]
    y0, y1 = numbers[values + k - 1], numbers[values + k]
    slope = (y1 - y0) / (t1 - t0) if t1 > t0 else 0.0
    return y0 + slope * (t - op.memory[0] - t0), slope


@exact_kernel
def turn_source(op, numbers, t):
    """(at an instant) Which piece of a source holds from t on, and when the next one begins; t allows for rounding."""
    p, kind = op.p, op.kind
    if kind == STEP:
        op.mode = 1 if t >= p[0] else 0
        op.due = math.inf if op.mode == 1 else p[0]
    elif kind == RAMP:
        op.mode = 2 if t >= p[2] else 1 if t >= p[1] else 0
        op.due = math.inf if op.mode == 2 else p[2] if op.mode == 1 else p[1]
    elif kind == PULSE:
        cycle = math.floor((t - p[2]) / p[0])
        rise = p[2] + cycle * p[0]
        fall = rise + p[1] * p[0]
        if t < p[2]:
            op.mode, op.due = 0, p[2]
        elif t < fall:
            op.mode, op.due = 1, fall
        else:
            op.mode, op.due = 0, p[2] + (cycle + 1.0) * p[0]
    elif kind == TABLE:
        first, count = int(p[0]), int(p[1])
        begin, length = numbers[first], numbers[first + count - 1] - numbers[first]
        op.memory[0] = 0.0
        if p[2] != 0.0 and t >= begin + length:
            op.memory[0] = math.floor((t - begin) / length) * length
        k = 0
        while k < count and t - op.memory[0] >= numbers[first + k]:
            k += 1
        op.mode = k
        op.due = op.memory[0] + numbers[first + k] if k < count else math.inf


@exact_kernel
def normal(seed, k):
    """The k-th of a sequence of random numbers with a normal distribution, deviation 1 (Box and Muller, 1958)."""
    u = (_scatter(seed, 2 * k) + 0.5) / 9007199254740992.0
    w = (_scatter(seed, 2 * k + 1) + 0.5) / 9007199254740992.0
    return math.sqrt(-2.0 * math.log(u)) * math.cos(_TURN * w)


@exact_kernel
def _scatter(seed, k):
    """A whole number below 2⁵³ that hangs on all bits of both (the last rounds of MurmurHash3, Appleby, 2011)."""
    high = _mix(_mix(seed + 0x9E3779B9) ^ (k & _MASK))
    low = _mix(high + 0x7F4A7C15)
    return float((high >> 5) * 67108864 + (low >> 6))


@exact_kernel
def _mix(x):
    x &= _MASK
    x ^= x >> 16
    x = (x * 0x85EBCA6B) & _MASK
    x ^= x >> 13
    x = (x * 0xC2B2AE35) & _MASK
    return x ^ (x >> 16)
