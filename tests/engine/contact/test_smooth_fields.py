"""Contact with smooth height fields, against planes, formulas, and nearest points found by SciPy on the same spline."""

import numpy as np
import pytest
from scipy.interpolate import RectBivariateSpline
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from linkwork.engine.contact.collide import collide
from linkwork.engine.contact.geometry import contact_rows, gather_hulls, make_scratch, make_shape
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE, TORUS

NAMES = {SPHERE: "sphere", CAPSULE: "capsule", CYLINDER: "cylinder", ELLIPSOID: "ellipsoid", TORUS: "torus"}
SIZES = {
    SPHERE: (0.3,), CAPSULE: (0.2, 0.5), CYLINDER: (0.3, 0.2), ELLIPSOID: (0.3, 0.4, 0.25), TORUS: (0.25, 0.1),
}  # fmt: skip
EYE = np.eye(3)
UPRIGHT = Rotation.from_rotvec((np.pi / 2, 0, 0)).as_matrix()


class Ground:
    """A smooth field."""

    def __init__(self, function, size=(6.0, 5.0), nodes=(61, 51), smooth=True):
        self.x, self.y = (np.linspace(-s / 2, s / 2, n) for s, n in zip(size, nodes, strict=True))
        grid = function(*np.meshgrid(self.x, self.y))
        self.hulls, (self.record,) = gather_hulls([], [(grid, size, smooth)])
        self.spline = RectBivariateSpline(self.x, self.y, grid.T)

    def touch(self, shape, at, R=EYE, margin=0.1, other=None):
        """Contacts from the field to a shape."""
        out, scratch = contact_rows(), make_scratch(self.hulls)
        home = ((0.0, 0.0, 0.0), tuple(EYE.ravel()))
        ground = self.record if other is None else other
        count = collide(ground, home, shape, (tuple(at), tuple(R.ravel())), self.hulls, margin, scratch, out)
        return out[:count].copy()


def hills(x, y):
    return 0.05 * np.sin(1.3 * x + 0.4) * np.cos(1.1 * y - 0.2)


def support(kind, m):
    """The point of a shape farthest along -m, in its own frame."""
    d, up = SIZES[kind], np.array([0.0, 0.0, 1.0])
    level = m * (1, 1, 0)
    radial = level / max(np.linalg.norm(level), 1e-12)
    if kind == SPHERE:
        return -d[0] * m
    if kind == ELLIPSOID:
        return -(np.array(d) ** 2) * m / np.linalg.norm(np.array(d) * m)
    if kind == TORUS:
        return -d[0] * radial - d[1] * m
    end = np.sign(m[2]) * 0.5 * d[1] * up
    return -end - (d[0] * m if kind == CAPSULE else d[0] * radial)


@pytest.mark.parametrize("kind", NAMES, ids=NAMES.get)
def test_a_flat_field_is_a_plane(kind):
    ground, plane, shape = Ground(lambda x, y: 0.0 * x), make_shape(PLANE), make_shape(kind, *SIZES[kind])
    rng = np.random.default_rng(kind)
    touched = 0
    for k in range(200):
        at = rng.uniform((-1.5, -1.0, -0.1), (1.5, 1.0, 0.5))
        turn = Rotation.random(random_state=rng).as_matrix() if k % 4 else UPRIGHT
        seen, known = ground.touch(shape, at, turn), ground.touch(shape, at, turn, other=plane)
        assert len(seen) == len(known)
        touched += len(seen) > 0
        if len(seen):
            np.testing.assert_allclose(seen["distance"].min(), known["distance"].min(), atol=1e-12)
            np.testing.assert_allclose(seen["normal"], np.tile((0, 0, 1.0), (len(seen), 1)), atol=1e-12)
            gaps = np.linalg.norm(seen["b"][:, None] - known["b"][None], axis=-1)
            assert gaps.min(axis=1).max() < 1e-9
    assert touched > 80


@pytest.mark.parametrize("kind", NAMES, ids=NAMES.get)
def test_round_shapes_over_hills(kind):
    """Where normals agree, and at the distance that the closest points have, by a search over the same spline."""
    ground, shape, rng = Ground(hills), make_shape(kind, *SIZES[kind]), np.random.default_rng(kind)
    found = 0
    for _ in range(60):
        tilt = Rotation.from_rotvec(rng.uniform(-0.25, 0.25, 3)).as_matrix()
        turn = tilt @ Rotation.from_rotvec((0, 0, rng.uniform(0, 6))).as_matrix() @ UPRIGHT
        at = rng.uniform((-1.5, -1.0, 0.25), (1.5, 1.0, 0.5))
        seen = ground.touch(shape, at, turn)
        if not len(seen):
            continue
        found += 1
        best = seen[np.argmin(seen["distance"])]
        m = best["normal"]
        # On the surface, and along its normal
        x, y, z = best["a"]
        s = ground.spline
        assert z == pytest.approx(s.ev(x, y), abs=1e-5)  # the two splines end differently at the rim
        slope = np.array([-s.ev(x, y, dx=1), -s.ev(x, y, dy=1), 1.0])
        np.testing.assert_allclose(m, slope / np.linalg.norm(slope), atol=1e-4)
        # On the shape, where it is farthest against the normal
        reach = m @ (at + turn @ support(kind, turn.T @ m))
        # Between the ends of a line crests are looked for at stations a cell apart: the slope half a cell from a crest,
        # 0.05 · 1.3² · 0.05, times half of the length.
        assert m @ best["b"] == pytest.approx(reach, abs={CAPSULE: 1.1e-3, CYLINDER: 4.3e-4}.get(kind, 1e-9))

        def apart(p, at=at, turn=turn, s=s):
            """How far the shape is from a point of the surface along the normal there; least where they are nearest."""
            n = np.array([-s.ev(*p, dx=1), -s.ev(*p, dy=1), 1.0])
            n /= np.linalg.norm(n)
            d = at + turn @ support(kind, turn.T @ n) - np.array([*p, s.ev(*p)])
            return np.sum((d - (d @ n) * n) ** 2)

        if kind not in (CAPSULE, CYLINDER):  # on lines, ends and crests between them take turns
            there = minimize(apart, (x, y), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-16}).x
            np.testing.assert_allclose(there, (x, y), atol=1e-3)
    assert found > 15


@pytest.mark.parametrize("depth", [0.02, -0.05, -0.2])
def test_a_ball_on_a_sine(depth):
    """The surface at a distance from a sine: its points and their normals are known."""
    A, k, r = 0.05, 2.0, 0.3
    errors = []
    for nodes in (31, 61, 121):
        ground = Ground(lambda x, y: A * np.sin(k * x), nodes=(nodes, 9))
        worst = 0.0
        for x in np.linspace(-1.0, 1.0, 17):
            slope = A * k * np.cos(k * x)
            n = np.array([-slope, 0.0, 1.0]) / np.hypot(slope, 1.0)
            at = np.array([x, 0.1, A * np.sin(k * x)]) + (r + depth) * n
            (seen,) = ground.touch(make_shape(SPHERE, r), at, margin=0.05)
            worst = max(worst, abs(seen["distance"] - depth))
        errors.append(worst)
    # A cubic spline is of fourth order.
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 10
    assert errors[2] < errors[1] / 10


def test_a_ball_in_a_narrow_valley_touches_both_sides():
    # A ball of radius r in z = x²/2: nearest where x² = r² - 1, at both sides.
    r = 1.25
    ground = Ground(lambda x, y: 0.5 * x**2, size=(4.0, 4.0), nodes=(81, 41))
    seen = ground.touch(make_shape(SPHERE, r), np.array([0.0, 0.0, 0.5 * (r * r - 1.0) + 1.0]), margin=0.05)
    assert len(seen) == 2
    np.testing.assert_allclose(sorted(seen["a"][:, 0]), (-0.75, 0.75), atol=1e-4)
    np.testing.assert_allclose(seen["distance"], 0.0, atol=1e-5)


def test_a_cylinder_on_a_crest_between_its_ends():
    ground = Ground(lambda x, y: -0.5 * y**2)
    seen = ground.touch(make_shape(CYLINDER, 0.3, 1.0), np.array([0.0, 0.0, 0.3]), UPRIGHT, margin=0.2)
    best = seen[np.argmin(seen["distance"])]
    np.testing.assert_allclose(best["a"], 0.0, atol=1e-4)
    assert best["distance"] == pytest.approx(0.0, abs=1e-6)


def test_boxes_meet_the_triangles():
    smooth, plain, box = Ground(hills), Ground(hills, smooth=False), make_shape(BOX, 0.4, 0.5, 0.2)
    rng = np.random.default_rng(2)
    for _ in range(50):
        turn = Rotation.random(random_state=rng).as_matrix()
        at = rng.uniform((-1.5, -1.0, 0.0), (1.5, 1.0, 0.4))
        np.testing.assert_array_equal(smooth.touch(box, at, turn), plain.touch(box, at, turn))
    edge = smooth.touch(make_shape(SPHERE, 0.3), np.array([3.2, 0.0, 0.3]))
    assert len(edge) == 0  # beside the field
