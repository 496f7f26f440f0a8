"""A truck with its semi-trailer drives through two bends; the trailer cuts the corners.

A tractor on a steered and a driven axle, a trailer on two axles, all with handling tyres; the trailer turns on a fifth
wheel, a ball with limits.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..model import Body, Box, Cylinder, Material, Model, Plane, Scenery, Spherical, Table
from ..vehicle import AntiRollBar, Brush, HubMotor, Rack, axle, fit, roads

SOURCE = "made for Linkwork: sizes and masses of a common European tractor and semi-trailer"
DURATION = 24.0
ENDLESS = True
PLOT = ("tractor.position.?", "fifth_wheel.q?", "tractor.angular_velocity.z")
WATCHED = 9.0
LIVE_OPTIONS = {"dt": 2e-3}
GRAVITY = 9.81
RADIUS, TRACK = 0.5, 2.0
"""Of all wheels, and between left and right ones [m]."""
TRACTOR, TRAILER = 6000.0, 20000.0
"""Sprung masses [kg]."""
TRACTOR_AT, TRAILER_AT, COUPLED_AT = 2.5, -5.0, 0.5
"""Where their centres of mass and the fifth wheel are ahead of the driven axle [m]."""
WHEELBASE, FIRST, LAST = 3.6, -7.0, -8.3
"""The steered axle and the trailer's ahead of the driven one [m]."""
LIMITS = (math.radians(8.0), math.radians(15.0), math.radians(100.0))
"""Of the fifth wheel about x, y and z [rad]."""
STEER = Table(
    (3.0, 5.0, 9.0, 11.0, 12.0, 14.0, 18.0, 20.0),
    (0.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0, 0.0),
)
"""Share of the largest angle of the steering wheel over time [s]."""
WHEEL_ANGLE = 3.0
"""Largest angle of the steering wheel in the bends [rad]."""
PACE = 0.5
"""Voltage as a share of nominal: towards 40 km/h [1]."""


def loads() -> dict[str, float]:
    """What each wheel carries of the sprung masses at rest, by the moments about fifth wheel and axles [N]."""
    middle = 0.5 * (FIRST + LAST)
    behind = TRAILER * GRAVITY * (COUPLED_AT - TRAILER_AT) / (COUPLED_AT - middle)
    coupled = TRAILER * GRAVITY - behind
    front = (TRACTOR * GRAVITY * TRACTOR_AT + coupled * COUPLED_AT) / WHEELBASE
    rear = TRACTOR * GRAVITY + coupled - front
    return {"front": 0.5 * front, "rear": 0.5 * rear, "trailer": 0.25 * behind}


def build(speed: float = PACE, steer: float = WHEEL_ANGLE, friction: float = 0.9) -> Model:
    """`speed`: voltage of its motors, as a share of nominal [1]; `steer`: largest angle of the steering wheel [rad];
    `friction` of the road [1]."""
    model = Model("truck")
    model.add(Material("asphalt", friction=friction))
    model.add(Scenery("road", shapes=(Plane(),), material="asphalt", color=roads.ROAD))
    model.add(roads.paint("middle", [(-12.0, 2.5), (160.0, 2.5)], dash=3.0))
    carried = loads()
    wheels: dict[str, Any] = {"track": TRACK, "radius": RADIUS, "width": 0.3, "tyre": Brush()}
    motor = HubMotor(
        stall_torque=800.0,
        idle_speed=900.0,
        time_constant=0.05,
        gear=20.0,
        command=speed,
        signal=Table((0.2, 2.0), (0.0, 1.0)),
    )
    front = axle(
        suspension="double_wishbone", load=carried["front"], steering=Rack(), anti_roll=AntiRollBar(stiffness=2e4),
        **wheels,
    )  # fmt: skip
    front.drives["steering"] = dataclasses.replace(front.drives["steering"], command=steer, signal=STEER)
    rear = axle(suspension="solid_axle", load=carried["rear"], drive=motor, **wheels)
    trailing = axle(suspension="solid_axle", load=carried["trailer"], **wheels)
    cab, frame = Box((1.8, 2.3, 2.2), at=(0.9, 0.0, 1.0)), Box((5.2, 0.8, 0.25), at=(-0.6, 0.0, -0.35))
    cargo, beam = Box((12.4, 2.5, 2.5), at=(-0.3, 0.0, 0.9)), Box((12.4, 0.9, 0.25), at=(-0.3, 0.0, -0.5))
    king = Cylinder(0.4, 0.08, at=(COUPLED_AT - TRACTOR_AT, 0.0, 0.2))
    for name, x, z, mass, inertia, looks, colour in (
        ("tractor", TRACTOR_AT, 1.0, TRACTOR, (4e3, 1.5e4, 1.6e4), (cab, frame, king), "#2f5d8a"),
        ("trailer", TRAILER_AT, 1.9, TRAILER, (2.5e4, 2.8e5, 2.8e5), (cargo, beam), "#c9ced3"),
    ):
        model.add(Body(name, at=(x, 0.0, z), mass=mass, inertia=inertia, shapes=looks, color=colour))
    for name, part, chassis, x in (
        ("front", front, "tractor", WHEELBASE), ("rear", rear, "tractor", 0.0),
        ("first", trailing, "trailer", FIRST), ("last", trailing, "trailer", LAST),
    ):  # fmt: skip
        fit(model, name, part, chassis=chassis, at=(x, 0.0, RADIUS))
    limits = tuple((-limit, limit) for limit in LIMITS)
    model.add(Spherical("fifth_wheel", "tractor", "trailer", at=(COUPLED_AT, 0.0, 1.2), limits=limits))
    return model


def _drive(share: float) -> Any:
    def press(session: Any) -> None:
        session.take_the_levers(True)
        for side in ("left", "right"):
            session.command(f"rear.{side}.motor", share)

    return press


def _steer(angle: float) -> Any:
    def press(session: Any) -> None:
        session.take_the_levers(True)
        session.command("front.steering", angle)

    return press


BUTTONS = {
    "Forward": _drive(PACE),
    "Back": _drive(-0.5 * PACE),
    "Stop": _drive(0.0),
    "Left": _steer(WHEEL_ANGLE),
    "Straight on": _steer(0.0),
    "Right": _steer(-WHEEL_ANGLE),
}
