"""Points, markers and centres of mass: their motion follows from that of the bodies, by rigid-body kinematics.

Plain data and NumPy: a record file holds the bodies' motion and this description, and so gives them when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..model.errors import LinkworkError, nearest
from ..model.rotation import IDENTITY, Array, Quaternion, Vector

GROUND = "ground"


class Frame(NamedTuple):
    """A frame that is fixed to a body."""

    body: str
    """Or `ground`."""
    at: Vector
    """In the body's frame [m]."""
    rotation: Quaternion = IDENTITY
    """In the body's frame."""


class Weight(NamedTuple):
    """What a body contributes to a centre of mass."""

    body: str
    mass: float
    """[kg]"""
    com: Vector
    """In the body's frame [m]."""


@dataclass
class Frames:
    """What is measured of a model beside its bodies, by name."""

    markers: dict[str, Frame] = field(default_factory=dict)
    points: dict[str, Frame] = field(default_factory=dict)
    """Chosen by the user."""
    centres: dict[str, tuple[Weight, ...]] = field(default_factory=dict)
    """Centres of mass: `com` of the model, `<component>.com`."""

    @property
    def fixed(self) -> dict[str, Frame]:
        """Markers and points."""
        return {**self.markers, **self.points}

    def with_point(self, name: str, body: str, at: Any, bodies: Sequence[str]) -> Frames:
        """These and a point of a body's frame [m]."""
        place = np.array(at, float)
        if not name or "/" in name:
            raise LinkworkError(f"a point cannot be named '{name}'")
        if name in bodies or name in self.markers or name in self.centres:
            raise LinkworkError(f"the name '{name}' is taken: choose another one for the point")
        if body != GROUND and body not in bodies:
            raise LinkworkError(f"point '{name}': there is no body '{body}'{nearest(body, bodies)}")
        if place.shape != (3,) or not np.isfinite(place).all():
            raise LinkworkError(f"point '{name}': its place must be three finite numbers [m], not {at!r}")
        x, y, z = place.tolist()
        return Frames(self.markers, {**self.points, name: Frame(body, (x, y, z))}, self.centres)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> Frames:
        """What `to_dict` made."""
        markers, points = (
            {
                name: Frame(body, tuple(at), tuple(rotation))
                for name, (body, at, rotation) in data[key].items()
            }
            for key in ("markers", "points")
        )
        centres = {
            name: tuple(Weight(body, mass, tuple(com)) for body, mass, com in parts)
            for name, parts in data["centres"].items()
        }
        return cls(markers, points, centres)


def centres_of_mass(
    bodies: Iterable[str], weights: Mapping[str, tuple[float, Vector]]
) -> dict[str, tuple[Weight, ...]]:
    """Who contributes to the centres of mass of the model and of its components; `weights` by the name of the body.

    What a body without a known weight belongs to has no known centre of mass. Nor has what has no mass.
    """
    members: dict[str, list[str]] = {"com": list(bodies)}
    for body in members["com"]:
        parts = body.split(".")
        for k in range(1, len(parts)):
            members.setdefault(".".join([*parts[:k], "com"]), []).append(body)
    found = {}
    for name, inside in members.items():
        known = [Weight(body, *weights[body]) for body in inside if body in weights]
        if (
            name not in members["com"]
            and len(known) == len(inside)
            and sum(part.mass for part in known) > 0.0
        ):
            found[name] = tuple(known)
    return found


class MovingFrames:
    """Motion of frames and centres of mass over the rows of some samples, from that of the bodies.

    `bodies` are names in the order of the columns; `array` gives a group of a record: `positions`, `rotations`,
    `body_velocities`, `body_angular_velocities`, `body_accelerations`, `body_angular_accelerations`.
    """

    def __init__(self, frames: Frames, bodies: Sequence[str], array: Callable[[str], Array]):
        self.frames, self._array = frames, array
        self._index = {name: i for i, name in enumerate(bodies)}

    def position(self, frame: Frame) -> Array:
        """[m]"""
        return self._of("positions", frame.body) + self._arm(frame)

    def rotation(self, frame: Frame) -> Array:
        """Unit quaternions."""
        return _product(self._turn(frame.body), np.array(frame.rotation))

    def velocity(self, frame: Frame) -> Array:
        """[m/s]"""
        spin = self.angular_velocity(frame)
        return self._of("body_velocities", frame.body) + np.cross(spin, self._arm(frame))

    def angular_velocity(self, frame: Frame) -> Array:
        """[rad/s]"""
        return self._of("body_angular_velocities", frame.body)

    def acceleration(self, frame: Frame) -> Array:
        """[m/s²]"""
        arm, spin = self._arm(frame), self.angular_velocity(frame)
        turning = np.cross(self.angular_acceleration(frame), arm) + np.cross(spin, np.cross(spin, arm))
        return self._of("body_accelerations", frame.body) + turning

    def angular_acceleration(self, frame: Frame) -> Array:
        """[rad/s²]"""
        return self._of("body_angular_accelerations", frame.body)

    def mean(self, parts: Sequence[Weight], quantity: Callable[[Frame], Array]) -> Array:
        """A quantity of the centres of mass of bodies, weighted by their masses."""
        total = sum(part.mass for part in parts)
        shares = [part.mass / total * quantity(Frame(part.body, part.com)) for part in parts]
        result: Array = np.sum(shares, axis=0)
        return result

    def _of(self, group: str, body: str) -> Array:
        data = self._array(group)
        if body == GROUND:
            return np.zeros((len(data), 3))
        first = 3 * self._index[body]
        return data[:, first : first + 3]

    def _turn(self, body: str) -> Array:
        data = self._array("rotations")
        if body == GROUND:
            return np.tile(IDENTITY, (len(data), 1))
        first = 4 * self._index[body]
        return data[:, first : first + 4]

    def _arm(self, frame: Frame) -> Array:
        """From the body's origin to the frame's, world axes [m]."""
        q, at = self._turn(frame.body), np.array(frame.at)
        twice = 2.0 * np.cross(q[:, 1:], at)
        arm: Array = at + q[:, :1] * twice + np.cross(q[:, 1:], twice)
        return arm


def _product(a: Array, b: Array) -> Array:
    """Quaternion products of rows of a with one b."""
    w, u = a[:, :1], a[:, 1:]
    scalar = w * b[0] - (u @ b[1:])[:, None]
    return np.hstack([scalar, w * b[1:] + b[0] * u + np.cross(u, b[1:])])
