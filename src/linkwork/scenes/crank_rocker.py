"""Crank and rocker: a four-bar whose crank a DC motor turns through a gear."""

from math import acos, cos, hypot, radians, sin

from ..engine.elements import DCMotor
from ..model import GROUND, Hinge, Marker, Model
from .n_four_bar import rod

SOURCE = "motor: maxon RE 40, 48 V, 150 W (148877), catalogue values; four-bar and gear proposed here"
DURATION = 5.0
ENDLESS = True
PLOT = ("crank.angle_rate", "rocker.angle", "energy.supplied")
BUTTONS = {
    "Full voltage": lambda session: session.command("motor", 1.0),
    "Reverse": lambda session: session.command("motor", -1.0),
    "Short-circuit": lambda session: session.command("motor", 0.0),
}
BASE, CRANK, COUPLER, ROCKER = 0.4, 0.1, 0.35, 0.3
STALL, IDLE, TIME_CONSTANT, GEAR = 2.56, 794.8229413, 0.00428, 43.0


def points(angle: float) -> dict[str, tuple[float, float]]:
    """Pins for a crank angle [rad]."""
    B = (CRANK * cos(angle), CRANK * sin(angle))
    dx, dy = BASE - B[0], -B[1]
    far = hypot(dx, dy)
    along = (COUPLER**2 - ROCKER**2 + far**2) / (2 * far)
    turn = acos(along / COUPLER)
    x, y = COUPLER * dx / far, COUPLER * dy / far
    C = (B[0] + x * cos(turn) - y * sin(turn), B[1] + x * sin(turn) + y * cos(turn))
    return {"A": (0.0, 0.0), "B": B, "C": C, "D": (BASE, 0.0)}


def build(voltage: float = 0.5, gear: float = GEAR, start: float = 60.0) -> Model:
    """`voltage` as a share of nominal; `gear`: turns of motor per turn of crank; `start` of the crank [°]."""
    model = Model("crank_rocker", gravity=(0.0, -9.81, 0.0))
    pin = points(radians(start))
    for name, ends, mass in (("arm", "AB", 0.2), ("coupler", "BC", 0.5), ("lever", "DC", 1.0)):
        model.add(rod(name, pin[ends[0]], pin[ends[1]], mass, 0.02))
    for name, a, b, at in (
        ("crank", GROUND, "arm", "A"), ("knee", "arm", "coupler", "B"),
        ("wrist", "coupler", "lever", "C"), ("rocker", GROUND, "lever", "D"),
    ):  # fmt: skip
        model.add(Hinge(name, a, b, at=(*pin[at], 0.0)))
    motor = DCMotor(
        "motor", "crank", stall_torque=STALL, idle_speed=IDLE, time_constant=TIME_CONSTANT, gear=gear, command=voltage
    )  # fmt: skip
    model.add(motor)
    model.add(Marker("hand", "coupler", at=(*pin["C"], 0.0)))
    return model
