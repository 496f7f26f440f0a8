"""Double longitudinal arms."""

from dataclasses import KW_ONLY
from typing import Literal

from ...model.item import item
from .base import ALONG
from .double_arms import DoubleArms


@item
class DoubleLongitudinal(DoubleArms):
    """Double longitudinal arms on hinges across the vehicle: a parallelogram by default.

    Bodies: `lower_arm`, `upper_arm`, `upright`; joints: `lower_pivot`, whose angle is the coordinate, `upper_pivot`,
    `lower_end`, `upper_end`. By default both arms are 1.2 radii long, forward, 0.4 radii inwards, 0.3 below and above
    the wheel's centre; a coil spring stands up to 1.4 radii above it.
    """

    axis = ALONG
    usual = ((1.2, -0.4, -0.3), (0.0, -0.4, -0.3), (1.2, -0.4, 0.3), (0.0, -0.4, 0.3), (0.5, -0.4, 1.4))

    _: KW_ONLY
    type: Literal["double_longitudinal"] = "double_longitudinal"
    """Which suspension it is."""
