"""The track constructor: sprocket, idler and road wheels that turn at the speed of one belt, which grips the ground all
along below them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Annotated

from pydantic import Field

from ..engine.elements import DCMotor, Repeater
from ..model import Body, Box, Component, Cylinder, Hinge
from ..model.belts import BeltTyre
from ..model.errors import LinkworkError, nearest
from ..model.item import Item, NonNegative, Positive, item
from ..model.rotation import Vector, about
from .springs import HubMotor
from .suspensions import MOUNT
from .suspensions.base import GRAVITY

_SHARE = 0.15  # of what a track carries is its own mass, by default
_THICK = 0.15  # of the belt, in radii
_ACROSS = about((1.0, 0.0, 0.0), math.pi / 2)
_WHEEL, _BELT = "#565c61", "#26292c"


@item
class Track:
    """A track of a small vehicle: one belt around a sprocket behind, an idler in front and a row of road wheels.

    Origin: the middle of the row of road wheels, at their centres; x forward, y to the left, z up. Bodies: `mount`, to
    be welded to a chassis, `sprocket`, `idler`, `wheel_1` and so on from behind; joints: `sprocket_axle` and likewise,
    whose angles grow as it drives forward; `motor`. Pads give way, nothing else: wheels are fixed to the mount. Ports:
    `mount`.
    """

    _: KW_ONLY
    length: Positive
    """Of the belt on level ground [m]."""
    load: Positive
    """What the track carries of the vehicle at rest, its own parts not counted [N]."""
    radius: Positive = 0.1
    """Of all wheels, with the belt [m]."""
    width: Positive | None = None
    """Of the belt [m]; default: 0.8 of the radius."""
    wheels: Annotated[int, Field(strict=True, ge=2)] = 5
    """How many road wheels stand on level ground."""
    rise: NonNegative | None = None
    """How much higher sprocket and idler are than the road wheels [m]; default: the radius."""
    reach: Positive | None = None
    """How far sprocket and idler are behind and ahead of the ends of the length on the ground [m]; default: the
    radius."""
    mass: NonNegative | None = None
    """Of belt and wheels together, each a ring and a disc of equal mass [kg]; default: 0.15 of what it carries."""
    friction: Positive = 1.0
    """Coefficient of friction of the belt, on a road whose material has friction 1; on others, that times it [1]."""
    drive: HubMotor | None = None
    """A motor at the sprocket; default: none, the belt runs freely."""

    @property
    def breadth(self) -> float:
        """Width of the belt [m]."""
        return 0.8 * self.radius if self.width is None else self.width

    @property
    def whole_mass(self) -> float:
        """[kg]"""
        return _SHARE * self.load / GRAVITY if self.mass is None else self.mass

    @property
    def places(self) -> dict[str, Vector]:
        """Centres of all wheels by name, the sprocket first [m]."""
        high = self.radius if self.rise is None else self.rise
        out = 0.5 * self.length + (self.radius if self.reach is None else self.reach)
        pitch = self.length / self.wheels
        row = {
            f"wheel_{k + 1}": ((k + 0.5) * pitch - 0.5 * self.length, 0.0, 0.0) for k in range(self.wheels)
        }
        return {"sprocket": (-out, 0.0, high), "idler": (out, 0.0, high), **row}

    def component(self) -> Component:
        """All of it, as a component with the port `mount`."""
        made = Component("track", ports=(MOUNT,))
        made.add(Body(MOUNT, mass=0.0, shapes=tuple(self._looks()), color=_BELT))
        for name, at in self.places.items():
            for thing in self._wheel(name, at):
                made.add(thing)
        if self.drive is not None:
            numbers = {
                field.name: getattr(self.drive, field.name) for field in dataclasses.fields(self.drive)
            }
            made.add(DCMotor("motor", "sprocket_axle", **numbers))
        return made

    def _wheel(self, name: str, at: Vector) -> Iterator[Item]:
        """A wheel, its hinge, the belt below it, and that it turns with the sprocket."""
        R, b, m = self.radius, self.breadth, self.whole_mass / (self.wheels + 2)
        along = 0.75 * m * R * R
        across = 0.5 * along + m * b * b / 12
        disc = (1.0 - _THICK) * R
        spokes = (Box((1.7 * disc, 1.02 * b, 0.15 * R)), Box((0.15 * R, 1.02 * b, 1.7 * disc)))
        shapes = (Cylinder(disc, 0.9 * b, rotation=_ACROSS), *spokes)
        yield Body(name, at=at, mass=m, inertia=(across, along, across), shapes=shapes, color=_WHEEL)
        yield Hinge(f"{name}_axle", MOUNT, name, at=at, axis=(0.0, 1.0, 0.0))
        if name != "sprocket":
            yield Repeater(f"{name}_belt", f"{name}_axle", "sprocket_axle")
        load = (self.load + GRAVITY * self.whole_mass) / self.wheels
        pressed = R if name in ("sprocket", "idler") else self.length / self.wheels
        yield BeltTyre(
            f"{name}_pads", name, radius=R, load=load, length=pressed, width=b, friction=self.friction
        )

    def _looks(self) -> Iterator[Box | Cylinder]:
        """The belt, as straight runs between its wheels and around its ends."""
        places, thick, b = self.places, _THICK * self.radius, self.breadth
        (x, _, z), (low, _, _) = places["idler"], places[f"wheel_{self.wheels}"]
        middle = self.radius - 0.5 * thick
        yield Box((2.0 * x, b, thick), at=(0.0, 0.0, z + middle))
        yield Box((2.0 * low, b, thick), at=(0.0, 0.0, -middle))
        run, angle = math.hypot(x - low, z), math.atan2(z, x - low)
        for sign in (1.0, -1.0):
            at = (
                sign * (0.5 * (x + low) + middle * math.sin(angle)),
                0.0,
                0.5 * z - middle * math.cos(angle),
            )
            yield Box((run, b, thick), at=at, rotation=about((0.0, 1.0, 0.0), -sign * angle))
            for at in ((sign * x, 0.0, z), (sign * low, 0.0, 0.0)):
                yield Cylinder(self.radius, 0.8 * b, at=at, rotation=_ACROSS)


def track(**choices: object) -> Component:
    """A track with its wheels, belt and motor, as a component; its choices are the fields of `Track`.

    `track(length=0.8, load=400.0, radius=0.1, drive=HubMotor(...))`. Place it by the middle of its road wheels and weld
    its port `mount` to a chassis, or let `fit` do both.
    """
    known = [field.name for field in dataclasses.fields(Track)]
    for name in choices:
        if name not in known:
            raise LinkworkError(f"track: there is no choice '{name}'{nearest(name, known)}")
    return Track(**choices).component()  # type: ignore[arg-type]


__all__ = ["Track", "track"]
