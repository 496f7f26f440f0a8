"""The KRT-100M driven from a panel in a page of its own: by held keys, by a gamepad; and a connection that is lost."""

import pytest

from helpers.browser import launched
from helpers.panels import panels
from helpers.processes import wait_until
from helpers.visits import live_pages

browser = pytest.fixture(scope="module")(launched)
live = pytest.fixture(live_pages)
panel = pytest.fixture(panels)


@pytest.fixture
def robot(live, panel):
    """The robot on the floor, and its panel in a page of its own."""
    page = live("krt100_driven", settings={"course": "flat"})
    return page, panel(page)


def reads(page, name):
    return page.session.view.values[name]


def stands(page):
    wait_until(
        lambda: not page.session.desk.owners and abs(reads(page, "speed.out")) < 0.05, "it stands, let go of"
    )


@pytest.mark.slow
def test_the_robot_is_driven_by_held_keys_and_lets_go_when_the_connection_is_lost(robot):
    page, one = robot
    assert one.locator(".operate h2").all_inner_texts() == ["Levers", "Robot"]
    one.keyboard.down("q")
    one.keyboard.down("e")
    wait_until(lambda: reads(page, "speed.out") > 0.5, "it drives straight on")
    assert page.session.desk.owners.keys() == {"left.out", "right.out"}
    one.keyboard.up("q")
    wait_until(lambda: reads(page, "left.out") == 0.0, "the left lever springs back")
    wait_until(lambda: reads(page, "robot.angular_velocity.z") > 0.05, "it turns to the left")
    one.keyboard.press("l")
    wait_until(lambda: reads(page, "light.out") == 1.0, "its lights are on")
    one.evaluate("sockets.at(-1).close()")  # in the middle of it, a key being held
    stands(page)
    one.locator("#lost").wait_for(state="hidden")
    assert page.session.desk.owners == {}
    assert reads(page, "light.out") == 1.0  # what does not spring stays
    one.keyboard.up("e")
    one.keyboard.down("a")
    one.keyboard.down("d")
    wait_until(lambda: reads(page, "speed.out") < -0.3, "it drives back")
    wait_until(lambda: reads(page, "backward.out") == 1.0, "and says so")
    one.keyboard.up("a")
    one.keyboard.up("d")
    stands(page)


@pytest.mark.slow
def test_the_robot_is_driven_by_both_sticks_of_a_gamepad(robot):
    page, one = robot
    wait_until(lambda: "Stub pad" in one.locator("#pad").inner_text(), "it is found")
    one.evaluate("pad.axes[1] = -1; pad.axes[3] = -1")  # both away
    wait_until(lambda: reads(page, "speed.out") > 0.5, "it drives straight on")
    one.evaluate("pad.axes[1] = 0")
    wait_until(lambda: reads(page, "robot.angular_velocity.z") > 0.05, "it turns to the left")
    one.evaluate("pad.buttons[2] = {pressed: true, value: 1}")
    wait_until(lambda: reads(page, "light.out") == 1.0, "its lights are on")
    one.evaluate("plugged = false")
    stands(page)
