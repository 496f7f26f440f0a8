"""Convex hulls of mesh files, ready for contact: polygons, their planes, and edges.

A hull with more vertices than a limit is replaced by one that *contains* it and whose faces touch it. Bodies at
rest lie on faces, hence rest at the right height, and nothing ever sinks into what is seen; the price is paid at
corners, which stand out by at most `error`. A hull inside the mesh with as many vertices comes closer to round
things (5 % of the radius of a ball where this one has 11 %), but there every face, hence every resting height,
is wrong.

Everything is computed about the centre of the points and in units of their size, so that micrometres and
gigametres get the same digits. Reading meshes needs the extra `mesh`, cutting concave ones the extra `decompose`.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtraError, ModelError, Problem
from ..rotation import Array

__all__ = ["Hull", "Parts", "decompose", "hull_of", "hull_of_points"]

Indices = NDArray[Any]
"""Whole numbers."""
LIMIT = 64
"""Vertices of a hull, if nothing else is asked for: beyond, contact costs more than corners are worth."""
_FEWEST = 8  # vertices of the box that a simplified hull is cut from
_FLAT = 1e-9  # of the size: what is thinner has no inside
_COPLANAR = 1e-6  # of the size: single precision leaves 1e-7 in the corners of a flat face
_MANY_POINTS = 30_000  # Qhull takes 0.3 s for as many points on a ball
_MANY_TRIANGLES = 200_000  # worth a note
_MANY_WALLS = 4000  # of those that face nearly the same way the largest will do to cut corners off
_LARGE = 50_000  # bytes: hulls of larger files are kept on disk, smaller ones take as long to make as to find
_KEPT = 256  # hulls remembered in this process


class Hull(NamedTuple):
    """A convex polyhedron in the frame of its mesh."""

    vertices: Array
    """n x 3 [m]."""
    normals: Array
    """m x 4: outward unit normal and offset d of each face; inside is n·x <= d [m]."""
    faces: Indices
    """m x 2 integers: the first of its corners, and how many."""
    corners: Indices
    """Indices of vertices, face by face, counter-clockwise seen from outside."""
    edges: Indices
    """k x 2 indices of vertices, each edge once, the smaller index first."""
    error: float = 0.0
    """How far this hull stands out of that of the mesh at most [m]: 0 if it was not simplified. The planes of a
    hull always contain all points; its vertices do so to 1e-6 of its size, to which faces are taken for flat."""
    notes: tuple[str, ...] = ()
    """What is remarkable about the mesh or was done to it."""

    @property
    def volume(self) -> float:
        """[m³]"""
        return float(np.sum(self._cones()) / 3.0)

    @property
    def size(self) -> float:
        """Diagonal of the box around it [m]."""
        return float(np.linalg.norm(np.ptp(self.vertices, axis=0)))

    def polygon(self, face: int) -> Array:
        """Corners of a face, counter-clockwise seen from outside [m]."""
        first, count = self.faces[face]
        corners: Array = self.vertices[self.corners[first : first + count]]
        return corners

    def _cones(self) -> Array:
        """Thrice the volume between a vertex and every face [m³]."""
        apex = self.vertices[0]
        parts = np.empty(len(self.faces))
        for k in range(len(self.faces)):
            corners = self.polygon(k) - apex
            parts[k] = 0.5 * np.sum(np.cross(corners, np.roll(corners, -1, axis=0)) @ corners[0])
        return parts


class Parts(list[Hull]):
    """Convex hulls that together make up a concave mesh, and how well they do."""

    volume_error: float = float("nan")
    """Volume of the union of all parts over that of the mesh, less one; NaN if the mesh is not closed."""
    outside: float = 0.0
    """How far the farthest vertex of the mesh lies outside all parts [m]."""
    notes: tuple[str, ...] = ()
    """What is remarkable about the mesh or was done to it."""


class _Surface(NamedTuple):
    """The triangles of a mesh file, each corner once."""

    points: Array
    triangles: Indices
    volume: float  # NaN unless closed and consistently oriented; negative if inside out
    notes: tuple[str, ...]


# --- files -----------------------------------------------------------------------------------------------------


def hull_of(
    file: str | os.PathLike[str], scale: float = 1.0, inverted: bool = False, limit: int = LIMIT
) -> Hull:
    """The convex hull of a mesh file, with at most `limit` vertices.

    `scale` is in metres per unit of the file; `inverted` reflects the hull through the origin of the file.
    Hulls are remembered by the content of the file: a changed file gives a new hull.
    """
    where = f"mesh '{os.fspath(file)}'"
    _check_scale(where, scale)
    _check_limit(where, limit)

    def make() -> Parts:
        surface = _read(file)
        hull, full = _hull(surface.points, limit, where)
        notes = (*surface.notes, *hull.notes)
        volume = abs(surface.volume)
        if volume < 0.95 * full:
            notes = (
                *notes,
                (
                    f"the mesh fills {100 * volume / full:.0f} % of its convex hull; where its hollows matter,"
                    " cut it into convex parts with linkwork.contact.hull.decompose"
                ),
            )
        return Parts([hull._replace(notes=notes)])

    key = _key(file, where, "hull", limit)
    (hull,) = _remembered(key, make, lasting=os.path.getsize(file) > _LARGE)
    return _noted(_placed(hull, scale, inverted), where)


def hull_of_points(points: Any, limit: int = LIMIT, where: str = "convex hull of points") -> Hull:
    """The convex hull of n x 3 points [m], with at most `limit` vertices; `where` is who asks, for messages."""
    _check_limit(where, limit)
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise _problem(where, f"needs points as an array of n x 3 numbers, not one of shape {points.shape}")
    _check_finite(where, points, "point")
    return _noted(_hull(_distinct(points)[0], limit, where)[0], where)


def decompose(
    file: str | os.PathLike[str],
    scale: float = 1.0,
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
    _check_scale(where, scale)
    _check_limit(where, limit)
    if not 0.01 <= threshold <= 1.0:
        raise _problem(where, f"threshold = {threshold} must lie between 0.01 (close) and 1 (coarse)")
    if parts < 1:
        raise _problem(where, f"parts = {parts} must be at least 1")

    def make() -> Parts:
        surface = _read(file)
        found = Parts(
            _hull(points, limit, where)[0] for points in _cut(surface, where, threshold, parts, seed)
        )
        found.notes = surface.notes
        found.outside = _outside(surface.points, found)
        if np.isfinite(surface.volume):
            found.volume_error = _union_volume(found) / abs(surface.volume) - 1.0
        else:
            found.notes += ("its volume is unknown, hence also how well the parts fill it",)
        return found

    found = _remembered(_key(file, where, "parts", limit, threshold, parts, seed), make, lasting=True)
    out = Parts(_placed(hull, scale, inverted) for hull in found)
    out.notes, out.volume_error, out.outside = found.notes, found.volume_error, scale * found.outside
    return out


def _read(file: str | os.PathLike[str]) -> _Surface:
    """The triangles of a mesh file, checked."""
    name = os.fspath(file)
    where = f"mesh '{name}'"
    trimesh = _package("trimesh", "mesh", f"reading the {where}")
    try:
        # Unprocessed: trimesh would merge vertices closer than 1e-8, which ends tiny meshes, and drop NaN unseen.
        mesh = trimesh.load_mesh(name, process=False)
        points = np.asarray(mesh.vertices, dtype=float)
        triangles = np.asarray(mesh.faces, dtype=np.int64).reshape(-1, 3)
    except MissingExtraError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # trimesh raises whatever the reader of the format raises
        suffix = Path(name).suffix
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise _problem(
            where,
            f"cannot be read as {suffix[1:].upper() or 'a mesh'}: {said}. Check that the file is whole and that its"
            " name ends as its format does; save it as STL, OBJ, PLY or GLB",
        ) from None
    if len(triangles) == 0:
        raise _problem(
            where,
            "has no triangles: it is cut short, or holds no surface but points, curves or text; export it anew",
        )
    _check_finite(where, points, "vertex")
    notes = []
    if triangles.min() < 0 or triangles.max() >= len(points):
        raise _problem(where, "has triangles with corners that do not exist; save the file anew")
    total = len(points)
    points, index = _distinct(points)
    triangles = index[triangles]
    used = np.zeros(len(points), dtype=bool)
    used[triangles.ravel()] = True
    if not used.all():
        notes.append(
            f"{np.count_nonzero(~used)} of its {total} vertices belong to no triangle and are left out"
        )
        points, triangles = points[used], (np.cumsum(used) - 1)[triangles]
    if len(triangles) >= _MANY_TRIANGLES:
        notes.append(
            f"it has {len(triangles)} triangles; a mesh for contact needs a few thousand, and a smaller file loads"
            " faster"
        )
    volume, remarks = _enclosed(points, triangles)
    return _Surface(points, triangles, volume, (*notes, *remarks))


def _enclosed(points: Array, triangles: Indices) -> tuple[float, list[str]]:
    """Volume inside a surface [units³], NaN if it is open, and what is remarkable about it."""
    tails = triangles.ravel()
    heads = triangles[:, (1, 2, 0)].ravel()
    proper = tails != heads  # triangles may have lost a side when equal corners were merged
    tails, heads = tails[proper], heads[proper]
    count = len(points)
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    order = np.argsort(low * count + high, kind="stable")
    keys = (low * count + high)[order]
    balance = np.where(tails < heads, 1, -1)[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if np.any(np.diff(starts, append=len(keys)) % 2):
        return float("nan"), ["its surface is open; that does not matter to its convex hull"]
    if np.any(np.add.reduceat(balance, starts)):
        return float("nan"), [
            "some of its triangles are turned over; that does not matter to its convex hull"
        ]
    centred = points - points.mean(axis=0)
    a, b, c = (centred[triangles[:, k]] for k in range(3))
    volume = float(np.sum(a * np.cross(b, c))) / 6.0
    inside_out = volume < 0
    return volume, ["it is inside out; that does not matter to its convex hull"] if inside_out else []


# --- the hull --------------------------------------------------------------------------------------------------


def _hull(points: Array, limit: int, where: str) -> tuple[Hull, float]:
    """The hull of distinct finite points, simplified if it must be, and the volume it had before."""
    spatial = _package("scipy.spatial", "mesh", f"the {where}" if where.startswith("convex") else where)
    with np.errstate(over="ignore"):
        centre = 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
    if not np.isfinite(size):
        raise _problem(where, f"has points up to {np.abs(points).max():.3g} apart: too large, scale it down")
    notes: tuple[str, ...] = ()
    if size > 0.0:
        lost = np.spacing(np.abs(points).max()) / size
        if lost > 1e-9:
            notes = (
                (
                    f"it lies so far from its origin that points are known to {lost:.1e} of its size only;"
                    " move the mesh to the origin and place the shape instead"
                ),
            )
    unit = (points - centre) / (size or 1.0)
    axes, extents = _principal(unit)
    if extents[2] < _FLAT:
        what = "a single point" if extents[0] < _FLAT else "a line" if extents[1] < _FLAT else "flat"
        thickness = f" (it is {extents[2] * size:.3g} thick and {size:.3g} large)" if what == "flat" else ""
        raise _problem(
            where, f"is {what}{thickness}, hence has no inside; give it a thickness or use a thin box instead"
        )
    try:
        full, exact = _raw_hull(spatial, unit, limit)
        coplanar = min(_COPLANAR, 0.01 * float(extents[2]))
        error = 0.0
        hull = None
        if exact and len(full.vertices) <= max(4 * limit, 1000):  # many may lie on edges and in faces
            hull = _polyhedron(spatial, unit[full.vertices], coplanar)
        if hull is None or len(hull.vertices) > limit:
            before = len(full.vertices)
            corners, error = _outer(spatial, unit, full, axes * extents, limit)
            hull = _polyhedron(spatial, corners, coplanar)
            notes += (
                (
                    f"its convex hull has {before}{'' if exact else ' or more'} vertices and was replaced by one with"
                    f" {len(hull.vertices)} that contains it and stands out by {error * size:.2g} at most"
                    f" ({100 * error:.2g} % of its size)"
                ),
            )
    except spatial.QhullError as failure:
        said = str(failure).strip().splitlines()[0][:200] if str(failure).strip() else "Qhull gave up"
        raise _problem(
            where, f"has no convex hull: {said}. It may be too thin; check its dimensions"
        ) from None
    normals = hull.normals.copy()
    normals[:, 3] = normals[:, 3] * size + normals[:, :3] @ centre
    vertices = hull.vertices * size + centre
    placed = hull._replace(vertices=vertices, normals=normals, error=error * size, notes=notes)
    return placed, float(full.volume) * size**3


def _principal(points: Array) -> tuple[Array, Array]:
    """Axes (columns) of the box around points, longest first, and its lengths along them."""
    about = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(about.T @ about)
    extents = np.ptp(points @ axes, axis=0)
    order = np.argsort(-extents, kind="stable")
    return np.ascontiguousarray(axes[:, order]), extents[order]


def _raw_hull(spatial: Any, points: Array, limit: int) -> tuple[Any, bool]:
    """Qhull of points, or of some of them where they are too many and the hull will be simplified anyway."""
    if len(points) <= _MANY_POINTS:
        return spatial.ConvexHull(points), True
    # Of the points that lie in nearly the same direction the farthest will do for a start.
    far = _one_of_each(points, np.linalg.norm(points, axis=1), 64)
    extreme = far[np.unique(np.argmax(points[far] @ _directions(100).T, axis=0))]
    planes = np.unique(spatial.ConvexHull(points[extreme]).equations, axis=0)

    def stands_out(some: Array) -> Array:
        return (some @ planes[:, :3].T + planes[:, 3]).max(axis=1) > 1e-10  # type: ignore[no-any-return]

    round_thing = stands_out(points[:: max(1, len(points) // 5000)]).mean() * len(points) > 1.5 * _MANY_POINTS
    if round_thing and limit <= len(far) // 4:
        # It will be simplified, and planes get their offsets from all points.
        return _Picked(spatial.ConvexHull(points[far]), far), False
    # Most points of most meshes lie inside a hull of a few: those need not go through Qhull.
    outside = np.concatenate([stands_out(points[k : k + 20_000]) for k in range(0, len(points), 20_000)])
    outside[extreme] = True
    kept = np.flatnonzero(outside)
    return _Picked(spatial.ConvexHull(points[kept]), kept), True


def _one_of_each(vectors: Array, values: Array, cells: int) -> Indices:
    """Indices of the vectors with the largest value in each of 6 cells² directions, on the sides of a cube."""
    side = np.argmax(np.abs(vectors), axis=1)
    rows = np.arange(len(vectors))
    major = vectors[rows, side]
    across = np.stack([vectors[rows, (side + 1) % 3], vectors[rows, (side + 2) % 3]])
    across /= np.where(major == 0.0, 1.0, np.abs(major))
    at = np.minimum((across + 1.0) * (0.5 * cells), cells - 1).astype(np.int64)
    bins = ((side * 2 + (major > 0)) * cells + at[0]) * cells + at[1]
    order = np.lexsort((-values, bins))
    return np.sort(order[np.flatnonzero(np.diff(bins[order], prepend=-1))])


class _Picked:
    """A hull of some of the points, with indices into all of them."""

    def __init__(self, hull: Any, kept: Indices):
        self.vertices = kept[hull.vertices]
        self.simplices = kept[hull.simplices]
        self.equations = hull.equations
        self.volume = hull.volume


def _directions(count: int) -> Array:
    """Unit vectors spread evenly over the sphere (a Fibonacci spiral)."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    angle = np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def _polyhedron(spatial: Any, points: Array, coplanar: float) -> Hull:
    """The hull of points with coplanar triangles merged to polygons; of size one, about the origin."""
    for options in ("Qt", "QJ"):  # joggled input, off by 1e-13, is always a clean surface of triangles
        raw = spatial.ConvexHull(points, qhull_options=options)
        triangles = _oriented(raw.simplices, raw.neighbors, points, raw.equations)
        if triangles is None:
            continue
        for tolerance in (coplanar, 0.01 * coplanar, 1e-4 * coplanar, 0.0):
            hull = _merged(points, triangles, raw.neighbors, raw.equations, tolerance)
            if hull is not None:
                return hull
    raise spatial.QhullError("its faces do not close")


def _oriented(triangles: Indices, neighbours: Indices, points: Array, planes: Array) -> Indices | None:
    """Triangles turned counter-clockwise seen from outside, or None if they are no closed surface.

    The sense is passed on from neighbour to neighbour, for the normal of a sliver points anywhere.
    """
    triangles = triangles.astype(np.int64)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    start = int(np.argmax(np.einsum("ij,ij->i", cross, cross)))
    if cross[start] @ planes[start, :3] < 0:
        triangles[start] = triangles[start, ::-1]
    seen = np.zeros(len(triangles), dtype=bool)
    seen[start] = True
    waiting = [start]
    rows: list[list[int]] = triangles.tolist()
    while waiting:
        k = waiting.pop()
        p, q, r = rows[k]
        sides = {(p, q), (q, r), (r, p)}
        for other in neighbours[k].tolist():
            if seen[other]:
                continue
            x, y, z = rows[other]
            if sides & {(x, y), (y, z), (z, x)}:  # the shared side must run the other way round
                rows[other] = [z, y, x]
            seen[other] = True
            waiting.append(other)
    sides_of_all = {(row[i], row[(i + 1) % 3]) for row in rows for i in range(3)}
    if not seen.all() or len(sides_of_all) != 3 * len(rows):
        return None
    if any((head, tail) not in sides_of_all for tail, head in sides_of_all):
        return None
    return np.array(rows, dtype=np.int64)


def _merged(
    points: Array, triangles: Indices, neighbours: Indices, planes: Array, tolerance: float
) -> Hull | None:
    """Triangles that lie in one plane as one polygon, or None if that leaves no proper polyhedron.

    Grows each face from its largest triangle, and compares with the plane of that one, so that a finely
    meshed ball does not become one face by and by.
    """
    a, b, c = (points[triangles[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    region = np.full(len(triangles), -1, dtype=np.int64)
    count = 0
    for seed in np.argsort(-areas, kind="stable").tolist():
        if region[seed] >= 0:
            continue
        normal, offset = planes[seed, :3], planes[seed, 3]
        region[seed] = count
        waiting = [seed]
        while waiting:
            for other in neighbours[waiting.pop()].tolist():
                if region[other] >= 0:
                    continue
                sliver = areas[other] < 1e-3 * tolerance
                if not sliver and planes[other, :3] @ normal < 0.5:
                    continue  # the far side or the rim of a thin plate
                if np.all(np.abs(points[triangles[other]] @ normal + offset) <= tolerance):
                    region[other] = count
                    waiting.append(other)
        count += 1
    following: list[dict[int, int]] = [{} for _ in range(count)]
    degree = np.zeros(len(points), dtype=np.int64)
    owner = {}
    for k, row in enumerate(triangles.tolist()):
        for i in range(3):
            owner[row[i], row[(i + 1) % 3]] = int(region[k])
    for (tail, head), face in owner.items():
        if owner[head, tail] == face:
            continue
        if tail in following[face]:
            return None
        following[face][tail] = head
        degree[tail] += 1
    loops = []
    for ring in following:
        if not ring:
            return None
        start = min(ring)
        loop, at = [start], ring[start]
        while at != start and len(loop) <= len(ring):
            loop.append(at)
            at = ring[at]
        if len(loop) != len(ring):
            return None
        # Between two faces alone, a vertex is a point on their common edge.
        loop = [vertex for vertex in loop if degree[vertex] > 2]
        if len(loop) < 3:
            return None
        loops.append(loop)
    used = np.unique(np.concatenate(loops))
    index = np.full(len(points), -1, dtype=np.int64)
    index[used] = np.arange(len(used))
    sides = {(loop[i - 1], loop[i]) for loop in loops for i in range(len(loop))}
    if len(sides) != sum(map(len, loops)) or any((head, tail) not in sides for tail, head in sides):
        return None
    if len(used) - len(sides) // 2 + len(loops) != 2:
        return None
    normals = np.empty((count, 4))
    for k, loop in enumerate(loops):
        corners = points[loop]
        about = corners - corners.mean(axis=0)
        normal = np.cross(about, np.roll(about, -1, axis=0)).sum(axis=0)
        length = np.linalg.norm(normal)
        if not length > 0.0:
            return None
        normal /= length
        heights = points @ normal
        normals[k, :3], normals[k, 3] = normal, heights.max()
        if normals[k, 3] - heights[loop].min() > max(4.0 * tolerance, 1e-9):
            return None
    edges = np.array(sorted((tail, head) for tail, head in sides if tail < head), dtype=np.int64)
    counts = np.array([len(loop) for loop in loops], dtype=np.int64)
    faces = np.stack([np.cumsum(counts) - counts, counts], axis=1)
    return Hull(points[used], normals, faces, index[np.concatenate(loops)], index[edges])


# --- simplification --------------------------------------------------------------------------------------------


def _outer(spatial: Any, points: Array, full: Any, frame: Array, limit: int) -> tuple[Array, float]:
    """Corners of a polyhedron around points, `limit` at most, and how far they stand out of the hull `full`.

    Begins with few planes and cuts the worst corner off, again and again, by the face of the hull that it is
    farthest away from. Things with flat faces end best if one begins with their box, round ones with planes all
    around: both are tried (a cylinder 0.1 % against 7 % of its size, a ball 4.0 % against 3.2 %).
    `frame` has the axes of the box around the points as columns, as long as the box.
    """
    walls = full.equations * (1.0, 1.0, 1.0, -1.0)
    if len(walls) > _MANY_WALLS:
        a, b, c = (points[full.simplices[:, k]] for k in range(3))
        walls = walls[_one_of_each(walls[:, :3], np.linalg.norm(np.cross(b - a, c - a), axis=1), 24)]
    walls = np.unique(walls, axis=0)
    vertices = points[full.vertices]
    centre = vertices.mean(axis=0)
    best: tuple[float, Array] | None = None
    upright = frame / np.linalg.norm(frame, axis=0)
    for start in (np.vstack([upright.T, -upright.T]), _directions(limit // 2) @ np.linalg.inv(frame)):
        start = start / np.linalg.norm(start, axis=1)[:, None]
        planes = np.column_stack([start, (vertices @ start.T).max(axis=0)])
        corners, planes = _corners(spatial, planes, centre, frame)
        if len(corners) > limit:
            continue
        while True:
            heights = corners @ walls[:, :3].T - walls[:, 3]
            corner, wall = np.unravel_index(np.argmax(heights), heights.shape)
            depth = float(heights[corner, wall])
            if depth < 1e-9:
                break
            more, kept = _corners(spatial, np.vstack([planes, walls[wall]]), centre, frame)
            if len(more) > limit:
                break
            corners, planes = more, kept
        if best is None or depth < best[0]:
            best = depth, planes
    assert best is not None  # a box has eight corners
    planes = best[1].copy()
    planes[:, 3] = (points @ planes[:, :3].T).max(
        axis=0
    )  # of all points, not of those that went through Qhull
    corners, _ = _corners(spatial, planes, centre, frame)
    return corners, _farthest(corners, points[full.simplices], full.equations)


def _corners(spatial: Any, planes: Array, centre: Array, frame: Array) -> tuple[Array, Array]:
    """Corners of the polyhedron that planes bound, and the planes that take part.

    By duality: planes are points, and the hull of those has a face for every corner. `frame` makes thin things
    thick, which keeps the digits of their dual.
    """
    dual = (planes[:, :3] @ frame) / (planes[:, 3] - planes[:, :3] @ centre)[:, None]
    hull = spatial.ConvexHull(dual)
    if hull.equations[:, 3].max() > -1e-9:
        raise spatial.QhullError("planes do not bound it")
    corners = -hull.equations[:, :3] / hull.equations[:, 3:]
    _, once = np.unique(np.round(corners, 9), axis=0, return_index=True)
    return centre + corners[np.sort(once)] @ frame.T, planes[np.sort(hull.vertices)]


def _farthest(corners: Array, triangles: Array, planes: Array) -> float:
    """The largest distance of points from a hull of triangles (k x 3 x 3) that they lie outside of."""
    trimesh = _package("trimesh", "mesh", "the distance between hulls")
    worst = 0.0
    for corner in corners:
        seen = triangles[
            planes[:, :3] @ corner + planes[:, 3] > 0
        ]  # the nearest is one of those that face it
        if len(seen):
            nearest = trimesh.triangles.closest_point(seen, np.broadcast_to(corner, (len(seen), 3)))
            worst = max(worst, float(np.sqrt(np.sum((nearest - corner) ** 2, axis=1).min())))
    return worst


# --- convex parts ----------------------------------------------------------------------------------------------


def _cut(surface: _Surface, where: str, threshold: float, parts: int, seed: int) -> list[Array]:
    """Points of the convex parts of a mesh, by the package coacd."""
    coacd = _package("coacd", "decompose", f"cutting the {where} into convex parts")
    centre = 0.5 * (surface.points.min(axis=0) + surface.points.max(axis=0))
    size = float(np.linalg.norm(np.ptp(surface.points, axis=0)))
    if _principal((surface.points - centre) / (size or 1.0))[1][2] < _FLAT:
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
        raise _problem(where, f"cannot be cut into convex parts: {error or type(error).__name__}") from None
    found = []
    for vertices, _ in pieces:
        points = np.asarray(vertices, dtype=float)
        if len(points) >= 4 and _principal(points)[1][2] >= _FLAT:
            found.append(_distinct(points * size + centre)[0])
    if not found:
        raise _problem(where, "cannot be cut into convex parts: none was found; use its hull instead")
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
    qmc = _package("scipy.stats", "mesh", "the volume of convex parts").qmc
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


# --- small things ----------------------------------------------------------------------------------------------


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
        raise _problem(where, f"is {size:.3g} m large, which cannot be computed with; check its scale")
    if not 1e-6 <= size <= 1e6:
        note = f"it is {size:.3g} m large; check its scale (metres per unit of the file)"
        return hull._replace(notes=(*hull.notes, note))
    return hull


def _distinct(points: Array) -> tuple[Array, Indices]:
    """Different points in order of first appearance, and the index among them of every point.

    By a hash of each row, since sorting rows takes ten times as long; equal hashes of different rows are found out.
    """
    points = np.ascontiguousarray(points) + 0.0  # -0 and 0 are the same
    bits = points.view(np.uint64)
    mixed = bits * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
    mixed ^= mixed >> np.uint64(29)
    codes = (
        mixed[:, 0]
        + (mixed[:, 1] * np.uint64(0xBF58476D1CE4E5B9))
        + (mixed[:, 2] * np.uint64(0x94D049BB133111EB))
    )
    _, first, index = np.unique(codes, return_index=True, return_inverse=True)
    index = index.ravel()
    if not np.array_equal(points[first][index], points):
        _, first, index = np.unique(points, axis=0, return_index=True, return_inverse=True)
        index = index.ravel()
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return points[first[order]], rank[index]


def _check_finite(where: str, points: Array, kind: str) -> None:
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        k = int(np.argmax(bad))
        values = ", ".join(f"{x:g}" for x in points[k])
        plural = "vertices" if kind == "vertex" else f"{kind}s"
        raise _problem(
            where,
            f"{np.count_nonzero(bad)} of {len(points)} {plural} are not finite, the first of them number {k} at"
            f" ({values}); repair or export the mesh anew",
        )


def _check_scale(where: str, scale: float) -> None:
    if not (np.isfinite(scale) and scale > 0.0):
        raise _problem(where, f"scale = {scale} must be positive; to reflect it use inverted=True")


def _check_limit(where: str, limit: int) -> None:
    if limit < _FEWEST:
        raise _problem(where, f"limit = {limit}: a hull may have to have {_FEWEST} vertices; allow as many")


def _problem(where: str, what: str) -> ModelError:
    return ModelError([Problem(where, what)])


def _package(name: str, extra: str, purpose: str) -> Any:
    """An optional package, loaded when it is needed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(name.split(".")[0], extra, purpose) from None


# --- memory ----------------------------------------------------------------------------------------------------

_memory: OrderedDict[str, Parts] = OrderedDict()


def _key(file: str | os.PathLike[str], where: str, *options: object) -> str:
    """What a hull depends on: the content of the file (and of what it may refer to), its format, the options."""
    path = Path(file)
    digest = hashlib.sha256(repr((path.suffix.lower(), *options)).encode())
    try:
        content = path.read_bytes()
        if path.suffix.lower() == ".gltf":  # the points stand in files beside it
            content += b"".join(other.read_bytes() for other in sorted(path.parent.glob("*.bin")))
    except FileNotFoundError:
        folder = path.resolve().parent
        hint = "" if folder.is_dir() else f"; the folder '{folder}' does not exist either"
        raise _problem(where, f"does not exist{hint}; check the path") from None
    except IsADirectoryError:
        raise _problem(where, "is a folder, not a file") from None
    except OSError as error:
        raise _problem(where, f"cannot be opened: {error.strerror or error}") from None
    if not content:
        raise _problem(where, "is empty (0 bytes); export the mesh anew")
    digest.update(content)
    return digest.hexdigest()


def _remembered(key: str, make: Callable[[], Parts], lasting: bool) -> Parts:
    """Hulls made before in this process, or, if they last, by an earlier one; else made now."""
    if key in _memory:
        _memory.move_to_end(key)
        return _memory[key]
    hulls = _stored(key) if lasting else None
    if hulls is None:
        hulls = make()
        if lasting:
            _store(key, hulls)
    _memory[key] = hulls
    while len(_memory) > _KEPT:
        _memory.popitem(last=False)
    return hulls


def _shelf(key: str) -> Path | None:
    """The file that keeps hulls between processes; beside compiled kernels, hence gone when sources change."""
    from ..kernels.jit import cache_directory

    folder = cache_directory()
    return None if folder is None else folder / f"hulls-{key[:32]}.npz"


def _stored(key: str) -> Parts | None:
    shelf = _shelf(key)
    if shelf is None or not shelf.exists():
        return None
    try:
        with shelf.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
            hulls = Parts(
                Hull(
                    **{name: data[f"{k}.{name}"] for name in Hull._fields[:5]},
                    error=float(data[f"{k}.error"]),
                    notes=tuple(map(str, data[f"{k}.notes"])),
                )
                for k in range(int(data["count"]))
            )
            hulls.volume_error, hulls.outside = float(data["volume_error"]), float(data["outside"])
            hulls.notes = tuple(map(str, data["notes"]))
            return hulls
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None  # cut short by a full disk: made anew


def _store(key: str, hulls: Parts) -> None:
    shelf = _shelf(key)
    if shelf is None:
        return
    data: dict[str, Any] = {
        "count": len(hulls),
        "volume_error": hulls.volume_error,
        "outside": hulls.outside,
        "notes": np.array(hulls.notes, dtype=np.str_),
    }
    for k, hull in enumerate(hulls):
        for name in Hull._fields[:6]:
            data[f"{k}.{name}"] = getattr(hull, name)
        data[f"{k}.notes"] = np.array(hull.notes, dtype=np.str_)
    partial = shelf.with_name(f"{shelf.stem}-{os.getpid()}.part.npz")
    try:
        np.savez(partial, **data)
        os.replace(partial, shelf)  # at once, since others may be reading
    except OSError:
        partial.unlink(missing_ok=True)
