"""The double wishbone in three dimensions, with balls at the upright."""

from dataclasses import KW_ONLY
from typing import Literal

from ...model import Spherical
from ...model.item import NonNegative, Point, item
from ...model.rotation import vector
from .base import Coiled, Parts, Size
from .steerable import Steerable


@item
class DoubleWishbone(Steerable):
    """Two wishbones on inclined hinges, an upright between their balls, and a tie rod: a wheel that can be steered.

    Bodies: `lower_arm`, `upper_arm`, `upright`; joints: `lower_pivot`, whose angle is the coordinate, `upper_pivot`,
    the balls `lower_end` and `upper_end`, and `tie_rod`. The kingpin is the line through the balls. A coil spring
    stands on the lower arm.
    """

    tie = ((-0.4, -1.1, -0.1), (-0.45, -0.45, -0.13))

    _: KW_ONLY
    lower_front: Point | None = None
    """Front hinge of the lower arm, from the wheel's centre [m]; default: 0.5 radii forward, 1.2 inwards, 0.36
    below."""
    lower_rear: Point | None = None
    """Its rear hinge [m]; default: 0.6 radii back, 1.2 inwards, 0.3 below."""
    lower_end: Point | None = None
    """Lower ball [m]; default: 0.04 radii forward, 0.25 inwards, 0.45 below."""
    upper_front: Point | None = None
    """Front hinge of the upper arm [m]; default: 0.35 radii forward, 1 inwards, 0.45 above."""
    upper_rear: Point | None = None
    """Its rear hinge [m]; default: 0.45 radii back, 1 inwards, 0.38 above."""
    upper_end: Point | None = None
    """Upper ball [m]; default: 0.06 radii back, 0.4 inwards, 0.5 above."""
    spring_foot: Point | None = None
    """Lower end of a coil spring, on the lower arm [m]; default: 0.6 radii inwards, 0.4 below."""
    spring_top: Point | None = None
    """Upper end of a coil spring, on the chassis [m]; default: 0.8 radii inwards, 1.2 above."""
    lower_mass: NonNegative | None = None
    """Mass of the lower arm [kg]; default: 0.034 of what the corner carries."""
    upper_mass: NonNegative | None = None
    """Mass of the upper arm [kg]; default: 0.027 of what the corner carries."""
    upright_mass: NonNegative | None = None
    """Mass of the upright [kg]; default: 0.05 of what the corner carries."""
    type: Literal["double_wishbone"] = "double_wishbone"
    """Which suspension it is."""

    def parts(self, size: Size) -> Parts:
        a, b = size.point(self.lower_front, 0.5, -1.2, -0.36), size.point(self.lower_rear, -0.6, -1.2, -0.3)
        c, d = size.point(self.upper_front, 0.35, -1.0, 0.45), size.point(self.upper_rear, -0.45, -1.0, 0.38)
        low, high = (
            size.point(self.lower_end, 0.04, -0.25, -0.45),
            size.point(self.upper_end, -0.06, -0.4, 0.5),
        )
        foot, top = size.point(self.spring_foot, 0.0, -0.6, -0.4), size.point(self.spring_top, 0.0, -0.8, 1.2)
        _, outer = self.tie_ends(size)
        lower, upper, upright = (
            size.mass(mass, share)
            for mass, share in ((self.lower_mass, 0.034), (self.upper_mass, 0.027), (self.upright_mass, 0.05))
        )
        first, second = ("lower_front", a), ("lower_rear", b)
        third, fourth = ("upper_front", c), ("upper_rear", d)
        bottom, head, arm = ("lower_end", low), ("upper_end", high), ("tie_outer", outer)
        bodies = (
            self.fork("lower_arm", (bottom, first, second), lower, size),
            self.fork("upper_arm", (head, third, fourth), upper, size),
            self.fork("upright", (bottom, head, arm), upright, size, "upright"),
        )
        joints = (
            self.hinge_through("lower_pivot", "lower_arm", first, second, size),
            self.hinge_through("upper_pivot", "upper_arm", third, fourth, size),
            Spherical("lower_end", "lower_arm", "upright", at=vector(low)),
            Spherical("upper_end", "upper_arm", "upright", at=vector(high)),
            self.tie_rod("upright", size),
        )
        return Parts(bodies, joints, "upright", "lower_pivot", Coiled("lower_arm", foot, top), self.steered)
