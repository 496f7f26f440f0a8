"""What every drive has: a joint coordinate to act on, a command, and a law."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field

from .item import Item, JointName, Number, _plain, item
from .signals import Signal


def _not_zero(value: float) -> float:
    if value == 0.0:
        raise ValueError("must not be zero")
    return value


Strength = Annotated[float, BeforeValidator(_plain), Field(strict=True, ge=0)]
"""A bound that may be infinite."""
Ratio = Annotated[Number, AfterValidator(_not_zero)]


@item
class Drive(Item):
    """Something that moves a joint on command.

    It acts on one coordinate of a joint, wherever that joint stands: in the tree or closing a loop. Its command
    (`command`, scaled by `signal` over time) can be changed while running: `sim.command("motor", 0.5)`.
    """

    shelf = "drives"
    law: ClassVar[Any]
    """Its `Law`; None for a drive that keeps a rate whatever that takes, within its strength."""
    along_rate: ClassVar[bool] = True
    """Whether it is about the rate alone: of a ball, then, the angular velocity instead of the rotation vector."""
    command_unit: ClassVar[str] = "force"
    """What the command is: "force", "rate", "place", or a unit."""

    supplies: ClassVar[bool] = True
    """Whether its power comes from outside; what a brake takes is turned into heat."""
    full_command: ClassVar[str] = ""
    """What a command of 1 is, where more has no effect."""

    joint: JointName
    """The joint that it moves, in the tree or closing a loop."""
    _: KW_ONLY
    coordinate: str | None = None
    """Which coordinate of the joint, by its name such as `angle` or `travel`; default: its first."""
    command: Number = 0.0
    """What it is told at the start [in the unit that its kind says above]."""
    signal: Signal | None = None
    """Factor of the command over time; default: 1."""

    def numbers(self) -> tuple[float, ...]:
        """What the law reads of it, at most six numbers."""
        return ()

    @property
    def bound(self) -> float:
        """Largest force [N m or N]."""
        return float(getattr(self, "strength", math.inf))

    @property
    def rotor(self) -> float:
        """Inertia that it adds along the coordinate [kg m² or kg]."""
        return 0.0

    @property
    def period(self) -> float:
        """Time between its samples [s]; 0 for a drive that acts continuously."""
        return 0.0

    @property
    def initial(self) -> float:
        """Its continuous state at the start."""
        return 0.0


@item
class PairDrive(Drive):
    """A drive between two joints: it acts along the coordinate of `joint` less `ratio` times that of `other`."""

    along_rate: ClassVar[bool] = False

    other: JointName
    """The second joint."""
    _: KW_ONLY
    ratio: Ratio = 1.0
    """Way of `joint` per way of `other` [1, rad/m or m/rad]."""
    other_coordinate: str | None = None
    """Which coordinate of `other`; default: its first."""
