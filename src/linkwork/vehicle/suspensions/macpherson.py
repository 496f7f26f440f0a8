"""The MacPherson suspension."""

from dataclasses import KW_ONLY
from typing import Literal

from ...model import Slider
from ...model.item import NonNegative, Point, item
from ...model.rotation import vector
from .base import ACROSS, MOUNT, Coiled, Parts, Size, Suspension, hinge


@item
class MacPherson(Suspension):
    """A transverse arm below, and a hub that slides along a strut whose top is hinged to the chassis.

    Bodies: `arm`, `hub`, `strut`; joints: `pivot`, whose angle is the coordinate, `arm_end`, `strut_top` and
    `strut_slide`. A coil spring surrounds the strut, from its foot to its top.
    """

    _: KW_ONLY
    pivot: Point | None = None
    """Where the arm is hinged to the chassis, from the wheel's centre [m]; default: 1.2 radii inwards, 0.3 below."""
    arm_end: Point | None = None
    """Where the arm is hinged to the hub [m]; default: 0.2 radii inwards, 0.3 below."""
    strut_foot: Point | None = None
    """Where the strut leaves the hub [m]; default: 0.25 radii inwards, 0.5 above."""
    strut_top: Point | None = None
    """Where the strut is hinged to the chassis [m]; default: 0.45 radii inwards, 1.7 above."""
    arm_mass: NonNegative | None = None
    """Mass of the arm [kg]; default: 0.034 of what the corner carries."""
    hub_mass: NonNegative | None = None
    """Mass of the hub [kg]; default: 0.05 of what the corner carries."""
    strut_mass: NonNegative | None = None
    """Mass of the part of the strut that is hinged to the chassis [kg]; default: 0.02 of what the corner carries."""
    type: Literal["macpherson"] = "macpherson"
    """Which suspension it is."""

    def parts(self, size: Size) -> Parts:
        pivot = size.point(self.pivot, 0.0, -1.2, -0.3)
        end = size.point(self.arm_end, 0.0, -0.2, -0.3)
        foot = size.point(self.strut_foot, 0.0, -0.25, 0.5)
        top = size.point(self.strut_top, 0.0, -0.45, 1.7)
        if abs(top[0] - foot[0]) > 1e-9 * size.radius:
            raise self.refuse(
                f"strut_foot and strut_top must have the same x ({foot[0]:g} and {top[0]:g} m): all hinges are along "
                "the vehicle, so that a strut that leans forward would lock them"
            )
        bodies = (
            self.bar("arm", ("pivot", pivot), ("arm_end", end), size.mass(self.arm_mass, 0.034), size),
            self.bar("hub", ("arm_end", end), ("strut_foot", foot), size.mass(self.hub_mass, 0.05), size, "upright"),
            self.bar(
                "strut", ("strut_top", top), ("strut_foot", foot), size.mass(self.strut_mass, 0.02), size, "strut"
            ),
        )  # fmt: skip
        along = vector([t - f for t, f in zip(top, foot, strict=True)])
        joints = (
            hinge("pivot", MOUNT, "arm", pivot, ACROSS),
            hinge("arm_end", "arm", "hub", end, ACROSS),
            hinge("strut_top", MOUNT, "strut", top, ACROSS),
            Slider("strut_slide", "strut", "hub", at=foot, axis=along),
        )
        return Parts(bodies, joints, "hub", "pivot", Coiled("hub", foot, top))
