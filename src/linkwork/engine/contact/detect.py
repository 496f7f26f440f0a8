"""Where shapes touch now: patches (pairs of shapes) and their points, with what the last step knew of them.

Patches come sorted by their pair of shapes, so those of two steps are matched by going through both lists once. Points
of a patch are matched by feature, else by place: they keep the impulses that the next solution starts from. A patch
whose points all stick also keeps the pose of B in A at which it began to stick: whatever the bodies have shifted
against each other since then is error of integration, and is taken back.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import apart, inlined, kernel
from ..kernels.math3 import add3, chain, cross3, dot3, get3, get9, norm3, rotate, scale3, set3, set9, sub3
from ..kernels.record import named, new_records
from .brace import brace
from .broad import Broad, enlarge, find_pairs, make_broad
from .collide import collide
from .colliders import BOUNCE_SPEED, FRICTION, RESTITUTION, ROLLING, TORSION, Colliders
from .geometry import MOST, contact_rows, make_scratch
from .kinds import enclose, half_thickness, radius
from .seams import centre_patch, mend_seams, set_axes

POINT = np.dtype(
    [
        ("feature", "i8"),  # the same number while the same corners, edges and faces touch
        ("loaded", "i8"),  # 1 if it pushed in the last solution
        ("pushes", "i8"),  # 1 if it is taken to push, 0 if not, -1 if nothing is known
        ("slides", "i8"),  # 1 if its friction is at the cone
        ("x", "f8", 3),  # in the world, halfway between the two shapes [m]
        ("n", "f8", 3),  # normal from A to B
        ("t", "f8", 3),  # tangents
        ("s", "f8", 3),
        ("gap", "f8"),  # distance, negative in a penetration [m]
        ("goal", "f8"),  # least normal velocity at the end of the step [m/s]
        (
            "p",
            "f8",
            6,
        ),  # impulses: normal, along both tangents [N s], about the normal and the tangents [N m s]
        ("warm", "f8", 6),  # those that the step began with
        ("last", "f8", 6),  # those before the present sweep
        ("origin", "f8", 3),  # those that a Newton step changes as little as possible, along n, t, s
        ("way", "f8", 6),  # direction of the accelerated search
        ("push", "f8", 3),  # wanted pseudo velocities along n, t, s [m/s]
        ("shove", "f8", 3),  # pseudo impulses [N s]
        ("Jn", "f8", 6),  # rows against the relative twist at the patch's centre
        ("Jt", "f8", 6),
        ("Js", "f8", 6),
        ("gn", "f8", 6),  # relative twists that unit impulses cause
        ("gt", "f8", 6),
        ("gs", "f8", 6),
        ("mass", "f8"),  # 1/(Jn·gn) [kg]
        ("inverse", "f8", 3),  # of the 2x2 matrix of the tangents: tt, ts, ss [kg]
        ("step", "f8"),  # 1/its largest eigenvalue [kg]
        ("rho", "f8"),  # mean response to unit impulses along n, t, s [1/kg]
        ("d", "f8", 2),  # direction of the friction of a sliding point, along its tangents
        ("turn", "f8"),  # softness across that: slip per friction [1/kg]
    ]
)

PATCH = np.dtype(
    [
        ("i", "i8"),  # shapes
        ("j", "i8"),
        ("a", "i8"),  # the dofs that carry them; 0 is the world
        ("b", "i8"),
        ("first", "i8"),  # its points
        ("count", "i8"),
        ("island", "i8"),
        ("touches", "i8"),  # 1 if it carries an impulse
        ("uneven", "i8"),  # how its points share loads: EVENLY, UNEVENLY or BY_CHANCE of `settle`
        ("rests", "i8"),  # 1 if the impulses of the step before were good enough for it as they were
        ("old", "i8"),  # the patch of the last step that it continues, or -1
        ("y", "i8"),  # where its list of dofs begins in the pool, and how many they are
        ("ny", "i8"),
        ("z", "i8"),  # the same for the dofs that respond to it
        ("nz", "i8"),
        ("friction", "f8"),
        ("restitution", "f8"),
        ("bounce", "f8"),  # [m/s]
        ("rolling", "f8"),  # [m]
        ("torsion", "f8"),  # [m]
        ("x", "f8", 3),  # its centre in the world [m]
        ("G", "f8", 36),  # relative twist of B against A at the centre caused by a unit wrench there
        ("radius", "f8"),  # how far its points are from there [m]
        ("loose", "f8"),  # how far a unit impulse would move it if no rows were held [1/kg]
        ("w", "f8", 6),  # relative twist at the start of the step
        ("free", "f8", 6),  # and at its end if nothing touched; then the pseudo twist that a sweep left
        ("anchored", "i8"),
        ("anchor", "f8", 12),  # pose of B in A at which it began to stick: rotation (9), position (3) [m]
    ]
)

NO_ROOM = -1
COUNTS = np.dtype(
    [
        ("patches", "i8"),  # of this step
        ("points", "i8"),
        ("old_patches", "i8"),  # of the last step
        ("side", "i8"),  # which of the two tables of patches and points is of this step
        ("wanted_pairs", "i8"),  # that there was no room for
        ("sunk", "f8"),  # deepest penetration so far, over half of the thinner shape's thickness,
        ("sunk_depth", "f8"),  # how deep that is [m],
        ("sunk_i", "i8"),  # and the two shapes
        ("sunk_j", "i8"),
    ]
)

# A patch that has turned further than this may be rolling [rad]: it is anchored anew.
_TURNED = 1e-3
# Of what is near: the slop, by which one thing may stand out of another that is even with it.
_FLUSH = 0.1


class Detection(NamedTuple):
    """Patches and points of this and the last step (which is which: counts.side), and working memory."""

    patches: Any
    points: Any
    counts: Any
    """A table of one record of `COUNTS`."""
    positions: Any
    """Of each shape: where it is [m], and its velocity [m/s]."""
    rotations: Any
    reach: Any
    """How far it may get in a step [m]."""
    bounds: Any
    """How far it reaches from its origin, and half of what it measures where it is thinnest [m]."""
    broad: Broad
    out: Any
    scratch: Any
    links: Any
    """Of each shape, its last patch with one that has neighbours, as 2 patch + side; then of each patch, for both of
    its sides, the one before it."""


def make_detection(colliders: Colliders, pairs: int = 0) -> Detection:
    """Working memory for as many pairs of shapes at once (0: eight for each shape)."""
    n = len(colliders.shapes)
    pairs = pairs or max(16, 8 * n)
    patches, points = named(np.zeros((2, pairs), PATCH)), named(np.zeros((2, MOST * pairs), POINT))
    return Detection(
        patches, points, new_records(1, COUNTS), np.zeros((n, 6)), np.zeros((n, 9)), np.zeros(n),
        _bounds(colliders), make_broad(n, pairs), contact_rows(), make_scratch(colliders.hulls, colliders.shapes),
        np.zeros((n + pairs, 2), np.int64),
    )  # fmt: skip


def _bounds(colliders: Colliders) -> Any:
    hulls = colliders.hulls
    rows = [(radius(shape, hulls.vertices), half_thickness(shape, hulls)) for shape in colliders.shapes]
    return np.array(rows, float).reshape(-1, 2)


def enlarge_detection(colliders: Colliders, old: Detection, pairs: int) -> Detection:
    """Working memory with room for more pairs of shapes; what was known of patches is kept."""
    new = make_detection(colliders, pairs)
    new.patches[:, : old.patches.shape[1]] = old.patches
    new.points[:, : old.points.shape[1]] = old.points
    new.counts[:] = old.counts
    return new._replace(broad=enlarge(old.broad, pairs))


@apart
def detect(dofs, origins, colliders, found, h, near):
    """(placed dofs) => patches and points, matched with those of the last step; returns 0 or NO_ROOM.

    near: shapes closer than this are looked at even if nothing moves [m].
    """
    _mount(dofs, origins, colliders, found, h, near)
    broad, counts = found.broad, found.counts
    pairs = find_pairs(broad, colliders.groups, colliders.masks, colliders.fixed, colliders.excluded)
    if pairs < 0:
        counts[0].wanted_pairs = -pairs
        return NO_ROOM
    old_side = counts[0].side
    side = 1 - old_side
    counts[0].side, counts[0].old_patches = side, counts[0].patches
    patches, points = found.patches[side], found.points[side]
    made, placed = 0, 0
    for k in range(pairs):
        i, j = broad.out[k, 0], broad.out[k, 1]
        pose_a = (get3(found.positions[i]), get9(found.rotations[i]))
        pose_b = (get3(found.positions[j]), get9(found.rotations[j]))
        count = collide(
            colliders.shapes[i], pose_a, colliders.shapes[j], pose_b, colliders.hulls,
            found.reach[i] + found.reach[j], found.scratch, found.out,
        )  # fmt: skip
        if count == 0:
            continue
        thickness = found.bounds[i, 1] + found.bounds[j, 1]
        if found.reach[i] + found.reach[j] > 0.5 * thickness:
            way = scale3(h, sub3(_velocity(found, i), _velocity(found, j)))
            if 2.0 * dot3(way, get3(found.out[0].normal)) > thickness:
                count = brace(colliders, found, i, j, count, way, near)
        _begin_patch(colliders, patches[made], i, j, placed, count)
        _put_points(found.out, points, patches[made])
        _note_depth(found, patches[made], points)
        made += 1
        placed += count
    made = mend_seams(colliders, found, made, _FLUSH * near)
    placed = patches[made - 1].first + patches[made - 1].count if made > 0 else 0
    counts[0].patches, counts[0].points = made, placed
    _remember(found, side, made)
    return 0


@kernel
def _remember(found, side, made):
    """What the last step knew of patches and their points."""
    counts, patches, points = found.counts, found.patches[side], found.points[side]
    before = 0
    for k in range(made):
        patch = patches[k]
        i, j = patch.i, patch.j
        # Both lists are sorted by pair: go on in the old one up to this pair.
        while before < counts[0].old_patches:
            old = found.patches[1 - side, before]
            if old.i > i or (old.i == i and old.j >= j):
                break
            before += 1
        patch.old = -1
        patch.anchored = 0
        if before < counts[0].old_patches:
            old = found.patches[1 - side, before]
            if old.i == i and old.j == j:
                patch.old, patch.touches = before, old.touches
                patch.uneven, patch.rests = old.uneven, old.rests
                _match(found.points[1 - side], old, points, patch)
                pose_a = (get3(found.positions[i]), get9(found.rotations[i]))
                pose_b = (get3(found.positions[j]), get9(found.rotations[j]))
                _keep_anchor(old, patch, pose_a, pose_b)


@kernel
def _mount(dofs, origins, colliders, found, h, near):
    """Poses of all shapes, how far they may get in a step, and their boxes."""
    for i in range(colliders.shapes.shape[0]):
        mount = colliders.mounts[i]
        dof = dofs[mount.link]
        R = get9(dof.R)
        arm = add3(get3(dof.r), rotate(R, get3(mount.X_p)))
        p, Q = add3(get3(origins[dof.island].o), arm), chain(R, get9(mount.X_R))
        set3(found.positions[i], p)
        set9(found.rotations[i], Q)
        reach = near
        if mount.link != 0:
            w = (dof.V[0], dof.V[1], dof.V[2])
            u = add3((dof.V[3], dof.V[4], dof.V[5]), cross3(w, arm))
            reach += h * (norm3(u) + norm3(w) * found.bounds[i, 0])
            found.positions[i, 3], found.positions[i, 4], found.positions[i, 5] = u
        found.reach[i] = reach
        boxes, planes = found.broad.boxes, found.broad.planes
        enclose(colliders.shapes[i], p, Q, colliders.hulls.vertices, reach, boxes, planes, i)


@inlined
def _begin_patch(colliders, patch, i, j, first, count):
    a, b = colliders.mounts[i], colliders.mounts[j]
    material = colliders.materials[a.material, b.material]
    patch.i, patch.j, patch.a, patch.b = i, j, a.link, b.link
    patch.first, patch.count, patch.touches = first, count, 0
    patch.uneven = patch.rests = 0
    patch.friction, patch.restitution = material[FRICTION], material[RESTITUTION]
    patch.bounce, patch.rolling, patch.torsion = material[BOUNCE_SPEED], material[ROLLING], material[TORSION]


@inlined
def _put_points(out, points, patch):
    """Contacts of the narrow phase => points with tangents, and the patch's centre."""
    for k in range(patch.count):
        contact, point = out[k], points[patch.first + k]
        set_axes(point, scale3(0.5, add3(get3(contact.a), get3(contact.b))), get3(contact.normal))
        point.gap = contact.distance
        point.feature = contact.feature
        point.loaded, point.pushes, point.slides = 0, -1, 0
        for m in range(6):
            point.p[m] = 0.0
        for m in range(3):
            point.push[m] = 0.0
            point.shove[m] = 0.0
    centre_patch(patch, points)


@inlined
def _velocity(found, i):
    return found.positions[i, 3], found.positions[i, 4], found.positions[i, 5]


@inlined
def _note_depth(found, patch, points):
    """Remember the deepest of all penetrations, by what there is to sink into."""
    depth = 0.0
    for k in range(patch.first, patch.first + patch.count):
        depth = max(depth, -points[k].gap)
    thin = min(found.bounds[patch.i, 1], found.bounds[patch.j, 1])
    if depth > found.counts[0].sunk * thin:
        found.counts[0].sunk, found.counts[0].sunk_depth = depth / thin, depth
        found.counts[0].sunk_i, found.counts[0].sunk_j = patch.i, patch.j


@inlined
def _match(old_points, old, points, patch):
    """Impulses of the last step for the points that were there: by feature, else the nearest that is left."""
    taken = 0
    for k in range(patch.count):
        for m in range(old.count):
            if taken & (1 << m) == 0 and old_points[old.first + m].feature == points[patch.first + k].feature:
                _inherit(old_points[old.first + m], points[patch.first + k])
                taken |= 1 << m
                taken |= 16 << k
                break
    for k in range(patch.count):
        if taken & (16 << k) != 0:
            continue
        point = points[patch.first + k]
        best, nearest = np.inf, -1
        for m in range(old.count):
            if taken & (1 << m) == 0:
                d = sub3(get3(old_points[old.first + m].x), get3(point.x))
                if dot3(d, d) < best:
                    best, nearest = dot3(d, d), m
        if nearest >= 0:
            _inherit(old_points[old.first + nearest], point)
            taken |= 1 << nearest


@inlined
def _inherit(old, point):
    """Impulses as vectors, in the axes of the new point."""
    n, t, s = get3(point.n), get3(point.t), get3(point.s)
    force = add3(scale3(old.p[1], get3(old.t)), scale3(old.p[2], get3(old.s)))
    turn = add3(scale3(old.p[4], get3(old.t)), scale3(old.p[5], get3(old.s)))
    point.p[0] = old.p[0] if dot3(n, get3(old.n)) > 0.0 else 0.0
    point.p[1], point.p[2] = dot3(force, t), dot3(force, s)
    point.p[3] = old.p[3]
    point.pushes, point.slides, point.turn = old.pushes, old.slides, old.turn
    along = add3(scale3(old.d[0], get3(old.t)), scale3(old.d[1], get3(old.s)))
    a, b = dot3(along, t), dot3(along, s)
    size = math.sqrt(a * a + b * b)
    point.d[0], point.d[1] = (a / size, b / size) if size > 0.0 else (0.0, 0.0)
    point.p[4], point.p[5] = dot3(turn, t), dot3(turn, s)


@inlined
def _keep_anchor(old, patch, pose_a, pose_b):
    """Go on with the anchor of the last step, unless B has turned too far against A."""
    if old.anchored == 0:
        return
    R, _ = relative_pose(pose_a, pose_b)
    # cos of the angle between two rotations from the trace of their quotient; 1 - cos is the angle squared / 2.
    same = 0.0
    for k in range(9):
        same += R[k] * old.anchor[k]
    if 3.0 - same > _TURNED * _TURNED:
        return
    patch.anchored = 1
    for k in range(12):
        patch.anchor[k] = old.anchor[k]


@inlined
def relative_pose(pose_a, pose_b):
    """Rotation and position of B in A."""
    (p, R), (q, Q) = pose_a, pose_b
    T = (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])
    return chain(T, Q), rotate(T, sub3(q, p))
