"""What a suspension of both wheels of an axle is: hard points of its left half, and bodies and joints of all of it."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from ...model import Body
from ...model.item import item
from ...model.joints.base import Joint
from ...model.rotation import Vector
from .base import Coiled, HardPoints, Size

SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


class WholeParts(NamedTuple):
    """Bodies and joints of an axle, its wheels left out. Each pair is of the left and the right."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    carriers: tuple[str, str]
    """The bodies that the wheels turn on."""
    travels: tuple[str, str]
    """The joints, from the mount, whose turns about an axis across the vehicle are the coordinates of the axle."""
    coils: tuple[Coiled, Coiled]


@item
class WholeAxle(HardPoints):
    """How two wheels hang on the chassis together. Points are those of the left half, from the left wheel's centre at
    its neutral place unless it says otherwise: x forward, y to the left, z up; the right half is the mirror image."""

    torsion: ClassVar[bool] = False
    """Whether its coordinates turn about joints where torsion springs can sit."""

    def whole(self, size: Size, half: float) -> WholeParts:
        """Its bodies and joints, from the middle of the axle, for wheels of a size at half a track to either side."""
        raise NotImplementedError


def on_side(point: Vector, half: float, side: str) -> Vector:
    """A point from the left wheel's centre, on a side of the axle, from its middle [m]."""
    x, y, z = point
    return (x, half + y, z) if side == "left" else (x, -half - y, z)
