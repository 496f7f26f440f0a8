"""Where a picture is taken from: points of the world in axes of the camera, and in samples of the picture."""

import math
from typing import NamedTuple

from ..jit import inlined


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
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def unit(x, y, z):
    size = math.sqrt(x * x + y * y + z * z)
    s = 1.0 / size if size > 0.0 else 0.0
    return x * s, y * s, z * s


@inlined
def seen(view, p):
    """A point of the world in axes of the camera: right, over, forward."""
    d = (p[0] - view.eye[0], p[1] - view.eye[1], p[2] - view.eye[2])
    return dot(d, view.right), dot(d, view.over), dot(d, view.forward)


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
