"""Arm on a torsion bar under gravity: soft, or as stiff as you like."""

from ..model import GROUND, Body, Box, Hinge, Model

DURATION = 3.0
ENDLESS = True
METHOD = "simgc"  # stable at any stiffness
PLOT = ("bar.angle", "energy.strain", "energy.balance")
LENGTH, MASS = 0.5, 2.0


def build(stiffness: float = 200.0, damping: float = 0.0) -> Model:
    """`stiffness` [N m/rad] and `damping` [N m s/rad] of the bar."""
    model = Model("torsion_bar")
    side, rod = MASS * LENGTH**2 / 12, Box((LENGTH, 0.05, 0.05), at=(LENGTH / 2, 0.0, 0.0))
    model.add(Body("arm", mass=MASS, com=rod.at, inertia=(1e-3, side, side), shapes=(rod,)))
    model.add(Hinge("bar", GROUND, "arm", axis=(0.0, -1.0, 0.0), spring=stiffness, damping=damping))
    return model
