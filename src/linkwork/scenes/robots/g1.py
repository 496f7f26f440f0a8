"""Unitree G1, a humanoid of 29 joints, from its URDF: it lands on its feet and stands in a crouch, held by servos."""

from ...model import Model, Plane, Scenery
from . import described, hold, start_at

SOURCE = "g1_description by Unitree Robotics (BSD-3-Clause), from the package example-robot-data"
DURATION = 5.0
DT = 2e-3
PLOT = ("pelvis.position.z", "*_knee_joint.angle")
WATCHED = 1.0

ARMS = {"shoulder_pitch": 0.2, "shoulder_roll": 0.25, "shoulder_yaw": 0.0, "elbow": 0.7,
        "wrist_roll": 0.0, "wrist_pitch": 0.0, "wrist_yaw": 0.0}  # fmt: skip
"""Angles of the left arm [rad]; rolls and yaws of the right one are the other way."""


def build(crouch: float = 0.4) -> Model:
    """`crouch`: angle of the thighs [rad]; the knees bend twice as far, so that the feet stay flat."""
    file = "g1_description/urdf/g1_29dof_rev_1_0.urdf"
    model = described("g1", file, free_base=True, contact=True)
    legs = {"hip_pitch": -crouch, "hip_roll": 0.0, "hip_yaw": 0.0, "knee": 2 * crouch, "ankle_pitch": -crouch,
            "ankle_roll": 0.0}  # fmt: skip
    pose = {f"waist_{about}_joint": 0.0 for about in ("yaw", "roll", "pitch")}
    for name, angle in {**legs, **ARMS}.items():
        pose[f"left_{name}_joint"] = angle
        pose[f"right_{name}_joint"] = -angle if name.endswith(("roll", "yaw")) else angle
    for joint, angle in pose.items():
        start_at(model, joint, angle)
    start_at(model, "pelvis_base", (0.0, 0.0, 0.76, 1.0, 0.0, 0.0, 0.0))
    hold(
        model,
        pose,
        stiffness={"wrist": 20.0, "shoulder": 60.0, "elbow": 60.0, "": 400.0},
        damping={"wrist": 0.5, "shoulder": 2.0, "elbow": 2.0, "": 10.0},
        strength={"wrist_roll": 25.0, "wrist": 5.0, "shoulder": 25.0, "elbow": 25.0, "knee": 139.0, "hip": 88.0,
                  "waist_yaw": 88.0, "": 50.0},
    )  # fmt: skip
    model.add(Scenery("floor", shapes=(Plane(),), material="surface"))
    return model
