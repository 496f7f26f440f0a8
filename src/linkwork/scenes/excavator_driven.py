"""Excavator driven by you: joysticks on W A S D and I J K L (or a gamepad's sticks), ISO pattern or, by P, SAE.

ISO 10968: left stick for swing and stick, right stick for boom and bucket. SAE J1814: boom and stick change places.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi, radians
from typing import Any

from ..control.blocks.actuators import DriveCommand
from ..control.blocks.continuous import Integrator
from ..control.blocks.mathematics import Formula
from ..control.blocks.nonlinear import RateLimit
from ..control.blocks.panel import Gauge, Joystick, Lamp, Selector
from ..model import Model
from ..model.errors import LinkworkError, nearest
from ..model.panel import PanelGroup
from . import excavator

SOURCE = "excavator: made for Linkwork; patterns of control: ISO 10968:2020 and SAE J1814"
DURATION = 16.0
ENDLESS = True
PLOT = ("*_cylinder.travel", "slew.angle", "teeth.position.z")
PATTERNS = ("ISO", "SAE")
TRAVEL = {"boom": (-5.0, 60.0), "stick": (-115.0, -40.0), "bucket": (-140.0, -5.0)}
"""Of boom, stick and bucket, each against the body before: least and largest angle [°]."""
SPEEDS = {"boom": 0.20, "stick": 0.28, "bucket": 0.35}
"""Of the cylinders with a joystick at its end [m/s]."""
SWING = 0.9
"""Of the upper structure [rad/s]."""
OPENS, SLEWS = 1.5, 1.5
"""How fast speeds of cylinders [m/s²] and of the slewing gear [rad/s²] change."""


def build(payload: float = 350.0, pattern: str = "ISO") -> Model:
    """`payload` stays in the bucket [kg]; `pattern`: "ISO" or "SAE", which the panel can change."""
    if pattern not in PATTERNS:
        raise LinkworkError(f"excavator_driven: there is no pattern '{pattern}'{nearest(pattern, PATTERNS)}")
    model = excavator.build(hold=True, payload=payload)
    model.name = "excavator_driven"
    held = {}
    for name, servo in model.drives.items():
        held[name] = servo.command * (
            1.0 if servo.signal is None else servo.signal.value(0.0)
        )  # with what the oil gives under the weight
        model.drives[name] = replace(servo, signal=None, command=held[name])
    for block in (*_panel(pattern), *_laws(held)):
        model.add(block)
    return model


def _panel(pattern: str) -> list[Any]:
    return [
        PanelGroup("sticks", label="Joysticks", cell=(0, 0)),
        PanelGroup("machine", label="Machine", cell=(1, 0)),
        Joystick("left", group="sticks", label="Left", keys=("KeyA", "KeyD", "KeyS", "KeyW"), axes=(0, 1),
                 cell=(0, 0)),
        Joystick("right", group="sticks", label="Right", keys=("KeyJ", "KeyL", "KeyK", "KeyI"), axes=(2, 3),
                 cell=(1, 0)),
        Selector("pattern", PATTERNS, group="machine", label="Pattern", chosen=PATTERNS.index(pattern), key="KeyP",
                 button=9),
        Gauge("depth", "teeth.position.z", group="machine", label="Teeth", low=-3.0, high=6.0),
        Gauge("swung", "slew.angle", group="machine", label="Swing", low=-180.0, high=180.0, factor=180.0 / pi,
              unit="°"),
        Lamp("stalled", "stalls", group="machine", label="Relief valve", color="#d29922"),
    ]  # fmt: skip


def _laws(held: dict[str, float]) -> list[Any]:
    """From joysticks to places of cylinders: a lever is a speed, which ends where the linkage does."""
    # Away from the operator: stick out, boom down; to the right: swing to the right, bucket out.
    levers = {
        "boom": "-(right.y if pattern < 0.5 else left.y)",
        "stick": "-(left.y if pattern < 0.5 else right.y)",
        "bucket": "-right.x",
    }
    blocks: list[Any] = []
    for name, lever in levers.items():
        low, high = _stroke(name, held[f"{name}_valve"])
        place = f"{name}_place"
        # so slow near the ends that it stops there
        speed = (
            f"max(-8*max({place} - {low!r}, 0), min(8*max({high!r} - {place}, 0), {SPEEDS[name]}*({lever})))"
        )
        blocks += [
            Formula(f"{name}_wish", speed, unit="m/s"),
            RateLimit(f"{name}_speed", f"{name}_wish", rising=OPENS),
            Integrator(place, f"{name}_speed", start=held[f"{name}_valve"], low=low, high=high, unit="m"),
            DriveCommand(f"{name}_oil", f"{name}_valve", place),
        ]
    blocks += [
        Formula("swing_wish", f"{-SWING}*left.x", unit="rad/s"),
        RateLimit("swing_speed", "swing_wish", rising=SLEWS),
        Integrator("swing_place", "swing_speed", start=held["slew_motor"], unit="rad"),
        DriveCommand("swing", "slew_motor", "swing_place"),
    ]
    at_relief = " or ".join(
        f"abs({name}_valve.force) > {0.98 * excavator.PRESSURE * pi * bore**2 / 4!r}"
        for name, (*_, bore, _) in excavator.CYLINDERS.items()
    )
    blocks.append(Formula("stalls", at_relief, unit="1"))
    return blocks


def _stroke(name: str, held: float) -> tuple[float, float]:
    """Least and largest command of a cylinder [m]: where its own angle ends; others do not change its length."""
    middle = {part: radians(sum(ends) / 2) for part, ends in TRAVEL.items()}
    k = list(TRAVEL).index(name)
    ends = []
    for angle in TRAVEL[name]:
        turned = {**middle, name: radians(angle)}
        ends.append(excavator.cylinder_lengths((turned["boom"], turned["stick"], turned["bucket"]))[k])
    lifted = excavator.CYCLE[excavator.LIFTED][1:4]
    start = excavator.cylinder_lengths((radians(lifted[0]), radians(lifted[1]), radians(lifted[2])))[k]
    return min(*ends, start) - start + min(held, 0.0), max(*ends, start) - start + max(held, 0.0)
