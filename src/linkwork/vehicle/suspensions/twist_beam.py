"""The twist beam: two trailing arms and a cross beam that yields to torsion."""

from dataclasses import KW_ONLY
from typing import ClassVar, Literal

from ...model import Cylindrical, Spherical
from ...model.item import NonNegative, Point, item
from ...model.joints.base import Joint
from ...model.rotation import Vector
from .base import ACROSS, ALONG, MOUNT, Coiled, Size
from .whole_axle import SIDES, WholeAxle, WholeParts, on_side


@item
class TwistBeam(WholeAxle):
    """Two trailing arms on balls (its rubber bushes), and a cross beam, stiff but for torsion, between them.

    Bodies: `left_arm`, `right_arm`, each with half of the beam; joints: the balls `left_pivot` and `right_pivot`, whose
    rotations about the axis across the vehicle are the coordinates, and `beam`, cylindrical: it twists, and takes up
    what its ends come closer. Coil springs stand on the arms, or torsion springs in the pivots.
    """

    torsion: ClassVar[bool] = True

    _: KW_ONLY
    pivot: Point | None = None
    """Bush of an arm at the chassis, from the left wheel's centre [m]; default: 1.5 radii forward, 0.5 inwards."""
    beam: Point | None = None
    """Where the beam leaves the arm [m]; default: 0.9 radii forward, 0.5 inwards."""
    spring_foot: Point | None = None
    """Lower end of a coil spring, on the arm [m]; default: 0.1 radii forward, 0.6 inwards."""
    spring_top: Point | None = None
    """Upper end of a coil spring, on the chassis [m]; default: 1.2 radii above its foot."""
    twist: NonNegative | None = None
    """Stiffness of the beam against torsion [N m/rad]; default: what a wheel carries times half a radius."""
    arm_mass: NonNegative | None = None
    """Mass of an arm with half of the beam [kg]; default: 0.08 of what a wheel carries."""
    type: Literal["twist_beam"] = "twist_beam"
    """Which suspension it is."""

    def whole(self, size: Size, half: float) -> WholeParts:
        R = size.radius
        pivot, beam = size.point(self.pivot, 1.5, -0.5, 0.0), size.point(self.beam, 0.9, -0.5, 0.0)
        foot = size.point(self.spring_foot, 0.1, -0.6, 0.0)
        top = self.spring_top or (foot[0], foot[1], foot[2] + 1.2 * R)
        if abs(beam[0] - pivot[0]) + abs(beam[2] - pivot[2]) <= 1e-6 * R:
            raise self.refuse(
                "its beam lies on the axis through the pivots: both wheels would have to go up together"
            )
        middle: Vector = (beam[0], 0.0, beam[2])
        mass = size.mass(self.arm_mass, 0.08)
        bodies, joints, coils = [], list[Joint](), []
        for side in SIDES:
            at, hub, leaves = (on_side(p, half, side) for p in (pivot, (0.0, 0.0, 0.0), beam))
            spread = (("beam", leaves), ("pivot", at), ("the wheel's centre", hub), ("its middle", middle))
            bodies.append(self.fork(f"{side}_arm", spread, mass, size))
            joints.append(
                Spherical(
                    f"{side}_pivot", MOUNT, f"{side}_arm", at=at, axis=(0.0, 0.0, 1.0), reference=ACROSS
                )
            )
            coils.append(Coiled(f"{side}_arm", on_side(foot, half, side), on_side(top, half, side)))
        stiffness = size.load * 0.5 * R if self.twist is None else self.twist
        joints.append(
            Cylindrical("beam", "left_arm", "right_arm", at=middle, axis=ALONG, spring=(0.0, stiffness))
        )
        arms = "left_arm", "right_arm"
        return WholeParts(
            tuple(bodies), tuple(joints), arms, ("left_pivot", "right_pivot"), (coils[0], coils[1])
        )
