"""The truck with its semi-trailer: what its wheels carry, and how the trailer follows."""

import math

import numpy as np
import pytest

from linkwork import Simulation, scene
from linkwork.scenes import truck

WHEELS = [f"{axle}.{side}" for axle in ("front", "rear", "first", "last") for side in ("left", "right")]


def test_wheels_carry_its_weight():
    """Together what all of it weighs; each what the moments of the sprung masses give it, and its part of its axle."""
    model = scene("truck", speed=0.0, steer=0.0)
    mass = sum(body.mass_properties.mass for body in model.flatten().bodies.values())
    simulation = Simulation(model, dt=2e-3)
    simulation.run(8.0)
    forces = {name: float(simulation[f"{name}.tyre.force.z"]) for name in WHEELS}
    assert sum(forces.values()) == pytest.approx(mass * truck.GRAVITY, rel=1e-6)
    behind = [forces[name] for name in WHEELS[4:]]
    assert behind == pytest.approx([behind[0]] * 4, rel=5e-4)
    carried = truck.loads()
    own = {name: forces[f"{axle}.left"] - carried[name] for axle, name in
           (("front", "front"), ("rear", "rear"), ("first", "trailer"))}  # fmt: skip
    for name, weight in own.items():  # wheel, beam and links: 0.13, 0.1 and more of the load
        assert 0.2 * carried[name] < weight < 0.3 * carried[name]


def test_the_trailer_cuts_corners():
    record = Simulation(scene("truck"), dt=2e-3).run(9.0, every=0.05)
    turned = abs(record["energy.dissipated"]).max() + np.ptp(record["energy.kinetic"])
    assert abs(record["energy.balance"]).max() < 1e-5 * turned
    q = np.array([record[f"fifth_wheel.q{c}"][-1] for c in "wz"])
    assert -math.radians(30) < 2.0 * math.atan2(q[1], q[0]) < -math.radians(8)
    assert record["tractor.angular_velocity.z"][-1] > 0.1
    assert record.info["worst_gap_m"] < 1e-9
