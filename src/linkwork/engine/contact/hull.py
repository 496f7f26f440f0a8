"""Convex hulls of mesh files, ready for contact: polygons, their planes, and edges.

A hull with more vertices than a limit is replaced by one that *contains* it and whose faces touch it. Bodies at
rest lie on faces, hence rest at the right height, and nothing ever sinks into what is seen; the price is paid at
corners, which stand out by at most `error`. A hull inside the mesh with as many vertices comes closer to round
things, but there every face, hence every resting height, is wrong.

Everything is computed about the centre of the points and in units of their size, so that micrometres and
gigametres get the same digits. Reading meshes needs the extra `mesh`, cutting concave ones the extra `decompose`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...model.rotation import Array
from .checks import check_finite, check_limit, check_scale, distinct, package, problem
from .polyhedron import FLAT, Hull, Parts, convex_hull, principal
from .remember import content_key, remembered
from .surface import Surface, read_surface

__all__ = ["Hull", "Parts", "decompose", "hull_of", "hull_of_points"]

LIMIT = 64
"""Vertices of a hull, if nothing else is asked for: beyond, contact costs more than corners are worth."""

_LARGE = 50_000  # bytes: hulls of larger files are kept on disk, smaller ones take as long to make as to find


def hull_of(
    file: str | os.PathLike[str],
    scale: float | tuple[float, float, float] = 1.0,
    inverted: bool = False,
    limit: int = LIMIT,
) -> Hull:
    """The convex hull of a mesh file, with at most `limit` vertices.

    `scale` is in metres per unit of the file, along all axes or along each; `inverted` reflects the hull through the
    origin of the file.
    Hulls are remembered by the content of the file: a changed file gives a new hull.
    """
    where = f"mesh '{os.fspath(file)}'"
    scale, stretch = _stretched(where, scale)
    check_limit(where, limit)

    def make() -> Parts:
        surface = _read(file, stretch)
        hull, full = convex_hull(surface.points, limit, where)
        notes = (*surface.notes, *hull.notes)
        volume = abs(surface.volume)
        if volume < 0.95 * full:
            notes = (
                *notes,
                (
                    f"the mesh fills {100 * volume / full:.0f} % of its convex hull; where its hollows matter,"
                    " cut it into convex parts with linkwork.engine.contact.hull.decompose"
                ),
            )
        return Parts([hull._replace(notes=notes)])

    key = content_key(file, where, "hull", limit, stretch)
    (hull,) = remembered(key, make, lasting=os.path.getsize(file) > _LARGE)
    return _noted(_placed(hull, scale, inverted), where)


def hull_of_points(points: Any, limit: int = LIMIT, where: str = "convex hull of points") -> Hull:
    """The convex hull of n x 3 points [m], with at most `limit` vertices; `where` is who asks, for messages."""
    check_limit(where, limit)
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise problem(where, f"needs points as an array of n x 3 numbers, not one of shape {points.shape}")
    check_finite(where, points, "point")
    return _noted(convex_hull(distinct(points)[0], limit, where)[0], where)


def decompose(
    file: str | os.PathLike[str],
    scale: float | tuple[float, float, float] = 1.0,
    inverted: bool = False,
    limit: int = LIMIT,
    *,
    threshold: float = 0.05,
    parts: int = 32,
    seed: int = 0,
) -> Parts:
    """A concave mesh as several convex hulls, each with at most `limit` vertices.

    `threshold` is the concavity, relative to the size of the mesh, at which a part is cut no further (0.01: many and
    close parts, 1: few), and `parts` the most there may be. Needs the package coacd (Wei et al., "Approximate
    convex decomposition for 3D meshes with collision-aware concavity and tree search", SIGGRAPH 2022) and takes
    seconds, or minutes for an open mesh, around which it first wraps a closed one; the outcome is remembered by the
    content of the file. It may differ between machines.
    """
    where = f"mesh '{os.fspath(file)}'"
    scale, stretch = _stretched(where, scale)
    check_limit(where, limit)
    if not 0.01 <= threshold <= 1.0:
        raise problem(where, f"threshold = {threshold} must lie between 0.01 (close) and 1 (coarse)")
    if parts < 1:
        raise problem(where, f"parts = {parts} must be at least 1")

    def make() -> Parts:
        surface = _read(file, stretch)
        found = Parts(
            convex_hull(points, limit, where)[0] for points in _cut(surface, where, threshold, parts, seed)
        )
        found.notes = surface.notes
        found.outside = _outside(surface.points, found)
        if np.isfinite(surface.volume):
            found.volume_error = _union_volume(found) / abs(surface.volume) - 1.0
        else:
            found.notes += ("its volume is unknown, hence also how well the parts fill it",)
        return found

    found = remembered(
        content_key(file, where, "parts", limit, threshold, parts, seed, stretch), make, lasting=True
    )
    out = Parts(_placed(hull, scale, inverted) for hull in found)
    out.notes, out.volume_error, out.outside = found.notes, found.volume_error, scale * found.outside
    return out


def _stretched(where: str, scale: float | tuple[float, float, float]) -> tuple[float, tuple[float, ...]]:
    """One scale for all axes, and what is left for each of them."""
    if not isinstance(scale, tuple):
        check_scale(where, scale)
        return scale, (1.0, 1.0, 1.0)
    for one in scale:
        check_scale(where, one)
    largest = max(scale)
    return largest, tuple(one / largest for one in scale)


def _read(file: str | os.PathLike[str], stretch: tuple[float, ...]) -> Surface:
    """The surface of a file, stretched along its axes."""
    surface = read_surface(file)
    if stretch == (1.0, 1.0, 1.0):
        return surface
    return surface._replace(
        points=surface.points * np.array(stretch), volume=surface.volume * float(np.prod(stretch))
    )


def _cut(surface: Surface, where: str, threshold: float, parts: int, seed: int) -> list[Array]:
    """Points of the convex parts of a mesh, by the package coacd."""
    coacd = package("coacd", "decompose", f"cutting the {where} into convex parts")
    centre = 0.5 * (surface.points.min(axis=0) + surface.points.max(axis=0))
    size = float(np.linalg.norm(np.ptp(surface.points, axis=0)))
    if principal((surface.points - centre) / (size or 1.0))[1][2] < FLAT:
        return [surface.points]  # the hull says what is wrong with it
    coacd.set_log_level("error")
    triangles = surface.triangles if not surface.volume < 0 else surface.triangles[:, ::-1]
    try:
        pieces = coacd.run_coacd(
            coacd.Mesh((surface.points - centre) / size, np.ascontiguousarray(triangles)),
            threshold=threshold,
            max_convex_hull=parts,
            seed=seed,
        )
    except Exception as error:
        raise problem(where, f"cannot be cut into convex parts: {error or type(error).__name__}") from None
    found = []
    for vertices, _ in pieces:
        points = np.asarray(vertices, dtype=float)
        if len(points) >= 4 and principal(points)[1][2] >= FLAT:
            found.append(distinct(points * size + centre)[0])
    if not found:
        raise problem(where, "cannot be cut into convex parts: none was found; use its hull instead")
    return found


def _outside(points: Array, hulls: Iterable[Hull]) -> float:
    """How far the farthest of points lies out of all hulls (along a normal of the nearest)."""
    nearest = np.full(len(points), np.inf)
    for hull in hulls:
        heights = np.full(len(points), -np.inf)
        for *normal, offset in hull.normals.tolist():
            np.maximum(heights, points @ np.array(normal) - offset, out=heights)
        np.minimum(nearest, heights, out=nearest)
    return float(max(nearest.max(), 0.0))


def _union_volume(hulls: list[Hull], count: int = 1 << 16) -> float:
    """Volume of the union of hulls: points of each that lie in no earlier one, of a low-discrepancy sequence."""
    qmc = package("scipy.stats", "mesh", "the volume of convex parts").qmc
    sample = qmc.Sobol(3, scramble=False).random(count)
    total = 0.0
    for k, hull in enumerate(hulls):
        low, high = hull.vertices.min(axis=0), hull.vertices.max(axis=0)
        points = low + sample * (high - low)
        points = points[(points @ hull.normals[:, :3].T <= hull.normals[:, 3]).all(axis=1)]
        fresh = np.ones(len(points), dtype=bool)
        for other in hulls[:k]:
            if np.all(other.vertices.min(axis=0) <= high) and np.all(other.vertices.max(axis=0) >= low):
                fresh &= ~(points @ other.normals[:, :3].T <= other.normals[:, 3]).all(axis=1)
        # The volume of a hull is known; only what part of it is new must be counted.
        total += hull.volume * (float(fresh.mean()) if len(points) else 1.0)
    return total


def _placed(hull: Hull, scale: float, inverted: bool) -> Hull:
    """A copy of a hull, scaled and reflected through the origin."""
    factor = -scale if inverted else scale
    normals = hull.normals * (1.0, 1.0, 1.0, scale)
    corners = hull.corners.copy()
    if inverted:
        normals[:, :3] *= -1.0
        for first, count in hull.faces.tolist():  # a reflection turns the sense of polygons round
            corners[first : first + count] = corners[first : first + count][::-1]
    return hull._replace(
        vertices=hull.vertices * factor,
        normals=normals,
        faces=hull.faces.copy(),
        corners=corners,
        edges=hull.edges.copy(),
        error=hull.error * scale,
    )


def _noted(hull: Hull, where: str) -> Hull:
    """With a note if its size looks like a mistaken unit; an error if it cannot be computed with."""
    size = hull.size
    if not (np.isfinite(size) and 1e-100 < size < 1e100):
        raise problem(where, f"is {size:.3g} m large, which cannot be computed with; check its scale")
    if not 1e-6 <= size <= 1e6:
        note = f"it is {size:.3g} m large; check its scale (metres per unit of the file)"
        return hull._replace(notes=(*hull.notes, note))
    return hull
