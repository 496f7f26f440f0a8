"""Contact with height fields, against planes, formulas, and the nearest point of every triangle found in NumPy."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from linkwork.engine.contact.collide import collide, collide_pairs
from linkwork.engine.contact.geometry import (
    MOST,
    contact_rows,
    gather_hulls,
    make_scratch,
    make_shape,
    shape_rows,
)
from linkwork.engine.contact.kinds import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    HULL,
    PLANE,
    SPHERE,
    TORUS,
    enclose,
)

NAMES = {
    SPHERE: "sphere", CAPSULE: "capsule", BOX: "box", CYLINDER: "cylinder", HULL: "hull", ELLIPSOID: "ellipsoid",
    TORUS: "torus",
}  # fmt: skip
SIZES = {
    SPHERE: (0.3,), CAPSULE: (0.2, 0.7), BOX: (0.5, 0.7, 0.4), CYLINDER: (0.3, 0.6), ELLIPSOID: (0.25, 0.4, 0.2),
    TORUS: (0.3, 0.1),
}  # fmt: skip
EYE = np.eye(3)


class _Tetrahedra:
    """Hull of a few points; its triangles are its faces."""

    def __init__(self, points):
        hull = ConvexHull(points)
        number = {int(v): i for i, v in enumerate(hull.vertices)}
        self.vertices, self.corners = points[hull.vertices], []
        self.normals = np.column_stack([hull.equations[:, :3], -hull.equations[:, 3]])
        self.faces = [(3 * k, 3) for k in range(len(hull.simplices))]
        for normal, triangle in zip(self.normals, hull.simplices, strict=True):
            a, b, c = (points[v] for v in triangle)
            ring = triangle if np.cross(b - a, c - a) @ normal[:3] > 0 else triangle[::-1]
            self.corners += [number[int(v)] for v in ring]


class Ground:
    """A height field, somewhere."""

    def __init__(self, grid, size, at=(0.0, 0.0, 0.0), R=EYE):
        self.grid, self.size = np.asarray(grid, float), size
        cloud = 0.3 * np.random.default_rng(3).normal(size=(12, 3))
        self.hulls, records = gather_hulls([_Tetrahedra(cloud)], [(self.grid, size)])
        self.hull, self.record = records[0], records[1]
        self.at, self.R = np.asarray(at, float), np.asarray(R)
        rows, columns = self.grid.shape
        x = np.linspace(-size[0] / 2, size[0] / 2, columns)
        y = np.linspace(-size[1] / 2, size[1] / 2, rows)
        self.nodes = np.stack([*np.meshgrid(x, y), self.grid], axis=-1)
        a, b = self.nodes[:-1, :-1].reshape(-1, 3), self.nodes[:-1, 1:].reshape(-1, 3)
        c, d = self.nodes[1:, 1:].reshape(-1, 3), self.nodes[1:, :-1].reshape(-1, 3)
        self.triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])

    def shape(self, kind):
        return self.hull if kind == HULL else make_shape(kind, *SIZES[kind])

    def touch(self, shape, at, R=EYE, margin=0.05, other=None, first=False):
        """Contacts from a field (or another shape in its place) to a shape that stands in the field's frame."""
        pose = (tuple(self.at + self.R @ at), tuple((self.R @ R).ravel()))
        mine = (tuple(self.at), tuple(self.R.ravel()))
        out, scratch = contact_rows(), make_scratch(self.hulls)
        ground = self.record if other is None else other
        if first:
            count = collide(shape, pose, ground, mine, self.hulls, margin, scratch, out)
        else:
            count = collide(ground, mine, shape, pose, self.hulls, margin, scratch, out)
        return out[:count].copy()

    def local(self, contacts):
        """Points on the field and normals, in its frame."""
        return (contacts["a"] - self.at) @ self.R, contacts["normal"] @ self.R

    def height(self, x, y):
        """Of the surface."""
        rows, columns = self.grid.shape
        u = (np.asarray(x) / self.size[0] + 0.5) * (columns - 1)
        v = (np.asarray(y) / self.size[1] + 0.5) * (rows - 1)
        i, j = np.clip(u.astype(int), 0, columns - 2), np.clip(v.astype(int), 0, rows - 2)
        u, v = u - i, v - j
        g = self.grid
        lower = g[j, i] + u * (g[j, i + 1] - g[j, i]) + v * (g[j + 1, i + 1] - g[j, i + 1])
        upper = g[j, i] + v * (g[j + 1, i] - g[j, i]) + u * (g[j + 1, i + 1] - g[j + 1, i])
        return np.where(u >= v, lower, upper)

    def nearest(self, x):
        """Distance of a point from the surface, and the nearest point: over all triangles and their borders."""
        a, b, c = (self.triangles[:, k] for k in range(3))
        m = np.cross(b - a, c - a)
        m /= np.linalg.norm(m, axis=1, keepdims=True)
        foot = x - np.sum(m * (x - a), axis=1, keepdims=True) * m
        inside = np.ones(len(a), bool)
        points = []
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= np.sum(np.cross(q - p, foot - p) * m, axis=1) >= 0
            t = np.clip(np.sum((x - p) * (q - p), axis=1) / np.sum((q - p) ** 2, axis=1), 0, 1)
            points.append(p + t[:, None] * (q - p))
        points.append(foot[inside])
        points = np.concatenate(points)
        distances = np.linalg.norm(points - x, axis=1)
        k = np.argmin(distances)
        return distances[k], points[k]


def rough(seed=1, rows=17, columns=21, size=(4.0, 3.2), height=0.25):
    return Ground(height * np.random.default_rng(seed).uniform(-1, 1, (rows, columns)), size)


def sheet(slope=(0.0, 0.0), **options):
    """A plane, as a field of unequal cells."""
    x, y = np.meshgrid(np.linspace(-3, 3, 13), np.linspace(-2.5, 2.5, 8))
    return Ground(slope[0] * x + slope[1] * y, (6.0, 5.0), **options)


@pytest.mark.parametrize("kind", NAMES, ids=NAMES.get)
@pytest.mark.parametrize("turned", [False, True])
def test_a_flat_field_is_a_plane(kind, turned):
    rng = np.random.default_rng(kind)
    R = Rotation.random(random_state=5).as_matrix() if turned else EYE
    ground = sheet(at=(0.3, -7.0, 2.0) if turned else (0.0, 0.0, 0.0), R=R)
    plane, shape = make_shape(PLANE), ground.shape(kind)
    touched = 0
    for k in range(300):
        at = rng.uniform((-1.5, -1.0, -0.2), (1.5, 1.0, 1.0))
        turn = Rotation.random(random_state=rng).as_matrix() if k % 4 else EYE
        seen = ground.touch(shape, at, turn, margin=0.1)
        known = ground.touch(shape, at, turn, margin=0.1, other=plane)
        assert len(seen) == len(known)
        touched += len(seen) > 0
        if not len(seen):
            continue
        # Rounding of a few turns of vectors of a few metres.
        np.testing.assert_allclose(np.min(seen["distance"]), np.min(known["distance"]), atol=1e-12)
        np.testing.assert_allclose(seen["normal"], np.tile(known["normal"][0], (len(seen), 1)), atol=1e-12)
        if not turned:
            assert (seen["normal"] == (0.0, 0.0, 1.0)).all()
        for name in ("a", "b"):
            gaps = np.linalg.norm(seen[name][:, None] - known[name][None], axis=-1)
            assert gaps.min(axis=1).max() < 1e-12
            assert gaps.min(axis=0).max() < 1e-12
        assert len(set(seen["feature"])) == len(seen)
    assert touched > 100


@pytest.mark.parametrize("kind", NAMES, ids=NAMES.get)
def test_a_tilted_field_is_a_tilted_plane(kind):
    rng = np.random.default_rng(kind)
    slope = (0.4, -0.25)
    ground = sheet(slope)
    z = np.array([-slope[0], -slope[1], 1.0]) / np.sqrt(1 + slope[0] ** 2 + slope[1] ** 2)
    x = np.cross((0.0, 1.0, 0.0), z)
    x /= np.linalg.norm(x)
    tilted = Ground(np.zeros((2, 2)), (1.0, 1.0), R=np.column_stack([x, np.cross(z, x), z]))
    plane, shape = make_shape(PLANE), ground.shape(kind)
    touched = 0
    for _ in range(200):
        at = rng.uniform((-1.0, -1.0, -0.1), (1.0, 1.0, 0.8))
        turn = Rotation.random(random_state=rng).as_matrix()
        seen = ground.touch(shape, at, turn, margin=0.1)
        known = tilted.touch(shape, tilted.R.T @ at, tilted.R.T @ turn, margin=0.1, other=plane)
        assert len(seen) == len(known)
        if len(seen):
            touched += 1
            np.testing.assert_allclose(np.min(seen["distance"]), np.min(known["distance"]), atol=1e-12)
            np.testing.assert_allclose(seen["normal"], np.tile(z, (len(seen), 1)), atol=1e-12)
    assert touched > 50


def test_a_box_slides_over_seams_without_catching():
    ground = sheet()
    box = make_shape(BOX, 0.5, 0.7, 0.4)
    turn = Rotation.from_rotvec((0, 0, 0.3)).as_matrix()
    features = None
    for x in np.linspace(-1.5, 1.5, 2001):
        seen = ground.touch(box, np.array([x, 0.1 + 0.2 * x, 0.1999]), turn, margin=0.01)
        assert len(seen) == 4
        assert (seen["normal"] == (0.0, 0.0, 1.0)).all()
        np.testing.assert_allclose(seen["distance"], -1e-4, atol=1e-14)
        features = features or set(seen["feature"])
        assert set(seen["feature"]) == features


def ridge(slope):
    """A roof along y with its ridge at x = 0, height 0; a valley if the slope is negative."""
    x, _ = np.meshgrid(np.linspace(-2, 2, 9), np.linspace(-2, 2, 9))
    return Ground(-slope * np.abs(x), (4.0, 4.0))


def test_round_shapes_on_a_roof():
    ground = ridge(0.5)
    normal = np.array([0.5, 0.0, 1.0]) / np.sqrt(1.25)
    sphere, capsule = make_shape(SPHERE, 0.3), make_shape(CAPSULE, 0.3, 0.8)
    for x in np.linspace(0.0, 0.6, 61):
        for z in (0.05, 0.25, 0.32):
            at = np.array([x, 0.13, z])
            foot = normal[2] * x - normal[0] * z  # where it is over the slope, along it
            if foot > 0:
                distance, direction = normal @ at, normal
            else:
                distance = np.hypot(x, z)
                direction = np.array([x, 0.0, z]) / distance
            seen = ground.touch(sphere, at, margin=0.2)
            if distance - 0.3 > 0.2:
                assert len(seen) == 0
                continue
            assert len(seen) == 1
            np.testing.assert_allclose(seen["distance"], distance - 0.3, atol=1e-12)
            np.testing.assert_allclose(seen["normal"][0], direction, atol=1e-9)
    # Across the ridge, level: it touches at the ridge in its middle, whatever is below its ends.
    across = Rotation.from_rotvec((0, np.pi / 2, 0)).as_matrix()
    for y in np.linspace(-1.0, 1.0, 41):
        for z in (0.35, 0.25, -0.05):
            seen = ground.touch(capsule, np.array([0.07, y, z]), across, margin=0.1)
            k = np.argmin(seen["distance"])
            np.testing.assert_allclose(seen["distance"][k], z - 0.3, atol=1e-12)
            np.testing.assert_allclose(seen["normal"][k], (0, 0, 1), atol=1e-12)
            np.testing.assert_allclose(seen["a"][k], (0, y, 0), atol=1e-12)


def test_a_box_on_a_roof_touches_along_the_ridge():
    ground = ridge(0.5)
    box = make_shape(BOX, 0.5, 0.7, 0.4)
    for angle in (0.0, 0.3):
        turn = Rotation.from_rotvec((0, 0, angle)).as_matrix()
        for z in (0.21, 0.2, 0.195):
            seen = ground.touch(box, np.array([0.02, 0.1, z]), turn, margin=0.02)
            assert len(seen) >= 2
            np.testing.assert_allclose(seen["distance"], z - 0.2, atol=1e-12)
            np.testing.assert_allclose(seen["normal"], np.tile((0, 0, 1.0), (len(seen), 1)), atol=1e-12)
            np.testing.assert_allclose(seen["a"][:, 0], 0.0, atol=1e-12)
            assert np.ptp(seen["a"][:, 1]) > 0.6


def test_shapes_in_a_valley_touch_both_sides():
    ground = ridge(-1.0)
    sides = np.array([(1.0, 0.0, 1.0), (-1.0, 0.0, 1.0)]) / np.sqrt(2)
    for shape, count in ((make_shape(SPHERE, 0.3), 2), (make_shape(CAPSULE, 0.3, 0.8), 4)):
        along = Rotation.from_rotvec((np.pi / 2, 0, 0)).as_matrix()
        seen = ground.touch(shape, np.array([0.0, 0.11, 0.42]), along, margin=0.02)
        assert len(seen) == count
        np.testing.assert_allclose(seen["distance"], 0.42 / np.sqrt(2) - 0.3, atol=1e-12)
        assert {tuple(n) for n in np.round(seen["normal"], 9)} == {tuple(n) for n in np.round(sides, 9)}
        assert len(set(seen["feature"])) == count
    seen = ground.touch(make_shape(BOX, 0.5, 0.7, 0.4), np.array([0.0, 0.1, 0.44]), margin=0.02)
    assert len(seen) == 4
    np.testing.assert_allclose(seen["distance"], (0.24 - 0.25) / np.sqrt(2), atol=1e-12)


def test_a_cylinder_lies_across_a_roof_and_stands_on_it():
    ground = ridge(0.5)
    cylinder = make_shape(CYLINDER, 0.3, 0.6)
    across = Rotation.from_rotvec((0, np.pi / 2, 0)).as_matrix()
    for turn in (EYE, across, Rotation.from_rotvec((0, 0, 0.4)).as_matrix() @ across):
        for z in (0.31, 0.299):
            seen = ground.touch(cylinder, np.array([0.05, 0.1, z]), turn, margin=0.05)
            k = np.argmin(seen["distance"])
            np.testing.assert_allclose(seen["distance"][k], z - 0.3, atol=1e-12)
            np.testing.assert_allclose(seen["normal"][k], (0, 0, 1), atol=1e-9)
            np.testing.assert_allclose(seen["a"][k][[0, 2]], 0.0, atol=1e-9)


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


def test_beside_a_field_there_is_nothing():
    ground = sheet()
    for kind in NAMES:
        shape = ground.shape(kind)
        for at in (
            (5.0, 0.0, 0.0),
            (0.0, -4.0, 0.1),
            (4.0, 4.0, -1.0),
            (0.0, 0.0, 2.0),
            (1e9, 0, 0),
            (0, 0, np.nan),
        ):
            assert len(ground.touch(shape, np.array(at))) == 0
    # A box with its middle beyond the rim rests on the rim.
    seen = ground.touch(make_shape(BOX, 1.0, 1.0, 0.4), np.array([3.1, 0.1, 0.199]))
    assert np.isclose(seen["a"][:, 0].max(), 3.0)
    assert np.ptp(seen["a"][:, 1]) > 0.99
    np.testing.assert_allclose(seen["normal"], np.tile((0, 0, 1.0), (len(seen), 1)), atol=1e-12)


def test_the_order_of_shapes_only_turns_the_normal():
    ground = Ground(
        rough().grid, (4.0, 3.2), at=(1.0, 2.0, 3.0), R=Rotation.random(random_state=1).as_matrix()
    )
    for kind in NAMES:
        one = ground.touch(ground.shape(kind), np.array([0.1, 0.2, 0.3]))
        two = ground.touch(ground.shape(kind), np.array([0.1, 0.2, 0.3]), first=True)
        assert len(one) == len(two) > 0
        np.testing.assert_array_equal(one["a"], two["b"])
        np.testing.assert_array_equal(one["normal"], -two["normal"])
        np.testing.assert_array_equal(one["feature"], two["feature"])


def test_the_box_around_a_field_reaches_down_without_end():
    ground = rough()
    boxes, planes = np.zeros((1, 6)), np.zeros((1, 4))
    top = ground.grid.max()
    enclose(ground.record, (1.0, 2.0, 3.0), tuple(EYE.ravel()), ground.hulls.vertices, 0.1, boxes, planes, 0)
    np.testing.assert_allclose(boxes[0], (-1.1, 0.3, -np.inf, 3.1, 3.7, 3.1 + top))
    turn = Rotation.from_rotvec((np.pi, 0, 0)).as_matrix().round()
    enclose(ground.record, (0.0, 0.0, 0.0), tuple(turn.ravel()), ground.hulls.vertices, 0.0, boxes, planes, 0)
    np.testing.assert_allclose(boxes[0], (-2.0, -1.6, -top, 2.0, 1.6, np.inf))


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
