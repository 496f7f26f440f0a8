"""Spinning things on one point: tippe top, rattleback and Euler's disc against equations of motion of their own."""

from itertools import pairwise

import numpy as np
import pytest

from helpers import spinning
from linkwork import Simulation, scene
from linkwork.model.rotation import matrix
from linkwork.scenes import eulers_disc, rattleback, tippe_top

FOURTH, FIRST = 12.0, 1.7
"""What halving the step must divide an error by: 16 at order four, 2 at order one."""
TIME = 0.1


def reference(name):
    """A scene, its body's name, and its motion as a function of time."""
    model = scene(name)
    ((body, made),) = model.bodies.items()
    (joint,) = model.joints.values()
    v, w = np.array(joint.velocity[:3]), np.array(joint.velocity[3:])
    com = np.array(made.mass_properties.com)
    if name == "tippe_top":  # whose spin is told along its own axis
        support, w = spinning.ball(tippe_top.RADIUS, com), matrix(made.rotation) @ w
        return model, body, spinning.motion(made, support, v, w, model.materials["wood"].friction)
    support = (
        spinning.ellipsoid(rattleback.SEMI_AXES, com)
        if name == "rattleback"
        else spinning.disc(eulers_disc.RADIUS, eulers_disc.THICK)
    )
    return model, body, spinning.motion(made, support, v, w, None)


def pose(simulation, body, com=(0.0, 0.0, 0.0)):
    """Place of the centre of mass, and rotation matrix."""
    at = np.array(simulation.point(body)[0])
    R = np.array([np.array(simulation.point(body, tuple(e))[0]) - at for e in np.eye(3)]).T
    return at + R @ np.array(com), R


def errors(name, steps, **options):
    model, body, motion = reference(name)
    place, turned, *_ = motion(TIME)
    com, found = model.bodies[body].mass_properties.com, []
    for dt in steps:
        simulation = Simulation(model, dt=dt, **options)
        record = simulation.run(TIME)
        x, R = pose(simulation, body, com)
        found.append((np.abs(x - place).max(), np.abs(R - turned).max()))
        assert record.info.get("steps_by_impulses", 0) == 0
    return np.array(found)


@pytest.mark.parametrize("name", ["tippe_top", "rattleback", "eulers_disc"])
def test_between_events_they_converge_at_fourth_order(name):
    found = errors(name, (4e-3, 2e-3, 1e-3), integrator="rk4")
    for before, after in pairwise(found):
        assert (before / after > FOURTH).all()
    assert found[-1].max() < 1e-6


@pytest.mark.parametrize("method", ["simgc", "simmc"])
@pytest.mark.parametrize("name", ["tippe_top", "rattleback", "eulers_disc"])
def test_by_impulses_they_converge_at_first_order(name, method):
    # Rotations: places are off by the slop, too, which does not shrink with the step.
    found = errors(name, (2e-3, 1e-3, 5e-4), method=method)[:, 1]
    for before, after in pairwise(found):
        assert before / after > FIRST
    assert found[-1] < 0.02


def jelletts_integral(simulation, made):
    """Moment of momentum along the line from the lowest point to the centre of mass [kg m³/s]."""
    _, com, inertia = made.mass_properties
    R = pose(simulation, "top")[1]
    w = np.array([simulation[f"top.angular_velocity.{c}"] for c in "xyz"])
    return float(R @ inertia @ R.T @ w @ (R @ np.array(com) + (0.0, 0.0, tippe_top.RADIUS)))


def test_a_tippe_top_keeps_jelletts_integral():
    """Whatever friction does at one point of a ball cannot change it (Jellett 1872): only steps do, of first order at
    least, which is that of slow slip."""
    model, off = scene("tippe_top"), []
    for dt in (1e-3, 5e-4):
        simulation = Simulation(model, integrator="rk4", dt=dt)
        first, away = jelletts_integral(simulation, model.bodies["top"]), 0.0
        for _ in range(8):
            simulation.run(0.25)
            away = max(away, abs(jelletts_integral(simulation, model.bodies["top"]) / first - 1.0))
        off.append(away)
    # A step leaves (w h)^5/120 of a turn: at 100 rad/s, 2000 steps of 1e-7 at most.
    assert off[0] < 2e-4
    assert off[0] / off[1] > FIRST


def test_a_tippe_top_turns_over():
    simulation = Simulation(scene("tippe_top"), integrator="rk4", dt=1e-3)
    simulation.run(1.0)
    assert pose(simulation, "top")[1][2, 2] > 0.9
    record = simulation.run(6.0)
    assert pose(simulation, "top")[1][2, 2] < -0.85
    assert simulation["top_way.wz"] < 0.0  # so that from above it spins on the way it did
    assert abs(record["energy.balance"][-1]) < 1e-6


def test_a_rattleback_turns_back_one_way_only():
    model, body, motion = reference("rattleback")
    simulation = Simulation(model, integrator="rk4", dt=1e-3)
    simulation.run(1.0)
    # It rattles at 40 rad/s: 1000 steps of (0.04)^5/120 each, grown by what the rattling grows by
    np.testing.assert_allclose(pose(simulation, body)[1], motion(1.0)[1], atol=1e-5)
    simulation.run(3.5)
    assert simulation["stone_way.wz"] > 1.0  # from -5
    other = Simulation(scene("rattleback", spin=5.0), integrator="rk4", dt=1e-3)
    record = other.run(4.5)
    assert other["stone_way.wz"] > 4.0
    assert abs(record["energy.balance"][-1]) < 1e-5
