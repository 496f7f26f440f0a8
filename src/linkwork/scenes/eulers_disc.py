"""Euler's disc: a heavy disc that rolls round on its rim, the faster the flatter it lies."""

from math import cos, pi, radians, sin, sqrt

from ..model import GROUND, Body, Cylinder, Free, Marker, Material, Model, Plane, Scenery, about

SOURCE = "size and mass of the toy (Moffatt, Euler's disk and its finite-time singularity, Nature 404, 2000)"
DURATION = 4.0
DT = 1e-4  # first order at 100 rad/s
PLOT = ("rim.position.z", "disc_way.w?", "energy.balance")
LIVE_OPTIONS = {"integrator": "rk4"}
RADIUS, THICK, MASS = 0.0375, 0.0127, 0.4
"""Of the disc [m, kg]."""


def build(tilt: float = 25.0, friction: float = 1.0, rolling: float = 0.0) -> Model:
    """`tilt` of the disc against the floor [°]; `rolling` is the arm of rolling friction [m], which only steps by
    impulses have (`integrator="euler"`)."""
    model = Model("eulers_disc")
    a = radians(tilt)
    turn = about((0.0, 1.0, 0.0), a)
    model.add(Material("steel", friction=friction, rolling=rolling))
    model.add(Scenery("floor", shapes=(Plane(),), material="steel"))
    down, axis = (cos(a), 0.0, -sin(a)), (sin(a), 0.0, cos(a))
    arm = tuple(RADIUS * d - 0.5 * THICK * n for d, n in zip(down, axis, strict=True))
    at = (0.0, 0.0, -arm[2])
    density = MASS / (pi * RADIUS**2 * THICK)
    model.add(
        Body(
            "disc", at=at, rotation=turn, density=density, shapes=(Cylinder(RADIUS, THICK),), material="steel"
        )
    )
    # A thin disc whose middle stays where it is goes round with sqrt(4 g / (r sin tilt)), turning about the radius that
    # ends on the floor; this one does so very nearly, and nods.
    rate = -sin(a) * sqrt(4.0 * 9.81 / (RADIUS * sin(a)))
    w = tuple(rate * d for d in down)
    way = (w[2] * arm[1] - w[1] * arm[2], w[0] * arm[2] - w[2] * arm[0], w[1] * arm[0] - w[0] * arm[1])
    model.add(Free("disc_way", GROUND, "disc", at=at, velocity=(*way, *w)))
    model.add(Marker("rim", "disc", at=(-RADIUS * down[0], 0.0, at[2] - RADIUS * down[2])))
    return model
