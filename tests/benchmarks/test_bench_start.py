"""The benchmark of first starts: what it reports of its figures."""

from benchmarks import page, start
from linkwork.run.pieces import PIECES

DATA = start.StartResult(
    False,
    {"machine": "a machine", "linkwork": "0"},
    {name: {"cold_s": 12.0, "warm_s": 1.5, "cpu_s": 21.0, "estimate": 0.25} for name in start._METHODS},
    {"gallery_s": 2.0, "live_s": 15.0, "all_s": 80.0},
).to_dict()


def test_every_piece_of_kernels_is_measured():
    assert set(start._METHODS) == set(PIECES)


def test_tables_and_page_have_every_figure():
    text = page.render_start(DATA)
    for name in start._METHODS:
        assert f"| {name} | 12 | 1.5 | 21 | 0.25 |" in text
    for what in ("the gallery answers | 2 |", "a scene is live | 15 |", "all is compiled | 80 |"):
        assert what in text
    assert not set(start.HOW) - {key for key in start.HOW if f"`{key}`" in text}


def test_figures_that_a_quick_run_leaves_out_are_left_out():
    quick = {**DATA, "page": {"gallery_s": 2.0}}
    assert "all is compiled" not in page.render_start(quick)
