"""The benchmark of loops compares the same mechanisms; budgets of time are kept and told."""

import numpy as np
import pytest

from linkwork import Simulation, scene

CASES = [("peaucellier", {}), ("double_four_bar", {}), ("chain5", {"friction": 1.0})]


@pytest.mark.peers
@pytest.mark.parametrize("engine", ["mujoco", "mujoco_tight", "bullet", "dart"])
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_other_engines_move_the_same_mechanism(engine, name, parameters):
    pytest.importorskip({"bullet": "pybullet", "dart": "dartpy"}.get(engine, "mujoco"))
    from benchmarks.loops import DT, PEERS

    simulation = Simulation(scene(name, **parameters), method="simgc", solver="impulses", dt=DT)
    peer = PEERS[engine](simulation.system, parameters.get("friction", 0.0))
    peer.reset()
    simulation.step(200)
    peer.run(200)
    # All are of first order at 1 ms; MuJoCo's default constraints are soft, and its friction lets stuck joints creep.
    accuracy = 2e-2 if engine == "mujoco" else 5e-3
    dofs = simulation.system.tables.dofs[1:]
    np.testing.assert_allclose(dofs["rot"] * simulation.q[dofs["q"]], peer.angles, atol=accuracy)
    assert peer.largest_gap(200) < 2e-3


def test_a_budget_of_time_cuts_iterations_short_and_says_so():
    simulation = Simulation(scene("peaucellier"), method="simmc", solver="impulses", budget=1e-6)
    record = simulation.run(0.05)
    assert record.info["steps_cut_short"] > 40
    assert any("before impulses settled" in warning for warning in record.info["warnings"])
    report = simulation.method.report()
    assert report["cut_short"]
    assert report["iterations"] < 20
    assert report["worst_row"] is not None
    unhurried = Simulation(scene("peaucellier"), method="simmc", solver="impulses").run(0.05)
    assert unhurried.info["steps_cut_short"] == 0
