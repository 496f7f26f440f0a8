"""Height fields against all shapes that move.

Everything happens in the frame of the field (`height_field`). Contacts are where the distance between the two surfaces
is least nearby:

- points of the shape (centres of balls, ends of capsules, corners, rims) over faces, edges and nodes of the field;
- edges of the field against edges of the shape, or its axis, and nodes of the field against its faces;
- of a smooth field, where its surface is nearest to a round shape (`heights_spline`); polyhedra meet its triangles.
"""

import math
from typing import NamedTuple

from ..kernels.jit import kernel, later_count
from ..kernels.math3 import add3, chain, dot3, norm3, rotate, scale3, sincos, sub3
from .candidates import EDGE, NODE, ROOM, Candidates, add_candidate, reduce
from .height_field import (
    UP,
    first_node,
    highest,
    is_over,
    last_node,
    make_field,
    node,
    node_allows,
    ridge,
    ridge_allows,
    triangle,
    way_out,
)
from .heights_polyhedron import corner_stands, edge_against_edges, node_against_solid
from .heights_smooth import smooth_against_edge, smooth_against_face, smooth_against_node
from .heights_spline import make_sheet, sheet_candidates
from .heights_tube import Tube, node_against_tube, rim_against_edge, rim_against_face
from .kinds import BOX, CAPSULE, CYLINDER, HULL, SPHERE, TORUS, load, support
from .scratch import FIRST, POLYHEDRAL, SMOOTH, Core, emit, put, row3, unit

_RIM = 64  # points of a rim, or all around, that are tried where nothing else is known


@kernel
def _ball_candidates(field, c, r, candidates, count, mark):
    """Candidates of a ball at c; r may be nought. How many there are then."""
    reach = r + candidates.margin
    if not c[2] - reach <= field.top:
        return count
    inside, way, n = way_out(field, c)
    if inside:
        return add_candidate(candidates, count, add3(c, way), n, -norm3(way) - r, mark)
    right = last_node(c[0] + reach, field.x, field.cell_x, field.columns - 1)
    high = last_node(c[1] + reach, field.y, field.cell_y, field.rows - 1)
    for j in range(first_node(c[1] - reach, field.y, field.cell_y, field.rows - 1), high + 1):
        for i in range(first_node(c[0] - reach, field.x, field.cell_x, field.columns - 1), right + 1):
            x = node(field, i, j)
            if highest(field, i, j) < c[2] - reach:
                continue
            d = sub3(c, x)
            for t in range(2):
                if i < field.columns - 1 and j < field.rows - 1:
                    _, m = triangle(field, i, j, t == 1)
                    s = dot3(m, d)
                    if s >= 0.0 and s <= reach:
                        y = sub3(c, scale3(s, m))
                        if is_over(field, i, j, t == 1, y):
                            count = add_candidate(candidates, count, y, m, s - r, mark)
            number = float(j * field.columns + i)
            for kind in range(3):
                edge = ridge(field, i, j, x, kind)
                if edge.convex:
                    e = edge.e
                    t = dot3(d, e) / dot3(e, e)
                    v = sub3(d, scale3(t, e))
                    s = norm3(v)
                    if t >= 0.0 and t <= 1.0 and s <= reach:
                        n = unit(v, edge.between)
                        if ridge_allows(edge, n):
                            y = add3(x, scale3(t, e))
                            count = add_candidate(candidates, count, y, n, s - r, EDGE + mark)
            s = norm3(d)
            if s <= reach:
                n = unit(d, UP)
                if node_allows(field, i, j, x, n):
                    count = add_candidate(candidates, count, x, n, s - r, NODE + 4096.0 * number + mark)
    return count


class _Placed(NamedTuple):
    """A shape in the frame of a field, laid out in scratch memory."""

    tube: Tube
    """Its centre, orientation and size, which are those of a tube if it is one."""
    core: Core
    """Of a cylinder, the segment of its axis, where edges of the field look for one."""
    extent: float
    low: tuple[float, float, float]
    """The lowest and highest corner of a box around it [m]."""
    high: tuple[float, float, float]
    free: int
    """The first row of scratch memory that nothing stands in."""


@kernel
def _lay_out(shape, c, S, hulls, w):
    """The shape at c with orientation S, both in the frame of the field."""
    core, r, extent = load(w, FIRST, shape, c, S, hulls)
    free = core.plane + core.planes
    a, half = (S[2], S[5], S[8]), 0.5 * shape.dims[1]
    low, high = c, c
    rim, rounded = shape.kind == CYLINDER or shape.kind == TORUS, 0.0
    if rim:
        if shape.kind == TORUS:
            rounded, half = r, 0.0
        r = shape.dims[0]
        e = (
            r * math.sqrt(S[0] * S[0] + S[1] * S[1]) + half * abs(a[0]) + rounded,
            r * math.sqrt(S[3] * S[3] + S[4] * S[4]) + half * abs(a[1]) + rounded,
            r * math.sqrt(S[6] * S[6] + S[7] * S[7]) + half * abs(a[2]) + rounded,
        )
        low, high = sub3(c, e), add3(c, e)
        e = scale3(half, a)
        put(w, free, sub3(c, e), 0.0)
        put(w, free + 1, add3(c, e), 0.0)
        core = Core(POLYHEDRAL, free, FIRST + 2, free + 2, FIRST, FIRST, FIRST, FIRST + 1, FIRST)
        free += 2
    elif core.form == SMOOTH:
        e = (extent, extent, extent)
        low, high = sub3(c, e), add3(c, e)
    else:
        for k in range(core.points):
            x = row3(w, core.row + k)
            low = (min(low[0], x[0] - r), min(low[1], x[1] - r), min(low[2], x[2] - r))
            high = (max(high[0], x[0] + r), max(high[1], x[1] + r), max(high[2], x[2] + r))
    return _Placed(Tube(rim, c, S, a, r, half, rounded), core, extent, low, high, free)


@kernel
def _corners_candidates(field, placed, hulls, candidates):
    """Candidates of the corners of a polyhedron, the ends of a capsule or the centre of a ball; how many."""
    w, base, core = candidates.w, candidates.base, placed.core
    count = FIRST
    for k in range(core.points):
        if count > ROOM - 16:
            count = reduce(candidates, count)
        before = count
        count = _ball_candidates(field, row3(w, core.row + k), placed.tube.r, candidates, count, float(k))
        if core.planes > 0:
            kept = before
            for i in range(before, count):
                n, feature = row3(w, base + 2 * i + 1), w[base + 2 * i + 1, 3]
                if corner_stands(w, core, hulls, k, n, feature >= NODE, placed.extent):
                    put(w, base + 2 * kept, row3(w, base + 2 * i), w[base + 2 * i, 3])
                    put(w, base + 2 * kept + 1, n, feature)
                    kept += 1
            count = kept
    return count


@kernel
def _field_candidates(field, placed, hulls, slack, candidates, count):
    """Candidates of faces, nodes and edges of the field below a shape; how many there are then."""
    core, tube, low, high, margin = placed.core, placed.tube, placed.low, placed.high, candidates.margin
    right = last_node(high[0] + margin, field.x, field.cell_x, field.columns - 1)
    back = last_node(high[1] + margin, field.y, field.cell_y, field.rows - 1)
    for j in range(first_node(low[1] - margin, field.y, field.cell_y, field.rows - 1), back + 1):
        for i in range(first_node(low[0] - margin, field.x, field.cell_x, field.columns - 1), right + 1):
            x = node(field, i, j)
            if highest(field, i, j) < low[2] - margin:
                continue
            if tube.rim and i < field.columns - 1 and j < field.rows - 1:
                for t in range(2):
                    count = rim_against_face(field, i, j, t == 1, tube, candidates, count)
            if core.form == SMOOTH:
                for t in range(2):
                    if i < field.columns - 1 and j < field.rows - 1:
                        count = smooth_against_face(field, i, j, t == 1, core, tube.r, candidates, count)
                count = smooth_against_node(field, i, j, core, tube.r, candidates, count)
            elif core.planes > 0:
                count = node_against_solid(field, i, j, core, hulls.edges, candidates, count, placed.extent)
            else:
                count = node_against_tube(field, i, j, tube, candidates, count)
            for t in range(3):
                edge = ridge(field, i, j, x, t)
                if not (edge.convex and max(x[2], x[2] + edge.e[2]) >= low[2] - margin):
                    continue
                if core.form == SMOOTH:
                    count = smooth_against_edge(field, edge, core, tube.r, slack, candidates, count)
                else:
                    count = edge_against_edges(
                        field, edge, core, hulls.edges, tube.r, slack, candidates, count
                    )
                    if tube.rim:
                        count = rim_against_edge(field, edge, tube, slack, candidates, count)
    return count


@kernel
def _deepest_candidate(field, placed, candidates, count):
    """What has sunk in most goes to the nearest point of the surface; how many candidates there are then."""
    tube, core = placed.tube, placed.core
    deepest, y, n = 0.0, tube.c, UP
    for k in range(_RIM if tube.rim or core.form == SMOOTH else core.points):
        if tube.rim:
            angle = 2.0 * math.pi * k / _RIM
            down = -tube.half if tube.a[2] > 0.0 else tube.half
            x = rotate(tube.R, (tube.r * math.cos(angle), tube.r * math.sin(angle), down))
            x = add3(tube.c, x)
        elif core.form == SMOOTH:
            s, c = sincos(2.0 * math.pi * k / _RIM)
            x, _ = support(candidates.w, core, (c, s, -1.0))
        else:
            x = row3(candidates.w, core.row + k)
        inside, e, m = way_out(field, x)
        if inside and norm3(e) > deepest:
            deepest, y, n = norm3(e), add3(x, e), m
    if deepest > 0.0:
        count = add_candidate(candidates, count, y, n, -deepest - tube.round, NODE)
    return count


@kernel
def _facet_candidates(field, placed, kind, hulls, candidates):
    """Candidates of a shape on the triangles of a field; how many."""
    count = FIRST
    if not placed.tube.rim and placed.core.form != SMOOTH:
        count = _corners_candidates(field, placed, hulls, candidates)
    slack = 0.0
    # Where ridges bend, neither edge may have the crossing of what has sunk in: then look again, less strictly.
    while kind != SPHERE and slack < 1.5:
        count = _field_candidates(field, placed, hulls, slack, candidates, count)
        slack += 1.0 if count == 0 else 2.0
    least = math.inf
    for k in range(count):
        least = min(least, candidates.w[candidates.base + 2 * k, 3])
    if least > 0.0 and kind != SPHERE and kind != CAPSULE:
        # Neither edges nor faces agree on a normal.
        count = _deepest_candidate(field, placed, candidates, count)
    return count


@later_count
def meet_heights(shape, R, terrain, p, Q, hulls, w, contacts):
    """Contacts of a shape with orientation R at the origin and a field at p, Q; how many. Normals point at it."""
    margin = contacts.margin
    total = p[0] + p[1] + p[2] + margin
    for k in range(9):
        total += R[k] + Q[k]
    if not abs(total) < math.inf:
        return 0
    field = make_field(terrain, hulls)
    T = (Q[0], Q[3], Q[6], Q[1], Q[4], Q[7], Q[2], Q[5], Q[8])
    placed = _lay_out(shape, rotate(T, (-p[0], -p[1], -p[2])), chain(T, R), hulls, w)
    if not placed.low[2] - margin <= field.top:
        return 0
    kind, base = shape.kind, placed.free
    candidates = Candidates(w, base, margin, 1e-7 * (field.cell_x + field.cell_y))
    if terrain.edges > 0 and kind != BOX and kind != HULL:
        sheet = make_sheet(terrain, hulls)
        count = sheet_candidates(sheet, placed.core, placed.tube, placed.extent, candidates)
    else:
        count = _facet_candidates(field, placed, kind, hulls, candidates)
    count = reduce(candidates, count)
    for k in range(count):
        n, distance = row3(w, base + 2 * k + 1), w[base + 2 * k, 3]
        x = add3(row3(w, base + 2 * k), scale3(distance, n))
        feature = int(w[base + 2 * k + 1, 3])
        for i in range(k):
            # One corner may touch both sides of a valley.
            if w[base + 2 * i + 1, 3] == w[base + 2 * k + 1, 3]:
                feature += 1 << 52
        emit(contacts, k, add3(rotate(Q, x), p), rotate(Q, (-n[0], -n[1], -n[2])), distance, feature)
    return count
