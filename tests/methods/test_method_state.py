"""States that are saved, looked at, written, commanded and altered: what every method with constraints is asked."""

import numpy as np
import pytest

from helpers.one_dof import M, block
from helpers.runs import bits
from linkwork import Force, Simulation, TorqueSource, scene

IMPLICIT = ("hybrid", "topological", "global")
METHODS = ("simgc", "simmc", *IMPLICIT, "components")
FLOATING = ("simmc", "global", "components")
methods = pytest.mark.parametrize("method", METHODS)

EVENTS = [("chain5", {"friction": 1.0}), ("hitch", {}), ("jaws", {}), ("stewart", {})]
SMOOTH = [
    ("peaucellier", {}),
    ("slidercrank3d", {}),
    ("double_four_bar", {"rate": 8.0}),
    ("crank_rocker", {}),
]
INTEGRATORS = ("adams", "rk4", "adaptive", "euler")


def saved():
    """Scene, its parameters, options of the simulation, duration [s]."""
    for method in ("simgc", "simmc", "components"):
        for name, parameters in (*SMOOTH, *(EVENTS if method != "components" else [("car", {})])):
            for integrator in INTEGRATORS:
                options = {"method": method, "integrator": integrator}
                yield pytest.param(name, parameters, options, 0.4, id=f"{name}-{method}-{integrator}")
    for method in IMPLICIT:
        for name in ("excavator", "peaucellier", "slidercrank3d", "torsion_bar"):
            for rho in (None, 0.7):
                options = {"method": method, "dt": 5e-3, "rho": rho}
                yield pytest.param(name, {}, options, 0.2, id=f"{name}-{method}-{rho}")


@pytest.mark.parametrize(("name", "parameters", "options", "duration"), list(saved()))
def test_runs_are_the_same_to_the_last_bit(name, parameters, options, duration, tmp_path):
    """Resumed, looked at, in parts, and once more."""
    every = duration / 4

    def fresh():
        return Simulation(scene(name, **parameters), **options)

    def look(simulation):
        simulation.energies()
        simulation.accelerations()
        simulation[simulation.system.rates[0].name]

    whole = fresh()
    record = whole.run(duration, every=every)
    expected = bits(whole)
    first = fresh()
    first.run(duration / 2, every=every)
    first.save_state(tmp_path / "half.npz")
    resumed = fresh()
    resumed.load_state(tmp_path / "half.npz")
    resumed.run(duration / 2, every=every)
    assert bits(resumed) == expected
    assert resumed.method.report() == whole.method.report()
    first.run(duration / 2, every=every)
    assert bits(first) == expected
    watched = fresh()
    watched.run(duration, every=every, callbacks=[(every, look)])
    assert bits(watched) == expected
    whole.reset()
    assert whole.time == 0.0
    again = whole.run(duration, every=every)
    assert bits(whole) == expected
    for group in record.groups:
        np.testing.assert_array_equal(again.array(group), record.array(group))


@pytest.mark.parametrize("method", ["simgc", "simmc", "components"])
def test_samples_leave_no_trace(method):
    # Servos act on joints that are read off their frames: what a sample leaves there would come back.
    often, seldom = (Simulation(scene("excavator"), method=method) for _ in range(2))
    for _ in range(400):
        often.step()
    seldom.step(400)
    assert bits(often) == bits(seldom)


@methods
def test_a_state_that_is_written_is_gone_on_from(method):
    simulation = Simulation(block(), method=method, dt=0.01)
    simulation.step(5)
    simulation.v[2 if method in FLOATING else 0] = 2.0  # along z, in whatever coordinates
    simulation.step(10)
    assert simulation["rail.travel_rate"] == pytest.approx(2.0, abs=1e-12)
    assert simulation["rail.travel"] == pytest.approx(0.2, abs=1e-12)


@methods
def test_commands_act_from_the_next_step_on(method):
    simulation = Simulation(block(TorqueSource("motor", "rail")), method=method, dt=0.01)
    simulation.step(10)
    assert simulation["rail.travel_rate"] == 0.0
    simulation.command("motor", 3.0 * M)
    assert np.abs(simulation.accelerations()).max() == pytest.approx(3.0, rel=1e-12)
    simulation.step(10)
    # A constant acceleration is met exactly.
    assert simulation["rail.travel_rate"] == pytest.approx(0.3, rel=1e-12)
    assert simulation["rail.travel"] == pytest.approx(0.5 * 3.0 * 0.01, rel=1e-12)
    assert simulation.work[0] == pytest.approx(0.5 * M * 0.3**2, rel=1e-12)


@methods
def test_a_force_is_set_and_taken_away(method):
    model = block()
    model.add(Force("push", "block", force=(0.0, 0.0, 0.0)))
    simulation = Simulation(model, method=method, dt=0.01)
    simulation.step(5)
    simulation.set_force("push", (0.0, 0.0, 4.0))
    simulation.step(10)
    simulation.set_force("push", (0.0, 0.0, 0.0))
    simulation.step(10)
    assert simulation["rail.travel_rate"] == pytest.approx(0.2, rel=1e-12)
    assert simulation["rail.travel"] == pytest.approx(0.5 * 2.0 * 0.01 + 0.02, rel=1e-12)


@methods
def test_a_model_is_altered_on_the_way(method):
    simulation = Simulation(block(gravity=9.81), method=method, dt=0.01)
    simulation.step(10)
    assert simulation["rail.travel_rate"] == pytest.approx(-0.981, rel=1e-12)
    simulation.alter(block(gravity=1.62))
    simulation.step(10)
    assert simulation["rail.travel_rate"] == pytest.approx(-0.981 - 0.162, rel=1e-12)
    assert simulation.time == pytest.approx(0.2, abs=1e-15)


@methods
def test_the_step_may_change_on_the_way(method):
    simulation = Simulation(block(gravity=9.81), method=method, dt=0.01)
    simulation.step(5)
    simulation.step(2, dt=0.05)
    assert simulation.time == pytest.approx(0.15, abs=1e-15)
    assert simulation["rail.travel"] == pytest.approx(-0.5 * 9.81 * 0.15**2, rel=1e-12)
