"""The benchmark of the live page: figures are there and make sense. None is a timed test."""

import json

import pytest

pytest.importorskip("viser")

from benchmarks import view
from benchmarks.page import render_view

pytestmark = pytest.mark.slow


def test_a_quick_run_has_all_figures_and_a_page(monkeypatch):
    monkeypatch.setattr(view, "SIZES", (3,))
    monkeypatch.setattr(view, "VISITORS", (0, 2))
    shares = []
    data = json.loads(json.dumps(view.run(quick=True, progress=shares.append).to_dict()))
    assert shares[-1] == pytest.approx(1.0)
    alone, watched = data["rows"]
    assert (alone["bodies"], alone["visitors"], watched["visitors"]) == (3, 0, 2)
    assert alone["pictures_per_s"] is None
    # 60 are sent; a machine that does nothing else delivers nearly all, and never more. How many is no matter of tests.
    assert 0.0 < watched["pictures_per_s"] < 75.0
    for row in data["rows"]:
        assert 0.0 < row["serving"] < 2.0
        assert 0.0 < row["physics"] < 1.0
        assert row["late_p99_ms"] >= 0.0
    assert {target["met"] for target in data["targets"]} <= {True, False}
    page = render_view(data)
    assert "quick run" in page
    assert "| 3 | 2 |" in page
