"""The benchmark suite: fair models, sound arithmetic, complete results. Nothing here measures time."""

import json
import os
import sys
import time

import numpy as np
import pytest

from benchmarks import SUITES, tree
from benchmarks.allocations import MANY, allocations
from benchmarks.page import render
from benchmarks.precision import PUBLISHED_TIP, Point, cost_of, tip
from benchmarks.runner import Forward, Runner, random_states
from benchmarks.serial import serial_links
from benchmarks.targets import judge
from benchmarks.timing import Contender, interleave, summary
from benchmarks.tree import growth
from helpers.processes import python
from linkwork.compile.compiler import compile_model
from linkwork.engine.kernels.jit import COMPILED
from linkwork.model.errors import UnsupportedError
from linkwork.scenes import scene

ROW = {
    "case", "n", "linkwork_us", "linkwork_spread", "mujoco_us", "mujoco_spread", "mujoco_lean_us",
    "mujoco_lean_spread", "pinocchio_us", "pinocchio_spread", "rk4_us", "rk4_spread", "ratio_mujoco",
    "ratio_mujoco_lean", "ratio_pinocchio", "rk4_ratio",
}  # fmt: skip


def subjects():
    yield compile_model(scene("chain", links=7))
    yield compile_model(scene("puma560", rotors=False, friction=False))


# --- the comparison is fair ---


@pytest.mark.peers
@pytest.mark.parametrize("lean", [False, True])
def test_mujoco_gets_the_same_model(lean):
    pytest.importorskip("mujoco")
    from benchmarks.peer_mujoco import MujocoForward

    for system in subjects():
        assert_same_accelerations(system, lambda s, q, v: MujocoForward(s, q, v, lean=lean))


@pytest.mark.peers
def test_pinocchio_gets_the_same_model():
    pytest.importorskip("pinocchio")
    from benchmarks.peer_pinocchio import PinocchioForward

    for system in subjects():
        assert_same_accelerations(system, PinocchioForward)


@pytest.mark.peers
def test_pinocchio_without_its_batch_function_gives_the_same(monkeypatch):
    pin = pytest.importorskip("pinocchio")
    from benchmarks.peer_pinocchio import LOOP, PinocchioForward

    monkeypatch.delattr(pin, "abaInParallel", raising=False)
    system = next(subjects())
    assert_same_accelerations(system, PinocchioForward)
    peer = PinocchioForward(system, *random_states(system, 2))
    assert peer.how == LOOP
    assert peer.overhead_us() > 0.0


def assert_same_accelerations(system, peer):
    q, v = random_states(system, 20)
    ours, theirs = Forward(system, q, v), peer(system, q, v)
    ours.run(1)
    theirs.run(1)
    scale = np.abs(ours.accelerations).max()
    np.testing.assert_allclose(theirs.accelerations, ours.accelerations, rtol=0.0, atol=1e-11 * scale)


@pytest.mark.peers
@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_mujoco_takes_the_same_steps(method):
    pytest.importorskip("mujoco")
    from benchmarks.peer_mujoco import MujocoRunner

    for system in subjects():
        ours = Runner(system, method, 1e-3)
        theirs = MujocoRunner(system, dt=1e-3, rk4=method == "rk4", lean=True)
        for runner in (ours, theirs):
            runner.run(5)  # a reset must forget this
            runner.reset()
            runner.run(50)
        np.testing.assert_allclose(theirs.q, ours.q, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("puma560", {}), ("chain5", {"damping": 1.0}), ("spherical_pendulum", {}), ("tumbling_body", {})],
)
def test_what_would_not_compare_like_with_like_is_refused(name, parameters):
    with pytest.raises(UnsupportedError, match="cannot be compared"):
        serial_links(compile_model(scene(name, **parameters)))


# --- no step allocates ---


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_no_step_allocates():
    rows = allocations()
    assert {row["integrator"] for row in rows} == {"euler", "rk4", "adaptive"}
    for row in rows:
        assert row["steps"] >= MANY / 100, row
        assert row["allocations"] == 0, row


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_the_count_of_allocations_would_notice_one():
    code = """
import numba, numpy
from benchmarks.allocations import allocated

@numba.njit
def wasteful(times):
    total = 0.0
    for i in range(times):
        total += numpy.full(3 + i, 1.0)[i]
    return total

wasteful(1)
before = allocated()
wasteful(100)
print(allocated() - before)
"""
    assert int(python("-c", code, environment={"NUMBA_NRT_STATS": "1"})) >= 100


# --- arithmetic ---


def power_law(order, factor):
    """Points of a method whose error is 1 at 1 ms of work and falls with work to the power `order`."""
    return [Point(f"{ms}", ms ** -float(order), ms) for ms in factor ** np.arange(8.0)]


@pytest.mark.parametrize("order", [1, 4])
@pytest.mark.parametrize("target", [0.5, 1e-2, 3e-3])
def test_interpolation_is_exact_on_a_power_law(order, target):
    cost = cost_of(target, power_law(order, 3.0))
    assert not cost.at_most
    assert cost.ms == pytest.approx(target ** (-1 / order))


def test_a_coarsest_setting_that_is_good_enough_is_a_bound():
    assert cost_of(2.0, power_law(2, 2.0)) == (1.0, True)


def test_an_error_that_no_setting_reaches_has_no_cost():
    assert cost_of(1e-9, power_law(1, 2.0)) == (None, False)


def test_a_lucky_coarse_setting_does_not_count():
    points = [Point("coarse", 1e-6, 1.0), Point("middle", 1e-2, 10.0), Point("fine", 1e-4, 100.0)]
    assert cost_of(1e-3, points).ms == pytest.approx(10 * 10**0.5)


def test_a_setting_that_blew_up_is_worse_than_any_error():
    points = [Point("coarse", float("nan"), 1.0), Point("fine", 1e-3, 10.0)]
    assert cost_of(1e-2, points) == (10.0, True)


def test_tip_of_the_chain_agrees_with_an_independent_solution():
    runner = Runner(compile_model(scene("chain5")), "adaptive", 1e-3)
    runner.run_until(1.0, 1e-11)
    np.testing.assert_allclose(tip(runner.q), PUBLISHED_TIP, rtol=0.0, atol=1e-8)


def test_median_and_half_the_interquartile_range():
    assert summary([5.0, 1.0, 2.0, 4.0, 3.0]) == (3.0, 1.0)


def test_contenders_take_turns_from_the_same_start():
    log = []

    def work(name, units):
        log.append((name, units))
        time.sleep(1e-6 * units)  # what takes no time is never long enough, however much of it there is

    contenders = [
        Contender(name, lambda units, name=name: work(name, units), 10, lambda: log.append("reset"))
        for name in "ab"
    ]
    figures = interleave(contenders, 3, shortest=1e-5, tick=lambda: log.append("tick"))
    assert set(figures) == {"a", "b"}
    rounds = [entry for entry in log[log.index("tick") - 4 :] if entry != "tick"]
    assert [entry[0] for entry in rounds if entry != "reset"] == ["a", "b", "b", "a", "a", "b"]
    assert rounds[::2] == ["reset"] * 6


def test_exponent_of_growth():
    rows = [{"case": f"chain of {n}", "n": n, "linkwork_us": 0.1 * n**1.02} for n in (20, 80, 320)]
    rows.append({"case": "chain of 5", "n": 5, "linkwork_us": 9.9})
    assert growth(rows) == pytest.approx(1.02)
    assert growth(rows[:1]) is None


# --- results ---


def made_up_result(**changes):
    row = dict.fromkeys(ROW, 1.0) | {"case": "chain of 5", "n": 5, "ratio_mujoco": 3.5, "rk4_ratio": 4.0}
    forward = row | {"case": "puma560 forward dynamics", "n": 6, "rk4_us": None, "rk4_ratio": None}
    return {
        "rows": [row, row | {"case": "chain of 10", "n": 10, "ratio_mujoco": 2.5}, forward],
        "startup": {"import_s": 0.1, "first_step_s": 2.0, "cold_run_s": None},
        "allocations": [{"allocations": 0}],
        "exponent": 1.0,
    } | changes


def test_the_worst_case_decides_whether_a_target_is_met():
    found = {target.what: target for target in judge(made_up_result())}
    assert found["chain of 5, times faster than MuJoCo"].met
    every = found["chains of 5 to 10 links, times faster than MuJoCo"]
    assert (every.measured, every.met) == (2.5, False)
    assert found["first step from a warm cache [s]"].met is False
    assert found["first run with an empty cache [s]"].met is None


def test_targets_without_peers_or_processes_are_left_open():
    data = made_up_result(startup=None, allocations=None)
    for row in data["rows"]:
        row["ratio_mujoco"] = row["ratio_mujoco_lean"] = row["ratio_pinocchio"] = None
    met = [target.met for target in judge(data) if target.met is not None]
    assert met == [True, True]  # the exponent and the ratio of the integrators


def test_importing_the_suites_loads_no_engine():
    code = "import sys, benchmarks; print([m for m in ('numba', 'mujoco', 'pinocchio') if m in sys.modules])"
    assert python("-c", code).strip() == "[]"


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")
def test_a_quick_run_has_every_figure(monkeypatch):
    for count in ("REPETITIONS_QUICK", "PRECISION_REPETITIONS_QUICK", "PROCESSES_QUICK"):
        monkeypatch.setattr(tree, count, 1)
    shares = []
    result = SUITES["tree"](quick=True, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert [row["n"] for row in data["rows"]] == [5, 20, 80, 6, 6]
    for row in data["rows"]:
        assert set(row) == ROW
        assert row["linkwork_us"] > 0.0
    assert data["exponent"] is not None
    assert data["startup"]["import_s"] > 0.0
    assert data["startup"]["cold_run_s"] is None
    assert data["precision"]["reference"]["difference_m"] < 1e-7
    methods = {(entry["engine"], entry["method"]) for entry in data["precision"]["methods"]}
    assert {("linkwork", "euler"), ("linkwork", "rk4"), ("linkwork", "adaptive")} <= methods
    assert {target["what"] for target in data["targets"]}
    assert len(list(result.tables())) >= 5
    assert "quick run" in render(data)


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")
def test_a_run_without_peers_says_so(tmp_path):
    """As on a machine where the other engines are not installed."""
    code = """
import json, sys
sys.modules["mujoco"] = sys.modules["pinocchio"] = None  # importing them fails
from benchmarks import tree
tree.SIZES_QUICK, tree.REPETITIONS_QUICK, tree.in_processes = (5,), 1, lambda *_: (None, None)
print(json.dumps(tree.run(quick=True).to_dict()))
"""
    data = json.loads(python("-c", code, environment={"PYTHONPATH": os.pathsep.join(sys.path)}, cwd=tmp_path))
    assert all("not installed" in note for note in data["notes"][:2])
    assert data["pinocchio_how"] is None
    for row in data["rows"]:
        assert row["mujoco_us"] is None
        assert row["ratio_pinocchio"] is None
        assert row["linkwork_us"] > 0.0
    assert "| chain of 5 |" in render(data)
