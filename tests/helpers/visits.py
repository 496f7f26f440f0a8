"""Live pages that a test begins and visits."""

from helpers.page import MOVED, Visitor, difference
from helpers.processes import wait_until
from linkwork import Body, Box, Model, Slider
from linkwork.view.page import Page
from linkwork.view.server import Server


def live_pages(tmp_path):
    """Begins live pages, and ends them; to be made a fixture: `live = pytest.fixture(live_pages)`."""
    pages = []

    def begin(subject, settings=None, **options):
        folder = tmp_path / "recordings"
        folder.mkdir(exist_ok=True)
        page = Page(Server(port=0), folder=folder, **options)
        pages.append(page)
        page.open(subject, settings)
        page.start()
        return page

    yield begin
    for page in pages:
        page.close()


def visits(browser, live):
    """Begins a live page and looks at it, or looks at one; to be made a fixture: `visit = pytest.fixture(visits)`."""
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
