"""Anthropomorphic robot on its own feet bends, grasps a stone with three fingers and a thumb, and lifts it.

Nothing but friction holds the stone in the hand and the feet on the floor; servos follow a script and know nothing of
balance, so that the centre of mass has to stay over the feet.
"""

from pathlib import Path

from ...model import GROUND, Body, Box, Free, Material, Mesh, Model, Plane, Scenery
from .robot import add_robot
from .script import DURATION, STONE_AT, add_servos

__all__ = ["DT", "DURATION", "METHOD", "PLOT", "SOURCE", "build"]

SOURCE = (
    "a picture in Mikhaylyuk, Strashnov, Timokhin: SIMGC; sizes and masses are round figures of a small adult"
)
DT = 1e-3
METHOD = "simgc"
PLOT = ("stone.position.z", "right_arm.elbow.angle", "contact.depth", "solver.iterations")

STONE = Path(__file__).with_name("stone.obj")
DENSITY = 2600.0
"""Of the stone [kg/m³]: 1.12 kg."""
BOTTOM = 0.0339
"""From the middle of the stone down to the face that it lies on [m]."""
PLINTH = (0.04, 0.04, 0.06)
"""What the stone lies on: narrower than it, so that fingers may reach below [m]."""


def build(script: bool = True) -> Model:
    """Without the script the robot just stands."""
    model = Model("humanoid_stone")
    add_robot(model)
    add_servos(model, script)
    model.add(Material("stone", friction=0.9))
    model.add(Material("floor", friction=0.9))
    model.add(Scenery("floor", shapes=(Plane(),), material="floor"))
    x, y, z = STONE_AT
    top = z - BOTTOM
    plinth = PLINTH[2]
    base = Box((0.16, 0.22, top - plinth), at=(0.0, 0.0, (top - plinth) / 2))
    shapes = (base, Box(PLINTH, at=(0.0, 0.0, top - plinth / 2)))
    model.add(Scenery("pedestal", at=(x, y, 0.0), shapes=shapes, material="floor", color="#b9a88a"))
    mesh = (Mesh(str(STONE)),)
    model.add(Body("stone", at=STONE_AT, density=DENSITY, shapes=mesh, material="stone", color="#7d7468"))
    model.add(Free("lying", GROUND, "stone", at=STONE_AT))
    return model
