"""A robot on double transverse arms pulls its cart on sliding pillars by a hitch with limits, over hill and obstacles.

KRT-100M: four driven wheels steer by their speeds (skid steering); torsion springs in front, coil springs on the cart.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..model import Body, Box, HeightField, Material, Model, Plane, Scenery, Spherical, Table
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Vector
from ..vehicle import DoubleTransverse, HubMotor, SlidingPillar, Wheel, fit
from ..vehicle.constructor import Side
from ..vehicle.springs import Coil, Torsion

SOURCE = (
    "suspensions, drives and hitch limits of Strashnov, Torgashev and Mikhaylyuk (KRT-100M, KRT100-MP with a trailer), "
    "who give no dimensions: sizes and masses proposed here; motor: maxon RE 40, 148877"
)
DURATION = 30.0
ENDLESS = True
PLOT = ("hitch.q?", "*_pivot.angle", "robot.position.?")
WATCHED = 6.0
LIMITS = (math.radians(18.0), math.radians(15.0), math.radians(18.0))
"""Of the rotation vector of the cart against the robot, about x, y and z [rad]."""
GRAVITY = 9.81
ROBOT_MASS, CART_MASS = 120.0, 60.0
ROBOT_AT, CART_AT, HITCH_AT = (0.0, 0.0, 0.4), (-1.25, 0.0, 0.38), (-0.65, 0.0, 0.35)
WHEELS: dict[str, Vector] = {
    "front_left": (0.35, 0.42, 0.2),
    "front_right": (0.35, -0.42, 0.2),
    "rear_left": (-0.35, 0.42, 0.2),
    "rear_right": (-0.35, -0.42, 0.2),
    "cart_left": (-1.3, 0.36, 0.18),
    "cart_right": (-1.3, -0.36, 0.18),
}
"""Centres at rest [m]."""
MOTOR: dict[str, Any] = {
    "stall_torque": 2.56,
    "idle_speed": 794.8229413,
    "time_constant": 0.00428,
    "gear": 43.0,
}
SIDES: dict[str, Side] = {"left": "left", "right": "right"}
PACE, UPHILL, SLOW, TURN = 0.25, 0.35, 0.12, (-0.35, 0.85)
"""Voltages as shares of nominal: straight on at 0.9 m/s, over the hill, over a box, of the inner and outer wheels of a
turn, in which wheels slide [1]."""
HEIGHT = 0.06
"""Of the obstacles [m]."""
COURSES = ("tour", "hill", "turns", "bank", "short box", "long box", "flat")
CHOICES = {"course": COURSES}


def hand_sums(cart: bool = True) -> dict[str, float]:
    """What each corner carries at rest, with or without the cart, by the moments about hitch and axles [N]."""
    weight = CART_MASS * GRAVITY if cart else 0.0
    behind = weight * (HITCH_AT[0] - CART_AT[0]) / (HITCH_AT[0] - WHEELS["cart_left"][0])
    hitch = weight - behind
    robot = ROBOT_MASS * GRAVITY
    front, rear = WHEELS["front_left"][0], WHEELS["rear_left"][0]
    on_rear = (robot * (front - ROBOT_AT[0]) + hitch * (front - HITCH_AT[0])) / (front - rear)
    return {"front": (robot + hitch - on_rear) / 2, "rear": on_rear / 2, "cart": behind / 2, "hitch": hitch}


def corner(name: str, drive: HubMotor | None = None, cart: bool = True, **choices: Any) -> Wheel:
    """One of its wheels, made for what it carries with or without the cart; other choices of `Wheel`."""
    axle, side = name.split("_")
    load = hand_sums(cart)[axle]
    if axle == "cart":
        return Wheel(
            suspension=SlidingPillar(
                foot=(0.0, -0.03, 0.0), com=(0.0, -0.03, 0.07), upright_mass=1.2, spring_top=(0.0, -0.03, 0.175)
            ),
            side=SIDES[side], radius=0.18, width=0.1, load=load, travel=(-0.05, 0.05), mass=3.0,
            inertia=(0.03, 0.05, 0.03),
            spring=Coil(stiffness=12000.0, damping=700.0), **choices,
        )  # fmt: skip
    return Wheel(
        suspension=DoubleTransverse(lower_mass=1.0, upper_mass=0.8, upright_mass=1.5),
        side=SIDES[side], radius=0.2, width=0.12, load=load, travel=(-0.06, 0.06), mass=4.0,
        inertia=(0.045, 0.08, 0.045),
        spring=Torsion(stiffness=160.0, damping=6.6), drive=drive, **choices,
    )  # fmt: skip


def build(course: str = "tour") -> Model:
    """`course`: "tour", over all of it; "hill"; "turns"; "bank", under the right wheels; "short box" and
    "long box" under the right wheels; "flat", where it stands."""
    if course not in COURSES:
        raise LinkworkError(f"krt100: there is no course '{course}'{nearest(course, COURSES)}")
    model = Model("krt100")
    model.add(Material("soil", friction=0.8))
    for thing in _terrain(course):
        model.add(thing)
    for name, at, mass, inertia, size, colour in (
        ("robot", ROBOT_AT, ROBOT_MASS, (5.0, 11.3, 13.6), (1.0, 0.38, 0.3), "#4f6d3a"),
        ("cart", CART_AT, CART_MASS, (2.0, 2.9, 4.0), (0.7, 0.55, 0.3), "#6b7350"),
    ):
        model.add(Body(name, at=at, mass=mass, inertia=inertia, shapes=_looks(name, size), color=colour))
    times, left, right = PROGRAMS[course]
    for name, at in WHEELS.items():
        signal = Table(times, left if name.endswith("left") else right)
        drive = None if name.startswith("cart") else HubMotor(**MOTOR, command=1.0, signal=signal)
        chassis = "cart" if name.startswith("cart") else "robot"
        fit(model, name, corner(name, drive).component(), chassis=chassis, at=at)
    limits = tuple((-limit, limit) for limit in LIMITS)
    model.add(Spherical("hitch", "robot", "cart", at=HITCH_AT, limits=limits))
    return model


def _looks(name: str, size: Vector) -> tuple[Box, ...]:
    length, width, height = size
    if name == "robot":
        bar = Box((0.2, 0.06, 0.06), at=(-0.57, 0.0, -0.05))
        mast = Box((0.06, 0.06, 0.4), at=(0.25, 0.0, 0.3))
        return (
            Box(size),
            Box((0.6, 0.3, 0.06), at=(0.0, 0.0, 0.18)),
            mast,
            Box((0.1, 0.2, 0.08), at=(0.27, 0.0, 0.5)),
            bar,
        )
    bar = Box((0.3, 0.06, 0.06), at=(0.45, 0.0, -0.03))
    return (
        Box((length, width, 0.5 * height)),
        Box((0.9 * length, 0.8 * width, 0.5 * height), at=(0.0, 0.0, 0.1)),
        bar,
    )


# --- where it drives ---

_HILL_AT, _HILL = 4.0, (4.0, 6.0)  # middle of the hill, its length and width [m]
_CREST = 0.3  # [m]
_BANK = (4.0, 4.0)
_CELL = 0.1
Voltages = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]
_GO = (0.0, 0.5, 1.0)
PROGRAMS: dict[str, Voltages] = {
    "tour": (
        (*_GO, 10.0, 10.2, 13.0, 13.2, 17.0, 17.2, 20.0, 20.2, 23.0, 23.2, 29.0, 29.5),
        (
            0.0,
            0.0,
            UPHILL,
            UPHILL,
            PACE,
            PACE,
            PACE,
            PACE,
            TURN[1],
            TURN[1],
            TURN[0],
            TURN[0],
            PACE,
            PACE,
            0.0,
        ),
        (
            0.0,
            0.0,
            UPHILL,
            UPHILL,
            PACE,
            PACE,
            PACE,
            PACE,
            TURN[0],
            TURN[0],
            TURN[1],
            TURN[1],
            PACE,
            PACE,
            0.0,
        ),
    ),
    "hill": (_GO, (0.0, 0.0, UPHILL), (0.0, 0.0, UPHILL)),
    "turns": (
        (*_GO, 1.2, 5.0, 5.2, 9.0, 9.2),
        (0.0, 0.0, PACE, TURN[0], TURN[0], TURN[1], TURN[1], PACE),
        (0.0, 0.0, PACE, TURN[1], TURN[1], TURN[0], TURN[0], PACE),
    ),
    "bank": (_GO, (0.0, 0.0, UPHILL), (0.0, 0.0, UPHILL)),
    "short box": (_GO, (0.0, 0.0, SLOW), (0.0, 0.0, SLOW)),
    "long box": (_GO, (0.0, 0.0, SLOW), (0.0, 0.0, SLOW)),
    "flat": ((0.0,), (0.0,), (0.0,)),
}
"""Times [s], voltages of the left and of the right wheels as shares of nominal."""


def _terrain(course: str) -> list[Scenery]:
    made = [Scenery("floor", shapes=(Plane(),), material="soil", color="#8a8d8a")]
    if course in ("tour", "hill"):
        made.append(
            Scenery("hill", at=(_HILL_AT, 0.0, 0.0), shapes=(_hill(),), material="soil", color="#7f9464")
        )
    if course == "bank":
        made.append(Scenery("bank", at=(3.0, 0.0, 0.0), shapes=(_bank(),), material="soil", color="#7f9464"))
    if course == "tour":
        made.append(_box("kerb", 7.6, 0.3))
        made.append(_box("ramp", 9.4, 1.4))
    if course in ("short box", "long box"):
        made.append(_box("obstacle", 0.9, 0.3) if course == "short box" else _box("obstacle", 1.5, 1.5))
    return made


def _box(name: str, x: float, length: float) -> Scenery:
    """An obstacle under the right wheels."""
    return Scenery(
        name, at=(x, -0.55, 0.5 * HEIGHT), shapes=(Box((length, 0.7, HEIGHT)),), material="soil", color="#b08d57"
    )  # fmt: skip


def _hill() -> HeightField:
    """A ridge across the way, a little aslant, that falls to the ground all around it."""
    length, width = _HILL
    x = np.linspace(-0.5, 0.5, round(length / _CELL) + 1)[None, :] * length
    y = np.linspace(-0.5, 0.5, round(width / _CELL) + 1)[:, None] * width
    shifted = x + 0.15 * y
    ridge = np.exp(-((shifted / 0.85) ** 2)) * np.exp(-((y / 1.6) ** 4))
    rim = np.cos(np.pi * x / length) ** 2 * np.cos(np.pi * y / width) ** 2
    heights = _CREST * ridge * np.minimum(1.0, 3.0 * rim) - 1e-3
    return HeightField((length, width), heights=tuple(map(tuple, heights.tolist())), smooth=True)


def _bank() -> HeightField:
    """Ground that rises to the right, to 24° across the way, and falls to the floor before and behind."""
    length, width = _BANK
    x = np.linspace(-0.5, 0.5, round(length / _CELL) + 1)[None, :] * length
    y = np.linspace(-0.5, 0.5, round(width / _CELL) + 1)[:, None] * width
    across = 0.45 * 0.5 * (np.hypot(y - 0.5, 0.3) - (y - 0.5) - 0.3)
    along = np.exp(-((x / 0.8) ** 4))
    return HeightField(
        (length, width), heights=tuple(map(tuple, (across * along - 1e-3).tolist())), smooth=True
    )


# --- the operator ---


def _drive(left: float, right: float) -> Any:
    def press(session: Any) -> None:
        session.take_the_levers(True)
        for name in WHEELS:
            if not name.startswith("cart"):
                session.command(f"{name}.motor", left if name.endswith("left") else right)

    return press


BUTTONS = {
    "Forward": _drive(PACE, PACE),
    "Left": _drive(*TURN),
    "Right": _drive(*TURN[::-1]),
    "Back": _drive(-PACE, -PACE),
    "Stop": _drive(0.0, 0.0),
}
