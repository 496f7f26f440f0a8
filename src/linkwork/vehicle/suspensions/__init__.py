"""The kinds of suspension: one file each. Name a new one here; everything else follows from its class."""

from __future__ import annotations

import typing
from typing import Annotated

from pydantic import Field

from .base import MOUNT, RACK, Parts, Size, Suspension
from .double_longitudinal import DoubleLongitudinal
from .double_transverse import DoubleTransverse
from .double_wishbone import DoubleWishbone
from .macpherson import MacPherson
from .macpherson_strut import MacPhersonStrut
from .multi_link import MultiLink
from .sliding_pillar import SlidingPillar
from .solid_axle import SolidAxle
from .steerable import Steerable
from .swing_axle import SwingAxle
from .trailing_arm import TrailingArm
from .twist_beam import TwistBeam
from .whole_axle import WholeAxle, WholeParts

AnySuspension = Annotated[
    SwingAxle
    | TrailingArm
    | DoubleTransverse
    | DoubleLongitudinal
    | SlidingPillar
    | MacPherson
    | DoubleWishbone
    | MacPhersonStrut
    | MultiLink
    | SolidAxle
    | TwistBeam,
    Field(discriminator="type"),
]
"""Any suspension, of a wheel or of both wheels of an axle; in model files the key `type` tells which."""

_KINDS = typing.get_args(typing.get_args(AnySuspension)[0])
SUSPENSIONS: dict[str, type[Suspension]] = {
    str(cls.type): cls for cls in _KINDS if issubclass(cls, Suspension)
}
"""All suspensions of a single wheel by their types."""

AXLES: dict[str, type[WholeAxle]] = {str(cls.type): cls for cls in _KINDS if issubclass(cls, WholeAxle)}
"""Suspensions of both wheels of an axle together, by their types."""
OF_THE_PAPER = tuple(SUSPENSIONS)[:6]
"""Types of the paper of Strashnov and Torgashev."""

__all__ = [
    "AXLES",
    "MOUNT",
    "OF_THE_PAPER",
    "RACK",
    "SUSPENSIONS",
    "AnySuspension",
    "DoubleLongitudinal",
    "DoubleTransverse",
    "DoubleWishbone",
    "MacPherson",
    "MacPhersonStrut",
    "MultiLink",
    "Parts",
    "Size",
    "SlidingPillar",
    "SolidAxle",
    "Steerable",
    "Suspension",
    "SwingAxle",
    "TrailingArm",
    "TwistBeam",
    "WholeAxle",
    "WholeParts",
]  # fmt: skip
