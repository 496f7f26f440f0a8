"""Looks of the live page in a real browser: cameras, layers, colours and curves."""

import time

import numpy as np
import pytest

from helpers.browser import launched
from helpers.page import difference, pixels
from helpers.processes import wait_until
from helpers.visits import live_pages, moves, visits

browser = pytest.fixture(scope="module")(launched)
live = pytest.fixture(live_pages)
visit = pytest.fixture(visits)


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
    # The history is empty until the first sample after the reset.
    wait_until(lambda: (visitor.session.history.times[-1:] < 5.0).any(), "it begins again")
    wait_until(lambda: inked() > 300, "there is a curve from the start on")
