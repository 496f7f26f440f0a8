"""ANYmal C, a quadruped, from its URDF: it drops onto its feet, and servos hold its legs."""

from ...model import Model, Plane, Scenery
from . import described, hold, start_at

SOURCE = "anymal_c_simple_description by ANYbotics (BSD-3-Clause), from the package example-robot-data"
DURATION = 5.0
DT = 2e-3
PLOT = ("base.position.z", "??_KFE.angle")
WATCHED = 2.0

LEGS = {"LF": 1.0, "RF": 1.0, "LH": -1.0, "RH": -1.0}
"""Legs, and which way their knees bend."""


def build(height: float = 0.65, bend: float = 0.6) -> Model:
    """`height` of the trunk at the start [m]; `bend`: angle of the thighs [rad], knees bend twice as far."""
    model = described(
        "anymal_c", "anymal_c_simple_description/urdf/anymal.urdf", free_base=True, contact=True
    )
    start_at(model, "base_base", (0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0))
    pose: dict[str, float] = {}
    for leg, way in LEGS.items():
        pose |= {f"{leg}_HAA": 0.0, f"{leg}_HFE": way * bend, f"{leg}_KFE": -2.0 * way * bend}
    for joint, angle in pose.items():
        start_at(model, joint, angle)
    hold(model, pose, stiffness={"": 400.0}, damping={"": 15.0}, strength={"": 80.0})
    model.add(Scenery("floor", shapes=(Plane(),), material="surface"))
    return model
