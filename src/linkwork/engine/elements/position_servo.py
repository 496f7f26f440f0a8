"""A drive that pulls a coordinate to where it is told."""

from __future__ import annotations

import math
from typing import ClassVar

from ...model.drive import Drive, Strength
from ...model.item import NonNegative, Positive, item
from .law import Law, Response


@item
class PositionServo(Drive):
    """Pulls a coordinate to the command [rad or m] like a spring and damper, as far as its strength allows."""

    kind = "position_servo"
    law: ClassVar[Law]
    along_rate: ClassVar[bool] = False
    command_unit: ClassVar[str] = "place"

    stiffness: Positive
    """Stiffness with which it pulls [N m/rad or N/m]."""
    damping: NonNegative = 0.0
    """Viscous damping [N m s/rad or N s/m]."""
    strength: Strength = math.inf
    """Largest torque or force [N m or N]; unlimited by default."""

    def numbers(self) -> tuple[float, ...]:
        return self.stiffness, self.damping


def _respond(p, m, x, phi, rate, u):
    """p: stiffness, damping. What it pulls with comes from outside: nothing is stored in it."""
    force = p[0] * (u - phi) - p[1] * rate
    return Response(force, -p[0], -p[1], 0.0, 0.0, force * rate, 0.0)


PositionServo.law = Law("position_servo", _respond)
