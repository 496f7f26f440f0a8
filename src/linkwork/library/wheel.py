"""A wheel on a trailing arm, with its tyre."""

from __future__ import annotations

import math

import numpy as np

from ..model import GROUND, Body, Box, Capsule, Component, Cylinder, Hinge, Shape
from ..model.rotation import Vector, about, frame_from_axis, quaternion, vector

ACROSS: Vector = (0.0, 1.0, 0.0)


def wheel_on_arm(
    *,
    pivot: Vector = (0.4, -0.15, 0.35),
    centre: Vector = (0.0, 0.0, 0.3),
    arm_com: Vector = (0.18, -0.13, 0.325),
    arm_mass: float = 10.0,
    arm_inertia: Vector = (0.05, 0.15, 0.15),
    wheel_mass: float = 18.0,
    wheel_inertia: Vector = (0.6, 1.1, 0.6),
    tyre_radius: float = 0.315,
    tyre_stiffness: Vector = (50000.0, 50000.0, 200000.0),
    tyre_damping: Vector = (500.0, 500.0, 500.0),
    width: float = 0.2,
) -> Component:
    """A wheel on the end of an arm that swings about an axis across the vehicle.

    Origin: on the road below the wheel; x forward, y to the left, z up. The tyre is a linear bushing between the road
    and the wheel's centre: it carries the wheel, holds it where it stands along x and y, and never lifts off.

    Ports: `arm`, whose frame stands at its pivot; `wheel`, whose frame stands at its centre.

    * pivot of the arm, centre of the wheel, arm_com: in the component's axes [m];
    * arm_mass, wheel_mass [kg]; arm_inertia, wheel_inertia: about centres of mass, in the component's axes [kg m²];
    * tyre_radius: height of the wheel's centre at which the tyre carries nothing [m];
    * tyre_stiffness [N/m], tyre_damping [N s/m]: along x, y, z;
    * width: of the tyre, for pictures [m].
    """
    # Many arguments: parameters of a part, each with a default, told by name.
    from ..engine.loads import Bushing  # brings Numba along: only when it is built

    part = Component("wheel_on_arm", ports=("arm", "wheel"))
    com, bar = vector(np.subtract(arm_com, pivot)), (_bar(vector(np.subtract(centre, pivot))),)
    part.add(Body("arm", at=pivot, mass=arm_mass, com=com, inertia=arm_inertia, shapes=bar, color="#5b6770"))
    m, J, looks = wheel_mass, wheel_inertia, _tyre(centre[2], width)
    part.add(Body("wheel", at=centre, mass=m, inertia=J, shapes=looks, color="#303438"))
    part.add(Hinge("axle", "arm", "wheel", at=centre, axis=ACROSS))
    road, rest, k, c = (centre[0], centre[1], 0.0), (0.0, 0.0, tyre_radius), tyre_stiffness, tyre_damping
    part.add(Bushing("tyre", GROUND, "wheel", at_a=road, at_b=centre, stiffness=k, damping=c, rest=rest))
    return part


def _bar(end: Vector) -> Shape:
    """A bar from the origin to a point."""
    middle = (end[0] / 2, end[1] / 2, end[2] / 2)
    return Capsule(0.03, math.hypot(*end), at=middle, rotation=quaternion(frame_from_axis(end)))


def _tyre(radius: float, width: float) -> tuple[Shape, ...]:
    """A cylinder, and a bar across it that shows how it turns."""
    return (
        Cylinder(radius, width, rotation=about((1.0, 0.0, 0.0), np.pi / 2)),
        Box((1.2 * radius, 1.1 * width, 0.06)),
    )
