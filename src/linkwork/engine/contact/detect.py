"""Where shapes touch now: patches (pairs of shapes) and their points, with what the last step knew of them.

Patches come sorted by their pair of shapes, so those of two steps are matched by going through both lists once. Points
of a patch are matched by feature, else by place: they keep the impulses that the next solution starts from. A patch
whose points all stick also keeps the pose of B in A at which it began to stick: whatever the bodies have shifted
against each other since then is error of integration, and is taken back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, chain, cross3, dot3, get3, get9, norm3, rotate, scale3, set3, set9, sub3
from ..kernels.record import named, new_records
from .broad import Broad, enlarge, find_pairs, make_broad
from .collide import collide
from .colliders import BOUNCE_SPEED, FRICTION, RESTITUTION, ROLLING, TORSION, Colliders
from .geometry import MOST, contact_rows, make_scratch
from .kinds import enclose, radius

POINT = np.dtype(
    [
        ("feature", "i8"),  # the same number while the same corners, edges and faces touch
        ("loaded", "i8"),  # 1 if it pushed in the last solution
        ("slides", "i8"),  # 1 if its friction was at the cone
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
        ("last", "f8", 6),  # those before the present sweep
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
        ("free", "f8", 6),  # and at its end if nothing touched
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
    ]
)

# A patch that has turned further than this may be rolling [rad]: it is anchored anew.
_TURNED = 1e-3


class Detection(NamedTuple):
    """Patches and points of this and the last step (which is which: counts.side), and working memory."""

    patches: Any
    points: Any
    counts: Any
    """A table of one record of `COUNTS`."""
    positions: Any
    rotations: Any
    reach: Any
    radius: Any
    broad: Broad
    out: Any
    scratch: Any


def make_detection(colliders: Colliders, pairs: int = 0) -> Detection:
    """Working memory for as many pairs of shapes at once (0: eight for each shape)."""
    n = len(colliders.shapes)
    pairs = pairs or max(16, 8 * n)
    patches, points = named(np.zeros((2, pairs), PATCH)), named(np.zeros((2, MOST * pairs), POINT))
    return Detection(
        patches, points, new_records(1, COUNTS), np.zeros((n, 3)), np.zeros((n, 9)), np.zeros(n),
        np.array([radius(shape, colliders.hulls.vertices) for shape in colliders.shapes]), make_broad(n, pairs),
        contact_rows(), make_scratch(colliders.hulls, colliders.shapes),
    )  # fmt: skip


def enlarge_detection(colliders: Colliders, old: Detection, pairs: int) -> Detection:
    """Working memory with room for more pairs of shapes; what was known of patches is kept."""
    new = make_detection(colliders, pairs)
    new.patches[:, : old.patches.shape[1]] = old.patches
    new.points[:, : old.points.shape[1]] = old.points
    new.counts[:] = old.counts
    return new._replace(broad=enlarge(old.broad, pairs))


@kernel
def detect(tables, colliders, found, h, near):
    """(placed tables) => patches and points, matched with those of the last step; returns 0 or NO_ROOM.

    near: shapes closer than this are looked at even if nothing moves [m].
    """
    _mount(tables, colliders, found, h, near)
    broad, counts = found.broad, found.counts
    pairs = find_pairs(broad, colliders.groups, colliders.masks, colliders.fixed, colliders.excluded)
    if pairs < 0:
        counts[0].wanted_pairs = -pairs
        return NO_ROOM
    old_side = counts[0].side
    side = 1 - old_side
    counts[0].side, counts[0].old_patches = side, counts[0].patches
    patches, points = found.patches[side], found.points[side]
    made, placed, before = 0, 0, 0
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
        patch = patches[made]
        _begin_patch(colliders, patch, i, j, placed, count)
        _put_points(found.out, points, patch)
        # Both lists are sorted by pair: go on in the old one up to this pair.
        while before < counts[0].old_patches:
            old = found.patches[old_side, before]
            if old.i > i or (old.i == i and old.j >= j):
                break
            before += 1
        patch.old = -1
        patch.anchored = 0
        if before < counts[0].old_patches:
            old = found.patches[old_side, before]
            if old.i == i and old.j == j:
                patch.old, patch.touches = before, old.touches
                _match(found.points[old_side], old, points, patch)
                _keep_anchor(old, patch, pose_a, pose_b)
        made += 1
        placed += count
    counts[0].patches, counts[0].points = made, placed
    return 0


@kernel
def _mount(tables, colliders, found, h, near):
    """Poses of all shapes, how far they may get in a step, and their boxes."""
    dofs, islands = tables.dofs, tables.islands
    for i in range(colliders.shapes.shape[0]):
        mount = colliders.mounts[i]
        dof = dofs[mount.link]
        R = get9(dof.R)
        arm = add3(get3(dof.r), rotate(R, get3(mount.X_p)))
        p, Q = add3(get3(islands[dof.island].o), arm), chain(R, get9(mount.X_R))
        set3(found.positions[i], p)
        set9(found.rotations[i], Q)
        reach = near
        if mount.link != 0:
            w = (dof.V[0], dof.V[1], dof.V[2])
            u = add3((dof.V[3], dof.V[4], dof.V[5]), cross3(w, arm))
            reach += h * (norm3(u) + norm3(w) * found.radius[i])
        found.reach[i] = reach
        boxes, planes = found.broad.boxes, found.broad.planes
        enclose(colliders.shapes[i], p, Q, colliders.hulls.vertices, reach, boxes, planes, i)


@inlined
def _begin_patch(colliders, patch, i, j, first, count):
    a, b = colliders.mounts[i], colliders.mounts[j]
    material = colliders.materials[a.material, b.material]
    patch.i, patch.j, patch.a, patch.b = i, j, a.link, b.link
    patch.first, patch.count, patch.touches = first, count, 0
    patch.friction, patch.restitution = material[FRICTION], material[RESTITUTION]
    patch.bounce, patch.rolling, patch.torsion = material[BOUNCE_SPEED], material[ROLLING], material[TORSION]


@inlined
def _put_points(out, points, patch):
    """Contacts of the narrow phase => points with tangents, and the patch's centre."""
    c = (0.0, 0.0, 0.0)
    for k in range(patch.count):
        contact, point = out[k], points[patch.first + k]
        n = get3(contact.normal)
        x = scale3(0.5, add3(get3(contact.a), get3(contact.b)))
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
        point.gap = contact.distance
        point.feature = contact.feature
        point.loaded, point.slides = 0, 0
        for m in range(6):
            point.p[m] = 0.0
        for m in range(3):
            point.push[m] = 0.0
            point.shove[m] = 0.0
        c = add3(c, x)
    c = scale3(1.0 / patch.count, c)
    set3(patch.x, c)
    patch.radius = 0.0
    for k in range(patch.count):
        patch.radius = max(patch.radius, norm3(sub3(get3(points[patch.first + k].x), c)))


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
    point.slides = old.slides
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
