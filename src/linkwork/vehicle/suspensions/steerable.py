"""What suspensions have whose wheels can be steered: a tie rod, to the chassis or to a rack."""

from dataclasses import KW_ONLY
from typing import ClassVar

from ...model.item import Flag, Point, item
from ...model.joints.base import Joint
from ...model.rotation import Vector
from .base import MOUNT, RACK, Size, Suspension

Radii = tuple[float, float, float]


@item
class Steerable(Suspension):
    """A suspension whose upright turns about a kingpin and is held by a tie rod, a distance joint."""

    tie: ClassVar[tuple[Radii, Radii]]
    """Inner and outer end of the tie rod by default, in radii from the wheel's centre."""

    _: KW_ONLY
    tie_inner: Point | None = None
    """Inner end of the tie rod, on the chassis or the rack, from the wheel's centre [m]; default: see the type."""
    tie_outer: Point | None = None
    """Outer end of the tie rod, on the upright [m]; default: see the type."""
    steered: Flag = False
    """Whether the tie rod leads to the port `rack` instead of the chassis."""

    def tie_ends(self, size: Size) -> tuple[Vector, Vector]:
        """Hard points of the tie rod [m]."""
        inner, outer = self.tie
        return size.point(self.tie_inner, *inner), size.point(self.tie_outer, *outer)

    def tie_rod(self, upright: str, size: Size) -> Joint:
        """The joint `tie_rod`."""
        inner, outer = self.tie_ends(size)
        ends = ("tie_inner", inner), ("tie_outer", outer)
        return self.rod("tie_rod", RACK if self.steered else MOUNT, upright, *ends, size)
