"""Films, read back by another program."""

import sys

import numpy as np
import pytest

from helpers.pictured import ROD, body, pendulum_record, record_of, stage
from linkwork.model.errors import LinkworkError, MissingExtraError
from linkwork.model.shapes import Box
from linkwork.view.film import film

SMALL = {"width": 96, "height": 64}


@pytest.fixture
def imageio():
    pytest.importorskip("imageio_ffmpeg")
    return pytest.importorskip("imageio.v2")


@pytest.mark.parametrize(
    ("name", "options", "frames"),
    [
        ("a.gif", {"fps": 10}, 11),
        ("a.mp4", {"fps": 10}, 11),
        ("a.GIF", {"fps": 20, "speed": 0.5}, 41),
        ("a.mp4", {"fps": 30, "speed": 2.0, "start": 0.2, "end": 0.8}, 10),
    ],
)
def test_a_film_has_the_frames_and_the_size_asked_for(imageio, tmp_path, name, options, frames):
    shares = []
    count = film(pendulum_record(ROD), tmp_path / name, **SMALL, **options, progress=shares.append)
    assert count == frames
    images = imageio.mimread(tmp_path / name)
    assert len(images) == frames
    assert all(image.shape[:2] == (64, 96) for image in images)
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    assert not np.array_equal(images[0], images[-1])


def test_an_mp4_has_the_pace_asked_for_and_any_even_size(imageio, tmp_path):
    film(pendulum_record(ROD), tmp_path / "a.mp4", fps=25, width=90, height=50)
    with imageio.get_reader(tmp_path / "a.mp4") as reader:
        data = reader.get_meta_data()
    assert data["fps"] == 25.0
    assert data["size"] == (90, 50)
    assert data["duration"] == pytest.approx(26 / 25, abs=0.01)


def test_a_gif_keeps_the_pace_on_average(tmp_path):
    images = pytest.importorskip("PIL.Image")
    film(pendulum_record(ROD, info={}), tmp_path / "a.gif", stage=ROD, fps=30, **SMALL)
    with images.open(tmp_path / "a.gif") as gif:
        total = 0
        for frame in range(gif.n_frames):
            gif.seek(frame)
            total += gif.info["duration"]
    assert total == pytest.approx(1000 * 31 / 30, abs=5)  # durations are hundredths of a second


def test_several_records_are_shown_one_after_the_other(imageio, tmp_path):
    flying = stage(body("box", Box((0.2, 0.2, 0.2)), color="#d02020"))
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (6, 1))
    way = np.column_stack([np.linspace(0.0, 3.0, 6), np.zeros((6, 2))])
    other = record_of(flying, np.linspace(2.0, 2.5, 6), way, turn)
    shares = []
    both = film(
        [pendulum_record(ROD), other],
        tmp_path / "both.gif",
        fps=10,
        traces=[],
        **SMALL,
        progress=shares.append,
    )
    assert both == 11 + 6
    assert shares[-1] == 1.0
    frames = np.asarray(imageio.mimread(tmp_path / "both.gif"), int)[..., :3]
    red = (frames[..., 0] - frames[..., 1] > 60).sum(axis=(1, 2))
    assert red[:11].max() < 20 < red[11:].min()  # the rod, then the box
    with pytest.raises(LinkworkError, match="needs a record"):
        film([], tmp_path / "none.gif")


def test_traces_grow(tmp_path):
    images = pytest.importorskip("PIL.Image")
    film(pendulum_record(ROD), tmp_path / "with.gif", fps=5, **SMALL)
    film(pendulum_record(ROD), tmp_path / "none.gif", fps=5, traces=[], **SMALL)

    def red(name, frame):
        with images.open(tmp_path / name) as gif:
            gif.seek(frame)
            r, g, b = np.moveaxis(np.asarray(gif.convert("RGB"), int), 2, 0)
        return np.count_nonzero((r > 140) & (g < 100) & (b < 140))

    assert red("with.gif", 1) < red("with.gif", 3) < red("with.gif", 5)
    assert red("none.gif", 5) == 0


def test_a_film_of_one_row_is_one_frame(imageio, tmp_path):
    turn = np.array([[1.0, 0.0, 0.0, 0.0]])
    assert film(record_of(ROD, [3.0], np.zeros((1, 3)), turn), tmp_path / "a.gif", **SMALL) == 1
    assert len(imageio.mimread(tmp_path / "a.gif")) == 1


def test_the_camera_sees_the_whole_motion(tmp_path):
    images = pytest.importorskip("PIL.Image")
    flying = stage(body("box", Box((0.2, 0.2, 0.2)), color="#d02020"))
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (11, 1))
    way = np.column_stack([np.linspace(0.0, 5.0, 11), np.zeros((11, 2))])
    film(record_of(flying, np.linspace(0, 1, 11), way, turn), tmp_path / "a.gif", fps=10, **SMALL)
    with images.open(tmp_path / "a.gif") as gif:
        for frame in (0, gif.n_frames - 1):
            gif.seek(frame)
            r, g, _ = np.moveaxis(np.asarray(gif.convert("RGB"), int), 2, 0)
            box = r - g > 60
            assert box.any()
            assert not np.concatenate([box[0], box[-1], box[:, 0], box[:, -1]]).any()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.avi", {}, "not written as '.avi', but as one of .mp4, .gif"),
        ("a", {}, "not written as ''"),
        ("none/a.gif", {}, "no folder"),
        ("a.gif", {"fps": 0}, "fps of a film must be positive, not 0"),
        ("a.gif", {"speed": -1.0}, "speed of a film must be positive"),
        ("a.gif", {"fps": 60}, "at most 50 frames"),
        ("a.mp4", {"width": 81, "height": 50}, "must be even, not 81 × 50"),
        ("a.gif", {"height": 0}, "height of a picture must be 1 to"),
        ("a.gif", {"end": 1.5}, "outside of the record, which runs from 0 to 1 s"),
        ("a.gif", {"start": -0.5}, "outside of the record"),
        ("a.gif", {"start": 0.5, "end": 0.2}, "cannot start at 0.5 s and end at 0.2 s"),
        ("a.gif", {"traces": ["top"]}, "no marker 'top'"),
        ("a.gif", {"preset": "below"}, "no camera 'below'"),
        ("a.gif", {"show": ["bones"]}, "no layer 'bones'"),
    ],
)
def test_what_cannot_be_filmed_is_refused(tmp_path, name, options, message):
    with pytest.raises(LinkworkError, match=message):
        film(pendulum_record(ROD), tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_records_that_cannot_be_filmed_are_refused(tmp_path):
    with pytest.raises(LinkworkError, match="no rows"):
        film(pendulum_record(ROD, 0), tmp_path / "a.gif")
    with pytest.raises(LinkworkError, match="does not tell what its bodies look like"):
        film(pendulum_record(ROD, info={}), tmp_path / "a.gif")
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    blown = record_of(ROD, [0.0, 1.0], np.array([[0.0, 0, 0], [np.inf, 0, 0]]), turn)
    with pytest.raises(LinkworkError, match="body 'rod' has no place at"):
        film(blown, tmp_path / "a.gif", fps=10)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.gif", "a.mp4"])
def test_an_interrupted_film_leaves_the_old_one(imageio, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"old")

    def interrupt(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film(pendulum_record(ROD), path, fps=10, progress=interrupt, **SMALL)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "module", "extra"), [("a.mp4", "imageio_ffmpeg", "video"), ("a.gif", "PIL.Image", "video")]
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"linkwork\[{extra}\]"):
        film(pendulum_record(ROD), tmp_path / name, fps=5, **SMALL)
    assert not list(tmp_path.iterdir())
