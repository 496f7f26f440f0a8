"""The live page in a real browser: what is seen of it, and what its controls do."""

import os
import signal
import subprocess
import time

import numpy as np
import pytest

from helpers.browser import FLAGS, launched, need_browser
from helpers.page import Visitor, colors, difference, pixels
from helpers.processes import started, wait_until
from linkwork import Body, Box, Model, Record, Slider
from linkwork.scenes import scene_names
from linkwork.view.page import Page
from linkwork.view.server import Server

MOVED = 0.003
"""Share of the pixels that change when a body moves visibly."""

browser = pytest.fixture(scope="module")(launched)


@pytest.fixture
def live(tmp_path):
    """Begins live pages, and ends them."""
    pages = []

    def begin(subject, **options):
        folder = tmp_path / "recordings"
        folder.mkdir(exist_ok=True)
        page = Page(Server(port=0), folder=folder, **options)
        pages.append(page)
        page.open(subject)
        page.start()
        return page

    yield begin
    for page in pages:
        page.close()


@pytest.fixture
def visit(browser, live):
    """Begins a live page and looks at it, or looks at one."""
    visitors = []

    def begin(subject, path="", **options):
        page = subject if isinstance(subject, Page) else live(subject, **options)
        visitors.append(Visitor(page, browser, path))
        return visitors[-1]

    yield begin
    complaints = [text for visitor in visitors for text in visitor.complaints]
    for visitor in visitors:
        visitor.browser.close()
    assert complaints == []


def cart():
    """A box at rest on a rail: it moves only if it is pulled."""
    model = Model("cart")
    model.add(Body("box", mass=2.0, shapes=(Box((0.6, 0.4, 0.4)),)))
    model.add(Slider("rail", "ground", "box", axis=(1.0, 0.0, 0.0), damping=1.0))
    return model


def moves(visitor):
    """The picture changes, and the time goes on."""
    first, began = visitor.picture(), visitor.session.view.time
    wait_until(lambda: difference(first, visitor.picture()) > MOVED, "the picture changes")
    return visitor.session.view.time > began


# --- the essentials ---


def test_the_model_is_seen(visit):
    visitor = visit("crank_rocker", paused=True)
    picture = visitor.still_picture()
    visitor.keep("crank_rocker_loaded")
    assert colors(picture) > 20
    assert visitor.reading("real-time factor") == "paused"
    visitor.tab("View")
    for layer in ("Bodies", "Joints"):
        visitor.tick(layer)
    wait_until(lambda: not visitor.live.nodes.shows("joints"), "layers vanish")
    wait_until(lambda: difference(picture, visitor.picture()) > 0.03, "the picture is emptied")
    visitor.keep("crank_rocker_without_bodies")
    visitor.tick("Bodies")
    visitor.tick("Joints")
    wait_until(lambda: difference(picture, visitor.picture()) < MOVED, "the bodies are back")


def test_bodies_move_and_stand_still_when_paused(visit):
    visitor = visit("chain5")
    assert moves(visitor)
    visitor.keep("chain5_running")
    visitor.press("Pause")
    wait_until(lambda: visitor.session.status.paused, "it pauses")
    picture, now = visitor.still_picture(), visitor.session.view.time
    assert visitor.number("time") == pytest.approx(now, rel=1e-3)
    time.sleep(0.5)
    assert visitor.session.view.time == now
    assert difference(picture, visitor.picture()) == 0.0
    visitor.keep("chain5_paused")
    visitor.press("Run")
    wait_until(lambda: visitor.session.view.time > now, "it goes on")
    assert moves(visitor)


def test_steps_are_taken_one_by_one_and_reset_goes_back(visit):
    visitor = visit("a01_pendulum", paused=True)
    dt = visitor.session.loop.simulation.dt
    for count in (1, 2, 3):
        visitor.press("Step")
        wait_until(lambda count=count: visitor.session.loop.simulation.steps >= count, "a step is taken")
        assert visitor.session.loop.simulation.steps == count
    wait_until(lambda: visitor.session.view.time > 2.5 * dt, "the steps are seen")
    assert visitor.session.view.time == pytest.approx(3 * dt, rel=1e-12)
    wait_until(lambda: visitor.number("time") == pytest.approx(3 * dt), "the panel tells the time")
    visitor.press("Reset")
    wait_until(lambda: visitor.session.view.time == 0.0, "it is back at the start")
    wait_until(lambda: visitor.number("time") == 0.0, "the panel tells the time")
    assert visitor.session.status.paused


def test_a_lever_moves_a_drive_and_the_joint_follows(visit):
    visitor = visit("crank_rocker")
    visitor.tab("Joints")
    wait_until(lambda: visitor.number("crank.angle", 2) > 5.0, "the motor turns the crank")
    visitor.slide("motor", "Home")
    wait_until(lambda: visitor.session.commands.get("motor") == -1.0, "the lever is heard")
    wait_until(lambda: visitor.session.view.values["crank.angle_rate"] < -15.0, "the crank turns back")
    wait_until(lambda: visitor.number("crank.angle", 2) < -15.0, "the panel tells it")
    visitor.keep("crank_rocker_joints")
    for command in (-0.99, -0.98):
        visitor.slide("motor", "ArrowRight")
        wanted = pytest.approx(command)
        wait_until(
            lambda wanted=wanted: visitor.session.commands["motor"] == wanted,
            "the lever moves by small steps",
        )


# --- controls ---


@pytest.mark.slow
def test_a_joint_is_released_and_attached_by_its_switch(visit):
    model = cart()
    rail = Slider("rail", "ground", "box", axis=(1.0, 0.0, 0.0), attached=((0.0, None),))
    model.joints["rail"] = rail
    visitor = visit(model)
    visitor.tab("Joints")
    visitor.tick("rail attached")
    wait_until(lambda: visitor.session.view.values["box.position.z"] < -0.1, "the box falls")
    visitor.tick("rail attached")
    wait_until(lambda: visitor.session.switches["rail"], "the rail takes hold")
    then = visitor.session.view.time
    wait_until(lambda: visitor.session.view.time > then + 0.1, "it hangs on the rail")
    z, then = visitor.session.view.values["box.position.z"], visitor.session.view.time
    wait_until(lambda: visitor.session.view.time > then + 0.3, "it goes on")
    assert visitor.session.view.values["box.position.z"] == pytest.approx(z, abs=1e-9)


@pytest.mark.slow
def test_gravity_can_be_switched_off(visit):
    visitor = visit("a01_pendulum")
    wait_until(lambda: visitor.session.view.values["energy.kinetic"] > 1.0, "it swings")
    visitor.tab("Model")
    visitor.slide("gravity", "Home")
    wait_until(lambda: visitor.session.view.run == 1, "the model changes")
    values = visitor.session.view.values
    assert values["energy.gravity"] == 0.0
    then = visitor.session.view.time
    wait_until(lambda: visitor.session.view.time > then + 0.5, "it goes on")
    later = visitor.session.view.values
    assert later["pivot.angle_rate"] == pytest.approx(values["pivot.angle_rate"], rel=1e-6)
    assert later["pivot.angle"] != pytest.approx(values["pivot.angle"], rel=1e-3)
    visitor.keep("a01_pendulum_without_gravity")
    visitor.slide("gravity", "End")
    wait_until(lambda: visitor.session.view.values["energy.gravity"] != 0.0, "gravity is back")
    (gravity,) = [p for p in visitor.session.parameters if p.name == "gravity"]
    assert gravity.value == pytest.approx(25.0)


@pytest.mark.slow
def test_a_scene_starts_anew_with_other_parameters(visit):
    visitor = visit("a01_pendulum", paused=True)
    before = visitor.still_picture()
    visitor.tab("Model")
    visitor.write("start", "0.5")
    visitor.press("Start with these")
    wait_until(lambda: visitor.session.view.values["pivot.angle"] == pytest.approx(0.5), "it starts anew")
    assert visitor.live.settings["start"] == 0.5
    wait_until(lambda: difference(before, visitor.picture()) > MOVED, "it stands elsewhere")


@pytest.mark.slow
def test_scenes_are_switched_on_the_panel(visit):
    visitor = visit("a01_pendulum")
    old = visitor.session
    visitor.choose("Scene", "bennett")
    wait_until(lambda: visitor.live.subject == "bennett", "the scene is switched")
    visitor.browser.get_by_text("bennett", exact=True).first.wait_for()
    assert visitor.session is not old
    assert old.loop.run == 0
    assert moves(visitor)
    visitor.keep("bennett")
    with pytest.raises(Exception, match="ended"):
        old.loop.pause()


@pytest.mark.slow
def test_scenes_are_switched_in_the_gallery(visit):
    visitor = visit("a01_pendulum", path="gallery")
    page = visitor.browser
    cards = page.locator(".card")
    wait_until(lambda: cards.count() == len(scene_names()), "all scenes are offered")
    wait_until(lambda: page.locator("#now").inner_text() == "a01_pendulum", "what runs is told")
    visitor.keep("gallery")
    page.locator('.card[data-scene="chain5"]').click()
    wait_until(lambda: visitor.live.subject == "chain5", "the scene is switched")
    wait_until(lambda: page.locator("#now").inner_text() == "chain5", "what runs is told")
    wait_until(lambda: page.locator(".card.now h2").all_inner_texts() == ["chain5"], "its card is marked")
    page.locator("#panel").get_by_text("Five-link chain").first.wait_for()
    visitor.keep("gallery_after_a_choice")


@pytest.mark.slow
def test_the_method_is_chosen(visit):
    visitor = visit("crank_rocker")
    assert visitor.session.names == ("simgc", "direct")
    visitor.choose("Method", "simmc, impulses")
    wait_until(lambda: visitor.session.names == ("simmc", "impulses"), "another method runs")
    wait_until(visitor.sees_all, "the camera sees the whole model")
    assert moves(visitor)
    visitor.keep("crank_rocker_by_impulses")
    visitor.choose("Method", "tree")  # which cannot close loops
    wait_until(lambda: "tree" in visitor.told(), "it is said what is wrong")
    visitor.keep("crank_rocker_refuses_tree")
    assert visitor.session.names == ("simmc", "impulses")
    wait_until(
        lambda: visitor.control("Method").input_value() == "simmc, impulses", "the choice is taken back"
    )


@pytest.mark.slow
def test_the_speed_is_chosen(visit):
    visitor = visit("chain5")
    visitor.choose("Speed", "0.1")
    wait_until(lambda: visitor.session.status.speed == 0.1, "it slows down")
    began, then = time.monotonic(), visitor.session.status.time
    wait_until(lambda: visitor.session.status.time > then + 0.1, "it goes on")
    assert time.monotonic() - began > 0.5


# --- looks ---


@pytest.mark.slow
def test_cameras_look_from_elsewhere(visit):
    visitor = visit("excavator", paused=True)
    first, stood = visitor.still_picture(), visitor.client.camera.position
    visitor.keep("excavator_best")
    visitor.tab("View")
    for preset in ("top", "side"):
        visitor.press(preset)
        wait_until(lambda: difference(first, visitor.picture()) > 0.05, "the picture changes")
        visitor.still_picture()
        visitor.keep(f"excavator_{preset}")
        assert np.abs(visitor.client.camera.position - stood).max() > 0.1
    visitor.press("best")
    wait_until(lambda: difference(first, visitor.picture()) < 0.01, "the camera is back")
    visitor.browser.set_viewport_size({"width": 700, "height": 560})
    wait_until(lambda: visitor.client.camera.aspect < 0.8, "the picture is narrower")
    wait_until(visitor.sees_all, "the camera sees the whole model")
    visitor.browser.mouse.move(50, 500)
    visitor.browser.mouse.down()
    visitor.browser.mouse.move(100, 480, steps=3)
    visitor.browser.mouse.up()
    wait_until(lambda: not visitor.sees_all(), "the visitor turns the view")
    visitor.browser.set_viewport_size({"width": 900, "height": 560})
    wait_until(lambda: visitor.client.camera.aspect > 1.0, "the picture is wider")
    time.sleep(0.5)
    assert not visitor.sees_all(), "the view that a visitor chose is changed"


@pytest.mark.slow
def test_what_is_told_of_one_scene_is_not_shown_with_another(visit):
    visitor = visit("chain5")
    for _ in range(2):
        visitor.live.news("it goes on")
    wait_until(lambda: visitor.told() != "", "it is told")
    assert visitor.told().count("it goes on") == 1  # the same is not told twice at once
    visitor.choose("Scene", "bennett")
    wait_until(lambda: visitor.status("now") == "bennett", "another scene is shown")
    wait_until(lambda: visitor.told() == "", "what was told is gone")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["incline_slider", "iltis"])
def test_what_travels_stays_in_view(visit, name):
    """Once it was lost: where browsers said their cameras stood was a moment late, and so they fell behind."""
    visitor = visit(name)
    seen = []
    for passed in (0.5, 1.0, 2.0):
        wait_until(lambda passed=passed: visitor.session.view.time > passed, "it travels")
        picture = visitor.picture()
        ink = np.argwhere(np.ptp(picture, axis=2) > 30)  # bodies are colourful, the ground is grey
        seen.append(ink.mean(axis=0) / picture.shape[:2])
        visitor.keep(f"{name}_travels_{passed:g}")
    # Its way through the picture would be several times the picture itself.
    assert np.abs(np.array(seen) - 0.5).max() < 0.25


@pytest.mark.slow
def test_everything_can_be_shown(visit):
    visitor = visit("hitch")
    visitor.tab("View")
    for layer in ("Limits", "Reactions", "Centres of mass", "Frames"):
        visitor.tick(layer)
    wait_until(lambda: visitor.live.nodes.shows("frames"), "layers appear")
    wait_until(lambda: visitor.session.reactions, "reactions are computed")
    assert moves(visitor)
    visitor.choose("Colours", "by component")
    visitor.choose("Follow", visitor.session.stage.bodies[-1].name)
    wait_until(
        lambda: visitor.live.shown.followed == visitor.session.stage.bodies[-1].name,
        "the camera follows",
    )
    assert moves(visitor)
    visitor.keep("hitch_with_all_layers")
    troubles = visitor.live.pictures.troubles
    assert troubles == [] or "pictures per second" in troubles[0]


@pytest.mark.slow
def test_curves_are_plotted(visit):
    visitor = visit("crank_rocker")
    visitor.tab("Plots")
    plot = visitor.browser.locator(".plot canvas").first
    plot.wait_for()

    def inked():
        """Pixels of the first plot in the colour of its curve."""
        visitor.control("Signal 1").scroll_into_view_if_needed()
        box = plot.bounding_box()  # none for a moment, when another signal is chosen
        if box is None:
            return 0
        picture = pixels(visitor.browser.screenshot(clip=box))
        return int((np.abs(picture - (0, 114, 178)).max(axis=2) < 40).sum())

    wait_until(lambda: inked() > 300, "there is a curve")
    assert moves(visitor)
    visitor.keep("crank_rocker_plots")
    visitor.choose("Signal 1", "rocker.angle")
    wait_until(lambda: "rocker.angle" in visitor.session.history.names, "the signal is kept")
    visitor.choose("Signal 2", "nothing")
    wait_until(lambda: inked() > 100, "there is another curve")
    visitor.keep("crank_rocker_other_plots")
    visitor.session.reset()
    wait_until(lambda: visitor.session.history.times[-1] < 5.0, "it begins again")
    wait_until(lambda: inked() > 300, "there is a curve from the start on")


# --- recordings ---


@pytest.mark.slow
def test_a_recording_is_written_and_replayed(visit, tmp_path):
    visitor = visit("a01_pendulum")
    visitor.tab("Record")
    visitor.write("Name", "swing")
    wait_until(lambda: visitor.live.tabs[-1].name.value == "swing", "the name is heard")
    visitor.press("Record")
    wait_until(lambda: visitor.session.recording is not None, "it is recorded")
    began = visitor.session.view.time
    wait_until(lambda: visitor.session.view.time > began + 1.0, "a second passes")
    visitor.press("Stop recording")
    path = tmp_path / "recordings" / "swing.h5"
    wait_until(path.exists, "the file is complete")
    assert visitor.session.recording is None
    record = Record.load(path)
    assert record.time[-1] - record.time[0] > 0.9
    assert np.allclose(np.diff(record.time), 0.01)
    assert np.abs(record["energy.balance"]).max() < 1e-6
    wait_until(lambda: visitor.control("File").input_value() == "swing.h5", "the file is offered")
    visitor.keep("a01_pendulum_recorded")

    visitor.press("Replay")
    wait_until(lambda: visitor.live.player is not None, "it is replayed")
    player = visitor.live.player
    visitor.pause(player)
    # A key moves the slider from where the page shows it, which may be behind.
    here = pytest.approx(player.time, abs=2e-3)
    wait_until(lambda: float(visitor.control("Time").input_value()) == here, "the slider is where it stopped")
    visitor.slide("Time", "Home")
    wait_until(lambda: player.time == pytest.approx(record.time[0]), "it is at its start")
    start = visitor.still_picture()
    visitor.slide("Time", "End")
    wait_until(lambda: player.time == pytest.approx(record.time[-1], abs=2e-3), "it is at its end")
    wait_until(lambda: difference(start, visitor.picture()) > MOVED, "the picture changes")
    visitor.keep("a01_pendulum_replayed")
    visitor.press("Play")
    wait_until(lambda: player.playing or player.time < record.time[-1], "it plays from the start")

    wait_until(visitor.sees_all, "the camera sees the whole model")
    visitor.press("Back to the simulation")
    wait_until(lambda: visitor.session is not None, "the simulation is back")
    assert moves(visitor)


@pytest.mark.slow
def test_a_recording_cannot_be_put_elsewhere(visit, tmp_path):
    visitor = visit("a01_pendulum")
    visitor.tab("Record")
    visitor.write("Name", "../evil")
    wait_until(lambda: visitor.live.tabs[-1].name.value == "../evil", "the name is heard")
    visitor.press("Record")
    wait_until(lambda: "cannot be the name of a file" in visitor.told(), "it is refused")
    visitor.keep("recording_refused")
    assert visitor.session.recording is None
    assert list(tmp_path.rglob("*.h5")) == []


# --- visitors ---


@pytest.mark.slow
def test_visitors_see_the_same_and_may_leave(visit):
    one = visit("chain5")
    other = visit(one.live)
    for visitor in (one, other):
        assert moves(visitor)
    one.press("Pause")
    other.browser.get_by_role("button", name="Run", exact=True).wait_for()
    other.press("Run")
    one.browser.get_by_role("button", name="Pause", exact=True).wait_for()
    other.browser.close()
    wait_until(lambda: len(one.live.server.viser.get_clients()) == 1, "one visitor is left")
    assert moves(one)


class Watch:
    """How the motion goes on while somebody looks every 10 ms for 3 s, held up by other work as the physics is."""

    def __init__(self, session):
        first, began, still = session.status, time.monotonic(), 0
        last, self.longest = first.time, 0
        while time.monotonic() < began + 3.0:
            now = session.status.time
            still, last = (0, now) if now > last else (still + 1, last)
            self.longest = max(self.longest, still)  # in looks
            time.sleep(0.01)
        self.lost = session.status.lost - first.lost
        self.speed = (last - first.time) / (time.monotonic() - began)


@pytest.mark.slow
def test_a_browser_that_dies_does_not_disturb_the_physics(live, tmp_path):
    page = live("chain5")
    command = [need_browser(), "--headless=new", *FLAGS, "--window-size=600,400"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"{page.server.url}?fixedDpr=0.5"]
    with started(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            wait_until(page.server.viser.get_clients, "the browser connects")
            watched = Watch(page.session)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    # Against the same while it was watched, so that work beside it counts in both.
    alone = Watch(page.session)
    assert alone.longest < 100, "the physics stood still"
    assert alone.lost < watched.lost + 1.0
    assert alone.speed > 0.5 * watched.speed
    wait_until(lambda: not page.server.viser.get_clients(), "the visitor is forgotten")
    assert page.session.status.failure is None


@pytest.mark.slow
def test_a_body_can_be_pulled(visit):
    visitor = visit(cart())
    session = visitor.session
    visitor.still_picture()
    visitor.drag("box", (20, 0), (20, 0))
    wait_until(lambda: session.hand.grip is not None, "the body is held")
    wait_until(lambda: session.view.values["rail.travel"] > 0.02, "the body follows")
    visitor.keep("cart_pulled")
    visitor.browser.mouse.move(*np.add(visitor.place_of("box"), (60, 0)), steps=3)
    wait_until(lambda: np.linalg.norm(session.hand.force) > 0.0, "the hand pulls")
    visitor.browser.mouse.up()
    wait_until(lambda: session.hand.grip is None, "the hand lets go")
    wait_until(lambda: np.linalg.norm(session.hand.force) == 0.0, "the hand is at rest")
    # A visitor that leaves lets go, too.
    visitor.press("Reset")
    wait_until(lambda: abs(session.view.values["rail.travel"]) < 1e-3, "the body is back")
    visitor.still_picture()
    visitor.drag("box", (20, 0))
    wait_until(lambda: session.hand.grip is not None, "the body is held")
    visitor.browser.close()
    wait_until(lambda: session.hand.grip is None, "the hand lets go")


@pytest.mark.slow
def test_the_page_says_that_the_server_has_stopped(visit):
    visitor = visit("chain5")
    assert moves(visitor)
    last = visitor.picture()
    visitor.live.close()
    wait_until(lambda: "The simulation has ended" in visitor.told(), "it says so")
    assert "reconnecting" in visitor.told()
    assert difference(last, visitor.picture()) < 0.2, "the last picture is gone"
    assert visitor.foreign() == []
    visitor.keep("server_stopped")
