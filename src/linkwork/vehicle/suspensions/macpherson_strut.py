"""The MacPherson strut in three dimensions, with balls below and on top."""

from dataclasses import KW_ONLY
from typing import Literal

from ...model import Slider, Spherical
from ...model.item import NonNegative, Point, item
from ...model.rotation import vector
from .base import MOUNT, Coiled, Parts, Size
from .steerable import Steerable


@item
class MacPhersonStrut(Steerable):
    """A wishbone below on an inclined hinge, a hub on its ball that slides along a strut, and a tie rod: a wheel that
    can be steered.

    Bodies: `arm`, `hub`, `strut`; joints: `pivot`, whose angle is the coordinate, the balls `arm_end` and `strut_top`,
    `strut_slide` and `tie_rod`. The kingpin is the line through the balls. A coil spring surrounds the strut.
    """

    tie = ((-0.42, -1.4, -0.16), (-0.45, -0.42, -0.22))

    _: KW_ONLY
    arm_front: Point | None = None
    """Front hinge of the arm, from the wheel's centre [m]; default: 0.3 radii forward, 1.2 inwards, 0.36 below."""
    arm_rear: Point | None = None
    """Its rear hinge [m]; default: 0.6 radii back, 1.2 inwards, 0.33 below."""
    arm_end: Point | None = None
    """Ball of the arm at the hub [m]; default: 0.03 radii forward, 0.22 inwards, 0.42 below."""
    strut_foot: Point | None = None
    """Where the strut leaves the hub [m]; default: 0.03 radii back, 0.33 inwards, 0.4 above."""
    strut_top: Point | None = None
    """Ball of the strut at the chassis [m]; default: 0.12 radii back, 0.55 inwards, 1.7 above."""
    arm_mass: NonNegative | None = None
    """Mass of the arm [kg]; default: 0.034 of what the corner carries."""
    hub_mass: NonNegative | None = None
    """Mass of the hub [kg]; default: 0.05 of what the corner carries."""
    strut_mass: NonNegative | None = None
    """Mass of the part of the strut that hangs on the chassis [kg]; default: 0.02 of what the corner carries."""
    type: Literal["macpherson_strut"] = "macpherson_strut"
    """Which suspension it is."""

    def parts(self, size: Size) -> Parts:
        a, b = size.point(self.arm_front, 0.3, -1.2, -0.36), size.point(self.arm_rear, -0.6, -1.2, -0.33)
        end = size.point(self.arm_end, 0.03, -0.22, -0.42)
        foot, top = (
            size.point(self.strut_foot, -0.03, -0.33, 0.4),
            size.point(self.strut_top, -0.12, -0.55, 1.7),
        )
        _, outer = self.tie_ends(size)
        ball, base, head = ("arm_end", end), ("strut_foot", foot), ("strut_top", top)
        front, rear = ("arm_front", a), ("arm_rear", b)
        bodies = (
            self.fork("arm", (ball, front, rear), size.mass(self.arm_mass, 0.034), size),
            self.fork(
                "hub", (ball, base, ("tie_outer", outer)), size.mass(self.hub_mass, 0.05), size, "upright"
            ),
            self.bar("strut", head, base, size.mass(self.strut_mass, 0.02), size, "strut"),
        )
        along = vector([t - f for t, f in zip(top, foot, strict=True)])
        joints = (
            self.hinge_through("pivot", "arm", front, rear, size),
            Spherical("arm_end", "arm", "hub", at=end),
            Spherical("strut_top", MOUNT, "strut", at=top),
            Slider("strut_slide", "strut", "hub", at=foot, axis=along),
            self.tie_rod("hub", size),
        )
        return Parts(bodies, joints, "hub", "pivot", Coiled("hub", foot, top), self.steered)
