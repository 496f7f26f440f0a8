"""The multi-link suspension: five links."""

from dataclasses import KW_ONLY
from typing import Literal

import numpy as np

from ...model import Spherical, Universal
from ...model.item import NonNegative, Point, item
from ...model.rotation import vector
from .base import ACROSS, MOUNT, Coiled, Parts, Size
from .steerable import Steerable


@item
class MultiLink(Steerable):
    """An upright on five links between chassis and wheel: one that carries the spring, three rods, and a tie rod.

    Bodies: `link`, `upright`; joints: `pivot`, a Cardan joint whose `angle_x` is the coordinate, the ball `link_end`,
    and the rods `front_link`, `upper_front_link`, `upper_rear_link` and `tie_rod`, distance joints. The kingpin is no
    line of it, but what the upright turns about as it is steered.
    """

    tie = ((-0.5, -1.1, -0.11), (-0.5, -0.3, -0.11))

    _: KW_ONLY
    link_inner: Point | None = None
    """Spring link at the chassis, from the wheel's centre [m]; default: 0.25 radii back, 1.3 inwards, 0.35 below."""
    link_outer: Point | None = None
    """At the upright [m]; default: 0.12 radii back, 0.25 inwards, 0.42 below."""
    front_inner: Point | None = None
    """Lower front link at the chassis [m]; default: 0.9 radii forward, 0.9 inwards, 0.3 below."""
    front_outer: Point | None = None
    """At the upright [m]; default: 0.15 radii forward, 0.25 inwards, 0.4 below."""
    upper_front_inner: Point | None = None
    """Upper front link at the chassis [m]; default: 0.5 radii forward, 1 inwards, 0.45 above."""
    upper_front_outer: Point | None = None
    """At the upright [m]; default: 0.1 radii forward, 0.35 inwards, 0.5 above."""
    upper_rear_inner: Point | None = None
    """Upper rear link at the chassis [m]; default: 0.3 radii back, 1 inwards, 0.42 above."""
    upper_rear_outer: Point | None = None
    """At the upright [m]; default: 0.15 radii back, 0.35 inwards, 0.5 above."""
    spring_foot: Point | None = None
    """Lower end of a coil spring, on the spring link [m]; default: the middle of the link."""
    spring_top: Point | None = None
    """Upper end of a coil spring, on the chassis [m]; default: 0.2 radii back, 0.85 inwards, 1.1 above."""
    link_mass: NonNegative | None = None
    """Mass of the spring link [kg]; default: 0.034 of what the corner carries."""
    upright_mass: NonNegative | None = None
    """Mass of the upright [kg]; default: 0.05 of what the corner carries."""
    type: Literal["multi_link"] = "multi_link"
    """Which suspension it is."""

    def parts(self, size: Size) -> Parts:
        inner, outer = (
            size.point(self.link_inner, -0.25, -1.3, -0.35),
            size.point(self.link_outer, -0.12, -0.25, -0.42),
        )
        rods = {
            "front_link": (
                ("front_inner", size.point(self.front_inner, 0.9, -0.9, -0.3)),
                ("front_outer", size.point(self.front_outer, 0.15, -0.25, -0.4)),
            ),
            "upper_front_link": (
                ("upper_front_inner", size.point(self.upper_front_inner, 0.5, -1.0, 0.45)),
                ("upper_front_outer", size.point(self.upper_front_outer, 0.1, -0.35, 0.5)),
            ),
            "upper_rear_link": (
                ("upper_rear_inner", size.point(self.upper_rear_inner, -0.3, -1.0, 0.42)),
                ("upper_rear_outer", size.point(self.upper_rear_outer, -0.15, -0.35, 0.5)),
            ),
        }
        middle = vector(np.add(inner, outer) / 2)
        foot = middle if self.spring_foot is None else self.spring_foot
        top = size.point(self.spring_top, -0.2, -0.85, 1.1)
        spread = (
            ("link_outer", outer),
            *(end for _, end in rods.values()),
            ("tie_outer", self.tie_ends(size)[1]),
        )
        link_mass, mass = size.mass(self.link_mass, 0.034), size.mass(self.upright_mass, 0.05)
        link = self.bar("link", ("link_inner", inner), ("link_outer", outer), link_mass, size)
        across = (0.0, outer[1] - inner[1], outer[2] - inner[2])
        if abs(across[1]) + abs(across[2]) <= 1e-6 * size.radius:
            raise self.refuse(
                "link_inner and link_outer lie along the vehicle, so that the link does not turn as the wheel rises"
            )
        joints = (
            Universal("pivot", MOUNT, "link", at=inner, axis=across, reference=ACROSS),
            Spherical("link_end", "link", "upright", at=outer),
            *(self.rod(name, MOUNT, "upright", *ends, size) for name, ends in rods.items()),
            self.tie_rod("upright", size),
        )
        bodies = (link, self.fork("upright", spread, mass, size, "upright"))
        return Parts(bodies, joints, "upright", "pivot", Coiled("link", foot, top), self.steered)
