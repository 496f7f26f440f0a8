"""Simple pendulum of one point mass, released horizontally (benchmark A01)."""

from math import pi

from ..model import Body, Cylinder, Hinge, Model, Sphere

SOURCE = "IFToMM benchmark library, problem A01"
DURATION = 10.0
ENDLESS = True
PLOT = ("pivot.angle", "pivot.angle_rate", "energy.balance")


def build(mass: float = 1.0, length: float = 1.0, start: float = -pi / 2) -> Model:
    """`start` is the angle from the downward vertical [rad]."""
    model = Model("a01_pendulum", gravity=(0.0, -9.81, 0.0))
    rod = Cylinder(0.01, length, at=(0.0, -length / 2, 0.0), rotation=(0.5**0.5, 0.5**0.5, 0.0, 0.0))
    bob = Sphere(0.05, at=(0.0, -length, 0.0))
    model.add(Body("bob", mass=mass, com=(0.0, -length, 0.0), inertia=(0.0, 0.0, 0.0), shapes=(rod, bob)))
    model.add(Hinge("pivot", "ground", "bob", axis=(0.0, 0.0, 1.0), position=start))
    return model
