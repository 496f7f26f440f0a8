"""Contact points of pairs of shapes: where they lie, how many, and that they keep their names."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from helpers.colliding import HULLS, NAMES, PAIRS, RECORDS, Scene
from linkwork.engine.contact.collide import collide
from linkwork.engine.contact.geometry import (
    contact_rows,
    make_scratch,
    make_shape,
)
from linkwork.engine.contact.kinds import BOX, CAPSULE, CYLINDER, HULL, PLANE

EYE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def one(a, p, b, q, margin=0.01, R=EYE, Q=EYE):
    """Contacts of a single pair."""
    out, scratch = contact_rows(), make_scratch(HULLS)
    poses = [(tuple(map(float, x)), tuple(map(float, np.ravel(y)))) for x, y in ((p, R), (q, Q))]
    count = collide(a, poses[0], b, poses[1], HULLS, margin, scratch, out)
    return out[:count].copy()


# --- manifolds ---


def area(points, normal):
    """Area of the hull of points in a plane."""
    u = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.7 else [0.0, 1.0, 0.0])
    u /= np.linalg.norm(u)
    return ConvexHull(np.stack([points @ u, points @ np.cross(normal, u)], axis=1)).volume


def test_box_on_plane_stands_on_its_corners():
    contacts = one(make_shape(PLANE), (0, 0, 0), make_shape(BOX, 2.0, 4.0, 1.0), (1.0, 2.0, 0.495))
    assert len(contacts) == 4
    assert {tuple(np.round(x[:2], 9)) for x in contacts["a"]} == {(0, 0), (2, 0), (0, 4), (2, 4)}
    np.testing.assert_allclose(contacts["distance"], -0.005, atol=1e-15)
    np.testing.assert_allclose(contacts["normal"], np.tile([0, 0, 1.0], (4, 1)))


def test_round_things_on_a_plane():
    plane, lying = make_shape(PLANE), Rotation.from_euler("y", 90, degrees=True).as_matrix()
    for kind, number in ((CAPSULE, 1), (CYLINDER, 4)):
        assert (
            len(one(plane, (0, 0, 0), make_shape(kind, 0.5, 2.0), (0, 0, 1.0 + 0.5 * (kind == CAPSULE))))
            == number
        )
        contacts = one(plane, (0, 0, 0), make_shape(kind, 0.5, 2.0), (0, 0, 0.5), Q=lying)
        assert sorted(np.round(contacts["a"][:, 0], 9).tolist()) == [-1.0, 1.0]
    rim = one(plane, (0, 0, 0), make_shape(CYLINDER, 0.5, 2.0), (0, 0, 1.0))["a"]
    np.testing.assert_allclose(np.linalg.norm(rim[:, :2], axis=1), 0.5)
    assert area(rim, np.array([0, 0, 1.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", [BOX, HULL])
def test_boxes_at_45_degrees_keep_most_of_the_octagon(kind):
    turned = Rotation.from_euler("z", 45, degrees=True).as_matrix()
    cube = make_shape(BOX, 1.0, 1.0, 1.0)
    contacts = one(cube, (0, 0, 0), cube if kind == BOX else RECORDS[0], (0, 0, 0.999), Q=turned)
    assert len(contacts) == 4
    octagon = 2.0 * (np.sqrt(2.0) - 1.0)
    assert area(contacts["a"], contacts["normal"][0]) >= 0.7 * octagon
    np.testing.assert_allclose(contacts["distance"], -0.001, atol=1e-12)


def test_boxes_on_boxes_keep_the_overlap():
    """Axis-parallel boxes: all corners of the overlap, whatever they are."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        s, t = rng.uniform(0.5, 2.0, (2, 3))
        shift = rng.uniform(-0.4, 0.4, 2)
        contacts = one(
            make_shape(BOX, *s), (0, 0, 0), make_shape(BOX, *t), (*shift, 0.5 * (s[2] + t[2]) - 1e-3)
        )
        assert len(contacts) == 4
        low = np.maximum(-0.5 * s[:2], shift - 0.5 * t[:2])
        high = np.minimum(0.5 * s[:2], shift + 0.5 * t[:2])
        assert area(contacts["a"], np.array([0, 0, 1.0])) == pytest.approx(np.prod(high - low))


def test_edges_cross_in_one_point():
    cube = make_shape(BOX, 1.0, 1.0, 1.0)
    on_edge = Rotation.from_euler("x", 45, degrees=True).as_matrix()
    across = Rotation.from_euler("y", 45, degrees=True).as_matrix()
    for height in (np.sqrt(2.0) - 0.01, np.sqrt(2.0) + 0.005):
        contacts = one(cube, (0, 0, 0), cube, (0.1, 0.2, height), R=on_edge, Q=across)
        assert len(contacts) == 1
        np.testing.assert_allclose(contacts["normal"][0], [0, 0, 1.0], atol=1e-12)
        assert contacts["distance"][0] == pytest.approx(height - np.sqrt(2.0), abs=1e-12)
        np.testing.assert_allclose(contacts["a"][0][:2], [0.1, 0.0], atol=1e-12)
    # Side by side, two points carry the common part of both edges.
    contacts = one(cube, (0, 0, 0), cube, (0.2, 0.0, np.sqrt(2.0) + 0.005), R=on_edge, Q=on_edge)
    assert sorted(np.round(contacts["a"][:, 0], 9).tolist()) == [-0.3, 0.5]


def test_lines_on_faces_have_two_points():
    lying = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    table = make_shape(BOX, 2.0, 2.0, 1.0)
    for kind in (CAPSULE, CYLINDER):
        for height in (0.999, 1.004):  # in it and above it
            contacts = one(table, (0, 0, 0), make_shape(kind, 0.5, 1.0), (0.8, 0, height), Q=lying)
            assert sorted(np.round(contacts["a"][:, 0], 9).tolist()) == [0.3, 1.0]
            np.testing.assert_allclose(contacts["distance"], height - 1.0, atol=1e-12)
            contacts = one(
                make_shape(kind, 0.5, 1.0),
                (0, 0, 0),
                make_shape(kind, 0.5, 2.0),
                (0.1, 0, height),
                R=lying,
                Q=lying,
            )
            assert sorted(np.round(contacts["a"][:, 0], 9).tolist()) == [-0.5, 0.5]


@pytest.mark.parametrize("kind", [CAPSULE, CYLINDER])
@pytest.mark.parametrize("tilt", [1e-12, 1e-9, 3e-8, 1e-6, 1e-4, 1e-3])
def test_lines_stay_on_faces_when_they_tilt(kind, tilt):
    table = make_shape(BOX, 2.0, 2.0, 1.0)
    lying = Rotation.from_euler("y", np.pi / 2 + tilt).as_matrix()
    for height in (0.999, 1.004):
        # Overhanging at the end that points down, the line crosses the edge of the table.
        contacts = one(table, (0, 0, 0), make_shape(kind, 0.5, 1.0), (0.8, 0, height), Q=lying)
        assert len(contacts) == 2
        assert sorted(np.round(contacts["a"][:, 0], 2).tolist()) == [0.3, 1.0]
        assert np.min(contacts["distance"]) == pytest.approx(height - 1.0, abs=tilt)
        contacts = one(table, (0, 0, 0), make_shape(kind, 0.5, 1.0), (0.1, 0, height), Q=lying)
        assert len(contacts) == 2
        assert np.ptp(contacts["a"][:, 0]) > 0.99
        assert np.min(contacts["normal"][:, 2]) > 1.0 - 1e-12


def test_cylinders_stand_on_faces_and_caps():
    can = make_shape(CYLINDER, 0.5, 1.0)
    for below, p in (
        (make_shape(BOX, 4.0, 4.0, 1.0), 0.0),
        (make_shape(CYLINDER, 0.6, 1.0), 0.0),
        (can, 0.0),
    ):
        for height in (0.999, 1.002):
            contacts = one(below, (0, 0, 0), can, (p, 0.05, height))
            assert len(contacts) == 4
            assert area(contacts["a"], np.array([0, 0, 1.0])) > 0.35
            np.testing.assert_allclose(contacts["distance"], height - 1.0, atol=1e-12)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=lambda k: NAMES[k])
def test_features_survive_tiny_motions(a, b):
    scene = Scene((a, b), 300, seed=500 + 10 * a + b, aligned=0.0).run(margin=0.05)
    before = [set(scene.out[i]["feature"][: scene.counts[i]].tolist()) for i in range(scene.n)]
    rng = np.random.default_rng(1)
    scene.positions += 1e-8 * rng.normal(size=scene.positions.shape)
    scene.rotations = (
        Rotation.from_rotvec(1e-8 * rng.normal(size=(2 * scene.n, 3))).as_matrix() @ scene.rotations
    )
    scene.run(margin=0.05)
    after = [set(scene.out[i]["feature"][: scene.counts[i]].tolist()) for i in range(scene.n)]
    assert np.mean([x == y for x, y in zip(before, after, strict=True)]) > 0.97


@pytest.mark.parametrize("turned", [0.0, 0.3])
@pytest.mark.parametrize("gap", [-1e-5, 0.0, 5e-6])
@pytest.mark.parametrize("tilt", [1e-9, 1e-7, 6e-5, 1e-4, 5e-4])
def test_nearly_parallel_faces_have_all_of_their_corners(tilt, gap, turned):
    """Boxes over, under and across each other: as many points as if the faces were parallel, where they would be."""
    rng = np.random.default_rng(8)
    for a, b in (
        ((2, 3, 1), (6, 6, 6)),
        ((6, 6, 6), (2, 3, 1)),
        ((6, 6, 6), (6, 6, 6)),
        ((10, 5, 2), (5, 10, 3)),
    ):
        first, second = (make_shape(BOX, *(0.01 * x for x in size)) for size in (a, b))
        q = np.array([0.003, 0.002, 0.005 * (a[2] + b[2]) + gap])
        flat = Rotation.from_rotvec((0, 0, turned)).as_matrix()
        level = one(first, (0, 0, 0), second, q, margin=2e-4, Q=flat)
        assert len(level) == 4
        for _ in range(20):
            axis = rng.normal(size=3)
            turn = Rotation.from_rotvec(tilt * axis / np.linalg.norm(axis)).as_matrix() @ flat
            world = Rotation.random(random_state=rng).as_matrix()
            seen = one(first, (0, 0, 0), second, world @ q, margin=2e-4, R=world, Q=world @ turn)
            assert len(seen) == 4
            np.testing.assert_allclose(seen["normal"], np.tile(world[:, 2], (4, 1)), atol=2 * tilt + 1e-9)
            # Each point is as far away as the faces are there: to second order in the angle.
            foot = seen["a"] @ world
            face = turn[:, 2]  # of the second box, which looks down
            height = (q @ face - 0.005 * b[2] - foot[:, :2] @ face[:2]) / face[2] - 0.005 * a[2]
            np.testing.assert_allclose(seen["distance"], height, atol=0.2 * tilt**2 + 1e-12)
            if not turned:
                away = np.linalg.norm((seen["a"] @ world)[:, None] - level["a"][None], axis=-1)
                assert away.min(axis=0).max() < 0.2 * tilt + 2e-5


@pytest.mark.parametrize("tilt", [6e-5, 1e-4])
def test_points_of_nearly_parallel_faces_do_not_jump(tilt):
    """Shaken by rounding, the same points stay where they are."""
    rng = np.random.default_rng(2)
    a, b = make_shape(BOX, 0.1, 0.05, 0.02), make_shape(BOX, 0.05, 0.1, 0.03)
    turn = Rotation.from_rotvec((tilt, 0.7 * tilt, 0.02)).as_matrix()
    q = np.array([0.003, 0.002, 0.025 - 1e-5])
    first = one(a, (0, 0, 0), b, q, margin=2e-4, Q=turn)
    for _ in range(200):
        shaken = Rotation.from_rotvec(1e-12 * rng.normal(size=3)).as_matrix() @ turn
        seen = one(a, (0, 0, 0), b, q + 1e-13 * rng.normal(size=3), margin=2e-4, Q=shaken)
        np.testing.assert_array_equal(seen["feature"], first["feature"])
        np.testing.assert_allclose(seen["a"], first["a"], atol=1e-11)
        np.testing.assert_allclose(seen["distance"], first["distance"], atol=1e-11)
