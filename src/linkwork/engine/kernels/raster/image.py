"""The floor, the background and the final image, with outlines of bodies."""

import math
from typing import NamedTuple

from ..jit import inlined, kernel
from ..math3 import add3, dot3, scale3, sub3
from .camera import mixed, ray_through
from .shadows import LAMPS

_EDGE = 0.55  # light left at the outlines of bodies


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
def _line(x, spacing, footprint):
    """Share of a pixel's footprint [m] that a grid line covers at x."""
    away = abs(x - spacing * math.floor(x / spacing + 0.5))
    half = 0.009 * spacing
    cover = (half + 0.5 * footprint - away) / footprint
    return min(max(cover, 0.0), min(1.0, 2.0 * half / footprint))


@inlined
def _ground(view, floor, ray, hidden):
    """Light of the floor along a ray, its opacity and 1/distance; opacity 0 where it is not met."""
    fall = dot3(ray, view.up)
    above = dot3(view.eye, view.up) - floor.height
    if floor.shown == 0.0 or fall >= -1e-6 or above <= 0.0:
        return (0.0, 0.0, 0.0), 0.0, 0.0
    t = -above / fall
    p = sub3(add3(view.eye, scale3(t, ray)), floor.centre)
    x, y = dot3(p, floor.x), dot3(p, floor.y)
    away = math.sqrt(x * x + y * y) / floor.radius
    if away >= 1.0:
        return (0.0, 0.0, 0.0), 0.0, 0.0
    fade = (1.0 - away * away) ** 2
    # A pixel is stretched on the floor along the view; lines are widened as if it were so in both directions, less.
    footprint = 2.0 * t / view.focal / math.sqrt(min(max(-fall, 0.02), 1.0))
    cover = max(_line(x, floor.spacing, footprint), _line(y, floor.spacing, footprint))
    light = scale3(1.0 - floor.shadow * hidden, mixed(floor.color, floor.grid, cover))
    return light, fade, 1.0 / (t * dot3(ray, view.forward))


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
def develop(image, buffers, view, floor, top, bottom):
    """The image (h × w × 3, uint8): the floor before a background from `top` to `bottom`, and what stands on it."""
    light, depth, tag, shade = buffers
    rows, columns = shade.shape
    for y in range(rows):
        back = mixed(top, bottom, (y + 0.5) / rows)
        v = (rows - 2.0 * y - 1.0) / view.focal
        for x in range(columns):
            ray = ray_through(view, (2.0 * x + 1.0 - columns) / view.focal, v)
            bits, hidden = int(shade[y, x]), 0
            while bits:
                hidden += bits & 1
                bits >>= 1
            lit, opacity, ground = _ground(view, floor, ray, hidden / LAMPS)
            behind = mixed(back, lit, opacity)
            total = (0.0, 0.0, 0.0)
            for j in range(2 * y, 2 * y + 2):
                for i in range(2 * x, 2 * x + 2):
                    if depth[j, i] == 0.0 or (opacity > 0.0 and depth[j, i] < ground):
                        total = add3(total, behind)
                    else:
                        left = _EDGE if _outline(depth, tag, j, i) else 1.0
                        # Brighter than white is white before the mean is taken, or highlights have ragged rims.
                        color = (min(light[j, i, 0], 1.0), min(light[j, i, 1], 1.0), min(light[j, i, 2], 1.0))
                        total = add3(total, scale3(left, color))
            for k in range(3):
                image[y, x, k] = _byte(0.25 * total[k])
