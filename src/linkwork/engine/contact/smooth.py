"""Distance and depth of two cores of which one is smooth, by nothing but how far both reach in a direction.

The signed distance of convex cores is the widest of the gaps between them over all directions. Where they are apart,
`gjk` finds it. Else the smooth core is moved by s along a direction n, farther than it is deep; then `gjk` finds the m
that has the largest gap(m) + s m·n, hence gap(m) >= gap(n), and m is the next n: a climb (a proximal point method).
Climbs start at samples of the sphere that are far from each other, and the best summit is taken. Every normal counts
what it is worth by `gap`, a bound that holds for any of them: a summit that is missed makes a depth too large, but
never a wrong contact.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, dot3, scale3, sincos, sub3
from .clip import facing
from .gjk import MEETING, gjk
from .kinds import gap, support
from .scratch import CYLINDRICAL, SMOOTH, put, row3, unit

_SAMPLES = 96  # 20 degrees from one to the next
_STARTS = 3
_STEPS = 60
_EXACT = 1e-12  # of the size
_STEP = 0.1  # how much farther than needed the smooth core is moved, of how far it reaches


@kernel
def climb(w, base, a, b, n):
    """From a direction to one where the gap between two cores is widest nearby: (gap, unit direction from A to B).

    One of them is smooth; its first row is its centre. Eight rows from `base` on are overwritten.
    """
    core, sign = (b, 1.0) if b.form == SMOOTH else (a, -1.0)
    centre, fourth = row3(w, core.row), w[core.row, 3]
    best, beyond = gap(w, a, b, n), 1.0
    for _ in range(_STEPS):
        x, _i = support(w, core, n)
        away = _STEP * dot3(n, sub3(x, centre)) + max(-best, 0.0)
        put(w, core.row, add3(centre, scale3(sign * away, n)), fourth)
        answer, _distance, m, _x, _marks = gjk(w, base, a, b, math.inf)
        put(w, core.row, centre, fourth)
        if answer == MEETING:
            break
        value = gap(w, a, b, m)
        if not value > best:
            break
        # Where the cores curve alike, steps are too short.
        far = unit(add3(m, scale3(beyond, sub3(m, n))), m)
        more = gap(w, a, b, far)
        if more > value:
            value, m, beyond = more, far, 2.0 * beyond
        else:
            beyond = max(0.25 * beyond, 1.0)
        best, n = value, m
    return best, n


@inlined
def _try(w, a, b, m, best, n):
    value = gap(w, a, b, m)
    if value > best:
        return value, m
    return best, n


@kernel
def _deepest(w, base, a, b):
    """The best of all directions for two cores that meet: (gap, direction)."""
    best, n = -math.inf, (0.0, 0.0, 1.0)
    for k in range(2):
        core, sign = (a, 1.0) if k == 0 else (b, -1.0)
        for i in range(core.plane, core.plane + core.planes):
            best, n = _try(w, a, b, scale3(sign, row3(w, i)), best, n)
        if core.form == CYLINDRICAL:
            m = row3(w, core.row + 1)
            best, n = _try(w, a, b, m, best, n)
            best, n = _try(w, a, b, (-m[0], -m[1], -m[2]), best, n)
    first = second = (0.0, 0.0, 0.0)
    for start in range(_STARTS):
        top, m = -math.inf, n
        for k in range(_SAMPLES):
            z = 1.0 - (2 * k + 1) / _SAMPLES
            s, c = sincos(2.399963229728653 * k)
            q = math.sqrt(1.0 - z * z)
            u = (q * c, q * s, z)
            # Not again where a climb has been: 60 degrees around.
            if dot3(u, first) < 0.5 and dot3(u, second) < 0.5:
                value = gap(w, a, b, u)
                if value > top:
                    top, m = value, u
        top, m = climb(w, base, a, b, m)
        if start == 0:
            first = m
        else:
            second = m
        if top > best:
            best, n = top, m
    return best, n


@kernel
def nearest_smooth(cores, answer, distance, n):
    """(what `gjk` found of two cores of which one is smooth) => their signed distance, and its direction."""
    w, a, b, scale = cores.w, cores.a, cores.b, cores.scale
    if answer == MEETING:
        best, n = _deepest(w, cores.free, a, b)
    else:
        best = gap(w, a, b, n)
        # Normals bound the distance from below, the points that were found do so from above.
        if best < distance - _EXACT * (scale + distance):
            best, n = climb(w, cores.free, a, b, n)
    # A face knows its normal to all digits.
    for k in range(2):
        sign = 1.0 if k == 0 else -1.0
        face, m, _ = facing(w, a if k == 0 else b, scale3(sign, n))
        m = scale3(sign, m)
        if face >= 0:
            value = gap(w, a, b, m)
            if value >= best:
                best, n = value, m
    return best, n
