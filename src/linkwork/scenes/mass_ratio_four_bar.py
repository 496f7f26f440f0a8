"""Four-bar of thin rods that swings a load ten thousand times as heavy as each of them."""

from math import acos, atan2, cos, hypot, pi, sin

from ..model import GROUND, Body, Hinge, Marker, Model, Sphere, Weld
from .n_four_bar import rod

SOURCE = "made for Linkwork: light cranks and a heavy load strain solvers that iterate"
DURATION = 3.0
ENDLESS = True
PLOT = ("crank.angle", "rocker.angle", "energy.balance")
BASE, CRANK, COUPLER, ROCKER = 1.0, 0.6, 0.8, 0.7
"""Lengths [m]."""
ROD = 0.01
"""Mass of each rod [kg]."""
RELEASE = 0.3
"""Angle of the crank from its equilibrium at the start [rad]."""
GRAVITY = 9.81
STEEL = 7850.0

Point = tuple[float, float]


def points(angle: float) -> dict[str, Point]:
    """Pins for the angle of the crank from x [rad]; the linkage hangs below its pins A and D."""
    B = (CRANK * cos(angle), CRANK * sin(angle))
    far, bearing = hypot(BASE - B[0], B[1]), atan2(-B[1], BASE - B[0])
    down = bearing - acos((COUPLER**2 + far**2 - ROCKER**2) / (2 * COUPLER * far))
    C = (B[0] + COUPLER * cos(down), B[1] + COUPLER * sin(down))
    return {"A": (0.0, 0.0), "B": B, "C": C, "D": (BASE, 0.0)}


def velocities(angle: float) -> tuple[Point, Point]:
    """Of the pins B and C, per rate of the crank [m/rad]: the coupler keeps its length."""
    pin = points(angle)
    (bx, by), (cx, cy) = pin["B"], pin["C"]
    rocker = ((cx - bx) * -by + (cy - by) * bx) / ((cx - bx) * -cy + (cy - by) * (cx - BASE))
    return (-by, bx), (-rocker * cy, rocker * (cx - BASE))


def slope(angle: float, ratio: float) -> float:
    """Rise of the potential energy with the angle of the crank [J/rad]."""
    B, C = velocities(angle)
    return GRAVITY * ROD * (B[1] + (1.0 + ratio) * C[1])  # each rod: half of its mass at either pin


def equilibrium(ratio: float) -> float:
    """Angle of the crank at which the linkage hangs still [rad], by bisection."""
    low, high = -0.6 * pi, -0.2 * pi
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if slope(middle, ratio) < 0.0:
            low = middle
        else:
            high = middle


def build(ratio: float = 1e4) -> Model:
    """`ratio` of the load to a rod, 1e2 to 1e6; the load is a steel ball about the pin of coupler and rocker."""
    model = Model("mass_ratio_four_bar", gravity=(0.0, -GRAVITY, 0.0))
    pin = points(equilibrium(ratio) + RELEASE)
    for name, ends in (("arm", "AB"), ("coupler", "BC"), ("lever", "DC")):
        model.add(rod(name, pin[ends[0]], pin[ends[1]], ROD, 0.01))
    load = ratio * ROD
    radius = (3 * load / (4 * pi * STEEL)) ** (1 / 3)
    model.add(Body("load", at=(*pin["C"], 0.0), mass=load, shapes=(Sphere(radius),), color="#505860"))
    for name, a, b, at in (
        ("crank", GROUND, "arm", "A"), ("knee", "arm", "coupler", "B"),
        ("wrist", "coupler", "lever", "C"), ("rocker", GROUND, "lever", "D"),
    ):  # fmt: skip
        model.add(Hinge(name, a, b, at=(*pin[at], 0.0)))
    model.add(Weld("seat", "coupler", "load", at=(*pin["C"], 0.0)))
    model.add(Marker("hook", "coupler", at=(*pin["C"], 0.0)))
    return model
