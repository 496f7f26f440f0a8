"""Height fields against the round sides, caps and rims of capsules, cylinders and tori."""

import math
from typing import NamedTuple

from ..kernels.jit import kernel
from ..kernels.math3 import add3, cross3, dot3, norm3, scale3, sub3
from .candidates import EDGE, NODE, add_candidate
from .height_field import FLAT, UP, is_over, is_sunk, node, node_allows, normal_beside, triangle
from .scratch import unit

_HALF = math.sqrt(0.5)


class Tube(NamedTuple):
    """A capsule, cylinder or torus along the z axis of its own frame."""

    rim: bool
    """Whether it has rims; a torus is a cylinder of no length, with a radius around it."""
    c: tuple[float, float, float]
    """Its centre [m]."""
    R: tuple[float, float, float, float, float, float, float, float, float]
    """Its orientation."""
    a: tuple[float, float, float]
    """Its axis."""
    r: float
    half: float
    """Half its length [m]."""
    round: float
    """What a torus has around its circle [m]."""


@kernel
def rim_against_face(field, i, j, upper, tube, candidates, count):
    """A cylinder over a triangle: points of the lower rim if it stands, the lowest line of its side if it lies."""
    c, R, a, r, half, margin = tube.c, tube.R, tube.a, tube.r, tube.half, candidates.margin
    margin += tube.round
    x, m = triangle(field, i, j, upper)
    slope = dot3(m, a)
    height = dot3(m, sub3(c, x))
    if not height - half * abs(slope) - r * math.sqrt(max(1.0 - slope * slope, 0.0)) <= margin + 1e-9 * r:
        return count
    down = sub3(scale3(slope, a), m)
    down = sub3(down, scale3(dot3(down, a), a))
    u = (R[0], R[3], R[6])
    if dot3(down, down) > 1e-18:
        u = unit(down, u)
    v = scale3(r, cross3(a, u))
    u = scale3(r, u)
    s = -half if slope > 0.0 else half
    end = add3(c, scale3(s, a))
    lies = abs(slope) < _HALF
    for k in range((2 if half > 0.0 else 1) if lies else 4):
        if lies:
            y = add3(end if k == 0 else sub3(c, scale3(s, a)), u)
        else:
            y = add3(end, scale3(1.0 if k < 2 else -1.0, u if k % 2 == 0 else v))
        d = dot3(m, sub3(y, x))
        # Above the surface the nearest point counts, below it the face right above.
        foot = sub3(y, scale3(d, m))
        if d <= margin and is_over(field, i, j, upper, foot if d > 0.0 else y):
            top = s > 0.0
            if lies:
                mark = 8.0 if top == (k == 0) else 0.0
            else:
                mark = (8.0 if top else 0.0) + k
            count = add_candidate(candidates, count, foot, m, d - tube.round, mark)
    return count


@kernel
def rim_against_edge(field, edge, tube, slack, candidates, count):
    """An edge of the field against the rims and caps of a cylinder: the normal along which the gap is widest."""
    x, e, c, a, r, half = edge.x, edge.e, tube.c, tube.a, tube.r, tube.half
    margin, mark = candidates.margin + tube.round, EDGE + 4096.0 * edge.number
    d = sub3(c, x)
    ee = dot3(e, e)
    t = min(max(dot3(d, e) / ee, 0.0), 1.0)
    if norm3(sub3(d, scale3(t, e))) > r + half + margin:
        return count
    m, n = normal_beside(e, edge.o), normal_beside(e, edge.q)
    low, high, best = 0.0, 1.0, -math.inf
    v, along = a, 0.0
    # Golden sections between the normals of the faces, whatever their lengths.
    for k in range(84):
        s = low + (0.381966011250105 if k % 2 == 0 else 0.618033988749895) * (high - low)
        z = unit(add3(scale3(1.0 - s, m), scale3(s, n)), m)
        along = dot3(z, a)
        v = sub3(z, scale3(along, a))
        gap = dot3(z, d) - r * norm3(v) - half * abs(along)
        if k % 2 == 0:
            best = gap
        elif gap > best:
            low = low + 0.381966011250105 * (high - low)
        else:
            high = low + 0.618033988749895 * (high - low)
    if not best <= margin or low == 0.0 or high == 1.0 or (half > 0.0 and abs(along) < 1e-7):
        return count  # points of the rim over faces, or the side
    s = 1.0 if along > 0.0 else -1.0
    n = add3(v, scale3(along, a))
    middle = sub3(d, scale3(s * half, a))  # of the lower cap
    if norm3(v) > 1e-7:
        y = sub3(middle, scale3(r / norm3(v), v))
        t = dot3(y, e) / ee
        more = FLAT + slack * max(-best, 0.0) / math.sqrt(ee)
        if t >= -more and t <= 1.0 + more and is_sunk(field, add3(x, y), best):
            t = min(max(t, 0.0), 1.0)
            count = add_candidate(candidates, count, add3(x, scale3(t, e)), n, best - tube.round, mark + 2.0)
        return count
    # Where the edge enters and leaves the cap.
    n = scale3(s, a)
    g = sub3(e, scale3(dot3(a, e), a))
    k, gg = sub3(scale3(dot3(a, middle), a), middle), dot3(g, g)
    gk = dot3(g, k)
    root = math.sqrt(max(gk * gk - gg * (dot3(k, k) - r * r), 0.0))
    for side in range(2):
        t = min(max((-gk + (root if side == 0 else -root)) / gg, 0.0), 1.0)
        y = scale3(t, e)
        h = dot3(n, sub3(middle, y))
        if root > 0.0 and h <= margin and is_sunk(field, add3(x, add3(y, scale3(h, n))), h):
            count = add_candidate(candidates, count, add3(x, y), n, h - tube.round, mark + 3.0 + side)
    return count


@kernel
def node_against_tube(field, i, j, tube, candidates, count):
    """A node of the field against a capsule, cylinder or torus."""
    x, margin = node(field, i, j), candidates.margin + tube.round
    c, a, r, half = tube.c, tube.a, tube.r, tube.half
    d = sub3(x, c)
    z = dot3(d, a)
    v = sub3(d, scale3(z, a))
    rho = norm3(v)
    # The lower end; u points from the node to the axis.
    s = 1.0 if (a[2] > 0.0 if half > 0.0 else z < 0.0) else -1.0
    over, beside = -s * z - half, rho - r
    u, up = scale3(-1.0 / max(rho, 1e-12 * r), v), scale3(s, a)
    best, found = -math.inf, UP
    for k in range(3 if tube.rim else 1):
        if k == 0:  # side
            n, distance, near = u, beside, abs(z) <= half and rho > 1e-12 * r
        elif k == 1:  # cap
            n, distance, near = up, over, beside <= 0.0 and over >= -2.0 * half
        else:  # rim
            n = unit(add3(scale3(over, up), scale3(beside, u)), up)
            distance, near = math.sqrt(over * over + beside * beside), over > 0.0 and beside > 0.0
        if near and distance <= margin and distance > best and node_allows(field, i, j, x, n):
            best, found = distance, n
    if best > -math.inf:
        count = add_candidate(
            candidates, count, x, found, best - tube.round, NODE + float(j * field.columns + i)
        )
    return count
