"""Laws in pieces: how far the piece that holds is from its end, and which one holds next.

A piece holds through a step; methods with events locate where its margin comes to zero.
"""

import math

from ..kernels.jit import exact_kernel
from .codes import (
    ABSOLUTE,
    DEAD,
    FOLLOW,
    INTEGRATE,
    LEAST,
    LESS,
    LOOKUP,
    LOOKUP_2D,
    MOST,
    PLAY,
    RELAY,
    SATURATE,
    SIGN,
)
from .tables import cell, cell_margin, lookup_margin, segment

NEVER = math.inf
_ENGAGED = 1e-9  # share of a play's gap by which its flank may seem to be apart: rounding


@exact_kernel
def margin(tape, op, numbers):
    """How far an operation is from the end of its piece, and the rate of that, 0 if it is not known."""
    value, rate = _margin(tape, op, numbers, tape[op.a].value, tape[op.a].rate)
    return value, rate if rate == rate else 0.0


@exact_kernel
def _margin(tape, op, numbers, a, ra):
    kind, p, mode = op.kind, op.p, op.mode
    if kind == SATURATE or kind == DEAD:
        return _between(mode, a, ra, p[0], p[1])
    if kind == RELAY:
        return (a - p[1], ra) if mode == 1 else (p[0] - a, -ra)
    if kind == LESS or kind == LEAST:
        gap, rate = tape[op.b].value - a, tape[op.b].rate - ra
        return (gap, rate) if (mode == 1) == (kind == LESS) else (-gap, -rate)
    if kind == MOST:
        gap, rate = a - tape[op.b].value, ra - tape[op.b].rate
        return (gap, rate) if mode == 0 else (-gap, -rate)
    if kind == ABSOLUTE or kind == SIGN:
        return (a, ra) if mode == 1 else (-a, -ra)
    if kind == INTEGRATE:
        if mode == 0:
            return _between(0, op.x, op.flow, p[1], p[2])
        return (-p[0] * a, -p[0] * ra) if mode == 1 else (p[0] * a, p[0] * ra)
    if kind == FOLLOW:
        wish, rate = (a - op.x) / p[2], (ra - op.flow) / p[2]
        if mode == 0:
            return _between(0, wish, rate, -p[1], p[0])
        return (wish - p[0], rate) if mode == 1 else (-p[1] - wish, -rate)
    if kind == PLAY:
        return _flank(op, a, ra)
    if kind == LOOKUP:
        return lookup_margin(op, numbers, a, ra)
    if kind == LOOKUP_2D:
        return cell_margin(op, numbers, a, tape[op.b].value), 0.0
    return NEVER, 0.0


@exact_kernel
def _between(mode, a, ra, low, high):
    """Within (0), below (1) or above (2) two bounds."""
    if mode == 1:
        return low - a, -ra
    if mode == 2:
        return a - high, ra
    return (a - low, ra) if a - low < high - a else (high - a, -ra)


@exact_kernel
def _flank(op, a, ra):
    """Free, until a flank is met; at a flank, until the input turns round; at the measure, for ever."""
    if op.mode == 0:
        way = a - op.memory[0]
        return 0.5 * op.p[0] - abs(way), -ra if way > 0.0 else ra
    if op.mode == 1:
        return ra, 0.0
    return (-ra, 0.0) if op.mode == 2 else (NEVER, 0.0)


@exact_kernel
def choose(tape, op, numbers, ended):
    """Which piece holds from now on; ended: the present one is known to end here."""
    kind, p = op.kind, op.p
    a, ra = tape[op.a].value, tape[op.a].rate
    if kind == SATURATE or kind == DEAD:
        op.mode = _side(op.mode, a, p[0], p[1], ended)
    elif kind == RELAY:
        op.mode = _relay(op, a, ended)
    elif kind == LESS or kind == LEAST or kind == MOST:
        b = tape[op.b].value
        now = a < b if kind == LESS else b < a if kind == LEAST else b > a
        op.mode = 1 - op.mode if ended else 1 if now else 0
        if kind == LESS and a == b and not ended:
            op.mode = int(p[0])
    elif kind == ABSOLUTE or kind == SIGN:
        op.mode = 1 - op.mode if ended else 1 if a >= 0.0 else 0
    elif kind == INTEGRATE:
        _choose_bound(op, p[0] * a, ended)
    elif kind == FOLLOW:
        op.mode = _side(op.mode, (a - op.x) / p[2], -p[1], p[0], ended)
        if op.mode > 0:  # above the bounds it rises
            op.mode = 3 - op.mode
    elif kind == PLAY:
        _choose_flank(op, a, ra, ended)
    elif kind == LOOKUP:
        op.mode = _next_segment(op, numbers, a) if ended else segment(numbers, int(p[0]), int(p[1]), a)
    elif kind == LOOKUP_2D:
        op.mode = cell(op, numbers, a, tape[op.b].value)


@exact_kernel
def _side(mode, a, low, high, ended):
    if ended and mode > 0:
        return 0
    if ended:
        return 1 if a - low < high - a else 2
    return 1 if a < low else 2 if a > high else 0


@exact_kernel
def _relay(op, a, ended):
    if ended:
        return 1 - op.mode
    if a > op.p[0]:
        return 1
    if a < op.p[1]:
        return 0
    return op.mode if op.mode >= 0 else int(op.p[4])


@exact_kernel
def _choose_bound(op, flow, ended):
    low, high = op.p[1], op.p[2]
    if ended and op.mode > 0:
        op.mode = 0
    elif ended:
        op.mode = 1 if op.x - low < high - op.x else 2
    elif op.x <= low and flow < 0.0:
        op.mode = 1
    elif op.x >= high and flow > 0.0:
        op.mode = 2
    elif op.mode <= 0 or not ((op.mode == 1 and flow <= 0.0) or (op.mode == 2 and flow >= 0.0)):
        op.mode = 0
    op.x = min(max(op.x, low), high)


@exact_kernel
def _choose_flank(op, a, ra, ended):
    half, way = 0.5 * op.p[0], a - op.value
    if op.mode < 0:  # at the start it lies as near to what is wished as its flanks allow
        op.value = min(max(op.memory[0], a - half), a + half)
        way = a - op.value
    op.memory[0] = op.value
    near = half - _ENGAGED * op.p[0]
    if ra != ra:
        op.mode = 3
    elif ended and op.mode == 0:
        op.mode = 1 if way > 0.0 else 2
    elif ended:
        op.mode = 0
    elif way >= near and ra > 0.0:
        op.mode = 1
    elif way <= -near and ra < 0.0:
        op.mode = 2
    else:
        op.mode = 0


@exact_kernel
def _next_segment(op, numbers, a):
    """The segment beyond the end that is nearer."""
    first, count, k = int(op.p[0]), int(op.p[1]), op.mode
    below = a - numbers[first + k - 1] if k > 0 else NEVER
    above = numbers[first + k] - a if k < count else NEVER
    return k - 1 if below < above else k + 1
