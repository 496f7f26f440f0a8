"""The swing axle."""

from dataclasses import KW_ONLY
from typing import Literal

from ...model.item import NonNegative, Point, item
from .base import ACROSS, MOUNT, Coiled, Parts, Size, Suspension, hinge


@item
class SwingAxle(Suspension):
    """A half axle on a hinge along the vehicle: the wheel stays square to it, its camber is the angle of the axle.

    Body: `arm`; joint: `pivot`, whose angle is the coordinate.
    """

    _: KW_ONLY
    pivot: Point | None = None
    """A point of the hinge to the chassis, from the wheel's centre [m]; default: two radii inwards."""
    spring_foot: Point | None = None
    """Lower end of a coil spring, on the arm [m]; default: 0.8 radii inwards."""
    spring_top: Point | None = None
    """Upper end of a coil spring, on the chassis [m]; default: 1.2 radii above its foot."""
    arm_mass: NonNegative | None = None
    """Mass of the half axle [kg]; default: 0.06 of what the corner carries."""
    type: Literal["swing_axle"] = "swing_axle"
    """Which suspension it is."""

    def parts(self, size: Size) -> Parts:
        pivot = size.point(self.pivot, 0.0, -2.0, 0.0)
        foot = size.point(self.spring_foot, 0.0, -0.8, 0.0)
        top = size.point(self.spring_top, 0.0, -0.8, 1.2)
        centre = ("the wheel's centre", (0.0, 0.0, 0.0))
        arm = self.bar("arm", ("pivot", pivot), centre, size.mass(self.arm_mass, 0.06), size)
        joint = hinge("pivot", MOUNT, "arm", pivot, ACROSS)
        return Parts((arm,), (joint,), "arm", "pivot", Coiled("arm", foot, top))
