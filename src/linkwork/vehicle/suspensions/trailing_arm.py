"""The trailing arm."""

from dataclasses import KW_ONLY
from typing import Literal

from ...model.item import NonNegative, Point, item
from .base import ALONG, MOUNT, Coiled, Parts, Size, Suspension, hinge


@item
class TrailingArm(Suspension):
    """An arm along the vehicle on a hinge across it: track and camber stay, the wheelbase changes.

    Body: `arm`; joint: `pivot`, whose angle is the coordinate. A pivot behind the wheel makes it a leading arm, whose
    coordinate falls as the wheel rises.
    """

    _: KW_ONLY
    pivot: Point | None = None
    """A point of the hinge to the chassis, from the wheel's centre [m]; default: 1.6 radii forward, 0.4 inwards."""
    spring_foot: Point | None = None
    """Lower end of a coil spring, on the arm [m]; default: 0.4 radii forward and inwards."""
    spring_top: Point | None = None
    """Upper end of a coil spring, on the chassis [m]; default: 1.2 radii above its foot."""
    arm_mass: NonNegative | None = None
    """Mass of the arm [kg]; default: 0.06 of what the corner carries."""
    type: Literal["trailing_arm"] = "trailing_arm"
    """Which suspension it is."""

    def parts(self, size: Size) -> Parts:
        pivot = size.point(self.pivot, 1.6, -0.4, 0.0)
        foot = size.point(self.spring_foot, 0.4, -0.4, 0.0)
        top = size.point(self.spring_top, 0.4, -0.4, 1.2)
        centre = ("the wheel's centre", (0.0, 0.0, 0.0))
        arm = self.bar("arm", ("pivot", pivot), centre, size.mass(self.arm_mass, 0.06), size)
        joint = hinge("pivot", MOUNT, "arm", pivot, ALONG)
        return Parts((arm,), (joint,), "arm", "pivot", Coiled("arm", foot, top))
