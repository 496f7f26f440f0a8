"""What the robot is told: postures and places of its right hand over time, and the servos that follow them.

Everything happens in planes of walking. Postures are leans of segments from the vertical, so that angles of joints are
differences; the arm is found from where its wrist has to be.
"""

from __future__ import annotations

from math import acos, atan2, cos, hypot, radians, sin
from typing import NamedTuple

from ...engine.elements import PositionServo
from ...model import Model, Table
from .robot import (  # fmt: skip
    ANKLE,
    CURL,
    DIGITS,
    FINGERS,
    FOREARM,
    HALF_SHOULDERS,
    PELVIS,
    SHANK,
    SHOULDER,
    THIGH,
    THUMB_START,
    TORSO,
    UPPER_ARM,
)

DURATION = 7.5
SAMPLE = 0.05
"""Time between points of the commands [s]."""
STONE_AT = (0.42, -HALF_SHOULDERS, 0.58)
"""Middle of the stone as it lies, in front of the right shoulder [m]."""

Place = tuple[float, float]
"""x and z in the plane of the right arm [m]."""


class Moment(NamedTuple):
    """What is wanted at a time."""

    time: float
    """[s]"""
    leans: tuple[float, float, float, float]
    """Of shanks, thighs, pelvis and torso, positive to the front [°]."""
    wrist: Place
    """Of the right arm [m]."""
    ready: float
    """How far the right hand is turned from hanging to palm down, fingers ahead; the head looks at it, 0 to 1."""
    fingers: float
    """Angle of their base joints [rad]."""
    thumb: float
    """Angle of the thumb's base joint [rad]."""


def by_stone(ahead: float, up: float) -> Place:
    """A place given from the middle of the stone as it lies [m]."""
    return STONE_AT[0] + ahead, STONE_AT[2] + up


UPRIGHT, BENT, RISEN = (0.0, 0.0, 0.0, 0.0), (22.0, -45.0, 25.0, 40.0), (12.0, -18.0, 6.0, 14.0)
HANGING = (0.0, SHOULDER - UPPER_ARM - FOREARM)
COURSE = (
    Moment(0.0, UPRIGHT, HANGING, 0.0, 0.0, THUMB_START),
    Moment(0.5, UPRIGHT, HANGING, 0.0, 0.0, THUMB_START),
    Moment(2.3, BENT, by_stone(-0.048, 0.17), 1.0, 0.0, THUMB_START),  # bend and reach
    Moment(3.1, BENT, by_stone(-0.048, 0.068), 1.0, 0.3, THUMB_START),  # down over the stone
    Moment(3.7, BENT, by_stone(-0.048, 0.068), 1.0, 1.3, 1.1),  # fingers around it
    Moment(4.2, BENT, by_stone(-0.048, 0.068), 1.0, 2.0, 1.25),  # squeeze
    Moment(5.4, RISEN, by_stone(-0.1, 0.34), 1.0, 2.0, 1.25),  # up with it
)
NOD, COUNTER = radians(25.0), radians(25.0)
"""How far the head bends to look at the stone, and the left elbow for balance [rad]."""

SERVOS = {
    "hip": (6000.0, 300.0, 250.0), "knee": (6000.0, 300.0, 250.0), "ankle": (6000.0, 300.0, 200.0),
    "waist": (6000.0, 300.0, 250.0), "neck": (200.0, 8.0, 20.0),
    "shoulder": (2500.0, 80.0, 80.0), "twist": (2000.0, 40.0, 60.0), "elbow": (2000.0, 40.0, 60.0),
    "wrist": (500.0, 8.0, 20.0), "thumb_base": (60.0, 0.6, 4.0), "thumb.bend": (40.0, 0.4, 2.0),
    "base": (30.0, 0.3, 1.6), "bend": (20.0, 0.2, 0.8),
}  # fmt: skip
"""Stiffness [N m/rad], damping [N m s/rad] and strength [N m] of the servos, by how the name of a joint ends.

Fingers are weak: they close until the stone stops them, and press. The thumb is what they press against.
"""


def shoulder_at(leans: tuple[float, ...]) -> Place:
    """Of the shoulders over flat feet; leans in radians."""
    x, z = 0.0, ANKLE
    for length, lean in zip((SHANK, THIGH, PELVIS, TORSO), leans, strict=True):
        x += length * sin(lean)
        z += length * cos(lean)
    return x, z


def arm_to(shoulder: Place, wrist: Place) -> tuple[float, float]:
    """Leans of upper arm and forearm that take the wrist there, elbow behind [rad]: 0 if they hang."""
    dx, dz = wrist[0] - shoulder[0], wrist[1] - shoulder[1]
    far = min(hypot(dx, dz), UPPER_ARM + FOREARM)
    bearing = atan2(-dx, -dz)
    inner = acos(min(1.0, (UPPER_ARM**2 + far**2 - FOREARM**2) / (2 * UPPER_ARM * far)))
    outer = acos(min(1.0, (FOREARM**2 + far**2 - UPPER_ARM**2) / (2 * FOREARM * far)))
    return bearing + inner, bearing - outer


def course(t: float) -> Moment:
    """What is wanted at any time: moments of the script joined by curves without a jerk."""
    if t >= COURSE[-1].time:
        return COURSE[-1]
    later = next(i for i in range(1, len(COURSE)) if t <= COURSE[i].time)
    before, after = COURSE[later - 1], COURSE[later]
    share = (t - before.time) / (after.time - before.time)
    ease = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)

    def between(x: float, y: float) -> float:
        return x + (y - x) * ease

    a, b, c, d = map(between, before.leans, after.leans)
    x, z = map(between, before.wrist, after.wrist)
    return Moment(t, (a, b, c, d), (x, z), *map(between, before[3:], after[3:]))


def angles(t: float) -> dict[str, float]:
    """What the servos are told at a time [s], by joint and coordinate [rad]; those left out stay at zero."""
    moment = course(t)
    shank, thigh, pelvis, torso = leans = tuple(map(radians, moment.leans))
    upper, fore = arm_to(shoulder_at(leans), moment.wrist)
    palm = moment.ready * radians(-90.0)
    told = {
        "waist.angle_y": torso - pelvis,
        "neck.angle_y": moment.ready * NOD,
        "right_shoulder.angle_x": upper - torso,
        "right_arm.elbow.angle": fore - upper,
        "right_arm.wrist.angle_x": moment.ready * radians(90.0),
        "right_arm.wrist.angle_y": palm - fore,
        "left_shoulder.angle_x": -torso / 2,
        "left_arm.elbow.angle": -moment.ready * COUNTER,
        "left_arm.hand.thumb_base.angle": THUMB_START,
        "left_arm.hand.thumb.bend.angle": CURL * THUMB_START,
    }
    for side in ("left", "right"):
        told[f"{side}_leg.hip.angle_y"] = thigh - pelvis
        told[f"{side}_leg.knee.angle"] = shank - thigh
        told[f"{side}_leg.ankle.angle_y"] = -shank
    for digit in DIGITS:
        base = moment.fingers if digit in FINGERS else moment.thumb
        told[f"right_arm.hand.{digit}_base.angle"] = base
        told[f"right_arm.hand.{digit}.bend.angle"] = CURL * base
    return told


def add_servos(model: Model, scripted: bool = True) -> None:
    """A servo for every coordinate of every joint of the robot; without the script they keep what it begins with."""
    times = [SAMPLE * i for i in range(round(COURSE[-1].time / SAMPLE) + 1)] if scripted else [0.0]
    told = [angles(t) for t in times]
    for name, joint in model.flatten().joints.items():
        if joint.kind == "free":
            continue
        for coordinate in joint.coordinates:
            key = f"{name}.{coordinate}"
            values = tuple(at.get(key, 0.0) for at in told)
            stiffness, damping, strength = next(servo for end, servo in SERVOS.items() if name.endswith(end))
            moves = any(value != values[0] for value in values)
            model.add(
                PositionServo(
                    key.replace(".", "_"), name, coordinate=coordinate,
                    stiffness=stiffness, damping=damping, strength=strength,
                    command=1.0 if moves else values[0], signal=Table(tuple(times), values) if moves else None,
                )
            )  # fmt: skip
