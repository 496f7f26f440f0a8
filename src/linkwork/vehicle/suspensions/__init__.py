"""The kinds of suspension: one file each. Name a new one here; everything else follows from its class."""

from __future__ import annotations

import typing
from typing import Annotated

from pydantic import Field

from .base import MOUNT, Parts, Size, Suspension
from .double_longitudinal import DoubleLongitudinal
from .double_transverse import DoubleTransverse
from .macpherson import MacPherson
from .sliding_pillar import SlidingPillar
from .swing_axle import SwingAxle
from .trailing_arm import TrailingArm

AnySuspension = Annotated[
    SwingAxle | TrailingArm | DoubleTransverse | DoubleLongitudinal | SlidingPillar | MacPherson,
    Field(discriminator="type"),
]
"""Any suspension; in model files the key `type` tells which."""

SUSPENSIONS: dict[str, type[Suspension]] = {
    str(cls.type): cls for cls in typing.get_args(typing.get_args(AnySuspension)[0])
}
"""All suspensions by their types."""

__all__ = [
    "MOUNT", "SUSPENSIONS", "AnySuspension", "DoubleLongitudinal", "DoubleTransverse", "MacPherson", "Parts", "Size",
    "SlidingPillar", "Suspension", "SwingAxle", "TrailingArm",
]  # fmt: skip
