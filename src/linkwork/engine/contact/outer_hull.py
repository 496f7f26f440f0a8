"""A polyhedron of few corners around a convex hull of many: corners cut off by the walls that matter most."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.rotation import Array
from .checks import Indices, package

_MANY_WALLS = 4000  # of those that face nearly the same way the largest will do to cut corners off


def one_of_each(vectors: Array, values: Array, cells: int) -> Indices:
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


def directions(count: int) -> Array:
    """Unit vectors spread evenly over the sphere (a Fibonacci spiral)."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    angle = np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def outer_hull(spatial: Any, points: Array, full: Any, frame: Array, limit: int) -> tuple[Array, float]:
    """Corners of a polyhedron around points, `limit` at most, and how far they stand out of the hull `full`.

    Begins with few planes and cuts the worst corner off, again and again, by the face of the hull that it is
    farthest away from. Things with flat faces end best if one begins with their box, round ones with planes all
    around: both are tried (a cylinder 0.1 % against 7 % of its size, a ball 4.0 % against 3.2 %).
    `frame` has the axes of the box around the points as columns, as long as the box.
    """
    walls = full.equations * (1.0, 1.0, 1.0, -1.0)
    if len(walls) > _MANY_WALLS:
        a, b, c = (points[full.simplices[:, k]] for k in range(3))
        walls = walls[one_of_each(walls[:, :3], np.linalg.norm(np.cross(b - a, c - a), axis=1), 24)]
    walls = np.unique(walls, axis=0)
    vertices = points[full.vertices]
    centre = vertices.mean(axis=0)
    best: tuple[float, Array] | None = None
    upright = frame / np.linalg.norm(frame, axis=0)
    for start in (np.vstack([upright.T, -upright.T]), directions(limit // 2) @ np.linalg.inv(frame)):
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
