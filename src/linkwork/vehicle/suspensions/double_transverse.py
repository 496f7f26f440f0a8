"""Double transverse arms."""

from dataclasses import KW_ONLY
from typing import Literal

from ...model.item import item
from .base import ACROSS
from .double_arms import DoubleArms


@item
class DoubleTransverse(DoubleArms):
    """Double transverse arms (double wishbone) on hinges along the vehicle: a parallelogram by default.

    Bodies: `lower_arm`, `upper_arm`, `upright`; joints: `lower_pivot`, whose angle is the coordinate, `upper_pivot`,
    `lower_end`, `upper_end`. By default both arms are 0.8 radii long, from 1 radius inwards, 0.1 below and 0.5 above
    the wheel's centre; a coil spring stands up to 1.4 radii above it.
    """

    axis = ACROSS
    usual = ((0.0, -1.0, -0.1), (0.0, -0.2, -0.1), (0.0, -1.0, 0.5), (0.0, -0.2, 0.5), (0.0, -0.75, 1.4))

    _: KW_ONLY
    type: Literal["double_transverse"] = "double_transverse"
    """Which suspension it is."""
