"""The axle constructor: both wheels of an axle, each on its own suspension or on one together, with steering rack and
anti-roll bar."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import KW_ONLY
from functools import cached_property
from typing import Any

from ..model import Body, Component, Weld
from ..model.errors import LinkworkError, nearest
from ..model.item import Positive, item
from ..model.joints import Joint
from ..model.rotation import Placement, Vector
from .constructor import DAMPING, Wheel, first_only
from .drivelines import Driveline
from .linkage import OutOfReach
from .pair import Pair
from .springs import Coil, Torsion
from .steering import AntiRollBar, Rack
from .suspensions import MOUNT, RACK, Steerable, WholeAxle
from .suspensions.base import GRAVITY, Size
from .suspensions.whole_axle import SIDES, on_side

_CENTRE: Vector = (0.0, 0.0, 0.0)


@item
class Axle:
    """Both wheels of an axle, to be welded to a chassis by its `mount`; the right half mirrors the left.

    Origin: the middle between the wheels' centres; x forward, y to the left, z up. Instances `left` and `right`: the
    wheels with their suspensions (`wheel`), or, where one suspension carries both, the wheels alone, whose bodies and
    joints stand beside them. Ports: `mount`, `left.wheel`, `right.wheel`.
    """

    _: KW_ONLY
    track: Positive
    """Distance of the wheels' centres [m]."""
    wheel: Wheel
    """Both wheels: suspension, size, load of each, spring, drive; their side does not matter."""
    steering: Rack | None = None
    """A rack that steers them; default: none, and tie rods lead to the chassis."""
    anti_roll: AntiRollBar | None = None
    """A bar that resists roll; default: none."""
    driveline: Driveline | None = None
    """A motor that drives both wheels through a differential; default: none."""

    @property
    def half(self) -> float:
        """Half of the track [m]."""
        return 0.5 * self.track

    @cached_property
    def each(self) -> Wheel:
        """A wheel that carries its half of rack and anti-roll bar, too."""
        own = (self.steering.weight if self.steering else 0.0) + (
            self.anti_roll.weight if self.anti_roll else 0.0
        )
        return dataclasses.replace(self.wheel, side="left", load=self.wheel.load + 0.5 * own)

    @cached_property
    def left(self) -> Wheel:
        """The left wheel; with a rack its tie rod leads there."""
        if self.steering is None:
            return self.each
        hung = self.each.described
        if not isinstance(hung, Steerable):
            from .suspensions import SUSPENSIONS

            fits = ", ".join(name for name, cls in SUSPENSIONS.items() if issubclass(cls, Steerable))
            raise LinkworkError(
                f"axle: a rack steers by tie rods, which suspension '{self.wheel.kind}' does not have; take one of "
                f"{fits}, or leave steering out"
            )
        return dataclasses.replace(self.each, suspension=dataclasses.replace(hung, steered=True))

    @cached_property
    def pair(self) -> Pair:
        """How both wheels move, of a suspension that carries both."""
        axle = self.wheel.described
        assert isinstance(axle, WholeAxle)
        return Pair(axle, Size(self.each.radius, self.each.load), self.half)

    @property
    def whole(self) -> bool:
        """Whether one suspension carries both wheels."""
        return isinstance(self.wheel.described, WholeAxle)

    @property
    def to_left(self) -> float:
        """The sign by which the rack moves to the left as the wheels are steered there."""
        chain = self.left.chain
        return math.copysign(1.0, chain.steering_at(chain.neutral)[chain.carrier, 0, 2])

    @property
    def wheel_load(self) -> float:
        """What the road carries below each wheel at rest [N]."""
        if not self.whole:
            return self.each.wheel_load
        own = sum(body.mass_properties.mass for body in self.pair.bodies)
        return self.each.load + GRAVITY * (self.each.wheel_mass + 0.5 * own)

    # --- the component ---

    def component(self) -> Component:
        """All of it, as a component with the port `mount`."""
        made = Component("axle", ports=(MOUNT, "left.wheel", "right.wheel"))
        made.add(Body(MOUNT, mass=0.0))
        feet = self._together(made) if self.whole else self._apart(made)
        if self.anti_roll is not None:
            for thing in self.anti_roll.parts(self.wheel.radius, feet):
                made.add(thing)
        if self.driveline is not None:
            if self.wheel.drive is not None:
                raise LinkworkError(
                    "axle: give either a motor in each wheel (drive) or a driveline, not both"
                )
            for thing in self.driveline.parts("left.axle", "right.axle"):
                made.add(thing)
        return made

    def _apart(self, made: Component) -> tuple[tuple[str, Vector], tuple[str, Vector]]:
        """Both wheels on suspensions of their own; returns what an anti-roll bar leads to."""
        left = self.left
        coil = left.parts.coil
        if self.steering is not None:
            hung = left.described
            assert isinstance(hung, Steerable)
            inner, _ = hung.tie_ends(Size(left.radius, left.load))
            ends = self.half + inner[1]
            if ends <= 0.0:
                raise LinkworkError(
                    f"axle: tie_inner {inner} is {-inner[1]:.4g} m inwards of a wheel, which is beyond the middle of a "
                    f"track of {self.track:g} m"
                )
            for sign in (-1.0, 1.0):  # refuses a way that the tie rods do not allow
                left.chain.at_height(0.0, sign * self.steering.way(left.radius))
            for thing in self.steering.parts(left.radius, inner, ends, self.to_left):
                made.add(thing)
        for side in SIDES:
            at = on_side(_CENTRE, self.half, side)
            part = dataclasses.replace(left, side=side).component()
            part.ports = (*(part.ports or ()), *([coil.body] if self.anti_roll else []))
            made.add(part.instance(side, at=at))
            made.add(Weld(f"{side}_mount", MOUNT, f"{side}.{MOUNT}", at=at))
            if self.steering is not None:
                made.add(Weld(f"{side}_rack", RACK, f"{side}.{RACK}", at=at))
        first, second = (on_side(coil.foot, self.half, side) for side in SIDES)
        return (f"left.{coil.body}", first), (f"right.{coil.body}", second)

    def _together(self, made: Component) -> tuple[tuple[str, Vector], tuple[str, Vector]]:
        """Both wheels on one suspension."""
        if self.steering is not None:
            _ = self.left  # says that it has no tie rods
        parts = self.pair.parts
        springs = [self._rated(side) for side in range(2)]
        bounds = self._bounds()
        for body in parts.bodies:
            made.add(body)
        for joint in parts.joints:
            which = parts.travels.index(joint.name) if joint.name in parts.travels else None
            made.add(joint if which is None else _held(joint, bounds[which], springs[which]))
        for i, side in enumerate(SIDES):
            spring, coil = springs[i], parts.coils[i]
            if isinstance(spring, Coil):
                from ..engine.loads import Spring  # brings Numba along: only where there is one

                name, k, c = f"{side}_spring", spring.stiffness or 0.0, spring.damping or 0.0
                load = Spring(name, MOUNT, coil.body, at_a=coil.top, at_b=coil.foot, stiffness=k, damping=c)
                made.add(dataclasses.replace(load, length=spring.length))
            at = on_side(_CENTRE, self.half, side)
            made.add(self._hub(side).instance(side, at=at))
            made.add(Weld(f"{side}_hub", parts.carriers[i], f"{side}.{MOUNT}", at=at))
        first, second = parts.coils
        return (first.body, first.foot), (second.body, second.foot)

    def _hub(self, side: str) -> Component:
        """A wheel that turns on its mount."""
        made = Component("hub", ports=(MOUNT, "wheel"))
        made.add(Body(MOUNT, mass=0.0))
        mirror = Placement(mirror=(0.0, 1.0, 0.0)) if side == "right" else None
        for thing in self.each.rolling(MOUNT, self.wheel_load):
            made.add(thing if mirror is None else thing.placed(mirror, lambda name: name))
        return made

    def _bounds(self) -> list[tuple[float, float]]:
        """Of both coordinates, at the ends of the travel of both wheels together."""
        found = []
        for z in self.wheel.travels:
            try:
                found.append(self.pair.at_heights(z, z))
            except OutOfReach as short:
                raise LinkworkError(
                    f"{self.pair.what}: a travel of {1e3 * z:+.6g} mm is beyond the mechanism, which goes to "
                    f"{1e3 * short.share * z:+.4g} mm; shorten the travel, or lengthen links"
                ) from None
        low, high = found
        return [(self.pair.coordinate(i, low), self.pair.coordinate(i, high)) for i in range(2)]

    def _rated(self, side: int) -> Coil | Torsion:
        """The spring of a side with all its numbers: at rest at the neutral place under the load of its wheel."""
        wheel, spring = self.each, self.each.sprung
        if isinstance(spring, Torsion) and not wheel.described.torsion:
            raise LinkworkError(f"{self.pair.what}: has no hinge for a torsion spring; take a coil")
        lever = self.pair.lever(side, GRAVITY)
        ratio = lever.coordinate if isinstance(spring, Torsion) else lever.coil
        up = self.wheel_load - GRAVITY * wheel.wheel_mass - lever.fall
        rate = wheel.load / (wheel.travels[1] or 0.3 * wheel.radius)
        k = rate / ratio**2 if spring.stiffness is None else spring.stiffness
        critical = 2.0 * math.sqrt(k * ratio**2 * wheel.load / GRAVITY) / ratio**2
        c = DAMPING * critical if spring.damping is None else spring.damping
        if isinstance(spring, Torsion):
            rest = -up / (k * ratio) if spring.rest is None and k else spring.rest or 0.0
            return dataclasses.replace(spring, stiffness=k, damping=c, rest=rest)
        coil = self.pair.parts.coils[side]
        drawn = math.dist(coil.foot, coil.top)
        length = (drawn - up / (k * ratio) if k else drawn) if spring.length is None else spring.length
        if length < 0.0:
            raise LinkworkError(
                f"{self.pair.what}: its spring of {k:g} N/m would have to push from a length of {length:g} m; a "
                "stiffer one is needed, or one that is steeper"
            )
        return dataclasses.replace(spring, stiffness=k, damping=c, length=length)


def _held(joint: Joint, bounds: tuple[float, float], spring: Coil | Torsion) -> Joint:
    """A travel joint with its limits, and its torsion spring, on the turn across the vehicle."""
    fields: dict[str, Any] = {"limits": (min(bounds), max(bounds))}
    if isinstance(spring, Torsion):
        fields |= {"spring": spring.stiffness, "damping": spring.damping, "rest": spring.rest}
    place = 1 if joint.motions()[0].ball else 0
    return dataclasses.replace(joint, **first_only(joint, fields, place))


def axle(**choices: Any) -> Component:
    """Both wheels of an axle, as a component; its choices are the fields of `Axle`, and those of `Wheel` for both.

    `axle(track=1.5, suspension="double_wishbone", load=3200.0, steering=Rack(), anti_roll=AntiRollBar(stiffness=400))`.
    Place it by the middle between the wheels and weld its port `mount` to a chassis, or let `fit` do both.
    """
    own = [field.name for field in dataclasses.fields(Axle)]
    of_wheels = [field.name for field in dataclasses.fields(Wheel) if field.name != "side"]
    for name in choices:
        if name not in (*own, *of_wheels):
            raise LinkworkError(f"axle: there is no choice '{name}'{nearest(name, [*own, *of_wheels])}")
    of_wheel = {name: value for name, value in choices.items() if name in of_wheels}
    if "wheel" in choices and of_wheel:
        raise LinkworkError(f"axle: give the wheels as `wheel`, or by {', '.join(of_wheel)}, not both")
    rest = {name: value for name, value in choices.items() if name in own}
    return Axle(**{"wheel": Wheel(**of_wheel), **rest}).component()


__all__ = ["AntiRollBar", "Axle", "Rack", "axle"]
