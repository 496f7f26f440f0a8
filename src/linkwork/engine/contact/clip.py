"""From a normal to a manifold: up to four points that carry a face, two that carry an edge, else one.

The face of one core that looks along the normal is the reference; the face of the other that looks against it most is
clipped by its sides. Of what remains, the deepest point and those three are kept that enclose the largest area with
it: exactly the largest, since points stand in a ring. A cap of a cylinder is an octagon that has a corner where the cap
is deepest. The distance of a manifold's best point is that of the cores: if the polygons do not have it, the
witness points that are known already come first.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, scale3, sub3
from .geometry import MOST
from .support import FIRST, put, row3, support, unit

__all__ = ["emit", "facing", "manifold", "pick"]

_ALIGNED = 1e-18  # squared sine of the angle between a normal and that of a face: 1e-9 rad,
_NEARLY = 1e-6  # and 1e-3 rad, below which a line that crosses an edge still lies on the face
_CAP = 8  # corners of a cap
_OUTER = 1024  # labels of sides of the reference begin here
_WITNESS = 1 << 62
_HALF = math.sqrt(0.5)


@inlined
def emit(out, k, origin, a, n, distance, feature):
    """Contact k: a is the point on A, seen from `origin`."""
    contact = out[k]
    a = add3(origin, a)
    contact.a[0], contact.a[1], contact.a[2] = a
    contact.b[0], contact.b[1], contact.b[2] = add3(a, scale3(distance, n))
    contact.normal[0], contact.normal[1], contact.normal[2] = n
    contact.distance = distance
    contact.feature = feature


@kernel
def facing(w, core, n):
    """The face that looks along n most: its number, its normal, and the squared sine of the angle between them.

    Caps are 0 and 1; -1 if there is no face.
    """
    if core[0] != 0:
        a = row3(w, core[1] + 1)
        up = dot3(n, a) > 0.0
        s = cross3(n, a)
        return (1 if up else 0), scale3(1.0 if up else -1.0, a), dot3(s, s)
    face, best = -1, -math.inf
    for i in range(core[4]):
        c = dot3(n, row3(w, core[3] + i))
        if c > best:
            face, best = i, c
    if face < 0:
        return -1, n, 1.0
    m = row3(w, core[3] + face)
    s = cross3(n, m)
    return face, m, dot3(s, s) if best > 0.0 else 1.0


@kernel
def _polygon(w, core, face, n, hulls, to):
    """Write a face as a ring of rows (corner, number) from `to` on, counter-clockwise seen from outside; how many.

    A segment has two corners, a cylinder that shows its side too, a point one.
    """
    row = core[1]
    if core[0] != 0:
        centre, r = row3(w, row), w[row, 3]
        a, half = row3(w, row + 1), w[row + 1, 3]
        c = dot3(n, a)
        q = sub3(n, scale3(c, a))
        q = sub3(q, scale3(dot3(q, a), a))
        if abs(c) < _HALF:
            q = scale3(r / math.sqrt(dot3(q, q)), q)
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
    if face < 0:
        for k in range(core[2]):
            put(w, to + k, row3(w, row + k), float(k))
        return core[2]
    first, count = hulls.faces[core[5] + face, 0], hulls.faces[core[5] + face, 1]
    for k in range(count):
        put(w, to + k, row3(w, row + hulls.corners[first + k]), float(k))
    return count


@kernel
def _clip(w, ring, count, normal, old, points, new):
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


@kernel
def _edge(w, core, n, tolerance):
    """The corners that are farthest along n: (how many of 1, 2, more; the first; the last; their numbers)."""
    row = core[1]
    if core[0] != 0:
        a, half = row3(w, row + 1), w[row + 1, 3]
        c = dot3(n, a)
        q = sub3(n, scale3(c, a))
        q = unit(sub3(q, scale3(dot3(q, a), a)), a)
        x = add3(row3(w, row), scale3(w[row, 3], q))
        e = scale3(half, a)
        count = 2 if abs(c) * half <= tolerance else (3 if abs(c) >= 1.0 - 1e-15 else 1)
        return count, sub3(x, e), add3(x, e), 1
    far = -math.inf
    for k in range(row, row + core[2]):
        far = max(far, dot3(n, row3(w, k)))
    count, first, last = 0, 0, 0
    for k in range(core[2]):
        if dot3(n, row3(w, row + k)) >= far - tolerance:
            first = k if count == 0 else first
            last = k
            count += 1
    return count, row3(w, row + first), row3(w, row + last), first * 1024 + last


@inlined
def _is_line(w, core, n):
    """Whether a core shows n a segment, or the side of a cylinder."""
    if core[0] != 0:
        return abs(dot3(n, row3(w, core[1] + 1))) < 0.1
    return core[2] == 2


@kernel
def _witness(w, a, b, n, distance, scale):
    """Points that touch along n, where nothing but n is known: on A's core, and marks of the features."""
    back = (-n[0], -n[1], -n[2])
    some, p, q, mark_a = _edge(w, a, n, 1e-8 * scale)
    more, s, t, mark_b = _edge(w, b, back, 1e-8 * scale)
    marks = ((mark_a % 4194304) << 24) | (mark_b % 4194304) | (1 << 58)
    if some == 2 and more == 2:
        # Where the two edges cross, seen along n.
        e, f = sub3(q, p), sub3(t, s)
        d = sub3(s, p)
        ee, ff, ef = dot3(e, e), dot3(f, f), dot3(e, f)
        det = ee * ff - ef * ef
        if det > 1e-12 * ee * ff:
            at = (dot3(d, e) * ff - dot3(d, f) * ef) / det
            return add3(p, scale3(min(max(at, 0.0), 1.0), e)), marks
    x, _ = support(w, a, n)
    if more == 1 and some > 1:
        y, _ = support(w, b, back)
        x = sub3(y, scale3(distance, n))
    return x, marks


@kernel
def manifold(w, base, a, b, ra, rb, n, distance, x, marks, margin, hulls, scale, strict, origin, out):
    """(normal n, core distance and point x on A's core) => contacts; how many.

    Without marks the point is not known either. If `strict`, nothing but a face that has the nearest point will do.
    """
    margin = margin + ra + rb
    face_a, m, sine_a = facing(w, a, n)
    face_b, m_b, sine_b = facing(w, b, (-n[0], -n[1], -n[2]))
    flat_a, flat_b = sine_a <= _ALIGNED, sine_b <= _ALIGNED
    # A line that crosses an edge of a face and nearly lies on it: the crossing, and where the line ends on the face.
    nearly = not flat_a and not flat_b and not strict
    if nearly:
        flat_a = sine_a <= _NEARLY and _is_line(w, b, n)
        flat_b = sine_b <= _NEARLY and _is_line(w, a, n) and not flat_a
        nearly = flat_a or flat_b
    tolerance = 3e-10 * scale
    if not (flat_a or flat_b):
        if strict:
            return 0
        # No face: two edges side by side, or a point.
        some, p, q, mark_a = _edge(w, a, n, 1e-8 * scale)
        more, s, t, mark_b = _edge(w, b, (-n[0], -n[1], -n[2]), 1e-8 * scale)
        if some == 2 and more == 2:
            e, f = sub3(q, p), sub3(t, s)
            ee, ef = dot3(e, e), dot3(e, f)
            ex = cross3(e, f)
            if ee > 0.0 and dot3(ex, ex) <= 1e-12 * ee * dot3(f, f) and abs(ef) > 0.0:
                u, v = dot3(e, sub3(s, p)), dot3(e, sub3(t, p))  # the ends of B's edge along A's
                low, high = max(0.0, min(u, v)), min(ee, max(u, v))
                if (high - low) > 1e-6 * ee:
                    feature = _WITNESS | (1 << 60) | (mark_a << 24) | mark_b
                    count = FIRST
                    for k in range(2):
                        at = low if k == 0 else high
                        on_a = add3(p, scale3(at / ee, e))
                        on_b = add3(s, scale3((at - u) / ef, f))
                        d = dot3(n, sub3(on_b, on_a))
                        if d <= margin:
                            d = max(d, distance)
                            on_a = add3(on_a, scale3(ra, n))
                            emit(out, count, origin, on_a, n, d - ra - rb, feature | (k << 59))
                            count += 1
                    if count > 0:
                        return count
        if marks == 0:
            x, marks = _witness(w, a, b, n, distance, scale)
        emit(out, FIRST, origin, add3(x, scale3(ra, n)), n, distance - ra - rb, _WITNESS | marks)
        return 1
    flip = not flat_a
    ref, inc = (b, a) if flip else (a, b)
    face, other = (face_b, face_a) if flip else (face_a, face_b)
    sign = -1.0 if flip else 1.0
    m = m_b if flip else m
    back = (-m[0], -m[1], -m[2])
    sides = _polygon(w, ref, face, m, hulls, base)
    old = base + sides
    points = _polygon(w, inc, other, back, hulls, old)
    room = sides + points
    if points == 2:
        w[old, 3], w[old + 1, 3] = 0.0, 1.0
    offset = dot3(m, row3(w, base))
    if ref[0] == 0:
        offset = w[ref[3] + face, 3]
    e = sub3(row3(w, old + points - 1), row3(w, old))
    length = dot3(e, e)
    at, points = _clip(w, base, sides, m, old, points, old + room)
    final = old + 2 * room
    count = FIRST
    least = math.inf
    before = int(w[at + points - 1, 3]) if points > 2 else 0
    for k in range(points):
        p = row3(w, at + k)
        depth = dot3(m, p) - offset
        after = int(w[at + k, 3])
        if depth <= margin:
            least = min(least, depth)
            put(w, final + 2 * count, p, depth)
            put(w, final + 2 * count + 1, (float((before << 11) | after), 0.0, 0.0), 0.0)
            count += 1
        if points > 2:
            before = after
    first = FIRST
    n_ref = n if nearly else scale3(sign, m)
    if nearly or not abs(least - distance) <= tolerance:
        # The polygons do not have the nearest point.
        if strict:
            return 0
        if marks == 0:
            x, marks = _witness(w, a, b, n, distance, scale)
        emit(out, FIRST, origin, add3(x, scale3(ra, n)), n, distance - ra - rb, _WITNESS | marks)
        first = FIRST + 1
        if not nearly and (not least >= distance or ref[0] == 0):
            return 1
    key = ((((1 if flip else 0) << 14) | face) << 14) | max(other, 0)
    if count > 0:
        pick(w, final, count, MOST - first, m)
    written = first
    for turn in range(2):  # the deepest one comes first
        for k in range(count):
            mark = w[final + 2 * k + 1, 3]
            if mark == (2.0 if turn == 0 else 1.0) and written < MOST:
                p, depth = row3(w, final + 2 * k), w[final + 2 * k, 3]
                if nearly:
                    e = sub3(p, x)
                    if dot3(e, e) <= 0.0025 * length:
                        continue
                    depth = max(depth, distance)
                if not flip:
                    p = sub3(p, scale3(depth, n_ref))
                p = add3(p, scale3(ra, n_ref))
                emit(
                    out,
                    written,
                    origin,
                    p,
                    n_ref,
                    depth - ra - rb,
                    (key << 22) | int(w[final + 2 * k + 1, 0]),
                )
                written += 1
    return written
