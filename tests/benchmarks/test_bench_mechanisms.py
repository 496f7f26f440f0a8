"""The benchmark of mechanisms: sound arithmetic, complete results, a fair Drake. Nothing here measures time."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import SUITES, loops, mechanisms, precision, report_loops
from benchmarks.page import main as page
from benchmarks.page import render_loops
from benchmarks.peer import Peer, widest
from benchmarks.stages import STAGES, profile, split
from benchmarks.targets import judge_loops
from helpers.processes import python
from linkwork import Simulation, scene
from linkwork.engine.coordinates.dynamics import energies
from linkwork.engine.kernels.jit import COMPILED
from linkwork.reproduce import simgc

compiled_only = pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")


def nothing():
    pass


# --- arithmetic ---


@pytest.mark.parametrize("power", [0.9, 1.0, 2.5])
def test_the_exponent_of_a_power_law_is_found(power):
    sizes = (2, 5, 10, 20, 40, 80, 160)
    times = [0.3 * n**power for n in sizes]
    assert mechanisms.exponent(sizes, times) == pytest.approx(power)
    assert mechanisms.exponent(sizes, times, 20) == pytest.approx(power)


def test_only_the_sizes_asked_for_count_for_an_exponent():
    sizes = (2, 5, 10, 20, 40, 80)
    times = [7.0, 8.0, 9.0, 20.0, 40.0, 80.0]
    assert mechanisms.exponent(sizes, times, 20) == pytest.approx(1.0)
    assert mechanisms.exponent(sizes, times) < 0.9
    assert mechanisms.exponent(sizes, [None, *times[1:4], None, 80.0], 20) == pytest.approx(1.0)


def test_one_size_has_no_exponent():
    assert mechanisms.exponent((20,), (1.0,)) is None
    assert mechanisms.exponent((2, 20, 40), (1.0, 0.0, None)) is None


def made_up_growth():
    rows = [
        {
            "n": n,
            "simgc_us": 0.5 * n,
            "simmc_us": 5.0 * n if n <= 40 else None,
            "stages_us": dict.fromkeys(STAGES, 0.05 * n) | {"couple": 0.001 * n**2},
        }
        for n in mechanisms.SIZES
    ]
    return {"rows": rows, "exponents": mechanisms.exponents(rows)}


def test_methods_and_stages_have_exponents_of_their_own():
    found = made_up_growth()["exponents"]
    assert set(found) == {"simgc", "simmc", *STAGES}
    assert found["simgc"] == {"all": pytest.approx(1.0), "large": pytest.approx(1.0)}
    assert found["simmc"] == {"all": pytest.approx(1.0), "large": pytest.approx(1.0)}
    assert found["couple"]["large"] == pytest.approx(2.0)


def test_what_limits_the_growth_is_said_in_words():
    text = report_loops.limits(made_up_growth())
    assert "At N = 160 most of a step is couple 29%" in text  # 25.6 of 25.6 + 8 · 8 µs
    assert "couple grows fastest: N to the power 2.00" in text


def test_stages_add_up_to_a_step():
    calls = {
        "place": 1.0, "measure": 2.0, "inertia": 3.0, "gather": 10.0, "solve": 20.0, "eliminate": 2.0, "couple": 5.0,
        "envelope": 6.0,
    }  # fmt: skip
    stages = split(40.0, 1.1, calls)
    assert tuple(stages) == STAGES
    assert stages["project"] == pytest.approx(4.0)
    assert stages["factor"] == pytest.approx(5.0)
    assert stages["respond"] == pytest.approx(7.0)
    assert stages["again"] == pytest.approx(3.0)
    assert sum(stages.values()) == pytest.approx(40.0)
    assert split(20.0, 1.0, calls)["rest"] == 0.0


def test_the_widest_gap():
    a, b = np.zeros(3), np.array([0.0, 3.0, 4.0])
    assert widest([(a, a), (a, b)]) == 5.0
    assert widest([]) == 0.0


# --- mechanisms ---


def test_the_random_mechanism_is_always_the_same_and_has_every_kind():
    model, again = mechanisms.random_mechanism(), mechanisms.random_mechanism()
    assert model.flatten() == again.flatten()
    flat = model.flatten()
    assert len(flat.bodies) == 30
    assert len(flat.joints) == 35
    assert {joint.kind for joint in flat.joints.values()} == set(mechanisms.TREE_KINDS)


@compiled_only
def test_the_random_mechanism_moves_and_stays_closed():
    simulation = Simulation(mechanisms.random_mechanism(), method="simgc")
    assert len(simulation.system.cuts) == 5
    record = simulation.run(0.2, every=0.01, reactions=False)
    assert record["energy.kinetic"][-1] > 1.0
    assert record.info["worst_gap_m"] < 1e-12
    assert record.info["warnings"] == []


@compiled_only
def test_a_profile_has_every_stage():
    ticks = []
    found = profile(scene("n_four_bar", n=3), "simgc", 2, lambda: ticks.append(1))
    assert len(ticks) == 2
    assert tuple(found.stages) == STAGES
    assert all(np.isfinite(us) and us >= 0.0 for us in found.stages.values())
    assert found.step > 0.0
    assert 1.0 <= found.evaluations < 1.1


# --- other engines ---


class Mirror(Peer):
    """Linkwork itself as another engine."""

    def __init__(self, simulation):
        self.simulation, self.sign = simulation, simulation.system.tables.dofs["rot"][1:]

    def reset(self):
        self.simulation.reset()

    def run(self, steps):
        self.simulation.step(steps)

    @property
    def angles(self):
        return self.sign * self.simulation.q[self.simulation.system.tables.dofs["q"][1:]]

    @property
    def rates(self):
        return self.sign * self.simulation.v[self.simulation.system.tables.dofs["v"][1:]]

    @property
    def gap(self):
        return self.simulation.method.report()["gap"]


@compiled_only
@pytest.mark.parametrize("name", ["peaucellier", "double_four_bar"])
def test_energies_of_other_engines_are_counted_as_ours(name):
    simulation = Simulation(scene(name), method="simgc", dt=loops.DT)
    gap, energy = loops.follow_peer(Mirror(simulation), simulation.system)
    own_gap, own_energy, work = loops.follow(simulation)
    assert gap == own_gap < 1e-12
    # Adams of order four at 1 ms; the record has the same energies, with rounding of sums in another order.
    assert energy == pytest.approx(own_energy, rel=1e-3)
    assert energy < 1e-8
    assert 1.0 <= work < 1.1


def drake(name, parameters, dt):
    pytest.importorskip("pydrake")
    from benchmarks.peer_drake import DrakeLoops

    simulation = Simulation(scene(name, **parameters), method="simgc", dt=loops.DT)
    return simulation, DrakeLoops(simulation.system, parameters.get("friction", 0.0), dt)


@pytest.mark.peers
@pytest.mark.parametrize(("name", "parameters"), loops.CASES)
def test_drake_gets_the_same_masses_and_geometry(name, parameters):
    simulation, peer = drake(name, parameters, loops.DT)
    tables = simulation.system.fresh_tables()
    dofs = tables.dofs[1:]
    q, v = np.zeros(simulation.system.nq), np.zeros(simulation.system.nv)
    for _ in range(5):
        peer.run(40)
        q[dofs["q"]], v[dofs["v"]] = dofs["rot"] * peer.angles, dofs["rot"] * peer.rates
        kinetic, gravity, _ = energies(tables, q, v, 0.0)
        assert kinetic > 1e-3
        assert peer.energy == pytest.approx((kinetic, gravity), rel=1e-12, abs=1e-12)


@pytest.mark.peers
@pytest.mark.parametrize(("name", "parameters"), loops.CASES)
def test_drake_moves_the_same_to_its_order_and_stays_closed(name, parameters):
    simulation, peer = drake(name, parameters, loops.DT)
    _, finer = drake(name, parameters, loops.DT / 2)
    dofs = simulation.system.tables.dofs[1:]
    simulation.step(200)
    peer.run(200)
    finer.run(400)
    exact = dofs["rot"] * simulation.q[dofs["q"]]
    coarse, fine = np.abs(peer.angles - exact).max(), np.abs(finer.angles - exact).max()
    assert coarse < 5e-3  # first order at 1 ms
    assert fine < 0.6 * coarse + 1e-9
    # Near-rigid constraints leave a gap of second order in the step.
    assert peer.largest_gap(200) < 1e-5


@pytest.mark.peers
@pytest.mark.parametrize("name", ["peaucellier", "double_four_bar"])
def test_drake_keeps_energy_to_its_order(name):
    drifts = []
    for dt, steps in ((1e-3, 200), (5e-4, 400)):
        simulation, peer = drake(name, {}, dt)
        kinetic, gravity, _ = simulation.energies()
        peer.run(steps)
        drifts.append(abs(sum(peer.energy) - kinetic - gravity))
    assert 0.45 < drifts[1] / drifts[0] < 0.55
    assert drifts[0] < 0.02


@pytest.mark.peers
def test_drake_starts_again_from_the_same_state():
    _, peer = drake("peaucellier", {}, loops.DT)
    peer.run(50)
    first = peer.angles
    peer.reset()
    assert np.abs(peer.rates).max() == 0.0
    for _ in range(50):
        peer.run(1)
    np.testing.assert_array_equal(peer.angles, first)


@pytest.mark.peers
def test_stuck_joints_of_drake_hardly_creep():
    _, peer = drake("chain5", {"friction": 1.0}, loops.DT)
    peer.run(20)
    # The outer two stick at first: they may slip at 1e-6 rad/s, by which the actuator has its full effort.
    assert np.abs(peer.angles[3:]).max() < 20e-3 * 1e-6


def test_importing_the_suite_loads_no_engine():
    engines = ("numba", "mujoco", "pybullet", "dartpy", "pydrake")
    code = f"import sys, benchmarks.loops; print([m for m in {engines} if m in sys.modules])"
    assert python("-c", code).strip() == "[]"


@compiled_only
def test_engines_that_are_not_installed_are_left_out_and_said_so(monkeypatch):
    def missing(system, friction):
        raise ImportError("no such engine")

    monkeypatch.setattr(loops, "PEERS", dict.fromkeys(loops.PEERS, missing))
    notes = set()
    row = loops.measure("double_four_bar", {}, 1, notes, nothing)
    assert notes == {
        f"{loops.LABELS[key]} is not installed: its figures are empty"
        for key in ("mujoco", "mujoco_tight", "bullet", "dart", "drake")
    }
    assert row["ratio"] is None
    assert row["drake_us"] is row["drake_gap_m"] is row["drake_energy"] is None
    lines = list(report_loops.contenders(row, loops.LABELS))
    assert [line[1] for line in lines] == [setting.label for setting in loops.OURS.values()]


# --- precision ---


@compiled_only
def test_the_dry_chain_has_a_reference_that_agrees_with_an_independent_solution(monkeypatch):
    monkeypatch.setattr(precision, "FRICTIONS", (1.0,))
    monkeypatch.setattr(precision, "STEPS_MS_QUICK", (20, 1))
    monkeypatch.setattr(precision, "TOLERANCES_QUICK", (1e-7,))
    found = precision.chains(quick=True, repetitions=1, mujoco=False, tick=nothing)
    (chain,) = found["chains"]
    # The published solution is given to 12 digits, its own error is some 1e-9 m.
    assert chain["reference"]["difference_m"] < 1e-8
    methods = {entry["method"]: entry for entry in chain["methods"]}
    assert set(methods) == {"adams", "rk4", "adaptive"}
    for method in ("adams", "rk4"):
        coarse, fine = methods[method]["points"]
        assert fine["error_m"] < 1e-5 < 10 * coarse["error_m"]
        assert fine["ms"] > 0.0
        assert len(methods[method]["costs"]) == len(found["errors_m"])


# --- results ---


def test_figures_of_an_older_version_make_no_page(tmp_path, capsys):
    (tmp_path / "tree.json").write_text(
        (Path(__file__).parents[2] / "benchmarks" / "results" / "tree.json").read_text()
    )
    (tmp_path / "loops.json").write_text(json.dumps({"suite": "loops", "rows": [{"case": "chain5"}]}))
    assert page([str(tmp_path)]) == 2
    assert "measure again" in capsys.readouterr().err


@pytest.fixture(scope="module")
def quick():
    """The result of a quick run, and the shares of it that were told to be done."""
    shares = []
    with pytest.MonkeyPatch.context() as patch:
        for count in ("REPETITIONS_QUICK", "PRECISION_REPETITIONS_QUICK"):
            patch.setattr(loops, count, 1)
        result = SUITES["loops"](quick=True, progress=shares.append)
    return result, shares


@pytest.mark.slow
def test_a_quick_run_has_a_page(quick, tmp_path, capsys):
    result = quick[0].to_dict()
    assert [row["case"] for row in result["rows"]] == ["peaucellier", "double_four_bar", "chain5"]
    for row in result["rows"]:
        assert row["simgc_us"] > 0
        assert row["simgc_gap_m"] < 1e-5
    assert page([str(tmp_path)]) == 2
    capsys.readouterr()
    (tmp_path / "loops.json").write_text(json.dumps(result))
    (tmp_path / "tree.json").write_text(
        (Path(__file__).parents[2] / "benchmarks" / "results" / "tree.json").read_text()
    )
    assert page([str(tmp_path)]) == 0
    assert "| peaucellier |" in capsys.readouterr().out


@pytest.mark.slow
@compiled_only
def test_a_quick_run_has_every_part(quick):
    result, shares = quick
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert {"suite", "quick", "made_with", "how", "rows", "notes"} <= set(data)
    for row in data["rows"]:
        for key in loops.OURS:
            assert row[f"{key}_us"] > 0.0
            assert row[f"{key}_spread"] >= 0.0
            assert row[f"{key}_gap_m"] < (1e-4 if key.endswith("impulses") else 1e-12)
            assert row[f"{key}_energy"] < (0.05 if key.endswith("impulses") else 1e-7)
            assert row[f"{key}_work"] >= 1.0
        for key in loops.PEERS:
            assert {f"{key}_us", f"{key}_spread", f"{key}_gap_m", f"{key}_energy"} <= set(row)
            if row[f"{key}_us"] is not None:
                assert row[f"{key}_gap_m"] < 2e-3
                assert (row[f"{key}_energy"] is None) == (row["case"] == "chain5")
    growth = data["growth"]
    assert [row["n"] for row in growth["rows"]] == list(mechanisms.SIZES_QUICK)
    assert all(row["simmc_us"] > 0.0 for row in growth["rows"] if row["n"] <= mechanisms.MOST_MAXIMAL)
    assert all(set(row["stages_us"]) == set(STAGES) for row in growth["rows"])
    for method in ("simgc", "simmc"):
        assert set(growth["exponents"][method]) == {"all", "large"}
    assert (data["random"]["bodies"], data["random"]["loops"]) == (30, 5)
    assert data["random"]["gap_m"] < 1e-12
    frictions = [chain["friction_Nm"] for chain in data["precision"]["chains"]]
    assert frictions == list(precision.FRICTIONS)
    assert [target["what"] for target in data["targets"]] == [target.what for target in judge_loops(data)]
    text = render_loops(data)
    assert "quick run" in text
    for title in ("Mechanisms", "N four-bars", "A random mechanism", "Time per simulated second", "Targets"):
        assert f"### {title}" in text
    assert len(list(result.tables())) >= 5


@compiled_only
def test_the_paper_is_set_beside_impulses_and_the_direct_solver(monkeypatch, tmp_path):
    monkeypatch.setattr(simgc, "CASES", tuple((name, options, 0.3) for name, options, _ in simgc.CASES))
    result = simgc.reproduce()
    rows = {(row["scene"], row["method"]): row for row in result.rows}
    assert set(rows) == {(name, method) for name, _, _ in simgc.CASES for method in simgc.METHODS}
    for (name, method), row in rows.items():
        assert row["us_per_step"] > 0.0
        assert row["steps"] == len(simgc.steps(0.3))
        if name == "gripper":  # once it rests, the direct solver needs none: forces of the last step go on
            assert row["iterations"] > 0.0 if method == "direct" else row["iterations"] >= 1.0
            assert row["evaluations"] is None
        elif method == "direct":
            assert row["solver"] == "direct"
            assert row["iterations"] is row["paper_ms"] is row["paper_iterations"] is None
            assert row["evaluations"] >= 4.0  # every step has another size
            assert row["evaluations_equal_steps"] < row["evaluations"]
            assert row["worst_gap_m"] < 1e-12
        else:
            assert row["solver"] == "impulses"
            assert row["iterations"] > 1.0
            assert row["evaluations"] is None
            assert row["paper_ms"] > 0.0
    json.dumps(result.to_dict(), allow_nan=False)
    assert any("Runge-Kutta" in note for note in result.notes)
    result.plot(tmp_path / "table.png")
    assert Path(tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")
