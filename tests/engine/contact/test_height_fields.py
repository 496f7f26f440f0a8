"""Contact with height fields that are planes, roofs and valleys, against planes and formulas."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.terrain import EYE, NAMES, Ground, rough
from linkwork.engine.contact.geometry import make_shape
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, PLANE, SPHERE, enclose


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
