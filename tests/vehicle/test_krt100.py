"""The robot with its cart: loads by hand, hitch within its limits, stops that give no energy, tilt on an obstacle."""

import dataclasses
import math

import numpy as np
import pytest

from linkwork import Free, LinkworkError, Simulation, Spherical, scene
from linkwork.reproduce import limits, tilt
from linkwork.scenes import krt100

G = 9.81
every = pytest.mark.parametrize(
    ("method", "solver"), [(m, s) for m in ("simgc", "simmc") for s in ("direct", "impulses")]
)


@every
def test_wheel_loads_at_rest_are_hand_sums(method, solver):
    """Moments about the hitch give the cart's, moments about the rear axle those of the robot with the hitch's load."""
    simulation = Simulation(scene("krt100", course="flat"), method=method, solver=solver)
    simulation.step(600)
    cart = 60.0 * G * (1.25 - 0.65) / (1.3 - 0.65)
    hitch = 60.0 * G - cart
    rear = (120.0 * G * 0.35 + hitch * (0.35 + 0.65)) / 0.7
    front = 120.0 * G + hitch - rear
    corner = (4.0 + 1.5 + 1.0 + 0.8) * G
    known = {"front": front / 2 + corner, "rear": rear / 2 + corner, "cart": cart / 2 + (3.0 + 1.2) * G}
    assert (front / 2, rear / 2) == pytest.approx((285.0, 327.0), abs=0.5)
    found = {touch.a.partition(".")[0]: touch.force for touch in simulation.touches()}
    assert sorted(found) == sorted(krt100.WHEELS)
    # Impulses end when none changes by 1e-6 N s, in a step of 1 ms: that is 1e-3 N, a few of them add up.
    bound = 1e-6 if solver == "direct" else 3e-5
    for name, force in found.items():
        assert force == pytest.approx(known[name.partition("_")[0]], rel=bound)


@pytest.mark.slow
@every
@pytest.mark.parametrize("course", limits.COURSES)
def test_the_hitch_stays_within_its_limits(method, solver, course):
    """Over the hill about y, in turns about z, on the bank about x and y: reached, and not exceeded by 1e-6 rad.

    On the bank sequential impulses leave a little more, at any step and epsilon."""
    _, record, _ = limits.drive(course, method=method, solver=solver)
    excess = np.abs(limits.rotation_vectors(record)) - krt100.LIMITS
    assert excess.max() < (1e-5 if solver == "impulses" and course == "bank" else 1e-6)
    for axis in {"hill": "y", "turns": "z", "bank": "xy"}[course]:
        assert excess[:, "xyz".index(axis)].max() > -1e-6


@pytest.mark.slow
def test_the_hitch_gives_no_energy_at_its_stop():
    """Nobody drives, on ice: a cart that swings to the stop has there no more energy than before."""
    model = krt100.build("flat")
    for name, placed in list(model.instances.items()):
        slippery = krt100.corner(name, friction=0.0).component()
        model.instances[name] = dataclasses.replace(placed, component=slippery)
    hitch = model.joints["hitch"]
    assert isinstance(hitch, Spherical)
    model.joints["hitch"] = dataclasses.replace(hitch, velocity=(0.0, 0.0, 1.5))
    model.add(Free("way", "ground", "robot", at=krt100.ROBOT_AT))
    record = Simulation(model, method="simgc").run(1.5, every=1e-3)
    swung = np.abs(limits.rotation_vectors(record))[:, 2]
    assert swung.max() > krt100.LIMITS[2] - 1e-6  # it has been there
    energy = record["energy.kinetic"] + record["energy.gravity"] + record["energy.strain"]
    swing = float(record["energy.kinetic"][0])
    assert np.diff(energy).max() < 1e-4 * swing  # in no step, the one of the stop included
    assert energy[-1] - energy[0] < -0.1 * swing


def test_it_tilts_on_an_obstacle_as_statics_has_it():
    """Both right wheels on 60 mm, no friction: roll, places of the wheels and loads against the balance by hand."""
    found, known = tilt.simulated(), tilt.by_hand()
    # A rigid body on wheels that stay would tilt by 0.06 over its track of 0.84.
    assert found.roll == pytest.approx(-math.asin(0.06 / 0.84), rel=0.15)
    assert found.roll == pytest.approx(known.roll, abs=1e-8)
    assert (found.left, found.right) == pytest.approx((known.left, known.right), abs=1e-8)
    assert found.left > 0.0 > found.right  # what is low carries more
    assert (found.load_left, found.load_right) == pytest.approx((known.load_left, known.load_right), rel=1e-7)
    whole = (120.0 + 4 * (4.0 + 1.5 + 1.0 + 0.8)) * G
    assert 2 * (found.load_left + found.load_right) == pytest.approx(whole, rel=1e-7)


def test_one_wheel_on_an_obstacle_warps_it():
    """Springs at four corners share the warp, h/4 each, two down and two up: what diagonals carry more than each other.
    That the centre of mass moves aside and back is the same for both. A second order is left."""
    height = 0.01
    simulation = tilt.settled(tilt.on_box(height, ("front_right",)))
    rate = 160.0 / 0.16**2
    loads = {touch.a.partition(".")[0]: touch.force for touch in simulation.touches()}
    more = loads["front_right"] + loads["rear_left"] - loads["front_left"] - loads["rear_right"]
    assert more / 4 == pytest.approx(rate * height / 4, rel=0.02)


def test_it_tows_its_cart_by_the_hub_motors():
    """Straight on at a quarter of the voltage: the speed of a motor under the little that rolling takes."""
    simulation = Simulation(scene("krt100", course="hill"))
    simulation.step(1500)
    idle = krt100.UPHILL * krt100.MOTOR["idle_speed"] / krt100.MOTOR["gear"]
    assert simulation["front_left.axle.angle_rate"] < idle
    simulation.step(500)
    assert simulation["front_left.axle.angle_rate"] == pytest.approx(idle, rel=0.05)
    assert simulation["robot.position.x"] - simulation["cart.position.x"] == pytest.approx(1.25, abs=0.01)


def test_unknown_courses_are_named():
    with pytest.raises(LinkworkError, match=r"no course 'hil'.*hill"):
        scene("krt100", course="hil")
