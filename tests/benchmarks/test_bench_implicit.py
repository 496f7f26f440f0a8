"""The benchmark of implicit methods compares the same mechanisms; its figures are complete. Nothing measures time."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import exudyn_models, implicit, peer_exudyn
from benchmarks.page import main as page
from benchmarks.page import render_implicit
from benchmarks.targets import judge_implicit
from helpers.references import reference
from linkwork import Body, Force, Hinge, Model, Simulation, scene
from linkwork.engine.kernels.jit import COMPILED
from linkwork.model.errors import UnsupportedError

compiled_only = pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")
DENSE = peer_exudyn.Setting("EigenDense", True)

# Angles at multiples of 10 ms by other programs; the four-bar's is clockwise there.
TRUTH = {
    "double_four_bar": lambda: -reference("a02_nfourbar_N2_ref.csv")["phi"],
    "slidercrank3d": lambda: reference("slidercrank3d_ref.csv")["theta"],
}


def peer(name, form):
    pytest.importorskip("exudyn")
    case = next(case for case in implicit.CASES if case.scene == name)
    model = scene(name)
    return getattr(exudyn_models, form)(model, Simulation(model, method="simgc"), case.signal)


# --- the comparison is fair ---


@pytest.mark.peers
@pytest.mark.parametrize("scheme", peer_exudyn.SCHEMES)
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("double_four_bar", "planar"),
        ("double_four_bar", "tree"),
        ("slidercrank3d", "bodies"),
        ("slidercrank3d", "tree"),
    ],
)
def test_exudyn_moves_the_same_mechanism(name, form, scheme):
    mechanism, count = peer(name, form), 50
    truth = TRUTH[name]()[: count + 1]
    errors = []
    for refined in (10, 20):
        h = implicit.GRID / refined
        found = mechanism.motion(peer_exudyn.SCHEMES[scheme], DENSE, h, refined * count, refined)
        errors.append(np.abs(found - truth).max())
    # Second order: half the step, a quarter of the error; another mechanism would not come nearer at all.
    assert errors[1] < errors[0] / 3.0
    assert errors[1] < 1e-3


@pytest.mark.peers
def test_forces_that_are_not_handed_over_are_refused_by_name():
    pytest.importorskip("exudyn")
    model = Model("pushed")
    model.add(Body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("pin", "ground", "bar", at=(0.0, 0.0, 0.0)))
    model.add(Force("push", "bar", force=(1.0, 0.0, 0.0)))
    simulation = Simulation(model)
    for form in (exudyn_models.planar, exudyn_models.bodies):
        with pytest.raises(UnsupportedError, match="push"):
            form(model, simulation, "pin.angle")


# --- figures ---


def row(engine, h, us, error, way="hybrid", integrator="α, ρ 0.9"):
    return {
        "case": "made_up", "signal": "x", "unit": "m", "duration_s": 1.0, "h": h, "engine": engine, "way": way,
        "ours": "hybrid",
        "integrator": integrator, "us": us, "spread": 0.0 if us else None, "error": error, "setting": None,
        "outcome": None if us else "no convergence: here",
    }  # fmt: skip


def test_ratios_compare_the_same_step_no_larger_errors_and_equal_errors():
    rows = [
        row("linkwork", 0.01, 10.0, 4e-3),
        row("linkwork", 0.01, 5.0, 9e-3, integrator="trapezoidal"),
        row("linkwork", 0.01, 1.0, 1e-9, way="global"),
        row("linkwork", 0.005, 10.0, 1e-3),
        row("exudyn", 0.01, 60.0, 4e-3, way="tree"),
        row("exudyn", 0.01, 60.0, 2e-3, way="bodies"),
        row("exudyn", 0.01, 60.0, 1e-2, way="bodies", integrator="index 2"),
        row("exudyn", 0.01, None, None, way="planar"),
    ]
    implicit.compare(rows)
    same, better, trapezoidal, lost = rows[4:]
    assert same["ratio"] == pytest.approx(6.0)
    assert same["ratio_no_worse"] == pytest.approx(6.0)
    assert same["ratio_equal"] == pytest.approx(6.0)
    assert better["ratio_no_worse"] == 0.0
    # Half the error of a method of second order takes √2 times the steps.
    assert better["ratio_equal"] == pytest.approx(6.0 / np.sqrt(2.0))
    assert trapezoidal["ratio"] == pytest.approx(12.0)
    assert trapezoidal["ratio_no_worse"] == pytest.approx(6.0)  # the most accurate of ours, not the fastest
    assert trapezoidal["ratio_equal"] is None
    assert lost["ratio"] is None
    assert [r["ratio"] for r in rows[:4]] == [None] * 4
    assert [target.met for target in judge_implicit({"rows": rows})] == [True, False, False, True]


def test_runs_of_ours_that_do_not_arrive_are_told_and_missed():
    rows = [row("linkwork", 0.01, None, None), row("exudyn", 0.01, 60.0, 4e-3, way="tree")]
    implicit.compare(rows)
    assert rows[1]["ratio"] == 0.0
    assert [target.met for target in judge_implicit({"rows": rows})] == [False, False, None, False]
    text = render_implicit(
        {"quick": False, "how": implicit.HOW, "notes": [], "targets": [], "rows": rows}
        | {"made_with": {"repetitions": 1, "machine": "here", "linkwork": "0", "exudyn": None}}
    )
    assert "| linkwork hybrid | α, ρ 0.9 | 10 | - | no convergence |" in text


@compiled_only
@pytest.mark.slow
@pytest.mark.peers
def test_a_quick_run_has_all_figures_and_a_page(tmp_path, capsys, monkeypatch):
    pytest.importorskip("exudyn")
    monkeypatch.setattr(implicit, "REPETITIONS_QUICK", 1)
    result = implicit.run(quick=True)
    data = result.to_dict()
    assert {"double_four_bar", "slidercrank3d"} <= {row["case"] for row in data["rows"]}
    for case in ("double_four_bar", "slidercrank3d"):
        rows = [row for row in data["rows"] if row["case"] == case]
        hybrid = [row for row in rows if row["way"] == "hybrid"]
        assert all(row["us"] > 0 and row["error"] < 0.1 for row in hybrid)
        assert any(row["ratio"] > 0 for row in rows if row["engine"] == "exudyn")
    assert list(result.tables())
    (tmp_path / "implicit.json").write_text(json.dumps(data))
    (tmp_path / "tree.json").write_text(
        (Path(__file__).parents[2] / "benchmarks" / "results" / "tree.json").read_text()
    )
    assert page([str(tmp_path)]) == 0
    assert "| linkwork hybrid |" in capsys.readouterr().out
