"""The page of the control diagram in a real browser: live values, and a small diagram built by mouse, saved and run."""

import pytest
import yaml

from helpers.browser import launched
from helpers.operated import Operator, driven_cart
from helpers.page import SCREENSHOTS
from helpers.processes import PATIENCE, wait_until
from helpers.visits import live_pages
from linkwork.control import Constant, Lamp
from linkwork.io import load_model

browser = pytest.fixture(scope="module")(launched)
live = pytest.fixture(live_pages)

TEXT = """\
linkwork: 1
units: SI
# A wheel with a motor
gravity: [0, 0, 0]
bodies:
  wheel: {mass: 1, inertia: [0.1, 0.1, 0.1]}  # of steel
joints:
  axle: {type: hinge, a: ground, b: wheel, axis: [0, 1, 0], damping: 0.1}
drives:
  motor: {type: torque_source, joint: axle}
"""
CONTROL = """\
control:
  wish: {type: constant, value: 2}   # rad/s
  error: {type: sum, inputs: [wish, -axle.angle_rate]}
  law: {type: gain, input: error, gain: 3}
  push: {type: drive, drive: motor, input: law}
"""


@pytest.fixture
def look(browser, live, tmp_path):
    """Opens the diagram of a model file in a browser."""
    pages, complaints = [], []

    def begin(text):
        path = tmp_path / "wheel.yaml"
        path.write_text(text)
        page = live(str(path))
        one = browser.new_page(viewport={"width": 1200, "height": 680})
        one.set_default_timeout(1e3 * PATIENCE)
        one.on("pageerror", lambda error: complaints.append(str(error)))
        one.on(
            "console", lambda said: complaints.append(said.text) if "Security Policy" in said.text else None
        )
        one.goto(f"{page.server.url}diagram")
        one.locator("#families button").first.wait_for()
        pages.append(one)
        return page, one, path

    yield begin
    for one in pages:
        one.close()
    assert complaints == []


def keep(one, name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    one.screenshot(path=SCREENSHOTS / f"{name}.png")


def add(one, kind):
    one.locator("#families button", has_text=kind).first.click()
    one.locator(f'.box.chosen[data-box="{kind}"]').wait_for()


def middle(element):
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def halfway(wire):
    """A point in the middle of a wire, which may be straight: a box around it has no height then."""
    return wire.evaluate(
        """path => {
            const at = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
            return [at.x, at.y];
        }"""
    )


def stands(element, x, y):
    """Whether an element is about there; it is not while it is drawn anew."""
    box = element.bounding_box()
    return box is not None and all(
        abs(box[low] + box[size] / 2 - wanted) < 3
        for low, size, wanted in (("x", "width", x), ("y", "height", y))
    )


def connect(one, output, block, path):
    one.mouse.move(*middle(one.locator(f'.socket[data-output="{output}"]')))
    one.mouse.down()
    one.mouse.move(*middle(one.locator(f'.plug[data-block="{block}"][data-path="{path}"]')), steps=4)
    one.mouse.up()
    one.locator(f'.link[data-output="{output}"][data-block="{block}"]').wait_for(state="attached")


def test_a_small_diagram_is_built_by_mouse_saved_and_run(look):
    page, one, path = look(TEXT)
    assert "There are no blocks yet" in one.locator("#empty").inner_text()
    for kind in ("lever", "gain", "drive"):
        add(one, kind)
    connect(one, "lever.out", "gain", "input")
    connect(one, "gain.out", "drive", "input")
    one.locator('.box[data-box="gain"]').click()
    one.get_by_label("gain", exact=True).fill("0.5")
    one.get_by_label("gain", exact=True).press("Enter")
    wait_until(lambda: "× 0.5" in one.locator('.box[data-box="gain"]').text_content(), "the number is set")
    keep(one, "diagram_built")
    assert path.read_text() == TEXT  # not before it is saved
    one.keyboard.press("Escape")
    one.locator("#save").click()
    wait_until(lambda: path.read_text() != TEXT, "it is saved")
    made = yaml.safe_load(path.read_text())["control"]
    assert made == {
        "lever": {"type": "lever"},
        "gain": {"type": "gain", "input": "lever", "gain": 0.5},
        "drive": {"type": "drive", "drive": "motor", "input": "gain"},
    }
    assert path.read_text().startswith(TEXT)  # comments and all
    assert list(load_model(path).control) == ["lever", "gain", "drive"]
    wait_until(lambda: page.session.loop.simulation.diagram is not None, "what was saved runs")
    one.reload()
    one.locator('.box[data-box="gain"]').wait_for()
    operator = Operator(page.server)

    def pushed():
        operator.send(put=["lever.out", 1.0, True])
        return page.session.view.values["axle.angle_rate"]

    # 0.5 N m against 0.1 N m s/rad: 5 rad/s in the end, within seconds.
    wait_until(lambda: pushed() > 2.0, "the wheel turns")
    value = one.locator('.value[data-value="gain.out"]')
    wait_until(
        lambda: operator.send(put=["lever.out", 1.0, True]) or value.text_content() == "0.5",
        "the wire tells it",
    )
    keep(one, "diagram_live")
    wait_until(lambda: value.text_content() == "0", "silence lets go of the lever")


@pytest.mark.slow
def test_wires_are_cut_turned_and_blocks_deleted_and_all_is_undone(look):
    page, one, _ = look(TEXT + CONTROL)
    draft = page.server.editors.draft
    one.mouse.click(*halfway(one.locator('.link[data-output="law.out"] .hit').first))
    one.keyboard.press("Delete")
    wait_until(lambda: "input: 0" in draft.text, "the wire is cut")
    one.keyboard.press("Control+z")
    wait_until(lambda: not draft.dirty, "it is undone")
    one.locator('.box[data-box="law"]').click()
    one.keyboard.press("Delete")
    fault = one.locator("#faults li")
    wait_until(
        lambda: "there is no block, output or signal 'law'" in fault.inner_text(), "it is said what is wrong"
    )
    assert "wrong" in one.locator('.box[data-box="push"]').get_attribute("class")
    keep(one, "diagram_wrong")
    fault.click()
    one.locator("#form .fault").wait_for()
    one.locator("#undo").click()
    wait_until(lambda: not draft.dirty, "it is undone")
    one.locator('.box[data-box="error"]').click()
    one.locator('.box[data-box="law"]').click(modifiers=["Shift"])
    one.locator("#group").click()
    one.locator('.box.instance[data-box="group"]').wait_for()
    keep(one, "diagram_grouped")
    one.locator('.box.instance[data-box="group"]').dblclick()
    one.locator('.box[data-box="group.law"]').wait_for()
    assert one.locator("#crumbs").inner_text() == "diagram›group"
    assert draft.diagram.faults == []
    assert draft.text.count("#") == (TEXT + CONTROL).count("#")


@pytest.mark.slow
def test_a_block_that_is_dragged_stays_there_and_what_cannot_be_is_said(look):
    page, one, _ = look(TEXT + CONTROL)
    draft = page.server.editors.draft
    x, y = middle(one.locator('.box[data-box="wish"] .title'))
    one.mouse.move(x, y)
    one.mouse.down()
    one.mouse.move(x + 60, y + 90, steps=4)
    one.mouse.up()
    wait_until(lambda: draft.diagram.blocks["wish"].spot is not None, "it has a place")
    there = one.locator('.box[data-box="wish"] .title')
    wait_until(lambda: stands(there, x + 60, y + 90), "it stands there")
    one.locator('.box[data-box="law"]').click()
    one.get_by_label("gain", exact=True).fill("much")
    one.get_by_label("gain", exact=True).press("Enter")
    wait_until(lambda: "law.gain" in one.locator("#notices").inner_text(), "it is refused")
    assert draft.diagram.blocks["law"].gain == 3


@pytest.mark.slow
def test_a_file_that_is_changed_beside_the_page_is_shown_anew(look):
    _, one, path = look(TEXT + CONTROL)
    path.write_text(TEXT + CONTROL.replace("gain: 3", "gain: 4"))
    wait_until(lambda: "× 4" in one.locator('.box[data-box="law"]').text_content(), "it is shown")


@pytest.mark.parametrize("width", [1200, 390])
def test_a_diagram_that_is_no_file_has_the_whole_page(browser, live, width):
    model = driven_cart()
    model.add(Constant("wish", 0.1))
    model.add(Lamp("lamp", "wish"))
    page = live(model)
    one = browser.new_page(viewport={"width": width, "height": 800})
    try:
        one.goto(f"{page.server.url}diagram")
        one.locator(".box").first.wait_for(timeout=1e3 * PATIENCE)
        assert not one.locator("#palette").is_visible()
        sheet, form = one.locator("#sheet").bounding_box(), one.locator("#form").bounding_box()
        assert sheet["x"] == 0.0
        if width > 760:  # the form beside it
            assert sheet["width"] > 0.7 * width
            assert form["x"] == pytest.approx(sheet["width"])
            assert form["x"] + form["width"] == pytest.approx(width)
        else:
            assert sheet["width"] == width
            assert sheet["height"] + form["height"] > 0.8 * 800  # nothing is left empty below
    finally:
        one.close()
