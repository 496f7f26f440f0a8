"""Gripper with two jaws on one motor: a repeater makes the right one follow the left, and both stop."""

from ..engine.elements import PositionServo, Repeater
from ..model import GROUND, Body, Box, Model, Slider, Table

SOURCE = "the gripper of Mikhaylyuk, Strashnov and Timokhin; parameters proposed here"
DURATION = 3.0
ENDLESS = True
PLOT = ("left.travel", "right.travel", "energy.supplied")
WIDTH = 0.1
"""Distance of the open jaws [m]."""


def build(ratio: float = -1.0, strength: float = 50.0, stop: float = 0.03) -> Model:
    """`ratio` of the right jaw's travel to the left one's; `strength` of the motor [N]; the right jaw meets
    something after `stop` [m].
    """
    model = Model("jaws")
    for side, sign in (("left", -1.0), ("right", 1.0)):
        at = (sign * WIDTH / 2, 0.0, 0.0)
        model.add(Body(f"{side}_jaw", at=at, mass=0.4, shapes=(Box((0.02, 0.03, 0.08)),)))
    model.add(Slider("left", GROUND, "left_jaw", axis=(1.0, 0.0, 0.0), friction=1.0))
    model.add(Slider("right", GROUND, "right_jaw", axis=(1.0, 0.0, 0.0), friction=1.0, limits=(-stop, stop)))
    model.add(Repeater("gear", "right", "left", ratio=ratio))
    close = Table((0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 1.0, 0.0), repeats=True)
    servo = PositionServo(
        "motor", "left", stiffness=5e3, damping=100.0, strength=strength,
        command=0.8 * WIDTH / 2, signal=close,
    )  # fmt: skip
    model.add(servo)
    return model
