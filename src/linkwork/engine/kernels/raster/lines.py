"""Round lines, such as springs and traces."""

import math

import numpy as np

from ..jit import kernel
from .camera import on_screen, sample_range, seen

STROKE = np.dtype(
    [
        ("first", "i8"),  # its first and last point
        ("last", "i8"),
        ("tag", "i8"),
        ("color", "f8", 3),  # linear in light
        ("radius", "f8"),  # in samples
        ("nearer", "f8"),  # how much nearer it is taken to be, as a share of the distance
    ]
)
_TUBE = 0.45  # light lost at the rims of lines, which look like tubes


@kernel
def draw_lines(buffers, view, points, strokes):
    """Draw round lines through points (n × 3): records of `STROKE`."""
    rows, columns = buffers.depth.shape
    for i in range(len(strokes)):
        stroke = strokes[i]
        for k in range(stroke.first, stroke.last):
            a = seen(view, (points[k, 0], points[k, 1], points[k, 2]))
            b = seen(view, (points[k + 1, 0], points[k + 1, 1], points[k + 1, 2]))
            if a[2] < view.near and b[2] < view.near:
                continue
            if a[2] < view.near or b[2] < view.near:
                s = (view.near - a[2]) / (b[2] - a[2])
                cut = (a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), view.near)
                if a[2] < view.near:
                    a = cut
                else:
                    b = cut
            p, q = on_screen(view, a, rows, columns), on_screen(view, b, rows, columns)
            _draw_stretch(buffers, p, q, stroke.radius / view.focal, stroke)


@kernel
def _draw_stretch(buffers, a, b, bulge, stroke):
    """One stretch of a line with round ends; `bulge` is its radius as a share of the distance."""
    light, depth, tag = buffers.light, buffers.depth, buffers.tag
    radius, color, scale = stroke.radius, stroke.color, 1.0 + stroke.nearer
    rows, columns = depth.shape
    x0, x1 = sample_range(min(a[0], b[0]) - radius, max(a[0], b[0]) + radius, columns)
    y0, y1 = sample_range(min(a[1], b[1]) - radius, max(a[1], b[1]) + radius, rows)
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
            tag[y, x] = stroke.tag
