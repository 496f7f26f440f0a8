"""What a suspension is: hard points of the left wheel, and the bodies and joints that stand on them.

To add one, write a file here with a subclass of `Suspension` that says its `type`, its hard points and `parts`, and
name it in `suspensions/__init__.py`. Springs, exact limits, preload, mirroring, files, schema and rigs follow.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ...model import Body, Capsule, Distance, Hinge
from ...model.errors import LinkworkError
from ...model.item import item
from ...model.joints.base import Joint
from ...model.rotation import Vector, frame_from_axis, quaternion, vector

MOUNT = "mount"
"""The body that is welded to the chassis."""
RACK = "rack"
"""The body that a steered wheel's tie rod leads to, to be welded to what moves it across the vehicle."""
GRAVITY = 9.81
"""By which loads are turned into masses [m/s²]."""
ACROSS: Vector = (1.0, 0.0, 0.0)
"""Axis of the hinges of a suspension that moves in the transverse plane."""
ALONG: Vector = (0.0, 1.0, 0.0)
"""The same in the longitudinal plane: its wheels rise with a positive angle, too."""
_SLENDER = 0.07  # radius of an arm, as a share of the wheel's
_COLOURS = {"arm": "#7d8894", "upright": "#c0392b", "strut": "#b8bcc0"}


class Size(NamedTuple):
    """What the defaults of a corner follow from."""

    radius: float
    """Of the wheel [m]."""
    load: float
    """That the corner carries at rest [N]."""

    def point(self, given: Vector | None, x: float, y: float, z: float) -> Vector:
        """A hard point [m]; by default in radii of the wheel from its centre."""
        return given if given is not None else (x * self.radius, y * self.radius, z * self.radius)

    def mass(self, given: float | None, share: float) -> float:
        """A mass [kg]; by default a share of what the corner carries."""
        return given if given is not None else share * self.load / GRAVITY


class Coiled(NamedTuple):
    """Where a coil spring stands."""

    body: str
    """On which body it acts from the mount."""
    foot: Vector
    """Its end there [m]."""
    top: Vector
    """Its end on the mount [m]."""


class Parts(NamedTuple):
    """Bodies and joints of a suspension, its wheel left out."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    carrier: str
    """The body that the wheel turns on."""
    travel: str
    """The joint, from the mount, whose coordinate is the suspension's: it has the limits, and a torsion spring."""
    coil: Coiled
    rack: bool = False
    """Whether a tie rod leads to the body `rack`."""


class HardPoints:
    """Makes bodies and joints of named hard points, and refuses those that coincide."""

    if TYPE_CHECKING:

        @property
        def type(self) -> str:
            """What files call it: a field of every kind, by which they are told apart."""

    def refuse(self, what: str) -> LinkworkError:
        """The error that says what is wrong with its hard points."""
        return LinkworkError(f"suspension '{self.type}': {what}")

    def bar(
        self, name: str, start: tuple[str, Vector], end: tuple[str, Vector], mass: float, size: Size,
        look: str = "arm", com: Vector | None = None,
    ) -> Body:  # fmt: skip
        """A straight body between two named hard points; its frame stands at the first."""
        (first, a), (second, b) = start, end
        way = np.subtract(b, a)
        length = math.hypot(*way)
        if length <= 1e-6 * size.radius:
            raise self.refuse(
                f"{first} and {second} are the same point {a}: a body between them has no length"
            )
        middle, along = vector(way / 2), quaternion(frame_from_axis(vector(way)))
        rod = Capsule(_SLENDER * size.radius, length, at=middle, rotation=along)
        centre = middle if com is None else vector(np.subtract(com, a))
        return Body(name, at=a, mass=mass, com=centre, shapes=(rod,), color=_COLOURS[look])

    def fork(
        self, name: str, ends: tuple[tuple[str, Vector], ...], mass: float, size: Size, look: str = "arm"
    ) -> Body:
        """A body of bars from its first named hard point to all others; its frame stands at the first."""
        bars = [self.bar(name, ends[0], end, 0.0, size, look) for end in ends[1:]]
        shapes = tuple(shape for bar in bars for shape in bar.shapes)
        return Body(name, at=ends[0][1], mass=mass, shapes=shapes, color=_COLOURS[look])

    def hinge_through(
        self, name: str, arm: str, front: tuple[str, Vector], rear: tuple[str, Vector], size: Size
    ) -> Joint:
        """A hinge of an arm to the chassis through two named hard points, with which its wheel rises."""
        (first, a), (second, b) = front, rear
        if math.dist(a, b) <= 1e-6 * size.radius:
            raise self.refuse(
                f"{first} and {second} are the same point {a}: the hinge through them has no axis"
            )
        if a[0] <= b[0]:
            raise self.refuse(f"{first} {a} must be in front of {second} {b}")
        middle = vector(np.add(a, b) / 2)
        return hinge(name, MOUNT, arm, middle, vector(np.subtract(a, b)))

    def rod(
        self, name: str, a: str, b: str, start: tuple[str, Vector], end: tuple[str, Vector], size: Size
    ) -> Joint:
        """A rod without mass between two named hard points of two bodies."""
        (first, at), (second, to) = start, end
        if math.dist(at, to) <= 1e-6 * size.radius:
            raise self.refuse(f"{name}: {first} and {second} are the same point {at}: a rod of zero length")
        return Distance(name, a, b, at=at, to=to)


@item
class Suspension(HardPoints):
    """How a wheel hangs on the chassis. Points are those of the left wheel at its neutral place, from its centre: x
    forward, y outwards to the left, z up."""

    torsion: ClassVar[bool] = True
    """Whether its coordinate turns, so that a torsion spring can sit there."""

    _: KW_ONLY

    def parts(self, size: Size) -> Parts:
        """Its bodies and joints, for a wheel of a size."""
        raise NotImplementedError


def hinge(name: str, a: str, b: str, at: Vector, axis: Vector) -> Joint:
    """A hinge between two bodies."""
    return Hinge(name, a, b, at=at, axis=axis)
