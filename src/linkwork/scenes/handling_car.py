"""A car with handling tyres pulls away, crosses a bump, weaves between two lanes and brakes, by tables or by hand.

MacPherson struts with a rack in front, five links a wheel behind, an anti-roll bar, a motor with differential, brakes.
"""

from __future__ import annotations

from typing import Any

from ..model import Material, Model, Plane, Scenery, Table
from ..model.errors import LinkworkError, nearest
from ..vehicle import Car, Driveline, Rack, WheelBrake, roads

SOURCE = "proposed here: sizes, masses, springs and tyres of a compact car"
DURATION = 16.0
ENDLESS = True
PLOT = ("chassis.position.y", "front.steering_wheel.*", "chassis.velocity.x", "chassis.angular_velocity.z")
WATCHED = 5.0
COURSES = ("weave", "brake", "stand")
_LANE = 3.5
_TURN = 1.6
"""Of the steering wheel in the weave [rad]."""
_TIMES = (0.0, 0.5, 1.0, 5.0, 5.5)
PEDALS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "weave": ((*_TIMES, 12.0, 12.3), (0.0, 0.0, 0.6, 0.6, 0.12, 0.12, 0.0)),
    "brake": (_TIMES, (0.0, 0.0, 0.8, 0.8, 0.0)),
    "stand": ((0.0,), (0.0,)),
}
"""Times [s] and share of the motor's torque."""
BRAKES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "weave": ((0.0, 12.3, 12.8), (0.0, 0.0, 0.45)),
    "brake": ((0.0, 6.0, 6.2), (0.0, 0.0, 0.6)),
    "stand": ((0.0,), (1.0,)),
}
"""Times [s] and how hard brakes are pressed."""
WHEEL: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "weave": (
        (0.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.5, 9.0, 9.5, 10.0, 10.5),
        (0.0, 0.0, _TURN, 0.0, -_TURN, 0.0, 0.0, -_TURN, 0.0, _TURN, 0.0),
    ),
    "brake": ((0.0,), (0.0,)),
    "stand": ((0.0,), (0.0,)),
}
"""Times [s] and angle of the steering wheel [rad]."""


def build(course: str = "weave", front: str = "macpherson_strut", rear: str = "multi_link") -> Model:
    """`course`: "weave", from lane to lane and back; "brake", straight on; "stand". `front`, `rear`: suspensions."""
    if course not in COURSES:
        raise LinkworkError(f"handling_car: there is no course '{course}'{nearest(course, COURSES)}")
    made = Car(
        front=front,
        rear=rear,
        steering=Rack(command=1.0, signal=Table(*WHEEL[course])),
        motor=Driveline(
            torque=280.0,
            power=110e3,
            top_speed=1400.0,
            inertia=0.03,
            command=1.0,
            signal=Table(*PEDALS[course]),
        ),
        brakes=WheelBrake(command=1.0, signal=Table(*BRAKES[course])),
    )
    road = [
        Material("road", friction=1.0),
        Scenery("floor", shapes=(Plane(),), material="road", color=roads.ROAD),
    ]
    for name, y, dash in (
        ("right", -0.5 * _LANE, 0.0),
        ("middle", 0.5 * _LANE, 3.0),
        ("left", 1.5 * _LANE, 0.0),
    ):
        road.append(roads.paint(name, [(-20.0, y), (320.0, y)], dash=dash))
    if course == "weave":
        road.append(roads.kerb("bump", start=22.0, length=0.5, height=0.04, width=4.0, color="#b08d57"))
    model = made.model(*road)
    model.name = "handling_car"
    return model


# --- the operator ---


def _drive(motor: float, brake: float, turn: float | None = None) -> Any:
    def press(session: Any) -> None:
        session.take_the_levers(True)
        session.command("rear.motor", motor)
        for axle in ("front", "rear"):
            for side in ("left", "right"):
                session.command(f"{axle}.{side}.brake", brake)
        if turn is not None:
            session.command("front.steering", turn)

    return press


BUTTONS = {
    "Forward": _drive(0.4, 0.0),
    "Left": _drive(0.15, 0.0, 2.0),
    "Straight on": _drive(0.15, 0.0, 0.0),
    "Right": _drive(0.15, 0.0, -2.0),
    "Brake": _drive(0.0, 0.5),
    "Back": _drive(-0.15, 0.0),
}
