"""`linkwork view my.yaml` in a real browser, while its file is being worked on."""

import time

import numpy as np
import pytest

from helpers.browser import launched
from helpers.page import Visitor
from helpers.processes import wait_until
from linkwork.io.starter import write_starter
from linkwork.view.page import Page
from linkwork.view.server import Server

ROD = """linkwork: 1
units: SI
name: swing
bodies:
  rod: {mass: 1.0, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1], shapes: [{shape: box, size: [0.1, 0.1, 1.0]}]}
joints:
  pivot: {type: hinge, a: ground, b: rod, axis: [0, 1, 0], position: 1.0, damping: 0.1}
"""

browser = pytest.fixture(scope="module")(launched)


def test_a_file_is_worked_on_while_it_runs(tmp_path, browser):
    path = tmp_path / "swing.yaml"
    path.write_text(ROD)
    with Page(Server(port=0), folder=tmp_path) as page:
        page.open(str(path))
        visitor = Visitor(page, browser)
        seen = visitor.browser.get_by_text("dampnig: is not known here")
        wait_until(lambda: page.session.status.time > 0.5, "it moves")

        path.write_text(ROD.replace("damping", "dampnig"))
        seen.wait_for()
        assert f"{path}:7:" in seen.inner_text()
        visitor.keep("file-broken")
        then = page.session.status.time
        wait_until(lambda: page.session.status.time > then + 0.2, "the last good model goes on")

        path.write_text(ROD.replace("1.0, com", "3.0, com").replace("size: [0.1", "size: [0.4"))
        seen.wait_for(state="detached")
        wait_until(lambda: page.nodes.stage.bodies[0].shapes[0].size[0] == 0.4, "the wider rod is drawn")
        assert page.session.status.time > then
        visitor.keep("file-mended")

        second = "  tip: {at: [0, 0, -1], mass: 1.0, shapes: [{shape: sphere, radius: 0.1}]}\njoints:\n"
        weld = "  end: {type: weld, a: rod, b: tip}\n"
        path.write_text(ROD.replace("joints:\n", second + weld))
        visitor.browser.get_by_text("it begins anew, for it has other joints (end)").wait_for()
        wait_until(lambda: len(page.nodes.stage.bodies) == 2, "both bodies are drawn")
        assert page.session.status.time < then
        assert visitor.complaints == []
        visitor.browser.close()


@pytest.mark.slow
def test_what_has_grown_is_seen_whole_unless_a_visitor_chose_the_view(tmp_path, browser):
    (path,) = write_starter("model", tmp_path / "own.yaml")
    text = path.read_text()
    with Page(Server(port=0), folder=tmp_path) as page:
        page.open(str(path))
        visitor = Visitor(page, browser)

        def save(length):
            path.write_text(text.replace("length: 0.6", f"length: {length}"))
            wait_until(lambda: f"length: {length}" in path.read_text() and stage_is_new(), "it is drawn")

        def stage_is_new():
            nonlocal drawn
            new = page.nodes.stage is not drawn
            drawn = page.nodes.stage
            return new

        def away():
            return float(np.linalg.norm(visitor.client.camera.position - visitor.client.camera.look_at))

        drawn, near = page.nodes.stage, away()
        save(1.2)
        wait_until(lambda: away() > 1.3 * near and visitor.sees_all(), "the camera goes back")
        visitor.keep("own_grown")
        visitor.browser.mouse.move(50, 500)
        visitor.browser.mouse.down()
        visitor.browser.mouse.move(120, 470, steps=3)
        visitor.browser.mouse.up()
        wait_until(lambda: not visitor.sees_all(), "the visitor turns the view")
        wait_until(lambda: rests(visitor.client.camera), "it is turned")
        chosen = np.array(visitor.client.camera.position)
        save(2.4)
        time.sleep(0.5)
        np.testing.assert_allclose(visitor.client.camera.position, chosen, rtol=1e-6)
        assert visitor.complaints == []
        visitor.browser.close()


def rests(camera):
    """The camera of a visitor has stopped moving."""
    before = np.array(camera.position)
    time.sleep(0.3)
    return np.array_equal(camera.position, before)
