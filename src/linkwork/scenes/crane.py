"""Travelling crane without sway: W, A, S, D (or a gamepad's left stick) move it, E and Q hoist; X shows it with sway.

The drives of bridge and trolley keep the speeds that they are told. Told in addition to run after the load, by
2 damping √(g l) of its angle, they take the energy out of its swing at whatever length of the rope.
"""

from __future__ import annotations

from math import pi
from typing import Any

from ..control.blocks.actuators import DriveCommand, ForceCommand
from ..control.blocks.mathematics import Formula, Sum
from ..control.blocks.nonlinear import RateLimit
from ..control.blocks.panel import Button, Gauge, Joystick, Lamp, Lever, Toggle
from ..engine.elements import VelocityServo
from ..engine.loads import Force
from ..model import GROUND, Body, Box, Cylinder, Marker, Model, Plane, Scenery, Slider, Universal
from ..model.panel import PanelGroup

SOURCE = "made for Linkwork: round figures of workshop cranes of two tonnes"
DURATION = 20.0
ENDLESS = True
PLOT = ("rope.angle_?", "bridge.travel", "trolley.travel")
METHOD = "simgc"
TALL, SPAN, LONG = 6.0, 8.0, 16.0
"""Of the hall: height of the rails, span of the bridge, length of the rails [m]."""
ROPE, ROPES = 3.0, (1.5, 4.8)
"""Length of the rope at the start, and the least and largest length [m]."""
BRIDGE, TROLLEY, LOAD, HOOK = 900.0, 250.0, 800.0, 20.0
"""Masses; the hook's is that of what turns with the rope [kg]."""
FAST, HOISTING, GATHERING = 1.2, 0.5, 0.8
"""Speeds of travel and of the hoist [m/s], and how fast the drives of travel change theirs [m/s²]."""
DAMPING = 0.4
"""Of the swing, share of critical [1]."""
REACH = {"bridge": LONG / 2 - 1.0, "trolley": SPAN / 2 - 0.8}
"""How far they go from the middle, either way [m]."""
GRAVITY = 9.81


def build(damping: float = DAMPING, knock: float = 2000.0) -> Model:
    """`damping` of the swing with the anti-sway control, share of critical [1]; `knock` at the load [N]."""
    model = Model("crane")
    steel, yellow = "#9aa0a6", "#e0a010"
    model.add(Scenery("floor", shapes=(Plane(),), color="#8a8d8a"))
    rails = tuple(Box((LONG, 0.2, 0.3), at=(0.0, y, TALL - 0.35)) for y in (-SPAN / 2, SPAN / 2))
    posts = tuple(
        Box((0.25, 0.25, TALL - 0.5), at=(x, y, TALL / 2 - 0.25))
        for x in (-LONG / 2 + 0.3, 0.0, LONG / 2 - 0.3)
        for y in (-SPAN / 2, SPAN / 2)
    )
    model.add(Scenery("hall", shapes=rails + posts, color=steel))
    girders = tuple(Box((0.2, SPAN, 0.35), at=(x, 0.0, 0.0)) for x in (-0.45, 0.45))
    model.add(Body("girder", at=(0.0, 0.0, TALL), mass=BRIDGE, shapes=girders, color=yellow))
    cab = Box((1.2, 0.8, 0.3), at=(0.0, 0.0, 0.35))
    model.add(Body("cab", at=(0.0, 0.0, TALL), mass=TROLLEY, shapes=(cab,), color="#35506b"))
    lines = tuple(Cylinder(0.015, ROPES[0], at=(x, 0.0, -ROPES[0] / 2)) for x in (-0.08, 0.08))
    model.add(Body("lines", at=(0.0, 0.0, TALL), mass=HOOK, shapes=lines, color="#202428"))
    cable = Cylinder(0.012, ROPES[1], at=(0.0, 0.0, ROPES[1] / 2 + 0.4))
    crate = Box((1.0, 1.0, 0.7), at=(0.0, 0.0, -0.1))
    load = Body("load", at=(0.0, 0.0, TALL - ROPE), mass=LOAD, com=(0.0, 0.0, 0.0), inertia=(100.0, 100.0, 130.0),
                shapes=(crate, Cylinder(0.03, 0.4, at=(0.0, 0.0, 0.4)), cable), color="#b5651d")  # fmt: skip
    model.add(load)
    model.add(Marker("place", "load", at=(0.0, 0.0, TALL - ROPE)))
    model.add(Slider("bridge", GROUND, "girder", at=(0.0, 0.0, TALL), axis=(1.0, 0.0, 0.0)))
    model.add(Slider("trolley", "girder", "cab", at=(0.0, 0.0, TALL), axis=(0.0, 1.0, 0.0)))
    model.add(Universal("rope", "cab", "lines", at=(0.0, 0.0, TALL), damping=2.0))
    model.add(Slider("hoist", "lines", "load", at=(0.0, 0.0, TALL - ROPE), axis=(0.0, 0.0, -1.0)))
    for name, joint in (("bridge_drive", "bridge"), ("trolley_drive", "trolley"), ("winch", "hoist")):
        model.add(VelocityServo(name, joint))
    model.add(Force("knock", "load", force=(knock, 0.6 * knock, 0.0)))
    for block in _diagram(damping):
        model.add(block)
    return model


def _diagram(damping: float) -> list[Any]:
    """From levers and angles to the speeds of three drives."""
    degrees = 180.0 / pi
    blocks: list[Any] = [
        PanelGroup("crane", label="Crane", cell=(0, 0)),
        PanelGroup("hook", label="Load", cell=(1, 0)),
        Joystick("stick", group="crane", label="Bridge and trolley", axes=(0, 1),
                 keys=("KeyA", "KeyD", "KeyS", "KeyW")),
        Lever("winding", group="crane", label="Hoist", keys=("KeyQ", "KeyE"), axis=3, inverted=True,
              hint="Up is up."),
        Toggle("calm", group="hook", label="Anti-sway", on=True, key="KeyX", button=0),
        Button("hit", group="hook", label="Knock", key="Space", button=1),
        Gauge("swings", "sway", group="hook", label="Sway", low=0.0, high=15.0, factor=degrees, unit="°"),
        Gauge("hangs", "length", group="hook", label="Rope", low=0.0, high=ROPES[1]),
        Lamp("still", "at_rest", group="hook", label="Still"),
        ForceCommand("knocks", "knock", "hit"),
        Formula("length", f"{ROPE} + hoist.travel", unit="m"),
        Formula("sway", "hypot(rope.angle_x, rope.angle_y)", unit="rad"),
        Formula("at_rest", "sway < 0.005 and hypot(rope.angle_x_rate, rope.angle_y_rate) < 0.01", unit="1"),
        # after the load: the load hangs behind by the angle that leads to it
        Formula("chase", f"{2.0 * damping!r}*sqrt({GRAVITY}*length)*calm", unit="m/s"),
        Formula("bridge_after", "-chase*rope.angle_y", unit="m/s"),
        Formula("trolley_after", "chase*rope.angle_x", unit="m/s"),
        # no faster than it can stop before the end of the rope
        Formula("winds", f"max(-2*max(length - {ROPES[0]}, 0), "
                f"min(2*max({ROPES[1]} - length, 0), {-HOISTING}*winding))", unit="m/s"),
        RateLimit("hoists", "winds", rising=1.0),
        DriveCommand("turns", "winch", "hoists"),
    ]  # fmt: skip
    for name, axis in (("bridge", "x"), ("trolley", "y")):
        room = f"sqrt({GATHERING}*max({REACH[name]} {{}} {name}.travel, 0))"
        wish = f"max(-{room.format('+')}, min({room.format('-')}, {FAST}*stick.{axis}))"
        blocks += [
            Formula(f"{name}_wish", wish, unit="m/s"),
            RateLimit(f"{name}_going", f"{name}_wish", rising=GATHERING),
            Sum(f"{name}_speed", (f"{name}_going", f"{name}_after")),
            DriveCommand(f"{name}_goes", f"{name}_drive", f"{name}_speed"),
        ]
    return blocks
