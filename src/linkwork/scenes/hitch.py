"""Robot and trailer on a hitch, a spherical joint with limits about each axis: swayed until it hits them."""

from math import radians

from ..engine.elements import PositionServo
from ..model import GROUND, Body, Box, Model, Sine, Spherical, Universal

SOURCE = "limits of Strashnov and Mikhaylyuk (robot KRT100-MP with a trailer); masses proposed here"
DURATION = 10.0
ENDLESS = True
PLOT = ("hitch.q?", "gimbal.*", "energy.kinetic")
LIMITS = (radians(18.0), radians(15.0), radians(18.0))
"""Of the rotation vector of the trailer against the robot, about x, y and z [rad]."""


def build(yaw: float = 40.0, roll: float = 30.0, restitution: float = 0.0) -> Model:
    """The robot sways by `yaw` and `roll` [°]; `restitution` of the limits."""
    model = Model("hitch")
    middle, y, z = (0.0, 0.0, 0.4), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for name, at, mass, inertia, size in (
        ("robot", middle, 120.0, (5.0, 11.3, 13.6), (1.0, 0.6, 0.35)),
        ("trailer", (-1.25, 0.0, 0.38), 60.0, (2.0, 2.9, 4.0), (0.7, 0.55, 0.3)),
    ):
        model.add(Body(name, at=at, mass=mass, inertia=inertia, shapes=(Box(size),)))
    # Its first axis is upright (yaw), its second runs forward (roll).
    model.add(Universal("gimbal", GROUND, "robot", at=middle, axis=y, reference=z))
    limits, at = tuple((-limit, limit) for limit in LIMITS), (-0.65, 0.0, 0.35)
    model.add(Spherical("hitch", "robot", "trailer", at=at, limits=limits, restitution=restitution))
    for name, axis, swing, frequency in (("steer", "angle_x", yaw, 0.5), ("heel", "angle_y", roll, 0.7)):
        servo = PositionServo(
            name, "gimbal", coordinate=axis, stiffness=2e4, damping=2e3, command=radians(swing), signal=Sine(frequency)
        )  # fmt: skip
        model.add(servo)
    return model
