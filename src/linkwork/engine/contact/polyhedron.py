"""Convex polyhedra: data, the hull of points with its flat faces merged, and a simpler one around it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.rotation import Array
from .checks import Indices, package, problem

FLAT = 1e-9  # of the size: what is thinner has no inside
_COPLANAR = 1e-6  # of the size: single precision leaves 1e-7 in the corners of a flat face
_MANY_POINTS = 30_000  # Qhull takes 0.3 s for as many points on a ball
_MANY_WALLS = 4000  # of those that face nearly the same way the largest will do to cut corners off


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
    trimesh = package("trimesh", "mesh", "the distance between hulls")
    worst = 0.0
    for corner in corners:
        seen = triangles[
            planes[:, :3] @ corner + planes[:, 3] > 0
        ]  # the nearest is one of those that face it
        if len(seen):
            nearest = trimesh.triangles.closest_point(seen, np.broadcast_to(corner, (len(seen), 3)))
            worst = max(worst, float(np.sqrt(np.sum((nearest - corner) ** 2, axis=1).min())))
    return worst
