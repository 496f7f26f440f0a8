"""Panda arm with its gripper, from its URDF: servos bring it to its ready pose, one finger mimics the other."""

from ...model import Model
from . import described, hold, start_at

SOURCE = "franka_description by Franka Emika (Apache-2.0), from the package example-robot-data"
DURATION = 5.0
PLOT = ("panda_joint?.angle", "panda_finger_joint?.travel")
WATCHED = 3.0

READY = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)
"""Angles of the pose in which the arm waits for work [rad]."""
FOLDED = (0.0, 0.3, 0.0, -0.6, 0.0, 0.9, 0.0)
"""Angles it starts from [rad]."""


def build(width: float = 0.06) -> Model:
    """`width`: how far the gripper opens [m], at most 0.08."""
    model = described("panda", "panda_description/urdf/panda.urdf")
    pose = {f"panda_joint{k}": angle for k, angle in enumerate(READY, 1)}
    for joint, angle in zip(pose, FOLDED, strict=True):
        start_at(model, joint, angle)
    pose["panda_finger_joint1"] = 0.5 * width
    soft = ("panda_joint5", "panda_joint6", "panda_joint7")
    hold(
        model,
        pose,
        stiffness={"panda_finger": 2e3, **dict.fromkeys(soft, 250.0), "panda_joint": 900.0},
        damping={"panda_finger": 60.0, **dict.fromkeys(soft, 20.0), "panda_joint": 120.0},
        strength={"panda_finger": 20.0, **dict.fromkeys(soft, 12.0), "panda_joint": 87.0},
    )
    return model
