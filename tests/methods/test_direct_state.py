"""States of the direct solver that are saved, looked at and written, and what it reports and refuses."""

import dataclasses
import math

import numpy as np
import pytest

from helpers.references import PULL, exact_four_bar
from helpers.runs import CLOSED, apart, direct, explicit
from linkwork import BodyFunction, LinkworkError, Simulation, SimulationError, scene
from linkwork.compile.compiler import compile_model

# --- state ---


@explicit
def test_rates_that_the_user_writes_are_honoured(method):
    simulation = direct(scene("double_four_bar"), method)
    simulation.step(100)
    phi, _ = exact_four_bar(0.0, 1.0, 0.1)
    kinetic, rate = simulation.energies()[0], simulation["A0.angle_rate"]
    simulation.v[:] *= -2.0
    assert simulation.energies()[0] == pytest.approx(4 * kinetic, rel=1e-12)
    assert simulation["A0.angle_rate"] == pytest.approx(-2.0 * rate, rel=1e-12)
    record = simulation.run(0.3)
    back, _ = exact_four_bar(phi, 2.0 * rate, 0.3)
    assert -record["A0.angle"][-1] == pytest.approx(back, abs=1e-9)


def test_a_coordinate_that_the_user_writes_is_honoured_and_loops_close():
    simulation = direct(scene("chain5", friction=1.0), "simgc")
    simulation.step(100)
    simulation["joint3.angle"], simulation["joint3.angle_rate"] = 0.5, -2.0
    record = simulation.run(0.01, every=0.001)
    assert record["joint3.angle"][0] == 0.5
    assert record["joint3.angle_rate"][0] == -2.0
    # One link of a loop turned by hand: the others come after it, without a jump of the rates.
    model = scene("double_four_bar", rate=0.0)
    model.gravity = (0.0, 0.0, 0.0)
    simulation = direct(model, "simgc")
    simulation.q[simulation.system.coordinate("A0.angle")] = 0.01
    record = simulation.run(0.1)
    assert record.info["worst_gap_m"] <= CLOSED
    assert 0.001 < record["A0.angle"][0] < 0.01
    assert record["A1.angle"][0] == pytest.approx(record["A0.angle"][0], abs=1e-12)
    assert record["energy.kinetic"].max() < 1e-20


@explicit
def test_a_state_can_be_put_back(method):
    """q and v of an earlier time, written by the user, lead to the same motion once more."""
    simulation = direct(scene("peaucellier"), method)
    simulation.step(200)
    q, v = simulation.q.copy(), simulation.v.copy()
    first = simulation.run(0.3, reactions=False)
    simulation.q[:], simulation.v[:] = q, v
    second = simulation.run(0.3, reactions=False)
    assert apart(first, second) < 1e-10  # the one begins with the past of Adams, the other without


@explicit
def test_accelerations_are_those_of_the_exact_motion(method):
    simulation = direct(scene("double_four_bar"), method)
    simulation.step(300)
    phi, _ = exact_four_bar(0.0, 1.0, 0.3)
    a = simulation.accelerations()
    rates = [column.name for column in simulation.system.rates]
    found = a[rates.index("A0.angle_rate")] if method == "simgc" else a[rates.index("~link0.wz")]
    assert -found == pytest.approx(PULL * math.sin(phi), abs=1e-8)


# --- what it reports ---


@explicit
def test_steps_over_their_budget_are_counted_and_told(method):
    record = direct(scene("peaucellier"), method, budget=1e-9).run(0.05)
    assert record.info["steps_over_budget"] >= 50
    assert any("longer than the budget of 1e-09 s" in warning for warning in record.info["warnings"])
    assert direct(scene("peaucellier"), method, budget=1.0).run(0.05).info["steps_over_budget"] == 0


@explicit
def test_a_start_that_was_assembled_is_told(method):
    model = scene("double_four_bar")
    model.joints["A0"] = dataclasses.replace(model.joints["A0"], position=0.01)
    record = direct(model, method).run(0.01)
    assert record.info["worst_gap_m"] <= CLOSED
    assert any(warning.startswith("assembled: ") for warning in record.info["warnings"])


def test_a_position_that_is_singular_is_told():
    record = direct(scene("n_four_bar"), "simgc").run(1.3, reactions=False)
    assert any("singular position was passed near t = " in warning for warning in record.info["warnings"])
    assert record.info["nearest_singular"]["time"] == pytest.approx(1.243, abs=2e-3)


@explicit
def test_a_diverging_run_stops_with_a_reason_and_keeps_its_record(method):
    def broken(t, x, v, parameters, out):
        out[2] = np.sqrt(parameters[0] - t)

    model = scene("crank_rocker")
    model.add(BodyFunction("fault", "arm", broken, parameters=(0.05,)))
    with pytest.raises(SimulationError, match="is not a number") as caught:
        direct(model, method).run(1.0)
    assert caught.value.time == pytest.approx(0.05, abs=2e-3)
    assert len(caught.value.record) >= 5


# --- refusals ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 1e-6}, "epsilon: no option of .* 'direct'; epsilon belongs to .* with solver 'impulses'"),
        ({"iterations": 10, "erp": 0.5}, "iterations, erp: about contact .* touch; .*; erp .* solver 'impulses'"),
        ({"method": "simmc", "erp": 0.5}, "erp: about contact in method 'simmc' .* with solver 'impulses'"),
        ({"solver": "impulses", "tolerance": 1e-8}, "tolerance: no option of .* 'impulses'; .* with solver 'direct'"),
        ({"solver": "impulses", "integrator": "adaptive"}, "'impulses' takes fixed steps .* use solver 'direct'"),
        ({"integrator": "rk4", "tolerance": 1e-8}, "integrator 'rk4' takes fixed steps .* 'adaptive'"),
        ({"integrator": "rk5"}, r"solver 'direct' has no integrator 'rk5' \(it has adams, rk4, adaptive, euler\)"),
        ({"solver": "impulses", "integrator": "rk4"}, r"solver 'impulses' has no integrator 'rk4' \(it has euler\)"),
        ({"solver": "direkt"}, "there is no solver 'direkt' .*did you mean 'direct'"),
        ({"method": "simgcc"}, "there is no method 'simgcc' .*did you mean 'simgc'"),
        ({"method": "tree", "solver": "direct"}, "'tree' has no constraints to solve"),
        ({"dt": 0.0}, "dt must be a positive number"),
        ({"tolerance": -1e-8}, "tolerance must be a positive number"),
        ({"budget": math.nan}, "budget must be a positive number"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused_with_reasons(options, words):
    with pytest.raises(LinkworkError, match=words):
        Simulation(scene("peaucellier"), **options)


def test_a_compiled_system_is_no_model():
    with pytest.raises(LinkworkError, match="needs the model itself"):
        Simulation(compile_model(scene("chain5")), method="simgc")
