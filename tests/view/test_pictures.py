"""Pictures against what geometry says must be seen in them."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.models import poses_at_start
from helpers.pictured import ROD, at, body, pendulum_record, record_of, stage
from helpers.processes import python
from linkwork import Simulation
from linkwork.cli import app
from linkwork.model.errors import LinkworkError
from linkwork.model.rotation import matrix
from linkwork.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere, Torus
from linkwork.scenes import scene, scene_names
from linkwork.stage.bounds import extent
from linkwork.stage.geometry import body_pieces
from linkwork.stage.meshes import mesh
from linkwork.stage.stage import Poses, SeenScenery, SeenSpring, Stage, stage_of
from linkwork.view.camera import PRESETS, Camera, close_camera
from linkwork.view.painter import Painter, bounds_of
from linkwork.view.picture import LAYERS, Arrow, contact_arrows, draw, save_png, snapshot
from linkwork.view.surface import surface

FOV = 0.6
RED, BLUE = "#d02020", "#2040d0"


def painter(scene, poses, camera, width=160, height=100, show=("bodies",)):
    return Painter(scene, camera, bounds_of(scene, poses), width=width, height=height, show=show)


def covered(scene, poses, camera, **options):
    """Samples (four a pixel) in which a body is seen."""
    brush = painter(scene, poses, camera, **options)
    brush.draw(poses)
    return brush.buffers.depth > 0.0


# What is where


def test_a_sphere_covers_the_area_of_its_cone():
    scene, far = stage(body("ball", Sphere(1.0))), 6.0
    camera = Camera((0.0, -far, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), FOV)
    seen = covered(scene, at((0, 0, 0)), camera, width=400, height=300)
    focal = 300 / np.tan(FOV / 2)
    radius = focal / np.sqrt(far**2 - 1.0)  # in samples
    area = np.pi * radius**2
    # The mesh lies within the sphere: between its meridians by at most 1 - sin(x)/x, x = 2π/32, once each way.
    x = 2 * np.pi / 32
    inside = 2 * (1 - np.sin(x) / x)
    rim = np.pi * radius  # half of the samples on the rim at most
    assert area * (1 - inside) - rim < np.count_nonzero(seen) < area + rim


def test_a_box_covers_the_square_of_its_front():
    scene = stage(body("box", Box((1.0, 1.0, 1.0))))
    camera = Camera((0.0, -4.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), FOV)
    seen = covered(scene, at((0, 0, 0)), camera)
    edge = 100 / np.tan(FOV / 2) / 3.5  # in samples; the front face is half a metre nearer
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    assert abs(len(rows) - edge) <= 1
    assert abs(len(columns) - edge) <= 1
    assert seen[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].all()  # no gap along the diagonal


def test_the_nearer_of_two_boxes_is_seen_from_either_side():
    scene = stage(body("red", Box((1, 1, 1)), color=RED), body("blue", Box((1, 1, 1)), color=BLUE))
    poses = at((0, -1, 0), (0, 1, 0))
    for side, near in ((-8.0, 0), (8.0, 2)):
        camera = Camera((0.0, side, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), FOV)
        middle = draw(scene, poses, camera, width=80, height=50)[25, 40].astype(int)
        assert np.argmax(middle) == near


def test_right_is_right_and_up_is_up():
    scene = stage(body("ball", Sphere(0.1)))
    camera = Camera((0.0, -5.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), FOV)
    rows, columns = np.nonzero(covered(scene, at((0.8, 0, 0.4)), camera))
    focal = 100 / np.tan(FOV / 2)
    assert columns.mean() == pytest.approx(159.5 + focal * 0.8 / 5, abs=1.0)
    assert rows.mean() == pytest.approx(99.5 - focal * 0.4 / 5, abs=1.0)


def test_what_reaches_behind_the_camera_is_cut_off():
    # A plank passes below the eye from behind; its top ends at 10 m, hence `below` rows under the middle.
    scene = stage(body("plank", Box((200.0, 20.0, 0.2), at=(0.0, 0.0, -0.1))))
    camera = Camera((0.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, 0.0, 1.0), FOV)
    seen = covered(scene, at((0, 0, 0)), camera, show=("bodies",))
    below = 100 / np.tan(FOV / 2) * 1.0 / 10.0
    first = np.argmax(seen, axis=0)
    assert seen.any(axis=0).all()
    assert np.abs(first - (100 + below)).max() <= 1
    assert all(seen[first[x] :, x].all() for x in range(seen.shape[1]))


def test_a_camera_within_a_body_or_turned_away_does_no_harm():
    scene = stage(body("box", Box((1, 1, 1))))
    inside = Camera((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), FOV)
    away = Camera((0.0, -5.0, 0.0), (0.0, -6.0, 0.0), (0.0, 0.0, 1.0), FOV)
    assert draw(scene, at((0, 0, 0)), inside, width=32, height=20).shape == (20, 32, 3)
    assert not covered(scene, at((0, 0, 0)), away).any()


def test_a_shadow_falls_away_from_the_lamp():
    scene, poses = stage(body("ball", Sphere(0.2))), at((0, 0, 1.0))
    camera = Camera((0.0, -6.0, 3.0), (0.0, 0.0, 0.5), (0.0, 0.0, 1.0), FOV)
    bounds = np.array([-1.0, -1.0, 0.0]), np.array([1.0, 1.0, 1.2])
    brush = Painter(scene, camera, bounds, width=160, height=100)
    with_ball = brush.draw(poses).astype(int)
    view = brush.view
    place = np.array([0.0, 0.0, 1.0]) - np.array(view.lamp) * (1.0 - brush.floor.height) / view.lamp[2]
    d = place - np.array(view.eye)
    depth = d @ view.forward
    column = int(80 + view.focal / 2 * (d @ view.right) / depth)
    row = int(50 - view.focal / 2 * (d @ view.over) / depth)
    without = brush.draw(at((0, 50.0, 1.0))).astype(int)  # far behind, where the floor has faded away
    assert (without - with_ball)[row, column].min() > 20


def test_corners_are_sharp_on_boxes_and_smooth_on_round_bodies():
    box, ball, rod = surface("box"), surface("sphere"), surface("cylinder")
    assert np.allclose(np.abs(box.normals).max(axis=2), 1.0)
    # Means over faces around a corner, which are π/16 from each other.
    assert np.allclose(ball.normals, ball.corners, atol=np.pi / 32)
    level, across = np.abs(rod.normals[..., 2]), np.hypot(rod.normals[..., 0], rod.normals[..., 1])
    assert (np.isclose(level, 1.0) | np.isclose(across, 1.0)).all()


@pytest.mark.parametrize(
    "shape",
    [
        Box((1.0, 2.0, 3.0)),
        Sphere(0.7),
        Cylinder(0.3, 2.0),
        Capsule(0.2, 1.0),
        Ellipsoid((0.5, 0.2, 0.9)),
        Torus(0.6, 0.2),
    ],
)
def test_the_extent_is_that_of_what_is_drawn(shape):
    scene, poses = stage(body("b", shape)), Poses(np.ones((1, 3)), np.array([[0.9, 0.3, -0.2, 0.25]]))
    points = []
    for piece in body_pieces(scene):
        local = np.array(piece.at) + (mesh(piece.mesh).vertices * piece.scale) @ matrix(piece.rotation).T
        points.append(poses.positions[0] + local @ matrix(poses.rotations[0]).T)
    points = np.concatenate(points)
    low, high = extent(scene, *poses)
    # The meshes of round shapes lie within these, by less than a hundredth.
    assert (low <= points.min(axis=0) + 1e-12).all()
    assert (high >= points.max(axis=0) - 1e-12).all()
    assert np.allclose(high - low, np.ptp(points, axis=0), rtol=0.01)


# Sameness


def test_a_picture_is_the_same_to_the_last_bit():
    poses = at((0, 0, 0))
    camera = close_camera(ROD, poses)
    one, two = (draw(ROD, poses, camera, show=LAYERS, traces={"tip": np.eye(3)}) for _ in range(2))
    assert np.array_equal(one, two)
    # Nor does what was drawn before matter.
    brush = Painter(ROD, camera, bounds_of(ROD, poses))
    first = brush.draw(poses)
    brush.draw(at((0.3, 0, 0)), {"tip": np.eye(3)}, [Arrow((0, 0, 0), (0, 0, 1))])
    assert np.array_equal(brush.draw(poses), first)


def test_plain_python_draws_the_same(tmp_path):
    script = """if True:
        import sys, numpy as np
        sys.path[:0] = ["tests"]
        from helpers.pictured import ROD, at
        from linkwork.view.camera import close_camera
        from linkwork.view.picture import draw
        poses = at((0, 0, 0))
        way = {"tip": np.array([[1.0, 0, 0], [0.8, 0, 0.5], [0.2, 0, 0.6]])}
        image = draw(ROD, poses, close_camera(ROD, poses), width=40, height=24, traces=way)
        np.save(sys.argv[1], image)
    """
    images = []
    for number, plain in enumerate(("0", "1")):
        path = tmp_path / f"{number}.npy"
        code = f"import os; os.environ['NUMBA_DISABLE_JIT'] = '{plain}'\n{script}"
        python("-c", code, path)
        images.append(np.load(path).astype(int))
    # Fused products round differently: a sample on an edge may be decided otherwise.
    assert np.mean(np.abs(images[0] - images[1]).max(axis=2) > 1) < 0.01


# Layers


def test_every_layer_draws_something():
    model = scene("jaws")
    seen = stage_of(model)
    flat = model.flatten()
    poses = Poses(
        np.array([b.at for b in flat.bodies.values()]), np.array([b.rotation for b in flat.bodies.values()])
    )
    seen = Stage(
        seen.name, seen.gravity, seen.bodies, seen.joints, seen.points,
        (SeenSpring("spring", seen.bodies[0].name, "ground", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),),
        (SeenScenery("block", (Box((0.1, 0.1, 0.1)),)),),
    )  # fmt: skip
    camera = close_camera(seen, poses)
    empty = draw(seen, poses, camera, width=160, height=100, show=())
    for layer in LAYERS:
        assert (draw(seen, poses, camera, width=160, height=100, show=(layer,)) != empty).any(), layer


def test_forces_of_contacts_are_arrows():
    simulation = Simulation(scene("slope"))
    simulation.step(200)
    arrows = contact_arrows(simulation.method.touch_arrays(), 0.1)
    # Three boxes of 1 kg on a slope of 1 : 2.5, the last one of which slides: its friction is 0.3 of what it pushes.
    normal = 3 * 9.81 * np.cos(np.arctan(0.4))
    total = np.sum([arrow.along for arrow in arrows], axis=0) / 0.1
    up, down = np.array([0.4, 0.0, 1.0]) / np.hypot(1.0, 0.4), np.array([1.0, 0.0, -0.4]) / np.hypot(1.0, 0.4)
    assert total @ up == pytest.approx(normal, rel=1e-6)
    assert -total @ down == pytest.approx(normal / 3 * (0.4 + 0.4 + 0.3), rel=1e-6)
    assert len({arrow.color for arrow in arrows}) == 2
    assert len(arrows) == len(simulation.touches())


def test_traces_and_arrows_are_drawn_where_they_are():
    poses = at((0, 0, 0))
    camera = Camera((0.0, -6.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), FOV)
    plain = draw(ROD, poses, camera, width=160, height=100, show=())
    line = np.array([[-1.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    traced = draw(ROD, poses, camera, width=160, height=100, show=(), traces={"line": line})
    rows = np.flatnonzero((traced != plain).any(axis=(1, 2)))
    assert abs(rows.mean() - (49.5 - 50 / np.tan(FOV / 2) / 6)) < 1.5
    arrow = Arrow((0.0, 0.0, -1.0), (0.0, 0.0, 2.0), (0, 160, 0))
    with_arrow = draw(ROD, poses, camera, width=160, height=100, show=(), arrows=[arrow])
    changed = (with_arrow != plain).any(axis=2)
    assert abs(np.count_nonzero(changed.any(axis=1)) - 100 / np.tan(FOV / 2) / 6) <= 3
    assert np.argmax(with_arrow[changed].astype(int).mean(axis=0)) == 1


# Cameras


@pytest.mark.parametrize("name", scene_names())
def test_every_camera_has_all_bodies_in_the_picture(name):
    seen, poses = stage_of(scene(name)), poses_at_start(scene(name))
    for preset in PRESETS:
        shown = covered(seen, poses, close_camera(seen, poses, preset, 1.6), width=128, height=80)
        rim = np.concatenate([shown[0], shown[-1], shown[:, 0], shown[:, -1]])
        assert not rim.any(), preset
        # From above, thin bars may lie between the samples.
        assert shown.any() or preset == "top", preset


# Broken input


def test_a_body_without_a_place_is_named():
    bad = at((np.nan, 0, 0))
    with pytest.raises(LinkworkError, match="body 'rod' has no place"):
        draw(ROD, bad, close_camera(ROD, at((0, 0, 0))))
    nowhere = Poses(np.zeros((1, 3)), np.zeros((1, 4)))
    with pytest.raises(LinkworkError, match="body 'rod' has no place"):
        draw(ROD, nowhere, close_camera(ROD, at((0, 0, 0))), bounds=(np.zeros(3), np.ones(3)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"show": ["bodys"]}, "no layer 'bodys'.*'bodies'"),
        ({"width": 0}, "width of a picture must be 1 to 8192"),
        ({"height": 100_000}, "height of a picture"),
        ({"traces": {"tip": np.full((2, 3), np.inf)}}, "trace 'tip' must be n × 3 finite"),
        ({"traces": {"tip": np.zeros((2, 2))}}, "trace 'tip' must be n × 3 finite"),
        ({"arrows": [Arrow((0, 0, 0), (np.nan, 0, 0))]}, "arrow"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, message):
    poses = at((0, 0, 0))
    options = {"bounds": (np.zeros(3), np.ones(3)), **options}
    with pytest.raises(LinkworkError, match=message):
        draw(ROD, poses, close_camera(ROD, poses), **options)


def test_poses_must_fit_the_stage():
    with pytest.raises(LinkworkError, match="must be 1 × 3 positions"):
        draw(
            ROD, at((0, 0, 0), (1, 0, 0)), close_camera(ROD, at((0, 0, 0))), bounds=(np.zeros(3), np.ones(3))
        )


def test_cameras_that_see_nothing_are_refused():
    for camera in (Camera((0, 0, 0), (0, 0, 0), (0, 0, 1)), Camera((0, 0, 1), (0, 0, 0), (0, 0, 1))):
        with pytest.raises(LinkworkError, match="camera"):
            draw(ROD, at((0, 0, 0)), camera)
    with pytest.raises(LinkworkError, match=r"no camera 'frnt'.*'front'"):
        close_camera(ROD, at((0, 0, 0)), "frnt")


# Snapshots


def test_a_snapshot_is_of_the_time_asked_for():
    record = pendulum_record(ROD)
    middle = snapshot(record, width=80, height=50)
    assert np.array_equal(middle, snapshot(record, t=0.5, width=80, height=50))
    assert not np.array_equal(middle, snapshot(record, t=0.9, width=80, height=50))
    bare = pendulum_record(ROD, info={})
    assert np.array_equal(middle, snapshot(bare, ROD, width=80, height=50))


def test_records_that_cannot_be_drawn_are_refused():
    record = pendulum_record(ROD)
    with pytest.raises(LinkworkError, match="does not tell what its bodies look like"):
        snapshot(pendulum_record(ROD, info={}))
    with pytest.raises(LinkworkError, match="2 s is outside of the record"):
        snapshot(record, ROD, 2.0)
    with pytest.raises(LinkworkError, match="no rows"):
        snapshot(pendulum_record(ROD, 0), ROD)
    with pytest.raises(LinkworkError, match="no positions of body 'arm'"):
        snapshot(record, stage(body("arm", Sphere(1.0))))
    with pytest.raises(LinkworkError, match=r"no marker 'top'.*'tip'"):
        snapshot(record, ROD, traces=["top"])
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    blown = record_of(ROD, [0.0, 1.0, 2.0], np.array([[0, 0, 0], [0, 0, 0], [np.nan, 0, 0]]), turn)
    with pytest.raises(LinkworkError, match="body 'rod' has no place at 2 s"):
        snapshot(blown, ROD, 2.0)
    assert snapshot(blown, ROD, 0.5, width=80, height=50).shape == (50, 80, 3)


# Files


def test_a_png_is_read_back_exactly(tmp_path):
    images = pytest.importorskip("PIL.Image")
    noise = np.random.default_rng(1).integers(0, 256, (37, 53, 3), np.uint8)
    save_png(tmp_path / "noise.png", noise)
    assert np.array_equal(np.asarray(images.open(tmp_path / "noise.png")), noise)


def test_a_png_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    image = np.zeros((4, 4, 3), np.uint8)
    path = tmp_path / "picture.png"
    save_png(path, image)
    old = path.read_bytes()

    def broken(part, content):
        with part.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", broken)
        with pytest.raises((OSError, LinkworkError), match="No space left"):
            save_png(path, image + 1)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(LinkworkError, match="no folder"):
        save_png(tmp_path / "none" / "picture.png", image)
    with pytest.raises(LinkworkError, match="height × width × 3 bytes"):
        save_png(path, np.zeros((4, 4, 3)))


# The command


def call(*arguments):
    return CliRunner().invoke(app, ["picture", *map(str, arguments)])


def test_the_command_draws_scenes_files_and_records(tmp_path):
    images = pytest.importorskip("PIL.Image")
    result = call("chain5", tmp_path / "a.png", "--at", 0.2, "--size", "160x100", "--show", "bodies,coms")
    assert result.exit_code == 0, result.output
    assert images.open(tmp_path / "a.png").size == (160, 100)
    pendulum_record(ROD).save(tmp_path / "run.h5")
    result = call(tmp_path / "run.h5", tmp_path / "b.png", "--camera", "front", "--trace", "tip")
    assert result.exit_code == 0, result.output
    assert images.open(tmp_path / "b.png").size == (800, 512)
    result = call("incline_slider", tmp_path / "c.png", "--at", 0, "--set", "angle=10", "--size", "80x50")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chain5", "a.jpg"], "not written as '.jpg', but as one of .png, .mp4, .gif"),
        (["chain5", "none/a.png"], "no folder"),
        (["chain5", "a.png", "--camera", "tpo"], "no camera 'tpo'.*'top'"),
        (["chain5", "a.png", "--size", "800"], "--size 800: write"),
        (["chain5", "a.png", "--at", "0.01", "--size", "80x0"], "height of a picture must be 1 to"),
        (["chain5", "a.png", "--at", "-1"], "outside of the motion"),
        (["chain5", "a.png", "--at", "3", "--time", "2"], "outside of the motion"),
        (["chain5", "a.gif", "--at", "3"], "--at is the time of a picture"),
        (["run.h5", "a.png"], "does not tell what its bodies look like"),
        (["run.h5", "a.png", "--time", "2"], "is a record: --set and --time"),
        (["chain5", "a.png", "--at", "0.01", "--show", "bones"], "no layer 'bones'"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pendulum_record(ROD, info={}).save("run.h5")
    result = call(*arguments)
    assert isinstance(result.exception, LinkworkError), result.output
    with pytest.raises(LinkworkError, match=message):
        raise result.exception
    assert [path.name for path in tmp_path.iterdir()] == ["run.h5"]
