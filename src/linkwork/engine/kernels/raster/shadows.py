"""Shadows of pieces on the floor, soft where the lamp is far from what casts them."""

from ..jit import inlined, kernel
from ..math3 import dot3, scale3, sub3
from .buffers import corners_of
from .camera import on_screen, seen, spanned
from .triangles import SLACK

LAMPS = 8
"""Points of the lamp: a bit of `shade` each."""


@kernel
def _darken(shade, view, a, b, c, bit):
    """One triangle of a shadow on the floor, at the resolution of the image."""
    rows, columns = shade.shape
    p = scale3(0.5, on_screen(view, a, 2.0 * rows, 2.0 * columns))
    q = scale3(0.5, on_screen(view, b, 2.0 * rows, 2.0 * columns))
    s = scale3(0.5, on_screen(view, c, 2.0 * rows, 2.0 * columns))
    x0, x1, y0, y1, ua, va, ub, vb = spanned(p, q, s, rows, columns)
    for y in range(y0, y1 + 1):
        entered = False
        for x in range(x0, x1 + 1):
            wa = ua * (x + 0.5 - s[0]) + va * (y + 0.5 - s[1])
            wb = ub * (x + 0.5 - s[0]) + vb * (y + 0.5 - s[1])
            if wa >= -SLACK and wb >= -SLACK and wa + wb <= 1.0 + SLACK:
                shade[y, x] |= bit
                entered = True
            elif entered:
                break


@inlined
def _fallen(p, view, ray, height):
    """Where the shadow of a point falls."""
    return sub3(p, scale3(max(dot3(p, view.up) - height, 0.0) / dot3(ray, view.up), ray))


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
                p, q, s, face = corners_of(mesh, piece, k)
                if max(dot3(p, view.up), dot3(q, view.up), dot3(s, view.up)) < floor.height:
                    continue  # buried
                if piece.closed != 0 and dot3(face, ray) < 0.0:
                    continue  # the half that faces the lamp has the same shadow as all
                u = seen(view, _fallen(p, view, ray, floor.height))
                v = seen(view, _fallen(q, view, ray, floor.height))
                w = seen(view, _fallen(s, view, ray, floor.height))
                # Shadows that reach behind the camera are left out: the floor has faded away there.
                if u[2] >= view.near and v[2] >= view.near and w[2] >= view.near:
                    _darken(shade, view, u, v, w, 1 << lamp)
