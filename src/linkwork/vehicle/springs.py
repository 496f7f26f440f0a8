"""What springs a wheel: a coil spring between chassis and suspension, or a torsion spring in its hinge."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Literal

from pydantic import Field

from ..model.item import NonNegative, Number, item
from ..model.signals import Signal


@item
class Coil:
    """A coil spring with its damper, between the chassis and the suspension."""

    _: KW_ONLY
    stiffness: NonNegative | None = None
    """Stiffness [N/m]; default: at full bump the wheel carries twice its static load."""
    damping: NonNegative | None = None
    """Viscous damping along the spring [N s/m]; default: 0.3 of critical."""
    length: NonNegative | None = None
    """Length at which it is slack [m]; default: such that the corner rests at its neutral place under its load."""
    type: Literal["coil"] = "coil"
    """Which spring it is."""


@item
class Torsion:
    """A torsion spring with its damper, in the hinge of the arm at the chassis."""

    _: KW_ONLY
    stiffness: NonNegative | None = None
    """Stiffness [N m/rad]; default: at full bump the wheel carries twice its static load."""
    damping: NonNegative | None = None
    """Viscous damping [N m s/rad]; default: 0.3 of critical."""
    rest: Number | None = None
    """Angle of the arm at which it is slack [rad]; default: such that the corner rests at its neutral place under its
    load."""
    type: Literal["torsion"] = "torsion"
    """Which spring it is."""


AnySpring = Annotated[Coil | Torsion, Field(discriminator="type")]
SPRINGS = {"coil": Coil, "torsion": Torsion}


@item
class HubMotor:
    """A DC motor with its gear in the wheel, from its data sheet; the reaction acts on what carries the wheel."""

    _: KW_ONLY
    stall_torque: Annotated[Number, Field(gt=0)]
    """Torque of the motor at nominal voltage while it stands [N m]."""
    idle_speed: Annotated[Number, Field(gt=0)]
    """Speed of the motor at nominal voltage without load [rad/s]."""
    time_constant: NonNegative
    """Mechanical time constant of the motor alone [s]."""
    gear: Annotated[Number, Field(gt=0)] = 1.0
    """Turns of the motor per turn of the wheel [1]."""
    command: Number = 0.0
    """Voltage at the start, as a share of nominal, -1 to 1 [1]."""
    signal: Signal | None = None
    """Factor of the command over time; default: 1."""
