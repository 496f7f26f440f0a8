"""A car of two axles from a few choices: chassis, steered front axle, driven axles, brakes, handling tyres."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import KW_ONLY
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

from ..model import Body, Box, Component, Cylinder, Free, Material, Model, Plane, Scenery
from ..model.errors import LinkworkError, nearest
from ..model.item import NonNegative, Positive, item
from ..model.rotation import Vector, about
from ..model.tyres import Tyre
from .axle import Axle
from .constructor import SpringChoice, SuspensionChoice, TyreChoice, Wheel, fit
from .drivelines import GRIP, Driveline, Share, WheelBrake
from .rig_axle import steering_curves
from .steering import AntiRollBar, Rack
from .suspensions.base import GRAVITY
from .tyres import RIGID, Brush, made

_GYRATION = (0.4, 0.47, 0.5)  # radii of gyration about x in tracks, about y and z in wheelbases
_MOTOR = Driveline(torque=280.0, power=110e3, top_speed=1400.0, inertia=0.03, gear=9.0, differential="open")
"""Of the size of a compact electric car's."""
AXLES = ("front", "rear")
_ACROSS = about((1.0, 0.0, 0.0), math.pi / 2)
_CORNERING = (13.0, 16.5)  # stiffness of tyres by default, per load, front and rear [1/rad]
Open = Annotated[float, Field(strict=True, gt=0, lt=1)]


@item
class Car:
    """A car: a chassis with a steered front axle and a rear axle, a motor, brakes and handling tyres.

    Bodies: `chassis`, and those of the instances `front` and `rear`, two axles (`Axle`). Drives: `front.steering` takes
    the angle of the steering wheel [rad], `front.left.brake` … how hard brakes are pressed, `rear.motor` or
    `front.motor` the share of the motor's torque. All have defaults of a compact car of 1.3 t.
    """

    _: KW_ONLY
    mass: Positive = 1150.0
    """Of what the suspensions carry [kg]."""
    wheelbase: Positive = 2.6
    """Distance of the axles [m]."""
    track: Positive = 1.5
    """Distance of the wheels of an axle [m]."""
    height: Positive = 0.55
    """Of the centre of that mass over the road, at rest [m]."""
    front_share: Open = 0.52
    """Share of it that the front axle carries [1]."""
    gyration: tuple[Positive, Positive, Positive] | None = None
    """Its radii of gyration about x, y and z [m]; default: 0.4 tracks, 0.47 and 0.5 wheelbases."""
    radius: Positive = 0.31
    """Of the wheels [m]."""
    front: SuspensionChoice = "macpherson_strut"
    """Front suspension; it needs a tie rod."""
    rear: SuspensionChoice = "multi_link"
    """Rear suspension."""
    spring: SpringChoice = "coil"
    """Springs of all wheels."""
    front_bar: NonNegative = 800.0
    """Stiffness of the front anti-roll bar [N m/rad]; 0: there is none."""
    rear_bar: NonNegative = 0.0
    """Stiffness of the rear anti-roll bar [N m/rad]; 0: there is none."""
    tyre: TyreChoice = "brush"
    """Tyres of all wheels. "brush" alone: with more cornering stiffness in the rear, so that the car understeers as
    elastic suspensions make it."""
    rear_tyre: TyreChoice | None = None
    """Tyres of the rear wheels, where they are others."""
    steering: Rack = Field(default_factory=Rack)
    """The rack."""
    drive: Literal["front", "rear", "all", "none"] = "rear"
    """Which axles are driven, each by a `motor` of its own."""
    motor: Driveline = _MOTOR
    """The motor with its gear and differential."""
    brakes: WheelBrake = WheelBrake()
    """All brakes but for their torque: what they yield, and what they are told at the start."""
    brake: NonNegative | None = None
    """Torque of all brakes together at full command [N m]; default: for 1.3 g, so that they lock; 0: there are none."""
    front_brake: Share = 0.65
    """Share of the front brakes in it [1]."""

    # --- what follows ---

    @property
    def arms(self) -> tuple[float, float]:
        """From the centre of the chassis' mass to the front and to the rear axle [m]."""
        return (1.0 - self.front_share) * self.wheelbase, self.front_share * self.wheelbase

    @property
    def loads(self) -> tuple[float, float]:
        """What the chassis puts on a front and on a rear wheel [N]."""
        each = 0.5 * self.mass * GRAVITY
        return each * self.front_share, each * (1.0 - self.front_share)

    @property
    def inertia(self) -> Vector:
        """Of that mass about x, y and z [kg m²]."""
        sizes = (self.track, self.wheelbase, self.wheelbase)
        x, y, z = self.gyration or (share * size for share, size in zip(_GYRATION, sizes, strict=True))
        return self.mass * x * x, self.mass * y * y, self.mass * z * z

    @cached_property
    def axles(self) -> tuple[Axle, Axle]:
        """Front and rear axle."""
        found = []
        for k, (hung, bar) in enumerate(((self.front, self.front_bar), (self.rear, self.rear_bar))):
            load, driven = self.loads[k], self.drive in (AXLES[k], "all")
            tyre = self.rear_tyre if k == 1 and self.rear_tyre is not None else self.tyre
            wheel = Wheel(suspension=hung, radius=self.radius, load=load, spring=self.spring, tyre=tyre)
            axle = Axle(
                track=self.track,
                wheel=wheel,
                steering=self.steering if k == 0 else None,
                anti_roll=AntiRollBar(stiffness=bar) if bar else None,
                driveline=self.motor if driven else None,
            )
            torque = self._brake_torque(k)
            more: dict[str, Any] = {
                "brake": dataclasses.replace(self.brakes, torque=torque) if torque else None
            }
            if self.tyre == "brush" and self.rear_tyre is None:
                more["tyre"] = Brush(cornering_stiffness=_CORNERING[k] * axle.wheel_load)
            found.append(dataclasses.replace(axle, wheel=dataclasses.replace(wheel, **more)))
        return found[0], found[1]

    def _brake_torque(self, axle: int) -> float:
        """Of each brake of an axle [N m]."""
        whole = GRIP * self.mass * GRAVITY * self.radius if self.brake is None else self.brake
        return 0.5 * whole * (self.front_brake if axle == 0 else 1.0 - self.front_brake)

    @cached_property
    def tyres(self) -> tuple[Tyre | None, Tyre | None]:
        """Tyres of a front and of a rear wheel; None if they are rigid."""
        front, rear = (
            None if axle.wheel.tyre == RIGID else made(axle.wheel.tyre, self.radius, axle.wheel_load)
            for axle in self.axles
        )
        return front, rear

    @cached_property
    def steering_ratio(self) -> float:
        """Way of the steering wheel per mean way of the front wheels, straight ahead [1]."""
        return float(steering_curves(self.axles[0], self.wheelbase, 3).ratio[1])

    @cached_property
    def steering_reach(self) -> float:
        """How far the steering wheel turns to either side [rad]."""
        rack, radius = self.steering, self.radius
        return math.tau * rack.way(radius) / rack.turn(radius)

    @cached_property
    def centres(self) -> tuple[float, float]:
        """Heights of the wheels' centres over the road at rest, front and rear [m]."""
        found = []
        for axle, tyre in zip(self.axles, self.tyres, strict=True):
            pressed = 0.0 if tyre is None else deflection(tyre, axle.wheel_load)
            found.append(self.radius - pressed)
        return found[0], found[1]

    def component(self) -> Component:
        """All of it; its origin is on the road below the centre of the chassis' mass."""
        whole = Component("car", ports=("chassis",))
        self._furnish(whole)
        return whole

    def _furnish(self, owner: Component) -> None:
        """Add chassis and axles."""
        J = self.inertia
        at = (0.0, 0.0, self.height)
        owner.add(Body("chassis", at=at, mass=self.mass, inertia=J, shapes=self._looks(), color="#2f6fb0"))
        for name, axle, x, z in zip(
            AXLES, self.axles, (self.arms[0], -self.arms[1]), self.centres, strict=True
        ):
            fit(owner, name, axle.component(), chassis="chassis", at=(x, 0.0, z))

    def model(
        self, *road: Any, speed: float = 0.0, at: Vector = (0.0, 0.0, 0.0), friction: float = 1.0
    ) -> Model:
        """The car alone on a road, by default a plane of some friction; `speed` at the start [m/s], at rest otherwise.

        The start turns the wheels, too: pass what `rolling` returns to `Simulation.set`.
        """
        model = Model("car")
        if not road:
            road = (Material("road", friction=friction), Scenery("road", shapes=(Plane(),), material="road"))
        for thing in road:
            model.add(thing)
        self._furnish(model)
        stands, goes = (*at, 1.0, 0.0, 0.0, 0.0), (speed, 0.0, 0.0, 0.0, 0.0, 0.0)
        model.add(
            Free("ride", "ground", "chassis", at=(0.0, 0.0, self.height), position=stands, velocity=goes)
        )
        return model

    def rolling(self, speed: float) -> dict[str, float]:
        """Rates of the wheels at which they roll [rad/s]."""
        found: dict[str, float] = {}
        for name, axle, tyre in zip(AXLES, self.axles, self.tyres, strict=True):
            arm = self.radius if tyre is None else rolling_radius(tyre, axle.wheel_load)
            found |= {f"{name}.{side}.axle.angle_rate": speed / arm for side in ("left", "right")}
        return found

    def _looks(self) -> tuple[Any, ...]:
        a, b = self.arms
        R, low = self.radius, -self.height
        length, width = self.wheelbase + 2.2 * R, self.track - 0.4 * R
        middle = 0.5 * (a - b)
        sill = low + 1.15 * R
        return (
            Box((self.wheelbase - 2.4 * R, width, 0.9 * R), at=(middle, 0.0, sill + 0.45 * R)),
            Box((length + 0.6 * R, 0.62 * width, 0.7 * R), at=(middle, 0.0, sill + 0.75 * R)),
            Box((0.46 * length, 0.86 * width, 1.3 * R), at=(middle - 0.3 * R, 0.0, sill + 1.75 * R)),
            Cylinder(0.08 * R, 0.6 * width, at=(a + 1.4 * R, 0.0, sill + 0.7 * R), rotation=_ACROSS),
        )  # fmt: skip


def deflection(tyre: Tyre, load: float) -> float:
    """By how much a load presses a tyre in [m]."""
    _, stiffness, growth, *_ = tyre.common()
    if growth == 0.0:
        return load / stiffness
    return 2.0 * load / (stiffness + math.sqrt(stiffness * stiffness + 4.0 * growth * load))


def rolling_radius(tyre: Tyre, load: float) -> float:
    """Way per angle of a wheel that rolls freely under a load [m]."""
    (
        radius,
        *_,
    ) = tyre.common()
    return radius - tyre.common()[5] * deflection(tyre, load)


def car(**choices: Any) -> Car:
    """A car of these choices, the fields of `Car`."""
    known = [field.name for field in dataclasses.fields(Car)]
    for name in choices:
        if name not in known:
            raise LinkworkError(f"car: there is no choice '{name}'{nearest(name, known)}")
    return Car(**choices)


__all__ = ["Car", "car", "deflection", "rolling_radius"]
