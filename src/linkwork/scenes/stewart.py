"""Stewart-Gough platform: a cabin on six legs, whose servos make it heave and tilt."""

from math import cos, pi, radians, sin

import numpy as np

from ..engine.elements import PositionServo
from ..model import GROUND, Body, Box, Cylinder, Model, Slider, Spherical, Table, Universal
from ..model.rotation import Array, about, frame_from_axis, matrix, quaternion, vector

SOURCE = "made for Linkwork: a motion base for a cabin of one tonne"
DURATION = 10.0
ENDLESS = True
PLOT = ("leg?.travel", "platform.position.z", "platform.rotation.x", "platform.rotation.y")
BUTTONS = {"Knock at the platform": lambda session: session.push("platform", (1.0, 0.0, 0.0))}
BASE, TOP, SPREAD = 1.5, 1.1, radians(10.0)
"""Radii of the circles of joints on ground and platform [m]; half the angle between neighbours of a pair [rad]."""
HEIGHT = 1.4
"""Of the platform's circle of joints above that of the ground, at rest [m]."""
STROKE = 0.35
"""A leg can lengthen and shorten by this much [m]."""
STIFFNESS, DAMPING, STRENGTH = 2e6, 2.4e4, 12e3
"""Of each servo [N/m, N s/m, N]."""
SAMPLE = 0.05
"""Time between points of the commands [s]."""


def anchors() -> tuple[Array, Array]:
    """Joints of the legs on the ground and, in its own frame, on the platform [m]: two arrays of 6x3."""
    ground, top = [], []
    for k in range(3):
        for side in (-1.0, 1.0):
            low, high = 2 * pi * k / 3 + side * SPREAD, 2 * pi * k / 3 + side * (pi / 3 - SPREAD)
            ground.append((BASE * cos(low), BASE * sin(low), 0.0))
            top.append((TOP * cos(high), TOP * sin(high), 0.0))
    return np.array(ground), np.array(top)


def lengths(at: Array, R: Array) -> Array:
    """Lengths of the legs for a pose of the platform [m]: the inverse kinematics."""
    ground, top = anchors()
    return np.asarray(np.linalg.norm(at + top @ R.T - ground, axis=1))


def dance(t: float, heave: float, tilt: float) -> tuple[Array, Array]:
    """Position and rotation matrix of the platform that the servos are told at a time [s]."""
    ease = min(1.0, max(0.0, min(t, DURATION - t) / 2.0))
    swell = ease * ease * (3.0 - 2.0 * ease)  # it starts and ends at rest
    height = HEIGHT + swell * heave * sin(2 * pi * 0.4 * t)
    lean, bearing = swell * radians(tilt), 2 * pi * 0.3 * t
    return np.array([0.0, 0.0, height]), matrix(about((cos(bearing), sin(bearing), 0.0), lean))


def build(heave: float = 0.12, tilt: float = 7.0) -> Model:
    """The platform rises and falls by `heave` [m] and leans by `tilt` [°] in a direction that goes round."""
    model = Model("stewart")
    cabin = (Cylinder(1.15, 0.1, at=(0.0, 0.0, 0.08)), Box((1.6, 1.2, 1.3), at=(0.0, 0.0, 0.78)))
    model.add(Body("platform", at=(0.0, 0.0, HEIGHT), mass=1000.0, shapes=cabin, color="#d0d4d8"))
    ground, top = anchors()
    tips = top + np.array([0.0, 0.0, HEIGHT])
    times = np.linspace(0.0, DURATION, round(DURATION / SAMPLE) + 1)
    rest = lengths(np.array([0.0, 0.0, HEIGHT]), np.eye(3))
    travels = np.array([lengths(*dance(float(t), heave, tilt)) - rest for t in times])
    for k in range(6):
        foot, tip = vector(ground[k]), vector(tips[k])
        along = vector(tips[k] - ground[k])
        rotation = quaternion(frame_from_axis(along))
        barrel, rod = f"barrel{k + 1}", f"rod{k + 1}"
        for name, at, mass, tube, color in (
            (barrel, foot, 40.0, Cylinder(0.06, 1.0, at=(0.0, 0.0, 0.55)), "#3060a0"),
            (rod, tip, 15.0, Cylinder(0.03, 0.95, at=(0.0, 0.0, -0.475)), "#a0a8b0"),
        ):
            model.add(Body(name, at=at, rotation=rotation, mass=mass, shapes=(tube,), color=color))
        # Both axes of the cross are square to the leg at rest; the first lies level and stays in the ground.
        level = (-along[1], along[0], 0.0)
        model.add(Universal(f"foot{k + 1}", GROUND, barrel, at=foot, axis=along, reference=level))
        model.add(Slider(f"leg{k + 1}", barrel, rod, at=foot, axis=along, limits=(-STROKE, STROKE)))
        model.add(Spherical(f"ball{k + 1}", rod, "platform", at=tip))
        signal, names = (
            Table(tuple(times), tuple(travels[:, k]), repeats=True),
            (f"servo{k + 1}", f"leg{k + 1}"),
        )
        servo = PositionServo(
            *names, stiffness=STIFFNESS, damping=DAMPING, strength=STRENGTH, command=1.0, signal=signal
        )
        model.add(servo)
    return model
