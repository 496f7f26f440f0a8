"""The live page before, while and after something else is opened: it is alive, it is ours, and no picture is lost."""

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import numpy as np
import pytest

from helpers import processes
from helpers.browser import launched
from helpers.page import MOVED, Visitor, colors, difference, pixels
from helpers.processes import PATIENCE, wait_until
from linkwork.io.starter import write_starter
from linkwork.model.errors import LinkworkError
from linkwork.scenes import find_scene, gallery_names
from linkwork.stage.stage import stage_of
from linkwork.view import opening, recorded
from linkwork.view.page import Page
from linkwork.view.server import Server
from linkwork.view.thumbnails import thumbnail_of

browser = pytest.fixture(scope="module")(launched)


@pytest.fixture
def page(tmp_path):
    """A page on which nothing is opened yet."""
    made = Page(Server(port=0), folder=tmp_path)
    made.start()
    yield made
    made.close()


@pytest.fixture
def visit(browser):
    """Looks at pages; nothing that viser shows of its own may ever be seen."""
    visitors = []

    def begin(page):
        visitors.append(Visitor(page, browser))
        return visitors[-1]

    yield begin
    foreign = [text for visitor in visitors for text in visitor.foreign()]
    complaints = [text for visitor in visitors for text in visitor.complaints]
    for visitor in visitors:
        visitor.browser.close()
    assert foreign == []
    assert complaints == []


class Compiler:
    """Stands in for the processes that compile: takes until it is told to be done."""

    def __init__(self, monkeypatch, lacking=("direct",)):
        self.done, self.began, self.stopped = threading.Event(), threading.Event(), 0
        self._lacking = set(lacking)
        monkeypatch.setattr(opening, "missing", lambda names: [one for one in names if one in self._lacking])
        monkeypatch.setattr(opening, "warm_up", self._warm_up)

    def _warm_up(self, names, report):
        self.began.set()
        try:
            while not self.done.wait(0.05):
                report(0.4, names)
        except BaseException:
            self.stopped += 1
            raise
        self._lacking.difference_update(names)


def changes(visitor):
    """The picture changes."""
    first = visitor.picture()
    wait_until(lambda: difference(first, visitor.picture()) > MOVED, "the picture changes")
    return True


# --- the recording of the opening scene ---


def test_the_recording_is_of_the_scene_as_it_is():
    """If this fails, make it anew: python -m linkwork.view.recorded."""
    stage, moving = recorded.load()
    assert stage == stage_of(find_scene(recorded.SCENE).build())
    assert moving.time[-1] == pytest.approx(find_scene(recorded.SCENE).duration)
    _, fresh = recorded.simulate(2.0)
    count = len(fresh.time)
    # single precision of metres; 16 bits of a rotation
    np.testing.assert_allclose(moving.positions[:count], fresh.positions, atol=1e-4)
    np.testing.assert_allclose(moving.rotations[:count], fresh.rotations, atol=1e-4)
    assert recorded.FILE.stat().st_size < 200_000


def test_a_recording_survives_its_file(tmp_path):
    stage, moving = recorded.load()
    recorded.save(stage, moving, tmp_path / "again.npz")
    again, same = recorded.load(tmp_path / "again.npz")
    assert again == stage
    np.testing.assert_allclose(same.rotations, moving.rotations, atol=4e-5)
    np.testing.assert_array_equal(same.positions, moving.positions)


def test_the_film_is_of_the_recording():
    """If this fails, make it anew: python -m linkwork.view.recorded."""
    images = pytest.importorskip("PIL.Image")
    film = images.open(recorded.FILM)
    drawn = list(itertools.islice(recorded.frames(*recorded.load()), 0, None, 37))
    for k, frame in enumerate(drawn):
        film.seek(37 * k)
        # Packing leaves some shades at edges; another model, camera or palette changes tens of them in places.
        apart = np.asarray(film.convert("RGB"), float) - frame
        assert np.abs(apart).mean() < 4.0
        assert np.abs(apart.reshape(10, 50, 18, 50, 3).mean(axis=(1, 3))).max() < 15.0
    assert recorded.FILM.stat().st_size < 500_000


def test_a_film_is_shown_before_anything_else_can_be(page, monkeypatch):
    Compiler(monkeypatch)

    def poster():
        reply = page.gallery.answer("/gallery/now/picture", {})
        assert reply.status == 200
        return reply.body

    assert poster().startswith(b"<svg")  # nothing yet, and no picture that is broken
    page.begin(None)
    assert poster() == recorded.FILM.read_bytes()
    page.open("a01_pendulum")  # before the first scene has begun to be opened, which then is not
    assert poster() == thumbnail_of("a01_pendulum")
    wait_until(
        lambda: not page.compiling and page.server.channel.noted("progress") is None, "that is settled"
    )
    assert page.subject == "a01_pendulum"


@pytest.mark.slow
def test_nothing_is_blank_before_there_is_a_picture(page, browser, tmp_path):
    (own,) = write_starter("model", tmp_path / "own.yaml")
    page.open(str(own))
    look = browser.new_page(viewport={"width": 900, "height": 560})
    look.route("**/canvas/**", lambda route: None)  # a browser that takes for ever to draw
    look.goto(page.server.url, wait_until="commit")
    look.get_by_text("Loading the picture of own").wait_for()
    look.close()


def test_requests_wait_for_a_page_that_is_being_made(tmp_path):
    server = Server(port=0, complete=False)
    answers = []

    def ask():
        with urllib.request.urlopen(f"{server.url}gallery/scenes", timeout=PATIENCE) as reply:
            answers.append(json.load(reply))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    time.sleep(0.2)
    assert answers == []
    page = Page(server, folder=tmp_path)
    server.complete = True
    asking.join(PATIENCE)
    page.close()
    assert [one["name"] for one in answers[0]] == gallery_names()


def test_nothing_heavy_is_imported_before_something_moves():
    script = (
        "import sys\nfrom linkwork.view.server import Server\nfrom linkwork.view.page import Page\n"
        "server = Server(port=0)\npage = Page(server)\npage.preview = lambda *_: print('numba' in sys.modules)\n"
        "page._errand = lambda run: None\npage.begin(None)\nserver.stop()\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert told.stdout.strip() == "False", told.stderr


# --- the first start ---


@pytest.mark.slow
def test_something_moves_before_any_kernel_is_compiled(browser, tmp_path):
    command = processes.start(
        [
            sys.executable,
            "-m",
            "linkwork",
            "view",
            "--no-open",
            "--port",
            "0",
            "--json",
            "--folder",
            tmp_path,
        ],
        env={**os.environ, "LINKWORK_CACHE_DIR": str(tmp_path / "cache")},
        start_new_session=True,
    )
    try:
        url = json.loads(command.stdout.readline())["url"]
        look = browser.new_page(viewport={"width": 900, "height": 560})
        look.set_default_timeout(1e3 * PATIENCE)
        look.goto(f"{url}?fixedDpr=0.5", wait_until="commit")
        poster = look.locator("#poster")
        poster.wait_for()  # before the picture in three dimensions
        assert poster.evaluate("(one) => one.decode().then(() => one.naturalWidth)") == 900
        look.locator("iframe.ready").wait_for()
        assert not poster.is_visible()
        spot = {"x": 0, "y": 120, "width": 560, "height": 200}

        def picture():
            return pixels(look.screenshot(clip=spot))

        first = picture()
        assert colors(first) > 20
        wait_until(lambda: difference(first, picture()) > MOVED, "the picture changes")
        assert look.locator("#badge").inner_text() == "recorded"
        look.locator("#progress").wait_for()
        assert "compiling" in look.locator("#doing").inner_text()
        assert look.locator("#method").inner_text() == "–"
        look.screenshot(path=tmp_path / "first.png")
        command.send_signal(signal.SIGTERM)  # in the middle of it
        assert command.wait(PATIENCE) == 0
        look.get_by_text("The simulation has ended").wait_for()
        look.close()
        processes.group_ends(command.pid)
    finally:
        if command.poll() is None:
            command.kill()
        command.communicate()


@pytest.mark.slow
def test_the_recording_turns_into_the_simulation_by_itself(page, visit, monkeypatch):
    compiler = Compiler(monkeypatch)
    page.begin(None)
    assert page.session is None
    visitor = visit(page)
    assert visitor.status("badge") == "recorded"
    assert changes(visitor)
    wait_until(lambda: "compiling" in visitor.status("doing"), "it is said what goes on")
    visitor.keep("opening_recorded")
    nodes = page.nodes
    compiler.done.set()
    seen = []
    while page.session is None or page.session.view.time < 0.5:
        seen.append(visitor.picture())
    wait_until(lambda: visitor.status("method") == "simgc, direct", "it is live")
    assert page.nodes is nodes, "the picture was made anew"
    assert min(colors(picture) for picture in seen) > 20, "there was nothing to be seen for a moment"
    assert not visitor.browser.locator("#badge").is_visible()
    assert not visitor.browser.locator("#progress").is_visible()
    assert changes(visitor)
    visitor.keep("opening_live")


@pytest.mark.slow
def test_a_scene_that_must_be_compiled_stands_there_and_another_can_be_chosen(page, visit, monkeypatch):
    page.open("a01_pendulum")
    compiler = Compiler(monkeypatch)
    visitor = visit(page)
    visitor.choose("Scene", "bennett")
    wait_until(compiler.began.is_set, "it is compiled")
    wait_until(lambda: visitor.status("badge") == "starting position", "it stands there")
    wait_until(lambda: visitor.status("now") == "bennett", "it is named")
    assert page.nodes.stage.name == stage_of(find_scene("bennett").build()).name
    # 40 % are done all the time: what is left grows
    wait_until(lambda: " s left" in visitor.status("doing"), "it is said how long that takes")
    visitor.keep("bennett_compiling")
    visitor.press("Scenes")
    visitor.browser.locator('.card[data-scene="chain5"]').click()
    wait_until(lambda: page.session is not None and page.subject == "chain5", "another is opened")
    assert compiler.stopped == 1
    assert changes(visitor)
    compiler.done.set()
    visitor.choose("Scene", "bennett")
    wait_until(lambda: page.session is not None and page.subject == "bennett", "it is opened at last")
    assert visitor.told() == ""


@pytest.mark.slow
def test_another_method_is_compiled_while_the_first_goes_on(page, visit, monkeypatch):
    page.open("bennett")
    compiler = Compiler(monkeypatch, ["impulses"])
    visitor = visit(page)
    visitor.choose("Method", "simgc, impulses")
    wait_until(compiler.began.is_set, "it is compiled")
    wait_until(lambda: visitor.browser.locator("#progress").is_visible(), "it is said")
    then = page.session.view.time
    wait_until(lambda: page.session.view.time > then + 0.5, "the simulation goes on")
    compiler.done.set()
    wait_until(lambda: page.session.names == ("simgc", "impulses"), "the other method runs")
    wait_until(lambda: "begins again at 0 s" in visitor.told(), "it is said")


def test_what_cannot_be_compiled_is_said_on_the_page(page, monkeypatch, capfd):
    def fail(names, report):
        raise LinkworkError("'direct' cannot be compiled: no space left")

    Compiler(monkeypatch)
    monkeypatch.setattr(opening, "warm_up", fail)
    page.begin(None)
    wait_until(lambda: page.server.channel.noted("trouble"), "it is said")
    assert "no space left" in page.server.channel.noted("trouble")
    wait_until(lambda: "no space left" in capfd.readouterr().err, "it is said in the terminal, too")
    assert page.player is not None  # which goes on


# --- switching ---


@pytest.mark.slow
@pytest.mark.parametrize("first", ["a01_pendulum", "peaucellier"])
def test_the_floor_is_level_after_a_scene_with_another_gravity(page, visit, first):
    page._options["paused"] = True
    page.open(first)
    one = visit(page)
    one.still_picture()
    one.choose("Scene", "excavator")
    wait_until(lambda: page.subject == "excavator" and page.session is not None, "the scene is switched")
    wait_until(one.sees_all, "the camera sees the whole model")
    fresh = visit(page)  # who never saw the other scene
    wanted = fresh.still_picture()
    wait_until(lambda: difference(one.still_picture(), wanted) < 0.01, "both see the same")
    one.keep(f"excavator_after_{first}")


@pytest.mark.slow
def test_nothing_flashes_while_scenes_and_methods_are_switched(page, visit):
    page.open("crank_rocker")
    visitor = visit(page)
    seen = []
    steps = [
        ("Scene", "bennett", "bennett"),
        ("Method", "simgc, impulses", "bennett"),
        ("Scene", "chain5", "chain5"),
    ]
    for label, option, name in steps:
        before = page.session
        visitor.choose(label, option)
        until = time.monotonic() + PATIENCE
        while (page.session is before or page.subject != name) and time.monotonic() < until:
            seen.append(visitor.picture())
            assert visitor.foreign() == []
        seen.extend(visitor.picture() for _ in range(4))
    # Never black: the paper is light, whatever stands on it.
    assert min(float(picture.mean()) for picture in seen) > 150


# --- what goes wrong ---


@pytest.mark.slow
def test_a_lost_server_is_said_and_another_one_found(page, visit):
    page.open("a01_pendulum")
    visitor = visit(page)
    port = page.server.port
    page.close()
    wait_until(lambda: "The simulation has ended" in visitor.told(), "it is said")
    assert visitor.foreign() == []
    again = Page(Server(port=port), folder=page.folder)
    again.start()
    try:
        again.open("chain5")
        wait_until(lambda: visitor.status("now") == "chain5", "the page has found it")
        wait_until(lambda: "ended" not in visitor.told(), "it is no longer said")
        wait_until(lambda: visitor.browser.locator("iframe").count() == 1, "the fresh picture is shown")
        assert changes(visitor)
    finally:
        again.close()


@pytest.mark.slow
def test_errors_and_progress_are_on_the_picture(page, visit):
    page.open("a01_pendulum")
    visitor = visit(page)
    page.trouble("pendulum.yaml:12: joint 'pivot': no such body")
    page.progress(0.25, "reading")
    wait_until(lambda: "pendulum.yaml:12" in visitor.told(), "it is said")
    wait_until(lambda: visitor.status("doing") == "reading", "how far it is")
    assert visitor.browser.locator("#progress").get_attribute("aria-valuenow") == "25"
    visitor.keep("trouble")
    page.trouble(None)
    page.progress(None, "")
    wait_until(lambda: visitor.told() == "", "it is over")
    assert not visitor.browser.locator("#progress").is_visible()
