"""Pictures without a display: triangles and lines into a depth buffer, shadows on a floor, and the final image.

Everything is sampled twice as finely as the image in both directions; `develop` takes the mean of four samples. Colours
are linear in light, with the square root as the curve of displays: close to sRGB, and twenty times as fast as a power.
Depths are 1/distance along the view, so that they are linear in the picture and zero is infinitely far.

Buffers: light (2h × 2w × 3, float32), depth (2h × 2w, float32), tag (2h × 2w, int32, the body that is seen there) and
shade (h × w, uint8, one bit for each part of the lamp that is hidden from the floor there).
"""

import math
from typing import NamedTuple

from .jit import inlined, kernel

# Columns of a piece's numbers.
TRANSFORM, NORMALS, COLOR, GLOSS, NEARER = 0, 12, 21, 24, 25
"""Rows of [A | p] with world = A x + p; rows of the matrix that turns normals; linear colour; shine; how much nearer it
is taken to be, as a share of the distance, so that faces of different bodies in one plane do not flicker."""
PIECE_SIZE = 26
# Columns of a piece's integers.
FIRST, COUNT, TAG, CLOSED, CASTS = range(5)
"""First triangle and number of triangles, tag, whether faces seen from behind can be left out, whether it casts a
shadow."""

LAMPS = 8
"""Points of the lamp: a bit of `shade` each."""
_SLACK = 1e-9  # a sample on the edge of two triangles belongs to both: rounding must not give it to none
_EDGE = 0.55  # light left at the outlines of bodies
_TUBE = 0.45  # light lost at the rims of lines, which look like tubes


class View(NamedTuple):
    """Where the picture is taken from, and its light."""

    eye: tuple[float, float, float]
    """[m]"""
    right: tuple[float, float, float]
    over: tuple[float, float, float]
    """Upwards in the picture."""
    forward: tuple[float, float, float]
    focal: float
    """Samples per unit of tangent."""
    near: float
    """Nothing closer is drawn [m]."""
    lamp: tuple[float, float, float]
    """Unit vector towards the lamp."""
    up: tuple[float, float, float]
    """Against gravity."""


class Floor(NamedTuple):
    """The ground under everything, fading away from its centre."""

    shown: float
    """1, or 0 for none."""
    height: float
    """Along `up` [m]."""
    centre: tuple[float, float, float]
    x: tuple[float, float, float]
    y: tuple[float, float, float]
    """Directions of the grid."""
    radius: float
    """Where it has faded away [m]."""
    spacing: float
    """Of the grid [m]."""
    color: tuple[float, float, float]
    grid: tuple[float, float, float]
    shadow: float
    """Share of light lost in full shadow."""


@inlined
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def _row(m, i, k, x, y, z):
    return m[i, k] * x + m[i, k + 1] * y + m[i, k + 2] * z


@inlined
def _unit(x, y, z):
    size = math.sqrt(x * x + y * y + z * z)
    s = 1.0 / size if size > 0.0 else 0.0
    return x * s, y * s, z * s


@inlined
def _seen(view, p):
    """A point of the world in axes of the camera: right, over, forward."""
    d = (p[0] - view.eye[0], p[1] - view.eye[1], p[2] - view.eye[2])
    return _dot(d, view.right), _dot(d, view.over), _dot(d, view.forward)


@inlined
def _between(a, b, near):
    """Where the edge from a to b crosses the near plane: seen point and normal."""
    s = (near - a[2]) / (b[2] - a[2])
    return (
        a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), near,
        a[3] + s * (b[3] - a[3]), a[4] + s * (b[4] - a[4]), a[5] + s * (b[5] - a[5]),
    )  # fmt: skip


@inlined
def _range(low, high, size):
    """First and last sample, both included, of a stretch of the picture; clamped before it becomes an integer."""
    first = math.ceil(min(max(low - 0.5, 0.0), size + 1.0))
    last = math.floor(min(max(high - 0.5, -1.0), size - 1.0))
    return int(first), int(last)


@inlined
def _screen(view, a, rows, columns):
    """Place in the picture [samples] and 1/distance."""
    w = 1.0 / a[2]
    return 0.5 * columns + view.focal * a[0] * w, 0.5 * rows - view.focal * a[1] * w, w


@inlined
def _shine(view, ray, nx, ny, nz, r, g, b, gloss):
    """Light from a surface with a unit normal, seen along the unit vector `ray` (from the eye)."""
    facing = -(nx * ray[0] + ny * ray[1] + nz * ray[2])
    n_lamp = nx * view.lamp[0] + ny * view.lamp[1] + nz * view.lamp[2]
    n_up = nx * view.up[0] + ny * view.up[1] + nz * view.up[2]
    # Sky above, a warmer floor below, the lamp, and a faint lamp at the camera that shapes what is in the dark.
    sky = 0.5 + 0.5 * n_up
    lamp = max(n_lamp, 0.0)
    head = max(facing, 0.0)
    red = 0.20 + 0.14 * sky + 0.70 * lamp + 0.12 * head
    green = 0.19 + 0.16 * sky + 0.69 * lamp + 0.12 * head
    blue = 0.18 + 0.20 * sky + 0.66 * lamp + 0.12 * head
    hx, hy, hz = _unit(view.lamp[0] - ray[0], view.lamp[1] - ray[1], view.lamp[2] - ray[2])
    spot = max(nx * hx + ny * hy + nz * hz, 0.0)
    spot *= spot
    spot *= spot
    spot *= spot
    spot *= spot
    spot *= spot  # to the power of 32
    rim = 1.0 - min(head, 1.0)
    rim = rim * rim * rim * (0.35 + 0.65 * sky)
    extra = gloss * (0.35 * spot + 0.18 * rim)
    return r * red + extra, g * green + extra, b * blue + extra


@kernel
def _fill(light, depth, tag, view, a, b, c, r, g, bl, gloss, nearer, which):
    """One triangle in front of the near plane; corners are (right, over, forward, normal)."""
    rows, columns = depth.shape
    ax, ay, aw = _screen(view, a, rows, columns)
    bx, by, bw = _screen(view, b, rows, columns)
    cx, cy, cw = _screen(view, c, rows, columns)
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if area == 0.0 or not math.isfinite(area):
        return
    x0, x1 = _range(min(ax, bx, cx), max(ax, bx, cx), columns)
    y0, y1 = _range(min(ay, by, cy), max(ay, by, cy), rows)
    inverse = 1.0 / area
    # Weights of corners a and b are linear in the picture; that of c is the rest.
    ua, va = (by - cy) * inverse, (cx - bx) * inverse
    ub, vb = (cy - ay) * inverse, (ax - cx) * inverse
    scale = 1.0 + nearer
    for y in range(y0, y1 + 1):
        py = y + 0.5
        entered = False
        for x in range(x0, x1 + 1):
            px = x + 0.5
            wa = ua * (px - cx) + va * (py - cy)
            wb = ub * (px - cx) + vb * (py - cy)
            wc = 1.0 - wa - wb
            if wa < -_SLACK or wb < -_SLACK or wc < -_SLACK:
                if entered:
                    break
                continue
            entered = True
            ka, kb, kc = wa * aw, wb * bw, wc * cw
            w = ka + kb + kc
            if w * scale <= depth[y, x]:
                continue
            # Divided by w these are perspective-correct weights; the normal is made unit anyway.
            nx, ny, nz = _unit(
                ka * a[3] + kb * b[3] + kc * c[3],
                ka * a[4] + kb * b[4] + kc * c[4],
                ka * a[5] + kb * b[5] + kc * c[5],
            )
            u, v = (px - 0.5 * columns) / view.focal, (0.5 * rows - py) / view.focal
            ray = _unit(
                view.forward[0] + u * view.right[0] + v * view.over[0],
                view.forward[1] + u * view.right[1] + v * view.over[1],
                view.forward[2] + u * view.right[2] + v * view.over[2],
            )
            red, green, blue = _shine(view, ray, nx, ny, nz, r, g, bl, gloss)
            light[y, x, 0] = red
            light[y, x, 1] = green
            light[y, x, 2] = blue
            depth[y, x] = w * scale
            tag[y, x] = which


@kernel
def _darken(shade, view, a, b, c, bit):
    """One triangle of a shadow on the floor, at the resolution of the image."""
    rows, columns = shade.shape
    ax, ay, _ = _screen(view, a, 2.0 * rows, 2.0 * columns)
    bx, by, _ = _screen(view, b, 2.0 * rows, 2.0 * columns)
    cx, cy, _ = _screen(view, c, 2.0 * rows, 2.0 * columns)
    ax, ay, bx, by, cx, cy = 0.5 * ax, 0.5 * ay, 0.5 * bx, 0.5 * by, 0.5 * cx, 0.5 * cy
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if area == 0.0 or not math.isfinite(area):
        return
    x0, x1 = _range(min(ax, bx, cx), max(ax, bx, cx), columns)
    y0, y1 = _range(min(ay, by, cy), max(ay, by, cy), rows)
    inverse = 1.0 / area
    ua, va = (by - cy) * inverse, (cx - bx) * inverse
    ub, vb = (cy - ay) * inverse, (ax - cx) * inverse
    for y in range(y0, y1 + 1):
        entered = False
        for x in range(x0, x1 + 1):
            wa = ua * (x + 0.5 - cx) + va * (y + 0.5 - cy)
            wb = ub * (x + 0.5 - cx) + vb * (y + 0.5 - cy)
            if wa >= -_SLACK and wb >= -_SLACK and wa + wb <= 1.0 + _SLACK:
                shade[y, x] |= bit
                entered = True
            elif entered:
                break


@inlined
def _corner(corners, pieces, i, k, j):
    """A corner of a triangle in the world."""
    x, y, z = corners[k, j, 0], corners[k, j, 1], corners[k, j, 2]
    return (
        _row(pieces, i, TRANSFORM, x, y, z) + pieces[i, TRANSFORM + 3],
        _row(pieces, i, TRANSFORM + 4, x, y, z) + pieces[i, TRANSFORM + 7],
        _row(pieces, i, TRANSFORM + 8, x, y, z) + pieces[i, TRANSFORM + 11],
    )


@inlined
def _normal(normals, pieces, i, k, j):
    x, y, z = normals[k, j, 0], normals[k, j, 1], normals[k, j, 2]
    return _unit(
        _row(pieces, i, NORMALS, x, y, z),
        _row(pieces, i, NORMALS + 3, x, y, z),
        _row(pieces, i, NORMALS + 6, x, y, z),
    )


@kernel
def draw_pieces(light, depth, tag, view, corners, normals, pieces, parts):
    """Solid pieces; corners and normals are triangles × 3 × 3 of all meshes, in the meshes' own frames."""
    for i in range(len(pieces)):
        for k in range(parts[i, FIRST], parts[i, FIRST] + parts[i, COUNT]):
            p, q, s = (
                _corner(corners, pieces, i, k, 0),
                _corner(corners, pieces, i, k, 1),
                _corner(corners, pieces, i, k, 2),
            )
            n, m, o = (
                _normal(normals, pieces, i, k, 0),
                _normal(normals, pieces, i, k, 1),
                _normal(normals, pieces, i, k, 2),
            )
            # The face itself, turned as its corners' normals are: a mirrored mesh runs the other way around.
            e = (q[0] - p[0], q[1] - p[1], q[2] - p[2])
            f = (s[0] - p[0], s[1] - p[1], s[2] - p[2])
            face = (e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0])
            outward = _dot(face, (n[0] + m[0] + o[0], n[1] + m[1] + o[1], n[2] + m[2] + o[2]))
            d = (view.eye[0] - p[0], view.eye[1] - p[1], view.eye[2] - p[2])
            flip = 1.0
            if _dot(face, d) * outward < 0.0:
                if parts[i, CLOSED] != 0:
                    continue
                flip = -1.0
            u, v, w = _seen(view, p), _seen(view, q), _seen(view, s)
            _clipped(
                light, depth, tag, view,
                (u[0], u[1], u[2], flip * n[0], flip * n[1], flip * n[2]),
                (v[0], v[1], v[2], flip * m[0], flip * m[1], flip * m[2]),
                (w[0], w[1], w[2], flip * o[0], flip * o[1], flip * o[2]),
                pieces, i, parts[i, TAG],
            )  # fmt: skip


@kernel
def _clipped(light, depth, tag, view, a, b, c, pieces, i, which):
    """What of a triangle lies beyond the near plane: none, one triangle or two."""
    near = view.near
    r, g, bl = pieces[i, COLOR], pieces[i, COLOR + 1], pieces[i, COLOR + 2]
    gloss, nearer = pieces[i, GLOSS], pieces[i, NEARER]
    count = int(a[2] >= near) + int(b[2] >= near) + int(c[2] >= near)
    if count == 3:
        _fill(light, depth, tag, view, a, b, c, r, g, bl, gloss, nearer, which)
    elif count > 0:
        # Turned so that a is the corner that is alone on its side.
        alone = count == 1
        if (b[2] >= near) == alone and (a[2] >= near) != alone and (c[2] >= near) != alone:
            a, b, c = b, c, a
        elif (c[2] >= near) == alone and (a[2] >= near) != alone:
            a, b, c = c, a, b
        d, e = _between(a, b, near), _between(a, c, near)
        if alone:
            _fill(light, depth, tag, view, a, d, e, r, g, bl, gloss, nearer, which)
        else:
            _fill(light, depth, tag, view, d, b, c, r, g, bl, gloss, nearer, which)
            _fill(light, depth, tag, view, d, c, e, r, g, bl, gloss, nearer, which)


@inlined
def _fallen(p, view, ray, height):
    """Where the shadow of a point falls."""
    down = max(_dot(p, view.up) - height, 0.0) / _dot(ray, view.up)
    return p[0] - down * ray[0], p[1] - down * ray[1], p[2] - down * ray[2]


@kernel
def cast_shadows(shade, view, floor, lamps, corners, pieces, parts):
    """Shadows of pieces on the floor, for every point of the lamp (unit vectors, LAMPS × 3)."""
    for lamp in range(len(lamps)):
        ray = (lamps[lamp, 0], lamps[lamp, 1], lamps[lamp, 2])
        for i in range(len(pieces)):
            if parts[i, CASTS] == 0:
                continue
            for k in range(parts[i, FIRST], parts[i, FIRST] + parts[i, COUNT]):
                p, q, s = (
                    _corner(corners, pieces, i, k, 0),
                    _corner(corners, pieces, i, k, 1),
                    _corner(corners, pieces, i, k, 2),
                )
                if max(_dot(p, view.up), _dot(q, view.up), _dot(s, view.up)) < floor.height:
                    continue  # buried
                if parts[i, CLOSED] != 0:
                    # The half that faces the lamp has the same shadow as all.
                    e = (q[0] - p[0], q[1] - p[1], q[2] - p[2])
                    f = (s[0] - p[0], s[1] - p[1], s[2] - p[2])
                    face = (e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0])
                    if _dot(face, ray) < 0.0:
                        continue
                u = _seen(view, _fallen(p, view, ray, floor.height))
                v = _seen(view, _fallen(q, view, ray, floor.height))
                w = _seen(view, _fallen(s, view, ray, floor.height))
                # Shadows that reach behind the camera are left out: the floor has faded away there.
                if u[2] >= view.near and v[2] >= view.near and w[2] >= view.near:
                    _darken(shade, view, u, v, w, 1 << lamp)


@kernel
def draw_lines(light, depth, tag, view, points, ends, strokes):
    """Round lines through points (n × 3). `ends` has first and last point of each line and its tag; `strokes` has its
    linear colour, radius in samples, and how much nearer it is taken to be."""
    rows, columns = depth.shape
    for i in range(len(ends)):
        radius = strokes[i, 3]
        for k in range(ends[i, 0], ends[i, 1]):
            a = _seen(view, (points[k, 0], points[k, 1], points[k, 2]))
            b = _seen(view, (points[k + 1, 0], points[k + 1, 1], points[k + 1, 2]))
            if a[2] < view.near and b[2] < view.near:
                continue
            if a[2] < view.near or b[2] < view.near:
                s = (view.near - a[2]) / (b[2] - a[2])
                cut = (a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), view.near)
                if a[2] < view.near:
                    a = cut
                else:
                    b = cut
            _stroke(
                light, depth, tag, _screen(view, a, rows, columns), _screen(view, b, rows, columns), radius,
                radius / view.focal, (strokes[i, 0], strokes[i, 1], strokes[i, 2]), 1.0 + strokes[i, 4], ends[i, 2],
            )  # fmt: skip


@kernel
def _stroke(light, depth, tag, a, b, radius, bulge, color, scale, which):
    """One stretch of a line with round ends; `bulge` is its radius as a share of the distance."""
    rows, columns = depth.shape
    x0, x1 = _range(min(a[0], b[0]) - radius, max(a[0], b[0]) + radius, columns)
    y0, y1 = _range(min(a[1], b[1]) - radius, max(a[1], b[1]) + radius, rows)
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = dx * dx + dy * dy
    inverse = 1.0 / length if length > 0.0 else 0.0
    for y in range(y0, y1 + 1):
        for x in range(x0, x1 + 1):
            px, py = x + 0.5 - a[0], y + 0.5 - a[1]
            s = min(max((px * dx + py * dy) * inverse, 0.0), 1.0)
            ex, ey = px - s * dx, py - s * dy
            off = (ex * ex + ey * ey) / (radius * radius)
            if off > 1.0:
                continue
            # Round towards the eye too, so that the dark rim of a stretch does not cover the middle of the one before.
            w = (a[2] + s * (b[2] - a[2])) * scale * (1.0 + bulge * math.sqrt(1.0 - off))
            if w <= depth[y, x]:
                continue
            gleam = 1.0 - _TUBE * off
            light[y, x, 0] = color[0] * gleam
            light[y, x, 1] = color[1] * gleam
            light[y, x, 2] = color[2] * gleam
            depth[y, x] = w
            tag[y, x] = which


@inlined
def _line(x, spacing, footprint):
    """Share of a pixel's footprint [m] that a grid line covers at x."""
    away = abs(x - spacing * math.floor(x / spacing + 0.5))
    half = 0.009 * spacing
    cover = (half + 0.5 * footprint - away) / footprint
    return min(max(cover, 0.0), min(1.0, 2.0 * half / footprint))


@inlined
def _ground(view, floor, ray, hidden):
    """Light of the floor along a ray, its opacity and 1/distance; opacity 0 where it is not met."""
    fall = _dot(ray, view.up)
    above = _dot(view.eye, view.up) - floor.height
    if floor.shown == 0.0 or fall >= -1e-6 or above <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    t = -above / fall
    p = (
        view.eye[0] + t * ray[0] - floor.centre[0],
        view.eye[1] + t * ray[1] - floor.centre[1],
        view.eye[2] + t * ray[2] - floor.centre[2],
    )
    x, y = _dot(p, floor.x), _dot(p, floor.y)
    away = math.sqrt(x * x + y * y) / floor.radius
    if away >= 1.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    fade = 1.0 - away * away
    fade = fade * fade
    # A pixel is stretched on the floor along the view; lines are widened as if it were so in both directions, less.
    footprint = 2.0 * t / view.focal / math.sqrt(min(max(-fall, 0.02), 1.0))
    cover = max(_line(x, floor.spacing, footprint), _line(y, floor.spacing, footprint))
    lit = 1.0 - floor.shadow * hidden
    r = (floor.color[0] + cover * (floor.grid[0] - floor.color[0])) * lit
    g = (floor.color[1] + cover * (floor.grid[1] - floor.color[1])) * lit
    b = (floor.color[2] + cover * (floor.grid[2] - floor.color[2])) * lit
    return r, g, b, fade, 1.0 / (t * _dot(ray, view.forward))


@inlined
def _differs(depth, tag, y, x, v, u):
    """Whether something else is seen beside a sample, further away."""
    return tag[v, u] != tag[y, x] and depth[v, u] < depth[y, x]


@inlined
def _outline(depth, tag, y, x):
    rows, columns = depth.shape
    return (
        (x > 0 and _differs(depth, tag, y, x, y, x - 1))
        or (x + 1 < columns and _differs(depth, tag, y, x, y, x + 1))
        or (y > 0 and _differs(depth, tag, y, x, y - 1, x))
        or (y + 1 < rows and _differs(depth, tag, y, x, y + 1, x))
    )


@inlined
def _byte(x):
    return int(255.0 * math.sqrt(min(max(x, 0.0), 1.0)) + 0.5)


@kernel
def develop(image, light, depth, tag, shade, view, floor, top, bottom):
    """The image (h × w × 3, uint8): the floor before a background from `top` to `bottom`, and what stands on it."""
    rows, columns = shade.shape
    for y in range(rows):
        s = (y + 0.5) / rows
        back = (
            top[0] + s * (bottom[0] - top[0]),
            top[1] + s * (bottom[1] - top[1]),
            top[2] + s * (bottom[2] - top[2]),
        )
        v = (rows - 2.0 * y - 1.0) / view.focal
        for x in range(columns):
            u = (2.0 * x + 1.0 - columns) / view.focal
            ray = (
                view.forward[0] + u * view.right[0] + v * view.over[0],
                view.forward[1] + u * view.right[1] + v * view.over[1],
                view.forward[2] + u * view.right[2] + v * view.over[2],
            )
            bits, hidden = int(shade[y, x]), 0
            while bits:
                hidden += bits & 1
                bits >>= 1
            r, g, b, opacity, ground = _ground(view, floor, ray, hidden / LAMPS)
            r = back[0] + opacity * (r - back[0])
            g = back[1] + opacity * (g - back[1])
            b = back[2] + opacity * (b - back[2])
            red, green, blue = 0.0, 0.0, 0.0
            for j in range(2 * y, 2 * y + 2):
                for i in range(2 * x, 2 * x + 2):
                    if depth[j, i] == 0.0 or (opacity > 0.0 and depth[j, i] < ground):
                        red += r
                        green += g
                        blue += b
                    else:
                        left = _EDGE if _outline(depth, tag, j, i) else 1.0
                        # Brighter than white is white before the mean is taken, or highlights have ragged rims.
                        red += left * min(light[j, i, 0], 1.0)
                        green += left * min(light[j, i, 1], 1.0)
                        blue += left * min(light[j, i, 2], 1.0)
            image[y, x, 0] = _byte(0.25 * red)
            image[y, x, 1] = _byte(0.25 * green)
            image[y, x, 2] = _byte(0.25 * blue)
