"""The robot with its right wheels on an obstacle, at rest: by simulation, and by hand in the transverse plane.

Figure 6 of Strashnov and Torgashev shows that the right wheels rise, the left ones drop and the chassis tilts. Here the
robot stands alone and without friction, so that statics has one answer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..model import Body, Box, Free, Material, Model, Plane, Scenery
from ..model.rotation import Array
from ..run.simulate import Simulation
from ..scenes import krt100
from ..vehicle import fit

GRAVITY, MASS = krt100.GRAVITY, krt100.ROBOT_MASS
ARM, STIFFNESS = 0.16, 160.0
"""Length of the arms [m]; of the torsion springs [N m/rad]."""
WHEEL, UPRIGHT, LOWER, UPPER = 4.0, 1.5, 1.0, 0.8
"""Masses [kg]."""
PIVOTS = ((0.22, -0.22), (0.22, -0.1))
"""Of the lower and the upper arm on the left, from the chassis [m]."""
LEFT = tuple(name for name in krt100.WHEELS if name.endswith("left") and not name.startswith("cart"))
RIGHT = tuple(name.replace("left", "right") for name in LEFT)
_SETTLED = 4.0  # [s]


class Tilt(NamedTuple):
    """How the robot stands."""

    roll: float
    """Turn of the chassis about x: positive if the left side is up [rad]."""
    left: float
    """Height of the left wheels above their neutral place on the chassis [m]."""
    right: float
    """Height of the right wheels above their neutral place on the chassis [m]."""
    load_left: float
    """That the road carries below a left wheel [N]."""
    load_right: float
    """That the road carries below a right wheel [N]."""


def on_box(height: float = krt100.HEIGHT, under: tuple[str, ...] = RIGHT) -> Model:
    """The robot without its cart, just above a road without friction and boxes under some of its wheels."""
    model = Model("tilted")
    model.add(Material("ice", friction=0.0))
    model.add(Scenery("floor", shapes=(Plane(),), material="ice"))
    for name in under:
        x, y, _ = krt100.WHEELS[name]
        box = Box((0.34, 0.6, height))
        model.add(
            Scenery(f"under_{name}", at=(x, y, 0.5 * height), shapes=(box,), material="ice", color="#b08d57")
        )
    at = krt100.ROBOT_AT
    model.add(Body("robot", at=at, mass=MASS, inertia=(5.0, 11.3, 13.6), shapes=(Box((1.0, 0.38, 0.3)),)))
    model.add(Free("way", "ground", "robot", at=at, position=(0.0, 0.0, height + 1e-3, 1.0, 0.0, 0.0, 0.0)))
    for name in (*LEFT, *RIGHT):
        part = krt100.corner(name, cart=False, friction=0.0).component()
        fit(model, name, part, chassis="robot", at=krt100.WHEELS[name])
    return model


def settled(model: Model, dt: float = 1e-3) -> Simulation:
    """The model at rest."""
    simulation = Simulation(model, method="simgc", dt=dt, slop=1e-9)
    simulation.step(round(_SETTLED / dt))
    return simulation


def simulated(height: float = krt100.HEIGHT) -> Tilt:
    """By simulation until it rests, with both right wheels on a box."""
    simulation = settled(on_box(height))
    w, x = (float(simulation[f"robot.rotation.{c}"]) for c in "wx")
    heights = [ARM * math.sin(float(simulation[f"{side}.lower_pivot.angle"])) for side in (LEFT[0], RIGHT[0])]
    loads = {touch.a.partition(".")[0]: touch.force for touch in simulation.touches()}
    return Tilt(2.0 * math.atan2(x, w), heights[0], heights[1], loads[LEFT[0]], loads[RIGHT[0]])


def by_hand(height: float = krt100.HEIGHT) -> Tilt:
    """By the balance of every corner along its arm, of all vertical forces, and of moments about the forward axis.

    Unknown: the roll and the angles of the left and right arms. In the axes of the chassis the vertical is
    n = (sin roll, cos roll), and the wheel on the left moves along ARM (-sin φ, cos φ); the right one is its image.
    """
    x = np.zeros(3)
    for _ in range(50):
        f = _balance(x, height)
        J = np.column_stack(
            [(_balance(x + e, height) - _balance(x - e, height)) / 2e-6 for e in 1e-6 * np.eye(3)]
        )
        step = np.linalg.solve(J, f)
        x = x - step
        if np.abs(step).max() < 1e-14:
            break
    loads = _loads(x)
    roll, left, right = map(float, x)
    return Tilt(roll, ARM * math.sin(left), ARM * math.sin(right), loads[0], loads[1])


def _loads(x: Array) -> tuple[float, float]:
    """Of a left and of a right wheel [N]: what balances spring and weights along the arm."""
    roll, left, right = map(float, x)
    made = krt100.corner("front_left", cart=False)
    rest = made.rated().rest  # type: ignore[union-attr]
    assert rest is not None
    carried = GRAVITY * (WHEEL + UPRIGHT + 0.5 * (LOWER + UPPER))
    return (
        carried + STIFFNESS * (left - rest) / (ARM * math.cos(left + roll)),
        carried + STIFFNESS * (right - rest) / (ARM * math.cos(right - roll)),
    )


def _balance(x: Array, height: float) -> Array:
    """Vertical forces [N], moments [N m], and how the heights of the wheels differ from the box's [m]."""
    roll = float(x[0])
    loads = _loads(x)
    up, aside = np.array([math.sin(roll), math.cos(roll)]), np.array([math.cos(roll), -math.sin(roll)])
    made = krt100.corner("front_left", cart=False)
    middle = made.radius - 0.5 * made.breadth  # of the round tread
    weight, moment, bottoms = MASS * GRAVITY, 0.0, []
    for load, phi, mirror in zip(loads, x[1:], (1.0, -1.0), strict=True):
        arm = ARM * np.array([math.cos(phi), math.sin(phi)])
        sides = np.array([mirror, 1.0])
        lower, upper = (np.array(pivot) + 0.5 * arm for pivot in PIVOTS)
        end = np.array(PIVOTS[0]) + arm
        wheel, upright = end + np.array([0.04, 0.02]), end + np.array([0.0, 0.06])
        for mass, place in ((WHEEL, wheel), (UPRIGHT, upright), (LOWER, lower), (UPPER, upper)):
            weight += 2.0 * mass * GRAVITY
            moment -= 2.0 * mass * GRAVITY * float(aside @ (sides * place))
        moment += 2.0 * load * (float(aside @ (sides * wheel)) + middle * math.sin(roll))
        bottoms.append(float(up @ (sides * wheel)))
    return np.array([2.0 * sum(loads) - weight, moment, bottoms[1] - bottoms[0] - height])
