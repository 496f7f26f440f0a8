"""How far a ray goes until it meets something: for sensors of distance, called between steps and by no loop.

A ray is a point and a direction of length one. Of a convex shape, what is left of the ray between its faces, or, if it
is round, a zero of its distance along the ray: that is convex, so that Newton's method goes up to it and never beyond.
In a height field the ray is followed from cell to cell.
"""

import math

import numpy as np

from ..coordinates.dynamics import body_pose
from ..coordinates.tree import place
from ..kernels.jit import kernel
from ..kernels.math3 import add3, chain, dot3, get3, get9, norm3, rotate, scale3, sub3
from .height_field import make_field, node
from .heights_spline import height_at, make_sheet
from .kinds import BOX, CYLINDER, ELLIPSOID, HEIGHTS, HULL, PLANE, SPHERE, TORUS

TARGET = np.dtype(
    [
        ("body", "i8"),  # that carries the shape; -1 for scenery
        ("X_R", "f8", 9),  # frame of the shape in that of its body, or in the world: rotation
        ("X_p", "f8", 3),  # and position [m]
    ]
)

_STEPS = 60  # of Newton's method; it takes them all where a ray just touches
_EXACT = 1e-12  # [m]
_PARTS = 8  # of the way through a cell of a smooth field, in each of which the ray meets it at most once
_HALVES = 60
_CREEP = 1e-9  # of a cell, by which a ray is seen to be beyond its border
_EMPTY = (math.inf, -math.inf)


@kernel
def cast_rays(tables, shapes, hulls, targets, rays, q, v, out):
    """Distance [m] up to what each ray meets first, its reach if that is nothing => out.

    shapes, hulls: of `targets`; rays: n x 8, of each the body that carries it and meets nothing of itself, its start in
    that body's frame [m], its direction there, its reach [m].
    """
    place(tables.dofs, tables.islands, q, v)
    for k in range(rays.shape[0]):
        body = int(rays[k, 0])
        p, R = body_pose(tables, body)
        start = add3(p, rotate(R, (rays[k, 1], rays[k, 2], rays[k, 3])))
        way = rotate(R, (rays[k, 4], rays[k, 5], rays[k, 6]))
        nearest = rays[k, 7]
        for i in range(targets.shape[0]):
            carrier = targets[i].body
            if carrier == body:
                continue
            at, turn = get3(targets[i].X_p), get9(targets[i].X_R)
            if carrier >= 0:
                p, R = body_pose(tables, carrier)
                at, turn = add3(p, rotate(R, at)), chain(R, turn)
            nearest = min(
                nearest, meet(shapes[i], hulls, _inside(turn, sub3(start, at)), _inside(turn, way), nearest)
            )
        out[k] = nearest


@kernel
def _inside(R, a):
    """A vector of the world in a frame."""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@kernel
def meet(shape, hulls, x, d, reach):
    """Distance along a ray, in a shape's own frame, up to the shape; 0 from within, infinite beyond `reach` [m]."""
    kind = shape.kind
    if kind == HEIGHTS:
        return _meet_field(shape, hulls, x, d, reach)
    if kind == BOX or kind == CYLINDER or kind == HULL or kind == PLANE or kind == ELLIPSOID:
        near, far = _between(shape, hulls, x, d)
        near = max(near, 0.0)
        return near if near <= far and near <= reach else math.inf
    return _meet_round(shape, x, d, reach)


# --- convex shapes ---


@kernel
def _between(shape, hulls, x, d):
    """From where to where a line is within a shape with faces, or an ellipsoid."""
    kind, a, b, c = shape.kind, shape.dims[0], shape.dims[1], shape.dims[2]
    if kind == PLANE:
        return _cut(-math.inf, math.inf, x[2], d[2])
    if kind == ELLIPSOID:
        return _through_ball((x[0] / a, x[1] / b, x[2] / c), (d[0] / a, d[1] / b, d[2] / c), 1.0)
    near, far = -math.inf, math.inf
    if kind == CYLINDER:
        near, far = _through_ball((x[0], x[1], 0.0), (d[0], d[1], 0.0), a)
        near, far = _cut(near, far, x[2] - 0.5 * b, d[2])
        return _cut(near, far, -x[2] - 0.5 * b, -d[2])
    if kind == BOX:
        for k in range(3):
            half = 0.5 * shape.dims[k]
            near, far = _cut(near, far, x[k] - half, d[k])
            near, far = _cut(near, far, -x[k] - half, -d[k])
        return near, far
    for k in range(shape.face, shape.face + shape.faces):
        n = (hulls.normals[k, 0], hulls.normals[k, 1], hulls.normals[k, 2])
        near, far = _cut(near, far, dot3(n, x) - hulls.normals[k, 3], dot3(n, d))
    return near, far


@kernel
def _cut(near, far, out, rate):
    """What is left of a stretch of a ray behind a face that it starts `out` before, and leaves at a rate."""
    if rate < 0.0:
        return max(near, -out / rate), far
    if rate > 0.0:
        return near, min(far, -out / rate)
    return (near, far) if out <= 0.0 else _EMPTY


@kernel
def _through_ball(x, d, r):
    """From where to where a line, whose direction has any length, is within a ball at the origin."""
    dd, half, out = dot3(d, d), dot3(x, d), dot3(x, x) - r * r
    if dd == 0.0:
        return (-math.inf, math.inf) if out <= 0.0 else _EMPTY
    nearest = sub3(x, scale3(half / dd, d))  # of the line; half² - dd·out would lose digits far away
    rest = (r - norm3(nearest)) * (r + norm3(nearest))
    if rest < 0.0:
        return _EMPTY
    root = math.sqrt(rest / dd)
    return -half / dd - root, -half / dd + root


@kernel
def _meet_round(shape, x, d, reach):
    """Distance up to a ball around a point, a line or a disc: sphere, capsule, torus (with its hole closed)."""
    r = shape.dims[1] if shape.kind == TORUS else shape.dims[0]
    t = 0.0
    for _ in range(_STEPS):
        y = add3(x, scale3(t, d))
        off = sub3(y, _core(shape, y))
        length = norm3(off)
        gap = length - r
        if gap <= _EXACT:
            return t if t <= reach else math.inf
        closing = -dot3(off, d) / length
        if closing <= 0.0 or t > reach:
            return math.inf
        t += gap / closing
    return math.inf


@kernel
def _core(shape, y):
    """The point of the core of a round shape that is nearest to y."""
    if shape.kind == SPHERE:
        return 0.0, 0.0, 0.0
    if shape.kind == TORUS:
        out = math.sqrt(y[0] * y[0] + y[1] * y[1])
        s = shape.dims[0] / out if out > shape.dims[0] else 1.0
        return s * y[0], s * y[1], 0.0
    half = 0.5 * shape.dims[1]
    return 0.0, 0.0, min(max(y[2], -half), half)


# --- height fields ---


@kernel
def _meet_field(shape, hulls, x, d, reach):
    """Distance up to a height field, below which all is solid, down from its rim, too."""
    field = make_field(shape, hulls)
    near, far = _cut(0.0, reach, x[2] - field.top, d[2])
    for k in range(2):
        half = 0.5 * shape.dims[k]
        near, far = _cut(near, far, x[k] - half, d[k])
        near, far = _cut(near, far, -x[k] - half, -d[k])
    if not near <= far:
        return math.inf
    t = near
    if _above(shape, hulls, field, x, d, t) <= 0.0:
        return t
    while t < far:
        end = min(_leave_cell(field, x, d, t), far)
        met = _meet_cell(shape, hulls, field, x, d, t, end)
        if met <= end:
            return met
        t = end
    return math.inf


@kernel
def _above(shape, hulls, field, x, d, t):
    """How high a place along a ray is above a field, infinite beyond the rim [m]."""
    y = add3(x, scale3(t, d))
    if shape.edges == 1:
        return y[2] - height_at(make_sheet(shape, hulls), y[0], y[1])[0]
    u, v = (y[0] - field.x) / field.cell_x, (y[1] - field.y) / field.cell_y
    i = int(min(max(math.floor(u), 0.0), field.columns - 2.0))
    j = int(min(max(math.floor(v), 0.0), field.rows - 2.0))
    u, v = u - i, v - j
    low, high = node(field, i, j)[2], node(field, i + 1, j + 1)[2]
    if v > u:
        side = node(field, i, j + 1)[2]
        return y[2] - (low + v * (side - low) + u * (high - side))
    side = node(field, i + 1, j)[2]
    return y[2] - (low + u * (side - low) + v * (high - side))


@kernel
def _leave_cell(field, x, d, t):
    """Where a ray leaves the cell that it is in at t: the next line of nodes along x or y."""
    end = math.inf
    for k in range(2):
        first, cell = (field.x, field.cell_x) if k == 0 else (field.y, field.cell_y)
        if d[k] != 0.0:
            u = (x[k] + t * d[k] - first) / cell
            line = math.floor(u + _CREEP) + 1.0 if d[k] > 0.0 else math.ceil(u - _CREEP) - 1.0
            end = min(end, (first + line * cell - x[k]) / d[k])
    return end


@kernel
def _meet_cell(shape, hulls, field, x, d, t, end):
    """Where a ray that is above a field at t goes below it before `end`, within one cell; infinite if it does not."""
    smooth = shape.edges == 1
    parts = _PARTS if smooth else 2
    middle = 0.5 * (t + end)
    if not smooth:  # the diagonal of the cell, where its two triangles meet
        slant = d[0] / field.cell_x - d[1] / field.cell_y
        m = add3(x, scale3(middle, d))
        u = (m[0] - field.x) / field.cell_x
        v = (m[1] - field.y) / field.cell_y
        if slant != 0.0:
            middle += ((v - math.floor(v)) - (u - math.floor(u))) / slant
        middle = min(max(middle, t), end)
    for k in range(parts):
        if smooth:
            low, high = t + k * (end - t) / parts, t + (k + 1) * (end - t) / parts
        else:
            low, high = (t, middle) if k == 0 else (middle, end)
        if _above(shape, hulls, field, x, d, high) <= 0.0:
            for _ in range(_HALVES):
                half = 0.5 * (low + high)
                if _above(shape, hulls, field, x, d, half) <= 0.0:
                    high = half
                else:
                    low = half
            return high
    return math.inf
