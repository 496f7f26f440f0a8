"""Pairs with a formula: everything with planes and spheres, and two capsules.

All functions write contacts from the first shape to the second and return how many. Positions are seen from that of
the first shape, `contacts.origin`.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, norm3, scale3, sub3
from .scratch import FIRST, across, emit, radial, unit

_UP = (0.0, 0.0, 1.0)
_HALF = math.sqrt(0.5)


@inlined
def _column(R, k):
    return R[k], R[3 + k], R[6 + k]


@inlined
def _cleared(d, a):
    """d without its part along a; once more, without what rounding left of it."""
    return sub3(d, scale3(dot3(d, a), a))


@inlined
def plane_point(contacts, k, n, x, r, feature):
    """Contact k of the plane through the origin with a ball at x, if near; the number of the next contact."""
    height = dot3(n, x)
    if not height - r <= contacts.margin:
        return k
    emit(contacts, k, sub3(x, scale3(height, n)), n, height - r, feature)
    return k + 1


@kernel
def plane_capsule(n, p, axis, r, half, contacts):
    e = scale3(half, axis)
    k = plane_point(contacts, FIRST, n, sub3(p, e), r, FIRST)
    return plane_point(contacts, k, n, add3(p, e), r, FIRST + 1)


@kernel
def plane_box(n, p, R, size, contacts):
    """The corners of the face that looks down most; the deepest corner is one of them."""
    c = (dot3(n, _column(R, 0)), dot3(n, _column(R, 1)), dot3(n, _column(R, 2)))
    height = dot3(n, p)
    g = (0.5 * size[0], 0.5 * size[1], 0.5 * size[2])
    if not height - (g[0] * abs(c[0]) + g[1] * abs(c[1]) + g[2] * abs(c[2])) <= contacts.margin:
        return 0
    i = 0
    if abs(c[1]) > abs(c[0]) + 1e-9:
        i = 1
    if abs(c[2]) > abs(c[i]) + 1e-9:
        i = 2
    j, k = (i + 1) % 3, (i + 2) % 3
    s = -1.0 if c[i] > 0.0 else 1.0
    x = add3(p, scale3(s * g[i], _column(R, i)))
    u, v = scale3(g[j], _column(R, j)), scale3(g[k], _column(R, k))
    low = FIRST + ((1 << i) if s > 0.0 else 0)
    count = plane_point(contacts, FIRST, n, sub3(sub3(x, u), v), 0.0, low)
    count = plane_point(contacts, count, n, sub3(add3(x, u), v), 0.0, low | (1 << j))
    count = plane_point(contacts, count, n, add3(add3(x, u), v), 0.0, low | (1 << j) | (1 << k))
    return plane_point(contacts, count, n, add3(sub3(x, u), v), 0.0, low | (1 << k))


@kernel
def plane_cylinder(n, p, R, r, half, tube, contacts):
    """Four points of the lower rim if it stands, the lowest line of its side if it lies; of a torus, which has no
    length but a tube around its circle, the lowest point."""
    a = _column(R, 2)
    c = dot3(n, a)
    down = _cleared(_cleared((-n[0], -n[1], -n[2]), a), a)
    x = _column(R, 0)
    if dot3(down, down) > 1e-18:
        x = unit(down, x)
    s = -1.0 if c > 0.0 else 1.0
    low, high = add3(p, scale3(s * half, a)), sub3(p, scale3(s * half, a))
    y = scale3(r, cross3(a, x))
    x = scale3(r, x)
    cap = FIRST + (8 if s > 0.0 else 0)
    k = plane_point(contacts, FIRST, n, add3(low, x), tube, cap)
    if abs(c) < _HALF:
        return plane_point(contacts, k, n, add3(high, x), tube, 8 - cap) if half > 0.0 else k
    k = plane_point(contacts, k, n, add3(low, y), tube, cap + 1)
    k = plane_point(contacts, k, n, sub3(low, x), tube, cap + 2)
    return plane_point(contacts, k, n, sub3(low, y), tube, cap + 3)


@inlined
def _direction(d, otherwise, tiny):
    """Direction of d and how far it goes along it; `otherwise` is the direction if d is tiny."""
    n = unit(d, otherwise)
    distance = dot3(n, d)
    if not distance > tiny:
        n = otherwise
        distance = dot3(n, d)
    return n, distance


@kernel
def two_balls(contacts, k, x, r, s, n, distance, feature):
    """Contact k of balls of radii r and s with centres at x and x + distance n; the number of the next contact."""
    distance -= r + s
    if not distance <= contacts.margin:
        return k
    emit(contacts, k, add3(x, scale3(r, n)), n, distance, feature)
    return k + 1


@kernel
def sphere_sphere(p, r, s, contacts):
    """A sphere at the origin, one at p."""
    n, distance = _direction(p, _UP, 0.0)
    return two_balls(contacts, FIRST, (0.0, 0.0, 0.0), r, s, n, distance, FIRST)


@kernel
def sphere_capsule(p, r, axis, s, half, contacts):
    """A sphere at the origin, a capsule at p."""
    t = -dot3(p, axis)
    feature = FIRST
    if t > half:
        t, feature = half, 1
    elif t < -half:
        t, feature = -half, 2
    d = add3(p, scale3(t, axis))
    if feature == 0:
        d = _cleared(d, axis)
    tiny = 1e-15 * (norm3(p) + half)
    n, distance = _direction(d, across(axis), tiny)
    return two_balls(contacts, FIRST, (0.0, 0.0, 0.0), r, s, n, distance, feature)


@kernel
def sphere_box(p, r, R, size, contacts):
    """A sphere at the origin, a box at p."""
    g = (0.5 * size[0], 0.5 * size[1], 0.5 * size[2])
    q = (-dot3(p, _column(R, 0)), -dot3(p, _column(R, 1)), -dot3(p, _column(R, 2)))
    y = (min(max(q[0], -g[0]), g[0]), min(max(q[1], -g[1]), g[1]), min(max(q[2], -g[2]), g[2]))
    v = sub3(y, q)
    if v[0] != 0.0 or v[1] != 0.0 or v[2] != 0.0:
        feature = FIRST
        for k in range(3):
            feature = 3 * feature + (0 if v[k] == 0.0 else (1 if v[k] > 0.0 else 2))
        m = unit(v, _UP)
        distance = dot3(m, v) - r
    else:
        k = 0
        if g[1] - abs(q[1]) < g[k] - abs(q[k]):
            k = 1
        if g[2] - abs(q[2]) < g[k] - abs(q[k]):
            k = 2
        s = -1.0 if q[k] >= 0.0 else 1.0
        m = (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0)
        distance = abs(q[k]) - g[k] - r
        three = 9 if k == 0 else (3 if k == 1 else 1)
        feature = three if s > 0.0 else 2 * three
    if not distance <= contacts.margin:
        return 0
    n = add3(scale3(m[0], _column(R, 0)), add3(scale3(m[1], _column(R, 1)), scale3(m[2], _column(R, 2))))
    emit(contacts, FIRST, scale3(r, n), n, distance, feature)
    return 1


@kernel
def sphere_cylinder(p, r, R, s, half, contacts):
    """A sphere at the origin, a cylinder at p."""
    a = _column(R, 2)
    z = -dot3(p, a)
    q = _cleared(_cleared(p, a), a)  # from the sphere to the axis
    rho = norm3(q)
    inward = radial(p, a, _column(R, 0))
    over, beside = abs(z) - half, rho - s
    down = scale3(-1.0 if z >= 0.0 else 1.0, a)
    side = 1 if z >= 0.0 else 2
    if over > 0.0 and beside > 0.0:
        v = add3(scale3(over, down), scale3(beside, inward))
        n = unit(v, down)
        distance, feature = math.sqrt(over * over + beside * beside) - r, 4 + side
    elif over > beside:
        n, distance, feature = down, over - r, side
    else:
        n, distance, feature = inward, beside - r, 4
    if not distance <= contacts.margin:
        return 0
    emit(contacts, FIRST, scale3(r, n), n, distance, feature)
    return 1


@inlined
def _on_axis(x, p, a, half):
    """Where a segment is nearest to x: along it from its centre."""
    return min(max(dot3(sub3(x, p), a), -half), half)


@kernel
def capsule_capsule(a, r, g, p, b, s, h, contacts):
    """A capsule along a at the origin, one along b at p; g and h are half their lengths."""
    ab = dot3(a, b)
    m = cross3(a, b)
    mm = dot3(m, m)
    pa, pb = dot3(p, a), dot3(p, b)
    side = across(a)
    tiny = 1e-10 * (g + h)
    if mm <= 1e-14 and g > 0.0 and h > 0.0:
        low, high = max(-g, pa - h), min(g, pa + h)
        if high - low > 1e-6 * min(g, h):
            count = FIRST
            for k in range(2):
                x = scale3(low if k == 0 else high, a)
                u = _on_axis(x, p, b, h)
                d = _cleared(sub3(add3(p, scale3(u, b)), x), b)
                n, distance = _direction(d, side, tiny)
                count = two_balls(contacts, count, x, r, s, n, distance, FIRST + 10 + k)
            return count
    # Both inside, else an end of one of them.
    if mm > 1e-24:
        side = unit(m, side)
        t, u = (pa - ab * pb) / mm, (ab * pa - pb) / mm
        if abs(t) <= g and abs(u) <= h:
            along = dot3(side, p)
            side = side if along > 0.0 else (-side[0], -side[1], -side[2])
            d = scale3(abs(along), side)
            n, distance = _direction(d, side, 0.0)
            return two_balls(contacts, FIRST, scale3(t, a), r, s, n, distance, FIRST + 9)
    best, t, u, d, feature = math.inf, 0.0, 0.0, p, FIRST
    for k in range(4):
        if k < 2:
            v = -g if k == 0 else g
            z = _on_axis(scale3(v, a), p, b, h)
        else:
            z = -h if k == 2 else h
            v = _on_axis(add3(p, scale3(z, b)), (0.0, 0.0, 0.0), a, g)
        e = sub3(add3(p, scale3(z, b)), scale3(v, a))
        if dot3(e, e) < best:
            best, t, u, d = dot3(e, e), v, z, e
    if abs(t) < g:
        d = _cleared(d, a)
    elif abs(u) < h:
        d = _cleared(d, b)
    feature += 3 * (0 if abs(t) < g else (1 if t > 0.0 else 2)) + (0 if abs(u) < h else (1 if u > 0.0 else 2))
    n, distance = _direction(d, side, tiny)
    return two_balls(contacts, FIRST, scale3(t, a), r, s, n, distance, feature)
