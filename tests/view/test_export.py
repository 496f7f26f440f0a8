"""Replays in one file: what is in them, that they play in a browser, and that nothing is left behind."""

import io
import socket
import sys
import threading

import numpy as np
import pytest

from helpers import browser as browsers
from helpers.exported import recording, updates
from helpers.runs import way_of
from linkwork import LinkworkError, Simulation
from linkwork.model.errors import MissingExtraError
from linkwork.model.rotation import matrix
from linkwork.results.record import Group, Record
from linkwork.scenes import scene
from linkwork.view import export
from linkwork.view.motion import stage_in

viser = pytest.importorskip("viser", reason="needs the extra `view`")
FPS = 20.0
browser = pytest.fixture(scope="module")(browsers.launched)


@pytest.fixture(scope="module")
def record():
    return Simulation(scene("chain5")).run(1.0, every=0.01)


@pytest.fixture(scope="module")
def page(record, tmp_path_factory):
    path = tmp_path_factory.mktemp("replay") / "chain.html"
    export.save_html(record, path, fps=FPS)
    return path


def without(record, *groups, **info):
    kept = [group for name, group in record.groups.items() if name not in groups]
    return Record(
        record.time, kept, {group.name: record.array(group.name) for group in kept}, record.info | info
    )


# What is in a page


def test_a_replay_is_one_small_file_with_the_title_of_its_record(page):
    assert [path.name for path in page.parent.iterdir()] == ["chain.html"]
    assert page.stat().st_size < 2e6
    assert "<title>chain5</title>" in page.read_text("utf-8")


def test_titles_are_text(record, tmp_path):
    odd = without(record.between(0.0, 0.0), model="</title><script>\\1")
    export.save_html(odd, tmp_path / "odd.html")
    assert "<title>&lt;/title&gt;&lt;script&gt;\\1</title>" in (tmp_path / "odd.html").read_text("utf-8")


def test_captions_are_seen_one_after_the_other(record, tmp_path):
    named = without(record.between(0.0, 0.2), captions=[(0.0, "mode 0: slow"), (0.1, "mode 1: fast")])
    export.save_html(named, tmp_path / "named.html", fps=FPS)
    messages = [(t, m) for t, m in recording(tmp_path / "named.html")[1] if "/captions/" in m.get("name", "")]
    texts = [m["props"]["text"] for _, m in messages if "text" in m.get("props", {})]
    assert texts == ["mode 0: slow", "mode 1: fast"]
    seen = {name: {} for name in ("/captions/0", "/captions/1")}
    for t, message in messages:
        if "visible" in message:
            seen[message["name"]][round(t, 6)] = message["visible"]
    assert seen == {"/captions/0": {0.0: True, 0.1: False}, "/captions/1": {0.0: False, 0.1: True}}


def test_it_lasts_as_long_as_the_record(page):
    duration, messages = recording(page)
    # 21 poses in 1 s; the last is seen as long as the others.
    assert duration == pytest.approx(21 / FPS)
    times = sorted({round(time * FPS, 6) for time, _ in messages})
    assert times == list(range(21))


def test_poses_are_those_of_the_record(tmp_path):
    single = Simulation(scene("a01_pendulum")).run(0.5, every=0.01)
    body, at = single.info["stage"]["bodies"][0], [0.3, -0.2, 0.1]
    body["shapes"] = [{"shape": "sphere", "radius": 0.1, "at": at}]
    export.save_html(single, tmp_path / "ball.html", fps=10.0, layers=["bodies"])
    found = updates(tmp_path / "ball.html", "/bodies/", "batched_positions")
    got = {round(time * 10): place[0] for time, place in found}
    assert sorted(got) == list(range(6))
    rows = single.resample(rate=10.0)
    expected = [
        p + matrix(q) @ at for p, q in zip(rows.array("positions"), rows.array("rotations"), strict=True)
    ]
    # The page has single precision.
    np.testing.assert_allclose([got[k] for k in range(6)], expected, atol=1e-6)


def test_traces_grow_along_the_way_of_their_marker(record, page):
    traces = updates(page, "/traces/", "points")
    lengths = [len(points) for _, points in traces]
    assert lengths == sorted(lengths)
    assert lengths[-1] > 2 * lengths[0]
    way = way_of(record, "tip")
    for time, points in traces:
        # Points lie on chords of the record's samples, and the last is close to where the marker is by then.
        size = np.ptp(way, axis=0).max()
        now = way[min(round(time / 0.01), len(way) - 1)]
        assert np.linalg.norm(points[-1] - now) < 0.01 * size
        gaps = np.linalg.norm(points[:, None] - way, axis=2).min(axis=1)
        assert gaps.max() < np.linalg.norm(np.diff(way, axis=0), axis=1).max()


def test_the_straight_line_of_peaucellier_is_straight(tmp_path):
    path = tmp_path / "line.html"
    export.save_html(Simulation(scene("peaucellier")).run(2.0, every=0.01), path)
    _, points = updates(path, "/traces/", "points")[-1]
    spreads = np.sort(np.linalg.svd(points - points.mean(axis=0), compute_uv=False))
    # Single precision, and chords of a line are in it.
    assert spreads[1] < 1e-5 * spreads[2]


def test_long_traces_forget_their_beginning():
    way = np.column_stack([np.arange(5000.0), np.zeros(5000), np.zeros(5000)])
    trace = export.thin_out(way, 1, 0.5)
    assert len(trace.until(4999)) == 1500
    assert trace.until(4999)[-1, 0] == 4999.0
    assert len(trace.until(9)) == 10


def test_what_stands_still_leaves_no_trace():
    trace = export.thin_out(np.ones((100, 3)), 2, 0.5)
    assert len(trace.until(49)) == 1


def test_the_camera_sees_where_things_go(page):
    told = {message["type"]: message for _, message in recording(page)[1] if message.get("initial")}
    position = np.array(told["SetCameraPositionMessage"]["position"])
    look_at = np.array(told["SetCameraLookAtMessage"]["look_at"])
    assert 1.0 < np.linalg.norm(position - look_at) < 50.0
    assert told["SetCameraFovMessage"]["fov"] < 1.0


def test_only_layers_that_are_asked_for_are_shown(record, tmp_path):
    export.save_html(record, tmp_path / "bare.html", layers=["bodies"])
    seen = {}
    for _, message in recording(tmp_path / "bare.html")[1]:
        if message["type"] == "SetSceneNodeVisibilityMessage":
            seen[message["name"]] = message["visible"]
    assert seen["/bodies/0"]
    assert not seen["/joints/0"]
    assert not seen["/ground"]
    assert not any(name.startswith("/traces") for name in seen)


def test_reactions_are_arrows_of_one_scale(record, tmp_path):
    export.save_html(record, tmp_path / "forces.html", fps=FPS, reactions=True)
    arrows = updates(tmp_path / "forces.html", "/reactions", "points")
    at = {round(time * FPS): points.reshape(-1, 2, 3) for time, points in arrows}
    lengths = np.array([np.linalg.norm(np.diff(at[k], axis=1)[:, 0], axis=1) for k in range(21)])
    rows = record.resample(rate=FPS)
    forces = np.linalg.norm(rows.array("forces").reshape(21, -1, 3), axis=2)
    np.testing.assert_allclose(lengths, forces * (lengths.max() / forces.max()), rtol=1e-4, atol=1e-5)


def test_one_row_makes_a_still_picture(record, tmp_path):
    export.save_html(record.between(0.5, 0.5), tmp_path / "still.html")
    assert recording(tmp_path / "still.html")[0] == 0.0


def test_progress_is_told(record, tmp_path):
    shares = []
    export.save_html(record, tmp_path / "told.html", fps=FPS, progress=shares.append)
    assert len(shares) == 21
    assert shares[-1] == 1.0


# What is refused, and what is left behind


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda record: without(record, stage=None), {}, "older version"),
        (lambda record: without(record, "positions"), {}, "no positions of body"),
        (lambda record: without(record, "rotations"), {}, "no rotations of body"),
        (lambda record: without(record, "forces"), {"reactions": True}, "no forces in joints"),
        (lambda record: record.between(5.0, 6.0), {}, "no rows"),
        (lambda record: record, {"fps": 0.0}, "must be positive"),
        (lambda record: record, {"fps": 1e7}, "too much for a page"),
        (lambda record: record, {"traces": ["tipp"]}, "no marker 'tipp'.*'tip'"),
        (lambda record: record, {"layers": ["body"]}, "no layer 'body'.*'bodies'"),
    ],
)
def test_what_cannot_be_shown_is_refused(record, tmp_path, change, options, message):
    with pytest.raises(LinkworkError, match=message):
        export.save_html(change(record), tmp_path / "no.html", **options)
    assert not list(tmp_path.iterdir())


def test_a_record_without_a_model_is_refused(tmp_path):
    plain = Record(np.zeros(1), [Group("energy", ("energy.kinetic",), ("J",))], {"energy": np.zeros((1, 1))})
    with pytest.raises(LinkworkError, match="older version"):
        export.save_html(plain, tmp_path / "no.html")
    with pytest.raises(LinkworkError, match="older version"):
        stage_in(plain)


def test_places_that_cannot_be_written_are_refused_at_once(record, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "Server", None)
    with pytest.raises(LinkworkError, match="there is no folder"):
        export.save_html(record, tmp_path / "nowhere" / "a.html")


def test_without_viser_the_extra_is_named(record, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingExtraError, match=r"linkwork\[view\]"):
        export.save_html(record, tmp_path / "a.html")


class Watched(export.Server):
    """Remembers the ports of all servers."""

    ports: list[int] = []  # noqa: RUF012

    def __init__(self, **options):
        super().__init__(**options)
        self.ports.append(self.port)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("fails", [False, True])
def test_no_server_and_no_thread_is_left(record, tmp_path, monkeypatch, fails):
    monkeypatch.setattr(export, "Server", Watched)
    target = tmp_path / "a.html"
    target.write_text("old")
    before = set(threading.enumerate())

    def progress(share):
        assert listens(Watched.ports[-1])
        if fails:
            raise KeyboardInterrupt

    if fails:
        with pytest.raises(KeyboardInterrupt):
            export.save_html(record, target, progress=progress)
        assert target.read_text() == "old"
    else:
        export.save_html(record, target, progress=progress)
        assert target.stat().st_size > 1e5
    assert not listens(Watched.ports[-1])
    assert set(threading.enumerate()) <= before
    assert list(tmp_path.iterdir()) == [target]


# In a browser

SCENE = "canvas[data-engine]"  # three.js signs its own
CLOCK = "Number(document.querySelector('input').value)"


@pytest.fixture
def view(browser):
    """An empty page."""
    view = browser.new_page(viewport=browsers.WINDOW)
    view.set_default_timeout(browsers.PATIENCE)
    yield view
    view.close()


def seen_when(view, good):
    """The picture, height × width × 3, as soon as it is good and stands still."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    last = None
    for _ in range(browsers.PATIENCE // 500):
        view.wait_for_timeout(500)
        data = view.screenshot(clip=view.locator(SCENE).bounding_box())
        shot = np.asarray(image.open(io.BytesIO(data)).convert("RGB"), float)
        if data == last and good(shot):
            return shot
        last = data
    raise AssertionError("the picture is not what it should be")


@pytest.mark.slow
def test_it_plays_from_disk_without_a_network(view, page):
    asked, wrong = [], []
    view.on("request", lambda request: asked.append(request.url))
    view.on("websocket", lambda websocket: asked.append(websocket.url))
    view.on("pageerror", lambda error: wrong.append(str(error)))
    view.goto(page.as_uri())
    assert view.title() == "chain5"
    # It plays by itself, and fades in.
    view.wait_for_function(f"{CLOCK} > 0.2")
    view.wait_for_function(f"document.querySelector('{SCENE}').style.opacity === '1'")
    # That WebGL is slow without a graphics card is not announced right over the picture.
    assert "Software" not in view.locator("body").inner_text()
    clock = view.locator("input").first
    clock.fill("0.2")
    # Bodies and traces are all that has much colour.
    first = seen_when(view, lambda shot: np.mean(np.ptp(shot, axis=2) > 60) > 0.002)
    clock.fill("0.9")
    seen_when(view, lambda shot: np.mean(np.abs(shot - first).max(axis=2) > 60) > 0.002)
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [page.as_uri()]
    assert not wrong


@pytest.mark.slow
def test_it_begins_anew_by_itself(view, page):
    view.goto(page.as_uri())
    view.locator("input").first.wait_for()
    # However seldom the clock is looked at, it is seen to have gone back.
    view.wait_for_function(f"(window.most = Math.max(window.most || 0, {CLOCK})) > 0.5 && {CLOCK} < 0.4")
