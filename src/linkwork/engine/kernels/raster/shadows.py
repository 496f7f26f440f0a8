"""Shadows of pieces on the floor, soft where the lamp is far from what casts them."""

import math

from ..jit import inlined, kernel
from .buffers import corner_of
from .camera import dot, on_screen, sample_range, seen
from .triangles import SLACK

LAMPS = 8
"""Points of the lamp: a bit of `shade` each."""


@kernel
def _darken(shade, view, a, b, c, bit):
    """One triangle of a shadow on the floor, at the resolution of the image."""
    rows, columns = shade.shape
    ax, ay, _ = on_screen(view, a, 2.0 * rows, 2.0 * columns)
    bx, by, _ = on_screen(view, b, 2.0 * rows, 2.0 * columns)
    cx, cy, _ = on_screen(view, c, 2.0 * rows, 2.0 * columns)
    ax, ay, bx, by, cx, cy = 0.5 * ax, 0.5 * ay, 0.5 * bx, 0.5 * by, 0.5 * cx, 0.5 * cy
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if area == 0.0 or not math.isfinite(area):
        return
    x0, x1 = sample_range(min(ax, bx, cx), max(ax, bx, cx), columns)
    y0, y1 = sample_range(min(ay, by, cy), max(ay, by, cy), rows)
    inverse = 1.0 / area
    ua, va = (by - cy) * inverse, (cx - bx) * inverse
    ub, vb = (cy - ay) * inverse, (ax - cx) * inverse
    for y in range(y0, y1 + 1):
        entered = False
        for x in range(x0, x1 + 1):
            wa = ua * (x + 0.5 - cx) + va * (y + 0.5 - cy)
            wb = ub * (x + 0.5 - cx) + vb * (y + 0.5 - cy)
            if wa >= -SLACK and wb >= -SLACK and wa + wb <= 1.0 + SLACK:
                shade[y, x] |= bit
                entered = True
            elif entered:
                break


@inlined
def _fallen(p, view, ray, height):
    """Where the shadow of a point falls."""
    down = max(dot(p, view.up) - height, 0.0) / dot(ray, view.up)
    return p[0] - down * ray[0], p[1] - down * ray[1], p[2] - down * ray[2]


@kernel
def cast_shadows(shade, view, floor, lamps, mesh, pieces):
    """Shadows of pieces on the floor, for every point of the lamp (unit vectors, LAMPS × 3)."""
    for lamp in range(len(lamps)):
        ray = (lamps[lamp, 0], lamps[lamp, 1], lamps[lamp, 2])
        for i in range(len(pieces)):
            piece = pieces[i]
            if piece.casts == 0:
                continue
            for k in range(piece.first, piece.first + piece.count):
                p, q, s = (
                    corner_of(mesh, piece, k, 0),
                    corner_of(mesh, piece, k, 1),
                    corner_of(mesh, piece, k, 2),
                )
                if max(dot(p, view.up), dot(q, view.up), dot(s, view.up)) < floor.height:
                    continue  # buried
                if piece.closed != 0:
                    # The half that faces the lamp has the same shadow as all.
                    e = (q[0] - p[0], q[1] - p[1], q[2] - p[2])
                    f = (s[0] - p[0], s[1] - p[1], s[2] - p[2])
                    face = (e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0])
                    if dot(face, ray) < 0.0:
                        continue
                u = seen(view, _fallen(p, view, ray, floor.height))
                v = seen(view, _fallen(q, view, ray, floor.height))
                w = seen(view, _fallen(s, view, ray, floor.height))
                # Shadows that reach behind the camera are left out: the floor has faded away there.
                if u[2] >= view.near and v[2] >= view.near and w[2] >= view.near:
                    _darken(shade, view, u, v, w, 1 << lamp)
