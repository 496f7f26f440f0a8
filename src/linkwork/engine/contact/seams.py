"""Inner edges: where shapes of one body, or of the surroundings, lie side by side, nothing catches.

A shape M touches F along m, from F to M: all of M is above the plane of that contact. Another shape E that moves with F
and lies below this plane cannot hold M up in any other direction, yet its own contact with M may have one: that of a
side or an edge of E which F covers, felt ahead by what moves fast or just below the surface by what has sunk in by
the slop. Such a contact turns into the direction m if M is a polyhedron, whose corners go on to hold it, and is left
out if M is round: a round thing rolls, and its points ahead go down without coming nearer. What stands out of the plane
by more than the slop, a step up as well as a wall, stays as it is.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, get3, get9, norm3, rotate, scale3, set3, sub3
from .height_field import first_node, make_field, node
from .kinds import BOX, HEIGHTS, HULL, PLANE, farthest

_SAME = 1e-8  # squared angle between normals that are one: 1e-4 rad
_NONE = -1


@inlined
def set_axes(point, x, n):
    """The place, normal and tangents of a point."""
    ax, ay, az = abs(n[0]), abs(n[1]), abs(n[2])
    if ax <= ay and ax <= az:
        t = (0.0, n[2], -n[1])
    elif ay <= az:
        t = (-n[2], 0.0, n[0])
    else:
        t = (n[1], -n[0], 0.0)
    t = scale3(1.0 / norm3(t), t)
    set3(point.x, x)
    set3(point.n, n)
    set3(point.t, t)
    set3(point.s, cross3(n, t))


@inlined
def centre_patch(patch, points):
    """The centre of a patch, and how far its points are from there."""
    c = (0.0, 0.0, 0.0)
    for k in range(patch.first, patch.first + patch.count):
        c = add3(c, get3(points[k].x))
    c = scale3(1.0 / patch.count, c)
    set3(patch.x, c)
    patch.radius = 0.0
    for k in range(patch.first, patch.first + patch.count):
        patch.radius = max(patch.radius, norm3(sub3(get3(points[k].x), c)))


@kernel
def mend_seams(colliders, found, made, flush):
    """Turn or leave out contacts on inner edges among the `made` patches of this step; how many patches are left.

    flush: what stands out by no more than this is even [m].
    """
    side, mounts, links = found.counts[0].side, colliders.mounts, found.links
    patches, points = found.patches[side], found.points[side]
    some = False
    shapes = mounts.shape[0]
    for i in range(shapes):
        links[i, 0] = _NONE
    for k in range(made):
        for s in range(2):
            # The shape that is in contact with the other one, which has neighbours.
            one, other = (patches[k].i, patches[k].j) if s == 0 else (patches[k].j, patches[k].i)
            if mounts[other].neighbours != 0:
                links[shapes + k, s] = links[one, 0]
                some = some or links[one, 0] != _NONE
                links[one, 0] = 2 * k + s
    if not some:
        return made
    changed = False
    for k in range(made):
        for s in range(2):
            one, other = (patches[k].i, patches[k].j) if s == 0 else (patches[k].j, patches[k].i)
            kind = colliders.shapes[one].kind
            if mounts[other].neighbours == 0 or kind == PLANE or kind == HEIGHTS:
                continue
            entry = links[one, 0]
            while entry != _NONE:
                judge = patches[entry // 2]
                near = judge.j if entry % 2 == 0 else judge.i
                if mounts[near].link == mounts[other].link:
                    if near != other and _judge(colliders, found, judge, patches[k], entry % 2, s, flush):
                        changed = True
                elif colliders.fixed[one] != 0:
                    break  # much may touch what is fixed, and patches come sorted by shapes
                entry = links[shapes + entry // 2, entry % 2]
    return _close_up(patches, points, made) if changed else made


@inlined
def _outward(point, s):
    """Of a point of a patch: from shape 1 - s of it towards shape s, and where it is on the former."""
    n = scale3(1.0 if s == 1 else -1.0, get3(point.n))
    return n, sub3(get3(point.x), scale3(0.5 * point.gap, n))


@kernel
def _judge(colliders, found, judge, patch, s_judge, s, flush):
    """Hold points of a patch against those of a neighbour's patch with the same shape; whether any was changed."""
    side = found.counts[0].side
    points = found.points[side]
    i, one = (patch.j, patch.i) if s == 0 else (patch.i, patch.j)
    shape, kind = colliders.shapes[i], colliders.shapes[one].kind
    p, R = get3(found.positions[i]), get9(found.rotations[i])
    changed = False
    for q in range(judge.first, judge.first + judge.count):
        if points[q].loaded == _NONE:
            continue
        m, y = _outward(points[q], s_judge)
        top = math.nan
        for k in range(patch.first, patch.first + patch.count):
            point = points[k]
            n, x = _outward(point, s)
            d = sub3(m, n)
            if point.loaded == _NONE or dot3(d, d) <= _SAME:
                continue
            if shape.kind == HEIGHTS:
                top = _top_nearby(shape, p, R, colliders.hulls, x, m)
            elif math.isnan(top):
                top = dot3(m, p) + farthest(shape, R, colliders.hulls.vertices, m)
            if not top <= dot3(m, y) + flush:
                continue
            changed = True
            if kind == BOX or kind == HULL:
                z = add3(x, scale3(point.gap, n))  # on the shape that touches
                point.gap = dot3(m, z) - top
                set_axes(point, sub3(z, scale3(0.5 * point.gap, m)), scale3(1.0 if s == 1 else -1.0, m))
            else:
                point.loaded = _NONE
    return changed


@kernel
def _top_nearby(terrain, p, R, hulls, x, n):
    """How far a height field reaches along n in the cells around x [m]."""
    field = make_field(terrain, hulls)
    T = (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])
    y, m = rotate(T, sub3(x, p)), rotate(T, n)
    i = first_node(y[0], field.x, field.cell_x, field.columns - 1)
    j = first_node(y[1], field.y, field.cell_y, field.rows - 1)
    top = -math.inf
    for b in range(max(j - 1, 0), min(j + 3, field.rows)):
        for a in range(max(i - 1, 0), min(i + 3, field.columns)):
            top = max(top, dot3(m, node(field, a, b)))
    return top + dot3(n, p)


@kernel
def _close_up(patches, points, made):
    """Leave out points that are marked, and patches without any; how many patches are left."""
    kept, placed = 0, 0
    for k in range(made):
        patch = patches[k]
        first, count = placed, 0
        for q in range(patch.first, patch.first + patch.count):
            if points[q].loaded != _NONE:
                if placed != q:
                    _move_point(points[q], points[placed])
                placed += 1
                count += 1
        if count == 0:
            continue
        patch.first, patch.count = first, count
        centre_patch(patch, points)
        if kept != k:
            _move_patch(patch, patches[kept])
        kept += 1
    return kept


# What detection has found so far; assigned as a whole, records would be copied number by number, in as much code.
@inlined
def _move_point(source, to):
    for m in range(3):
        to.x[m], to.n[m], to.t[m], to.s[m] = source.x[m], source.n[m], source.t[m], source.s[m]
    to.gap, to.feature, to.loaded = source.gap, source.feature, source.loaded


@inlined
def _move_patch(source, to):
    to.i, to.j, to.a, to.b, to.first, to.count = (
        source.i,
        source.j,
        source.a,
        source.b,
        source.first,
        source.count,
    )
    to.friction, to.restitution, to.bounce = source.friction, source.restitution, source.bounce
    to.rolling, to.torsion, to.radius = source.rolling, source.torsion, source.radius
    for m in range(3):
        to.x[m] = source.x[m]
