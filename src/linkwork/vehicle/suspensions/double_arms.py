"""What suspensions with two arms share: these and an upright in a ring of four parallel hinges."""

from dataclasses import KW_ONLY
from typing import ClassVar

from ...model.item import NonNegative, Point, item
from ...model.rotation import Vector
from .base import MOUNT, Coiled, Parts, Size, Suspension, hinge

Places = tuple[Vector, Vector, Vector, Vector, Vector]


@item
class DoubleArms(Suspension):
    """Two arms and an upright between them."""

    axis: ClassVar[Vector]
    usual: ClassVar[Places]
    """Lower pivot and end, upper pivot and end, and top of a coil spring, in radii from the wheel's centre."""

    _: KW_ONLY
    lower_pivot: Point | None = None
    """Where the lower arm is hinged to the chassis, from the wheel's centre [m]; default: see the type."""
    lower_end: Point | None = None
    """Where the lower arm is hinged to the upright [m]; default: see the type."""
    upper_pivot: Point | None = None
    """Where the upper arm is hinged to the chassis [m]; default: see the type."""
    upper_end: Point | None = None
    """Where the upper arm is hinged to the upright [m]; default: see the type."""
    spring_foot: Point | None = None
    """Lower end of a coil spring, on the upper arm [m]; default: its middle."""
    spring_top: Point | None = None
    """Upper end of a coil spring, on the chassis [m]; default: see the type."""
    lower_mass: NonNegative | None = None
    """Mass of the lower arm [kg]; default: 0.034 of what the corner carries."""
    upper_mass: NonNegative | None = None
    """Mass of the upper arm [kg]; default: 0.027 of what the corner carries."""
    upright_mass: NonNegative | None = None
    """Mass of the upright [kg]; default: 0.05 of what the corner carries."""

    def parts(self, size: Size) -> Parts:
        given = (self.lower_pivot, self.lower_end, self.upper_pivot, self.upper_end, self.spring_top)
        a, b, c, d, top = (size.point(p, *usual) for p, usual in zip(given, self.usual, strict=True))
        middle: Vector = ((c[0] + d[0]) / 2, (c[1] + d[1]) / 2, (c[2] + d[2]) / 2)
        lower, upper, upright = (
            size.mass(mass, share)
            for mass, share in ((self.lower_mass, 0.034), (self.upper_mass, 0.027), (self.upright_mass, 0.05))
        )
        bodies = (
            self.bar("lower_arm", ("lower_pivot", a), ("lower_end", b), lower, size),
            self.bar("upper_arm", ("upper_pivot", c), ("upper_end", d), upper, size),
            self.bar("upright", ("lower_end", b), ("upper_end", d), upright, size, "upright"),
        )
        joints = (
            hinge("lower_pivot", MOUNT, "lower_arm", a, self.axis),
            hinge("upper_pivot", MOUNT, "upper_arm", c, self.axis),
            hinge("lower_end", "lower_arm", "upright", b, self.axis),
            hinge("upper_end", "upper_arm", "upright", d, self.axis),
        )
        foot = middle if self.spring_foot is None else self.spring_foot
        return Parts(bodies, joints, "upright", "lower_pivot", Coiled("upper_arm", foot, top))
