"""The floor, the background and the final image, with outlines of bodies."""

import math
from typing import NamedTuple

from ..jit import inlined, kernel
from .camera import dot
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
    fall = dot(ray, view.up)
    above = dot(view.eye, view.up) - floor.height
    if floor.shown == 0.0 or fall >= -1e-6 or above <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    t = -above / fall
    p = (
        view.eye[0] + t * ray[0] - floor.centre[0],
        view.eye[1] + t * ray[1] - floor.centre[1],
        view.eye[2] + t * ray[2] - floor.centre[2],
    )
    x, y = dot(p, floor.x), dot(p, floor.y)
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
    return r, g, b, fade, 1.0 / (t * dot(ray, view.forward))


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
