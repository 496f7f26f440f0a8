"""Visitors of the live page in real browsers: several, one that dies, one that pulls, and one whose server stops."""

import os
import signal
import subprocess
import time

import numpy as np
import pytest

from helpers.browser import FLAGS, launched, need_browser
from helpers.page import difference
from helpers.processes import started, wait_until
from helpers.visits import cart, live_pages, moves, visits

browser = pytest.fixture(scope="module")(launched)
live = pytest.fixture(live_pages)
visit = pytest.fixture(visits)


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
