"""Block sliding down a frictionless incline, held back by a damper if you like."""

from math import cos, radians, sin

from ..model import Body, Box, Model, Slider, about

DURATION = 3.0
PLOT = ("rail.travel", "rail.travel_rate", "energy.balance")


def build(angle: float = 30.0, mass: float = 2.0, damping: float = 0.0) -> Model:
    """`angle` of the incline [°]; viscous `damping` along the rail [N s/m]."""
    model = Model("incline_slider")
    a = radians(angle)
    model.add(Body("block", rotation=about((0.0, 1.0, 0.0), a), mass=mass, shapes=(Box((0.3, 0.2, 0.1)),)))
    model.add(Slider("rail", "ground", "block", axis=(cos(a), 0.0, -sin(a)), damping=damping))
    return model
