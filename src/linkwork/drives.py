"""Drives of joints and couplings between them: descriptions that become rows.

A drive acts on one coordinate of a joint, wherever that joint stands: in the tree or closing a loop. Its command
(`command`, scaled by `signal` over time) can be changed while running: `sim.command("motor", 0.5)`.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from .item import Item, JointName, NonNegative, Number, Positive, _plain, item
from .signals import Signal
from .tables import DC_MOTOR, SERVO_PLACE, SERVO_RATE, TORQUE


def _not_zero(value: float) -> float:
    if value == 0.0:
        raise ValueError("must not be zero")
    return value


Strength = Annotated[float, BeforeValidator(_plain), Field(strict=True, ge=0)]
"""A bound that may be infinite."""
Ratio = Annotated[Number, AfterValidator(_not_zero)]


@item
class Drive(Item):
    """Something that moves a joint on command."""

    shelf = "drives"
    role: ClassVar[int]

    joint: JointName
    _: KW_ONLY
    coordinate: str | None = None
    """Which coordinate of the joint; default: its first."""
    command: Number = 0.0
    """What it is told at the start, in units of its kind."""
    signal: Signal | None = None
    """Factor of the command over time."""

    def numbers(self) -> tuple[float, ...]:
        """What the row kernel reads of it."""
        raise NotImplementedError


@item
class TorqueSource(Drive):
    """A torque or force between the bodies of a joint; the command is its size [N m or N]."""

    kind = "torque_source"
    role = TORQUE

    def numbers(self) -> tuple[float, ...]:
        return ()


@item
class VelocityServo(Drive):
    """Keeps a rate, the command [rad/s or m/s], as far as its strength allows."""

    kind = "velocity_servo"
    role = SERVO_RATE

    strength: Strength = math.inf
    """Largest torque or force [N m or N]; unlimited by default."""

    def numbers(self) -> tuple[float, ...]:
        return (self.strength,)


@item
class PositionServo(Drive):
    """Pulls a coordinate to the command [rad or m] like a spring and damper, as far as its strength allows."""

    kind = "position_servo"
    role = SERVO_PLACE

    stiffness: Positive
    """[N m/rad or N/m]"""
    damping: NonNegative = 0.0
    """[N m s/rad or N s/m]"""
    strength: Strength = math.inf
    """Largest torque or force [N m or N]; unlimited by default."""

    def numbers(self) -> tuple[float, ...]:
        return self.strength, self.stiffness, self.damping


@item
class DCMotor(Drive):
    """A DC motor behind a gear, from its data sheet; the command is the voltage as a share of nominal, -1 to 1.

    I ω' = stall_torque (U - ω/idle_speed) + τ with I = stall_torque time_constant/idle_speed and ω = gear q̇. Back-EMF
    and rotor are treated implicitly: stable at any step.
    """

    kind = "dc_motor"
    role = DC_MOTOR

    stall_torque: Positive
    """Of the motor at nominal voltage [N m]."""
    idle_speed: Positive
    """Of the motor at nominal voltage without load [rad/s]."""
    time_constant: NonNegative
    """Mechanical, of the motor alone [s]."""
    gear: Ratio = 1.0
    """Turns of the motor per turn of the joint."""

    def numbers(self) -> tuple[float, ...]:
        rotor = self.stall_torque * self.time_constant / self.idle_speed
        return self.stall_torque, self.idle_speed, rotor, self.gear


@item
class Repeater(Item):
    """Makes one joint follow another: the coordinate of `a` moves `ratio` times as far as that of `b`."""

    kind = "repeater"
    shelf = "couplings"

    a: JointName
    b: JointName
    _: KW_ONLY
    ratio: Ratio = 1.0
    coordinate_a: str | None = None
    """Which coordinate of a; default: its first."""
    coordinate_b: str | None = None

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if (self.a, self.coordinate_a) == (self.b, self.coordinate_b):
            raise ValueError(f"couples '{self.a}' with itself")
        return self


DRIVES: dict[str, type[Drive]] = {
    drive.kind: drive for drive in (TorqueSource, VelocityServo, PositionServo, DCMotor)
}
"""Every drive by the name that model files call it."""

COUPLINGS: dict[str, type[Item]] = {Repeater.kind: Repeater}
"""Every coupling by the name that model files call it."""
