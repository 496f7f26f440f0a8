"""A robot on two tracks climbs a step, drives along it and down again, and turns on the spot."""

from __future__ import annotations

from typing import Any

from ..model import Body, Box, Material, Model, Plane, Scenery, Table
from ..vehicle import HubMotor, Track, fit, roads
from .krt100 import MOTOR

SOURCE = "made for Linkwork; motor: maxon RE 40, 148877"
DURATION = 20.0
ENDLESS = True
PLOT = ("hull.position.?", "hull.angular_velocity.z", "*.motor.torque")
WATCHED = 6.0
LIVE_OPTIONS = {"dt": 2e-3}
MASS, GAUGE = 60.0, 0.5
"""Of the hull [kg]; from the middle of one track to that of the other [m]."""
STEP = 0.12
"""Higher than the wheels' radius [m]."""
PACE, TURN = 0.3, 0.4
"""Voltages as shares of nominal: straight on at 0.55 m/s, and of either track on the spot [1]."""
_CLIMBED, _TURNED = 8.0, 14.0  # [s]
LEFT = ((0.0, 0.5, _CLIMBED, _CLIMBED + 0.3, _TURNED, _TURNED + 0.3), (0.0, PACE, PACE, -TURN, -TURN, PACE))
RIGHT = ((0.0, 0.5, _CLIMBED, _CLIMBED + 0.3, _TURNED, _TURNED + 0.3), (0.0, PACE, PACE, TURN, TURN, PACE))
"""Times [s] and voltages."""


def tracks(command: float = 1.0) -> dict[str, Track]:
    """Its two tracks by their names."""
    return {
        side: Track(
            length=0.8, load=0.5 * MASS * 9.81, radius=0.1,
            drive=HubMotor(**MOTOR, command=command, signal=Table(*program)),
        )
        for side, program in (("left", LEFT), ("right", RIGHT))
    }  # fmt: skip


def build(step: float = STEP, friction: float = 0.9) -> Model:
    """`step`: how high it is [m], 0 for none; `friction` of the ground [1]."""
    model = Model("tracked_robot")
    model.add(Material("soil", friction=friction))
    model.add(Scenery("floor", shapes=(Plane(),), material="soil", color="#8a8d8a"))
    if step > 0.0:
        model.add(
            roads.kerb(
                "step", start=1.2, length=1.6, height=step, width=2.0, material="soil", color="#b08d57"
            )
        )
    looks = (
        Box((1.0, 0.36, 0.16), at=(0.0, 0.0, 0.12)),
        Box((0.4, 0.3, 0.12), at=(-0.1, 0.0, 0.26)),
        Box((0.05, 0.05, 0.35), at=(0.3, 0.0, 0.35)),
        Box((0.08, 0.16, 0.08), at=(0.32, 0.0, 0.54)),
    )
    made = tracks()
    height = made["left"].radius
    hull: dict[str, Any] = {"mass": MASS, "com": (0.0, 0.0, 0.12), "inertia": (1.5, 4.5, 5.0)}
    model.add(Body("hull", at=(0.0, 0.0, height), shapes=looks, color="#4f6d3a", **hull))
    for side, y in (("left", 0.5 * GAUGE), ("right", -0.5 * GAUGE)):
        fit(model, side, made[side].component(), chassis="hull", at=(0.0, y, height))
    return model


def _drive(left: float, right: float) -> Any:
    def press(session: Any) -> None:
        session.take_the_levers(True)
        session.command("left.motor", left)
        session.command("right.motor", right)

    return press


BUTTONS = {
    "Forward": _drive(PACE, PACE),
    "Left": _drive(-TURN, TURN),
    "Right": _drive(TURN, -TURN),
    "Back": _drive(-PACE, -PACE),
    "Stop": _drive(0.0, 0.0),
}
