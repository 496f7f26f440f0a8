"""Solid pieces of meshes, triangle by triangle, lit and tested for depth."""

import math

from ..jit import inlined, kernel
from .buffers import corner_of, normal_of
from .camera import dot, on_screen, sample_range, seen, unit

SLACK = 1e-9  # a sample on the edge of two triangles belongs to both: rounding must not give it to none


@inlined
def _between(a, b, near):
    """Where the edge from a to b crosses the near plane: seen point and normal."""
    s = (near - a[2]) / (b[2] - a[2])
    return (
        a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), near,
        a[3] + s * (b[3] - a[3]), a[4] + s * (b[4] - a[4]), a[5] + s * (b[5] - a[5]),
    )  # fmt: skip


@inlined
def _shine(view, ray, normal, piece):
    """Light from a surface with a unit normal, seen along the unit vector `ray` (from the eye)."""
    nx, ny, nz = normal
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
    hx, hy, hz = unit(view.lamp[0] - ray[0], view.lamp[1] - ray[1], view.lamp[2] - ray[2])
    spot = max(nx * hx + ny * hy + nz * hz, 0.0)
    spot *= spot
    spot *= spot
    spot *= spot
    spot *= spot
    spot *= spot  # to the power of 32
    rim = 1.0 - min(head, 1.0)
    rim = rim * rim * rim * (0.35 + 0.65 * sky)
    extra = piece.gloss * (0.35 * spot + 0.18 * rim)
    r, g, b = piece.color[0], piece.color[1], piece.color[2]
    return r * red + extra, g * green + extra, b * blue + extra


@kernel
def _fill(buffers, view, a, b, c, piece):
    """One triangle in front of the near plane; corners are (right, over, forward, normal)."""
    light, depth, tag = buffers.light, buffers.depth, buffers.tag
    rows, columns = depth.shape
    ax, ay, aw = on_screen(view, a, rows, columns)
    bx, by, bw = on_screen(view, b, rows, columns)
    cx, cy, cw = on_screen(view, c, rows, columns)
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if area == 0.0 or not math.isfinite(area):
        return
    x0, x1 = sample_range(min(ax, bx, cx), max(ax, bx, cx), columns)
    y0, y1 = sample_range(min(ay, by, cy), max(ay, by, cy), rows)
    inverse = 1.0 / area
    # Weights of corners a and b are linear in the picture; that of c is the rest.
    ua, va = (by - cy) * inverse, (cx - bx) * inverse
    ub, vb = (cy - ay) * inverse, (ax - cx) * inverse
    scale = 1.0 + piece.nearer
    for y in range(y0, y1 + 1):
        py = y + 0.5
        entered = False
        for x in range(x0, x1 + 1):
            px = x + 0.5
            wa = ua * (px - cx) + va * (py - cy)
            wb = ub * (px - cx) + vb * (py - cy)
            wc = 1.0 - wa - wb
            if wa < -SLACK or wb < -SLACK or wc < -SLACK:
                if entered:
                    break
                continue
            entered = True
            ka, kb, kc = wa * aw, wb * bw, wc * cw
            w = ka + kb + kc
            if w * scale <= depth[y, x]:
                continue
            # Divided by w these are perspective-correct weights; the normal is made unit anyway.
            normal = unit(
                ka * a[3] + kb * b[3] + kc * c[3],
                ka * a[4] + kb * b[4] + kc * c[4],
                ka * a[5] + kb * b[5] + kc * c[5],
            )
            u, v = (px - 0.5 * columns) / view.focal, (0.5 * rows - py) / view.focal
            ray = unit(
                view.forward[0] + u * view.right[0] + v * view.over[0],
                view.forward[1] + u * view.right[1] + v * view.over[1],
                view.forward[2] + u * view.right[2] + v * view.over[2],
            )
            red, green, blue = _shine(view, ray, normal, piece)
            light[y, x, 0] = red
            light[y, x, 1] = green
            light[y, x, 2] = blue
            depth[y, x] = w * scale
            tag[y, x] = piece.tag


@kernel
def draw_pieces(buffers, view, mesh, pieces):
    """Draw solid pieces: records of `PIECE`, their triangles in a `Mesh`."""
    for i in range(len(pieces)):
        piece = pieces[i]
        for k in range(piece.first, piece.first + piece.count):
            p, q, s = (
                corner_of(mesh, piece, k, 0),
                corner_of(mesh, piece, k, 1),
                corner_of(mesh, piece, k, 2),
            )
            n, m, o = (
                normal_of(mesh, piece, k, 0),
                normal_of(mesh, piece, k, 1),
                normal_of(mesh, piece, k, 2),
            )
            # The face itself, turned as its corners' normals are: a mirrored mesh runs the other way around.
            e = (q[0] - p[0], q[1] - p[1], q[2] - p[2])
            f = (s[0] - p[0], s[1] - p[1], s[2] - p[2])
            face = (e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0])
            outward = dot(face, (n[0] + m[0] + o[0], n[1] + m[1] + o[1], n[2] + m[2] + o[2]))
            d = (view.eye[0] - p[0], view.eye[1] - p[1], view.eye[2] - p[2])
            flip = 1.0
            if dot(face, d) * outward < 0.0:
                if piece.closed != 0:
                    continue
                flip = -1.0
            u, v, w = seen(view, p), seen(view, q), seen(view, s)
            _clipped(
                buffers, view,
                (u[0], u[1], u[2], flip * n[0], flip * n[1], flip * n[2]),
                (v[0], v[1], v[2], flip * m[0], flip * m[1], flip * m[2]),
                (w[0], w[1], w[2], flip * o[0], flip * o[1], flip * o[2]),
                piece,
            )  # fmt: skip


@kernel
def _clipped(buffers, view, a, b, c, piece):
    """What of a triangle lies beyond the near plane: none, one triangle or two."""
    near = view.near
    count = int(a[2] >= near) + int(b[2] >= near) + int(c[2] >= near)
    if count == 3:
        _fill(buffers, view, a, b, c, piece)
    elif count > 0:
        # Turned so that a is the corner that is alone on its side.
        alone = count == 1
        if (b[2] >= near) == alone and (a[2] >= near) != alone and (c[2] >= near) != alone:
            a, b, c = b, c, a
        elif (c[2] >= near) == alone and (a[2] >= near) != alone:
            a, b, c = c, a, b
        d, e = _between(a, b, near), _between(a, c, near)
        if alone:
            _fill(buffers, view, a, d, e, piece)
        else:
            _fill(buffers, view, d, b, c, piece)
            _fill(buffers, view, d, c, e, piece)
