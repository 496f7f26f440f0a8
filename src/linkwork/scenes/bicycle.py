"""A bicycle without a rider's hands: pushed aside it swings and rights itself, between 4.3 and 6 m/s.

The benchmark of Meijaard, Papadopoulos, Ruina and Schwab: two knife-edge wheels that roll, a rear frame with its rider
and a front fork. `linkwork modes bicycle --set speed=5 --drop-cyclic` has its weave, capsize and castering.
"""

from __future__ import annotations

import math

from ..model import GROUND, Body, Capsule, Free, Hinge, Material, Model, Plane, Scenery, Torus
from ..model.rotation import Vector, about

SOURCE = (
    "Meijaard, Papadopoulos, Ruina and Schwab, Linearized dynamics equations for the balance and steer of a bicycle: a "
    "benchmark and review, Proc. R. Soc. A 463 (2007), table 1"
)
DURATION = 6.0
ENDLESS = True
PLOT = ("frame.angular_velocity.x", "steer.angle", "frame.position.y")
WATCHED = 3.0
WHEELBASE, TRAIL, TILT = 1.02, 0.08, math.pi / 10
"""[m, m, rad]"""
REAR, FRONT = 0.3, 0.35
"""Radii of the wheels [m]."""
THIN = 1e-9
"""Radius of the edge of a wheel [m]."""
_METAL, _RUBBER = "#b03a2e", "#2b2e31"


def build(
    speed: float = 5.0, push: float = 0.2, heading: float = 0.0, x: float = 0.0, y: float = 0.0
) -> Model:
    """Running straight, upright and rolling, from a place in a direction.

    `speed`: [m/s]; `push`: rate of lean at the start [rad/s], with which steering and wheels agree; `heading`: to the
    left [rad]; `x`, `y`: where the rear wheel touches the road [m].

    Axes: x forward, y to the left, z up; those of the publication are y right and z down, so that products of inertia
    xz change their sign.
    """
    turn = about((0.0, 0.0, 1.0), heading)
    c, s = math.cos(heading), math.sin(heading)

    def way(ahead: float, left: float, up: float) -> Vector:
        return c * ahead - s * left, s * ahead + c * left, up

    def place(ahead: float, up: float) -> Vector:
        along = way(ahead, 0.0, up)
        return x + along[0], y + along[1], along[2]

    model = Model("bicycle")
    model.add(Material("rubber", friction=1.0))
    model.add(Scenery("road", shapes=(Plane(),), material="rubber"))
    for name, ahead, radius, mass, across, along in (
        ("rear", 0.0, REAR, 2.0, 0.0603, 0.12), ("front", WHEELBASE, FRONT, 3.0, 0.1405, 0.28),
    ):  # fmt: skip
        rim = Torus(radius - THIN, THIN, rotation=about((1.0, 0.0, 0.0), math.pi / 2), use="contact")
        seen = Torus(radius - 0.012, 0.012, rotation=about((1.0, 0.0, 0.0), math.pi / 2), use="picture")
        spokes = tuple(
            Capsule(
                0.004, 2.0 * (radius - 0.02), rotation=about((0.0, 1.0, 0.0), k * math.pi / 4), use="picture"
            )
            for k in range(4)
        )
        model.add(
            Body(
                name, at=place(ahead, radius), rotation=turn, mass=mass, inertia=(across, along, across),
                shapes=(rim, seen, *spokes), material="rubber", color=_RUBBER,
            )
        )  # fmt: skip
    frame, fork = (0.3, 0.9), (0.9, 0.7)
    crank, head, seat = (0.42, 0.28), (0.8, 0.78), (0.2, 0.85)
    rider = ((0.28, 1.0), (0.42, 1.45))
    tubes = (((0.0, REAR), crank), (crank, head), (crank, seat), (seat, head), ((0.0, REAR), seat))
    bars = (((WHEELBASE, FRONT), head), (head, (0.76, 0.95)))
    model.add(
        Body(
            "frame", at=place(*frame), rotation=turn, mass=85.0, inertia=(9.2, 11.0, 2.8, 0.0, -2.4, 0.0), color=_METAL,
            shapes=(*(_tube(a, b, frame) for a, b in tubes), _tube(*rider, frame, 0.1)),
        )
    )  # fmt: skip
    model.add(
        Body(
            "fork", at=place(*fork), rotation=turn, mass=4.0, inertia=(0.05892, 0.06, 0.00708, 0.0, 0.00756, 0.0),
            shapes=tuple(_tube(a, b, fork) for a, b in bars), color="#808890",
        )
    )  # fmt: skip
    # The frame leans about the line on which the wheels touch the road.
    velocity = (speed, -push * frame[1], 0.0, push, 0.0, 0.0)
    model.add(
        Free("rider", GROUND, "frame", at=place(*frame), reference=way(1.0, 0.0, 0.0), velocity=velocity)
    )  # fmt: skip
    model.add(
        Hinge(
            "rear_axle",
            "frame",
            "rear",
            at=place(0.0, REAR),
            axis=way(0.0, 1.0, 0.0),
            velocity=speed / REAR,
        )
    )
    steer = way(-math.sin(TILT), 0.0, math.cos(TILT))
    model.add(Hinge("steer", "frame", "fork", at=place(WHEELBASE + TRAIL, 0.0), axis=steer))
    model.add(
        Hinge(
            "front_axle", "fork", "front", at=place(WHEELBASE, FRONT), axis=way(0.0, 1.0, 0.0), velocity=speed / FRONT
        )
    )  # fmt: skip
    return model


Place2 = tuple[float, float]


def _tube(a: Place2, b: Place2, origin: Place2, radius: float = 0.014) -> Capsule:
    """Between two points of the plane of the bicycle (ahead, up), on a body with its origin there."""
    along, up = b[0] - a[0], b[1] - a[1]
    middle = (0.5 * (a[0] + b[0]) - origin[0], 0.0, 0.5 * (a[1] + b[1]) - origin[1])
    turned = about((0.0, 1.0, 0.0), math.atan2(along, up))
    return Capsule(radius, math.hypot(along, up), at=middle, rotation=turned)
