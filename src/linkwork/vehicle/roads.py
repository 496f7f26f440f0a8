"""Roads: scenery made of arrays, images, functions, random profiles, kerbs, ramps and paint.

A road is scenery with a material, and whatever makes scenery makes roads: tyres feel it (`docs/tyres.md`), contact
touches it, pictures show it. What stands here makes pieces of scenery of a few numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..model import Box, HeightField, Plane, Scenery
from ..model.errors import LinkworkError, MissingExtraError
from ..model.rotation import Array, Vector, about

CLASSES = "ABCDEFGH"
"""Of ISO 8608, from very good to very poor."""
REFERENCE = 0.1
"""Spatial frequency at which classes are stated [1/m]."""
ROAD, PAINT = "#8a8d8a", "#e8e4d8"
_LIFT = 2e-3  # of paint over its road [m]
_NODES = 400  # of the integral for a Bessel function


def height_road(
    name: str, heights: Any, size: tuple[float, float], *, at: Vector = (0.0, 0.0, 0.0), material: str = "road",
    color: str = ROAD,
) -> Scenery:  # fmt: skip
    """A smooth road through an array of heights, rows along y and columns along x [m], of a size [m] around `at`."""
    grid = np.asarray(heights, float)
    field = HeightField(size, heights=tuple(map(tuple, grid.tolist())), smooth=True)
    return Scenery(name, at=at, shapes=(field,), material=material, color=color)


def function_road(
    name: str, function: Callable[[Array, Array], Array], size: tuple[float, float], *, cell: float = 0.1,
    at: Vector = (0.0, 0.0, 0.0), material: str = "road", color: str = ROAD,
) -> Scenery:  # fmt: skip
    """A smooth road z = function(x, y), arrays of places in its frame to an array of heights [m], on a grid of
    cells."""
    _need(cell=cell, length=size[0], width=size[1])
    x, y = (np.linspace(-0.5, 0.5, max(2, round(extent / cell) + 1)) * extent for extent in size)
    across, along = np.meshgrid(y, x, indexing="ij")
    heights = np.broadcast_to(np.asarray(function(along, across), float), along.shape)
    if not np.isfinite(heights).all():
        raise LinkworkError(f"road '{name}': its function has heights that are not finite")
    return height_road(name, heights, size, at=at, material=material, color=color)


def image_road(
    name: str, file: str, size: tuple[float, float], height: float, *, at: Vector = (0.0, 0.0, 0.0),
    material: str = "road", color: str = ROAD,
) -> Scenery:  # fmt: skip
    """A smooth road of the brightness of an image, from 0 (black) to `height` [m] (white); its top is at +y."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("pillow", "video", f"reading the image '{file}'") from None
    try:
        with Image.open(file) as image:
            grey = np.asarray(image.convert("F"), float)[::-1]
            white = 65535.0 if image.mode.startswith("I") else 255.0
    except OSError as error:
        raise LinkworkError(f"road '{name}': image '{file}' cannot be read: {error}") from None
    return height_road(name, height * grey / white, size, at=at, material=material, color=color)


def slope_road(
    name: str, *, up: float = 0.0, side: float = 0.0, material: str = "road", color: str = ROAD
) -> Scenery:
    """A plane that rises by the angle `up` along x and by `side` along y, about the origin [rad]."""
    if not max(abs(up), abs(side)) < 0.5 * math.pi:
        raise LinkworkError(f"road '{name}': slopes must be less than a right angle")
    normal = np.array([-math.tan(up), -math.tan(side), 1.0])
    normal /= np.linalg.norm(normal)
    angle = math.acos(normal[2])
    axis = (-float(normal[1]), float(normal[0]), 0.0)
    rotation = about(axis, angle) if angle > 0.0 else (1.0, 0.0, 0.0, 0.0)
    return Scenery(name, rotation=rotation, shapes=(Plane(),), material=material, color=color)


def ramp(
    name: str, *, start: float, length: float, height: float, width: float = 4.0, y: float = 0.0,
    material: str = "road", color: str = ROAD,
) -> Scenery:  # fmt: skip
    """An inclined plate that rises from the ground at x = `start` to `height` at `start` + `length` [m]."""
    _need(length=length, width=width, height=height)
    angle, thick = math.atan2(height, length), 0.2
    slant = math.hypot(length, height)
    s, c = math.sin(angle), math.cos(angle)
    middle = (start + 0.5 * length + 0.5 * thick * s, y, 0.5 * height - 0.5 * thick * c)
    box = Box((slant, width, thick), at=middle, rotation=about((0.0, 1.0, 0.0), -angle))
    return Scenery(name, shapes=(box,), material=material, color=color)


def kerb(
    name: str, *, start: float, length: float, height: float, width: float = 0.3, y: float = 0.0,
    material: str = "road", color: str = "#9a9a94",
) -> Scenery:  # fmt: skip
    """A box on the ground, from x = `start`, its middle at `y`: a kerb, a plate, a step [m]."""
    _need(length=length, width=width, height=height)
    box = Box((length, width, height), at=(start + 0.5 * length, y, 0.5 * height))
    return Scenery(name, shapes=(box,), material=material, color=color)


def patch(
    name: str,
    *,
    start: float,
    length: float,
    width: float,
    y: float = 0.0,
    material: str,
    color: str = "#b9d3e0",
) -> Scenery:
    """A rectangle of another material flush with flat ground, such as ice."""
    _need(length=length, width=width)
    box = Box((length, width, 0.1), at=(start + 0.5 * length, y, -0.05))
    return Scenery(name, shapes=(box,), material=material, color=color)


def paint(
    name: str,
    points: Any,
    *,
    width: float = 0.12,
    dash: float = 0.0,
    closed: bool = False,
    color: str = PAINT,
) -> Scenery:
    """A line through points on flat ground, for the eye alone; with `dash`, as long and as far apart [m]."""
    way = np.atleast_2d(np.asarray(points, float))[:, :2]
    if closed:
        way = np.vstack([way, way[:1]])
    if len(way) < 2:
        raise LinkworkError(f"paint '{name}': a line needs at least two points")
    shapes = []
    for begin, end in pairwise(way):
        step, length = end - begin, float(np.hypot(*(end - begin)))
        if length == 0.0:
            continue
        heading = math.atan2(step[1], step[0])
        count = max(1, round(length / (2.0 * dash))) if dash > 0.0 else 1
        piece = 0.5 * length / count if dash > 0.0 else length
        for k in range(count):
            middle = begin + step * ((k + 0.5) / count)
            at = (float(middle[0]), float(middle[1]), 0.5 * _LIFT)
            turned = about((0.0, 0.0, 1.0), heading)
            shapes.append(Box((piece, width, _LIFT), at=at, rotation=turned, use="picture"))
    return Scenery(name, shapes=tuple(shapes), color=color)


def roughness(iso_class: str, n: Any) -> Any:
    """Displacement spectrum of an ISO 8608 class at spatial frequencies n [1/m]: its middle, one-sided [m³].

    16·4^k·1e-6 m³ (n/0.1)^-2, k = 0 for class A.
    """
    if iso_class not in CLASSES or len(iso_class) != 1:
        raise LinkworkError(f"there is no road class '{iso_class}'; ISO 8608 has {', '.join(CLASSES)}")
    return 16e-6 * 4.0 ** CLASSES.index(iso_class) * (np.asarray(n, float) / REFERENCE) ** -2


def coherence(n: Any, apart: Any) -> Any:
    """Of an isotropic road with the spectrum n^-2, the share of waves that two tracks `apart` [m] have in common, at n
    [1/m]: x K₁(x) with x = 2 pi n apart (after Kamash and Robson, J. Sound Vib. 57, 1978)."""
    x = 2.0 * math.pi * np.abs(np.asarray(n, float) * np.asarray(apart, float))
    # K₁(x) = ∫ exp(-x cosh t) cosh t dt, with s = x cosh t where x is small left out of the exponent's way.
    t = np.linspace(0.0, 1.0, _NODES + 1)
    top = np.arccosh(1.0 + 40.0 / np.maximum(x, 1e-8))[..., None]
    values = np.exp(-x[..., None] * np.cosh(t * top)) * np.cosh(t * top)
    weights = np.full(_NODES + 1, 4.0)
    weights[2:-1:2], weights[0], weights[-1] = 2.0, 1.0, 1.0
    whole = (values * weights).sum(axis=-1) * top[..., 0] / (3.0 * _NODES)
    return np.where(x < 1e-6, 1.0, x * whole)


def random_heights(
    iso_class: str, length: float, width: float, *, cell: float = 0.1, across: float = 0.25, seed: int = 0
) -> Array:
    """Heights of a random road of an ISO 8608 class, rows along y at most `across` apart, columns along x every `cell`
    [m].

    Every track has the spectrum of the class between 1/length and 1/(2 cell); tracks are as coherent as those of an
    isotropic road: alike in long waves, not in short ones. The profile repeats itself after its length.
    """
    _need(length=length, width=width, cell=cell, across=across)
    columns, rows = round(length / cell), max(2, math.ceil(width / across) + 1)
    rng = np.random.default_rng(seed)
    n = np.arange(1, (columns - 1) // 2 + 1) / length
    y = np.linspace(0.0, width, rows)
    apart = np.abs(y[:, None] - y)
    alike = np.linalg.cholesky(coherence(n[:, None, None], apart) + 1e-9 * np.eye(rows))
    noise = rng.normal(size=(len(n), rows, 2)) @ np.array([1.0, 1.0j])
    # One-sided: a wave of complex amplitude a has the power |a|²/2 in a band of 1/length.
    waves = np.sqrt(roughness(iso_class, n) / length)[:, None] * (alike @ noise[..., None])[..., 0]
    spectrum = np.zeros((columns // 2 + 1, rows), complex)
    spectrum[1 : len(n) + 1] = waves
    heights: Array = np.fft.irfft(spectrum, columns, axis=0) * columns / 2.0
    return heights.T


def random_road(
    name: str, iso_class: str, *, length: float = 100.0, width: float = 4.0, lead: float = 10.0, cell: float = 0.1,
    seed: int = 0, material: str = "road", color: str = ROAD,
) -> Scenery:  # fmt: skip
    """A random road of an ISO 8608 class from x = 0, with a flat `lead` [m] before and behind, where it begins softly.

    It is all there is: a plane beside it belongs below its hollows.
    """
    heights = random_heights(iso_class, length, width, cell=cell, seed=seed)
    flat = round(lead / cell)
    fade = np.clip(
        np.minimum(np.arange(heights.shape[1]), np.arange(heights.shape[1])[::-1]) * cell / 5.0, 0.0, 1.0
    )
    heights = heights * fade * fade * (3.0 - 2.0 * fade)
    heights = np.pad(heights, ((0, 0), (flat, flat)))
    size = (cell * (heights.shape[1] - 1), width)
    return height_road(
        name, heights, size, at=(0.5 * size[0] - lead, 0.0, 0.0), material=material, color=color
    )  # fmt: skip


def _need(**sizes: float) -> None:
    for name, value in sizes.items():
        if not (math.isfinite(value) and value > 0.0):
            raise LinkworkError(f"{name} must be greater than 0 m (got {value!r})")
