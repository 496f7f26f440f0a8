"""The sliding pillar."""

from dataclasses import KW_ONLY
from typing import ClassVar, Literal

from ...model import Slider
from ...model.item import Axis, NonNegative, Point, item
from ...model.rotation import Vector
from .base import MOUNT, Coiled, Parts, Size, Suspension


@item
class SlidingPillar(Suspension):
    """An upright that slides on a guide of the chassis ("candle"). It has no hinge, and so no torsion spring.

    Body: `upright`; joint: `pillar`, whose travel is the coordinate.
    """

    torsion: ClassVar[bool] = False

    _: KW_ONLY
    foot: Point | None = None
    """A point of the guide's axis, from the wheel's centre [m]; default: 0.3 radii inwards."""
    axis: Axis = (0.0, 0.0, 1.0)
    """Direction of the guide, upwards, any length but zero [1]."""
    spring_foot: Point | None = None
    """Lower end of a coil spring, on the upright [m]; default: the foot."""
    spring_top: Point | None = None
    """Upper end of a coil spring, on the chassis [m]; default: a radius along the guide from its foot."""
    com: Point | None = None
    """Centre of mass of the upright [m]; default: half a radius along the guide from the foot."""
    upright_mass: NonNegative | None = None
    """Mass of the upright [kg]; default: 0.06 of what the corner carries."""
    type: Literal["sliding_pillar"] = "sliding_pillar"
    """Which suspension it is."""

    def parts(self, size: Size) -> Parts:
        foot = size.point(self.foot, 0.0, -0.3, 0.0)
        if self.axis[2] <= 0.0:
            raise self.refuse(f"its guide must lead upwards, axis {self.axis} does not")
        stretch = size.radius / sum(x * x for x in self.axis) ** 0.5

        def along(point: Vector, radii: float) -> Vector:
            x, y, z = (p + radii * stretch * a for p, a in zip(point, self.axis, strict=True))
            return x, y, z

        start = foot if self.spring_foot is None else self.spring_foot
        top = along(start, 1.0) if self.spring_top is None else self.spring_top
        mass = size.mass(self.upright_mass, 0.06)
        upright = self.bar(
            "upright", ("foot", foot), ("its top", along(foot, 1.0)), mass, size, "upright", self.com
        )
        pillar = Slider("pillar", MOUNT, "upright", at=foot, axis=self.axis)
        return Parts((upright,), (pillar,), "upright", "pillar", Coiled("upright", start, top))
