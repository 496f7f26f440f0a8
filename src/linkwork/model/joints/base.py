"""What a joint is: a frame on two bodies and a short list of elementary motions between them.

To add a joint, write one file with a subclass of `Joint` that says `kind` and `motions`, and name it in
`model/joints/__init__.py`. Kinematics, dynamics, springs, damping, files, schema and tests follow from that.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ..item import (
    Axis,
    BodyName,
    Bounds,
    Flag,
    Item,
    NonNegative,
    PerCoordinate,
    PerCoordinateNonNegative,
    Place,
    _moved_fields,
    _plain,
    item,
)
from ..rotation import Placement, frame_from_axis

X, Y, Z = 0, 1, 2

# What a joint equation α·β = 0 is made of: axes of the world, of the joint frame on a, of the joint frame on b,
# and the distance from the first to the second. Equations are written in the axes of a rather than of the world, so
# that those which a mechanism does not need stay the same ones while it is carried about.
WX, WY, WZ, AX, AY, AZ, BX, BY, BZ, D = range(10)
COINCIDE = ((AX, D), (AY, D), (AZ, D))
ALIGN_Z = ((AX, BZ), (AY, BZ))
ALIGN = ((AX, BY), *ALIGN_Z)


class Motion(NamedTuple):
    """One elementary motion of frame B against frame A; a joint is a product of them, first one nearest A."""

    axis: int
    """Axis of the joint frame: X, Y or Z."""
    rot: float
    """Rotation per unit of the coordinate [rad/rad], 0 for a pure translation."""
    trans: float
    """Translation per unit of the coordinate [m/m or m/rad], 0 for a pure rotation."""
    name: str
    """Name of the coordinate."""
    ball: bool = False
    """Three rotations at once by a quaternion; axis, rot and trans do not matter then."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of its coordinates."""
        return ("qw", "qx", "qy", "qz") if self.ball else (self.name,)

    @property
    def rates(self) -> tuple[str, ...]:
        """Names of its rates; of a ball, the angular velocity of B against A in the axes of B."""
        return ("wx", "wy", "wz") if self.ball else (f"{self.name}_rate",)

    @property
    def unit(self) -> str:
        """Unit of its coordinate."""
        return "1" if self.ball else ("rad" if self.rot else "m")

    @property
    def rate_unit(self) -> str:
        """Unit of its rates."""
        return "rad/s" if self.ball or self.rot else "m/s"


def turn(axis: int, name: str) -> Motion:
    """Rotation about an axis of the joint frame."""
    return Motion(axis, 1.0, 0.0, name)


def slide(axis: int, name: str) -> Motion:
    """Translation along an axis of the joint frame."""
    return Motion(axis, 0.0, 1.0, name)


def ball() -> Motion:
    """Rotation about every axis, by a unit quaternion: no gimbal lock."""
    return Motion(Z, 1.0, 0.0, "q", ball=True)


def _in_order(spans: tuple[tuple[float | None, float | None], ...]) -> Any:
    """Refuse spans of time that run backwards, overlap or meet."""
    before: float | None = -math.inf
    for begin, end in spans:
        if begin is None:
            raise ValueError("a span of time needs a beginning: a number [s], 0 for the start")
        if end is not None and end <= begin:
            raise ValueError(f"a span of time ends after it begins: [{begin:g}, {end:g}] does not")
        if before is None or begin <= before:
            last = "never ends" if before is None else f"ends at {before:g} s"
            raise ValueError(
                f"spans of time come one after the other, with time between: the one before [{begin:g}, ...] {last}"
            )
        before = end
    return spans


if TYPE_CHECKING:
    Spans = tuple[tuple[float, float | None], ...]
else:
    Spans = Annotated[
        tuple[tuple[NonNegative | None, NonNegative | None], ...],
        BeforeValidator(_plain),
        AfterValidator(_in_order),
    ]
# Stretches of time (begin, end) [s], one after the other; None for an end that never comes.


@item
class Joint(Item):
    """A joint between body `a` and body `b`, placed in the world of the assembled pose.

    The joint frame stands at `at` with its z axis along `axis` and its x axis towards `reference`. All
    coordinates describe the motion of b against a and are zero in the pose as written; `position` and
    `velocity` start the mechanism elsewhere.
    """

    shelf = "joints"

    a: BodyName
    """The body that carries it ('ground' is the world)."""
    b: BodyName
    """The body that moves."""
    _: KW_ONLY
    at: Place = (0.0, 0.0, 0.0)
    """Origin of the joint frame in the world of the assembled pose [m], or a marker whose frame the joint takes."""
    axis: Axis | None = None
    """Direction of the z axis of the joint frame, in world axes of the assembled pose, any length but zero [1];
    default: the world's z, or the marker's."""
    reference: Axis | None = None
    """Direction towards which the x axis of the joint frame points, in world axes, not along `axis` [1];
    default: chosen perpendicular to `axis`."""
    position: PerCoordinate | None = None
    """Coordinates at the start, one for each in the order above [rad, m]; of a quaternion, four numbers (w, x, y, z)
    [1]; default: zero, as drawn."""
    velocity: PerCoordinate | None = None
    """Rates at the start, one for each [rad/s, m/s]; default: zero."""
    damping: PerCoordinateNonNegative = 0.0
    """Viscous damping, per rate [N m s/rad, N s/m]."""
    spring: PerCoordinateNonNegative = 0.0
    """Stiffness per rate [N m/rad, N/m]; a quaternion joint's acts on its rotation vector."""
    rest: PerCoordinate = 0.0
    """Coordinates at which the spring is slack [rad, m]."""
    limits: Bounds | None = None
    """(lowest, highest) coordinate, or one such pair per rate; None for no limit [rad, m].

    Of a quaternion joint, the components of its rotation vector are limited."""
    restitution: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0
    """Share of the speed that a limit gives back [1]."""
    friction: PerCoordinateNonNegative = 0.0
    """Dry friction per rate: what must be overcome to move, and resists the motion [N m, N]."""
    armature: PerCoordinateNonNegative = 0.0
    """Inertia of a rotor geared to the joint, felt by each rate [kg m², kg]."""
    mirrored: Flag = False
    """Translations run against the axes, as in the mirror image of a component."""
    attached: Spans | None = None
    """Stretches of time (begin, end) [s] in which it holds; None for always, () for not before it is told to.

    A stretch that begins at zero holds as written; later ones take hold where the bodies are then: the joint rides on
    a, and its frame on b is placed anew. None for an end that never comes."""

    def motions(self) -> tuple[Motion, ...]:
        """The elementary motions that take frame A to frame B."""
        raise NotImplementedError

    def equations(self) -> tuple[tuple[int, int], ...]:
        """Pairs (α, β) whose dot products vanish: what the joint holds when it closes a loop.

        Together with the motions they make six; a screw's coupling of travel and angle is added for it.
        """
        raise NotImplementedError

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates, in order."""
        return tuple(name for motion in self.motions() for name in motion.coordinates)

    @property
    def rates(self) -> tuple[str, ...]:
        """Names of the rates, in order."""
        return tuple(name for motion in self.motions() for name in motion.rates)

    def moved_fields(self, placement: Placement) -> dict[str, Any]:
        # Default axes depend on the world's: spell them out before the frame is turned with the component.
        spelt: dict[str, Any] = {}
        if self.axis is not None or not isinstance(self.at, str):
            axis = self.axis or (0.0, 0.0, 1.0)
            x = frame_from_axis(axis, self.reference)[:, 0]
            spelt = {"axis": axis, "reference": (float(x[0]), float(x[1]), float(x[2]))}
        moved = _moved_fields(self, placement, **spelt)
        return {**moved, "mirrored": self.mirrored ^ (placement.mirror is not None)}

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.a == self.b:
            raise ValueError(f"joins '{self.a}' with itself")
        if self.reference is not None:
            z, x = self.axis or (0.0, 0.0, 1.0), self.reference
            c = (z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0])
            if max(map(abs, c)) <= 1e-9 * max(map(abs, z)) * max(map(abs, x)):
                raise ValueError(f"reference {x} is parallel to the axis {z}")
        counts = {"position": len(self.coordinates)}
        counts.update(
            dict.fromkeys(("velocity", "damping", "spring", "rest", "friction", "armature"), len(self.rates))
        )
        if "qw" in self.coordinates and self.position is not None:
            start = self.position
            if not isinstance(start, tuple) or len(start) != counts["position"]:
                names = ", ".join(self.coordinates)
                raise ValueError(f"position of {self.kind} needs {counts['position']} numbers: {names}")
            if math.hypot(*start[-4:]) < 1e-6:
                raise ValueError("position has a zero quaternion; no rotation is 1, 0, 0, 0")
        bounds = self.bounds()
        if self.limits is not None and len(bounds) != len(self.rates):
            raise ValueError(f"limits needs {len(self.rates)} pairs for {self.kind}, not {len(bounds)}")
        for low, high in bounds:
            if low is not None and high is not None and low > high:
                raise ValueError(f"limits: the lowest {low:g} is above the highest {high:g}")
        written = [field for field in ("position", "velocity") if getattr(self, field) is not None]
        if written and not self.attached_at_start:
            raise ValueError(
                f"{' and '.join(written)} say how it starts, but it is not attached then: it takes hold where the "
                "bodies are, and coordinates count from there"
            )
        for field, count in counts.items():
            value = getattr(self, field)
            if isinstance(value, tuple) and len(value) != count:
                raise ValueError(f"{field} needs {count} numbers for {self.kind}, not {len(value)}")
        return self

    @property
    def switchable(self) -> bool:
        """Whether it is attached and released during a run; such a joint is never part of the tree."""
        return self.attached is not None

    @property
    def closes_only(self) -> bool:
        """Whether it is never part of the tree: what hangs on it must be able to move without it."""
        return self.switchable

    @property
    def held(self) -> int:
        """How many equations it stands for where it closes a loop."""
        return 6 - len(self.rates)

    @property
    def attached_at_start(self) -> bool:
        """Whether it holds at time zero."""
        return self.attached is None or bool(self.attached and self.attached[0][0] == 0.0)

    def bounds(self) -> tuple[tuple[float | None, float | None], ...]:
        """(lowest, highest) for every rate."""
        if self.limits is None:
            return ((None, None),) * len(self.rates)
        if self.limits and isinstance(self.limits[0], tuple):
            return self.limits
        return (self.limits,) * len(self.rates)  # type: ignore[return-value]

    def start(self) -> tuple[float, ...]:
        """Coordinates at the start: as written, or `position`."""
        if self.position is None:
            return tuple(1.0 if name == "qw" else 0.0 for name in self.coordinates)
        if not isinstance(self.position, tuple):
            return (self.position,) * len(self.coordinates)
        values = list(self.position)
        if "qw" in self.coordinates:
            i = self.coordinates.index("qw")
            norm = math.hypot(*values[i : i + 4])
            values[i : i + 4] = [value / norm for value in values[i : i + 4]]
        return tuple(values)

    def per_rate(self, field: str) -> tuple[float, ...]:
        """A per-coordinate field, spelled out for every rate."""
        value = getattr(self, field)
        return value if isinstance(value, tuple) else (value or 0.0,) * len(self.rates)


__all__ = [
    "ALIGN", "ALIGN_Z", "AX", "AY", "AZ", "BX", "BY", "BZ", "COINCIDE", "D", "Joint", "Motion", "X", "Y", "Z",
    "ball", "item", "slide", "turn",
]  # fmt: skip
