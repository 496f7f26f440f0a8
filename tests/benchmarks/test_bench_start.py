"""The benchmark of first starts: what it reports of its figures."""

import pytest

from benchmarks import page, start
from linkwork.model.errors import LinkworkError
from linkwork.run.pieces import PIECES

MADE = {"machine": "a machine", "linkwork": "0"}
ROW = {"cold_s": 12.0, "warm_s": 1.5, "cpu_s": 21.0, "longest_s": 9.0, "estimate": 0.25}
PAGE = {"gallery_s": 2.0, "moves_s": 2.1, "live_s": 15.0, "all_s": 80.0, "all_cpu_s": 150.0}
DATA = start.StartResult(False, MADE, dict.fromkeys(start._METHODS, ROW), PAGE).to_dict()
BOTH = start.StartResult(
    False,
    MADE,
    {name: ROW | {"before_s": 66.0, "before_cpu_s": 99.0} for name in start._METHODS}
    | {"smooth": ROW | {"before_s": None, "before_cpu_s": None}},
    PAGE,
    {"gallery_s": 3.0, "moves_s": None, "live_s": 160.0, "all_s": 370.0, "all_cpu_s": 700.0},
).to_dict()


def test_every_piece_of_kernels_is_measured():
    assert set(start._METHODS) == {name for name, piece in PIECES.items() if not piece.later}


def test_tables_and_page_have_every_figure():
    text = page.render_start(DATA)
    for name in start._METHODS:
        assert f"| {name} | 12 | 1.5 | 21 | 9 | 0.25 |" in text
    for what in (
        "gallery answers | 2 |",
        "moves | 2.1 |",
        "it is live | 15 |",
        "methods are compiled | 80 |",
    ):
        assert what in text
    assert not set(start.HOW) - {key for key in start.HOW if f"`{key}`" in text}
    assert "| before |" not in text


def test_another_version_stands_beside_this_one():
    text = page.render_start(BOTH)
    assert "| direct | 66 | 12 | 1.5 | 99 | 21 | 9 | 0.25 |" in text
    assert "| smooth | - | 12 | 1.5 | - | 21 | 9 | 0.25 |" in text  # which it does not have
    assert "moves | - | 2.1 |" in text
    assert "it is live | 160 | 15 |" in text


def test_another_version_must_be_there(tmp_path):
    with pytest.raises(LinkworkError, match="there is no checkout of linkwork"):
        start.run(against=tmp_path)


def test_figures_that_a_quick_run_leaves_out_are_left_out():
    quick = {**DATA, "page": {"gallery_s": 2.0}}
    assert "are compiled" not in page.render_start(quick)
