"""What there is to see of a model: plain data for pictures, films and the live page, kept in records too.

A picture needs a stage and the poses of its bodies; it knows nothing of models and solvers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter, ValidationError

from ..model import Flat, Model, Scenery
from ..model.errors import LinkworkError
from ..model.item import GROUND
from ..model.joints import Distance, Joint
from ..model.rotation import IDENTITY, Array, Quaternion, Vector, frame_from_axis, matrix, quaternion
from ..model.sealed import Port
from ..model.shapes import Capsule, Shape, Sphere

if TYPE_CHECKING:
    from ..compile.compiler import Compiled

Bound = tuple[float | None, float | None]

# Of a body without shapes: thickness of the rods that are drawn in place, as a share of their length.
_ROD, _SMALLEST_ROD = 0.06, 0.01


@dataclass(frozen=True)
class SeenBody:
    """A body's looks, in its own frame."""

    name: str
    shapes: tuple[Shape, ...]
    com: Vector
    """Centre of mass [m]."""
    mass: float
    """[kg]"""
    color: str | None = None
    """As #rrggbb."""

    @property
    def component(self) -> str:
        """The component that it belongs to: what stands before the last dot of its name."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True)
class SeenScenery:
    """Looks of what never moves, in the world."""

    name: str
    shapes: tuple[Shape, ...]
    color: str | None = None
    """As #rrggbb."""


@dataclass(frozen=True)
class SeenFreedom:
    """One coordinate of a joint: a turn about, or a way along, an axis of the joint's frame."""

    name: str
    """Of its coordinate; of a ball, of its rate."""
    axis: int
    turns: bool
    limits: Bound = (None, None)
    """About or along the axis [rad or m]; of a mirrored slide, whose coordinate runs against the axis, turned over."""


@dataclass(frozen=True)
class SeenJoint:
    """Where a joint stands on its two bodies ('ground' is the world)."""

    name: str
    kind: str
    a: str
    b: str
    at_a: Vector
    """[m], in the frame of a"""
    rotation_a: Quaternion
    at_b: Vector
    rotation_b: Quaternion
    freedoms: tuple[SeenFreedom, ...] = ()


@dataclass(frozen=True)
class SeenPoint:
    """A marker, in its body's frame [m]."""

    name: str
    body: str
    at: Vector
    rotation: Quaternion = IDENTITY


@dataclass(frozen=True)
class SeenSpring:
    """A spring, a law of your own or a rod, between two points, each in its body's frame [m]."""

    name: str
    a: str
    b: str
    at_a: Vector
    at_b: Vector
    rod: bool = False
    """A distance joint, which is a straight line."""


@dataclass(frozen=True)
class Stage:
    """All that can be seen of a model."""

    name: str
    gravity: Vector
    """[m/s²]"""
    bodies: tuple[SeenBody, ...]
    joints: tuple[SeenJoint, ...] = ()
    points: tuple[SeenPoint, ...] = ()
    springs: tuple[SeenSpring, ...] = ()
    scenery: tuple[SeenScenery, ...] = ()

    @property
    def up(self) -> Vector:
        """Where pictures have their upper edge: against gravity, z without it."""
        g = np.array(self.gravity)
        size = float(np.linalg.norm(g))
        return (0.0, 0.0, 1.0) if size == 0.0 else tuple(float(x) + 0.0 for x in -g / size)  # type: ignore[return-value]

    def index(self, body: str) -> int:
        """Place of a body among all; -1 for the ground."""
        if body == GROUND:
            return -1
        for i, seen in enumerate(self.bodies):
            if seen.name == body:
                return i
        raise LinkworkError(f"there is no body '{body}' on the stage '{self.name}'")

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return _ADAPTER.dump_python(self, mode="json")  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, data: Any) -> Stage:
        """What `to_dict` gave."""
        try:
            return _ADAPTER.validate_python(data)
        except ValidationError as error:
            raise LinkworkError(f"what the record tells about the looks is damaged: {error}") from None


class Poses(NamedTuple):
    """Where the bodies of a stage are, in its order."""

    positions: Array
    """bodies × 3 [m]"""
    rotations: Array
    """bodies × 4, unit quaternions w, x, y, z"""

    def place(self, body: int, at: Vector) -> Array:
        """A point of a body's frame in the world [m]; body -1 is the ground."""
        if body < 0:
            return np.array(at)
        point: Array = self.positions[body] + matrix(self.rotations[body]) @ np.array(at)
        return point


def stage_of(model: Model | Compiled) -> Stage:
    """The stage of a model."""
    from ..engine.loads.line import LineFunction  # loads Numba, which a stage that is read does without
    from ..engine.loads.spring import Spring

    flat = model.flatten() if isinstance(model, Model) else model.flat
    joints = tuple(_joint(flat, joint) for joint in flat.joints.values())
    points = tuple(
        SeenPoint(name, marker.body, *_local(flat, marker.body, *marker.frame))
        for name, marker in flat.markers.items()
    )
    springs = tuple(
        SeenSpring(
            load.name, load.a, load.b, _point(flat, load.a, load.at_a), _point(flat, load.b, load.at_b)
        )
        for load in flat.loads.values()
        if isinstance(load, Spring | LineFunction)
    )
    springs += tuple(
        SeenSpring(rod.name, rod.a, rod.b, _point(flat, rod.a, rod.at), _point(flat, rod.b, rod.to), rod=True)
        for rod in flat.joints.values()
        if isinstance(rod, Distance)
    )
    bodies = []
    for name, body in flat.bodies.items():
        mass, com = 0.0, (0.0, 0.0, 0.0)
        if not isinstance(body, Port):  # what that weighs, its component keeps to itself
            mass, com = body.mass_properties.mass, _triple(body.mass_properties.com)
        seen = tuple(shape for shape in body.shapes if shape.seen)
        shapes = seen or body.shapes or _rods(name, com, joints, points)
        bodies.append(SeenBody(name, shapes, com, mass, body.color))
    scenery = tuple(map(_scenery, flat.scenery.values()))
    return Stage(model.name, model.gravity, tuple(bodies), joints, points, springs, scenery)


def _scenery(thing: Scenery) -> SeenScenery:
    R = matrix(thing.rotation)
    placed = [
        replace(
            shape,
            at=_triple(np.array(thing.at) + R @ np.array(shape.at)),
            rotation=quaternion(R @ matrix(shape.rotation)),
        )
        for shape in thing.shapes
        if shape.seen
    ]
    return SeenScenery(thing.name, tuple(placed), thing.color)


def _joint(flat: Flat, joint: Joint) -> SeenJoint:
    if isinstance(joint.at, str):
        p, R = flat.markers[joint.at].frame
        if joint.axis is not None or joint.reference is not None:
            R = frame_from_axis(joint.axis or _triple(R[:, 2]), joint.reference)
    else:
        p, R = np.array(joint.at), frame_from_axis(joint.axis or (0.0, 0.0, 1.0), joint.reference)
    freedoms, bounds = [], list(joint.bounds())
    for motion in joint.motions():
        axes = (0, 1, 2) if motion.ball else (motion.axis,)
        names = motion.rates if motion.ball else (motion.name,)
        for name, axis in zip(names, axes, strict=True):
            turns, (low, high) = motion.ball or motion.rot != 0.0, bounds.pop(0)
            if joint.mirrored and not turns:
                low, high = (None if bound is None else -bound for bound in (high, low))
            freedoms.append(SeenFreedom(name, axis, turns, (low, high)))
    far = p
    if isinstance(joint, Distance):
        far = np.array(flat.markers[joint.to].at if isinstance(joint.to, str) else joint.to)
    return SeenJoint(
        joint.name, joint.kind, joint.a, joint.b,
        *_local(flat, joint.a, p, R), *_local(flat, joint.b, far, R), tuple(freedoms),
    )  # fmt: skip


def _local(flat: Flat, body: str, p: Array, R: Array) -> tuple[Vector, Quaternion]:
    """A frame of the assembled pose in the frame of a body."""
    if body == GROUND:
        return _triple(p), quaternion(R)
    home = flat.bodies[body]
    turn = matrix(home.rotation)
    return _triple(turn.T @ (p - np.array(home.at))), quaternion(turn.T @ R)


def _point(flat: Flat, body: str, at: Vector | str) -> Vector:
    place = flat.markers[at].at if isinstance(at, str) else at
    return _local(flat, body, np.array(place), np.eye(3))[0]


def _triple(a: Any) -> Vector:
    return float(a[0]), float(a[1]), float(a[2])


def _rods(
    name: str, com: Vector, joints: tuple[SeenJoint, ...], points: tuple[SeenPoint, ...]
) -> tuple[Shape, ...]:
    """Looks of a body without shapes: rods from its centre of mass to its joints and markers."""
    ends = [joint.at_a for joint in joints if joint.a == name]
    ends += [joint.at_b for joint in joints if joint.b == name]
    ends += [point.at for point in points if point.body == name]
    reach = [float(np.linalg.norm(np.subtract(end, com))) for end in ends]
    radius = max(_ROD * max(reach, default=0.0), _SMALLEST_ROD)
    shapes: list[Shape] = [Sphere(1.5 * radius, at=com)]
    for end, length in zip(ends, reach, strict=True):
        if length > radius:
            axis = np.subtract(end, com) / length
            middle = _triple(np.add(end, com) / 2)
            shapes.append(
                Capsule(radius, length, at=middle, rotation=quaternion(frame_from_axis(_triple(axis))))
            )
    return tuple(shapes)


_ADAPTER = TypeAdapter(Stage)
