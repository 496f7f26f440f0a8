"""Distance of two convex cores that do not meet (Gilbert, Johnson and Keerthi).

The nearest point v of a simplex in A - B is found from signed areas and volumes after the origin has been projected
(as Montanari, Petrinic and Barbieri, "Improving the GJK algorithm", 2017), comparing all candidates where signs are
not clear. On polyhedra the search is finite; on cylinders it ends when v is known to 1e-13 of its length. Every
step must shorten v, so it ends on any input.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, scale3, sub3
from .kinds import support
from .scratch import put, row3

__all__ = ["FAR", "MEETING", "NEAR", "gjk"]

NEAR, FAR, MEETING = 0, 1, 2
"""Answers: the distance is known; it is larger than asked for; the cores meet, or are as good as touching."""
_STEPS = 200
_RELATIVE = 1e-13
_ROUNDING = 4e-16


@inlined
def _on_segment(a, b):
    """Weights of the point of a segment nearest to the origin, and that point."""
    e = sub3(b, a)
    ee = dot3(e, e)
    t = -dot3(a, e)
    if not t > 0.0:
        return 1.0, 0.0, a
    if t >= ee:
        return 0.0, 1.0, b
    t = t / ee
    if t <= 0.5:
        return 1.0 - t, t, add3(a, scale3(t, e))
    s = dot3(b, e) / ee
    return s, 1.0 - s, sub3(b, scale3(s, e))


@kernel
def _on_triangle(a, b, c):
    """Weights of the corners of a triangle at its point nearest to the origin, and that point."""
    n = cross3(sub3(b, a), sub3(c, a))
    nn = dot3(n, n)
    if nn > 0.0:
        v = scale3(dot3(a, n) / nn, n)
        p, q, r = sub3(a, v), sub3(b, v), sub3(c, v)
        la, lb, lc = dot3(cross3(q, r), n), dot3(cross3(r, p), n), dot3(cross3(p, q), n)
        if la > 0.0 and lb > 0.0 and lc > 0.0:
            s = la + lb + lc
            return la / s, lb / s, lc / s, v
    la, lb, v = _on_segment(a, b)
    lc = 0.0
    vv = dot3(v, v)
    s, t, u = _on_segment(b, c)
    uu = dot3(u, u)
    if uu < vv:
        la, lb, lc, v, vv = 0.0, s, t, u, uu
    s, t, u = _on_segment(c, a)
    if dot3(u, u) < vv:
        la, lb, lc, v = t, 0.0, s, u
    return la, lb, lc, v


@kernel
def _on_tetrahedron(a, b, c, d, outside):
    """Weights of the corners of a tetrahedron at its point nearest to the origin, and that point.

    All weights are positive if the origin is inside and not known to be `outside`.
    """
    volume = dot3(sub3(a, d), cross3(sub3(b, d), sub3(c, d)))
    # Signed volumes with the origin in place of one corner: is it on the inner side of every face?
    cd, ab = cross3(c, d), cross3(a, b)
    va, vb = -dot3(b, cd) * volume, dot3(a, cd) * volume
    vc, vd = -dot3(d, ab) * volume, dot3(c, ab) * volume
    if va > 0.0 and vb > 0.0 and vc > 0.0 and vd > 0.0 and not outside:
        return 0.25, 0.25, 0.25, 0.25, (0.0, 0.0, 0.0)
    if outside:
        va = vb = vc = vd = 0.0
    vv = math.inf
    la, lb, lc, ld, v = 0.0, 0.0, 0.0, 0.0, d
    if not va > 0.0:
        s, t, r, u = _on_triangle(b, c, d)
        uu = dot3(u, u)
        if uu < vv:
            la, lb, lc, ld, v, vv = 0.0, s, t, r, u, uu
    if not vb > 0.0:
        s, t, r, u = _on_triangle(a, c, d)
        uu = dot3(u, u)
        if uu < vv:
            la, lb, lc, ld, v, vv = s, 0.0, t, r, u, uu
    if not vc > 0.0:
        s, t, r, u = _on_triangle(a, b, d)
        uu = dot3(u, u)
        if uu < vv:
            la, lb, lc, ld, v, vv = s, t, 0.0, r, u, uu
    if not vd > 0.0:
        s, t, r, u = _on_triangle(a, b, c)
        uu = dot3(u, u)
        if uu < vv:
            la, lb, lc, ld, v = s, t, r, 0.0, u
    return la, lb, lc, ld, v


@kernel
def gjk(w, base, a, b, limit):
    """Distance of two cores: (answer, distance, unit normal from A to B, point on A, marks of the features).

    Eight rows from `base` on are overwritten.
    """
    x, i = support(w, a, sub3(row3(w, b.row), row3(w, a.row)))
    y, j = support(w, b, sub3(row3(w, a.row), row3(w, b.row)))
    v = sub3(x, y)
    put(w, base, v, float(i))
    put(w, base + 4, x, float(j))
    count = 1
    vv = dot3(v, v)
    scale2 = vv
    l0, l1, l2, l3 = 1.0, 0.0, 0.0, 0.0
    p = x
    answer = NEAR
    marks = (1 << (i % 28)) | (1 << (28 + j % 28))
    for _ in range(_STEPS):
        if not vv > (8.0 * _ROUNDING) ** 2 * scale2:
            answer = MEETING
            break
        x, i = support(w, a, (-v[0], -v[1], -v[2]))
        y, j = support(w, b, v)
        s = sub3(x, y)
        scale2 = max(scale2, dot3(s, s))
        reach = dot3(v, s)
        if reach > 0.0 and reach * reach > limit * limit * vv and limit >= 0.0:
            answer = FAR
            break
        if vv - reach <= _RELATIVE * vv + _ROUNDING * math.sqrt(vv * scale2):
            break
        known = False
        for k in range(count):
            known = known or (w[base + k, 0] == s[0] and w[base + k, 1] == s[1] and w[base + k, 2] == s[2])
        if known:
            break
        put(w, base + count, s, float(i))
        put(w, base + 4 + count, x, float(j))
        count += 1
        s0, s1 = row3(w, base), row3(w, base + 1)
        if count == 2:
            l0, l1, u = _on_segment(s0, s1)
            l2, l3 = 0.0, 0.0
        elif count == 3:
            l0, l1, l2, u = _on_triangle(s0, s1, row3(w, base + 2))
            l3 = 0.0
        else:
            s2, s3 = row3(w, base + 2), row3(w, base + 3)
            l0, l1, l2, l3, u = _on_tetrahedron(s0, s1, s2, s3, reach > _ROUNDING * math.sqrt(vv * scale2))
            if l0 > 0.0 and l1 > 0.0 and l2 > 0.0 and l3 > 0.0:
                answer = MEETING
                break
        uu = dot3(u, u)
        if not uu < vv:
            break
        v, vv = u, uu
        # Keep what carries the new point.
        p = (0.0, 0.0, 0.0)
        marks = 0
        kept = 0
        for k in range(count):
            l = l0 if k == 0 else (l1 if k == 1 else (l2 if k == 2 else l3))
            if l > 0.0:
                for c in range(4):
                    w[base + kept, c] = w[base + k, c]
                    w[base + 4 + kept, c] = w[base + 4 + k, c]
                p = add3(p, scale3(l, row3(w, base + 4 + k)))
                marks |= (1 << (int(w[base + kept, 3]) % 28)) | (1 << (28 + int(w[base + 4 + kept, 3]) % 28))
                kept += 1
        count = kept
    distance = math.sqrt(vv)
    if answer == MEETING or not distance > 0.0:
        return MEETING, 0.0, (0.0, 0.0, 1.0), p, marks
    return answer, distance, scale3(-1.0 / distance, v), p, marks
