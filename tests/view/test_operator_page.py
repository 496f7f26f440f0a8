"""The operator's panel in a real browser: held keys, gamepads, touch, and what happens when nobody is there."""

import pytest

from helpers.browser import launched
from helpers.operated import Operator, driven_cart
from helpers.page import SCREENSHOTS
from helpers.panels import panels
from helpers.processes import wait_until
from helpers.visits import live_pages, visits
from linkwork.control import Gauge, Joystick
from linkwork.model.panel import PanelGroup

browser = pytest.fixture(scope="module")(launched)
live = pytest.fixture(live_pages)
visit = pytest.fixture(visits)
panel = pytest.fixture(panels)

PHONE = {"width": 390, "height": 780}


def keep(one, name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    one.screenshot(path=SCREENSHOTS / f"{name}.png")


def rate(page):
    return page.session.view.values["rail.travel_rate"]


def moves(page, way=1):
    wait_until(lambda: way * rate(page) > 1.0, "it moves")


def stands(page):
    wait_until(
        lambda: not page.session.desk.owners and abs(rate(page)) < 1e-3, "it stands and nobody holds it"
    )


def test_a_key_pushes_as_long_as_it_is_held(live, panel):
    page = live(driven_cart())
    one = panel(page)
    one.keyboard.down("q")
    moves(page)
    one.keyboard.down("a")  # both: the middle
    stands(page)
    one.keyboard.up("q")
    moves(page, -1)
    keep(one, "panel_key_held")
    one.keyboard.up("a")
    stands(page)
    wait_until(lambda: page.session.desk.latency.events >= 4, "every event is counted")
    wait_until(lambda: "ms" in one.locator("#latency").inner_text(), "the latency is shown")


def test_a_key_of_another_name_when_it_is_lifted_lets_go(live, panel):
    page = live(driven_cart())
    one = panel(page)
    one.keyboard.down("q")
    moves(page)
    one.keyboard.down("Shift")
    one.keyboard.up("Q")  # the same key, of another name by now
    stands(page)


@pytest.mark.parametrize("end", ["blur", "hidden", "pagehide"])
def test_a_page_that_nobody_looks_at_lets_go(live, panel, end):
    page = live(driven_cart())
    one = panel(page)
    one.keyboard.down("q")
    moves(page)
    if end == "blur":
        one.evaluate("document.hasFocus = () => false; window.dispatchEvent(new Event('blur'))")
    elif end == "hidden":
        one.evaluate("Object.defineProperty(document, 'hidden', {value: true})")
        one.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    else:
        one.goto("about:blank")
    stands(page)


def test_a_browser_that_hangs_lets_go(live, panel):
    page = live(driven_cart())
    one = panel(page)
    one.keyboard.down("q")
    moves(page)
    one.evaluate(
        "() => { const end = Date.now() + 1500; while (Date.now() < end); }"
    )  # no sign of life for so long
    stands(page)


def test_a_gamepad_moves_a_lever_and_lets_go_when_it_is_gone(live, panel):
    page = live(driven_cart())
    one = panel(page)
    wait_until(lambda: "Stub pad" in one.locator("#pad").inner_text(), "it is found")
    one.evaluate("pad.axes[1] = -0.05")  # a stick is never quite in its middle
    one.wait_for_timeout(100)
    assert page.session.desk.owners == {}
    one.evaluate("pad.axes[1] = -1")  # up
    moves(page)
    one.evaluate("pad.axes[1] = 0.6")
    moves(page, -1)
    one.evaluate("plugged = false")
    stands(page)
    wait_until(lambda: "no gamepad" in one.locator("#pad").inner_text(), "it is said")


def test_a_finger_moves_a_lever_on_a_phone(live, panel):
    page = live(driven_cart())
    one = panel(page, viewport=PHONE, has_touch=True, is_mobile=True)
    box = one.locator(".track").bounding_box()
    touch = one.context.new_cdp_session(one)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def finger(kind, dy=0.0):
        points = [] if kind == "touchEnd" else [{"x": x, "y": y + dy}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    finger("touchStart")
    for dy in (-15, -30, -60):
        finger("touchMove", dy)
    moves(page)
    keep(one, "panel_phone")
    assert one.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    finger("touchEnd")
    stands(page)


@pytest.mark.parametrize("width", [360, 390, 844])
def test_two_joysticks_side_by_side_are_whole_on_a_phone(live, panel, width):
    model = driven_cart()
    model.add(PanelGroup("sticks", label="Sticks"))
    model.add(PanelGroup("told", label="Told"))
    for k, name in enumerate(("left", "right")):
        keys = ("KeyA", "KeyD", "KeyS", "KeyW") if k == 0 else ("KeyJ", "KeyL", "KeyK", "KeyI")
        model.add(Joystick(name, group="sticks", cell=(k, 0), keys=keys))
    for name, low, high in (("speed", -10.0, 10.0), ("lean", 0.0, 200.0), ("odd", 0.0, 7.0)):
        model.add(Gauge(name, "left.x", group="told", low=low, high=high))
    page = live(model)
    one = panel(page, viewport={"width": width, "height": 780}, has_touch=True, is_mobile=True)
    assert one.evaluate("document.documentElement.scrollWidth") <= width
    for pad in one.locator(".pad").all():
        box = pad.bounding_box()
        assert box["x"] >= 0.0
        assert box["x"] + box["width"] <= width
        assert box["width"] > 120.0  # enough for a thumb
    marks = [gauge.locator(".scale text").all_text_contents() for gauge in one.locator(".widget.gauge").all()]
    assert marks == [["-10", "-5", "0", "5", "10"], ["0", "50", "100", "150", "200"], ["0", "3.5", "7"]]


def test_a_connection_that_is_lost_lets_go_on_both_sides_and_comes_back(live, panel):
    page = live(driven_cart())
    one = panel(page)
    one.keyboard.down("q")
    moves(page)
    one.evaluate("sockets.at(-1).close()")
    one.locator("#lost").wait_for(state="visible")
    assert "sprung back" in one.locator("#lost").inner_text()
    keep(one, "panel_lost")
    stands(page)
    one.locator("#lost").wait_for(state="hidden")
    one.wait_for_timeout(300)
    assert page.session.desk.owners == {}  # a key that was down all the time does not push again by itself
    one.keyboard.up("q")
    one.keyboard.down("q")
    moves(page)
    one.keyboard.up("q")
    stands(page)


def test_a_page_shows_who_else_holds_a_lever_and_cannot_take_it(live, panel):
    page = live(driven_cart())
    one, two = Operator(page.server), panel(page)
    wait_until(lambda: "you" in one.heard, "the other is there")

    def while_held(condition, what):
        def holds():
            one.send(put=["motor", 2.0, True])
            return condition()

        wait_until(holds, what)

    owner = two.locator(".owner")
    while_held(lambda: owner.inner_text() == one.heard["you"], "it is said who holds it")
    keep(two, "panel_taken")
    two.keyboard.press("a")
    while_held(lambda: f"held by {one.heard['you']}" in two.locator("#notices").inner_text(), "it is refused")
    assert page.session.desk.values["motor"] == 2.0
    one.send(release="motor")
    stands(page)
    wait_until(lambda: owner.inner_text() == "", "it is free")
    two.keyboard.down("a")
    moves(page, -1)
    two.keyboard.up("a")
    stands(page)


@pytest.mark.slow
def test_the_panel_below_the_picture_takes_keys_though_the_picture_has_the_focus(visit):
    visitor = visit(driven_cart())
    one = visitor.browser
    one.keyboard.down("q")
    one.wait_for_timeout(200)
    one.keyboard.up("q")
    assert visitor.session.desk.latency.events == 0  # it is closed
    visitor.press("Operate")
    one.locator(".widget").first.wait_for()
    one.mouse.click(60, 120)  # beside the model: the picture has the focus
    one.keyboard.down("q")
    moves(visitor.live)
    visitor.keep("panel_below")
    one.keyboard.up("q")
    stands(visitor.live)
