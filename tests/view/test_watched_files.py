"""`linkwork view my.yaml` in a real browser, while its file is being worked on."""

import pytest

from helpers.browser import launched
from helpers.page import Visitor
from helpers.processes import wait_until
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
        time = page.session.status.time
        wait_until(lambda: page.session.status.time > time + 0.2, "the last good model goes on")

        path.write_text(ROD.replace("1.0, com", "3.0, com").replace("size: [0.1", "size: [0.4"))
        seen.wait_for(state="detached")
        wait_until(lambda: page.nodes.stage.bodies[0].shapes[0].size[0] == 0.4, "the wider rod is drawn")
        assert page.session.status.time > time
        visitor.keep("file-mended")

        second = "  tip: {at: [0, 0, -1], mass: 1.0, shapes: [{shape: sphere, radius: 0.1}]}\njoints:\n"
        weld = "  end: {type: weld, a: rod, b: tip}\n"
        path.write_text(ROD.replace("joints:\n", second + weld))
        visitor.browser.get_by_text("it begins anew, for it has other joints (end)").wait_for()
        wait_until(lambda: len(page.nodes.stage.bodies) == 2, "both bodies are drawn")
        assert page.session.status.time < time
        assert visitor.complaints == []
        visitor.browser.close()
