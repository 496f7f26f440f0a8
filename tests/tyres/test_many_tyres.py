"""Tyres of a vehicle with loops: none loses its grip to a row that counts as redundant; steps are explicit."""

import dataclasses

import pytest

from benchmarks.vehicle import MASS, RADIUS, STRENGTH, vehicle
from linkwork import Simulation


@pytest.mark.parametrize("rods", [False, True])
def test_all_wheels_pull_alike(rods):
    """At its start a tyre yields to nothing, for an instant; that must not make its row fade for ever."""
    simulation = Simulation(vehicle(tyres=True, rods=rods), dt=1e-3)
    simulation.step(500)
    rates = [simulation[f"{wheel}_axle.angle_rate"] for wheel in ("left_1", "right_1", "left_2", "right_2")]
    assert rates == pytest.approx([rates[0]] * 4, rel=1e-2)
    # Torques of all motors over all masses: 4 M/R = (m + 4 (5 + 5 + 12 + 18 + 1.5) + 4 I/R²) a.
    parts = 4 * (5 + 5 + 12 + 18 + (0.0 if rods else 1.5)) + 4 * 0.9 / RADIUS**2
    pull = 4 * STRENGTH / RADIUS - 0.01 * 9.81 * (MASS + 4 * 40)  # and what rolling takes
    assert simulation["chassis.velocity.x"] == pytest.approx(0.5 * pull / (MASS + parts), rel=0.03)


@pytest.mark.parametrize("lifted", [0.0, 0.5])
def test_steps_of_a_millisecond_are_explicit(lifted):
    """Rolling, and in the air: Adams' method takes one evaluation a step, where stiff parts would make it four."""
    model = vehicle(tyres=True, driven=False)
    ride = model.joints["ride"]
    model.joints["ride"] = dataclasses.replace(ride, position=(0.0, 0.0, lifted, 1.0, 0.0, 0.0, 0.0))
    simulation = Simulation(model, dt=1e-3)
    simulation.step(250)
    assert simulation.method.outcome()["evaluations_mean"] < 1.5
