"""The live page in a real browser: what is seen of it, and what its controls do."""

import time

import pytest

from helpers.browser import launched
from helpers.page import MOVED, colors, difference
from helpers.processes import wait_until
from helpers.visits import cart, live_pages, moves, visits
from linkwork import Slider
from linkwork.scenes import gallery_names

browser = pytest.fixture(scope="module")(launched)
live = pytest.fixture(live_pages)
visit = pytest.fixture(visits)


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
def test_scenes_are_switched_in_the_gallery(visit):
    visitor = visit("a01_pendulum", path="gallery")
    page = visitor.browser
    cards = page.locator(".card")
    wait_until(lambda: cards.count() == len(gallery_names()), "all scenes are offered")
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
