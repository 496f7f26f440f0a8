"""The parameter sheet of a wheel in the page: a choice is seen at once, with what follows from it."""

import pytest

from helpers.browser import launched
from helpers.processes import wait_until
from helpers.visits import live_pages, visits

browser = pytest.fixture(scope="module")(launched)
live = pytest.fixture(live_pages)
visit = pytest.fixture(visits)


@pytest.mark.slow
def test_a_suspension_is_chosen_and_seen_at_once(visit):
    visitor = visit("corner")
    visitor.tab("Model")
    page = visitor.browser
    page.get_by_label("suspension", exact=True).select_option("sliding_pillar")
    page.get_by_text("suspension: sliding_pillar").wait_for()
    wait_until(lambda: "corner.pillar" in visitor.session.written.flatten().joints, "the corner is another")
    page.get_by_label("spring", exact=True).select_option("torsion")
    page.get_by_text("there is no hinge for a torsion spring").first.wait_for()
    assert "corner.pillar" in visitor.session.written.flatten().joints  # what ran goes on
