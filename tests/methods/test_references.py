"""Trajectories against solutions that Linkwork did not make."""

import numpy as np
import pytest

from helpers.references import reference
from linkwork import Simulation, scene


def states(model, times, **options):
    """q and v of a simulation at the given times (multiples of the first one)."""
    simulation = Simulation(model, **options)
    record = simulation.run(times[-1], every=times[0])
    rows = np.searchsorted(record.time, np.asarray(times) - 1e-9)
    np.testing.assert_allclose(record.time[rows], times, atol=1e-9)
    return record.array("coordinates")[rows], record.array("rates")[rows]


def chain_reference(name, times):
    table = reference(name)
    rows = np.searchsorted(table["t"], np.asarray(times) - 1e-9)
    q = np.column_stack([table[f"q{k}"][rows] for k in range(1, 6)])
    v = np.column_stack([table[f"qd{k}"][rows] for k in range(1, 6)])
    return q, v


def test_pendulum_follows_the_elliptic_functions():
    table = reference("a01_pendulum_ref.csv")
    q, v = states(scene("a01_pendulum"), table["t"][1:], integrator="adaptive", tolerance=1e-12)
    # Local errors of 1e-12 over some 600 steps, not amplified: the pendulum is not chaotic.
    np.testing.assert_allclose(q[:, 0], table["angle"][1:], atol=1e-9)
    np.testing.assert_allclose(v[:, 0], table["rate"][1:], atol=3e-9)


@pytest.mark.parametrize(
    ("integrator", "order", "step"), [("euler", 1, 1e-3), ("rk4", 4, 4e-3)], ids=["euler", "rk4"]
)
def test_pendulum_converges_at_the_order_of_the_integrator(integrator, order, step):
    exact = reference("a01_pendulum_ref.csv")
    row = np.searchsorted(exact["t"], 2.0 - 1e-9)
    errors = []
    for h in (step, step / 2):
        q, _ = states(scene("a01_pendulum"), [2.0], integrator=integrator, dt=h)
        errors.append(abs(q[0, 0] - exact["angle"][row]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


# The chain amplifies errors some 30 times a second (its reference states 5e-11 at 1 s, 1e-9 at 3 s): local
# errors of 1e-12 in some 1000 steps a second give 1e-9 at 1 s and 1e-7 at 3 s.
@pytest.mark.parametrize(("time", "tolerance"), [(1.0, 1e-9), (2.0, 1e-8), (3.0, 1e-7)])
def test_frictionless_chain_follows_its_reference(time, tolerance):
    q_ref, v_ref = chain_reference("chain5_frictionless_ref.csv", [time])
    q, v = states(scene("chain5"), [time], integrator="adaptive", tolerance=1e-12)
    np.testing.assert_allclose(q, q_ref, atol=tolerance)
    np.testing.assert_allclose(v, v_ref, atol=20 * tolerance)


@pytest.mark.parametrize(
    ("integrator", "order", "step"), [("euler", 1, 5e-5), ("rk4", 4, 2e-3)], ids=["euler", "rk4"]
)
def test_frictionless_chain_converges_at_the_order_of_the_integrator(integrator, order, step):
    q_ref, _ = chain_reference("chain5_frictionless_ref.csv", [1.0])
    errors = []
    for h in (step, step / 2):
        q, _ = states(scene("chain5"), [1.0], integrator=integrator, dt=h)
        errors.append(np.abs(q - q_ref).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_viscous_chain_follows_its_reference_to_rest():
    times = np.arange(1.0, 20.5, 1.0)
    q_ref, v_ref = chain_reference("chain5_viscous_ref.csv", times)
    q, v = states(scene("chain5", damping=1.0), times, integrator="adaptive", tolerance=1e-11)
    # The reference is good to 1e-9; damping forgets our local errors.
    np.testing.assert_allclose(q, q_ref, atol=3e-9)
    np.testing.assert_allclose(v, v_ref, atol=1e-8)


def test_viscous_chain_loses_exactly_what_its_dampers_take():
    record = Simulation(scene("chain5", damping=1.0)).run(10.0)
    taken = record["energy.dissipated"][-1]
    assert taken > 10.0
    # RK4 at 1 ms: fourth order, h⁴ ω⁵ t with rates of some 10 rad/s.
    assert record.energy_drift < 1e-6 * taken


def test_block_slides_down_the_incline_as_galileo_says():
    record = Simulation(scene("incline_slider", angle=30.0)).run(2.0, every=0.1)
    expected = 0.5 * 9.81 * np.sin(np.radians(30.0)) * record.time**2
    # Uniform acceleration is integrated exactly by any method of order two.
    np.testing.assert_allclose(record["rail.travel"], expected, atol=1e-12)


def test_damped_block_approaches_its_terminal_speed():
    mass, damping = 2.0, 5.0
    record = Simulation(scene("incline_slider", mass=mass, damping=damping)).run(3.0, every=0.1)
    pull = mass * 9.81 * 0.5
    expected = pull / damping * (1 - np.exp(-damping / mass * record.time))
    np.testing.assert_allclose(record["rail.travel_rate"], expected, atol=1e-11)
