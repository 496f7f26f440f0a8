"""Ten boxes on top of each other: a stack that stands."""

from ..model import GROUND, Body, Box, Free, Material, Model, Plane, Scenery

DURATION = 5.0
PLOT = ("contact.*", "solver.iterations")
BUTTONS = {
    "Push the box in the middle": lambda session: session.push("box5", (0.5, 0.0, 0.0)),
    "Knock off the top box": lambda session: session.push("box10", (1.0, 0.0, 0.0)),
}
PRESSES = ((1.5, "Knock off the top box"),)


def build(count: int = 10, side: float = 0.1, mass: float = 1.0, friction: float = 0.5) -> Model:
    """`count` boxes of `side` [m] and `mass` [kg] each."""
    model = Model(f"stack{count}")
    model.add(Material("wood", friction=friction))
    model.add(Scenery("floor", shapes=(Plane(),), material="wood"))
    for k in range(count):
        name, at = f"box{k + 1}", (0.0, 0.0, (k + 0.5) * side)
        model.add(Body(name, at=at, mass=mass, shapes=(Box((side, side, side)),), material="wood"))
        model.add(Free(f"{name}_way", GROUND, name, at=at))
    return model
