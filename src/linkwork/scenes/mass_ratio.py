"""A box of ten tonnes on a box of one kilogram."""

from ..model import GROUND, Body, Box, Free, Material, Model, Plane, Scenery

DURATION = 3.0
PLOT = ("heavy_way.z", "light_way.z", "contact.depth", "solver.iterations")
BUTTONS = {"Push the heavy box": lambda session: session.push("heavy", (1.0, 0.0, 0.0))}
PRESSES = ((1.0, "Push the heavy box"),)


def build(ratio: float = 1e4, light: float = 1.0, friction: float = 0.5) -> Model:
    """`ratio` of the mass of the upper box to that of the lower one, which is `light` [kg]."""
    model = Model("mass_ratio")
    model.add(Material("iron", friction=friction))
    model.add(Scenery("floor", shapes=(Plane(),), material="iron"))
    for name, mass, side, z in (("light", light, 0.2, 0.1), ("heavy", ratio * light, 0.5, 0.45)):
        model.add(Body(name, at=(0.0, 0.0, z), mass=mass, shapes=(Box((side, side, side)),), material="iron"))
        model.add(Free(f"{name}_way", GROUND, name, at=(0.0, 0.0, z)))
    return model
