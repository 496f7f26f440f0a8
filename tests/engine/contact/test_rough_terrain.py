"""Contact with rough terrain, against all its triangles and against shapes that are let down onto it, in NumPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.terrain import EYE, NAMES, rough
from linkwork.engine.contact.collide import collide_pairs
from linkwork.engine.contact.geometry import MOST, contact_rows, make_scratch, make_shape, shape_rows
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, HULL, SPHERE, TORUS


def test_spheres_over_rough_terrain_against_all_triangles():
    ground = rough()
    rng = np.random.default_rng(2)
    radius, margin, touched, deep = 0.15, 0.1, 0, 0
    sphere = make_shape(SPHERE, radius)
    for _ in range(2000):
        x, y = rng.uniform(-1.7, 1.7), rng.uniform(-1.3, 1.3)
        z = ground.height(x, y) + rng.uniform(-0.3, 0.4)
        at = np.array([x, y, z])
        size, foot = ground.nearest(at)
        below = z < ground.height(x, y)
        distance = (-size if below else size) - radius
        seen = ground.touch(sphere, at, margin=margin)
        if distance > margin:
            assert len(seen) == 0
            continue
        touched, deep = touched + 1, deep + below
        k = np.argmin(seen["distance"])
        np.testing.assert_allclose(seen["distance"][k], distance, atol=1e-12)
        np.testing.assert_allclose(seen["a"][k], foot, atol=1e-6)
        assert seen["normal"][k][2] > 0
        # Others are near the surface in another direction.
        on_surface = ground.height(seen["a"][:, 0], seen["a"][:, 1]) - seen["a"][:, 2]
        np.testing.assert_allclose(on_surface, 0.0, atol=1e-9)
    assert touched > 1000
    assert deep > 500


@pytest.mark.parametrize("kind", [CAPSULE, BOX, CYLINDER, HULL, ELLIPSOID, TORUS], ids=NAMES.get)
def test_what_hovers_over_rough_terrain_touches_when_it_is_let_down(kind):
    """Let down until corners, nodes or edges meet, which is found column by column, then a little less or more."""
    ground = rough(height=0.12)
    rng = np.random.default_rng(kind)
    shape = ground.shape(kind)
    points = surface_points(ground, shape, kind)
    peaks = ground.nodes.reshape(-1, 3)
    # Round ones are sampled: by so much they may be lower.
    sampled = 0.0 if kind in (BOX, HULL) else 2e-3
    for _ in range(150):
        turn = Rotation.random(random_state=rng).as_matrix()
        at = np.array([rng.uniform(-0.8, 0.8), rng.uniform(-0.6, 0.6), 0.0])
        moved = points @ turn.T + at
        lift = max(ground.height(moved[:, 0], moved[:, 1]) - moved[:, 2])
        lift = max(lift, max(peaks[:, 2] - under(shape, kind, ground, at, turn, peaks)))
        if not sampled:
            lift = max(lift, crossing(ground, shape, at, turn))
        for height in (0.004, -0.004):
            seen = ground.touch(shape, at + np.array([0, 0, lift + height]), turn, margin=0.02)
            assert len(seen)
            np.testing.assert_allclose(np.linalg.norm(seen["normal"], axis=1), 1.0, atol=1e-12)
            gaps = np.sum((seen["b"] - seen["a"]) * seen["normal"], axis=1)
            np.testing.assert_allclose(gaps, seen["distance"], atol=1e-12)
            best = seen["distance"].min()
            if height > 0:
                assert -sampled < best < height + 1e-9 + sampled / 4
            else:
                # The way out along a normal may be shorter than straight up, or somewhat longer.
                assert 2 * height - sampled < best < 0.5 * height * seen["normal"][:, 2].min()


def crossing(ground, shape, at, turn):
    """How far edges of the field stand above edges of a polyhedron where both cross, seen from above."""
    first, count = int(shape["vertex"]), int(shape["vertices"])
    corners = ground.hulls.vertices[first : first + count] * shape["dims"] @ turn.T + at
    first, count = int(shape["edge"]), int(shape["edges"])
    pairs = ground.hulls.edges[first : first + count, :2]
    x, e = corners[pairs[:, 0]], corners[pairs[:, 1]] - corners[pairs[:, 0]]
    t = ground.triangles
    y = t.reshape(-1, 3)
    g = np.roll(t, -1, axis=1).reshape(-1, 3) - y
    d = y[None] - x[:, None]
    det = e[:, None, 0] * g[None, :, 1] - e[:, None, 1] * g[None, :, 0]
    u = (d[..., 0] * g[None, :, 1] - d[..., 1] * g[None, :, 0]) / det
    v = (d[..., 0] * e[:, None, 1] - d[..., 1] * e[:, None, 0]) / det
    over = y[None, :, 2] + v * g[None, :, 2] - x[:, None, 2] - u * e[:, None, 2]
    return np.max(over, where=(u >= 0) & (u <= 1) & (v >= 0) & (v <= 1), initial=-np.inf)


def surface_points(ground, shape, kind):
    """Many points of a shape's surface, its corners among them."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(4000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    d = shape["dims"]
    if kind == ELLIPSOID:
        return directions * d
    if kind == TORUS:  # of its hull, what is round: 1.5 to 2.5 mm from point to point
        around, over = np.meshgrid(2 * np.pi * np.arange(1600) / 1600, np.pi * np.linspace(-0.5, 0.5, 130))
        out, up = np.cos(over.ravel()), np.sin(over.ravel())
        ring = np.column_stack([np.cos(around.ravel()), np.sin(around.ravel()), 0 * out])
        return (d[0] + d[1] * out)[:, None] * ring + d[1] * up[:, None] * (0, 0, 1)
    if kind == CAPSULE:
        ends = np.where(directions[:, 2:] > 0, 0.5, -0.5) * (0, 0, d[1])
        return np.concatenate([d[0] * directions + ends, d[0] * _level(directions) + _up(rng, d[1])])
    if kind == CYLINDER:
        rim, end = d[0] * _level(directions), np.array([0, 0, d[1] / 2])
        return np.concatenate([rim + end, rim - end, rim + _up(rng, d[1])])
    first, count = int(shape["vertex"]), int(shape["vertices"])
    corners = ground.hulls.vertices[first : first + count] * d
    weights = rng.dirichlet(np.full(count, 0.05), 8000)
    return np.concatenate([corners, weights @ corners])


def _level(directions):
    flat = directions * (1, 1, 0)
    return flat / np.linalg.norm(flat, axis=1, keepdims=True)


def _up(rng, length):
    return rng.uniform(-0.5, 0.5, (4000, 1)) * (0, 0, length)


def under(shape, kind, ground, at, turn, peaks):
    """Height of the shape's underside over each of some points; infinity beside it. By halving."""
    low, high = np.full(len(peaks), -2.0), np.full(len(peaks), 2.0)
    grid = np.linspace(-1.2, 1.2, 241)
    inside = np.stack(
        [_inside(shape, kind, ground, (peaks * (1, 1, 0) + (0, 0, z) - at) @ turn) for z in grid]
    )
    any_inside = inside.any(axis=0)
    first = grid[np.argmax(inside, axis=0)]
    low, high = first - 0.01, first
    for _ in range(40):
        middle = (low + high) / 2
        within = _inside(shape, kind, ground, (peaks * (1, 1, 0) + middle[:, None] * (0, 0, 1) - at) @ turn)
        low, high = np.where(within, low, middle), np.where(within, middle, high)
    return np.where(any_inside, high, np.inf)


def _inside(shape, kind, ground, x):
    d = shape["dims"]
    if kind == ELLIPSOID:
        return np.linalg.norm(x / d, axis=1) <= 1.0
    if kind == TORUS:
        return np.hypot(np.maximum(np.hypot(x[:, 0], x[:, 1]) - d[0], 0.0), x[:, 2]) <= d[1]
    if kind == CAPSULE:
        z = np.clip(x[:, 2], -d[1] / 2, d[1] / 2)
        return np.linalg.norm(x - z[:, None] * (0, 0, 1), axis=1) <= d[0]
    if kind == CYLINDER:
        return (np.hypot(x[:, 0], x[:, 1]) <= d[0]) & (abs(x[:, 2]) <= d[1] / 2)
    if kind == BOX:
        return (abs(x) <= d / 2).all(axis=1)
    first, count = int(shape["face"]), int(shape["faces"])
    planes = ground.hulls.normals[first : first + count]
    return (x @ planes[:, :3].T <= planes[:, 3]).all(axis=1)


def test_an_ellipsoid_over_rough_terrain_against_points_of_its_surface():
    """Apart, the distance is that of the nearest of many points of one surface from all triangles of the other."""
    ground = rough(height=0.12)
    rng = np.random.default_rng(4)
    shape = ground.shape(ELLIPSOID)
    points = surface_points(ground, shape, ELLIPSOID)
    found = 0
    for _ in range(60):
        turn = Rotation.random(random_state=rng).as_matrix()
        at = rng.uniform((-0.8, -0.6, 0.35), (0.8, 0.6, 0.6))
        seen = ground.touch(shape, at, turn, margin=0.2)
        moved = points @ turn.T + at
        if np.any(moved[:, 2] < ground.height(moved[:, 0], moved[:, 1])):
            continue
        low = moved[np.argsort(moved[:, 2] - ground.height(moved[:, 0], moved[:, 1]))[:400]]
        known = min(ground.nearest(x)[0] for x in low)
        if known > 0.19:
            continue
        found += 1
        # Of 4000 points one is at most 3 cm from the nearest: by half of the square over the radius of curvature more.
        assert -1e-9 < known - seen["distance"].min() < 0.03**2 / 2 / 0.1
        y, _ = ground.local(seen)
        np.testing.assert_allclose(y[:, 2], ground.height(y[:, 0], y[:, 1]), atol=1e-9)
        outside = np.linalg.norm((seen["b"] - at) @ turn / shape["dims"], axis=1) - 1.0
        np.testing.assert_allclose(outside, 0.0, atol=1e-6)
    assert found > 20


def test_a_body_below_the_surface_is_pushed_up():
    ground = rough(height=0.1)
    for kind in NAMES:
        shape = ground.shape(kind)
        for depth in (0.5, 2.0, 50.0):
            seen = ground.touch(shape, np.array([0.1, 0.2, -depth]), margin=0.01)
            assert len(seen)
            k = np.argmin(seen["distance"])
            assert seen["normal"][k][2] > 0.2
            assert seen["distance"][k] < -0.3 * depth


def test_any_pair_gives_numbers():
    rng = np.random.default_rng(9)
    ground = rough(rows=9, columns=9, size=(2.0, 2.0))
    n = 100_000
    shapes = shape_rows(n + 1)
    kinds = rng.choice(list(NAMES), n)
    for kind in NAMES:
        shapes[:n][kinds == kind] = ground.shape(kind)
    shapes[n] = ground.record
    positions = rng.normal(size=(n + 1, 3)) * (0.8, 0.8, 0.4)
    positions[:100] = np.round(positions[:100] * 4) / 4  # onto nodes
    turns = Rotation.random(n + 1, random_state=rng).as_matrix()
    turns[: n // 4] = EYE
    turns[n] = EYE
    positions[n] = 0.0
    pairs = np.stack([np.arange(n), np.full(n, n)], axis=1)
    flip = rng.random(n) < 0.5
    pairs[flip] = pairs[flip][:, ::-1]
    counts, out = np.zeros(n, np.int64), contact_rows(n)
    scratch = make_scratch(ground.hulls, shapes)
    collide_pairs(
        shapes, positions, turns.reshape(-1, 9).copy(), pairs, ground.hulls, 0.01, scratch, counts, out
    )
    valid = np.arange(MOST)[None, :] < counts[:, None]
    assert valid.any(axis=1).sum() > n // 10
    seen = out[valid]
    for name in ("a", "b", "normal", "distance"):
        assert np.isfinite(seen[name]).all()
    np.testing.assert_allclose(np.linalg.norm(seen["normal"], axis=1), 1.0, atol=1e-12)
    up = np.where(flip[:, None], 1.0, -1.0) * out["normal"][..., 2]
    assert (up[valid] > 0).all()
    assert (seen["distance"] <= 0.01).all()
    np.testing.assert_allclose(seen["b"] - seen["a"], seen["distance"][:, None] * seen["normal"], atol=1e-12)
