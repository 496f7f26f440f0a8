"""A ball and a cylinder roll down a slope without slipping: the ball wins."""

from math import cos, radians, sin

from ..model import GROUND, Body, Box, Cylinder, Free, Material, Model, Scenery, Sphere, about

DURATION = 2.5
PLOT = ("ball_way.x_rate", "drum_way.x_rate", "energy.balance")
BUTTONS = {"Push the ball uphill": lambda session: session.push("ball", (-1.0, 0.0, 0.0))}
LENGTH = 8.0


def build(angle: float = 15.0, friction: float = 0.5, rolling: float = 0.0, radius: float = 0.15) -> Model:
    """`angle` of the slope [°]; `rolling` is the arm of rolling friction [m]."""
    model = Model("rolling")
    a = radians(angle)
    down, up = (cos(a), 0.0, -sin(a)), (sin(a), 0.0, cos(a))
    model.add(Material("wood", friction=friction, rolling=rolling))
    slab = Box((LENGTH, 1.4, 0.1), at=(0.0, 0.0, -0.05))
    model.add(Scenery("slope", rotation=about((0.0, 1.0, 0.0), a), shapes=(slab,), material="wood"))
    upright = about((1.0, 0.0, 0.0), radians(90.0))  # the drum lies across the slope
    for name, shape, y in (
        ("ball", Sphere(radius), -0.35),
        ("drum", Cylinder(radius, 2.0 * radius, rotation=upright), 0.35),
    ):
        start = 2.0 * radius - LENGTH / 2
        x, z = (start * down[i] + radius * up[i] for i in (0, 2))
        at = (x, y, z)
        model.add(Body(name, at=at, density=700.0, shapes=(shape,), material="wood"))
        model.add(Free(f"{name}_way", GROUND, name, at=at, axis=up, reference=down))
    return model
