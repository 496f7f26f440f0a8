"""Convex polyhedra: data, the hull of points with its flat faces merged, and a simpler one around it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.rotation import Array
from .checks import Indices, package, problem
from .outer_hull import directions, one_of_each, outer_hull

FLAT = 1e-9  # of the size: what is thinner has no inside
_COPLANAR = 1e-6  # of the size: single precision leaves 1e-7 in the corners of a flat face
_MANY_POINTS = 30_000  # Qhull takes 0.3 s for as many points on a ball


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


def convex_hull(points: Array, limit: int, where: str) -> tuple[Hull, float]:
    """The hull of distinct finite points, simplified if it must be, and the volume it had before."""
    spatial = package("scipy.spatial", "mesh", f"the {where}" if where.startswith("convex") else where)
    with np.errstate(over="ignore"):
        centre = 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
    if not np.isfinite(size):
        raise problem(where, f"has points up to {np.abs(points).max():.3g} apart: too large, scale it down")
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
    axes, extents = principal(unit)
    if extents[2] < FLAT:
        what = "a single point" if extents[0] < FLAT else "a line" if extents[1] < FLAT else "flat"
        thickness = f" (it is {extents[2] * size:.3g} thick and {size:.3g} large)" if what == "flat" else ""
        raise problem(
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
            corners, error = outer_hull(spatial, unit, full, axes * extents, limit)
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
        raise problem(
            where, f"has no convex hull: {said}. It may be too thin; check its dimensions"
        ) from None
    normals = hull.normals.copy()
    normals[:, 3] = normals[:, 3] * size + normals[:, :3] @ centre
    vertices = hull.vertices * size + centre
    placed = hull._replace(vertices=vertices, normals=normals, error=error * size, notes=notes)
    return placed, float(full.volume) * size**3


def principal(points: Array) -> tuple[Array, Array]:
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
    far = one_of_each(points, np.linalg.norm(points, axis=1), 64)
    extreme = far[np.unique(np.argmax(points[far] @ directions(100).T, axis=0))]
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


class _Picked:
    """A hull of some of the points, with indices into all of them."""

    def __init__(self, hull: Any, kept: Indices):
        self.vertices = kept[hull.vertices]
        self.simplices = kept[hull.simplices]
        self.equations = hull.equations
        self.volume = hull.volume


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
    """Triangles that lie in one plane as one polygon, or None if that leaves no proper polyhedron."""
    region, count = _regions(points, triangles, neighbours, planes, tolerance)
    loops = _loops(len(points), triangles, region, count)
    if loops is None:
        return None
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


def _regions(
    points: Array, triangles: Indices, neighbours: Indices, planes: Array, tolerance: float
) -> tuple[Indices, int]:
    """The region in one plane that each triangle belongs to, and how many there are.

    Grows each region from its largest triangle, and compares with the plane of that one, so that a finely
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
    return region, count


def _loops(points: int, triangles: Indices, region: Indices, count: int) -> list[list[int]] | None:
    """The ring of vertices around each region; None if one of them is no single ring of three or more."""
    following: list[dict[int, int]] = [{} for _ in range(count)]
    degree = np.zeros(points, dtype=np.int64)
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
    return loops
