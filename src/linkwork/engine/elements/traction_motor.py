"""A motor by its map: constant torque, then constant power, up to its largest speed."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

from ...model.drive import Drive, PairDrive, Ratio
from ...model.item import NonNegative, Positive, item
from .law import Law, Response


@item
class MotorMap:
    """Full-load curve of a motor: torque up to where its power is reached, then power, up to its largest speed."""

    _: KW_ONLY
    torque: Positive
    """Largest torque of the motor [N m]."""
    power: Positive
    """Largest power [W]."""
    top_speed: Positive
    """Speed of the motor from which its torque fades to nothing, within a twentieth more [rad/s]."""
    inertia: NonNegative = 0.0
    """Of what turns with the motor [kg m²]."""


@item
class TractionMotor(MotorMap, Drive):
    """A motor by its map behind a gear; the command is the share of what it can do at its speed, -1 to 1.

    Negative commands drive backwards, and brake what turns forwards: it takes energy back.
    """

    kind = "traction_motor"
    law: ClassVar[Law]
    command_unit: ClassVar[str] = "1"
    full_command: ClassVar[str] = "full load"

    gear: Ratio = 1.0
    """Turns of the motor per turn of the joint [1], or per way [rad/m]."""

    def numbers(self) -> tuple[float, ...]:
        return abs(self.gear) * self.torque, self.power, self.top_speed / abs(self.gear)

    @property
    def rotor(self) -> float:
        """The rotor is tied to the joint, so its inertia is felt gear² times."""
        return self.gear**2 * self.inertia


@item
class AxleMotor(MotorMap, PairDrive):
    """A motor by its map that drives two joints through an open differential.

    The torque on both is the same, the speed of the motor that of their mean. The command is the share of what it
    can do at its speed, -1 to 1. With a `Clutch` between the same joints the
    differential is locked, or of limited slip.
    """

    kind = "axle_motor"
    law: ClassVar[Law]
    command_unit: ClassVar[str] = "1"
    full_command: ClassVar[str] = "full load"

    gear: Ratio = 1.0
    """Turns of the motor per turn of the differential's cage [1]."""
    ratio: Ratio = -1.0
    """Minus 1: both turn forward together; 1 where the second joint's angle grows the other way [1]."""

    # Along the sum of both angles, half of the gear: the cage turns at their mean.
    def numbers(self) -> tuple[float, ...]:
        gear = 0.5 * abs(self.gear)
        return gear * self.torque, self.power, self.top_speed / gear

    @property
    def rotor(self) -> float:
        return (0.5 * self.gear) ** 2 * self.inertia


def _respond(p, m, x, phi, rate, u):
    """p: torque, power, largest rate, at the joint."""
    share, speed = min(1.0, max(-1.0, u)), abs(rate)
    full, slope = p[0], 0.0
    if speed * p[0] > p[1]:
        full = p[1] / speed
        slope = -full / speed
    if speed > p[2]:
        fade = max(0.0, 1.0 - (speed / p[2] - 1.0) / 0.05)
        slope = slope * fade - (full / (0.05 * p[2]) if fade > 0.0 else 0.0)
        full *= fade
    force = share * full
    by_rate = share * (slope if rate > 0.0 else -slope)
    return Response(force, 0.0, by_rate, 0.0, 0.0, force * rate, 0.0)


TractionMotor.law = AxleMotor.law = Law("traction_motor", _respond)
