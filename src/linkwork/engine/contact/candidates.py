"""Contacts between a shape and a height field that were found so far, before the best of them are picked."""

import math
from typing import Any, NamedTuple

from ..kernels.jit import kernel
from ..kernels.math3 import dot3, norm3, scale3, sub3
from .geometry import MOST
from .scratch import put, row3

ROOM = 48
"""Candidates kept before the best are picked."""
NODE, EDGE = float(1 << 48), float(1 << 49)
"""Marks of features, whole numbers."""
_SPREAD = 10.0  # metres that a contact must stand farther out to make up for one metre of depth


class Candidates(NamedTuple):
    """Where candidates stand in scratch memory: two rows each, (point on the field, distance), (normal, feature)."""

    w: Any
    """Scratch memory."""
    base: int
    """The first row of the first candidate."""
    margin: float
    """Candidates farther apart than this are none [m]."""
    tiny: float
    """Two that differ by less are the same [m]."""


@kernel
def reduce(candidates, count):
    """The deepest candidate, then those that spread most, to the front; how many."""
    w, base = candidates.w, candidates.base
    for k in range(min(count, MOST)):
        best, at = -math.inf, k
        for c in range(k, count):
            row = base + 2 * c
            score = -w[row, 3]
            if k > 0:
                x = row3(w, row)
                away = math.inf
                for s in range(k):
                    d = sub3(x, row3(w, base + 2 * s))
                    if k > 1 and s > 0:
                        # From the line through the first one.
                        e = sub3(row3(w, base + 2 * s), row3(w, base))
                        g = sub3(x, row3(w, base))
                        ee = dot3(e, e)
                        if ee > 0.0:
                            d = sub3(g, scale3(dot3(g, e) / ee, e))
                    away = min(away, norm3(d))
                score = away - _SPREAD * (w[row, 3] - w[base, 3])
            if score > best:
                best, at = score, c
        for r in range(2):
            p, s = row3(w, base + 2 * k + r), w[base + 2 * k + r, 3]
            put(w, base + 2 * k + r, row3(w, base + 2 * at + r), w[base + 2 * at + r, 3])
            put(w, base + 2 * at + r, p, s)
    return min(count, MOST)


@kernel
def add_candidate(candidates, count, x, n, distance, feature):
    """Take a candidate: x on the field, unless there is the same one already. How many there are."""
    w, base = candidates.w, candidates.base
    for c in range(count):
        d, m = sub3(row3(w, base + 2 * c), x), sub3(row3(w, base + 2 * c + 1), n)
        apart = abs(d[0]) + abs(d[1]) + abs(d[2]) + abs(w[base + 2 * c, 3] - distance)
        if apart <= candidates.tiny and abs(m[0]) + abs(m[1]) + abs(m[2]) <= 1e-6:
            return count
    if count == ROOM:
        count = reduce(candidates, count)
    put(w, base + 2 * count, x, distance)
    put(w, base + 2 * count + 1, n, feature)
    return count + 1
