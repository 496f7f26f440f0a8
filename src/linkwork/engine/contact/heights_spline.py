"""Smooth height fields against round shapes: where the surface of one spline is nearest to rings, balls and ellipsoids.

A ring is a circle, or a point, with a ball along it: a ball, either end of a capsule, either rim of a cylinder, a
torus. At x on the surface, with normal m, let y be the point of a shape that is farthest along -m: they touch where
y - x has no part along the surface, which Newton's method finds in two unknowns. A place counts if the distance is
least there, not greatest as in the middle of a hollow that is narrower than the shape.
"""

import math
from typing import Any, NamedTuple

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, norm3, scale3, sub3
from .candidates import ROOM, add_candidate
from .height_field import UP
from .kinds import support
from .scratch import FIRST, SMOOTH, put, row3, unit

_STEPS = 20
_HALVES = 6
_NUDGE = 1e-6  # of a cell, for slopes by differences
_EXACT = 1e-10  # of a cell, to which places are found
_STATIONS = 8  # rings along an axis, at most, that look for crests between its ends
_HALF = math.sqrt(0.5)
_STARTS = ((0.0, 0.0), (0.6, 0.0), (-0.6, 0.0), (0.0, 0.6), (0.0, -0.6))  # of how far a shape reaches


class Sheet(NamedTuple):
    """A smooth height field, centred on the origin."""

    numbers: Any
    """Heights and coefficients of all fields [m]."""
    first: int
    """The first coefficient of this one."""
    columns: int
    """Nodes along x; of coefficients there are two more."""
    rows: int
    x: float
    """Of the first node [m]."""
    y: float
    cell_x: float
    """Size of a cell [m]."""
    cell_y: float


class Ring(NamedTuple):
    """A circle with a ball along it; or, of a smooth core, its centre and rounding radius."""

    c: tuple[float, float, float]
    """Its centre [m]."""
    a: tuple[float, float, float]
    """Its axis."""
    rho: float
    """Radius of the circle [m]; may be nought."""
    r: float
    """Radius of the ball [m]."""
    size: float
    """How far it reaches [m]."""


@inlined
def make_sheet(terrain, hulls):
    """The surface of a shape that is a smooth height field."""
    nx, ny = terrain.vertices, terrain.faces
    sx, sy = terrain.dims[0], terrain.dims[1]
    cell_x, cell_y = sx / (nx - 1), sy / (ny - 1)
    return Sheet(hulls.heights, terrain.edge, nx, ny, -0.5 * sx, -0.5 * sy, cell_x, cell_y)


@inlined
def _weights(t):
    """Values and slopes of the four B-splines of a cell at the share t of it."""
    s, tt = 1.0 - t, t * t
    values = (
        s * s * s / 6.0, (3.0 * t * tt - 6.0 * tt + 4.0) / 6.0, (3.0 * (t + tt - t * tt) + 1.0) / 6.0, t * tt / 6.0
    )  # fmt: skip
    return values, (-0.5 * s * s, 1.5 * tt - 2.0 * t, 0.5 + t - 1.5 * tt, 0.5 * tt)


@kernel
def height_at(sheet, x, y):
    """Height of the surface and its slopes along x and y."""
    u, v = (x - sheet.x) / sheet.cell_x, (y - sheet.y) / sheet.cell_y
    i = int(min(max(math.floor(u), 0.0), sheet.columns - 2.0))
    j = int(min(max(math.floor(v), 0.0), sheet.rows - 2.0))
    p, dp = _weights(u - i)
    q, dq = _weights(v - j)
    at = sheet.first + j * (sheet.columns + 2) + i
    z, zx, zy = 0.0, 0.0, 0.0
    for k in range(4):
        row = at + k * (sheet.columns + 2)
        c = (sheet.numbers[row], sheet.numbers[row + 1], sheet.numbers[row + 2], sheet.numbers[row + 3])
        along = (p[0] * c[0] + p[1] * c[1]) + (p[2] * c[2] + p[3] * c[3])
        slope = (dp[0] * c[0] + dp[1] * c[1]) + (dp[2] * c[2] + dp[3] * c[3])
        z += q[k] * along
        zx += q[k] * slope
        zy += dq[k] * along
    return z, zx / sheet.cell_x, zy / sheet.cell_y


@kernel
def _lowest(w, core, ring, m):
    """The point of a ring or smooth core that is farthest along -m."""
    y = ring.c
    if core.form == SMOOTH:
        y, _ = support(w, core, (-m[0], -m[1], -m[2]))
    elif ring.rho > 0.0:
        q = sub3(scale3(dot3(m, ring.a), ring.a), m)
        s = norm3(q)
        if s > 1e-12:
            y = add3(y, scale3(ring.rho / s, q))
    return sub3(y, scale3(ring.r, m))


@kernel
def _off(sheet, w, core, ring, x, y):
    """At (x, y): how far off the shape is along the slopes of the surface, their distance, the height, the normal."""
    z, zx, zy = height_at(sheet, x, y)
    m = unit((-zx, -zy, 1.0), UP)
    d = sub3(_lowest(w, core, ring, m), (x, y, z))
    return d[0] + d[2] * zx, d[1] + d[2] * zy, dot3(m, d), z, m


@kernel
def _nearest(sheet, w, core, ring, x, y):
    """From (x, y) to where a shape is nearest: (whether it is there, distance, point of the surface, normal)."""
    cell = min(sheet.cell_x, sheet.cell_y)
    nudge, far = _NUDGE * cell, max(cell, 0.5 * ring.size)
    f, g, gap, z, m = _off(sheet, w, core, ring, x, y)
    least, close = False, False
    for _ in range(_STEPS):
        fx, gx, _d, _z, _m = _off(sheet, w, core, ring, x + nudge, y)
        fy, gy, _d, _z, _m = _off(sheet, w, core, ring, x, y + nudge)
        # Of the distance: its second derivatives, times a length.
        a, b, c, d = (f - fx) / nudge, (f - fy) / nudge, (g - gx) / nudge, (g - gy) / nudge
        det = a * d - b * c
        least = det > 0.0 and a + d > 0.0
        if least:
            u, v = (d * f - b * g) / det, (a * g - c * f) / det
        else:
            u, v = f, g
        size = math.sqrt(u * u + v * v)
        close = least and size <= _EXACT * cell
        if close:
            break
        if size > far:
            u, v = u * far / size, v * far / size
        was, moved = f * f + g * g, False
        for _k in range(_HALVES):
            s = min(max(x + u, sheet.x), -sheet.x)
            t = min(max(y + v, sheet.y), -sheet.y)
            f, g, gap, z, m = _off(sheet, w, core, ring, s, t)
            moved = f * f + g * g < was or not least
            if moved:
                break
            u, v = 0.5 * u, 0.5 * v
        x, y = s, t
        if not moved:  # rounding is all that is left
            close = least and size <= 1e-6 * cell
            break
    return close, gap, (x, y, z), m


@kernel
def _add_ring(sheet, core, ring, candidates, count, mark):
    """Candidates of a ring or smooth core, from several starts; how many there are then, and the least distance."""
    w, best = candidates.w, math.inf
    low = _lowest(w, core, ring, UP)
    for k in range(5):
        start = _STARTS[k]
        x, y = low[0] + start[0] * ring.size, low[1] + start[1] * ring.size
        if abs(x) > -sheet.x or abs(y) > -sheet.y:
            if k > 0:
                continue
            x, y = min(max(x, sheet.x), -sheet.x), min(max(y, sheet.y), -sheet.y)
        close, gap, z, m = _nearest(sheet, w, core, ring, x, y)
        if close and gap <= candidates.margin and count < ROOM - 1:
            best = min(best, gap)
            count = add_candidate(candidates, count, z, m, gap, mark)
    return count, best


@kernel
def _add_crests(sheet, core, ring, half, candidates, count):
    """Candidates between the ends of a capsule or cylinder of which `ring` is the middle; how many there are then."""
    w, row = candidates.w, candidates.base + 2 * (ROOM + 1)
    pieces = int(min(max(math.ceil(2.0 * half / max(sheet.cell_x, sheet.cell_y)), 2.0), _STATIONS * 1.0))
    for k in range(pieces + 1):
        c = add3(ring.c, scale3(half * (2.0 * k / pieces - 1.0), ring.a))
        station = Ring(c, ring.a, ring.rho, ring.r, ring.size)
        low = _lowest(w, core, station, UP)
        close, gap, z, m = _nearest(sheet, w, core, station, low[0], low[1])
        put(w, row + 2 * k, z, gap if close else math.inf)
        put(w, row + 2 * k + 1, m, 0.0)
    for k in range(1, pieces):
        gap = w[row + 2 * k, 3]
        lower = min(w[row + 2 * k - 2, 3], w[row + 2 * k + 2, 3]) - 1e-9 * ring.size
        if gap < lower and gap <= candidates.margin and count < ROOM - 1:
            z, m = row3(w, row + 2 * k), row3(w, row + 2 * k + 1)
            count = add_candidate(candidates, count, z, m, gap, 16.0 + k)
    return count


@kernel
def _add_disc(sheet, core, ring, m, candidates, count, mark):
    """Candidates of a cap, or of a torus that lies: four points of its rim, and its middle where it is on a hill."""
    down = sub3(scale3(dot3(m, ring.a), ring.a), m)
    u = unit(down, UP) if norm3(down) > 1e-9 else unit(cross3(ring.a, (-ring.a[1], ring.a[2], ring.a[0])), UP)
    v = cross3(ring.a, u)
    least = math.inf
    for k in range(4):
        e = scale3(ring.rho if k < 2 else -ring.rho, u if k % 2 == 0 else v)
        point = Ring(add3(ring.c, e), ring.a, 0.0, ring.r, ring.size)
        count, best = _add_ring(sheet, core, point, candidates, count, mark + k)
        least = min(least, best)
    point = Ring(ring.c, ring.a, 0.0, ring.r, ring.size)
    close, gap, z, n = _nearest(sheet, candidates.w, core, point, ring.c[0], ring.c[1])
    if close and gap <= candidates.margin and gap < least - 1e-6 * ring.size and count < ROOM - 1:
        count = add_candidate(candidates, count, z, n, gap, mark + 4.0)
    return count


@kernel
def sheet_candidates(sheet, core, tube, size, candidates):
    """Candidates of a round shape that reaches as far as `size`, as `heights` has laid it out; how many."""
    count = FIRST
    if core.form == SMOOTH:
        ring = Ring(tube.c, tube.a, 0.0, tube.r, size)
        count, _ = _add_ring(sheet, core, ring, candidates, count, 0.0)
        return count
    rho, r, half = (tube.r, tube.round, tube.half) if tube.rim else (0.0, tube.r, tube.half)
    _, zx, zy = height_at(
        sheet, min(max(tube.c[0], sheet.x), -sheet.x), min(max(tube.c[1], sheet.y), -sheet.y)
    )
    m = unit((-zx, -zy, 1.0), UP)
    up = dot3(m, tube.a)
    if rho > 0.0 and abs(up) > _HALF:
        c = sub3(tube.c, scale3(half if up > 0.0 else -half, tube.a))
        return _add_disc(sheet, core, Ring(c, tube.a, rho, r, rho + r), m, candidates, count, 32.0)
    for k in range(2 if half > 0.0 else 1):
        c = add3(tube.c, scale3(half if k == 0 else -half, tube.a))
        count, _ = _add_ring(sheet, core, Ring(c, tube.a, rho, r, rho + r), candidates, count, float(k))
    if half > 0.0:
        count = _add_crests(sheet, core, Ring(tube.c, tube.a, rho, r, rho + r), half, candidates, count)
    return count
