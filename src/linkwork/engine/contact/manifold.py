"""From a normal to a manifold: up to four points that carry a face, two that carry an edge, else one.

The face of one core that looks along the normal is the reference; the face of the other that looks against it most is
clipped by its sides. Of what remains, the deepest point and those three are kept that enclose the largest area with
it. The distance of a manifold's best point is that of the cores: if the polygons do not have it, the witness points
that are known already come first.
"""

import math
from typing import Any, NamedTuple

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, scale3, sub3
from .clip import clip_polygon, face_polygon, facing, pick
from .geometry import MOST
from .kinds import support
from .scratch import CYLINDRICAL, FIRST, SMOOTH, Core, emit, put, row3, unit

_ALIGNED = 1e-18  # squared sine of the angle between a normal and that of a face: 1e-9 rad,
_NEARLY = 1e-6  # and 1e-3 rad, below which what crosses an edge still lies on the face
_WITNESS = 1 << 62


@kernel
def _edge(w, core, n, tolerance):
    """The corners that are farthest along n: (how many of 1, 2, more; the first; the last; their numbers)."""
    row = core.row
    if core.form == CYLINDRICAL:
        a, half = row3(w, row + 1), w[row + 1, 3]
        c = dot3(n, a)
        q = sub3(n, scale3(c, a))
        q = unit(sub3(q, scale3(dot3(q, a), a)), a)
        x = add3(row3(w, row), scale3(w[row, 3], q))
        e = scale3(half, a)
        count = 2 if half > 0.0 and abs(c) * half <= tolerance else (3 if abs(c) >= 1.0 - 1e-15 else 1)
        return count, sub3(x, e), add3(x, e), 1
    if core.form == SMOOTH:
        x, _ = support(w, core, n)
        return 1, x, x, 0
    far = -math.inf
    for k in range(row, row + core.points):
        far = max(far, dot3(n, row3(w, k)))
    count, first, last = 0, 0, 0
    for k in range(core.points):
        if dot3(n, row3(w, row + k)) >= far - tolerance:
            first = k if count == 0 else first
            last = k
            count += 1
    return count, row3(w, row + first), row3(w, row + last), first * 1024 + last


@inlined
def _is_line(w, core, n):
    """Whether a core shows n a segment, or the side of a cylinder."""
    if core.form == CYLINDRICAL:
        return w[core.row + 1, 3] > 0.0 and abs(dot3(n, row3(w, core.row + 1))) < 0.1
    return core.points == 2


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
        if some == 2 and b.form == SMOOTH:
            # Along B the normal is known to half of all digits: onto the edge, then B is missed by its square only.
            e = sub3(q, p)
            at = dot3(e, sub3(x, p)) / dot3(e, e)
            x = add3(p, scale3(min(max(at, 0.0), 1.0), e))
    return x, marks


class Cores(NamedTuple):
    """Two cores in scratch memory."""

    w: Any
    """Scratch memory."""
    free: int
    """The first row of it that nothing stands in."""
    a: Core
    b: Core
    ra: float
    """Rounding radii [m]."""
    rb: float
    scale: float
    """How large both are together [m]."""


class Nearest(NamedTuple):
    """Where two cores are nearest, or deepest in each other."""

    n: tuple[float, float, float]
    """Unit normal from A to B."""
    distance: float
    """Of the cores along it [m]."""
    x: tuple[float, float, float]
    """The point on A's core."""
    marks: int
    """Of the features that have it; 0 if the point is not known."""


@kernel
def _touch_by_edges(cores, nearest, contacts):
    """Contacts of two edges side by side; how many, 0 if there are no such edges."""
    w, a, b, ra, rb, n = cores.w, cores.a, cores.b, cores.ra, cores.rb, nearest.n
    some, p, q, mark_a = _edge(w, a, n, 1e-8 * cores.scale)
    more, s, t, mark_b = _edge(w, b, (-n[0], -n[1], -n[2]), 1e-8 * cores.scale)
    if some != 2 or more != 2:
        return 0
    e, f = sub3(q, p), sub3(t, s)
    ee, ef = dot3(e, e), dot3(e, f)
    ex = cross3(e, f)
    if not (ee > 0.0 and dot3(ex, ex) <= 1e-12 * ee * dot3(f, f) and abs(ef) > 0.0):
        return 0
    u, v = dot3(e, sub3(s, p)), dot3(e, sub3(t, p))  # the ends of B's edge along A's
    low, high = max(0.0, min(u, v)), min(ee, max(u, v))
    if not (high - low) > 1e-6 * ee:
        return 0
    feature = _WITNESS | (1 << 60) | (mark_a << 24) | mark_b
    count = FIRST
    for k in range(2):
        at = low if k == 0 else high
        on_a = add3(p, scale3(at / ee, e))
        on_b = add3(s, scale3((at - u) / ef, f))
        d = dot3(n, sub3(on_b, on_a))
        if d <= contacts.margin + ra + rb:
            d = max(d, nearest.distance)
            on_a = add3(on_a, scale3(ra, n))
            emit(contacts, count, on_a, n, d - ra - rb, feature | (k << 59))
            count += 1
    return count


@kernel
def _touch_by_point(cores, nearest, contacts):
    """The first contact: the nearest points themselves; where it is on A's core."""
    w, ra, n, distance = cores.w, cores.ra, nearest.n, nearest.distance
    x, marks = nearest.x, nearest.marks
    if marks == 0:
        x, marks = _witness(w, cores.a, cores.b, n, distance, cores.scale)
    emit(contacts, FIRST, add3(x, scale3(ra, n)), n, distance - ra - cores.rb, _WITNESS | marks)
    return x


@kernel
def _clip_face(cores, ref, inc, face, other, m, hulls, margin):
    """Clip the incident face by the sides of the reference face, of which m is the outward normal.

    Returns (the row from which points stand, two rows each; how many; the least depth; squared length of a line).
    """
    w, base = cores.w, cores.free
    sides = face_polygon(w, ref, face, m, hulls, base)
    old = base + sides
    points = face_polygon(w, inc, other, (-m[0], -m[1], -m[2]), hulls, old)
    room = sides + points
    if points == 2:
        w[old, 3], w[old + 1, 3] = 0.0, 1.0
    offset = dot3(m, row3(w, base))
    if ref.form != CYLINDRICAL:
        offset = w[ref.plane + face, 3]
    e = sub3(row3(w, old + points - 1), row3(w, old))
    length = dot3(e, e)
    at, points = clip_polygon(w, base, sides, m, old, points, old + room)
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
    return final, count, least, length


@kernel
def manifold(cores, nearest, hulls, strict, contacts):
    """(normal, core distance and point on A's core) => contacts; how many.

    If `strict`, nothing but a face that has the nearest point will do.
    """
    w, a, b, ra, rb = cores.w, cores.a, cores.b, cores.ra, cores.rb
    n, distance, x = nearest.n, nearest.distance, nearest.x
    face_a, m, sine_a = facing(w, a, n)
    face_b, m_b, sine_b = facing(w, b, (-n[0], -n[1], -n[2]))
    flat_a, flat_b = sine_a <= _ALIGNED, sine_b <= _ALIGNED
    # Faces that are nearly parallel touch by what they have in common, even if an edge or a corner is nearest: that one
    # alone would carry the whole load until the other corners, a breath away, arrive in the next step.
    faces = sine_a <= _NEARLY and sine_b <= _NEARLY and not strict and not flat_a
    # A line that crosses an edge of a face and nearly lies on it: the crossing, and where the line ends on the face.
    nearly = not flat_a and not flat_b and not strict and not faces
    if nearly:
        flat_a = sine_a <= _NEARLY and _is_line(w, b, n)
        flat_b = sine_b <= _NEARLY and _is_line(w, a, n) and not flat_a
        nearly = flat_a or flat_b
    flat_a |= faces
    if not (flat_a or flat_b):
        if strict:
            return 0
        count = _touch_by_edges(cores, nearest, contacts)
        if count == 0:
            _touch_by_point(cores, nearest, contacts)
            count = 1
        return count
    flip = not flat_a
    ref, inc = (b, a) if flip else (a, b)
    face, other = (face_b, face_a) if flip else (face_a, face_b)
    sign = -1.0 if flip else 1.0
    m = m_b if flip else m
    margin = contacts.margin + ra + rb
    final, count, least, length = _clip_face(cores, ref, inc, face, other, m, hulls, margin)
    first = FIRST
    n_ref = n if nearly or faces else scale3(sign, m)
    shift = 0.0
    if faces and count > 1:
        shift = distance - least  # seen along n, not along the face
    elif nearly or not abs(least - distance) <= 3e-10 * cores.scale:
        # The polygons do not have the nearest point.
        if strict:
            return 0
        x = _touch_by_point(cores, nearest, contacts)
        first = FIRST + 1
        if not nearly and (not least >= distance or ref.form != CYLINDRICAL):
            return 1
    key = ((((1 if flip else 0) << 14) | face) << 14) | max(other, 0)
    if count > 0:
        pick(w, final, count, MOST - first, m)
    written = first
    for turn in range(2):  # the deepest one comes first
        for k in range(count):
            mark = w[final + 2 * k + 1, 3]
            if mark == (2.0 if turn == 0 else 1.0) and written < MOST:
                p, depth = row3(w, final + 2 * k), w[final + 2 * k, 3] + shift
                if nearly:
                    e = sub3(p, x)
                    if dot3(e, e) <= 0.0025 * length:
                        continue
                    depth = max(depth, distance)
                if not flip:
                    p = sub3(p, scale3(depth, n_ref))
                p = add3(p, scale3(ra, n_ref))
                feature = (key << 22) | int(w[final + 2 * k + 1, 0])
                emit(contacts, written, p, n_ref, depth - ra - rb, feature)
                written += 1
    return written
