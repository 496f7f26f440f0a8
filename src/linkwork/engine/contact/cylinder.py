"""Depth of a cylinder in a polyhedron, a segment or a cylinder, by all features that can be nearest.

The nearest point of the boundary of A - B from inside lies on a smooth piece of it, and there are few kinds of them:
a cap or a face; an edge along a line of the side; a corner against the side; an edge against the rim of a cap, which
is a search over the arc between the normals of the edge's faces; and two rims. Every normal counts what it is worth
by `gap`, a bound that holds for any of them, so a missed piece makes a depth too large but never a wrong
contact.
"""

import math
from typing import NamedTuple

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, scale3, sincos, sub3
from .kinds import gap, support
from .sat import BIAS
from .scratch import CYLINDRICAL, across, radial, row3, unit

_SAMPLES = 8
_TURN = 2.0 * math.pi


class _Tube(NamedTuple):
    """A cylinder."""

    c: tuple[float, float, float]
    """Its centre, seen from a point of an edge [m]."""
    a: tuple[float, float, float]
    """Its axis."""
    r: float
    half: float
    """Half its length [m]."""


class _Arc(NamedTuple):
    """Directions u from x towards y, at right angles to it."""

    x: tuple[float, float, float]
    y: tuple[float, float, float]
    angle: float
    """[rad]"""
    sign: float
    """sign u leads from the first core to the second."""


@inlined
def _rate(u, t, tube):
    """Slope of the distance between the cylinder and a line across u, as u turns towards t."""
    ua, ta = dot3(u, tube.a), dot3(t, tube.a)
    rho = math.sqrt(max(1.0 - ua * ua, 1e-300))
    return dot3(t, tube.c) + ta * (tube.r * ua / rho - (tube.half if ua > 0.0 else -tube.half))


@inlined
def _turned(x, y, angle):
    s, c = sincos(angle)
    return add3(scale3(c, x), scale3(s, y)), sub3(scale3(c, y), scale3(s, x))


@kernel
def _over_arc(w, one, two, tube, arc, best, n, bias):
    """The best of the directions u of an arc, for a cylinder; best and n are the best bound so far and its axis."""
    x, y, angle = arc.x, arc.y, arc.angle
    samples = _SAMPLES if angle < 3.2 else 3 * _SAMPLES
    step = angle / samples
    u, t = x, y
    left = _rate(u, t, tube)
    for k in range(samples):
        u, t = _turned(x, y, (k + 1) * step)
        right = _rate(u, t, tube)
        if left > 0.0 and right <= 0.0:
            # Regula falsi after Illinois, with a bisection now and then.
            low, high, f, g = k * step, (k + 1) * step, left, right
            v, side = u, 0
            for i in range(40):
                mid = (low * g - high * f) / (g - f) if i % 4 != 3 else 0.5 * (low + high)
                v, t = _turned(x, y, mid)
                h = _rate(v, t, tube)
                if h > 0.0:
                    low, f = mid, h
                    g = 0.5 * g if side == 1 else g
                    side = 1
                else:
                    high, g = mid, h
                    f = 0.5 * f if side == -1 else f
                    side = -1
                if h == 0.0 or high - low < 1e-12:
                    break
            m = scale3(arc.sign, v)
            s = gap(w, one, two, m)
            if s > best + bias:
                best, n = s, m
        left = right
    return best, n


@inlined
def _highest(tube, x, y, m, cosine, sine):
    """A bound of the distances between the cylinder and a line, over directions from x towards y up to m."""
    cx, cy = dot3(tube.c, x), dot3(tube.c, y)
    within = cy >= 0.0 and sine * cx >= cosine * cy  # the direction to the cylinder's centre
    top = math.sqrt(cx * cx + cy * cy) if within else max(cx, dot3(tube.c, m))
    return top - min(tube.r, tube.half)


@kernel
def _try(w, one, two, m, best, n, bias):
    s = gap(w, one, two, m)
    if s > best + bias:
        return s, m
    return best, n


@kernel
def _rims(w, one, two, best, n):
    """Two rims: climb from the best of some directions by Newton's method on the sphere."""
    a, b = row3(w, one.row + 1), row3(w, two.row + 1)
    for start in range(4):
        # Directions between the rims of caps that face each other, and the best so far.
        m = n
        if start > 0:
            top = -math.inf
            for k in range(96):
                z = 1.0 - (2 * k + 1) / 96.0
                s, c = sincos(2.399963229728653 * k)
                q = math.sqrt(1.0 - z * z)
                u = (q * c, q * s, z)
                pole = dot3(u, a) > 0.0
                if (start == 1) or (pole == (start == 2)):
                    g = gap(w, one, two, u)
                    if g > top:
                        top, m = g, u
        value = gap(w, one, two, m)
        for _ in range(30):
            p, _i = support(w, one, m)
            q, _j = support(w, two, (-m[0], -m[1], -m[2]))
            d = sub3(p, q)
            x = across(m)
            y = cross3(m, x)
            dx, dy = dot3(d, x), dot3(d, y)
            # Second derivatives of the support: r/ρ t tᵀ for each rim, and the sphere's own part.
            hxx = hyy = -dot3(d, m)
            hxy = 0.0
            for k in range(2):
                e = a if k == 0 else b
                t = cross3(e, m)
                rho = math.sqrt(dot3(t, t))
                if rho > 1e-12:
                    r = w[(one if k == 0 else two).row, 3] / (rho * rho * rho)
                    tx, ty = dot3(t, x), dot3(t, y)
                    hxx += r * tx * tx
                    hxy += r * tx * ty
                    hyy += r * ty * ty
            det = hxx * hyy - hxy * hxy
            if det > 0.0 and hxx > 0.0:
                ux, uy = (hxy * dy - hyy * dx) / det, (hxy * dx - hxx * dy) / det
            else:
                size = math.sqrt(dx * dx + dy * dy)
                if not size > 0.0:
                    break
                ux, uy = -0.3 * dx / size, -0.3 * dy / size
            size = math.sqrt(ux * ux + uy * uy)
            if size > 0.5:
                ux, uy = 0.5 * ux / size, 0.5 * uy / size
            better = False
            for _half in range(25):
                u = unit(add3(m, add3(scale3(ux, x), scale3(uy, y))), m)
                g = gap(w, one, two, u)
                if g > value:
                    value, m, better = g, u, True
                    break
                ux, uy = 0.5 * ux, 0.5 * uy
            if not better or size < 1e-9:
                break
        if value > best:
            best, n = value, m
    return best, n


@kernel
def cylinder_axis(w, one, two, hulls, scale):
    """Separation of two cores that meet, at least one of them a cylinder, and its axis from the first to the second."""
    bias = BIAS * scale
    best, n = -math.inf, (0.0, 0.0, 1.0)
    for turn in range(2):
        cylinder, other = (one, two) if turn == 0 else (two, one)
        if cylinder.form != CYLINDRICAL:
            continue
        sign = -1.0 if turn == 0 else 1.0  # sign * u leads from one to two if u leads from other to cylinder
        c, r = row3(w, cylinder.row), w[cylinder.row, 3]
        a, half = row3(w, cylinder.row + 1), w[cylinder.row + 1, 3]
        best, n = _try(w, one, two, a, best, n, bias)
        best, n = _try(w, one, two, (-a[0], -a[1], -a[2]), best, n, bias)
        if other.form == CYLINDRICAL:
            e = row3(w, other.row + 1)
            d = sub3(c, row3(w, other.row))
            if turn == 0:
                m = cross3(a, e)
                if dot3(m, m) > 1e-24:
                    m = unit(m, a)
                    best, n = _try(w, one, two, m, best, n, bias)
                    best, n = _try(w, one, two, (-m[0], -m[1], -m[2]), best, n, bias)
                m = radial(d, e, across(e))
                best, n = _try(w, one, two, scale3(sign, m), best, n, bias)
            x = across(e)
            arc = _Arc(x, cross3(e, x), _TURN, sign)
            best, n = _over_arc(w, one, two, _Tube(d, a, r, half), arc, best, n, bias)
            continue
        for i in range(other.plane, other.plane + other.planes):
            best, n = _try(w, one, two, scale3(sign, row3(w, i)), best, n, bias)
        for i in range(other.row, other.row + other.points):
            d = sub3(c, row3(w, i))
            u = radial(d, a, across(a))
            best, n = _try(w, one, two, scale3(sign, u), best, n, bias)
        for i in range(other.edge, other.edge + other.edges):
            v0 = 0 if i < 0 else hulls.edges[i, 0]
            v1 = 1 if i < 0 else hulls.edges[i, 1]
            p = row3(w, other.row + v0)
            e = unit(sub3(row3(w, other.row + v1), p), (0.0, 0.0, 1.0))
            m = cross3(e, a)
            if dot3(m, m) > 1e-24:
                m = unit(m, a)
                best, n = _try(w, one, two, m, best, n, bias)
                best, n = _try(w, one, two, (-m[0], -m[1], -m[2]), best, n, bias)
            tube, angle = _Tube(sub3(c, p), a, r, half), _TURN
            if i < 0:
                x = across(e)
                y = cross3(e, x)
            else:
                x, m = row3(w, other.plane + hulls.edges[i, 2]), row3(w, other.plane + hulls.edges[i, 3])
                y = cross3(e, x)
                t, s = dot3(m, y), dot3(m, x)
                if t < 0.0:
                    y, t = (-y[0], -y[1], -y[2]), -t
                if _highest(tube, x, y, m, s, t) <= best:
                    continue
                angle = math.atan2(t, s)
            arc = _Arc(x, y, angle, sign)
            best, n = _over_arc(w, one, two, tube, arc, best, n, bias)
    if one.form == CYLINDRICAL and two.form == CYLINDRICAL:
        m_best, m = _rims(w, one, two, best, n)
        if m_best > best + bias:
            best, n = m_best, m
    return best, n
