"""Shapes as contact sees them: one record a shape, and the polyhedra of all hulls in a few shared arrays.

Every shape stands in its own frame: cylinders and capsules along z, boxes about their centre, a plane is the
half-space z <= 0. A box is the cube, which is always the first polyhedron, times its size. All are convex but height
fields, whose heights, and the coefficients of those that are smooth, follow each other in one more array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...model.spline import spline_coefficients
from ..kernels.record import named
from .kinds import BOX, HEIGHTS, HULL

__all__ = [
    "CONTACT",
    "MOST",
    "SHAPE",
    "Hulls",
    "Terrain",
    "contact_rows",
    "gather_hulls",
    "make_scratch",
    "make_shape",
    "shape_rows",
]

MOST = 4
"""Points that a pair of shapes has at most."""

SHAPE = np.dtype(
    [
        ("kind", "i8"),
        # as `kinds.describe` has them; 1 1 1 for a hull; of a field x, y, greatest height [m]
        ("dims", "f8", 3),
        ("vertex", "i8"),  # first of its vertices among those of all hulls; of a field, first of its heights
        ("vertices", "i8"),  # how many; of a field, how many columns
        ("face", "i8"),  # the same for faces; of a field, `faces` is how many rows
        ("faces", "i8"),
        ("edge", "i8"),  # and for edges; of a smooth field, its first coefficient
        ("edges", "i8"),  # 1 if a field is smooth
    ]
)

CONTACT = np.dtype(
    [
        ("a", "f8", 3),  # point on A, world [m]
        ("b", "f8", 3),  # point on B: a + distance * normal [m]
        ("normal", "f8", 3),  # from A to B, of length one
        ("distance", "f8"),  # negative in a penetration [m]
        ("feature", "i8"),  # the same number while the same corners, edges and faces touch
    ]
)


class Hulls(NamedTuple):
    """The polyhedra of all shapes; each shape knows its range. The first one is the cube of size 1."""

    vertices: Any
    """n x 3 [m]."""
    normals: Any
    """m x 4: outward unit normal of a face, and its offset [m]."""
    faces: Any
    """m x 2: first corner, how many."""
    corners: Any
    """Vertices, counted from the first one of the hull, counter-clockwise seen from outside."""
    edges: Any
    """k x 4: two vertices, and the faces left and right of the way from one to the other, seen from outside;
    all counted from the first ones of the hull."""
    heights: Any
    """Of all height fields, row by row [m]; after those of a smooth one its coefficients, with one row and column more
    on every side."""


class Terrain(NamedTuple):
    """A height field."""

    grid: Any
    """Heights, rows (y) x columns (x) [m]."""
    extent: tuple[float, float]
    """Along x and y [m]."""
    smooth: bool = False


def _cube() -> tuple[Any, ...]:
    signs = [(x, y, z) for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)]
    corners = [1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3, 0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1]
    normals = np.zeros((6, 4))
    for k in range(6):
        normals[k, k // 2] = 1.0 if k % 2 == 0 else -1.0
        normals[k, 3] = 0.5
    faces = np.array([(4 * k, 4) for k in range(6)])
    return np.array(signs), normals, faces, np.array(corners)


def _sided_edges(faces: Any, corners: Any) -> list[tuple[int, int, int, int]]:
    """Every edge once, with the faces on its left and right."""
    left = {}
    for k, (first, count) in enumerate(np.asarray(faces).tolist()):
        ring = [int(v) for v in corners[first : first + count]]
        for i, v in enumerate(ring):
            left[v, ring[(i + 1) % count]] = k
    sided = []
    for (v, w), k in left.items():
        if v < w or (w, v) not in left:
            sided.append((v, w, k, left.get((w, v), k)))
    return sided


def gather_hulls(hulls: Sequence[Any] = (), fields: Sequence[tuple[Any, ...]] = ()) -> tuple[Hulls, Any]:
    """(things with `vertices`, `normals`, `faces`, `corners`) => all of them in shared arrays, and a record of each.

    Edges are read off the faces. Height fields are what `Terrain` has; their records follow those of the hulls.
    """
    vertices, normals, faces, corners, edges = [], [], [], [], []
    records = shape_rows(len(hulls) + len(fields))
    counts = [0, 0, 0, 0]  # vertices, faces, corners, edges so far
    solids = [_cube()] + [(hull.vertices, hull.normals, hull.faces, hull.corners) for hull in hulls]
    for k, (points, planes, ranges, ring) in enumerate(solids):
        sided = _sided_edges(ranges, ring)
        if k > 0:
            row = (
                HULL,
                (1.0, 1.0, 1.0),
                counts[0],
                len(points),
                counts[1],
                len(ranges),
                counts[3],
                len(sided),
            )
            records[k - 1] = row
        vertices.append(np.asarray(points, dtype=float).reshape(-1, 3))
        normals.append(np.asarray(planes, dtype=float).reshape(-1, 4))
        faces.append(np.asarray(ranges, dtype=np.int64).reshape(-1, 2) + np.array([counts[2], 0]))
        corners.append(np.asarray(ring, dtype=np.int64))
        edges.append(np.asarray(sided, dtype=np.int64).reshape(-1, 4))
        counts = [
            counts[0] + len(points),
            counts[1] + len(ranges),
            counts[2] + len(ring),
            counts[3] + len(sided),
        ]
    heights = [np.zeros(0)]
    first = 0
    for k, terrain in enumerate(Terrain(*field) for field in fields):
        grid = np.asarray(terrain.grid, dtype=float)
        rows, columns = grid.shape
        heights.append(grid.ravel())
        top = grid.max()
        if terrain.smooth:
            more = spline_coefficients(grid)
            heights.append(more.ravel())
            top = max(top, more.max())  # which the surface never exceeds
        smooth = (first + grid.size, 1) if terrain.smooth else (0, 0)
        records[len(hulls) + k] = (HEIGHTS, (*terrain.extent, top), first, columns, 0, rows, *smooth)
        first = sum(map(len, heights))
    parts = (vertices, normals, faces, corners, edges, heights)
    return Hulls(*map(np.concatenate, parts)), records


def shape_rows(count: int) -> Any:
    """Empty records of shapes."""
    return named(np.zeros(count, SHAPE))


def contact_rows(*count: int) -> Any:
    """Empty records of contacts: those of one pair, or of `count` pairs."""
    return named(np.zeros((*count, MOST), CONTACT))


def make_shape(kind: int, *size: float) -> Any:
    """The record of a shape that is neither a hull nor a height field, by what `kinds.describe` says of it [m]."""
    rows = shape_rows(1)
    rows["kind"] = kind
    rows["dims"][0, : len(size)] = size
    if kind == BOX:
        rows["vertices"], rows["faces"], rows["edges"] = 8, 6, 12
    return rows[0]


def make_scratch(hulls: Hulls, shapes: Any = None) -> Any:
    """Working memory for `collide`, one for each thread: for any two of `shapes`, or for whatever is in `hulls`."""
    if shapes is None or len(shapes) == 0:
        vertices, faces = len(hulls.vertices), len(hulls.faces)
    else:
        solid = shapes["kind"] != HEIGHTS
        vertices, faces = (int(np.max(shapes[n], where=solid, initial=0)) for n in ("vertices", "faces"))
    sides = int(np.max(hulls.faces[:, 1]))
    return np.zeros((64 + 2 * (max(vertices, 8) + max(faces, 6)) + 12 * (max(sides, 16) + 4), 4))
