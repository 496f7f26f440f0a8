"""KRT-100M with its cart, driven by you: a lever a side, A and Q, D and E (or a gamepad's sticks), L for lights.

Wheels of one side turn together; the robot steers by the difference of its sides, as tracked vehicles do.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import Any

from ..control.blocks.actuators import DriveCommand
from ..control.blocks.logic import And, Compare
from ..control.blocks.mathematics import Dot, Formula
from ..control.blocks.nonlinear import RateLimit, Saturation
from ..control.blocks.panel import Gauge, Knob, Lamp, Lever, Toggle
from ..model import Model
from ..model.panel import PanelGroup
from . import krt100

SOURCE = krt100.SOURCE
DURATION = 30.0
ENDLESS = True
PLOT = ("speed.out", "hitch.q?", "robot.position.?")
KEYS = {"left": (("KeyA", "KeyQ"), 1), "right": (("KeyD", "KeyE"), 3)}
"""Keys for back and forward, and the axis of a gamepad, of each side."""
SHARE, TURNING, GATHERING = 0.4, 0.85, 2.0
"""Voltages straight on and turning on the spot, as shares of nominal: to turn, wheels have to slide; and how fast they
may change [1, 1, 1/s]."""
STEEP = 15.0
"""Lean from which a lamp warns [°]."""


def build(course: str = "tour") -> Model:
    """`course`: what stands in its way; those of `krt100`."""
    model = krt100.build(course)
    model.name = "krt100_driven"
    for instance in model.instances.values():
        motors = instance.component.drives
        for name, motor in motors.items():
            motors[name] = replace(motor, signal=None, command=0.0)
    for block in _diagram():
        model.add(block)
    return model


def _diagram() -> list[Any]:
    """From two levers to the voltages of four motors."""
    w, x, y, z = (f"robot.rotation.{axis}" for axis in "wxyz")
    blocks: list[Any] = [
        PanelGroup("sides", label="Levers", cell=(0, 0)),
        PanelGroup("tells", label="Robot", cell=(1, 0)),
        *(
            Lever(side, group="sides", label=side.capitalize(), keys=keys, axis=axis, inverted=True, travel_time=0.4)
            for side, (keys, axis) in KEYS.items()
        ),
        Knob("most", group="sides", label="Speed", low=0.1, high=1.0, start=SHARE, keys=("Minus", "Equal"),
             hint="Voltage straight on with both levers at their ends, as a share of nominal."),
        Toggle("light", group="sides", label="Lights", key="KeyL", button=2),
        Gauge("tells_speed", "speed", group="tells", label="Speed", low=-10.0, high=10.0, factor=3.6, unit="km/h"),
        Gauge("tells_lean", "lean", group="tells", label="Lean", low=0.0, high=40.0, factor=180.0 / pi, unit="°"),
        Lamp("lights", "light", group="tells", label="Lights", color="#e3b341"),
        Lamp("reverse", "backward", group="tells", label="Reverse", color="#d0d7de"),
        Lamp("warning", "steep", group="tells", label="Steep", color="#da3633"),
        # speed along the robot's own x axis, and how far its z axis is from upright
        Formula("ahead_x", f"1 - 2*({y}**2 + {z}**2)"),
        Formula("ahead_y", f"2*({x}*{y} + {w}*{z})"),
        Formula("ahead_z", f"2*({x}*{z} - {w}*{y})"),
        Dot("forward", tuple(f"robot.velocity.{axis}" for axis in "xyz"), ("ahead_x", "ahead_y", "ahead_z")),
        Formula("speed", "forward", unit="m/s"),
        Formula("lean", f"acos(max(-1, min(1, 1 - 2*({x}**2 + {y}**2))))", unit="rad"),
        Compare("steep", "lean", ">", STEEP * pi / 180.0),
        Compare("left_back", "left", "<", -0.05),
        Compare("right_back", "right", "<", -0.05),
        And("backward", ("left_back", "right_back")),
    ]  # fmt: skip
    for side, other in (("left", "right"), ("right", "left")):
        blocks += [
            Formula(f"{side}_wish", f"most*({side} + {other})/2 + {TURNING}*({side} - {other})/2", unit="1"),
            Saturation(f"{side}_bound", f"{side}_wish", low=-1.0, high=1.0),
            RateLimit(f"{side}_voltage", f"{side}_bound", rising=GATHERING),
        ]
        blocks += [
            DriveCommand(f"{name}_command", f"{name}.motor", f"{side}_voltage")
            for name in krt100.WHEELS
            if name.endswith(side) and not name.startswith("cart")
        ]
    return blocks
