"""Convex hulls of points: proper polyhedra that contain their points, at any scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, spatial

from helpers.models import random_rotation
from helpers.polyhedra import check
from helpers.processes import python
from linkwork.engine.contact.hull import hull_of_points
from linkwork.model.errors import ModelError

trimesh = pytest.importorskip("trimesh")


def clouds():
    """Points by name, and the vertices, edges and faces of their hull where those are known."""
    rng = np.random.default_rng(0)
    R = random_rotation(rng)
    ball = rng.normal(size=(1500, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 6)] * 3), axis=-1).reshape(-1, 3) * [1, 2, 3]
    make = trimesh.creation
    return {
        "tetrahedron": (np.vstack([np.zeros(3), np.eye(3)]), (4, 6, 4)),
        "box": (make.box(extents=[1, 2, 3]).vertices @ R, (8, 12, 6)),
        "box full of points": (grid @ R, (8, 12, 6)),
        "box in single precision": ((grid @ R).astype(np.float32), (8, 12, 6)),
        "prism": (make.cylinder(radius=0.5, height=1, sections=20).vertices @ R, (40, 60, 22)),
        "pyramid": (np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [0, 0, 1.0]]) @ R, (5, 8, 5)),
        "cloud": (rng.normal(size=(2000, 3)), None),
        "ball": (ball, None),
        "regular ball": (make.icosphere(subdivisions=3).vertices, None),
        "cylinder": (make.cylinder(radius=0.5, height=1, sections=200).vertices @ R, None),
        "cone": (make.cone(radius=0.5, height=1, sections=200).vertices @ R, None),
        "capsule": (make.capsule(radius=0.2, height=1.0).vertices @ R, None),
        "ellipsoid": (ball * [1, 0.5, 0.2], None),
        "rounded box": ((np.sign(ball) * [0.5, 0.3, 0.1] + 0.05 * ball) @ R, None),
        "lens": (ball * [1, 1, 1e-6], None),
        "plate": (rng.uniform(-1, 1, (300, 3)) * [1, 1, 1e-8] @ R, None),
        "needle": (rng.normal(size=(300, 3)) * [1, 1e-6, 1e-6], None),
    }


CLOUDS = clouds()


@pytest.mark.parametrize("scale", [1.0, 1e12, 1e-12])
@pytest.mark.parametrize("name", CLOUDS)
def test_a_hull_is_a_proper_polyhedron_that_contains_its_points(name, scale):
    points, counts = CLOUDS[name]
    points = np.asarray(points, dtype=float) * scale
    hull = hull_of_points(points)
    check(hull, points)
    assert len(hull.vertices) <= 64
    if counts is not None:
        assert (len(hull.vertices), len(hull.edges), len(hull.faces)) == counts
        assert hull.error == 0.0
        assert (hull.notes == ()) == (scale == 1.0)
    exact = spatial.ConvexHull(points / scale).volume * scale**3
    if hull.error == 0.0:
        np.testing.assert_allclose(
            hull.volume, exact, rtol=5e-3 if name in ("plate", "lens", "needle") else 1e-6
        )
    else:
        assert 1.0 <= hull.volume / exact < (1.15 if name != "lens" else 1.6)
        assert any("contains it" in note for note in hull.notes)


@pytest.mark.parametrize(
    ("name", "most"),
    [("regular ball", 0.12), ("cylinder", 0.006), ("cone", 0.006), ("capsule", 0.15), ("rounded box", 0.02)],
)
def test_the_error_of_a_simplified_hull_is_the_largest_distance(name, most):
    """Against distances found by minimising over the original hull, one vertex at a time."""
    points = np.asarray(CLOUDS[name][0])
    hull = hull_of_points(points)
    original = points[spatial.ConvexHull(points).vertices]
    weight = 1e3  # of the condition that the shares of the points sum to one
    distances = []
    for vertex in hull.vertices:
        shares, _ = optimize.nnls(
            np.vstack([(original - vertex).T, np.full(len(original), weight)]), np.array([0, 0, 0, weight])
        )
        distances.append(np.linalg.norm(shares @ original / shares.sum() - vertex))
    np.testing.assert_allclose(hull.error, max(distances), rtol=2e-2)
    assert hull.error < most


def test_faces_of_a_simplified_hull_touch_the_original():
    """Hence bodies rest at the right height."""
    points = np.asarray(CLOUDS["regular ball"][0])
    hull = hull_of_points(points)
    np.testing.assert_allclose((points @ hull.normals[:, :3].T).max(axis=0), hull.normals[:, 3], rtol=1e-9)


@pytest.mark.parametrize("limit", [8, 12, 20, 200])
def test_the_limit_holds(limit):
    errors = []
    for name in ("ball", "cylinder", "cone", "capsule", "lens"):
        points = np.asarray(CLOUDS[name][0])
        hull = hull_of_points(points, limit=limit)
        check(hull, points)
        assert len(hull.vertices) <= limit
        errors.append(hull.error)
    assert max(errors) > 0.0


def test_random_points_of_any_number():
    rng = np.random.default_rng(1)
    for _ in range(150):
        n = int(rng.integers(4, 200))
        points = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-2, 0, 3) @ random_rotation(rng) + rng.normal(
            size=3
        )
        if rng.random() < 0.5:
            points = np.round(points, int(rng.integers(1, 3)))  # many coplanar and equal ones
        if np.linalg.matrix_rank(points - points[0]) < 3:
            continue
        check(hull_of_points(points), points)


def test_a_hull_of_a_hull_is_the_same():
    for name in ("cloud", "ball", "rounded box", "prism"):
        once = hull_of_points(CLOUDS[name][0])
        again = hull_of_points(once.vertices)
        assert len(once.vertices) == len(again.vertices)
        assert again.error == 0.0


def test_bad_points():
    with pytest.raises(ModelError, match=r"n x 3 numbers, not one of shape \(3,\)"):
        hull_of_points([1, 2, 3])
    with pytest.raises(ModelError, match="flat"):
        hull_of_points(np.random.default_rng(0).normal(size=(50, 3)) * [1, 1, 0])
    with pytest.raises(ModelError, match="too large"):
        hull_of_points(np.vstack([np.eye(3), -np.ones(3)]) * 1.7e308)
    with pytest.raises(ModelError, match="not finite"):
        hull_of_points(np.full((4, 3), np.nan))


def test_hulls_need_no_numba():
    code = (
        "import sys, linkwork.engine.contact.hull as h; h.hull_of_points([[0,0,0],[1,0,0],[0,1,0],[0,0,1]]);"
    )
    code += "assert 'numba' not in sys.modules"
    python("-c", code)
