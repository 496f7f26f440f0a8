"""Gripper driven by you: W A S D (or a gamepad's left stick) move it over the table, R and F up and down, Space grips.

Levers are speeds of the hand in the cylinder coordinates of the arm, whose inverse kinematics are blocks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..control.blocks.actuators import DriveCommand
from ..control.blocks.continuous import Integrator
from ..control.blocks.logic import Compare, Switch
from ..control.blocks.mathematics import Formula
from ..control.blocks.nonlinear import RateLimit
from ..control.blocks.panel import Gauge, Joystick, Lamp, Lever, Toggle
from ..model import Model
from ..model.panel import PanelGroup
from . import gripper

SOURCE = gripper.SOURCE
DURATION = 8.5
ENDLESS = True
PLOT = ("reach.out", "height.out", "box.position.z", "contact.patches")
BOUNDS = {"reach": (0.28, 0.62), "height": (0.034, 0.42)}
"""Where the middle of the pads may be: from the turret's axis, over the table [m]."""
SPEED, TURNING, GATHERING = 0.2, 0.9, 1.0
"""Of the hand [m/s] and of the turret [rad/s], and how fast the hand's changes [m/s²]."""


def build(mass: float = gripper.BOX_MASS, friction: float = 0.8) -> Model:
    """`mass` of the box [kg], `friction` of all that touches."""
    model = gripper.build(mass=mass, friction=friction)
    model.name = "gripper_driven"
    for name, drive in model.drives.items():
        model.drives[name] = replace(drive, signal=None, command=0.0)
    for block in (*_panel(), *_motion(), *_arm()):
        model.add(block)
    return model


def _panel() -> list[Any]:
    return [
        PanelGroup("hand_group", label="Hand", cell=(0, 0)),
        PanelGroup("tells", label="Grip", cell=(1, 0)),
        Joystick("stick", group="hand_group", label="Turn and reach", axes=(0, 1),
                 keys=("KeyA", "KeyD", "KeyS", "KeyW")),
        Lever("lift", group="hand_group", label="Height", keys=("KeyF", "KeyR"), axis=3, inverted=True),
        Toggle("grips", group="tells", label="Grip", key="Space", button=0),
        Gauge("opening", "wide", group="tells", label="Opening", low=0.0, high=200.0, factor=1000.0, unit="mm"),
        Lamp("held", "has", group="tells", label="Holds"),
    ]  # fmt: skip


def _motion() -> list[Any]:
    """Speeds of the hand, and where it is told to be."""
    reach, height, turn = gripper.course(0.0)
    blocks: list[Any] = []
    for name, wish, start in (("reach", "stick.y", reach), ("height", "lift", height)):
        low, high = BOUNDS[name]
        inside = f"max(-8*max({name} - {low}, 0), min(8*max({high} - {name}, 0), {SPEED}*{wish}))"
        blocks += [
            Formula(f"{name}_wish", inside, unit="m/s"),
            RateLimit(f"{name}_speed", f"{name}_wish", rising=GATHERING),
            Integrator(name, f"{name}_speed", start=start, low=low, high=high, unit="m"),
        ]
    return [
        *blocks,
        Formula("turn_wish", f"{-TURNING}*stick.x", unit="rad/s"),
        RateLimit("turn_speed", "turn_wish", rising=4.0),
        Integrator("turn", "turn_speed", start=turn, unit="rad"),
    ]


def _arm() -> list[Any]:
    """Angles that bring the hand there, ahead by what the servos give under the weight of the empty arm."""
    upper, fore, g = gripper.UPPER, gripper.FORE, gripper.GRAVITY
    masses = gripper.MASSES
    hand = masses["hand"] + masses["left_jaw"] + masses["right_jaw"]
    at_start = gripper.arm_angles(*gripper.course(0.0)[:2])
    shoulder_stiffness, elbow_stiffness = gripper.SERVOS["shoulder"][1], gripper.SERVOS["elbow"][1]
    elbow_load = f"{masses['forearm'] * fore / 2!r}*cos(forearm_angle) + {hand!r}*(reach - elbow_out)"
    beyond = masses["upper_arm"] * upper / 2, (masses["forearm"] + hand) * upper
    force = 0.5 * gripper.FORCE
    return [
        Formula("down", f"height + {gripper.HAND - gripper.SHOULDER!r}", unit="m"),
        Formula("far", "hypot(reach, down)", unit="m"),
        Formula("upper_angle", f"atan2(down, reach) + acos(({upper**2 - fore**2!r} + far**2)/({2 * upper!r}*far))",
                unit="rad"),
        Formula("elbow_out", f"{upper}*cos(upper_angle)", unit="m"),
        Formula("forearm_angle", f"atan2(down - {upper}*sin(upper_angle), reach - elbow_out)", unit="rad"),
        Formula("elbow_torque", f"{g}*({elbow_load})", unit="N m"),
        Formula("shoulder_torque", f"{g}*{sum(beyond)!r}*cos(upper_angle) + elbow_torque", unit="N m"),
        Formula("shoulder_command", f"upper_angle - {at_start[0]!r} + shoulder_torque/{shoulder_stiffness}",
                unit="rad"),
        Formula("elbow_command", f"forearm_angle - upper_angle - {at_start[1] - at_start[0]!r} + "
                f"elbow_torque/{elbow_stiffness}", unit="rad"),
        Formula("wrist_command", f"{at_start[1]!r} - forearm_angle", unit="rad"),
        DriveCommand("turret_goes", "turret_servo", "turn"),
        DriveCommand("shoulder_goes", "shoulder_servo", "shoulder_command"),
        DriveCommand("elbow_goes", "elbow_servo", "elbow_command"),
        DriveCommand("wrist_goes", "wrist_servo", "wrist_command"),
        # jaws: told to close they press with the strength of their motor, told to open they part and stop at their ends
        Switch("jaw_speed", "grips", gripper.RATE, "opens"),
        Formula("opens", f"{-gripper.RATE} if wide < {gripper.OPEN} else 0", unit="m/s"),
        Formula("wide", f"{gripper.OPEN} - left.travel + right.travel", unit="m"),
        DriveCommand("jaws", "grip_motor", "jaw_speed"),
        Compare("has", "grip_motor.force", ">", force),
    ]  # fmt: skip
