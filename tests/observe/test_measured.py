"""Motion that is measured, against mechanics: known motions, differences of what is recorded, other methods."""

import math
import re

import numpy as np
import pytest

from helpers.measuring import INERTIA, LENGTH, MASS, SMOOTH, G, every, impulses, pendulum, smooth
from helpers.runs import orders
from linkwork import Body, Component, Free, Hinge, LinkworkError, Model, Simulation, scene
from linkwork.model import Instance
from linkwork.model.rotation import about, matrix

# --- known motions ---


@smooth
def test_a_pendulum_moves_as_its_angle_says(way):
    sim = Simulation(pendulum(), dt=1e-3, **way)
    sim.step(20)
    angle, rate = sim["pivot.angle"], sim["pivot.angle_rate"]
    # d²angle/dt² by Newton's law about the pivot.
    turning = -MASS * G * LENGTH * math.sin(angle) / (INERTIA[1] + MASS * LENGTH**2)
    out, along = (
        np.array([math.sin(angle), 0.0, -math.cos(angle)]),
        np.array([math.cos(angle), 0.0, math.sin(angle)]),
    )
    np.testing.assert_allclose(sim["rod.position"], LENGTH * out, atol=1e-12)
    np.testing.assert_allclose(sim["rod.velocity"], LENGTH * rate * along, atol=1e-12)
    np.testing.assert_allclose(sim["rod.angular_velocity"], (0.0, -rate, 0.0), atol=1e-12)
    expected = LENGTH * (turning * along - rate**2 * out)
    np.testing.assert_allclose(sim["rod.acceleration"], expected, atol=1e-9)
    np.testing.assert_allclose(sim["rod.angular_acceleration"], (0.0, -turning, 0.0), atol=1e-9)
    # A marker beside it, 0.1 forward, 0.2 aside and 0.7 down from the pivot at angle 0.
    arm = 0.7 * out + 0.1 * along
    np.testing.assert_allclose(sim["end.position"], arm + np.array([0.0, 0.2, 0.0]), atol=1e-12)
    np.testing.assert_allclose(sim["end.velocity"], rate * (0.7 * along - 0.1 * out), atol=1e-12)
    expected = turning * (0.7 * along - 0.1 * out) - rate**2 * arm
    np.testing.assert_allclose(sim["end.acceleration"], expected, atol=1e-9)
    turned = matrix(about((0.0, 1.0, 0.0), 0.3 - angle))
    np.testing.assert_allclose(matrix(sim["end.rotation"]), turned, atol=1e-12)


def thrown():
    """Two bodies on a hinge, thrown and spinning."""
    model = Model("thrown", gravity=(0.0, 0.0, -G))
    pair = Component("pair")
    pair.add(Body("one", at=(0.0, 0.0, 0.0), mass=2.0, inertia=(0.02, 0.03, 0.04)))
    pair.add(Body("two", at=(0.5, 0.0, 0.2), mass=1.0, inertia=(0.01, 0.02, 0.015), com=(0.05, 0.0, 0.0)))
    pair.add(Hinge("elbow", "one", "two", at=(0.3, 0.0, 0.0), axis=(0.0, 1.0, 1.0), velocity=2.0))
    model.add(Instance("pair", pair))
    model.add(Free("flight", "ground", "pair.one", velocity=(0.3, 0.4, 2.0, 1.0, -2.0, 0.5)))
    return model


@every
def test_the_centre_of_mass_falls_freely(way):
    record = Simulation(thrown(), dt=1e-3, **way).run(0.05, every=0.01)
    for name in ("com", "pair.com"):
        start, speed = record[f"{name}.position"][0], record[f"{name}.velocity"][0]
        fallen = np.outer(record.time, (0.0, 0.0, -G))
        # Impulses move each body by its own first-order step: their centre of mass is off by the square of it.
        step = 1e-3 * 0.05 * 20.0 if "solver" in way else 1e-8
        np.testing.assert_allclose(record[f"{name}.velocity"], speed + fallen, atol=step)
        way_fallen = start + np.outer(record.time, speed) + 0.5 * record.time[:, None] * fallen
        np.testing.assert_allclose(record[f"{name}.position"], way_fallen, atol=step)
        if "solver" not in way:
            expected = np.broadcast_to((0.0, 0.0, -G), (len(record), 3))
            np.testing.assert_allclose(record[f"{name}.acceleration"], expected, atol=1e-8)


@impulses
def test_accelerations_of_impulses_are_means_of_a_step(way):
    model = Model("fall", gravity=(0.0, 0.0, -G))
    model.add(Body("stone", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    sim = Simulation(model, dt=1e-3, **way)
    assert np.isnan(sim["stone.acceleration"]).all()
    record = sim.run(0.01, every=0.005)
    assert np.isnan(record["stone.acceleration.z"][0])
    np.testing.assert_allclose(record["stone.acceleration.z"][1:], -G, rtol=1e-10)


# --- against differences of what is recorded ---


@smooth
def test_rates_are_derivatives_of_what_they_are_rates_of(way):
    """Central differences differ from the derivative by the square of their spacing."""
    errors = []
    for spacing in (8e-3, 4e-3, 2e-3):
        sim = Simulation(
            thrown(), dt=1e-3 if way["method"] in ("hybrid", "global", "topological") else 2e-3, **way
        )
        sim.add_point("corner", "pair.two", (0.1, -0.2, 0.3))
        record = sim.run(0.032 + spacing, every=spacing)
        middle = round(0.032 / spacing)
        worst = []
        for body in ("pair.one", "pair.two", "corner", "com"):
            for of, by in (("position", "velocity"), ("velocity", "acceleration"),
                           ("angular_velocity", "angular_acceleration")):  # fmt: skip
                if f"{body}.{of}.x" not in record:
                    continue
                x = record[f"{body}.{of}"]
                difference = (x[middle + 1] - x[middle - 1]) / (2.0 * spacing)
                worst.append(np.abs(difference - record[f"{body}.{by}"][middle]).max())
        errors.append(max(worst))
    assert errors[0] < 0.1
    assert min(orders(errors)) > 1.8


@pytest.mark.parametrize("name", ["slidercrank3d", "crank_rocker", "chain5"])
def test_methods_agree(name):
    """What is measured at the start: the same state, so the same to rounding, if nothing is too stiff for the step."""
    model = scene(name)
    records = []
    for way in SMOOTH:
        try:
            records.append(Simulation(model, dt=1e-4, **way).run(1e-4))
        except LinkworkError:
            continue
    assert len(records) >= 3
    names = set.intersection(*(set(record.names) for record in records))
    moving = re.compile(r"\.(position|velocity|acceleration|angular_\w+)\.[xyz]$")
    chosen = [n for n in names if moving.search(n) or n.endswith(".force")]
    assert any("acceleration" in n for n in chosen)
    for n in chosen:
        for other in records[1:]:
            np.testing.assert_allclose(other[n][0], records[0][n][0], rtol=1e-7, atol=1e-7, err_msg=n)
