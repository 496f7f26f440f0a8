"""Solid pieces of meshes, triangle by triangle, lit and tested for depth."""

from ..jit import inlined, kernel
from ..math3 import add3, dot3, scale3, sub3
from .buffers import corners_of, normal_of
from .camera import on_screen, ray_through, seen, spanned, unit

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
    # Sky above, a warmer floor below, the lamp, and a faint lamp at the camera that shapes what is in the dark.
    sky = 0.5 + 0.5 * dot3(normal, view.up)
    lamp = max(dot3(normal, view.lamp), 0.0)
    head = max(-dot3(normal, ray), 0.0)
    red = 0.20 + 0.14 * sky + 0.70 * lamp + 0.12 * head
    green = 0.19 + 0.16 * sky + 0.69 * lamp + 0.12 * head
    blue = 0.18 + 0.20 * sky + 0.66 * lamp + 0.12 * head
    spot = max(dot3(normal, unit(sub3(view.lamp, ray))), 0.0) ** 32
    rim = (1.0 - min(head, 1.0)) ** 3 * (0.35 + 0.65 * sky)
    extra = piece.gloss * (0.35 * spot + 0.18 * rim)
    r, g, b = piece.color[0], piece.color[1], piece.color[2]
    return r * red + extra, g * green + extra, b * blue + extra


@kernel
def _fill(buffers, view, a, b, c, piece):
    """One triangle in front of the near plane; corners are (right, over, forward, normal)."""
    light, depth, tag = buffers.light, buffers.depth, buffers.tag
    rows, columns = depth.shape
    p, q, s = (
        on_screen(view, a, rows, columns),
        on_screen(view, b, rows, columns),
        on_screen(view, c, rows, columns),
    )
    x0, x1, y0, y1, ua, va, ub, vb = spanned(p, q, s, rows, columns)
    scale = 1.0 + piece.nearer
    for y in range(y0, y1 + 1):
        py = y + 0.5
        entered = False
        for x in range(x0, x1 + 1):
            px = x + 0.5
            wa = ua * (px - s[0]) + va * (py - s[1])
            wb = ub * (px - s[0]) + vb * (py - s[1])
            wc = 1.0 - wa - wb
            if wa < -SLACK or wb < -SLACK or wc < -SLACK:
                if entered:
                    break
                continue
            entered = True
            ka, kb, kc = wa * p[2], wb * q[2], wc * s[2]
            w = ka + kb + kc
            if w * scale <= depth[y, x]:
                continue
            # Divided by w these are perspective-correct weights; the normal is made unit anyway.
            normal = unit(
                (
                    ka * a[3] + kb * b[3] + kc * c[3],
                    ka * a[4] + kb * b[4] + kc * c[4],
                    ka * a[5] + kb * b[5] + kc * c[5],
                )
            )
            u, v = (px - 0.5 * columns) / view.focal, (0.5 * rows - py) / view.focal
            red, green, blue = _shine(view, unit(ray_through(view, u, v)), normal, piece)
            light[y, x, 0], light[y, x, 1], light[y, x, 2] = red, green, blue
            depth[y, x] = w * scale
            tag[y, x] = piece.tag


@kernel
def draw_pieces(buffers, view, mesh, pieces):
    """Draw solid pieces: records of `PIECE`, their triangles in a `Mesh`."""
    for i in range(len(pieces)):
        piece = pieces[i]
        for k in range(piece.first, piece.first + piece.count):
            p, q, s, face = corners_of(mesh, piece, k)
            n, m, o = normal_of(mesh, piece, k, 0), normal_of(mesh, piece, k, 1), normal_of(mesh, piece, k, 2)
            # The face itself, turned as its corners' normals are: a mirrored mesh runs the other way around.
            outward = dot3(face, add3(add3(n, m), o))
            flip = 1.0
            if dot3(face, sub3(view.eye, p)) * outward < 0.0:
                if piece.closed != 0:
                    continue
                flip = -1.0
            a, b, c = (
                seen(view, p) + scale3(flip, n),
                seen(view, q) + scale3(flip, m),
                seen(view, s) + scale3(flip, o),
            )
            _clipped(buffers, view, a, b, c, piece)


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
