"""Narrow phase: where two shapes touch, or are nearer than a margin.

`collide` answers for one pair, `collide_pairs` for a list of them. A formula where there is one (`kinds`); else the
distance of the cores by `gjk` if they are apart, and the best axis by `sat`, `cylinder` or `smooth` if they meet; then
`clip` makes a manifold of it. `heights` is for terrain, the one shape that is not convex.
"""

import math

from ..kernels.jit import apart, kernel, woven
from ..kernels.math3 import get3, get9, scale3, sub3
from .analytic import plane_point
from .clip import facing, pick
from .cylinder import cylinder_axis
from .geometry import MOST
from .gjk import FAR, MEETING, gjk
from .heights import meet_heights
from .kinds import BOX, HEIGHTS, PLANE, formula, gap, load, support
from .manifold import Cores, Nearest, manifold
from .sat import box_axis, polyhedra_axis
from .scratch import CYLINDRICAL, FIRST, SMOOTH, Contacts, put, row3
from .smooth import nearest_smooth

_ZERO = (0.0, 0.0, 0.0)
_CLOSE = 1e-6  # of the size: below this the direction of a distance is known better by features


@woven
def _plane_core(n, b, p, R, hulls, w, contacts):
    """The lowest point, or the face that looks down most, and the lowest corner if that is none of the face's."""
    core, r, extent = load(w, FIRST, b, p, R, hulls)
    if core.form == SMOOTH:
        x, _ = support(w, core, (-n[0], -n[1], -n[2]))
        return plane_point(contacts, FIRST, n, x, r, FIRST)
    low, lowest = math.inf, 0
    for i in range(core.points):
        h = n[0] * w[i, 0] + n[1] * w[i, 1] + n[2] * w[i, 2]
        if h < low:
            low, lowest = h, i
    if not low <= contacts.margin:
        return 0
    face, best = 0, math.inf
    for i in range(core.planes):
        k = core.plane + i
        c = n[0] * w[k, 0] + n[1] * w[k, 1] + n[2] * w[k, 2]
        if c < best - 1e-9:
            best, face = c, i
    points = core.plane + core.planes
    first = hulls.faces[core.face + face, 0]
    count, least = FIRST, math.inf
    for c in range(first, first + hulls.faces[core.face + face, 1]):
        x = row3(w, hulls.corners[c])
        h = n[0] * x[0] + n[1] * x[1] + n[2] * x[2]
        if h <= contacts.margin:
            least = min(least, h)
            put(w, points + 2 * count, x, h)
            put(w, points + 2 * count + 1, (float(hulls.corners[c]), 0.0, 0.0), 0.0)
            count += 1
    written = FIRST
    if not least <= low + 1e-12 * extent:
        written = plane_point(contacts, FIRST, n, row3(w, lowest), 0.0, lowest)
    if count > 0:
        pick(w, points, count, MOST - written, n)
    for k in range(count):
        if w[points + 2 * k + 1, 3] > 0.0 and written < MOST:
            feature = int(w[points + 2 * k + 1, 0])
            written = plane_point(contacts, written, n, row3(w, points + 2 * k), 0.0, feature)
    return written


@apart
def _cores(a, R, b, p, Q, hulls, w, contacts):
    """Any two convex shapes, not both of them a sphere or a capsule."""
    margin = contacts.margin
    boxes = a.kind == BOX and b.kind == BOX
    distance, n, x, marks = -math.inf, _ZERO, _ZERO, 0
    if boxes:
        g = (0.5 * a.dims[0], 0.5 * a.dims[1], 0.5 * a.dims[2])
        h = (0.5 * b.dims[0], 0.5 * b.dims[1], 0.5 * b.dims[2])
        distance, n = box_axis(p, R, Q, g, h, margin, g[0] + g[1] + g[2] + h[0] + h[1] + h[2])
        if not distance <= margin:
            return 0
    core_a, ra, extent_a = load(w, FIRST, a, _ZERO, R, hulls)
    core_b, rb, extent_b = load(w, core_a.plane + core_a.planes, b, p, Q, hulls)
    base = core_b.plane + core_b.planes
    scale = extent_a + extent_b
    cores = Cores(w, base, core_a, core_b, ra, rb, scale)
    # The axis of boxes says how far apart they are only if a face has the nearest point.
    for turn in range(0 if boxes else 1, 2):
        strict = turn == 0 and distance > 0.0
        if turn == 1:
            answer, distance, n, x, marks = gjk(w, base, core_a, core_b, margin + ra + rb)
            if answer == FAR:
                return 0
            if core_a.form == SMOOTH or core_b.form == SMOOTH:
                distance, n = nearest_smooth(cores, answer, distance, n)
                marks = 0
            elif answer == MEETING or distance <= _CLOSE * scale:
                if core_a.form == CYLINDRICAL or core_b.form == CYLINDRICAL:
                    best, m = cylinder_axis(w, core_a, core_b, hulls, scale)
                else:
                    best, m = polyhedra_axis(w, core_a, core_b, hulls, scale)
                # Both normals bound the distance from below; the point of a stalled search does so from above only.
                if answer == MEETING or best >= gap(w, core_a, core_b, n) - 3e-10 * scale:
                    distance, n, marks = best, m, 0
            else:
                # A search that ends near a face knows its normal to half the digits: the face knows it to all.
                # On nearly parallel caps it may even stall; then the better bound is the distance.
                bound = gap(w, core_a, core_b, n)
                known = distance - 1e-12 * scale
                for k in range(2):
                    sign = 1.0 if k == 0 else -1.0
                    face, m, _ = facing(w, core_a if k == 0 else core_b, scale3(sign, n))
                    m = scale3(sign, m)
                    best = gap(w, core_a, core_b, m) if face >= 0 else -math.inf
                    if best >= known:
                        n = m
                        break
                    if best > bound + 1e-11 * scale and bound < distance - 1e-10 * scale:
                        distance, n, marks, bound = best, m, 0, best
            if not distance - ra - rb <= margin:
                return 0
        count = manifold(cores, Nearest(n, distance, x, marks), hulls, strict, contacts)
        if count > 0:
            return count
    return 0


@woven
def _ordered(a, R, b, p, Q, hulls, scratch, contacts):
    """`collide` for shapes in the order of their kinds; p leads from the first to the second."""
    if b.kind == HEIGHTS:
        if a.kind == PLANE or a.kind == HEIGHTS:
            return 0
        return meet_heights(a, R, b, p, Q, hulls, scratch, contacts)
    count = formula(a, R, b, p, Q, contacts)
    if count >= 0:
        return count
    if a.kind == PLANE:
        return _plane_core((R[2], R[5], R[8]), b, p, Q, hulls, scratch, contacts)
    return _cores(a, R, b, p, Q, hulls, scratch, contacts)


@kernel
def collide(a, pose_a, b, pose_b, hulls, margin, scratch, out):
    """Contacts of shapes A and B: how many of up to MOST are in `out`; none if they are farther apart than `margin`.

    A pose is (position, rotation) as tuples of three and nine numbers, rotations row by row.
    """
    flip = a.kind > b.kind
    first, second = (b, a) if flip else (a, b)
    p, R = pose_b if flip else pose_a
    q, Q = pose_a if flip else pose_b
    count = _ordered(first, R, second, sub3(q, p), Q, hulls, scratch, Contacts(margin, p, out))
    if not flip:
        return count
    for k in range(count):
        contact = out[k]
        for i in range(3):
            x = contact.a[i]
            contact.a[i] = contact.b[i]
            contact.b[i] = x
            contact.normal[i] = -contact.normal[i]
    return count


# Nine arguments: arrays that callers outside of a step have anyway; a record of them would be made for this call only.
@kernel
def collide_pairs(shapes, positions, rotations, pairs, hulls, margin, scratch, counts, out):
    """`collide` for rows (a, b) of `pairs`: contacts of pair k stand in `out[k]`, `counts[k]` of them.

    `positions` is n x 3, `rotations` n x 9, `out` m x MOST. How many contacts there are in all.
    """
    total = 0
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        pose_a = (get3(positions[i]), get9(rotations[i]))
        pose_b = (get3(positions[j]), get9(rotations[j]))
        counts[k] = collide(shapes[i], pose_a, shapes[j], pose_b, hulls, margin, scratch, out[k])
        total += counts[k]
    return total
