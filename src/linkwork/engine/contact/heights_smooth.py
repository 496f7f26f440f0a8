"""Height fields against smooth shapes: cores of which only is known how far they reach in a direction, and r beyond."""

import math

from ..kernels.jit import kernel
from ..kernels.math3 import add3, dot3, scale3, sub3
from .candidates import EDGE, NODE, ROOM, add_candidate
from .height_field import FLAT, UP, is_over, is_sunk, node, node_allows, normal_beside, triangle
from .kinds import gap, support
from .scratch import FIRST, POLYHEDRAL, Core, put, row3, unit
from .smooth import climb


@kernel
def smooth_against_face(field, i, j, upper, core, r, candidates, count):
    """The point of the shape that is lowest over a triangle."""
    x, m = triangle(field, i, j, upper)
    y, _ = support(candidates.w, core, (-m[0], -m[1], -m[2]))
    d = dot3(m, sub3(y, x))
    # Above the surface the nearest point counts, below it the face right above.
    foot = sub3(y, scale3(d, m))
    if d - r <= candidates.margin and is_over(field, i, j, upper, foot if d > 0.0 else y):
        count = add_candidate(candidates, count, foot, m, d - r, 0.0)
    return count


@kernel
def smooth_against_edge(field, edge, core, r, slack, candidates, count):
    """An edge of the field: the normal between those of its faces along which the gap is widest."""
    w, x, e, margin = candidates.w, edge.x, edge.e, candidates.margin
    m, n = normal_beside(e, edge.o), normal_beside(e, edge.q)
    low, high, best, y, z = 0.0, 1.0, -math.inf, x, m
    d, ee = sub3(row3(w, core.row), x), dot3(e, e)
    u = unit(sub3(d, scale3(dot3(d, e) / ee, e)), edge.between)
    y, _ = support(w, core, (-u[0], -u[1], -u[2]))
    if dot3(u, sub3(y, x)) - r > margin:
        return count
    for k in range(84):  # golden sections
        s = low + (0.381966011250105 if k % 2 == 0 else 0.618033988749895) * (high - low)
        z = unit(add3(scale3(1.0 - s, m), scale3(s, n)), m)
        y, _ = support(w, core, (-z[0], -z[1], -z[2]))
        value = dot3(z, sub3(y, x))
        if k % 2 == 0:
            best = value
        elif value > best:
            low = low + 0.381966011250105 * (high - low)
        else:
            high = low + 0.618033988749895 * (high - low)
    if not best - r <= margin or low == 0.0 or high == 1.0:
        return count  # beside the edge it is over a face
    t = dot3(sub3(y, x), e) / ee
    more = FLAT + slack * max(-best, 0.0) / math.sqrt(ee)
    if t >= -more and t <= 1.0 + more and is_sunk(field, y, best):
        t = min(max(t, 0.0), 1.0)
        number = EDGE + 4096.0 * edge.number
        count = add_candidate(candidates, count, add3(x, scale3(t, e)), z, best - r, number)
    return count


@kernel
def smooth_against_node(field, i, j, core, r, candidates, count):
    """A node of the field, as a shape that is a point."""
    w, x = candidates.w, node(field, i, j)
    row = candidates.base + 2 * (ROOM + 1)
    put(w, row, x, 0.0)
    point = Core(POLYHEDRAL, row, FIRST + 1, row + 1, FIRST, FIRST, FIRST, FIRST, FIRST)
    n = unit(sub3(row3(w, core.row), x), UP)
    if gap(w, point, core, n) - r > candidates.margin:
        return count
    distance, n = climb(w, row + 1, point, core, n)
    distance -= r
    if distance <= candidates.margin and node_allows(field, i, j, x, n):
        number = NODE + float(j * field.columns + i)
        count = add_candidate(candidates, count, x, n, distance, number)
    return count
