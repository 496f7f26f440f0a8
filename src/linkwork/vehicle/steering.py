"""A rack that steers both wheels of an axle, and an anti-roll bar between them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY
from typing import Any, Literal

from ..model import Body, Box, Capsule, Hinge, Slider, Torus
from ..model.item import Item, NonNegative, Number, Positive, item
from ..model.joints import Distance
from ..model.rotation import Vector, about, frame_from_axis, quaternion
from ..model.signals import Signal
from .suspensions.base import GRAVITY, MOUNT, RACK

_WAY_PER_TURN, _WAY = (
    0.16,
    0.22,
)  # of the rack, per turn of the steering wheel and to either side, in radii of a wheel
_COLUMN = (-0.8, 0.0, 0.6)  # points to the driver: a turn to the left is positive
_STIFFNESS, _DAMPING = (
    3e3,
    5.0,
)  # of the servo that holds the steering wheel, explicit at 1 ms [N m/rad, N m s/rad]
_SLENDER = 0.05
_STEERING_WHEEL = 30.0  # its mass per inertia [1/m²]


@item
class Rack:
    """A rack across the vehicle that the tie rods of both wheels lead to, and the steering wheel that moves it.

    Bodies: `rack`, `steering_wheel`; joints: `rack_slide`, `column`, whose positive angle steers to the left; the
    coupling `pinion`; the drive `steering`, which is the page's lever and takes `sim.command("front.steering", angle)`.
    """

    _: KW_ONLY
    per_turn: Positive | None = None
    """Way of the rack per turn of the steering wheel [m]; default: 0.16 radii of a wheel."""
    travel: Positive | None = None
    """How far the rack goes to either side [m]; default: 0.22 radii of a wheel."""
    by: Literal["angle", "torque", "free"] = "angle"
    """What `steering` commands: the angle of the steering wheel [rad], which a stiff servo holds, or the torque on it
    [N m]; free: there is no drive."""
    command: Number = 0.0
    """What `steering` is told at the start [rad or N m]."""
    signal: Signal | None = None
    """Factor of the command over time; default: 1."""
    mass: NonNegative = 3.0
    """Mass of the rack [kg]."""
    wheel_inertia: Positive = 0.03
    """Of the steering wheel about its column [kg m²]."""

    @property
    def weight(self) -> float:
        """Of its bodies [N]."""
        return GRAVITY * (self.mass + _STEERING_WHEEL * self.wheel_inertia)

    def way(self, radius: float) -> float:
        """How far it goes to either side, for wheels of a radius [m]."""
        return _WAY * radius if self.travel is None else self.travel

    def turn(self, radius: float) -> float:
        """Its way per turn of the steering wheel [m]."""
        return _WAY_PER_TURN * radius if self.per_turn is None else self.per_turn

    def parts(self, radius: float, inner: Vector, ends: float, to_left: float) -> Iterable[Item]:
        """Bodies, joints, coupling and drive, on the mount of an axle.

        `inner`: x and z of the tie rods' inner ends, which are `ends` to either side; `to_left`: the sign by which the
        rack moves to the left as the wheels are steered there.
        """
        from ..engine.elements import PositionServo, Repeater, TorqueSource  # bring Numba along

        x, _, z = inner
        at = (x, 0.0, z)
        way, turn = self.way(radius), self.turn(radius)
        rod = Capsule(_SLENDER * radius, 2 * ends, rotation=about((1.0, 0.0, 0.0), math.pi / 2))
        slim = self.mass * ends * ends / 3
        yield Body(
            RACK, at=at, mass=self.mass, inertia=(slim, 1e-3 * slim, slim), shapes=(rod,), color="#4b5563"
        )
        seat = (x - 3.0 * radius, 0.5 * ends, z + 2.0 * radius)
        turned = quaternion(frame_from_axis(_COLUMN))
        rim = (Torus(0.55 * radius, 0.05 * radius), Box((1.1 * radius, 0.1 * radius, 0.04 * radius)))
        J = self.wheel_inertia
        yield Body(
            "steering_wheel", at=seat, rotation=turned, mass=_STEERING_WHEEL * J, inertia=(0.6 * J, 0.6 * J, J),
            shapes=rim, color="#303438",
        )  # fmt: skip
        yield Slider("rack_slide", MOUNT, RACK, at=at, axis=(0.0, 1.0, 0.0), limits=(-way, way))
        yield Hinge("column", MOUNT, "steering_wheel", at=seat, axis=_COLUMN)
        yield Repeater("pinion", "rack_slide", "column", ratio=to_left * turn / math.tau)
        told: dict[str, Any] = {"command": self.command, "signal": self.signal}
        if self.by == "angle":
            yield PositionServo("steering", "column", stiffness=_STIFFNESS, damping=_DAMPING, **told)
        elif self.by == "torque":
            yield TorqueSource("steering", "column", **told)


@item
class AntiRollBar:
    """A bar across the axle that is twisted as one wheel rises and the other does not.

    Bodies: `bar_left`, `bar_right`, its halves with their levers; joints: `bar_bearing` on the chassis, `bar_twist`
    between them, and the rods `bar_link_left` and `bar_link_right`, distance joints, to where the coil springs stand.
    """

    _: KW_ONLY
    stiffness: NonNegative
    """Torque by which it resists a twist between its ends [N m/rad]."""
    lever: Positive | None = None
    """Length of its levers, along the vehicle [m]; default: 0.8 radii of a wheel."""
    damping: NonNegative = 0.0
    """Viscous damping of the twist [N m s/rad]."""
    mass: NonNegative = 2.0
    """Mass of each half [kg]."""

    @property
    def weight(self) -> float:
        """Of its bodies [N]."""
        return GRAVITY * 2.0 * self.mass

    def parts(self, radius: float, feet: tuple[tuple[str, Vector], tuple[str, Vector]]) -> Iterable[Item]:
        """Bodies and joints on the mount of an axle; `feet`: body and point that the links lead to, left and right."""
        lever, link = 0.8 * radius if self.lever is None else self.lever, 0.4 * radius
        (_, left), (_, right) = feet
        middle = (left[0] + lever, 0.0, left[2] + link)
        tops: list[Vector] = []
        for side, (x, y, z) in (("left", left), ("right", right)):
            top = (x, y, z + link)
            tops.append(top)
            shapes = (
                Capsule(
                    _SLENDER * radius,
                    abs(y),
                    at=(0.0, 0.5 * y, 0.0),
                    rotation=about((1.0, 0.0, 0.0), math.pi / 2),
                ),
                Capsule(
                    _SLENDER * radius,
                    lever,
                    at=(-0.5 * lever, y, 0.0),
                    rotation=about((0.0, 1.0, 0.0), math.pi / 2),
                ),
            )
            # Its mass is on its axis: the links do not carry it.
            yield Body(
                f"bar_{side}",
                at=middle,
                mass=self.mass,
                com=(0.0, 0.5 * y, 0.0),
                shapes=shapes,
                color="#b45309",
            )
        along = (0.0, 1.0, 0.0)
        yield Hinge("bar_bearing", MOUNT, "bar_left", at=middle, axis=along)
        k, c = self.stiffness, self.damping
        yield Hinge("bar_twist", "bar_left", "bar_right", at=middle, axis=along, spring=k, damping=c)
        for side, (body, foot), top in zip(("left", "right"), feet, tops, strict=True):
            yield Distance(f"bar_link_{side}", f"bar_{side}", body, at=top, to=foot)
