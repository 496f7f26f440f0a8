"""Shapes laid out in scratch memory, and how far they reach in a direction.

Scratch is one array of rows of four numbers. A pair is worked on in world axes, seen from the position of its first
shape, so that nothing loses digits far from the origin. What remains of a shape without its rounding radius is its
*core*: a point for a sphere, a segment for a capsule.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, norm3, rotate, scale3, sub3
from .geometry import BOX, CAPSULE, CYLINDER, SPHERE

FIRST: Any = np.int64(0)
"""Nought as any other integer: for a literal one Numba compiles everything that it is given to once more."""
_ONE: Any = np.int64(1)


class Core(NamedTuple):
    """Where the rows of a shape stand that is laid out in scratch memory.

    Of a polyhedron, `points` vertices from `row` on and `planes` rows (normal, offset) from `plane` on; of a cylinder,
    rows (centre, radius), (axis, half length), (an axis across it, 0) from `row` on.
    """

    rounded: int
    """0 for a polyhedron, a segment or a point; 1 for a cylinder."""
    row: int
    points: int
    plane: int
    planes: int
    face: int
    """First of its faces among those of all hulls."""
    edge: int
    """First of its edges among those of all hulls; -1 for a segment, which is its own."""
    edges: int
    vertex: int
    """First of its vertices among those of all hulls."""


class Contacts(NamedTuple):
    """Where the contacts of a pair of shapes go."""

    margin: float
    """Shapes that are farther apart than this do not touch [m]."""
    origin: tuple[float, float, float]
    """Position of the first shape in the world [m], from which all others are seen."""
    out: Any
    """Records of `CONTACT`, MOST of them."""


@inlined
def emit(contacts, k, a, n, distance, feature):
    """Contact k: a is the point on A, seen from the position of A."""
    contact = contacts.out[k]
    a = add3(contacts.origin, a)
    contact.a[0], contact.a[1], contact.a[2] = a
    contact.b[0], contact.b[1], contact.b[2] = add3(a, scale3(distance, n))
    contact.normal[0], contact.normal[1], contact.normal[2] = n
    contact.distance = distance
    contact.feature = feature


@inlined
def row3(w, i):
    return w[i, 0], w[i, 1], w[i, 2]


@inlined
def put(w, i, a, s):
    """Row i = (a, s)."""
    w[i, 0], w[i, 1], w[i, 2] = a
    w[i, 3] = s


@inlined
def unit(a, otherwise):
    """a at length one, or something else if it has no direction."""
    # Scaled first: squares of 1e-200 are gone.
    m = max(abs(a[0]), abs(a[1]), abs(a[2]))
    if not 0.0 < m < math.inf:
        return otherwise
    b = (a[0] / m, a[1] / m, a[2] / m)
    return scale3(1.0 / norm3(b), b)


@inlined
def across(a):
    """A direction at right angles to a direction."""
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    if x <= y and x <= z:
        e = (1.0, 0.0, 0.0)
    elif y <= z:
        e = (0.0, 1.0, 0.0)
    else:
        e = (0.0, 0.0, 1.0)
    return unit(cross3(a, e), (1.0, 0.0, 0.0))


@inlined
def radial(d, a, otherwise):
    """The direction of d across the axis a, or something else if d is along it but for rounding."""
    q = sub3(d, scale3(dot3(d, a), a))
    q = sub3(q, scale3(dot3(q, a), a))
    if not dot3(q, q) > 1e-30 * dot3(d, d):
        return otherwise
    return unit(q, otherwise)


@kernel
def load(w, row, shape, p, R, hulls):
    """Write the core of a shape at p, R from `row` on; where it stands, its rounding radius, its extent [m]."""
    axis = (R[2], R[5], R[8])
    if shape.kind == SPHERE:
        put(w, row, p, 0.0)
        return Core(FIRST, row, _ONE, row + 1, FIRST, FIRST, FIRST, FIRST, FIRST), shape.dims[0], 0.0
    if shape.kind == CAPSULE:
        half = 0.5 * shape.dims[1]
        put(w, row, sub3(p, scale3(half, axis)), 0.0)
        put(w, row + 1, add3(p, scale3(half, axis)), 0.0)
        return Core(FIRST, row, _ONE + 1, row + 2, FIRST, FIRST, -_ONE, _ONE, FIRST), shape.dims[0], half
    if shape.kind == CYLINDER:
        put(w, row, p, shape.dims[0])
        put(w, row + 1, axis, 0.5 * shape.dims[1])
        put(w, row + 2, (R[0], R[3], R[6]), 0.0)
        return (
            Core(_ONE, row, _ONE + 2, row + 3, FIRST, FIRST, FIRST, FIRST, FIRST),
            0.0,
            shape.dims[0] + 0.5 * shape.dims[1],
        )
    sx, sy, sz = shape.dims[0], shape.dims[1], shape.dims[2]
    extent = 0.0
    for i in range(shape.vertices):
        k = shape.vertex + i
        x = (sx * hulls.vertices[k, 0], sy * hulls.vertices[k, 1], sz * hulls.vertices[k, 2])
        extent = max(extent, abs(x[0]) + abs(x[1]) + abs(x[2]))
        put(w, row + i, add3(p, rotate(R, x)), 0.0)
    plane = row + shape.vertices
    for i in range(shape.faces):
        k = shape.face + i
        n = rotate(R, (hulls.normals[k, 0], hulls.normals[k, 1], hulls.normals[k, 2]))
        if shape.kind == BOX:
            offset = dot3(n, p) + 0.5 * shape.dims[i // 2]
        else:
            # The corners themselves, not the plane of the file, from which they may depart a little.
            first = hulls.faces[k, 0]
            offset = -math.inf
            for c in range(first, first + hulls.faces[k, 1]):
                offset = max(offset, dot3(n, row3(w, row + hulls.corners[c])))
        put(w, plane + i, n, offset)
    faces, face, edges, edge = shape.faces, shape.face, shape.edges, shape.edge
    return Core(FIRST, row, shape.vertices, plane, faces, face, edge, edges, shape.vertex), 0.0, extent


@kernel
def support(w, core, n):
    """The point of a core that is farthest along n, and its number."""
    row = core.row
    if core.rounded != 0:
        a = row3(w, row + 1)
        na = dot3(n, a)
        up = 1 if na > 0.0 else 0
        q = sub3(n, scale3(na, a))
        q = sub3(q, scale3(dot3(q, a), a))  # again: a rounding error along the axis is blown up by 1/|q|
        qq = norm3(q)
        # On a cap any point will do: one that does not jump with rounding errors.
        half = w[row + 1, 3] if up == 1 else -w[row + 1, 3]
        x = add3(row3(w, row), scale3(half, a))
        if qq > 1e-14 * abs(na):
            x = add3(x, scale3(w[row, 3] / qq, q))
        return x, up
    best = -math.inf
    at = 0
    for i in range(core.points):
        s = n[0] * w[row + i, 0] + n[1] * w[row + i, 1] + n[2] * w[row + i, 2]
        if s > best:
            best = s
            at = i
    return row3(w, row + at), at


@kernel
def gap(w, a, b, n):
    """How far apart two cores are along n: a lower bound of their signed distance for every unit vector."""
    p, _ = support(w, a, n)
    q, _ = support(w, b, (-n[0], -n[1], -n[2]))
    return dot3(n, sub3(q, p))
