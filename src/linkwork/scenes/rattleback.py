"""Rattleback: a stone that spins one way only; turned the other way it rattles, stops, and turns back."""

from math import cos, hypot, radians, sin

from ..model import GROUND, Body, Ellipsoid, Free, Marker, Material, Model, Plane, Scenery, about

SOURCE = (
    "size, mass and inertia of Kane and Levinson, Realistic mathematical modeling of the rattleback, "
    "Int. J. Non-Linear Mechanics 17 (1982)"
)
DURATION = 8.0
DT = 1e-4  # first order, and it rattles at 40 rad/s
PLOT = ("stone_way.wz", "tip.position.z", "energy.balance")
LIVE_OPTIONS = {"integrator": "rk4"}
SEMI_AXES, BELOW = (0.2, 0.03, 0.02), 0.01
"""Of the ellipsoid; how far the centre of mass is below its middle [m]."""
MASS, INERTIA = 1.0, (2e-4, 1.6e-3, 1.7e-3, -2e-5, 0.0, 0.0)
"""[kg]; about the centre of mass, along the axes of the ellipsoid, which are not its own: that makes it choose
[kg m²]."""


def build(spin: float = -5.0, pitch: float = 0.5, friction: float = 5.0) -> Model:
    """`spin` about the vertical [rad/s] and `pitch` about its short axis [°] at the start; the paper's never slips."""
    model = Model("rattleback")
    a, _, c = SEMI_AXES
    t = radians(pitch)
    axis, middle = (sin(t), 0.0, cos(t)), hypot(a * sin(t), c * cos(t))
    model.add(Material("stone", friction=friction))
    model.add(Scenery("table", shapes=(Plane(),), material="stone"))
    model.add(
        Body(
            "stone", at=(0.0, 0.0, middle), rotation=about((0.0, 1.0, 0.0), t), mass=MASS, com=(0.0, 0.0, -BELOW),
            inertia=INERTIA, shapes=(Ellipsoid(SEMI_AXES),), material="stone",
        )
    )  # fmt: skip
    centre = (-BELOW * axis[0], 0.0, middle - BELOW * axis[2])
    # It begins to roll about its lowest point.
    lowest = (a * a - c * c) * sin(t) * cos(t) / middle
    way = (0.0, -spin * (lowest - centre[0]), 0.0)
    model.add(Free("stone_way", GROUND, "stone", at=centre, velocity=(*way, 0.0, 0.0, spin)))
    model.add(Marker("tip", "stone", at=(a * cos(t), 0.0, middle - a * sin(t))))
    return model
