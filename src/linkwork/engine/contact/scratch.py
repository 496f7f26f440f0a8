"""Scratch memory, in which the shapes of a pair are laid out, where its contacts go, and vectors as both need them.

Scratch is one array of rows of four numbers. A pair is worked on in world axes, seen from the position of its first
shape, so that nothing loses digits far from the origin. What remains of a shape without its rounding radius is its
*core*: a point for a sphere, a segment for a capsule.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined
from ..kernels.math3 import add3, cross3, dot3, norm3, scale3, sub3

FIRST: Any = np.int64(0)
"""Nought as any other integer: for a literal one Numba compiles everything that it is given to once more."""

POLYHEDRAL: Any = np.int64(0)
"""Forms of cores: with corners, as polyhedra, segments and points,"""
CYLINDRICAL: Any = np.int64(1)
"""cylinders,"""
SMOOTH: Any = np.int64(2)
"""or without corners, edges and flat parts, so that they touch at one point. Their first row begins with their centre,
from which the other numbers are counted, and `points` is 1."""


class Core(NamedTuple):
    """Where the rows of a shape stand that is laid out in scratch memory.

    Of a polyhedron, `points` vertices from `row` on and `planes` rows (normal, offset) from `plane` on; of a cylinder,
    rows (centre, radius), (axis, half length), (an axis across it, 0) from `row` on.
    """

    form: int
    """POLYHEDRAL, CYLINDRICAL or SMOOTH."""
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
