"""Wheels on smooth roads: their centres follow the curve at a wheel's radius from the road, accelerations included; on
even ones of any make nothing happens."""

from math import pi

import numpy as np
import pytest

from linkwork import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Free,
    HeightField,
    Material,
    Model,
    Plane,
    Scenery,
    Simulation,
    Sphere,
    Torus,
)
from linkwork.model.rotation import about

ACROSS = about((1.0, 0.0, 0.0), pi / 2)
RADIUS, PACE = 0.3, 20.0
WHEELS = {
    "sphere": Sphere(RADIUS),
    "cylinder": Cylinder(RADIUS, 0.2, rotation=ACROSS),
    "torus": Torus(RADIUS - 0.05, 0.05, rotation=ACROSS),
    "capsule": Capsule(RADIUS, 0.2, rotation=ACROSS),
    "ellipsoid": Ellipsoid((RADIUS, 0.1, RADIUS)),
}
HEIGHT, LENGTH = 2e-3, 4.0
"""Of the waves [m]: at 20 m/s they take 2 m/s², so that wheels stay on the ground."""


def curve():
    """Places, heights and second derivatives of the curve of the centres."""
    k = 2 * pi / LENGTH
    x = np.linspace(-12.0, 12.0, 400_001)
    slope = HEIGHT * k * np.cos(k * x)
    s = np.sqrt(1.0 + slope**2)
    across, up = x - RADIUS * slope / s, HEIGHT * np.sin(k * x) + RADIUS / s
    first = np.gradient(up, across)
    return across, up, first, np.gradient(first, across)


def ride(shape, cell, dt, smooth=True):
    """Accelerations of the centre over 12 m, and how far they are off [m/s²]; the first 4 m, where it comes down on a
    spline that is not quite the wave, are left out."""
    across, up, first, second = curve()
    x = np.linspace(-12.0, 12.0, round(24.0 / cell) + 1)
    row = tuple(HEIGHT * np.sin(2 * pi / LENGTH * x))
    start = -10.0
    at = (start, 0.0, float(np.interp(start, across, up)))
    model = Model("ride")
    model.add(Material("road", friction=0.0))
    field = HeightField((24.0, 3.0), heights=(row,) * 4, smooth=smooth)
    model.add(Scenery("road", shapes=(field,), material="road"))
    model.add(Body("wheel", at=at, mass=1.0, inertia=(0.01,) * 3, shapes=(shape,), material="road"))
    climb = PACE * float(np.interp(start, across, first))
    model.add(Free("way", "ground", "wheel", at=at, velocity=(PACE, 0, climb, 0, 0, 0)))
    # Nearer than the slop is touching, free beyond it: where the road falls off, gravity acts by starts of its height.
    sim = Simulation(model, dt=dt, slop=1e-12)
    record = sim.run(0.8, every=dt, reactions=False)
    taken = np.diff(record["way.z_rate"]) / dt
    places = start + 0.5 * (record["way.x"][1:] + record["way.x"][:-1])
    off = taken - PACE**2 * np.interp(places, across, second)
    return taken[len(taken) // 4 :], off[len(off) // 4 :]


@pytest.mark.parametrize("name", WHEELS)
def test_a_wheel_follows_the_road(name):
    # First order in the step: a second derivative of a wave of frequency w is taken w h/2 early or late, and as much
    # again by forces that are means over a step.
    frequency = 2 * pi * PACE / LENGTH
    for dt in (1e-3, 2.5e-4):
        taken, off = ride(WHEELS[name], 0.1, dt)
        assert np.abs(off).max() < 2.0 * frequency * dt * 2.0
        assert np.abs(taken).max() < 2.1


def test_accelerations_converge_with_the_grid():
    # The second derivative of a cubic spline is of second order. Of the step, 2.5e-5 s leaves 1.6e-3 m/s².
    off = [np.abs(ride(WHEELS["sphere"], cell, 2.5e-5)[1]).max() for cell in (0.8, 0.4, 0.2)]
    assert off[1] < off[0] / 3
    assert off[2] < off[1] / 2


def test_facets_shake_it():
    taken, _ = ride(WHEELS["sphere"], 0.4, 1e-3, smooth=False)
    assert np.abs(taken).max() > 10.0


EVEN = {
    "plane": (Plane(),),
    "triangles": (HeightField((24.0, 3.0), heights=((0.0,) * 241,) * 31),),
    "spline": (HeightField((24.0, 3.0), heights=((0.0,) * 241,) * 31, smooth=True),),
    "boxes": tuple(Box((0.37, 3.0, 0.2), at=(-12.0 + 0.37 * k, 0.0, -0.1)) for k in range(65)),
}
"""Roads: cells of 0.1 m, boxes side by side."""


@pytest.mark.parametrize("road", EVEN)
@pytest.mark.parametrize("name", WHEELS)
def test_rolling_is_smooth_on_even_roads(name, road):
    model = Model("roll")
    model.add(Material("rubber", friction=0.8))
    model.add(Scenery("road", shapes=EVEN[road], material="rubber"))
    at = (-10.0, 0.0, RADIUS)
    model.add(
        Body("wheel", at=at, mass=10.0, inertia=(0.3, 0.5, 0.3), shapes=(WHEELS[name],), material="rubber")
    )
    model.add(Free("way", "ground", "wheel", at=at, velocity=(PACE, 0, 0, 0, PACE / RADIUS, 0)))
    sim, dt = Simulation(model), 1e-3
    record = sim.run(0.9, every=dt)
    # Normal and tangential velocities are zero to the residual of a step, h * 1e-6 m/s²: accelerations to twice that
    # over h, whatever they are made of; places and turns to as much as that adds up to, were it always to one side.
    left = 1e-6 * dt
    assert np.abs(np.diff(record["way.z_rate"])).max() / dt <= 2.0 * left / dt
    assert np.abs(np.diff(record["way.x_rate"])).max() / dt <= 2.0 * left / dt
    assert np.abs(record["way.y"]).max() <= 0.9 * left
    axis = sim.point("wheel", (0.0, 1.0, 0.0))[0] - sim.point("wheel")[0]
    assert (
        np.abs(axis[[0, 2]]).max() <= 0.9 * left / 0.05
    )  # a face that is 0.2 m wide, or the bend of a torus
    # Each step may do the work of what it leaves, at the pace of the wheel.
    assert np.abs(record["energy.balance"]).max() <= len(record["time"]) * 10.0 * PACE * left
