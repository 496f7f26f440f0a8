"""What contact must know of each kind of shape, and nowhere else: a new kind is a new branch in each function here.

`describe` makes a record of a shape of the model, `radius` and `enclose` bound it, `load` and `support` lay it out for
the distance of any two convex shapes, `formula` knows pairs that need no search. Chains of comparisons, since tables
of kernels are slow.
"""

import math
from typing import Any

import numpy as np

from ..kernels.jit import inlined, kernel, woven
from ..kernels.math3 import add3, dot3, get3, norm3, rotate, scale3, sub3
from .analytic import (
    capsule_capsule,
    plane_box,
    plane_capsule,
    plane_cylinder,
    plane_point,
    sphere_box,
    sphere_capsule,
    sphere_cylinder,
    sphere_sphere,
)
from .scratch import CYLINDRICAL, FIRST, POLYHEDRAL, SMOOTH, Core, put, row3, unit

PLANE, SPHERE, CAPSULE, BOX, CYLINDER, HULL, ELLIPSOID, TORUS, HEIGHTS = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Kinds, in the order in which a pair is taken: the first of two shapes never has the larger kind."""
_ONE: Any = np.int64(1)


def describe(shape: Any) -> tuple[int, tuple[float, ...]]:
    """Kind and dims [m] of a shape of the model that has a record of its own: no hull and no height field."""
    tag = shape.shape
    if tag == "box":
        return BOX, shape.size
    if tag == "sphere":
        return SPHERE, (shape.radius,)
    if tag == "capsule":
        return CAPSULE, (shape.radius, shape.length)
    if tag == "cylinder":
        return CYLINDER, (shape.radius, shape.length)
    if tag == "ellipsoid":
        return ELLIPSOID, shape.radii
    if tag == "torus":
        return TORUS, (shape.radius, shape.tube)
    assert tag == "plane", f"contact does not know the shape '{tag}'"
    return PLANE, ()


def radius(shape: Any, vertices: Any) -> float:
    """How far a shape reaches from its own origin [m]; 0 if it has no bounds. `vertices` are those of all hulls."""
    kind, dims = int(shape["kind"]), shape["dims"]
    if kind == SPHERE:
        return float(dims[0])
    if kind == CAPSULE:
        return float(dims[0] + 0.5 * dims[1])
    if kind == CYLINDER:
        return math.hypot(dims[0], 0.5 * dims[1])
    if kind == BOX:
        return 0.5 * float(np.linalg.norm(dims))
    if kind == ELLIPSOID:
        return float(dims.max())
    if kind == TORUS:
        return float(dims[0] + dims[1])
    if kind == HULL:
        first, count = int(shape["vertex"]), int(shape["vertices"])
        return float(np.linalg.norm(vertices[first : first + count], axis=1).max())
    return 0.0


@inlined
def _half_width(shape, x, y, z):
    """How far a shape that is its own mirror image reaches from its centre along (x, y, z) in its own frame [m]."""
    kind, a, b, c = shape.kind, shape.dims[0], shape.dims[1], shape.dims[2]
    if kind == SPHERE:
        return a
    if kind == CAPSULE:
        return a + 0.5 * b * abs(z)
    if kind == CYLINDER:
        # sqrt(x² + y²), not sqrt(1 - z²), which has no digits left where the axis lies along this one.
        return a * math.sqrt(x * x + y * y) + 0.5 * b * abs(z)
    if kind == ELLIPSOID:
        return norm3((a * x, b * y, c * z))
    if kind == TORUS:
        return a * math.sqrt(x * x + y * y) + b
    return 0.5 * (a * abs(x) + b * abs(y) + c * abs(z))


def half_thickness(shape: Any, hulls: Any) -> float:
    """Half of what a shape measures where it is thinnest [m]: a ball of this radius at its centre is inside."""
    kind, dims = int(shape["kind"]), shape["dims"]
    if kind == BOX:
        return 0.5 * float(dims.min())
    if kind in (SPHERE, CAPSULE):
        return float(dims[0])
    if kind == CYLINDER:
        return min(float(dims[0]), 0.5 * float(dims[1]))
    if kind == ELLIPSOID:
        return float(dims.min())
    if kind == TORUS:
        return float(dims[1])
    if kind == HULL:
        first, count = int(shape["vertex"]), int(shape["vertices"])
        normals = hulls.normals[int(shape["face"]) : int(shape["face"]) + int(shape["faces"]), :3]
        across = hulls.vertices[first : first + count] @ normals.T
        return 0.5 * float(np.ptp(across, axis=0).min())
    return math.inf


@kernel
def is_in(shape, hulls, p, R, x, slack):
    """Whether x is in a box, cylinder or hull at p with orientation R, or no farther beside it than `slack` [m]."""
    d = sub3(x, p)
    y = (
        R[0] * d[0] + R[3] * d[1] + R[6] * d[2],
        R[1] * d[0] + R[4] * d[1] + R[7] * d[2],
        R[2] * d[0] + R[5] * d[1] + R[8] * d[2],
    )
    a, b, c = shape.dims[0], shape.dims[1], shape.dims[2]
    if shape.kind == BOX:
        over = max(abs(y[0]) - 0.5 * a, max(abs(y[1]) - 0.5 * b, abs(y[2]) - 0.5 * c))
    elif shape.kind == CYLINDER:
        over = max(math.sqrt(y[0] * y[0] + y[1] * y[1]) - a, abs(y[2]) - 0.5 * b)
    elif shape.kind == HULL:
        over = -math.inf
        for k in range(shape.face, shape.face + shape.faces):
            n = (hulls.normals[k, 0], hulls.normals[k, 1], hulls.normals[k, 2])
            over = max(over, dot3(n, y) - hulls.normals[k, 3])
    else:
        return False
    return over <= slack


@kernel
def farthest(shape, R, vertices, n):
    """How far a shape with orientation R reaches from its origin along the unit vector n [m]; not for fields."""
    if shape.kind == PLANE:
        return math.inf
    x = R[0] * n[0] + R[3] * n[1] + R[6] * n[2]
    y = R[1] * n[0] + R[4] * n[1] + R[7] * n[2]
    z = R[2] * n[0] + R[5] * n[1] + R[8] * n[2]
    if shape.kind != HULL:
        return _half_width(shape, x, y, z)
    far = -math.inf
    for v in range(shape.vertex, shape.vertex + shape.vertices):
        far = max(far, x * vertices[v, 0] + y * vertices[v, 1] + z * vertices[v, 2])
    return far


@kernel
def enclose(shape, p, R, vertices, margin, boxes, planes, i):
    """The box around a shape (a record of `geometry.SHAPE`) at p with orientation R, `margin` wider on every side [m].

    Exact for every kind; that of a hull is found from all its vertices (n x 3, those of all hulls [m]). A plane gets
    a box without bounds and its equation, moved outward by the margin. Below a height field all is solid.
    """
    planes[i, 0], planes[i, 1], planes[i, 2], planes[i, 3] = 0.0, 0.0, 0.0, 0.0
    kind = shape.kind
    if kind == PLANE:
        x, y, z = R[2], R[5], R[8]
        planes[i, 0], planes[i, 1], planes[i, 2] = x, y, z
        planes[i, 3] = x * p[0] + y * p[1] + z * p[2] + margin
    if kind in (SPHERE, CAPSULE, CYLINDER, BOX, ELLIPSOID, TORUS):
        for k in range(3):
            reach = _half_width(shape, R[3 * k], R[3 * k + 1], R[3 * k + 2]) + margin
            boxes[i, k], boxes[i, k + 3] = p[k] - reach, p[k] + reach
    elif kind == HULL:
        for k in range(3):
            x, y, z = R[3 * k] * shape.dims[0], R[3 * k + 1] * shape.dims[1], R[3 * k + 2] * shape.dims[2]
            low, high = math.inf, -math.inf
            for v in range(shape.vertex, shape.vertex + shape.vertices):
                h = x * vertices[v, 0] + y * vertices[v, 1] + z * vertices[v, 2]
                low = min(low, h)
                high = max(high, h)
            boxes[i, k] = p[k] + (low - margin)
            boxes[i, k + 3] = p[k] + (high + margin)
    elif kind == HEIGHTS:
        for k in range(3):
            x, y, z = R[3 * k], R[3 * k + 1], R[3 * k + 2]
            reach = 0.5 * (shape.dims[0] * abs(x) + shape.dims[1] * abs(y)) + margin
            top = z * shape.dims[2]
            boxes[i, k] = -math.inf if z > 0.0 else p[k] + top - reach
            boxes[i, k + 3] = math.inf if z < 0.0 else p[k] + top + reach
    else:  # planes, and kinds that are not known here, which must not be overlooked
        for k in range(3):
            boxes[i, k], boxes[i, k + 3] = -math.inf, math.inf


@kernel
def load(w, row, shape, p, R, hulls):
    """Write the core of a shape at p, R from `row` on; where it stands, its rounding radius, its extent [m]."""
    axis = (R[2], R[5], R[8])
    if shape.kind == SPHERE:
        put(w, row, p, 0.0)
        return Core(POLYHEDRAL, row, _ONE, row + 1, FIRST, FIRST, FIRST, FIRST, FIRST), shape.dims[0], 0.0
    if shape.kind == CAPSULE:
        half = 0.5 * shape.dims[1]
        put(w, row, sub3(p, scale3(half, axis)), 0.0)
        put(w, row + 1, add3(p, scale3(half, axis)), 0.0)
        return Core(POLYHEDRAL, row, _ONE + 1, row + 2, FIRST, FIRST, -_ONE, _ONE, FIRST), shape.dims[0], half
    if shape.kind == CYLINDER or shape.kind == TORUS:
        # The hull of a torus, which has no hole, is a disc with a radius around it.
        half, r = (0.5 * shape.dims[1], 0.0) if shape.kind == CYLINDER else (0.0, shape.dims[1])
        put(w, row, p, shape.dims[0])
        put(w, row + 1, axis, half)
        put(w, row + 2, (R[0], R[3], R[6]), 0.0)
        core = Core(CYLINDRICAL, row, _ONE + 2, row + 3, FIRST, FIRST, FIRST, FIRST, FIRST)
        return core, r, shape.dims[0] + half
    sx, sy, sz = shape.dims[0], shape.dims[1], shape.dims[2]
    if shape.kind == ELLIPSOID:
        # Half of the least radius of curvature: what is rounded off a core leaves one without corners.
        least, most = min(sx, min(sy, sz)), max(sx, max(sy, sz))
        r = 0.5 * least * (least / most)
        put(w, row, p, r)
        put(w, row + 1, (sx * R[0], sx * R[3], sx * R[6]), 0.0)
        put(w, row + 2, (sy * R[1], sy * R[4], sy * R[7]), 0.0)
        put(w, row + 3, (sz * R[2], sz * R[5], sz * R[8]), 0.0)
        core = Core(SMOOTH, row, _ONE, row + 4, FIRST, FIRST, FIRST, FIRST, FIRST)
        return core, r, most
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
    return Core(POLYHEDRAL, row, shape.vertices, plane, faces, face, edge, edges, shape.vertex), 0.0, extent


@kernel
def support(w, core, n):
    """The point of a core that is farthest along n, and its number."""
    row = core.row
    if core.form == CYLINDRICAL:
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
    if core.form == SMOOTH:
        # An ellipsoid is the ball of all unit vectors u, stretched along three axes.
        x, y, z = row3(w, row + 1), row3(w, row + 2), row3(w, row + 3)
        u = unit((dot3(n, x), dot3(n, y), dot3(n, z)), (0.0, 0.0, 0.0))
        x = add3(scale3(u[0], x), add3(scale3(u[1], y), scale3(u[2], z)))
        return add3(row3(w, row), sub3(x, scale3(w[row, 3], unit(n, (0.0, 0.0, 0.0))))), 0
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


@woven
def formula(a, R, b, p, Q, contacts):
    """Contacts of a pair with a formula, shapes in the order of their kinds, p from the first to the second; how many.

    -1 if there is no formula for it.
    """
    axis_a, axis_b = (R[2], R[5], R[8]), (Q[2], Q[5], Q[8])
    r, g = a.dims[0], 0.5 * a.dims[1]
    s, h = b.dims[0], 0.5 * b.dims[1]
    if a.kind == PLANE:
        if b.kind == SPHERE:
            return plane_point(contacts, FIRST, axis_a, p, s, FIRST)
        if b.kind == CAPSULE:
            return plane_capsule(axis_a, p, axis_b, s, h, contacts)
        if b.kind == BOX:
            return plane_box(axis_a, p, Q, get3(b.dims), contacts)
        if b.kind == CYLINDER:
            return plane_cylinder(axis_a, p, Q, s, h, 0.0, contacts)
        if b.kind == TORUS:
            return plane_cylinder(axis_a, p, Q, s, 0.0, b.dims[1], contacts)
        if b.kind == PLANE:
            return 0
    if a.kind == SPHERE:
        if b.kind == SPHERE:
            return sphere_sphere(p, r, s, contacts)
        if b.kind == CAPSULE:
            return sphere_capsule(p, r, axis_b, s, h, contacts)
        if b.kind == BOX:
            return sphere_box(p, r, Q, get3(b.dims), contacts)
        if b.kind == CYLINDER:
            return sphere_cylinder(p, r, Q, s, h, contacts)
    if a.kind == CAPSULE and b.kind == CAPSULE:
        return capsule_capsule(axis_a, r, g, p, axis_b, s, h, contacts)
    return -1
