"""Tippe top: a ball with its weight below its middle turns upside down while it spins."""

from math import cos, radians, sin

from ..model import GROUND, Body, Capsule, Free, Marker, Material, Model, Plane, Scenery, Sphere, about

SOURCE = (
    "mass, radius, offset and inertia usual in the literature (Rauch-Wojciechowski and Rutstam 2013); "
    "stem and friction made for Linkwork"
)
DURATION = 8.0
DT = 2e-4  # first order at 100 rad/s
PLOT = ("crown.position.z", "top_way.wz", "energy.balance")
LIVE_OPTIONS = {"integrator": "rk4"}
RADIUS, MASS, OFFSET = 0.02, 0.02, 0.3
"""Of the ball [m, kg]; by what share of its radius the centre of mass is below its middle."""
INERTIA = (131.0 / 350.0, 131.0 / 350.0, 2.0 / 5.0)
"""About the centre of mass, in masses times radii squared."""
STEM, TIP = 0.0015, 0.022
"""Radius of the stem; its tip from the middle of the ball [m]."""


def build(spin: float = 100.0, lean: float = 15.0, friction: float = 0.04) -> Model:
    """`spin` about its own axis [rad/s], `lean` of it at the start [°]."""
    model = Model("tippe_top")
    a = radians(lean)
    axis = (sin(a), 0.0, cos(a))
    model.add(Material("wood", friction=friction))
    model.add(Scenery("floor", shapes=(Plane(),), material="wood"))
    below = OFFSET * RADIUS
    inertia = tuple(share * MASS * RADIUS**2 for share in INERTIA)
    middle = (0.0, 0.0, RADIUS)
    # The stem begins inside of the ball, where it cannot touch.
    inner = 0.5 * RADIUS
    stem = Capsule(STEM, TIP - STEM - inner, at=(0.0, 0.0, 0.5 * (inner + TIP - STEM)))
    model.add(
        Body(
            "top", at=middle, rotation=about((0.0, 1.0, 0.0), a), mass=MASS, com=(0.0, 0.0, -below),
            inertia=inertia, shapes=(Sphere(RADIUS), stem), material="wood",
        )
    )  # fmt: skip
    centre = (-below * axis[0], 0.0, RADIUS - below * axis[2])
    model.add(Free("top_way", GROUND, "top", at=centre, axis=axis, velocity=(0.0, 0.0, 0.0, 0.0, 0.0, spin)))
    model.add(Marker("crown", "top", at=(TIP * axis[0], 0.0, RADIUS + TIP * axis[2])))
    return model
