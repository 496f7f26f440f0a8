"""What a convex hull must be."""

from __future__ import annotations

import numpy as np

from linkwork.engine.contact.hull import Hull


def check(hull: Hull, points, contains=1e-12):
    """A proper convex polyhedron around points."""
    size = hull.size
    inside = points @ hull.normals[:, :3].T - hull.normals[:, 3]
    assert inside.max() <= contains * size
    np.testing.assert_allclose(np.linalg.norm(hull.normals[:, :3], axis=1), 1.0, rtol=1e-12)
    heights = hull.vertices @ hull.normals[:, :3].T - hull.normals[:, 3]
    assert heights.max() <= 1e-12 * size
    sides = set()
    for k, (first, count) in enumerate(hull.faces):
        ring = hull.corners[first : first + count]
        assert count >= 3
        assert len(set(ring.tolist())) == count
        assert heights[ring, k].min() >= -1e-5 * size  # flat
        corners = hull.polygon(k)
        about = corners - corners.mean(axis=0)
        normal = np.cross(about, np.roll(about, -1, axis=0)).sum(axis=0)
        assert normal @ hull.normals[k, :3] > 0  # counter-clockwise from outside
        sides |= {(int(ring[i - 1]), int(ring[i])) for i in range(count)}
    assert hull.faces[:, 1].sum() == len(hull.corners) == len(sides)
    assert all((head, tail) in sides for tail, head in sides)
    assert {tuple(edge) for edge in hull.edges.tolist()} == {side for side in sides if side[0] < side[1]}
    assert len(hull.vertices) - len(hull.edges) + len(hull.faces) == 2
    assert set(hull.corners.tolist()) == set(range(len(hull.vertices)))
