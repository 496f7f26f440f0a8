"""Anchors: where patches began to stick, and the pseudo velocities that take them back there.

Whatever bodies have shifted against each other while friction holds them is error of integration. What truly slips, but
so slowly that it can be followed, moves the anchor on.
"""

from ..contact.detect import relative_pose
from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, get3, get9, rotate, scale3, set9, sub3
from ..kernels.spatial import dot6, get6
from ..solvers.reach import relative_twist
from ..solvers.shove import holds
from .sleep import asleep

# Sticking points are shifted back when they have strayed by this share of the slop.
_STRAYED = 0.1
# Points that push are brought together when their gap is more than this share of the slop, by this share of it a step.
_GAPING, _CLOSING = 0.1, 0.2


@kernel
def aim_places(reach, found, patches, points, count, h, options):
    """Pseudo velocities that points want; returns the deepest penetration [m]."""
    slop, erp, deepest = options.slop, options.erp, 0.0
    for k in range(count):
        patch = patches[k]
        if asleep(reach, patch.island, options.sleep):
            continue
        w = relative_twist(reach, patch, reach.u)
        slides = False
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            slides |= point.loaded != 0 and point.slides != 0
            deepest = max(deepest, -point.gap)
            # What will be left of the gap after this step, beyond the slop: more may not be used up.
            left = point.gap + slop + h * dot6(get6(point.Jn), w)
            point.push[0] = -left / h if left > 0.0 else -erp * left / h
            if point.push[0] < 0.0 and holds(point):
                gap = left - slop  # what is pressed together has none: it is error of integration
                point.push[0] = -_CLOSING * min(gap, slop) / h if gap > _GAPING * slop else 0.0
            point.push[1], point.push[2] = 0.0, 0.0
        if patch.touches == 0 or patch.friction == 0.0:
            patch.anchored = 0
        elif patch.anchored != 0:
            _aim_back(found, patch, points, h, _STRAYED * slop)
            if slides and not _follow(found, patch, points, w, h, slop):
                patch.anchored = 0
    return deepest


@inlined
def _aim_back(found, patch, points, h, least):
    """Sticking points go back to where they began to stick, if they have strayed by more than `least`."""
    R, p = get9(found.rotations[patch.i]), get3(found.positions[patch.i])
    Q, q = get9(found.rotations[patch.j]), get3(found.positions[patch.j])
    anchor = patch.anchor
    strayed = 0.0
    for turn in range(2):
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            x = get3(point.x)
            on_a = _inverse(R, sub3(x, p))
            on_b = _inverse(Q, sub3(x, q))
            was = add3(rotate(get9(anchor), on_b), (anchor[9], anchor[10], anchor[11]))
            shift = rotate(R, sub3(on_a, was))
            along, across = dot3(shift, get3(point.t)), dot3(shift, get3(point.s))
            if turn == 0:
                strayed = max(strayed, max(abs(along), abs(across)))
            else:
                point.push[1], point.push[2] = -along / h, -across / h
        if strayed <= least:
            return


@kernel
def _follow(found, patch, points, w, h, slop):
    """The anchor moves on with what truly slips in this step, by its velocities; False if that is too fast."""
    c, count, along, across, fastest = (0.0, 0.0, 0.0), 0, 0.0, 0.0, 0.0
    first = points[patch.first]
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        if point.loaded != 0:
            a, b = dot6(get6(point.Jt), w), dot6(get6(point.Js), w)
            c, count = add3(c, get3(point.x)), count + 1
            along, across, fastest = along + a, across + b, max(fastest, abs(a) + abs(b))
    if h * fastest >= slop:
        return False
    R, p = get9(found.rotations[patch.i]), get3(found.positions[patch.i])
    n, t, s = get3(first.n), get3(first.t), get3(first.s)
    turn = scale3(h * dot3(n, (w[0], w[1], w[2])), _inverse(R, n))
    slip = _inverse(R, add3(scale3(h * along / count, t), scale3(h * across / count, s)))
    middle = _inverse(R, sub3(scale3(1.0 / count, c), p))
    anchor = patch.anchor
    moved = add3(slip, cross3(turn, sub3((anchor[9], anchor[10], anchor[11]), middle)))
    for k in range(3):
        column = cross3(turn, (anchor[k], anchor[3 + k], anchor[6 + k]))
        for m in range(3):
            anchor[3 * m + k] += column[m]
        anchor[9 + k] += moved[k]
    return True


@kernel
def anchor_patches(found, reach, patches, points, count, h, options):
    """Patches that begin to stick, or slip so slowly that it can be followed, remember where they are."""
    for k in range(count):
        patch = patches[k]
        if asleep(reach, patch.island, options.sleep):
            continue
        if patch.anchored == 0 and patch.touches != 0 and patch.friction > 0.0:
            w, fastest, slides = relative_twist(reach, patch, reach.u), 0.0, False
            for i in range(patch.first, patch.first + patch.count):
                if points[i].loaded != 0:
                    slides |= points[i].slides != 0
                    fastest = max(
                        fastest, abs(dot6(get6(points[i].Jt), w)) + abs(dot6(get6(points[i].Js), w))
                    )
            if h * fastest < options.slop:
                pose_a = (get3(found.positions[patch.i]), get9(found.rotations[patch.i]))
                pose_b = (get3(found.positions[patch.j]), get9(found.rotations[patch.j]))
                R, p = relative_pose(pose_a, pose_b)
                set9(patch.anchor, R)
                patch.anchor[9], patch.anchor[10], patch.anchor[11] = p
                patch.anchored = 1
                if slides:  # where it will be when this step has moved it
                    _follow(found, patch, points, w, h, options.slop)


@inlined
def _inverse(R, x):
    """Rᵀ x."""
    return (
        R[0] * x[0] + R[3] * x[1] + R[6] * x[2],
        R[1] * x[0] + R[4] * x[1] + R[7] * x[2],
        R[2] * x[0] + R[5] * x[1] + R[8] * x[2],
    )
