"""Scenery in pictures, on the page, in records and in replays."""

import numpy as np
import pytest

from helpers.scenery import SIDE, boxes, ground, nodes_of, on_page, seen, wall
from linkwork import Box, Component, Material, Record, Scenery, Simulation, about, load_model, save_model
from linkwork.model import Instance
from linkwork.model.rotation import matrix
from linkwork.model.shapes import HeightField
from linkwork.stage.bounds import floor, reach
from linkwork.stage.geometry import SCENERY_COLOR, levels, plane_pieces, scenery_pieces
from linkwork.stage.meshes import mesh
from linkwork.stage.stage import Poses, Stage, stage_of
from linkwork.view.camera import FOV, Camera, close_camera, spread
from linkwork.view.export import save_html
from linkwork.view.motion import motion, stage_in
from linkwork.view.painter import Painter, bounds_of
from linkwork.view.picture import draw, snapshot
from linkwork.view.player import Player

# Where scenery is


def test_scenery_stands_where_its_components_do():
    part, model = Component("part"), boxes()
    outer, middle, inner = (about(axis, 0.3) for axis in np.eye(3))
    step = Box((0.4, 0.2, 0.1), at=(0.1, 0.2, 0.0), rotation=inner)
    part.add(Material("rough"))
    part.add(
        Scenery(
            "step", at=(1.0, 0.0, 0.0), rotation=middle, shapes=(step,), material="rough", color="#102030"
        )
    )
    model.add(Instance("left", part, at=(0.0, 2.0, 0.0), rotation=outer))
    (piece,) = scenery_pieces(stage_of(model))
    assert (piece.mesh, piece.body, piece.color) == ("box", -1, (16, 32, 48))
    corners = (mesh("box").vertices * step.size) @ matrix(inner).T + step.at
    for at, turn in (((1.0, 0.0, 0.0), middle), ((0.0, 2.0, 0.0), outer)):
        corners = corners @ matrix(turn).T + at
    np.testing.assert_allclose(nodes_of(piece), corners, atol=1e-12)


def test_a_level_plane_is_the_ground_and_others_are_squares_on_their_planes():
    slope = about((0.0, 1.0, 0.0), 0.4)
    model = boxes(
        ground(at=(3.0, 1.0, -0.5), color="#204060"),
        ground("lower", at=(0.0, 0.0, -2.0)),
        ground("slope", at=(0.0, 0.0, -1.0), rotation=slope),
        ground("ceiling", at=(0.0, 0.0, 4.0), rotation=about((1.0, 0.0, 0.0), np.pi)),
    )
    stage, _, bounds = seen(model)
    assert levels(stage) == [(-0.5, (32, 64, 96)), (-2.0, None)]
    assert floor(stage, *bounds) == -0.5
    assert scenery_pieces(stage) == []
    tilted, ceiling = plane_pieces(stage, bounds)
    for piece, point, normal in (
        (tilted, (0.0, 0.0, -1.0), matrix(slope)[:, 2]),
        (ceiling, (0.0, 0.0, 4.0), (0.0, 0.0, -1.0)),
    ):
        corners, (face, _) = nodes_of(piece), mesh(piece.mesh).faces
        np.testing.assert_allclose((corners - point) @ normal, 0.0, atol=1e-12)
        outward = np.cross(corners[face[1]] - corners[face[0]], corners[face[2]] - corners[face[0]])
        assert outward @ normal > 0.0  # it is seen from where bodies can be
        assert piece.color == SCENERY_COLOR
        # Beyond what there is to see, however it is turned.
        assert piece.scale[0] >= 2.0 * np.linalg.norm(bounds[1] - bounds[0])


def test_the_ground_is_under_scenery_without_planes():
    step = wall((1.0, 1.0, 0.1), (0.0, 0.0, -0.05))
    stage, _, bounds = seen(boxes(step))
    lowest = floor(stage, *bounds)
    assert -0.11 < lowest < -0.1
    # Also where a landscape is too large to be in the picture.
    grid = np.zeros((3, 3))
    grid[0, 0] = -40.0
    land = Scenery("land", shapes=(HeightField((500.0, 500.0), heights=grid),), material="rough")
    stage, _, bounds = seen(boxes(land))
    assert floor(stage, *bounds) < -40.0


# What is in the picture


def test_planes_do_not_move_the_camera():
    alone, poses, bounds = seen(boxes())
    among, _, others = seen(boxes(ground(), ground("slope", rotation=about((1.0, 0.0, 0.0), 0.5))))
    np.testing.assert_array_equal(bounds, others)
    assert close_camera(alone, poses) == close_camera(among, poses)


def inside(camera, points, aspect):
    """Whether a camera has points in its picture."""
    ahead = np.subtract(camera.look_at, camera.position)
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, camera.up)
    right = right / np.linalg.norm(right)
    way = points - np.array(camera.position)
    x, y, z = way @ right, way @ np.cross(right, ahead), way @ ahead
    tall = np.tan(FOV / 2) * z
    return bool((z > 0.0).all() and (np.abs(y) <= tall).all() and (np.abs(x) <= aspect * tall).all())


def test_finite_scenery_is_in_the_picture():
    tower = wall((0.1, 0.1, 1.0), (0.7, 0.3, 0.5))
    stage, poses, (low, high) = seen(boxes(ground(), tower))
    camera = close_camera(stage, poses, aspect=1.5)
    assert inside(camera, nodes_of(scenery_pieces(stage)[0]), 1.5)
    np.testing.assert_allclose(high, (0.75, 0.35, 1.0))
    np.testing.assert_allclose(low, (-0.1, -0.1, 0.0), atol=1e-12)
    assert not inside(close_camera(stage_of(boxes()), poses, aspect=1.5), np.array([[0.75, 0.35, 1.0]]), 1.5)


def test_a_landscape_without_end_does_not_make_bodies_small():
    near = SIDE * np.sqrt(3)
    for size in (40.0, 4000.0):
        stage, poses, (low, high) = seen(boxes(wall((size, size, 1.0), (0.0, 0.0, -0.5), "slab")))
        assert np.linalg.norm(high - low) < 10 * near
        assert high[2] == pytest.approx(SIDE)
        assert (low[:2] < -0.5 * near).all()
    far = wall((1.0, 1.0, 1.0), (1000.0, 0.0, 0.0))
    stage, poses, bounds = seen(boxes(far))
    np.testing.assert_allclose(bounds[1], SIDE * np.array([0.5, 0.5, 1.0]))
    d = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_array_equal(reach(stage, *poses, d), reach(stage_of(boxes()), *poses, d))


def test_what_there_is_to_see_of_a_moment_is_in_the_bodies():
    stage, poses, _ = seen(boxes(wall((0.1, 3.0, 3.0), (1.0, 0.0, 0.0))))
    assert spread(stage, poses) == spread(stage_of(boxes()), poses)


LOOK = Camera((0.0, -3.0, 0.3), (0.0, 0.0, 0.1), (0.0, 0.0, 1.0))


def painted(model, camera=LOOK, **options):
    stage, poses, _ = seen(model)
    return draw(stage, poses, camera, width=160, height=100, **options).astype(int)


def test_bodies_shine_through_walls():
    hidden = boxes(wall((1.0, 0.1, 1.0), (0.0, -0.5, 0.3), color="#0000ff"))
    picture, bare = painted(hidden), painted(hidden, show=("ground", "scenery"))
    around = painted(boxes(), show=("bodies",))
    middle = (50, 80)
    assert bare[middle][2] > bare[middle][0] + 50  # the wall is blue
    assert around[middle][0] > around[middle][2] + 50  # the box is red
    assert bare[middle][0] < picture[middle][0] < around[middle][0]
    assert around[middle][2] < picture[middle][2] < bare[middle][2]
    # What stands before a wall hides it.
    before = painted(boxes(wall((1.0, 0.1, 1.0), (0.0, 0.5, 0.3), color="#0000ff")))
    np.testing.assert_array_equal(before[middle], around[middle])


def test_a_painter_draws_scenery_in_every_picture_alike():
    model = boxes(ground(color="#306030"), wall((0.2, 0.2, 0.4), (0.3, 0.3, 0.2)))
    stage, poses, bounds = seen(model)
    above = Camera((0.0, -1.0, 1.5), (0.0, 0.0, 0.1), (0.0, 0.0, 1.0))
    painter = Painter(stage, above, bounds, width=160, height=100, floor=0.0)
    first = painter.draw(poses).astype(int)
    painter.draw(Poses(poses.positions + 0.2, poses.rotations))
    np.testing.assert_array_equal(painter.draw(poses), first)
    plain = painted(boxes(ground(), wall((0.2, 0.2, 0.4), (0.3, 0.3, 0.2))), above)
    green, not_green = (np.mean(image[..., 1] > image[..., 0] + 20) for image in (first, plain))
    assert green > 0.1  # the floor
    assert not_green == 0.0


@pytest.mark.parametrize("height", [2.0, -2.0])
def test_terrain_is_seen_from_above_and_below(height):
    land = Scenery(
        "land", shapes=(HeightField((2.0, 2.0), heights=((0.0, 0.1), (0.2, 0.0))),), material="rough"
    )
    camera = Camera((0.0, -2.0, height), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    with_it, without = (painted(boxes(land), camera, show=show) for show in (("scenery",), ()))
    assert np.mean(np.abs(with_it - without).max(axis=2) > 8) > 0.2


def test_a_plane_is_not_seen_from_within():
    slope = ground("slope", rotation=about((1.0, 0.0, 0.0), 0.3))
    under = Camera((0.0, -1.0, -3.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    over = Camera((0.0, -1.0, 3.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    for camera, share in ((under, 0.0), (over, 0.05)):
        pictures = [painted(boxes(slope), camera, show=show) for show in (("scenery",), ())]
        assert np.mean(np.abs(pictures[0] - pictures[1]).max(axis=2) > 4) >= share
        assert share or (pictures[0] == pictures[1]).all()


# On the page


def test_scenery_is_on_the_page():
    land = HeightField((2.0, 1.0), heights=((0.0, 0.1), (0.2, 0.0)), at=(0.0, 0.0, -0.5))
    model = boxes(
        ground(at=(0.0, 0.0, -1.0), color="#406080"),
        ground("slope", rotation=about((1.0, 0.0, 0.0), 0.3)),
        wall((0.1, 0.2, 0.3), (0.6, 0.5, 0.15)),
        Scenery("land", shapes=(land,), material="rough"),
    )
    page, nodes, poses = on_page(model)
    assert nodes.shows("scenery")
    assert page.nodes["/ground"].plane_color == (64, 96, 128)
    np.testing.assert_allclose(page.nodes["/ground"].position[2], -1.0)
    box, terrain, slope = page.under("/scenery/").values()
    np.testing.assert_allclose(box.batched_positions, [[0.6, 0.5, 0.15]], atol=1e-7)
    np.testing.assert_allclose(box.batched_scales, [[0.1, 0.2, 0.3]])
    assert (terrain.side, slope.side) == ("double", "front")
    assert not slope.cast_shadow
    assert box.opacity < 1.0  # what it hides is seen
    kept = box.batched_positions
    kept[:] = 7.0
    nodes.place(poses)
    assert (kept == 7.0).all()  # what never moves is not sent again
    nodes.show("scenery", False)
    assert page.under("/scenery/") == {}
    assert "/ground" in page.under("/")


# Records and files


@pytest.fixture(scope="module")
def falling():
    """A record of a box that falls beside a step onto the floor."""
    model = boxes(ground(), wall((0.3, 0.3, 0.2), (0.5, 0.0, 0.1), color="#4060a0"), at=((0.0, 0.0, 0.3),))
    return model, Simulation(model, method="simgc", dt=1e-3).run(0.2, every=0.01)


def test_records_keep_their_scenery(falling, tmp_path):
    model, record = falling
    record.save(tmp_path / "fall.h5")
    loaded = Record.load(tmp_path / "fall.h5")
    stage = stage_in(loaded)
    assert stage == stage_of(model)
    assert len(stage.scenery) == 2
    assert Player("fall", stage_in(loaded), motion(loaded, stage_in(loaded))).stage == stage
    picture = snapshot(loaded, t=0.1, width=160, height=100).astype(int)
    bare = snapshot(
        loaded, Stage(stage.name, stage.gravity, stage.bodies, stage.joints), t=0.1, width=160, height=100
    )
    assert np.mean(np.abs(picture - bare).max(axis=2) > 12) > 0.05
    blue = (picture[..., 2] - picture[..., 0]) > 60
    assert blue.mean() > 0.02  # the step


def test_a_replay_has_scenery_once_and_no_contacts(falling, tmp_path):
    pytest.importorskip("viser", reason="needs the extra `view`")
    from helpers.exported import recording, updates

    _, record = falling
    path = tmp_path / "fall.html"
    save_html(record, path, fps=20.0, layers=("bodies", "ground", "scenery", "contacts"))
    placed = updates(path, "/scenery/", "batched_positions")
    # Where it is made, and where it is set; it never moves again.
    np.testing.assert_allclose(placed[-1][1], [[0.5, 0.0, 0.1]], atol=1e-7)
    assert {when for when, _ in placed} == {0.0}
    assert len({when for when, _ in updates(path, "/bodies/", "batched_positions")}) == 5
    names = {str(message.get("name")) for _, message in recording(path)[1]}
    assert not any(name.startswith("/contacts") for name in names)


@pytest.mark.parametrize("ending", [".npy", ".csv"])
def test_height_files_are_named_from_the_model_file(tmp_path, ending):
    heights = np.array([[0.0, 0.25], [0.5, 1.0], [0.125, 0.0]])
    file = tmp_path / "land" / f"hills{ending}"
    file.parent.mkdir()
    (np.save if ending == ".npy" else lambda path, grid: np.savetxt(path, grid, delimiter=","))(file, heights)
    model = boxes(Scenery("land", shapes=(HeightField((2.0, 1.0), file=str(file)),), material="rough"))
    save_model(model, tmp_path / "model.yaml")
    text = (tmp_path / "model.yaml").read_text()
    assert f"land/hills{ending}" in text
    assert str(tmp_path) not in text
    moved = tmp_path / "elsewhere"
    (tmp_path / "land").rename(tmp_path / "kept")
    moved.mkdir()
    (tmp_path / "kept").rename(moved / "land")
    (tmp_path / "model.yaml").rename(moved / "model.yaml")
    (piece,) = scenery_pieces(stage_of(load_model(moved / "model.yaml")))
    np.testing.assert_array_equal(np.sort(nodes_of(piece)[:, 2]), np.sort(heights.ravel()))


def test_motion_of_scenery_scenes_is_framed():
    model = boxes(ground(), at=((0.0, 0.0, 0.5),))
    record = Simulation(model, method="simgc", dt=1e-3).run(0.2, every=0.01)
    moving = motion(record, stage_of(model))
    low, high = bounds_of(stage_of(model), Poses(moving.positions, moving.rotations))
    assert high[2] == pytest.approx(0.5 + SIDE / 2)
    assert low[2] == pytest.approx(moving.positions[-1, 0, 2] - SIDE / 2)
