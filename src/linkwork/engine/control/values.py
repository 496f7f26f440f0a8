"""What an operation makes of its inputs, and how fast that changes: one chain of comparisons, which becomes a jump.

Both come from one place, so that a rule and its derivative cannot part. A rate is NaN where it is not known.
"""

import math

from ..kernels.jit import exact_kernel
from .codes import (
    ABSOLUTE,
    ACOS,
    AND,
    ASIN,
    ATAN,
    ATAN2,
    BLEND,
    COS,
    DEAD,
    DIVIDE,
    ELAPSED,
    EQUALS,
    EXP,
    FOLLOW,
    HYPOT,
    INTEGRATE,
    LAG,
    LEAST,
    LESS,
    LOG,
    LOOKUP,
    LOOKUP_2D,
    MOST,
    MULTIPLY,
    NOT,
    OR,
    PLAY,
    POWER,
    RELAY,
    ROOT,
    SATURATE,
    SIGN,
    SIN,
    SWITCH,
    TAN,
)
from .tables import lookup, lookup_2d

UNKNOWN = math.nan


@exact_kernel
def true(x):
    """Whether a number counts as true."""
    return x >= 0.5


@exact_kernel
def operate(tape, op, numbers):
    """Value of an operation on others, by the piece of its law that holds, and its rate."""
    kind = op.kind
    if kind == BLEND:
        return _blend(tape, op)
    a, ra = tape[op.a].value, tape[op.a].rate
    if kind == INTEGRATE or kind == LAG or kind == FOLLOW:
        return op.x, op.flow
    if kind == MULTIPLY:
        b = tape[op.b].value
        return a * b, ra * b + a * tape[op.b].rate
    if kind == DIVIDE:
        b = tape[op.b].value
        return a / b, (ra - a / b * tape[op.b].rate) / b
    if kind == SIN:
        return math.sin(a), math.cos(a) * ra
    if kind == COS:
        return math.cos(a), -math.sin(a) * ra
    if kind == SATURATE:
        return _saturate(op, a, ra)
    if kind == SWITCH:
        chosen = op.b if true(a) else op.c
        return tape[chosen].value, tape[chosen].rate
    if kind == LESS:
        return (1.0 if op.mode == 1 else 0.0), 0.0
    if kind == AND:
        return (1.0 if true(a) and true(tape[op.b].value) else 0.0), 0.0
    if kind == OR:
        return (1.0 if true(a) or true(tape[op.b].value) else 0.0), 0.0
    if kind == NOT:
        return (0.0 if true(a) else 1.0), 0.0
    if kind == EQUALS:
        return (1.0 if a == op.p[0] else 0.0), 0.0
    if kind == ELAPSED:
        return tape[op.a].memory[2], 0.0
    if kind == RELAY:
        return (op.p[2] if op.mode == 1 else op.p[3]), 0.0
    if kind == LEAST or kind == MOST:
        if op.mode == 1:
            return tape[op.b].value, tape[op.b].rate
        return a, ra
    return _seldom(tape, op, numbers, a, ra)


@exact_kernel
def _blend(tape, op):
    """p[0] a + p[1] b + p[2] c + p[3]: sums, differences, gains."""
    p = op.p
    value, rate = p[3], 0.0
    if op.a >= 0:
        value = p[0] * tape[op.a].value
        rate = p[0] * tape[op.a].rate
    if op.b >= 0:
        value += p[1] * tape[op.b].value
        rate += p[1] * tape[op.b].rate
    if op.c >= 0:
        value += p[2] * tape[op.c].value
        rate += p[2] * tape[op.c].rate
    if op.a >= 0 and p[3] != 0.0:
        value += p[3]
    return value, rate


@exact_kernel
def _saturate(op, a, ra):
    if op.mode == 1:
        return op.p[0], 0.0
    if op.mode == 2:
        return op.p[1], 0.0
    return a, ra


@exact_kernel
def _seldom(tape, op, numbers, a, ra):
    """Operations that are rarer than those before."""
    kind, p = op.kind, op.p
    if kind == ABSOLUTE:
        return (a, ra) if op.mode == 1 else (-a, -ra)
    if kind == SIGN:
        return (0.0 if a == 0.0 else 1.0 if op.mode == 1 else -1.0), 0.0
    if kind == DEAD:
        if op.mode == 0:
            return 0.0, 0.0
        return a - (p[0] if op.mode == 1 else p[1]), ra
    if kind == PLAY:
        half = 0.5 * p[0]
        if op.mode == 1:
            return a - half, ra
        if op.mode == 2:
            return a + half, ra
        if op.mode == 0:
            return op.memory[0], 0.0
        return min(max(op.memory[0], a - half), a + half), UNKNOWN
    if kind == LOOKUP:
        return lookup(op, numbers, a, ra)
    if kind == LOOKUP_2D:
        return lookup_2d(op, numbers, a, tape[op.b].value), UNKNOWN
    return _function(tape, op, a, ra)


@exact_kernel
def _function(tape, op, a, ra):
    """Elementary functions."""
    kind = op.kind
    if kind == POWER:
        b = tape[op.b].value
        value = a**b
        return value, b * a ** (b - 1.0) * ra if tape[op.b].rate == 0.0 else UNKNOWN
    if kind == TAN:
        value = math.tan(a)
        return value, (1.0 + value * value) * ra
    if kind == ASIN:
        return math.asin(a), ra / math.sqrt(1.0 - a * a)
    if kind == ACOS:
        return math.acos(a), -ra / math.sqrt(1.0 - a * a)
    if kind == ATAN:
        return math.atan(a), ra / (1.0 + a * a)
    if kind == ROOT:
        value = math.sqrt(a)
        return value, 0.5 * ra / value
    if kind == EXP:
        value = math.exp(a)
        return value, value * ra
    if kind == LOG:
        return math.log(a), ra / a
    b, rb = tape[op.b].value, tape[op.b].rate
    if kind == ATAN2:
        return math.atan2(a, b), (ra * b - a * rb) / (a * a + b * b)
    if kind == HYPOT:
        value = math.sqrt(a * a + b * b)
        return value, (a * ra + b * rb) / value
    return UNKNOWN, UNKNOWN


@exact_kernel
def flow_of(tape, op):
    """How fast a continuous state changes."""
    a, p = tape[op.a].value, op.p
    if op.kind == LAG:
        return (p[0] * a - op.x) / p[1]
    if op.kind == INTEGRATE:
        return p[0] * a if op.mode <= 0 else 0.0
    if op.mode == 1:
        return p[0]
    if op.mode == 2:
        return -p[1]
    return (a - op.x) / p[2]
