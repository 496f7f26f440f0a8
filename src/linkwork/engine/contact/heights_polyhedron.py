"""Height fields against polyhedra, and against the segments that capsules and cylinders have inside."""

import math

from ..kernels.jit import kernel
from ..kernels.math3 import add3, cross3, dot3, norm3, scale3, sub3
from .candidates import EDGE, NODE, add_candidate
from .height_field import FLAT, UP, is_sunk, node, node_allows, ridge_allows
from .scratch import row3, unit


@kernel
def corner_stands(w, core, hulls, k, n, exact, extent):
    """Whether corner k of a polyhedron may touch along n: it is the lowest, or on the face that looks down most."""
    x = row3(w, core.row + k)
    h, low = dot3(n, x), math.inf
    for i in range(core.points):
        low = min(low, dot3(n, row3(w, core.row + i)))
    if h <= low + (1e-9 if exact else 1e-12) * extent:
        return True
    if exact:
        return False
    face, best = 0, math.inf
    for i in range(core.planes):
        c = dot3(n, row3(w, core.plane + i))
        if c < best - 1e-9:
            best, face = c, i
    first = hulls.faces[core.face + face, 0]
    for c in range(first, first + hulls.faces[core.face + face, 1]):
        if hulls.corners[c] == k:
            return True
    return False


@kernel
def edge_against_edges(field, edge, core, edges, r, slack, candidates, count):
    """An edge of the field against those of a polyhedron, or the segment of a core with radius r."""
    w, x, e = candidates.w, edge.x, edge.e
    for k in range(core.edges):
        if core.planes == 0:
            first, second = 0, 1
        else:
            first, second = edges[core.edge + k, 0], edges[core.edge + k, 1]
        y = row3(w, core.row + first)
        a = sub3(row3(w, core.row + second), y)
        n = cross3(e, a)
        if not dot3(n, n) > 1e-12 * dot3(e, e) * dot3(a, a):
            continue
        n = unit(n, UP)
        n = n if dot3(n, edge.between) > 0.0 else (-n[0], -n[1], -n[2])
        if not ridge_allows(edge, n):
            continue
        if core.planes > 0:
            left = row3(w, core.plane + edges[core.edge + k, 2])
            right = row3(w, core.plane + edges[core.edge + k, 3])
            tolerance = FLAT * norm3(a)
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
        more = FLAT + slack * max(-d, 0.0) / math.sqrt(ee)
        crosses = t >= -more and t <= 1.0 + more and u >= -FLAT and u <= 1.0 + FLAT
        t = min(max(t, 0.0), 1.0)
        z = add3(x, scale3(t, e))
        if crosses and d - r <= candidates.margin and is_sunk(field, add3(y, scale3(u, a)), d):
            count = add_candidate(candidates, count, z, n, d - r, EDGE + 4096.0 * edge.number + (k % 4096))
    return count


@kernel
def node_against_solid(field, i, j, core, edges, candidates, count, extent):
    """A node of the field against a polyhedron: the face that it has least far to, or the nearest edge outside."""
    w, margin, x = candidates.w, candidates.margin, node(field, i, j)
    best, n, faced, outside = -math.inf, UP, False, False
    for k in range(core.planes):
        s = dot3(row3(w, core.plane + k), x) - w[core.plane + k, 3]
        if s > margin:
            return count
        outside = outside or s > 0.0
    for k in range(core.planes):
        m = row3(w, core.plane + k)
        s = dot3(m, x) - w[core.plane + k, 3]
        if m[2] < 0.0 and s > best and (s > 0.0 or not outside):
            y = sub3(x, scale3(s, m))
            inside = True
            for g in range(core.planes):
                if dot3(row3(w, core.plane + g), y) > w[core.plane + g, 3] + 1e-9 * extent:
                    inside = False
                    break
            m = (-m[0], -m[1], -m[2])
            faced = faced or inside
            if inside and node_allows(field, i, j, x, m):
                best, n = s, m
    if outside and not faced:
        least = margin
        for k in range(core.edges):
            y = row3(w, core.row + edges[core.edge + k, 0])
            e = sub3(row3(w, core.row + edges[core.edge + k, 1]), y)
            t = min(max(dot3(sub3(x, y), e) / dot3(e, e), 0.0), 1.0)
            d = sub3(add3(y, scale3(t, e)), x)
            if norm3(d) < least:
                least, n = norm3(d), unit(d, UP)
        if least < margin and node_allows(field, i, j, x, n):
            best = least
    if best > -math.inf:
        mark = NODE + float(j * field.columns + i)
        count = add_candidate(candidates, count, x, n, best, mark)
    return count
