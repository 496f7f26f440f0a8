"""A vehicle of double wishbones, of any number of axles: the mechanism with many loops that hang on one body."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork.model.item import GROUND
from linkwork.model.rotation import Vector, frame_from_axis, quaternion, vector

if TYPE_CHECKING:
    from linkwork.model import Body, Model

RADIUS, TRACK, WHEELBASE = 0.3, 0.75, 2.4
"""Of a wheel; from the middle to a wheel; from the first axle to the second [m]."""
POINTS: dict[str, Vector] = {
    "lower_chassis": (0.0, 0.3, 0.22),
    "lower_carrier": (0.0, 0.66, 0.2),
    "upper_chassis": (0.0, 0.35, 0.46),
    "upper_carrier": (-0.02, 0.63, 0.44),
    "tie_chassis": (-0.14, 0.33, 0.29),
    "tie_carrier": (-0.15, 0.655, 0.28),
    "hub": (0.0, 0.7, RADIUS),
    "wheel": (0.0, TRACK, RADIUS),
    "spring_chassis": (0.0, 0.4, 0.62),
    "spring_arm": (0.0, 0.55, 0.207),
}
"""Of a corner on the left, above the road; x from its axle, forward [m]."""
MASS, ARM, CARRIER, WHEEL, TIE = 1000.0, 5.0, 12.0, 18.0, 1.5
"""Of the chassis on two axles, an arm, a carrier, a wheel, a tie rod [kg]."""
STIFFNESS, DAMPING = 6e4, 4e3
"""Of a spring [N/m, N s/m]."""
STRENGTH, SPEED = 60.0, 30.0
"""Of a motor [N m]; what it is told [rad/s]."""
FORWARD, LEFT = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


class Corner(NamedTuple):
    """A wheel with what guides it."""

    name: str
    at: dict[str, Vector]
    """Its points in the world as written [m]."""


def corners(axles: int) -> Iterator[Corner]:
    """Of a vehicle with so many axles, from the front."""
    for k in range(axles):
        for side, hand in (("left", 1.0), ("right", -1.0)):
            at = {name: (x - WHEELBASE * k, hand * y, z) for name, (x, y, z) in POINTS.items()}
            yield Corner(f"{side}_{k + 1}", at)


def chassis(axles: int) -> Body:
    """The body that all corners hang on; a longer one for more axles."""
    from linkwork.model import Body, Box

    length, share = WHEELBASE * (axles - 1) + 0.8, axles / 2
    at = (-WHEELBASE * (axles - 1) / 2, 0.0, 0.5)
    m = MASS * share
    inertia = (0.12 * m, m * length**2 / 12, m * (length**2 + 1.2) / 12)
    return Body("chassis", at=at, mass=m, inertia=inertia, shapes=(Box((length, 0.8, 0.3)),))


def vehicle(
    axles: int = 2, *, road: bool = True, driven: bool = True, tyres: bool = False, rods: bool = False
) -> Model:
    """Chassis, arms, carriers, tie rods, springs and wheels; on a plane, unless without `road` it hangs on the world.

    Without a road the chassis is free to move all the same, but nothing pulls it down, and wheels are turned by motors.
    `tyres`: handling tyres instead of rigid wheels; `rods`: tie rods as distance joints, without bodies.
    """
    from linkwork.engine.elements import VelocityServo
    from linkwork.engine.loads import BrushTyre, Spring
    from linkwork.model import (
        Body,
        Distance,
        Free,
        Hinge,
        Material,
        Model,
        Plane,
        Scenery,
        Sphere,
        Spherical,
        Universal,
    )

    model = Model("vehicle", gravity=(0.0, 0.0, -9.81) if road else (0.0, 0.0, 0.0))
    if road:
        model.add(Material("rubber", friction=0.9))
        model.add(Scenery("road", shapes=(Plane(),), material="rubber"))
    model.add(chassis(axles))
    model.add(Free("ride", GROUND, "chassis", at=chassis(axles).at))
    for corner in corners(axles):
        name, at = corner.name, corner.at
        for arm in ("lower", "upper"):
            model.add(_bar(f"{name}_{arm}", at[f"{arm}_chassis"], at[f"{arm}_carrier"], ARM))
            model.add(
                Hinge(f"{name}_{arm}_pin", "chassis", f"{name}_{arm}", at=at[f"{arm}_chassis"], axis=FORWARD)
            )
        model.add(Body(f"{name}_carrier", at=at["hub"], mass=CARRIER, inertia=(0.12, 0.06, 0.12)))
        rigid = road and not tyres
        model.add(
            Body(
                f"{name}_wheel",
                at=at["wheel"],
                mass=WHEEL,
                inertia=(0.5, 0.9, 0.5),
                shapes=(Sphere(RADIUS),) if rigid else (),
                material="rubber" if rigid else None,
            )
        )
        if road and tyres:
            load = 9.81 * (MASS / 4 + 2 * ARM + CARRIER + WHEEL)
            model.add(BrushTyre(f"{name}_tyre", f"{name}_wheel", at=at["wheel"], radius=RADIUS, load=load))
        model.add(Spherical(f"{name}_lower_ball", f"{name}_lower", f"{name}_carrier", at=at["lower_carrier"]))
        model.add(Spherical(f"{name}_upper_ball", f"{name}_upper", f"{name}_carrier", at=at["upper_carrier"]))
        rod = vector(np.subtract(at["tie_carrier"], at["tie_chassis"]))
        tie = f"{name}_tie"
        if rods:
            model.add(Distance(tie, "chassis", f"{name}_carrier", at=at["tie_chassis"], to=at["tie_carrier"]))
        else:
            model.add(_bar(tie, at["tie_chassis"], at["tie_carrier"], TIE))
            model.add(
                Universal(f"{tie}_pin", "chassis", tie, at=at["tie_chassis"], axis=rod, reference=FORWARD)
            )
            model.add(Spherical(f"{tie}_ball", tie, f"{name}_carrier", at=at["tie_carrier"]))
        model.add(Hinge(f"{name}_axle", f"{name}_carrier", f"{name}_wheel", at=at["wheel"], axis=LEFT))
        length = math.dist(at["spring_chassis"], at["spring_arm"])
        slack = length + 0.25 * MASS * 9.81 / STIFFNESS * 1.5
        model.add(
            Spring(
                f"{name}_spring",
                "chassis",
                f"{name}_lower",
                at_a=at["spring_chassis"],
                at_b=at["spring_arm"],
                stiffness=STIFFNESS,
                damping=DAMPING,
                length=slack,
            )
        )
        if driven:
            model.add(VelocityServo(f"{name}_motor", f"{name}_axle", command=SPEED, strength=STRENGTH))
    return model


def _bar(name: str, start: Vector, end: Vector, mass: float) -> Body:
    """A slender bar between two points: its frame in the middle, z along it."""
    from linkwork.model import Body

    at, turned = np.add(start, end) / 2, quaternion(frame_from_axis(vector(np.subtract(end, start)), FORWARD))
    across = mass * math.dist(start, end) ** 2 / 12
    inertia = (across, across, 1e-3 * mass)
    return Body(name, at=vector(at), rotation=turned, mass=mass, inertia=inertia)
