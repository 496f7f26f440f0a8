"""Spatial slider-crank: a crank about x, a rod on a ball and a universal joint, a slider along x."""

from math import sqrt

import numpy as np

from ..model import GROUND, Body, Box, Cylinder, Hinge, Model, Slider, Spherical, Universal
from ..model.rotation import frame_from_axis, quaternion

SOURCE = "IFToMM benchmark of the spatial slider-crank (Haug 1989, p. 396)"
DURATION = 5.0
ENDLESS = True
DT = 5e-4  # it runs fast through its dead points
PLOT = ("crank.angle", "guide.travel", "energy.balance")
A, B, C = (0.0, 0.1, 0.12), (0.0, 0.1, 0.2), (0.2, 0.0, 0.0)
RADIUS, ROD = 0.08, 0.3


def build(rate: float = 6.0) -> Model:
    """`rate` of the crank at the start [rad/s]."""
    model = Model("slidercrank3d")
    arm, rod = Box((0.01, 0.01, RADIUS), at=(0.0, 0.0, 0.04)), Cylinder(0.006, ROD)
    model.add(Body("arm", at=A, mass=0.12, inertia=(1e-4, 1e-5, 1e-4), shapes=(arm,)))
    x, y, z = np.subtract(C, B)
    middle, turned = tuple(np.add(B, C) / 2), quaternion(frame_from_axis((x, y, z)))
    model.add(
        Body("rod", at=middle, rotation=turned, mass=0.5, inertia=(0.004, 0.004, 0.0004), shapes=(rod,))
    )
    model.add(Body("block", at=C, mass=2.0, inertia=(1e-4, 1e-4, 1e-4), shapes=(Box((0.04, 0.03, 0.03)),)))

    # The slider follows from the length of the rod: d·(v_C - v_B) = 0 with v_B = (0, -rate RADIUS, 0).
    speed = -rate * RADIUS * y / x
    model.add(Hinge("crank", GROUND, "arm", at=A, axis=(1.0, 0.0, 0.0), velocity=rate))
    model.add(Spherical("ball", "arm", "rod", at=B))
    model.add(Slider("guide", GROUND, "block", at=C, axis=(1.0, 0.0, 0.0), velocity=speed))
    # The first axis of the universal joint is x, fixed in the slider; the second is square to x and to the
    # rod, fixed in the rod. Other arrangements spin the rod differently and change the motion.
    across = sqrt(y * y + z * z)
    spin = rate * RADIUS * -z / across**2
    tilt = -speed / across
    axis, first = (0.0, -y, -z), (1.0, 0.0, 0.0)
    model.add(Universal("cross", "block", "rod", at=C, axis=axis, reference=first, velocity=(spin, tilt)))
    return model
