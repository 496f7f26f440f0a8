"""Faces as polygons: which one looks along a normal, clipping by the sides of another, the points that enclose most.

Points stand in a ring, so that the area which they enclose is exactly the largest. A cap of a cylinder is an octagon
that has a corner where the cap is deepest.
"""

import math

from ..kernels.jit import kernel
from ..kernels.math3 import add3, cross3, dot3, scale3, sub3
from .kinds import support
from .scratch import CYLINDRICAL, SMOOTH, put, row3, unit

_CAP = 8  # corners of a cap
_OUTER = 1024  # labels of sides of the reference begin here
_HALF = math.sqrt(0.5)


@kernel
def facing(w, core, n):
    """The face that looks along n most: its number, its normal, and the squared sine of the angle between them.

    Caps are 0 and 1; -1 if there is no face.
    """
    if core.form == CYLINDRICAL:
        a = row3(w, core.row + 1)
        up = dot3(n, a) > 0.0
        s = cross3(n, a)
        return (1 if up else 0), scale3(1.0 if up else -1.0, a), dot3(s, s)
    face, best = -1, -math.inf
    for i in range(core.planes):
        c = dot3(n, row3(w, core.plane + i))
        if c > best:
            face, best = i, c
    if face < 0:
        return -1, n, 1.0
    m = row3(w, core.plane + face)
    s = cross3(n, m)
    return face, m, dot3(s, s) if best > 0.0 else 1.0


@kernel
def face_polygon(w, core, face, n, hulls, to):
    """Write a face as a ring of rows (corner, number) from `to` on, counter-clockwise seen from outside; how many.

    A segment has two corners, a cylinder that shows its side too, a point, what is smooth and the rim of a disc one.
    """
    row = core.row
    if core.form == CYLINDRICAL:
        centre, r = row3(w, row), w[row, 3]
        a, half = row3(w, row + 1), w[row + 1, 3]
        c = dot3(n, a)
        q = sub3(n, scale3(c, a))
        q = sub3(q, scale3(dot3(q, a), a))
        if abs(c) < _HALF:
            q = scale3(r / math.sqrt(dot3(q, q)), q)
            if half == 0.0:
                put(w, to, add3(centre, q), 0.0)
                return 1
            put(w, to, add3(centre, sub3(q, scale3(half, a))), 0.0)
            put(w, to + 1, add3(centre, add3(q, scale3(half, a))), 1.0)
            return 2
        x = row3(w, row + 2)
        if dot3(q, q) > 1e-18:
            x = unit(q, x)
        y = cross3(a, x)
        if face == 0:
            half = -half
            y = (-y[0], -y[1], -y[2])
        centre = add3(centre, scale3(half, a))
        x, y = scale3(r, x), scale3(r, y)
        h = _HALF
        for k in range(_CAP):
            s = 1.0 if k < 4 else -1.0
            j = k % 4
            c, d = (1.0, 0.0) if j == 0 else ((h, h) if j == 1 else ((0.0, 1.0) if j == 2 else (-h, h)))
            put(w, to + k, add3(centre, add3(scale3(s * c, x), scale3(s * d, y))), float(k))
        return _CAP
    if core.form == SMOOTH:
        x, _ = support(w, core, n)
        put(w, to, x, 0.0)
        return 1
    if face < 0:
        for k in range(core.points):
            put(w, to + k, row3(w, row + k), float(k))
        return core.points
    first, count = hulls.faces[core.face + face, 0], hulls.faces[core.face + face, 1]
    for k in range(count):
        put(w, to + k, row3(w, row + hulls.corners[first + k]), float(k))
    return count


@kernel
def clip_polygon(w, ring, count, normal, old, points, new):
    """Clip the polygon of `points` corners at row `old` by the `count` sides of a ring: (where it is, corners).

    The fourth number of a corner is the label of the edge that begins there. Of a segment both corners have labels
    of their own.
    """
    for k in range(count):
        x = row3(w, ring + k)
        e = sub3(row3(w, ring + (k + 1 if k + 1 < count else 0)), x)
        m = cross3(e, normal)  # outward
        label = float(_OUTER + k)
        left = 0
        if points <= 2:
            s = dot3(m, sub3(row3(w, old), x))
            t = dot3(m, sub3(row3(w, old + points - 1), x))
            if (s > 0.0 and t > 0.0) or (points == 1 and s > 0.0):
                return old, 0
            if s > 0.0 or t > 0.0:
                p, q = row3(w, old), row3(w, old + 1)
                z = add3(p, scale3(s / (s - t), sub3(q, p)))
                put(w, old + (0 if s > 0.0 else 1), z, label)
            continue
        p = row3(w, old + points - 1)
        p_label = w[old + points - 1, 3]
        s = dot3(m, sub3(p, x))
        for i in range(points):
            q = row3(w, old + i)
            t = dot3(m, sub3(q, x))
            if s <= 0.0 and t > 0.0:
                put(w, new + left, add3(p, scale3(s / (s - t), sub3(q, p))), label)
                left += 1
            elif s > 0.0 and t <= 0.0:
                put(w, new + left, add3(p, scale3(s / (s - t), sub3(q, p))), p_label)
                left += 1
            if t <= 0.0:
                put(w, new + left, q, w[old + i, 3])
                left += 1
            p, p_label, s = q, w[old + i, 3], t
        old, new = new, old
        points = left
        if points < 3:
            return old, points if points < 2 else 2
    return old, points


@kernel
def pick(w, points, count, most, normal):
    """Of a ring of `count` points (two rows each: point and depth; label), the deepest and those that enclose the most.

    They are marked by a 1 in the last number of their second row; the deepest by a 2.
    """
    deepest = 0
    for k in range(count):
        w[points + 2 * k + 1, 3] = 1.0 if count <= most else 0.0
        if w[points + 2 * k, 3] < w[points + 2 * deepest, 3]:
            deepest = k
    w[points + 2 * deepest + 1, 3] = 2.0
    if count <= most:
        return
    x = row3(w, points + 2 * deepest)
    best, first, second, third = -1.0, 0, 0, 0
    for j in range(1, count):
        e = sub3(row3(w, points + 2 * ((deepest + j) % count)), x)
        e = cross3(normal, e)
        one, i_best, two, k_best = 0.0, 0, 0.0, 0
        for i in range(1, count):
            f = abs(dot3(e, sub3(row3(w, points + 2 * ((deepest + i) % count)), x)))
            if i < j and f > one * (1.0 + 1e-9):
                one, i_best = f, i
            if i > j and f > two * (1.0 + 1e-9):
                two, k_best = f, i
        if most < 4:  # a triangle: one side only
            two, k_best = 0.0, 0
        if one + two > best * (1.0 + 1e-9):
            best, first, second, third = one + two, i_best, j, k_best
    w[points + 2 * ((deepest + second) % count) + 1, 3] = 1.0
    if first > 0:
        w[points + 2 * ((deepest + first) % count) + 1, 3] = 1.0
    if third > 0:
        w[points + 2 * ((deepest + third) % count) + 1, 3] = 1.0
