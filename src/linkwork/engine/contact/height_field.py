"""A height field in its own frame: a grid of nodes, two triangles to a cell, and solid is what lies below.

A direction counts at an edge or node of the field only if it lies between the normals of the faces around. Where faces
lie in one plane, nothing but their normal is left, hence nothing catches at the seams; hollows have no directions
between normals at all. Beyond its rim a field falls off, as far as edges of the rim are concerned, but nothing touches
there. A point below the surface goes to the nearest point of it, within `_REACH` cells.
"""

import math
from typing import Any, NamedTuple

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, norm3, scale3, sub3
from .scratch import unit

FLAT = 1e-9
"""Sine of an angle that is none."""
UP = (0.0, 0.0, 1.0)
_REACH = 16  # cells that a point below the surface looks around for a way out


class Field(NamedTuple):
    """A grid of heights, centred on the origin."""

    heights: Any
    """Of all fields, row by row [m]."""
    first: int
    """The first height of this one."""
    columns: int
    """Nodes along x."""
    rows: int
    """Nodes along y."""
    x: float
    """Of the first node [m]."""
    y: float
    cell_x: float
    """Size of a cell [m]."""
    cell_y: float
    top: float
    """The greatest height [m]."""


class Ridge(NamedTuple):
    """An edge of the field between two faces, and whether contacts can be on it."""

    convex: bool
    """Whether it stands out."""
    x: tuple[float, float, float]
    """Where it begins [m]."""
    e: tuple[float, float, float]
    """From there to its end."""
    o: tuple[float, float, float]
    """To the third corner of the face on its left."""
    q: tuple[float, float, float]
    """To the third corner of the face on its right."""
    between: tuple[float, float, float]
    """A direction between the normals of these faces."""
    number: float
    """Which edge of the field it is."""


@inlined
def make_field(terrain, hulls):
    """The grid of a shape that is a height field."""
    nx, ny = terrain.vertices, terrain.faces
    sx, sy = terrain.dims[0], terrain.dims[1]
    cell_x, cell_y = sx / (nx - 1), sy / (ny - 1)
    return Field(hulls.heights, terrain.vertex, nx, ny, -0.5 * sx, -0.5 * sy, cell_x, cell_y, terrain.dims[2])


@inlined
def node(field, i, j):
    """Where a node stands [m]."""
    return (
        field.x + i * field.cell_x,
        field.y + j * field.cell_y,
        field.heights[field.first + j * field.columns + i],
    )


@kernel
def _towards(field, i, j, x, k):
    """From node (i, j) at x to neighbour k of six, counter-clockwise from +x, or down a slope of 45° beyond the rim."""
    i += 1 if k < 2 else (0 if k == 2 or k == 5 else -1)
    j += 0 if k == 0 or k == 3 else (1 if k < 3 else -1)
    u = -1.0 if i < 0 else (1.0 if i >= field.columns else 0.0)
    v = -1.0 if j < 0 else (1.0 if j >= field.rows else 0.0)
    if u != 0.0 or v != 0.0:
        return u * field.cell_x, v * field.cell_x, -field.cell_x
    return sub3(node(field, i, j), x)


@kernel
def node_allows(field, i, j, x, n):
    """Whether n lies among the normals around a node, which must not be flat."""
    strict = False
    if not n[2] > 0.0:
        return False
    for k in range(6):
        e = _towards(field, i, j, x, k)
        c, length = dot3(n, e), norm3(e)
        if not c <= FLAT * length:
            return False
        strict = strict or c < -FLAT * length
    return strict


@kernel
def ridge(field, i, j, x, kind):
    """An edge from node (i, j) at x, along x (0), y (1) or the diagonal (2)."""
    zero = (0.0, 0.0, 0.0)
    e, o, q, m, convex = zero, zero, zero, UP, False
    if not ((kind != 1 and i + 1 >= field.columns) or (kind != 0 and j + 1 >= field.rows)):
        k = 0 if kind == 0 else 3 - kind
        e = _towards(field, i, j, x, k)
        o = _towards(field, i, j, x, k + 1)
        q = _towards(field, i, j, x, (k + 5) % 6)
        # On one side there is always a face.
        real = kind == 2 or (j + 1 < field.rows if kind == 0 else i + 1 < field.columns)
        one, other = (o, q) if real else (q, o)
        m = unit(cross3(e, one), UP)
        m = m if m[2] > 0.0 else (-m[0], -m[1], -m[2])
        convex = dot3(m, other) < -FLAT * norm3(other)
        if convex:
            # m lies on the border of what is allowed: go half of the way to the other side, at right angles to e.
            s = sub3(other, scale3(dot3(other, e) / dot3(e, e), e))
            s = unit(s, UP)
            t = unit(cross3(e, s), UP)
            t = t if dot3(t, m) > 0.0 else (-t[0], -t[1], -t[2])
            m = unit(add3(m, t), m)
    return Ridge(convex, x, e, o, q, m, 3.0 * (j * field.columns + i) + kind)


@inlined
def ridge_allows(edge, n):
    """Whether n lies between the normals of the faces beside an edge."""
    return dot3(n, edge.o) <= FLAT * norm3(edge.o) and dot3(n, edge.q) <= FLAT * norm3(edge.q)


@kernel
def normal_beside(e, o):
    """Upward normal of a face that has an edge along e and a corner at o."""
    m = unit(cross3(e, o), UP)
    return m if m[2] > 0.0 else (-m[0], -m[1], -m[2])


@kernel
def triangle(field, i, j, upper):
    """First corner and normal of the lower or upper triangle of a cell."""
    x = node(field, i, j)
    far = node(field, i + 1, j + 1)[2]
    if upper:
        h = node(field, i, j + 1)[2]
        a, b = (far - h) / field.cell_x, (h - x[2]) / field.cell_y
    else:
        h = node(field, i + 1, j)[2]
        a, b = (h - x[2]) / field.cell_x, (far - h) / field.cell_y
    return x, unit((-a, -b, 1.0), UP)


@inlined
def is_over(field, i, j, upper, x):
    """Whether x is above or below a triangle, or on its border."""
    u, v = (x[0] - field.x) / field.cell_x - i, (x[1] - field.y) / field.cell_y - j
    low, high = (u, v) if upper else (v, u)
    return low >= -FLAT and high <= 1.0 + FLAT and low <= high + FLAT


@inlined
def highest(field, i, j):
    """The greatest height of a cell, or of what there is of it."""
    k, l = min(i + 1, field.columns - 1), min(j + 1, field.rows - 1)
    low = max(node(field, i, j)[2], node(field, k, j)[2])
    return max(low, max(node(field, i, l)[2], node(field, k, l)[2]))


@inlined
def first_node(x, low, cell, last):
    """The last node that is not beyond x, among those where cells begin."""
    return int(min(max(math.floor((x - low) / cell), 0.0), last - 1.0))


@inlined
def last_node(x, low, cell, last):
    """The last node that is not beyond x; -1 if there is none."""
    return int(min(max(math.floor((x - low) / cell), -1.0), last * 1.0))


@kernel
def _nearest(field, i, j, upper, c):
    """The point of a triangle nearest to c below it: its squared distance, and the vector to it."""
    x, m = triangle(field, i, j, upper)
    s = dot3(m, sub3(c, x))
    if s > 0.0:  # another face is in between
        return math.inf, UP, UP
    if is_over(field, i, j, upper, sub3(c, scale3(s, m))):
        return s * s, scale3(-s, m), m
    best, way = math.inf, UP
    for k in range(3):
        p = node(field, i + (1 if k == 1 and not upper else 0), j + (1 if k == 1 and upper else 0))
        q = (
            node(field, i + 1, j + 1)
            if k != 0
            else node(field, i + (0 if upper else 1), j + (1 if upper else 0))
        )
        e = sub3(q, p)
        t = min(max(dot3(sub3(c, p), e) / dot3(e, e), 0.0), 1.0)
        d = sub3(add3(p, scale3(t, e)), c)
        if dot3(d, d) < best:
            best, way = dot3(d, d), d
    return best, way, unit(way, m)


@kernel
def _beneath(field, c):
    """The triangle above or below c (or the nearest beside the field), and the height of c over its plane."""
    u = min(max((c[0] - field.x) / field.cell_x, 0.0), field.columns - 1.0)
    v = min(max((c[1] - field.y) / field.cell_y, 0.0), field.rows - 1.0)
    i, j = min(int(u), field.columns - 2), min(int(v), field.rows - 2)
    upper = v - j > u - i
    x, m = triangle(field, i, j, upper)
    return i, j, upper, dot3(m, sub3(c, x))


@kernel
def is_sunk(field, y, d):
    """Whether a point of a shape is in solid ground, as it must be if it is at a distance less than nought."""
    _, _, _, height = _beneath(field, y)
    return d >= 0.0 or height <= 1e-9 * (field.cell_x + field.cell_y)


@kernel
def way_out(field, c):
    """Whether c is below the surface; the way to the nearest point of it, and the normal there."""
    i, j, upper, height = _beneath(field, c)
    beside = abs(c[0]) > -field.x or abs(c[1]) > -field.y
    if beside or not height < 0.0:
        return False, UP, UP
    best, way, n = _nearest(field, i, j, upper, c)
    reach = math.sqrt(best)
    left = first_node(c[0] - reach, field.x, field.cell_x, field.columns - 1)
    right = last_node(c[0] + reach, field.x, field.cell_x, field.columns - 2)
    low = first_node(c[1] - reach, field.y, field.cell_y, field.rows - 1)
    high = last_node(c[1] + reach, field.y, field.cell_y, field.rows - 2)
    for k in range(max(low, j - _REACH), min(high, j + _REACH) + 1):
        for t in range(2 * max(left, i - _REACH), 2 * min(right, i + _REACH) + 2):
            square, d, m = _nearest(field, t // 2, k, t % 2 == 1, c)
            # Over the rim there is no way out.
            if square < best and m[2] > 0.0:
                best, way, n = square, d, m
    return True, way, n
