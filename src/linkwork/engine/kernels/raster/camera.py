"""Where a picture is taken from: points of the world in axes of the camera, and in samples of the picture."""

import math
from typing import NamedTuple

from ..jit import inlined
from ..math3 import add3, dot3, norm3, scale3, sub3


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


@inlined
def unit(a):
    size = norm3(a)
    return scale3(1.0 / size if size > 0.0 else 0.0, a)


@inlined
def mixed(a, b, share):
    """Some of a and a share of b."""
    return add3(a, scale3(share, sub3(b, a)))


@inlined
def seen(view, p):
    """A point of the world in axes of the camera: right, over, forward."""
    d = sub3(p, view.eye)
    return dot3(d, view.right), dot3(d, view.over), dot3(d, view.forward)


@inlined
def ray_through(view, u, v):
    """From the eye through the place u to the right and v over the middle of the picture, at a distance of one."""
    return add3(view.forward, add3(scale3(u, view.right), scale3(v, view.over)))


@inlined
def sample_range(low, high, size):
    """First and last sample, both included, of a stretch of the picture; clamped before it becomes an integer."""
    first = math.ceil(min(max(low - 0.5, 0.0), size + 1.0))
    last = math.floor(min(max(high - 0.5, -1.0), size - 1.0))
    return int(first), int(last)


@inlined
def on_screen(view, a, rows, columns):
    """Place in the picture [samples] and 1/distance."""
    w = 1.0 / a[2]
    return 0.5 * columns + view.focal * a[0] * w, 0.5 * rows - view.focal * a[1] * w, w


@inlined
def spanned(a, b, c, rows, columns):
    """First and last column and row of the samples around a triangle of the picture, and how the weights of its corners
    a and b, which are linear there, change with x and y: that of c is the rest. No samples if it has no area."""
    area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    if area == 0.0 or not math.isfinite(area):
        return 0, -1, 0, -1, 0.0, 0.0, 0.0, 0.0
    x0, x1 = sample_range(min(a[0], b[0], c[0]), max(a[0], b[0], c[0]), columns)
    y0, y1 = sample_range(min(a[1], b[1], c[1]), max(a[1], b[1], c[1]), rows)
    s = 1.0 / area
    return x0, x1, y0, y1, (b[1] - c[1]) * s, (c[0] - b[0]) * s, (c[1] - a[1]) * s, (a[0] - c[0]) * s
