"""A drive that keeps a rate: a constraint with bounds on its force, hence without a law of its own."""

from __future__ import annotations

import math
from typing import ClassVar

from ...model.drive import Drive, Strength
from ...model.item import item
from .law import Law


@item
class VelocityServo(Drive):
    """Keeps a rate, the command [rad/s or m/s], as far as its strength allows."""

    kind = "velocity_servo"
    law: ClassVar[Law | None] = None
    command_unit: ClassVar[str] = "rate"

    strength: Strength = math.inf
    """Largest torque or force [N m or N]; unlimited by default."""
