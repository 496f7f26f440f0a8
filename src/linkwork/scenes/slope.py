"""Three boxes on one slope: below, exactly at and above their angles of friction."""

from math import atan, cos, sin

from ..model import GROUND, Body, Box, Free, Material, MaterialPair, Model, Scenery, about

DURATION = 3.0
PLOT = ("*_way.x_rate", "contact.depth", "energy.balance")
BUTTONS = {"Push the box that rests": lambda session: session.push("holds", (0.5, 0.0, 0.0))}
FRICTION = {"holds": 0.5, "verges": 0.4, "slides": 0.3}
"""Of each box against the slope."""
SIDE = 0.2
LENGTH = 6.0


def build(incline: float = 0.4, mass: float = 1.0) -> Model:
    """`incline` is the tangent of the slope's angle: as much as the friction that just holds. `mass` of a box [kg]."""
    model = Model("slope")
    angle = atan(incline)
    turn = about((0.0, 1.0, 0.0), angle)
    down, up = (cos(angle), 0.0, -sin(angle)), (sin(angle), 0.0, cos(angle))
    model.add(Material("asphalt"))
    slab, box = Box((LENGTH, 1.2, 0.1), at=(0.0, 0.0, -0.05)), Box((SIDE, SIDE, SIDE))
    model.add(Scenery("slope", rotation=turn, shapes=(slab,), material="asphalt"))
    for k, (name, friction) in enumerate(FRICTION.items()):
        start = -LENGTH / 2 + 2 * SIDE
        x, z = (start * down[i] + SIDE / 2 * up[i] for i in (0, 2))
        at = (x, 0.4 * (k - 1), z)
        model.add(Material(f"{name}_sole"))
        model.add(MaterialPair(f"{name}_pair", "asphalt", f"{name}_sole", friction=friction))
        model.add(Body(name, at=at, rotation=turn, mass=mass, shapes=(box,), material=f"{name}_sole"))
        model.add(Free(f"{name}_way", GROUND, name, at=at, axis=up, reference=down))
    return model
