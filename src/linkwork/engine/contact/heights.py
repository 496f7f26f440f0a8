"""Height fields against spheres, capsules, boxes, cylinders and hulls.

Everything happens in the frame of the field, where the surface is a grid of nodes, two triangles to a cell, and solid
is what lies below. Contacts are where the distance between the two surfaces is least nearby:

- points of the shape (centres of balls, ends of capsules, corners, rims) over faces, edges and nodes of the field;
- edges of the field against edges of the shape, or its axis, and nodes of the field against its faces.

A direction counts only if the field's own edge or node has it between the normals of the faces around it. Where
faces lie in one plane, nothing but their normal is left, hence nothing catches at the seams; hollows have no
directions between normals at all. Beyond its rim a field falls off, as far as edges of the rim are
concerned, but nothing touches there. A point below the surface goes to the nearest point of it, within `_REACH` cells.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, norm3, rotate, scale3, sub3
from .clip import emit
from .geometry import CAPSULE, CYLINDER, MOST, SPHERE
from .support import FIRST, load, put, row3, unit

__all__ = ["meet_heights"]

_FLAT = 1e-9  # sine of an angle that is none
_REACH = 16  # cells that a point below the surface looks around for a way out
_ROOM = 48  # candidates kept before the best are picked
_RIM = 64  # points of a rim that are tried where nothing else is known
_SPREAD = 10.0  # metres that a contact must stand farther out to make up for one metre of depth
_NODE, _EDGE = float(1 << 48), float(1 << 49)  # marks of features, whole numbers
_HALF = math.sqrt(0.5)
_UP = (0.0, 0.0, 1.0)


@inlined
def _node(heights, f, i, j):
    """Where a node stands. The field f is (first number, columns, rows, x and y of the first node, cell x, y)."""
    return f[3] + i * f[5], f[4] + j * f[6], heights[f[0] + j * f[1] + i]


@kernel
def _towards(heights, f, i, j, x, k):
    """From node (i, j) at x to neighbour k of six, counter-clockwise from +x, or down a slope of 45° beyond the rim."""
    i += 1 if k < 2 else (0 if k == 2 or k == 5 else -1)
    j += 0 if k == 0 or k == 3 else (1 if k < 3 else -1)
    u = -1.0 if i < 0 else (1.0 if i >= f[1] else 0.0)
    v = -1.0 if j < 0 else (1.0 if j >= f[2] else 0.0)
    if u != 0.0 or v != 0.0:
        return u * f[5], v * f[5], -f[5]
    return sub3(_node(heights, f, i, j), x)


@kernel
def _node_allows(heights, f, i, j, x, n):
    """Whether n lies among the normals around a node, which must not be flat."""
    strict = False
    if not n[2] > 0.0:
        return False
    for k in range(6):
        e = _towards(heights, f, i, j, x, k)
        c, length = dot3(n, e), norm3(e)
        if not c <= _FLAT * length:
            return False
        strict = strict or c < -_FLAT * length
    return strict


@kernel
def _edge(heights, f, i, j, x, kind):
    """An edge from node (i, j) at x, along x (0), y (1) or the diagonal (2): whether it stands out, its vector, the
    vectors to the third corners of the faces beside it, and a direction between the normals of these."""
    e = (0.0, 0.0, 0.0)
    if (kind != 1 and i + 1 >= f[1]) or (kind != 0 and j + 1 >= f[2]):
        return False, e, e, e, _UP
    k = 0 if kind == 0 else 3 - kind
    e = _towards(heights, f, i, j, x, k)
    o = _towards(heights, f, i, j, x, k + 1)
    q = _towards(heights, f, i, j, x, (k + 5) % 6)
    # On one side there is always a face.
    real = kind == 2 or (j + 1 < f[2] if kind == 0 else i + 1 < f[1])
    one, other = (o, q) if real else (q, o)
    m = unit(cross3(e, one), _UP)
    m = m if m[2] > 0.0 else (-m[0], -m[1], -m[2])
    beyond = dot3(m, other)
    if not beyond < -_FLAT * norm3(other):
        return False, e, o, q, m
    # m lies on the border of what is allowed: go half of the way to the other side, at right angles to e.
    s = sub3(other, scale3(dot3(other, e) / dot3(e, e), e))
    s = unit(s, _UP)
    t = unit(cross3(e, s), _UP)
    t = t if dot3(t, m) > 0.0 else (-t[0], -t[1], -t[2])
    return True, e, o, q, unit(add3(m, t), m)


@inlined
def _edge_allows(o, q, n):
    return dot3(n, o) <= _FLAT * norm3(o) and dot3(n, q) <= _FLAT * norm3(q)


@kernel
def _triangle(heights, f, i, j, upper):
    """First corner and normal of the lower or upper triangle of a cell."""
    x = _node(heights, f, i, j)
    far = _node(heights, f, i + 1, j + 1)[2]
    if upper:
        h = _node(heights, f, i, j + 1)[2]
        a, b = (far - h) / f[5], (h - x[2]) / f[6]
    else:
        h = _node(heights, f, i + 1, j)[2]
        a, b = (h - x[2]) / f[5], (far - h) / f[6]
    return x, unit((-a, -b, 1.0), _UP)


@inlined
def _over(f, i, j, upper, x):
    """Whether x is above or below a triangle, or on its border."""
    u, v = (x[0] - f[3]) / f[5] - i, (x[1] - f[4]) / f[6] - j
    low, high = (u, v) if upper else (v, u)
    return low >= -_FLAT and high <= 1.0 + _FLAT and low <= high + _FLAT


@kernel
def _reduce(w, base, count):
    """The deepest candidate, then those that spread most, to the front; how many."""
    for k in range(min(count, MOST)):
        best, at = -math.inf, k
        for c in range(k, count):
            row = base + 2 * c
            score = -w[row, 3]
            if k > 0:
                x = row3(w, row)
                away = math.inf
                for s in range(k):
                    d = sub3(x, row3(w, base + 2 * s))
                    if k > 1 and s > 0:
                        # From the line through the first one.
                        e = sub3(row3(w, base + 2 * s), row3(w, base))
                        g = sub3(x, row3(w, base))
                        ee = dot3(e, e)
                        if ee > 0.0:
                            d = sub3(g, scale3(dot3(g, e) / ee, e))
                    away = min(away, norm3(d))
                score = away - _SPREAD * (w[row, 3] - w[base, 3])
            if score > best:
                best, at = score, c
        for r in range(2):
            p, s = row3(w, base + 2 * k + r), w[base + 2 * k + r, 3]
            put(w, base + 2 * k + r, row3(w, base + 2 * at + r), w[base + 2 * at + r, 3])
            put(w, base + 2 * at + r, p, s)
    return min(count, MOST)


@kernel
def _add(w, base, count, x, n, distance, feature, tiny):
    """Take a candidate: x on the field, unless there is the same one already. How many there are."""
    for c in range(count):
        d, m = sub3(row3(w, base + 2 * c), x), sub3(row3(w, base + 2 * c + 1), n)
        apart = abs(d[0]) + abs(d[1]) + abs(d[2]) + abs(w[base + 2 * c, 3] - distance)
        if apart <= tiny and abs(m[0]) + abs(m[1]) + abs(m[2]) <= 1e-6:
            return count
    if count == _ROOM:
        count = _reduce(w, base, count)
    put(w, base + 2 * count, x, distance)
    put(w, base + 2 * count + 1, n, feature)
    return count + 1


@inlined
def _highest(heights, f, i, j):
    """The greatest height of a cell, or of what there is of it."""
    k, l = min(i + 1, f[1] - 1), min(j + 1, f[2] - 1)
    low = max(_node(heights, f, i, j)[2], _node(heights, f, k, j)[2])
    return max(low, max(_node(heights, f, i, l)[2], _node(heights, f, k, l)[2]))


@inlined
def _first(x, low, cell, last):
    """The last node that is not beyond x, among those where cells begin."""
    return int(min(max(math.floor((x - low) / cell), 0.0), last - 1.0))


@inlined
def _last(x, low, cell, last):
    """The last node that is not beyond x; -1 if there is none."""
    return int(min(max(math.floor((x - low) / cell), -1.0), last * 1.0))


@kernel
def _nearest(heights, f, i, j, upper, c):
    """The point of a triangle nearest to c below it: its squared distance, and the vector to it."""
    x, m = _triangle(heights, f, i, j, upper)
    s = dot3(m, sub3(c, x))
    if s > 0.0:  # another face is in between
        return math.inf, _UP, _UP
    if _over(f, i, j, upper, sub3(c, scale3(s, m))):
        return s * s, scale3(-s, m), m
    best, way = math.inf, _UP
    for k in range(3):
        p = _node(heights, f, i + (1 if k == 1 and not upper else 0), j + (1 if k == 1 and upper else 0))
        q = (
            _node(heights, f, i + 1, j + 1)
            if k != 0
            else _node(heights, f, i + (0 if upper else 1), j + (1 if upper else 0))
        )
        e = sub3(q, p)
        t = min(max(dot3(sub3(c, p), e) / dot3(e, e), 0.0), 1.0)
        d = sub3(add3(p, scale3(t, e)), c)
        if dot3(d, d) < best:
            best, way = dot3(d, d), d
    return best, way, unit(way, m)


@kernel
def _beneath(heights, f, c):
    """The triangle above or below c (or the nearest beside the field), and the height of c over its plane."""
    u = min(max((c[0] - f[3]) / f[5], 0.0), f[1] - 1.0)
    v = min(max((c[1] - f[4]) / f[6], 0.0), f[2] - 1.0)
    i, j = min(int(u), f[1] - 2), min(int(v), f[2] - 2)
    upper = v - j > u - i
    x, m = _triangle(heights, f, i, j, upper)
    return i, j, upper, dot3(m, sub3(c, x))


@kernel
def _sunk(heights, f, y, d):
    """Whether a point of a shape is in solid ground, as it must be if it is at a distance less than nought."""
    _, _, _, height = _beneath(heights, f, y)
    return d >= 0.0 or height <= 1e-9 * (f[5] + f[6])


@kernel
def _below(heights, f, c):
    """Whether c is below the surface; the way to the nearest point of it, and the normal there."""
    i, j, upper, height = _beneath(heights, f, c)
    beside = abs(c[0]) > -f[3] or abs(c[1]) > -f[4]
    if beside or not height < 0.0:
        return False, _UP, _UP
    best, way, n = _nearest(heights, f, i, j, upper, c)
    reach = math.sqrt(best)
    left, right = _first(c[0] - reach, f[3], f[5], f[1] - 1), _last(c[0] + reach, f[3], f[5], f[1] - 2)
    low, high = _first(c[1] - reach, f[4], f[6], f[2] - 1), _last(c[1] + reach, f[4], f[6], f[2] - 2)
    for k in range(max(low, j - _REACH), min(high, j + _REACH) + 1):
        for t in range(2 * max(left, i - _REACH), 2 * min(right, i + _REACH) + 2):
            square, d, m = _nearest(heights, f, t // 2, k, t % 2 == 1, c)
            # Over the rim there is no way out.
            if square < best and m[2] > 0.0:
                best, way, n = square, d, m
    return True, way, n


@kernel
def _point(heights, f, top, c, r, margin, w, base, count, mark):
    """Candidates of a ball at c; r may be nought. How many there are then."""
    reach = r + margin
    if not c[2] - reach <= top:
        return count
    tiny = 1e-7 * (f[5] + f[6])
    inside, way, n = _below(heights, f, c)
    if inside:
        return _add(w, base, count, add3(c, way), n, -norm3(way) - r, mark, tiny)
    right, high = _last(c[0] + reach, f[3], f[5], f[1] - 1), _last(c[1] + reach, f[4], f[6], f[2] - 1)
    for j in range(_first(c[1] - reach, f[4], f[6], f[2] - 1), high + 1):
        for i in range(_first(c[0] - reach, f[3], f[5], f[1] - 1), right + 1):
            x = _node(heights, f, i, j)
            if _highest(heights, f, i, j) < c[2] - reach:
                continue
            d = sub3(c, x)
            for t in range(2):
                if i < f[1] - 1 and j < f[2] - 1:
                    _, m = _triangle(heights, f, i, j, t == 1)
                    s = dot3(m, d)
                    if s >= 0.0 and s <= reach:
                        y = sub3(c, scale3(s, m))
                        if _over(f, i, j, t == 1, y):
                            count = _add(w, base, count, y, m, s - r, mark, tiny)
            number = float(j * f[1] + i)
            for kind in range(3):
                convex, e, o, q, m = _edge(heights, f, i, j, x, kind)
                if convex:
                    t = dot3(d, e) / dot3(e, e)
                    v = sub3(d, scale3(t, e))
                    s = norm3(v)
                    if t >= 0.0 and t <= 1.0 and s <= reach:
                        n = unit(v, m)
                        if _edge_allows(o, q, n):
                            y = add3(x, scale3(t, e))
                            count = _add(w, base, count, y, n, s - r, _EDGE + mark, tiny)
            s = norm3(d)
            if s <= reach:
                n = unit(d, _UP)
                if _node_allows(heights, f, i, j, x, n):
                    count = _add(w, base, count, x, n, s - r, _NODE + 4096.0 * number + mark, tiny)
    return count


@kernel
def _stands(w, core, faces, corners, k, n, exact, extent):
    """Whether corner k of a polyhedron may touch along n: it is the lowest, or on the face that looks down most."""
    x = row3(w, core[1] + k)
    h, low = dot3(n, x), math.inf
    for i in range(core[2]):
        low = min(low, dot3(n, row3(w, core[1] + i)))
    if h <= low + (1e-9 if exact else 1e-12) * extent:
        return True
    if exact:
        return False
    face, best = 0, math.inf
    for i in range(core[4]):
        c = dot3(n, row3(w, core[3] + i))
        if c < best - 1e-9:
            best, face = c, i
    first = faces[core[5] + face, 0]
    for c in range(first, first + faces[core[5] + face, 1]):
        if corners[c] == k:
            return True
    return False


@kernel
def _edge_edges(heights, f, x, e, o, q, between, core, edges, r, margin, slack, w, base, count, mark, tiny):
    """An edge of the field against those of a polyhedron, or the segment of a core with radius r."""
    for k in range(core[7]):
        if core[4] == 0:
            first, second = 0, 1
        else:
            first, second = edges[core[6] + k, 0], edges[core[6] + k, 1]
        y = row3(w, core[1] + first)
        a = sub3(row3(w, core[1] + second), y)
        n = cross3(e, a)
        if not dot3(n, n) > 1e-12 * dot3(e, e) * dot3(a, a):
            continue
        n = unit(n, _UP)
        n = n if dot3(n, between) > 0.0 else (-n[0], -n[1], -n[2])
        if not _edge_allows(o, q, n):
            continue
        if core[4] > 0:
            left = row3(w, core[3] + edges[core[6] + k, 2])
            right = row3(w, core[3] + edges[core[6] + k, 3])
            tolerance = _FLAT * norm3(a)
            # -n must lie between the normals of the faces beside the edge.
            if not (dot3(cross3(n, left), a) >= -tolerance and dot3(cross3(right, n), a) >= -tolerance):
                continue
            if not dot3(n, add3(left, right)) < 0.0:
                continue
        # Where they cross, seen along n.
        v = sub3(y, x)
        d = dot3(n, v)
        ee, aa, ea = dot3(e, e), dot3(a, a), dot3(e, a)
        ve, va, det = dot3(v, e), dot3(v, a), ee * aa - ea * ea
        t, u = (ve * aa - va * ea) / det, (ve * ea - va * ee) / det
        more = _FLAT + slack * max(-d, 0.0) / math.sqrt(ee)
        crosses = t >= -more and t <= 1.0 + more and u >= -_FLAT and u <= 1.0 + _FLAT
        t = min(max(t, 0.0), 1.0)
        z = add3(x, scale3(t, e))
        if crosses and d - r <= margin and _sunk(heights, f, add3(y, scale3(u, a)), d):
            count = _add(w, base, count, z, n, d - r, _EDGE + 4096.0 * mark + (k % 4096), tiny)
    return count


@kernel
def _node_solid(heights, f, i, j, x, core, edges, margin, w, base, count, extent):
    """A node of the field against a polyhedron: the face that it has least far to, or the nearest edge outside."""
    best, n, faced, outside = -math.inf, _UP, False, False
    for k in range(core[4]):
        s = dot3(row3(w, core[3] + k), x) - w[core[3] + k, 3]
        if s > margin:
            return count
        outside = outside or s > 0.0
    for k in range(core[4]):
        m = row3(w, core[3] + k)
        s = dot3(m, x) - w[core[3] + k, 3]
        if m[2] < 0.0 and s > best and (s > 0.0 or not outside):
            y = sub3(x, scale3(s, m))
            inside = True
            for g in range(core[4]):
                if dot3(row3(w, core[3] + g), y) > w[core[3] + g, 3] + 1e-9 * extent:
                    inside = False
                    break
            m = (-m[0], -m[1], -m[2])
            faced = faced or inside
            if inside and _node_allows(heights, f, i, j, x, m):
                best, n = s, m
    if outside and not faced:
        least = margin
        for k in range(core[7]):
            y = row3(w, core[1] + edges[core[6] + k, 0])
            e = sub3(row3(w, core[1] + edges[core[6] + k, 1]), y)
            t = min(max(dot3(sub3(x, y), e) / dot3(e, e), 0.0), 1.0)
            d = sub3(add3(y, scale3(t, e)), x)
            if norm3(d) < least:
                least, n = norm3(d), unit(d, _UP)
        if least < margin and _node_allows(heights, f, i, j, x, n):
            best = least
    if best > -math.inf:
        mark = _NODE + float(j * f[1] + i)
        count = _add(w, base, count, x, n, best, mark, 1e-7 * (f[5] + f[6]))
    return count


@kernel
def _rim_points(heights, f, i, j, upper, c, R, r, half, margin, w, base, count):
    """A cylinder over a triangle: points of the lower rim if it stands, the lowest line of its side if it lies."""
    x, m = _triangle(heights, f, i, j, upper)
    a = (R[2], R[5], R[8])
    slope = dot3(m, a)
    height = dot3(m, sub3(c, x))
    if not height - half * abs(slope) - r * math.sqrt(max(1.0 - slope * slope, 0.0)) <= margin + 1e-9 * r:
        return count
    down = sub3(scale3(slope, a), m)
    down = sub3(down, scale3(dot3(down, a), a))
    u = (R[0], R[3], R[6])
    if dot3(down, down) > 1e-18:
        u = unit(down, u)
    v = scale3(r, cross3(a, u))
    u = scale3(r, u)
    s = -half if slope > 0.0 else half
    end = add3(c, scale3(s, a))
    lies = abs(slope) < _HALF
    for k in range(2 if lies else 4):
        if lies:
            y = add3(end if k == 0 else sub3(c, scale3(s, a)), u)
        else:
            y = add3(end, scale3(1.0 if k < 2 else -1.0, u if k % 2 == 0 else v))
        d = dot3(m, sub3(y, x))
        # Above the surface the nearest point counts, below it the face right above.
        foot = sub3(y, scale3(d, m))
        if d <= margin and _over(f, i, j, upper, foot if d > 0.0 else y):
            top = s > 0.0
            if lies:
                mark = 8.0 if top == (k == 0) else 0.0
            else:
                mark = (8.0 if top else 0.0) + k
            count = _add(w, base, count, foot, m, d, mark, 1e-7 * (f[5] + f[6]))
    return count


@kernel
def _normal_beside(e, o):
    """Upward normal of a face that has an edge along e and a corner at o."""
    m = unit(cross3(e, o), _UP)
    return m if m[2] > 0.0 else (-m[0], -m[1], -m[2])


@kernel
def _rim_edge(heights, f, x, e, o, q, c, a, r, half, margin, slack, w, base, count, mark, tiny):
    """An edge of the field against the rims and caps of a cylinder: the normal along which the gap is widest."""
    d = sub3(c, x)
    ee = dot3(e, e)
    t = min(max(dot3(d, e) / ee, 0.0), 1.0)
    if norm3(sub3(d, scale3(t, e))) > r + half + margin:
        return count
    m, n = _normal_beside(e, o), _normal_beside(e, q)
    low, high, best = 0.0, 1.0, -math.inf
    v, along = a, 0.0
    # Golden sections between the normals of the faces, whatever their lengths.
    for k in range(84):
        s = low + (0.381966011250105 if k % 2 == 0 else 0.618033988749895) * (high - low)
        z = unit(add3(scale3(1.0 - s, m), scale3(s, n)), m)
        along = dot3(z, a)
        v = sub3(z, scale3(along, a))
        gap = dot3(z, d) - r * norm3(v) - half * abs(along)
        if k % 2 == 0:
            best = gap
        elif gap > best:
            low = low + 0.381966011250105 * (high - low)
        else:
            high = low + 0.618033988749895 * (high - low)
    if not best <= margin or low == 0.0 or high == 1.0 or abs(along) < 1e-7:
        return count  # points of the rim over faces, or the side
    s = 1.0 if along > 0.0 else -1.0
    n = add3(v, scale3(along, a))
    middle = sub3(d, scale3(s * half, a))  # of the lower cap
    if norm3(v) > 1e-7:
        y = sub3(middle, scale3(r / norm3(v), v))
        t = dot3(y, e) / ee
        more = _FLAT + slack * max(-best, 0.0) / math.sqrt(ee)
        if t >= -more and t <= 1.0 + more and _sunk(heights, f, add3(x, y), best):
            t = min(max(t, 0.0), 1.0)
            count = _add(w, base, count, add3(x, scale3(t, e)), n, best, _EDGE + 4096.0 * mark + 2.0, tiny)
        return count
    # Where the edge enters and leaves the cap.
    n = scale3(s, a)
    g = sub3(e, scale3(dot3(a, e), a))
    k, gg = sub3(scale3(dot3(a, middle), a), middle), dot3(g, g)
    gk = dot3(g, k)
    root = math.sqrt(max(gk * gk - gg * (dot3(k, k) - r * r), 0.0))
    for side in range(2):
        t = min(max((-gk + (root if side == 0 else -root)) / gg, 0.0), 1.0)
        y = scale3(t, e)
        h = dot3(n, sub3(middle, y))
        if root > 0.0 and h <= margin and _sunk(heights, f, add3(x, add3(y, scale3(h, n))), h):
            count = _add(w, base, count, add3(x, y), n, h, _EDGE + 4096.0 * mark + 3.0 + side, tiny)
    return count


@kernel
def _node_round(heights, f, i, j, x, kind, c, a, r, half, margin, w, base, count):
    """A node of the field against a capsule or cylinder along a."""
    d = sub3(x, c)
    z = dot3(d, a)
    v = sub3(d, scale3(z, a))
    rho = norm3(v)
    # The lower end; u points from the node to the axis.
    s = 1.0 if a[2] > 0.0 else -1.0
    over, beside = -s * z - half, rho - r
    u, up = scale3(-1.0 / max(rho, 1e-12 * r), v), scale3(s, a)
    best, found = -math.inf, _UP
    for k in range(3 if kind == CYLINDER else 1):
        if k == 0:  # side
            n, distance, near = u, beside, abs(z) <= half and rho > 1e-12 * r
        elif k == 1:  # cap
            n, distance, near = up, over, beside <= 0.0 and over >= -2.0 * half
        else:  # rim
            n = unit(add3(scale3(over, up), scale3(beside, u)), up)
            distance, near = math.sqrt(over * over + beside * beside), over > 0.0 and beside > 0.0
        if near and distance <= margin and distance > best and _node_allows(heights, f, i, j, x, n):
            best, found = distance, n
    if best > -math.inf:
        count = _add(w, base, count, x, found, best, _NODE + float(j * f[1] + i), 1e-7 * (f[5] + f[6]))
    return count


@kernel
def meet_heights(shape, R, field, p, Q, hulls, margin, w, origin, out):
    """Contacts of a shape with orientation R at the origin and a field at p, Q; how many. Normals point at it."""
    total = p[0] + p[1] + p[2] + margin
    for k in range(9):
        total += R[k] + Q[k]
    if not abs(total) < math.inf:
        return 0
    heights = hulls.heights
    nx, ny = field.vertices, field.faces
    sx, sy, top = field.dims[0], field.dims[1], field.dims[2]
    f = (field.vertex, nx, ny, -0.5 * sx, -0.5 * sy, sx / (nx - 1), sy / (ny - 1))
    T = (Q[0], Q[3], Q[6], Q[1], Q[4], Q[7], Q[2], Q[5], Q[8])
    c = rotate(T, (-p[0], -p[1], -p[2]))
    S = (
        T[0] * R[0] + T[1] * R[3] + T[2] * R[6],
        T[0] * R[1] + T[1] * R[4] + T[2] * R[7],
        T[0] * R[2] + T[1] * R[5] + T[2] * R[8],
        T[3] * R[0] + T[4] * R[3] + T[5] * R[6],
        T[3] * R[1] + T[4] * R[4] + T[5] * R[7],
        T[3] * R[2] + T[4] * R[5] + T[5] * R[8],
        T[6] * R[0] + T[7] * R[3] + T[8] * R[6],
        T[6] * R[1] + T[7] * R[4] + T[8] * R[7],
        T[6] * R[2] + T[7] * R[5] + T[8] * R[8],
    )
    core, r, extent = load(w, FIRST, shape, c, S, hulls)
    base = core[3] + core[4]
    a = (S[2], S[5], S[8])
    kind = shape.kind
    half = 0.5 * shape.dims[1]
    low, high = c, c
    if kind == CYLINDER:
        r = shape.dims[0]
        e = (
            r * math.sqrt(S[0] * S[0] + S[1] * S[1]) + half * abs(a[0]),
            r * math.sqrt(S[3] * S[3] + S[4] * S[4]) + half * abs(a[1]),
            r * math.sqrt(S[6] * S[6] + S[7] * S[7]) + half * abs(a[2]),
        )
        low, high = sub3(c, e), add3(c, e)
        e = scale3(half, a)
        # The segment of its axis, where edges of the field look for one.
        put(w, base, sub3(c, e), 0.0)
        put(w, base + 1, add3(c, e), 0.0)
        core = (0, base, 2, base + 2, 0, 0, 0, 1, 0)
        base += 2
    else:
        for k in range(core[2]):
            x = row3(w, core[1] + k)
            low = (min(low[0], x[0] - r), min(low[1], x[1] - r), min(low[2], x[2] - r))
            high = (max(high[0], x[0] + r), max(high[1], x[1] + r), max(high[2], x[2] + r))
    if not low[2] - margin <= top:
        return 0
    count = FIRST
    if kind != CYLINDER:
        for k in range(core[2]):
            if count > _ROOM - 16:
                count = _reduce(w, base, count)
            before = count
            count = _point(heights, f, top, row3(w, core[1] + k), r, margin, w, base, count, float(k))
            if core[4] > 0:
                kept = before
                for i in range(before, count):
                    n, feature = row3(w, base + 2 * i + 1), w[base + 2 * i + 1, 3]
                    if _stands(w, core, hulls.faces, hulls.corners, k, n, feature >= _NODE, extent):
                        put(w, base + 2 * kept, row3(w, base + 2 * i), w[base + 2 * i, 3])
                        put(w, base + 2 * kept + 1, n, feature)
                        kept += 1
                count = kept
    tiny = 1e-7 * (f[5] + f[6])
    right, back = _last(high[0] + margin, f[3], f[5], nx - 1), _last(high[1] + margin, f[4], f[6], ny - 1)
    slack = 0.0
    # Where ridges bend, neither edge may have the crossing of what has sunk in: then look again, less strictly.
    while kind != SPHERE and slack < 1.5:
        for j in range(_first(low[1] - margin, f[4], f[6], ny - 1), back + 1):
            for i in range(_first(low[0] - margin, f[3], f[5], nx - 1), right + 1):
                x = _node(heights, f, i, j)
                if _highest(heights, f, i, j) < low[2] - margin:
                    continue
                if kind == CYLINDER and i < nx - 1 and j < ny - 1:
                    for t in range(2):
                        count = _rim_points(heights, f, i, j, t == 1, c, S, r, half, margin, w, base, count)
                if core[4] > 0:
                    count = _node_solid(
                        heights, f, i, j, x, core, hulls.edges, margin, w, base, count, extent
                    )
                else:
                    count = _node_round(heights, f, i, j, x, kind, c, a, r, half, margin, w, base, count)
                for t in range(3):
                    convex, e, o, q, m = _edge(heights, f, i, j, x, t)
                    if convex and max(x[2], x[2] + e[2]) >= low[2] - margin:
                        mark = 3.0 * (j * nx + i) + t
                        count = _edge_edges(
                            heights,
                            f,
                            x,
                            e,
                            o,
                            q,
                            m,
                            core,
                            hulls.edges,
                            r,
                            margin,
                            slack,
                            w,
                            base,
                            count,
                            mark,
                            tiny,
                        )
                        if kind == CYLINDER:
                            count = _rim_edge(
                                heights,
                                f,
                                x,
                                e,
                                o,
                                q,
                                c,
                                a,
                                r,
                                half,
                                margin,
                                slack,
                                w,
                                base,
                                count,
                                mark,
                                tiny,
                            )
        slack += 1.0 if count == 0 else 2.0
    least = math.inf
    for k in range(count):
        least = min(least, w[base + 2 * k, 3])
    if least > 0.0 and kind != SPHERE and kind != CAPSULE:
        # Neither edges nor faces agree on a normal: what has sunk in most goes to the nearest point of the surface.
        deepest, y, n = 0.0, c, _UP
        for k in range(_RIM if kind == CYLINDER else core[2]):
            if kind == CYLINDER:
                angle = 2.0 * math.pi * k / _RIM
                x = rotate(S, (r * math.cos(angle), r * math.sin(angle), -half if a[2] > 0.0 else half))
                x = add3(c, x)
            else:
                x = row3(w, core[1] + k)
            inside, e, m = _below(heights, f, x)
            if inside and norm3(e) > deepest:
                deepest, y, n = norm3(e), add3(x, e), m
        if deepest > 0.0:
            count = _add(w, base, count, y, n, -deepest, _NODE, tiny)
    count = _reduce(w, base, count)
    for k in range(count):
        n, distance = row3(w, base + 2 * k + 1), w[base + 2 * k, 3]
        x = add3(row3(w, base + 2 * k), scale3(distance, n))
        feature = int(w[base + 2 * k + 1, 3])
        for i in range(k):
            # One corner may touch both sides of a valley.
            if w[base + 2 * i + 1, 3] == w[base + 2 * k + 1, 3]:
                feature += 1 << 52
        emit(out, k, origin, add3(rotate(Q, x), p), rotate(Q, (-n[0], -n[1], -n[2])), distance, feature)
    return count
