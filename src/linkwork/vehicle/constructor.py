"""The wheel constructor: from a choice of suspension, travel, spring and drive to all bodies, joints, spring, limits
and motor of a corner, with names and a port."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import KW_ONLY
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator

from ..engine.elements import Brake, DCMotor
from ..model import Body, Box, Component, Cylinder, Hinge, Material, Torus, Weld
from ..model.errors import LinkworkError, nearest
from ..model.item import Item, NonNegative, Number, Positive, Size3, _plain, either, item
from ..model.joints import Joint
from ..model.rotation import Placement, about
from .drivelines import GRIP, WheelBrake
from .kinematics import Chain, OutOfReach
from .springs import SPRINGS, AnySpring, Coil, HubMotor, Torsion
from .suspensions import AXLES, MOUNT, RACK, SUSPENSIONS, AnySuspension, Parts, Size, Suspension, WholeAxle
from .suspensions.base import GRAVITY, Coiled
from .travel import Travel, approximate
from .tyres import RIGID, TYRES, AnyTyre, Brush, Magic, made

_SHARE = 0.13  # of what a corner carries is the mass of its wheel, by default
DAMPING = 0.3
"""Of critical, by default."""
_ACROSS = about((1.0, 0.0, 0.0), math.pi / 2)
_NO_LEVER = 1e-9  # length of a coil spring per way of the wheel that counts as none

Side = Literal["left", "right"]


def _named(value: Any) -> str:
    return "name" if isinstance(value, str) else "described"


def _around_zero(value: tuple[float, float]) -> tuple[float, float]:
    if not value[0] <= 0.0 <= value[1]:
        raise ValueError("must lead from below the neutral place to above it: lowest <= 0 <= highest")
    return value


if TYPE_CHECKING:
    Ways = tuple[float, float]
else:
    Ways = Annotated[tuple[Number, Number], BeforeValidator(_plain), AfterValidator(_around_zero)]
if TYPE_CHECKING:
    SuspensionChoice = Any
    SpringChoice = Any
    TyreChoice = str | Brush | Magic
else:
    SuspensionChoice = either(
        ("name", Literal[(*SUSPENSIONS, *AXLES)]), ("described", AnySuspension), by=_named
    )
    SpringChoice = either(("name", Literal[tuple(SPRINGS)]), ("described", AnySpring), by=_named)
    TyreChoice = either(("name", Literal[RIGID, *TYRES]), ("described", AnyTyre), by=_named)


@item
class Wheel:
    """A wheel with its suspension, spring and drive: a corner of a vehicle, to be welded to a chassis by its `mount`.

    Origin: the wheel's centre at its neutral place; x forward, y to the left, z up. Bodies: `mount`, `wheel`, `rim`,
    and those of the suspension; joints: `axle`, whose angle grows as the wheel rolls forward, and those of the
    suspension; `spring`, a coil between chassis and suspension; `motor`. Hard points are
    those of the left wheel, on either side. Ports: `mount` and `wheel`, whose frames stand at the wheel's centre, and
    `rack`, of a wheel that is steered.
    """

    _: KW_ONLY
    suspension: SuspensionChoice = "double_transverse"
    """Its suspension: a type, with hard points for the size, or a mapping with its `type` and hard points."""
    side: Side = "left"
    """On which side of the vehicle it is; the right one is the mirror image."""
    radius: Positive = 0.3
    """Radius of the wheel [m]."""
    width: Positive | None = None
    """Width of the wheel [m]; default: 0.6 of the radius."""
    load: NonNegative = 3000.0
    """What the corner carries of the vehicle at rest, its own parts not counted [N]."""
    travel: Ways | None = None
    """How far the wheel's centre may go below (not above 0) and above (not below 0) its neutral place [m]; default: 0.3
    of the radius both ways."""
    limits: Literal["exact", "asin"] = "exact"
    """How limits of the coordinate follow from the travel: by the corner's kinematics, or by asin(z/l), l from the
    hinge to the wheel's centre."""
    spring: SpringChoice = "coil"
    """Its spring: a type, or a mapping with its `type` and numbers."""
    drive: HubMotor | None = None
    """A motor in the wheel; default: none, it turns freely."""
    brake: WheelBrake | None = None
    """A brake on the wheel; default: none."""
    mass: NonNegative | None = None
    """Mass of the wheel [kg]; default: 0.13 of what the corner carries."""
    inertia: Size3 | None = None
    """Of the wheel about its centre, along x, y (its axle) and z [kg m²]; default: that of a solid disc."""
    friction: NonNegative | None = 0.8
    """Coefficient of dry friction of a rigid tyre [1]; none: it touches nothing."""
    tyre: TyreChoice = RIGID
    """Its tyre: rigid, touching the road as a solid does; "brush", a handling tyre with numbers for the size; or a
    mapping with its `type`, "brush" or "magic", and numbers. A handling tyre has the name `tyre`, and friction of its
    own."""
    tread: Literal["round", "flat"] = "round"
    """Round as a torus, which touches a road in one point, or flat as a cylinder, which touches it along a line."""

    # --- what was chosen ---

    @property
    def kind(self) -> str:
        """Type of its suspension."""
        return str(self.suspension if isinstance(self.suspension, str) else self.suspension.type)

    @property
    def hung(self) -> Suspension:
        """Its suspension, described."""
        made = self.described
        if isinstance(made, WholeAxle):
            raise LinkworkError(
                f"suspension '{self.kind}': is an axle of two wheels; make it by axle(...), in files by `axle:`, or "
                f"take one of {', '.join(SUSPENSIONS)}"
            )
        return made

    @property
    def described(self) -> Suspension | WholeAxle:
        """Its suspension, or the axle that it is one wheel of, described."""
        kinds: dict[str, Any] = SUSPENSIONS | AXLES
        made: Suspension | WholeAxle = (
            kinds[self.suspension]() if isinstance(self.suspension, str) else self.suspension
        )
        return made

    @property
    def sprung(self) -> Coil | Torsion:
        """Its spring, described."""
        made: Coil | Torsion = SPRINGS[self.spring]() if isinstance(self.spring, str) else self.spring
        return made

    @property
    def travels(self) -> tuple[float, float]:
        """Lowest and highest place of the wheel's centre [m]."""
        return (-0.3 * self.radius, 0.3 * self.radius) if self.travel is None else self.travel

    @property
    def breadth(self) -> float:
        """Width [m]."""
        return 0.6 * self.radius if self.width is None else self.width

    @cached_property
    def parts(self) -> Parts:
        """Bodies and joints of the suspension, on the left."""
        return self.hung.parts(Size(self.radius, self.load))

    @cached_property
    def chain(self) -> Chain:
        """How the suspension moves, on the left."""
        parts = self.parts
        return Chain(
            f"suspension '{self.kind}'", MOUNT, parts.bodies, parts.joints, parts.carrier, parts.travel
        )

    # --- what follows ---

    @cached_property
    def wheel_mass(self) -> float:
        """[kg]"""
        return Size(self.radius, self.load).mass(self.mass, _SHARE)

    @property
    def weight(self) -> float:
        """Of all parts of the corner, the wheel included [N]."""
        return GRAVITY * (self.wheel_mass + sum(body.mass_properties.mass for body in self.parts.bodies))

    @property
    def wheel_load(self) -> float:
        """What the road carries below the wheel at rest [N]."""
        return self.load + self.weight

    @cached_property
    def exact(self) -> tuple[float, float]:
        """Coordinates at the lowest and highest place of the wheel's centre, by the corner's kinematics [rad or m]."""
        chain, found = self.chain, []
        for z in self.travels:
            try:
                found.append(chain.coordinate(chain.at_height(z)) if z else 0.0)
            except OutOfReach as short:
                raise LinkworkError(
                    f"suspension '{self.kind}': a travel of {1e3 * z:+.6g} mm is beyond the mechanism, which goes to "
                    f"{1e3 * short.share * z:+.4g} mm; shorten the travel, or lengthen arms and guides"
                ) from None
        return found[0], found[1]

    def travel_report(self) -> Travel:
        """The travel that was asked for, and limits of the coordinate by both formulas with what they reach."""
        near = approximate(self.chain, self.travels)
        return Travel.of(self.chain, self.travels, self.exact, near)

    @cached_property
    def needed(self) -> float:
        """Force of the spring along the suspension's coordinate at rest at the neutral place [N m or N]."""
        chain, lift = self.chain, self.chain.lift
        up = self.wheel_load * lift - GRAVITY * self.wheel_mass * lift
        for i, body in enumerate(self.parts.bodies):
            mass, com, _ = body.mass_properties
            up -= GRAVITY * mass * float(chain.velocity(i, np.add(body.at, com))[2])
        return -up

    def rated(self) -> Coil | Torsion:
        """The spring with all its numbers."""
        spring, (_, high) = self.sprung, self.travels
        lever = 1.0 if isinstance(spring, Torsion) else self._lever(self.parts.coil)
        ratio = lever / self.chain.lift  # of the spring's way to the wheel's
        rate = self.load / (high or 0.3 * self.radius)
        k = rate / ratio**2 if spring.stiffness is None else spring.stiffness
        critical = 2.0 * math.sqrt(k * ratio**2 * self.load / GRAVITY) / ratio**2
        c = DAMPING * critical if spring.damping is None else spring.damping
        if isinstance(spring, Torsion):
            rest = spring.rest if spring.rest is not None or k == 0.0 else self.needed / k
            return dataclasses.replace(spring, stiffness=k, damping=c, rest=rest or 0.0)
        length = spring.length
        if length is None:
            drawn = math.dist(self.parts.coil.foot, self.parts.coil.top)
            length = drawn if k == 0.0 else drawn + self.needed / (k * lever)
            if length < 0.0:
                raise LinkworkError(
                    f"wheel: its spring of {k:g} N/m would have to push from a length of {length:g} m; a stiffer "
                    "one is needed, or one that is steeper"
                )
        return dataclasses.replace(spring, stiffness=k, damping=c, length=length)

    def _lever(self, coil: Coiled) -> float:
        """How fast a coil spring lengthens at the neutral place, per rate of the coordinate [m/rad or m/m]."""
        names = [body.name for body in self.parts.bodies]
        way = np.subtract(coil.foot, coil.top)
        length = float(np.linalg.norm(way))
        if length <= 1e-6 * self.radius:
            raise LinkworkError(
                f"suspension '{self.kind}': spring_foot and spring_top are the same point {coil.top}"
            )
        foot = np.array(coil.foot, float)
        lever = float(way @ self.chain.velocity(names.index(coil.body), foot)) / length
        if abs(lever) <= _NO_LEVER * abs(self.chain.lift):
            raise LinkworkError(
                f"suspension '{self.kind}': its coil spring from {coil.foot} to {coil.top} does not change its length "
                "as the wheel rises; move spring_foot or spring_top"
            )
        return lever

    # --- the component ---

    def component(self) -> Component:
        """All of it, as a component with the port `mount`."""
        self._refuse_what_does_not_fit()
        parts, spring = self.parts, self.rated()
        bounds = self.exact if self.limits == "exact" else approximate(self.chain, self.travels)
        holding: dict[str, Any] = {"limits": (min(bounds), max(bounds))}
        grounds = [Body(name, mass=0.0) for name in (MOUNT, RACK)[: 1 + parts.rack]]
        made: list[Item] = [*grounds, *parts.bodies]
        if isinstance(spring, Torsion):
            holding |= {"spring": spring.stiffness, "damping": spring.damping, "rest": spring.rest}
        else:
            from ..engine.loads import Spring  # brings Numba along: only where there is one

            coil, ends = parts.coil, (MOUNT, parts.coil.body)
            k, c, length = spring.stiffness or 0.0, spring.damping or 0.0, spring.length
            made.append(
                Spring("spring", *ends, at_a=coil.top, at_b=coil.foot, stiffness=k, damping=c, length=length)
            )
        made += [
            dataclasses.replace(joint, **first_only(joint, holding)) if joint.name == parts.travel else joint
            for joint in parts.joints
        ]
        made += self.rolling(parts.carrier, self.wheel_load)
        component = Component("wheel", ports=(*(body.name for body in grounds), "wheel"))
        mirror = Placement(mirror=(0.0, 1.0, 0.0)) if self.side == "right" else None
        for thing in made:
            component.add(thing if mirror is None else thing.placed(mirror, lambda name: name))
        return component

    def _refuse_what_does_not_fit(self) -> None:
        if isinstance(self.sprung, Torsion) and not self.hung.torsion:
            fits = ", ".join(name for name, cls in SUSPENSIONS.items() if cls.torsion)
            raise LinkworkError(
                f"suspension '{self.kind}': slides, so that there is no hinge for a torsion spring; take a coil, or "
                f"one of {fits}"
            )
        if self.tread == "round" and self.breadth > self.radius:
            raise LinkworkError(
                f"wheel: a round tread of {self.breadth:g} m does not fit a radius of {self.radius:g} m; it is at most "
                "as wide as the radius"
            )

    def rolling(self, carrier: str, load: float) -> Iterable[Item]:
        """What turns, on a carrier: the wheel, its hinge, motor and brake, on the left; `load` on the road [N]."""
        load = load or 1.0
        yield from self._wheel(load)
        yield Hinge("axle", carrier, "wheel", axis=(0.0, 1.0, 0.0))
        if self.drive is not None:
            numbers = {
                field.name: getattr(self.drive, field.name) for field in dataclasses.fields(self.drive)
            }
            yield DCMotor("motor", "axle", **numbers)
        if self.brake is not None:
            torque = self.brake.torque
            most = GRIP * load * self.radius if torque is None else torque
            told: dict[str, Any] = {"command": self.brake.command, "signal": self.brake.signal}
            yield Brake("brake", "axle", torque=most, give=self.brake.give, **told)

    def _wheel(self, load: float) -> Iterable[Item]:
        R, b, m = self.radius, self.breadth, self.wheel_mass
        disc = (m * (3 * R * R + b * b) / 12, m * R * R / 2, m * (3 * R * R + b * b) / 12)
        inertia = disc if self.inertia is None else self.inertia
        shape = (
            Torus(R - b / 2, b / 2, rotation=_ACROSS)
            if self.tread == "round"
            else Cylinder(R, b, rotation=_ACROSS)
        )
        touches = None
        if self.tyre != RIGID:
            yield made(self.tyre, R, load)
        elif self.friction is not None:
            touches = "tyre"
            yield Material("tyre", friction=self.friction)
        yield Body("wheel", mass=m, inertia=inertia, shapes=(shape,), material=touches, color="#303438")
        # What shows that it turns, and is not to touch anything.
        spoke = 2 * (R - b / 2)
        yield Body(
            "rim",
            mass=0.0,
            shapes=(Box((spoke, 0.7 * b, 0.12 * R)), Box((0.12 * R, 0.7 * b, spoke))),
            color="#c9ced3",
        )
        yield Weld("rim_weld", "wheel", "rim")


def first_only(joint: Joint, fields: dict[str, Any], place: int = 0) -> dict[str, Any]:
    """Fields for one coordinate of a joint alone, by default its first."""
    count = len(joint.rates)
    if count == 1:
        return fields
    nothing = {"limits": (None, None)}
    return {
        name: tuple(value if k == place else nothing.get(name, 0.0) for k in range(count))
        for name, value in fields.items()
    }


def wheel(**choices: Any) -> Component:
    """A wheel with its suspension, spring and drive, as a component; its choices are the fields of `Wheel`.

    `wheel(suspension="macpherson", travel=(-0.06, 0.08), load=2800.0, side="right")`. Place it by its centre and weld
    its port `mount` to a chassis, or let `fit` do both.
    """
    known = [field.name for field in dataclasses.fields(Wheel)]
    for name in choices:
        if name not in known:
            raise LinkworkError(f"wheel: there is no choice '{name}'{nearest(name, known)}")
    return Wheel(**choices).component()


def fit(
    owner: Component, name: str, corner: Component, *, chassis: str, at: tuple[float, float, float]
) -> None:
    """Place a corner with the wheel's centre at `at` [m] in an assembled vehicle, and weld its mount to the chassis."""
    owner.add(corner.instance(name, at=at))
    owner.add(Weld(f"{name}_mount", chassis, f"{name}.{MOUNT}", at=at))


__all__ = ["Wheel", "fit", "wheel"]
