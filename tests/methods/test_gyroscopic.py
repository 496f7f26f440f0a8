"""Fast spinning bodies in steps of Euler's method: energy and angular momentum are kept at any step."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np
import pytest

from linkwork import Body, Free, Material, Model, Plane, Scenery, Simulation, Sphere, Spherical
from linkwork.model.rotation import about

MASS, ARM, LEAN = 0.1, 0.05, 0.3
INERTIA = (4e-5, 4e-5, 6e-5)
MIDDLE = (0.01, 0.02, 0.029)
WEIGHT = 9.80665 * MASS * ARM
"""Largest moment of gravity about the tip [N m]."""
FASTEST = sqrt(4.0 * WEIGHT / (INERTIA[0] + MASS * ARM**2))
"""No top that starts without it nods or precesses faster: the energy of that comes of falling [rad/s]."""

RELATIVE = {
    "simgc": {"method": "simgc", "solver": "impulses"},
    "euler": {"method": "simgc", "integrator": "euler"},
    "tree": {"method": "tree", "integrator": "euler"},
}
MAXIMAL = {"simmc": {"method": "simmc", "solver": "impulses"}}


def every(ways):
    return pytest.mark.parametrize("way", ways.values(), ids=ways)


def top(spin, elsewhere=False):
    """A top whose tip is held, leaning; with `elsewhere`, a ball rests on a floor far from it."""
    model = Model("top")
    up = (sin(LEAN), 0.0, cos(LEAN))
    model.add(
        Body("top", rotation=about((0.0, 1.0, 0.0), LEAN), mass=MASS, com=(0.0, 0.0, ARM), inertia=INERTIA)
    )
    model.add(Spherical("tip", "ground", "top", axis=up, velocity=(0.0, 0.0, spin)))
    if elsewhere:
        model.add(Material("rough"))
        model.add(Scenery("floor", at=(0.0, 0.0, -5.0), shapes=(Plane(),), material="rough"))
        model.add(Body("ball", at=(5.0, 0.0, -4.9), density=1000.0, shapes=(Sphere(0.1),), material="rough"))
        model.add(Free("ball_way", "ground", "ball", at=(5.0, 0.0, -4.9)))
    return model


def tumbling(spin, off=0.0):
    """A body of three different inertias, spun about the middle one; its joint is `off` its centre of mass [m]."""
    model = Model("tumbling", gravity=(0.0, 0.0, 0.0))
    model.add(Body("body", mass=1.0, com=(off, 0.0, 0.0), inertia=MIDDLE))
    model.add(Free("way", "ground", "body", velocity=(0.0, 0.0, off * spin, 0.01, spin, 0.01)))
    return model


def drift(sim, duration, samples=40):
    """Least and largest change of energy on the way [J]."""
    before, changes = sum(sim.energies()), []
    for _ in range(samples):
        sim.step(round(duration / samples / sim.dt))
        changes.append(sum(sim.energies()) - before)
    return min(0.0, *changes), max(0.0, *changes)


def axis(sim):
    return sim.point("top", (0.0, 0.0, 1.0))[0] - sim.point("top")[0]


@every(RELATIVE)
@pytest.mark.parametrize("spin", [120.0, 1200.0])
@pytest.mark.parametrize("dt", [4e-3, 2.5e-4])
def test_a_top_neither_gains_nor_loses_energy(way, spin, dt):
    low, high = drift(Simulation(top(spin), dt=dt, **way), 4.0)
    # Forces and motion take turns: the energy that is conserved differs by half a step of the power of gravity.
    bound = 0.5 * dt * WEIGHT * FASTEST
    assert -bound < low
    assert high < bound


@every(MAXIMAL)
@pytest.mark.parametrize("spin", [120.0, 1200.0])
def test_a_top_in_maximal_coordinates_gains_no_energy(way, spin):
    lost = []
    for dt in (2.5e-4, 1.25e-4):
        low, high = drift(Simulation(top(spin), dt=dt, **way), 2.0)
        assert high < 0.5 * dt * WEIGHT * FASTEST
        lost.append(-low)
    # Impulses at the tip take away what its velocity has come to in a step: a loss of first order.
    assert lost[1] < 0.6 * lost[0]


@pytest.mark.parametrize("solver", ["direct", "impulses"])
def test_a_top_keeps_its_energy_while_other_bodies_touch(solver):
    model = top(1200.0, elsewhere=True)
    low, high = drift(Simulation(model, method="simgc", solver=solver, dt=2.5e-4), 2.0)
    bound = 0.5 * 2.5e-4 * WEIGHT * FASTEST + 1e-9  # the ball rests to rounding
    assert -bound < low
    assert high < bound


@every(RELATIVE)
def test_the_motion_of_a_top_is_of_first_order(way):
    exact = Simulation(top(300.0), method="tree", dt=1e-4)
    exact.step(2000)
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        sim = Simulation(top(300.0), dt=dt, **way)
        sim.step(round(0.2 / dt))
        errors.append(float(np.linalg.norm(axis(sim) - axis(exact))))
    # It nods at C/A of its spin: half a step of that is how far its axis may be off along its way of 0.2 s.
    assert errors[0] < 0.5 * 1e-3 * FASTEST
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]


def moment(sim):
    """Angular momentum of the body about its centre of mass, in the world."""
    origin, speed = sim.point("body")
    ends = [sim.point("body", tuple(row)) for row in np.eye(3)]
    R = np.column_stack([end[0] - origin for end in ends])
    w = 0.5 * sum(np.cross(end[0] - origin, end[1] - speed) for end in ends)
    return R @ np.diag(MIDDLE) @ R.T @ w


@every({**RELATIVE, **MAXIMAL})
@pytest.mark.parametrize("dt", [4e-3, 1e-3, 1e-4])
def test_a_tumbling_body_keeps_energy_and_angular_momentum(way, dt):
    sim = Simulation(tumbling(100.0), dt=dt, **way)
    energy, before = sum(sim.energies()), moment(sim)
    for _ in range(20):
        sim.step(round(0.1 / dt))
        assert sum(sim.energies()) == pytest.approx(energy, rel=1e-9)
        assert np.allclose(moment(sim), before, rtol=0.0, atol=1e-9 * np.linalg.norm(before))


@every({**RELATIVE, **MAXIMAL})
@pytest.mark.parametrize("dt", [4e-3, 1e-3, 1e-4])
def test_a_body_that_tumbles_about_no_joint_keeps_its_energy(way, dt):
    spin, off = 100.0, 0.1
    low, high = drift(Simulation(tumbling(spin, off), dt=dt, **way), 2.0)
    # The acceleration of the joint's centre, ω² off, is summed over steps: the speed of the centre of mass is wrong by
    # h/2 of what it changes by. Half way through a flip, ω² of the motion that begins about the middle axis is
    a, b, c = MIDDLE
    fastest = spin**2 * (b * (c - b) / (a * (c - a)) + b * (b - a) / (c * (c - a)))
    bound = 0.5 * (dt * fastest * off) ** 2
    assert -bound < low
    assert high < bound
