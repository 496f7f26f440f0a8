"""Signed distance of polyhedra along the best separating axis: exact in a penetration.

The depth of a penetration is the least distance from the origin to a face of A - B, and those faces are made of a
face of A or B, or of two edges whose arcs cross on the Gauss map (Gregorius, "The separating axis test", 2013).
An axis of edges only counts what it is found to be worth by the corners on both sides, so that nearly parallel edges
do no harm. Faces win ties: contacts do not flicker, and the distance is off by 1e-10 of the size at most.
"""

import math

from ..kernels.jit import kernel
from ..kernels.math3 import cross3, dot3, scale3, sub3
from .kinds import gap
from .scratch import row3

__all__ = ["BIAS", "box_axis", "polyhedra_axis"]

BIAS = 1e-10
"""Of the size: by how much an edge must beat a face, and a face of B one of A."""


@kernel
def box_axis(p, R, Q, g, h, limit, scale):
    """(centres apart by p, axes R and Q, half sizes g and h) => separation of two boxes, axis from A to B."""
    bias = BIAS * scale
    best = -math.inf
    n = (0.0, 0.0, 1.0)
    # Columns of A's axes against those of B.
    c = (
        (
            R[0] * Q[0] + R[3] * Q[3] + R[6] * Q[6],
            R[0] * Q[1] + R[3] * Q[4] + R[6] * Q[7],
            R[0] * Q[2] + R[3] * Q[5] + R[6] * Q[8],
        ),
        (
            R[1] * Q[0] + R[4] * Q[3] + R[7] * Q[6],
            R[1] * Q[1] + R[4] * Q[4] + R[7] * Q[7],
            R[1] * Q[2] + R[4] * Q[5] + R[7] * Q[8],
        ),
        (
            R[2] * Q[0] + R[5] * Q[3] + R[8] * Q[6],
            R[2] * Q[1] + R[5] * Q[4] + R[8] * Q[7],
            R[2] * Q[2] + R[5] * Q[5] + R[8] * Q[8],
        ),
    )
    for i in range(3):
        e = (R[i], R[3 + i], R[6 + i])
        t = dot3(p, e)
        ci = c[i]
        s = abs(t) - g[i] - (h[0] * abs(ci[0]) + h[1] * abs(ci[1]) + h[2] * abs(ci[2]))
        if s > best + (bias if i > 0 else 0.0):
            best = s
            n = e if t > 0.0 else (-e[0], -e[1], -e[2])
    if best > limit:
        return best, n
    for i in range(3):
        e = (Q[i], Q[3 + i], Q[6 + i])
        t = dot3(p, e)
        s = abs(t) - h[i] - (g[0] * abs(c[0][i]) + g[1] * abs(c[1][i]) + g[2] * abs(c[2][i]))
        if s > best + bias:
            best = s
            n = e if t > 0.0 else (-e[0], -e[1], -e[2])
    if best > limit:
        return best, n
    # Seen from A, e × f has two components: most pairs of edges are worse than a face by far, and need no root.
    x = (dot3(p, (R[0], R[3], R[6])), dot3(p, (R[1], R[4], R[7])), dot3(p, (R[2], R[5], R[8])))
    for i in range(3):
        e = (R[i], R[3 + i], R[6 + i])
        ci, c1, c2 = c[i], c[(i + 1) % 3], c[(i + 2) % 3]
        for j in range(3):
            s = abs(c1[j] * x[(i + 2) % 3] - c2[j] * x[(i + 1) % 3])
            s -= g[(i + 1) % 3] * abs(c2[j]) + g[(i + 2) % 3] * abs(c1[j])
            s -= h[(j + 1) % 3] * abs(ci[(j + 2) % 3]) + h[(j + 2) % 3] * abs(ci[(j + 1) % 3])
            if s < 0.0 and best < 0.0 and s * s > 1.001 * best * best * (c1[j] * c1[j] + c2[j] * c2[j]):
                continue
            f = (Q[j], Q[3 + j], Q[6 + j])
            m = cross3(e, f)
            mm = dot3(m, m)
            if mm > 1e-24:
                m = scale3(1.0 / math.sqrt(mm), m)
                t = dot3(p, m)
                if t < 0.0:
                    m = (-m[0], -m[1], -m[2])
                s = abs(t)
                for k in range(3):
                    s -= g[k] * abs(m[0] * R[k] + m[1] * R[3 + k] + m[2] * R[6 + k])
                    s -= h[k] * abs(m[0] * Q[k] + m[1] * Q[3 + k] + m[2] * Q[6 + k])
                if s > best + bias:
                    best = s
                    n = m
                    if best > limit:
                        return best, n
    return best, n


@kernel
def polyhedra_axis(w, a, b, hulls, scale):
    """Separation of two polyhedral cores and its axis from A to B. One of them has faces."""
    bias = BIAS * scale
    best = -math.inf
    n = (0.0, 0.0, 1.0)
    for turn in range(2):
        one, two = (a, b) if turn == 0 else (b, a)
        for i in range(one.plane, one.plane + one.planes):
            m = row3(w, i)
            s = math.inf
            for k in range(two.row, two.row + two.points):
                s = min(s, m[0] * w[k, 0] + m[1] * w[k, 1] + m[2] * w[k, 2])
            s -= w[i, 3]
            if s > best + bias:
                best = s
                n = m if turn == 0 else (-m[0], -m[1], -m[2])
    for i in range(a.edge, a.edge + a.edges):
        v0, v1, left, right = _edge(hulls.edges, i)
        x = row3(w, a.row + v0)
        e = sub3(row3(w, a.row + v1), x)
        open_a = i < 0
        la, ra = e, e
        if not open_a:
            la, ra = row3(w, a.plane + left), row3(w, a.plane + right)
        for j in range(b.edge, b.edge + b.edges):
            u0, u1, u_left, u_right = _edge(hulls.edges, j)
            open_b = j < 0
            lb, rb = e, e
            if not open_b:
                lb, rb = row3(w, b.plane + u_left), row3(w, b.plane + u_right)
                if dot3(lb, e) * dot3(rb, e) > 0.0:
                    continue
            y = row3(w, b.row + u0)
            f = sub3(row3(w, b.row + u1), y)
            if not open_a and dot3(la, f) * dot3(ra, f) > 0.0:
                continue
            m = cross3(e, f)
            mm = dot3(m, m)
            if not mm > 1e-24 * dot3(e, e) * dot3(f, f):
                continue
            m = scale3(1.0 / math.sqrt(mm), m)
            if open_a:
                side = -dot3(m, lb) - dot3(m, rb)
            else:
                side = dot3(m, la) + dot3(m, ra)
            if side < 0.0:
                m = (-m[0], -m[1], -m[2])
            if not open_a and not open_b and dot3(m, lb) + dot3(m, rb) > 0.0:
                continue
            if dot3(m, sub3(y, x)) > best + bias:
                s = gap(w, a, b, m)
                if s > best + bias:
                    best = s
                    n = m
    return best, n


@kernel
def _edge(edges, i):
    """Corners and sides of an edge; number -1 is the only edge of a segment."""
    if i < 0:
        return 0, 1, 0, 0
    return edges[i, 0], edges[i, 1], edges[i, 2], edges[i, 3]
