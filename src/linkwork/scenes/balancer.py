"""Robot that balances on two wheels: W and S drive it, A and D turn it (or a gamepad's left stick), Space knocks.

Two motors, no other help: gains of the balance are those of the model's own linearisation, in which the wheels roll on
the floor. The operator wishes a speed and a rate of turning; the robot leans as it has to.
"""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import Any

from ..analysis.linearise import linearise
from ..analysis.lqr import lqr
from ..control.blocks.actuators import DriveCommand, ForceCommand
from ..control.blocks.mathematics import Formula
from ..control.blocks.nonlinear import RateLimit, Saturation
from ..control.blocks.panel import Button, Gauge, Joystick, Lamp
from ..control.blocks.sensors import IMU
from ..engine.elements import DCMotor
from ..engine.loads import Force
from ..model import Body, Box, Cylinder, Hinge, Marker, Material, Model, Plane, Scenery, Torus
from ..model.panel import PanelGroup
from ..model.rotation import about

SOURCE = "made for Linkwork: round figures of robots that stand as high as a table"
DURATION = 12.0
ENDLESS = True
PLOT = ("lean.out", "speed.out", "left_volts.out")
WATCHED = 6.0
RADIUS, TRACK, TYRE = 0.1, 0.36, 0.02
"""Radius of the wheels, distance of their middles, radius of their tyres [m]."""
TRUNK, WHEEL = 8.0, 0.8
"""Masses [kg]."""
HEIGHT = 0.3
"""From the axles to the middle of the trunk [m]."""
MOTOR: dict[str, Any] = {"stall_torque": 0.9, "idle_speed": 500.0, "time_constant": 0.006, "gear": 14.0}
STATES = {
    "trunk_free.wy": ("lean", 4.0), "left.angle_rate": ("left.angle_rate - left_wish", 0.02),
    "right.angle_rate": ("right.angle_rate - right_wish", 0.02), "trunk_free.wy_rate": ("senses.wy", 0.4),
}  # fmt: skip
"""States that matter, what the diagram knows of them, and what it costs to be away from there [1/rad², s²/rad²]."""
PRICE = 10.0
"""Of the voltages, which are shares of nominal [1]."""
FASTEST, TURNING = 1.2, 2.0
"""Speed [m/s] and rate of turning [rad/s] with the stick at its end."""


def mechanism(lean: float = 0.0) -> Model:
    """Robot on the floor, leaning [rad]."""
    model = Model("balancer")
    model.add(Material("rubber", friction=0.9))
    model.add(Scenery("floor", shapes=(Plane(),), material="rubber", color="#8a8d8a"))
    tilt = about((0.0, 1.0, 0.0), lean)
    looks = (
        Box((0.12, 0.26, 0.5), at=(0.0, 0.0, 0.3)),
        Box((0.14, 0.3, 0.03), at=(0.0, 0.0, 0.57)),
        Box((0.06, 0.16, 0.1), at=(0.03, 0.0, 0.66)),
    )
    at = (0.0, 0.0, RADIUS)
    trunk = Body("trunk", at=at, rotation=tilt, mass=TRUNK, com=(0.0, 0.0, HEIGHT), inertia=(0.3, 0.26, 0.08),
                 shapes=looks, color="#e6e3da")  # fmt: skip
    model.add(trunk)
    lying = about((1.0, 0.0, 0.0), pi / 2)
    for name, side in (("left", 1.0), ("right", -1.0)):
        place = (0.0, side * TRACK / 2, RADIUS)
        looks_of_wheel = (
            Torus(RADIUS - TYRE, TYRE, rotation=lying),
            Cylinder(0.6 * RADIUS, 0.02, rotation=lying),
        )
        model.add(
            Body(f"{name}_wheel", at=place, mass=WHEEL, inertia=(0.0025, 0.005, 0.0025), shapes=looks_of_wheel,
                 material="rubber", color="#303438")
        )  # fmt: skip
        model.add(Hinge(name, "trunk", f"{name}_wheel", at=place, axis=(0.0, 1.0, 0.0), damping=0.001))
        model.add(DCMotor(f"{name}_motor", name, **MOTOR))
    return model


@lru_cache(maxsize=1)
def gains() -> dict[str, list[tuple[float, str]]]:
    """Of the regulator: of each motor, factors and formulas of what is off."""
    standing = linearise(mechanism(), drop_cyclic=True)
    told = [STATES[state.name] for state in standing.states]
    found = lqr(standing, [weight for _, weight in told], (PRICE, PRICE))
    return {
        port.name: [(float(k), what) for k, (what, _) in zip(row, told, strict=True)]
        for port, row in zip(standing.inputs, found, strict=True)
    }


def build(lean: float = 0.1, knock: float = 25.0) -> Model:
    """`lean` at the start [rad]; `knock`: force of the knock while the button is pressed [N]."""
    model = mechanism(lean)
    model.add(Marker("head", "trunk", at=(0.0, 0.0, RADIUS + 0.6)))
    model.add(Force("knock", "trunk", at=(0.0, 0.0, 0.5), force=(knock, 0.0, 0.0), follows=True))
    for block in _diagram():
        model.add(block)
    return model


def _diagram() -> list[Any]:
    """From stick and sensors to the voltages."""
    lean = "2*({0}.w*{0}.y - {0}.x*{0}.z)".format("trunk.rotation")
    blocks: list[Any] = [
        PanelGroup("drive", label="Drive", cell=(0, 0)),
        PanelGroup("robot", label="Robot", cell=(1, 0)),
        Joystick("stick", group="drive", label="Speed and turning", keys=("KeyA", "KeyD", "KeyS", "KeyW"),
                 axes=(0, 1), travel_time=0.6),
        Button("hit", group="drive", label="Knock", key="Space", button=0),
        Gauge("tells_speed", "speed", group="robot", label="Speed", low=-FASTEST, high=FASTEST),
        Gauge("tells_lean", "lean", group="robot", label="Leans by", low=-30.0, high=30.0, factor=180.0 / pi, unit="°"),
        Lamp("weak", "at_end", group="robot", label="Full voltage", color="#d29922"),
        IMU("senses", "trunk"),
        Formula("lean", f"asin(max(-1, min(1, {lean})))", unit="rad"),
        Formula("speed", f"{RADIUS}*(left.angle_rate/2 + right.angle_rate/2 + senses.wy)", unit="m/s"),
        ForceCommand("knocks", "knock", "hit"),
        # what the operator wishes, no faster than wheels can follow
        Formula("go", f"{FASTEST}*stick.y", unit="m/s"),
        Formula("turn", f"-{TURNING}*stick.x", unit="rad/s"),
        RateLimit("gently", "go", rising=1.0),
        RateLimit("round", "turn", rising=6.0),
        Formula("at_end", "abs(left_volts) > 0.99 or abs(right_volts) > 0.99", unit="1"),
    ]  # fmt: skip
    for name, sign in (("left", "-"), ("right", "+")):
        law = " + ".join(f"{k!r}*({what})" for k, what in gains()[f"{name}_motor"])
        blocks += [
            Formula(f"{name}_wish", f"(gently {sign} {TRACK / 2}*round)/{RADIUS}", unit="rad/s"),
            # what the motor induces at the wished rate, less what the regulator asks for
            Formula(
                f"{name}_law", f"{MOTOR['gear'] / MOTOR['idle_speed']!r}*{name}_wish - ({law})", unit="1"
            ),
            Saturation(f"{name}_volts", f"{name}_law", low=-1.0, high=1.0),
            DriveCommand(f"{name}_drive", f"{name}_motor", f"{name}_volts"),
        ]
    return blocks
