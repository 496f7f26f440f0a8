"""The solid axle on four links, one of them a Panhard rod."""

import dataclasses
from dataclasses import KW_ONLY
from typing import Literal

from ...model import Spherical, Universal
from ...model.item import NonNegative, Point, item
from ...model.joints.base import Joint
from .base import ALONG, MOUNT, Coiled, Size
from .whole_axle import SIDES, WholeAxle, WholeParts, on_side


@item
class SolidAxle(WholeAxle):
    """A rigid axle on two lower links, an upper one in the middle and a Panhard rod, which lead it along the vehicle
    and across it; it heaves and rolls. A fifth rigid link would lock one of these.

    Bodies: `beam`, `left_link`, `right_link`; joints: `left_pivot` and `right_pivot`, Cardan joints whose `angle_x` are
    the coordinates, the balls `left_end` and `right_end`, and the rods `upper_link` and `panhard_rod`, distance joints.
    Coil springs stand on the beam.
    """

    _: KW_ONLY
    lower_front: Point | None = None
    """Lower link at the chassis, from the left wheel's centre [m]; default: 1.8 radii forward, 0.6 inwards, 0.15
    below."""
    lower_rear: Point | None = None
    """Lower link at the beam [m]; default: 0.5 inwards, 0.25 below."""
    upper_front: Point | None = None
    """Upper link at the chassis, from the middle of the axle [m]; default: 1.4 radii forward, 0.55 above."""
    upper_rear: Point | None = None
    """Upper link at the beam, from the middle of the axle [m]; default: 0.6 radii above."""
    panhard_chassis: Point | None = None
    """Panhard rod at the chassis, from the middle of the axle [m]; default: 0.3 radii back, 0.1 above, at 0.7 of half
    the track on the right."""
    panhard_beam: Point | None = None
    """Panhard rod at the beam, from the middle of the axle [m]; default: the same on the left."""
    spring_foot: Point | None = None
    """Lower end of a coil spring, on the beam [m]; default: 0.7 radii inwards."""
    spring_top: Point | None = None
    """Upper end of a coil spring, on the chassis [m]; default: 1.2 radii above its foot."""
    link_mass: NonNegative | None = None
    """Mass of a lower link [kg]; default: 0.02 of what a wheel carries."""
    beam_mass: NonNegative | None = None
    """Mass of the beam [kg]; default: 0.2 of what a wheel carries."""
    type: Literal["solid_axle"] = "solid_axle"
    """Which suspension it is."""

    def whole(self, size: Size, half: float) -> WholeParts:
        R = size.radius
        front, rear = (
            size.point(self.lower_front, 1.8, -0.6, -0.15),
            size.point(self.lower_rear, 0.0, -0.5, -0.25),
        )
        foot = size.point(self.spring_foot, 0.0, -0.7, 0.0)
        top = self.spring_top or (foot[0], foot[1], foot[2] + 1.2 * R)
        above, behind = (
            size.point(self.upper_front, 1.4, 0.0, 0.55),
            size.point(self.upper_rear, 0.0, 0.0, 0.6),
        )
        fixed = self.panhard_chassis or (-0.3 * R, -0.7 * half, 0.1 * R)
        carried = self.panhard_beam or (-0.3 * R, 0.7 * half, 0.1 * R)
        mass = size.mass(self.link_mass, 0.02)
        ends = [(f"{side}_end", on_side(rear, half, side)) for side in SIDES]
        hubs = [(f"the {side} wheel's centre", on_side((0.0, 0.0, 0.0), half, side)) for side in SIDES]
        spread = (
            ("its middle", (0.0, 0.0, 0.0)),
            *hubs,
            *ends,
            ("upper_rear", behind),
            ("panhard_beam", carried),
        )
        beam = self.fork("beam", spread, size.mass(self.beam_mass, 0.2), size, "upright")
        bodies = [dataclasses.replace(beam, com=(0.0, 0.0, 0.0))]  # whatever the Panhard rod's eye weighs
        joints: list[Joint] = []
        for side, (end, there) in zip(SIDES, ends, strict=True):
            here, link = on_side(front, half, side), f"{side}_link"
            bodies.append(self.bar(link, ("lower_front", here), ("lower_rear", there), mass, size))
            way = there[0] - here[0], 0.0, there[2] - here[2]
            if abs(way[0]) + abs(way[2]) <= 1e-6 * R:
                raise self.refuse(
                    "lower_front and lower_rear lie across the vehicle: such a link does not lead the axle"
                )
            joints += [
                Universal(f"{side}_pivot", MOUNT, link, at=here, axis=way, reference=ALONG),
                Spherical(end, link, "beam", at=there),
            ]
        joints += [
            self.rod("upper_link", MOUNT, "beam", ("upper_front", above), ("upper_rear", behind), size),
            self.rod(
                "panhard_rod", MOUNT, "beam", ("panhard_chassis", fixed), ("panhard_beam", carried), size
            ),
        ]
        coils = [Coiled("beam", on_side(foot, half, side), on_side(top, half, side)) for side in SIDES]
        pivots = "left_pivot", "right_pivot"
        return WholeParts(tuple(bodies), tuple(joints), ("beam", "beam"), pivots, (coils[0], coils[1]))
