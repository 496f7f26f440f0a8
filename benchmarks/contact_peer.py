"""Models with contact as other engines want them, and what every engine must be able to do to be compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.model.errors import UnsupportedError
from linkwork.model.item import GROUND
from linkwork.model.rotation import frame_from_axis, matrix

if TYPE_CHECKING:
    from linkwork.engine.elements import Drive
    from linkwork.model import Body, Flat, Model, Scenery
    from linkwork.model.joints.base import Joint, Motion
    from linkwork.model.rotation import Array

DRIVES = ("position_servo", "velocity_servo")


class Engine(ABC):
    """A model in motion, in any engine."""

    @abstractmethod
    def reset(self) -> None:
        """Back to the start, or to where `keep` was called."""

    @abstractmethod
    def run(self, steps: int) -> None:
        """Take steps."""

    @abstractmethod
    def keep(self) -> None:
        """The state now is where `reset` leads to from now on."""

    @abstractmethod
    def pose(self, body: str) -> tuple[Array, Array]:
        """Position [m] and rotation matrix of a body's frame now."""

    @abstractmethod
    def depth(self) -> float:
        """The deepest penetration now [m]."""

    def residual(self) -> float | None:
        """How far the last step is from the laws of contact [m/s]; None if the engine does not tell."""
        return None

    @property
    def gap(self) -> float | None:
        """Largest of all joints so far [m or rad]; None if the engine does not tell."""
        return None


@dataclass(frozen=True)
class Link:
    """A body and the joint that carries it."""

    body: Body
    parent: str
    """The body that carries it, or the ground."""
    joint: Joint | None
    """None: it hangs on nothing."""
    at: Array
    """Where the joint stands in the world as written [m]."""
    axes: Array
    """Columns: the axes of the joint frame in the world as written."""

    @property
    def free(self) -> bool:
        """Whether nothing holds it."""
        return self.joint is None or self.joint.kind == "free"

    @property
    def motions(self) -> tuple[Motion, ...]:
        """Elementary motions of a joint that holds something."""
        return () if self.joint is None or self.free else self.joint.motions()

    def axis(self, motion: Motion) -> Array:
        """Axis of a motion in the world as written."""
        along: Array = self.axes[:, motion.axis]
        mirrored = self.joint is not None and self.joint.mirrored and motion.rot == 0.0
        return -along if mirrored else along

    def starts(self) -> tuple[float, ...]:
        """Coordinates of the motions at the start."""
        return () if self.joint is None or self.free else self.joint.start()


@dataclass(frozen=True)
class World:
    """A model as a forest of links from the ground outward, with fixed surroundings."""

    flat: Flat
    gravity: tuple[float, float, float]
    links: dict[str, Link]
    """Parents first."""

    def commands(self, drive: Drive, dt: float, first: int, count: int) -> Array:
        """What a drive is told at the ends of `count` steps."""
        if drive.signal is None:
            return np.full(count, drive.command)
        times = dt * (first + 1 + np.arange(count))
        return drive.command * np.array([drive.signal.value(float(t)) for t in times])

    def coordinate(self, drive: Any) -> str:
        """Name of the coordinate that a drive moves."""
        return self.named(drive.joint, drive.coordinate)

    def named(self, joint: str, coordinate: str | None) -> str:
        """Full name of a coordinate; its joint's first if it has no name."""
        return f"{joint}.{coordinate or self.flat.joints[joint].coordinates[0]}"

    def apart(self) -> Iterator[tuple[str, str]]:
        """Pairs of bodies that never touch because the model says so."""
        groups = self.flat.groups()
        for rule in self.flat.no_contacts.values():
            sides = [[thing.name for thing in groups.get(name, ())] or [name] for name in (rule.a, rule.b)]
            for a, b in product(*sides):
                if a != b and a in self.flat.bodies and b in self.flat.bodies:
                    yield a, b

    def friction(self, thing: Body | Scenery) -> float:
        """Of the material that it is made of."""
        assert thing.material is not None
        return float(self.flat.materials[thing.material].friction)


def read_world(model: Model) -> World:
    """The forest of a model; UnsupportedError if it has what the other engines are not given here."""
    flat = model.flatten()
    for what, names in {
        "loads": list(flat.loads),
        "pairs of materials": list(flat.material_pairs),
        "drives": [name for name, drive in flat.drives.items() if drive.kind not in DRIVES],
        "couplings": [name for name, coupling in flat.couplings.items() if coupling.kind != "repeater"],
    }.items():
        if names:
            raise UnsupportedError(f"{what} cannot be compared here: {', '.join(names[:3])}")
    carrying = {joint.b: joint for joint in flat.joints.values()}
    if len(carrying) < len(flat.joints):
        raise UnsupportedError("mechanisms with loops cannot be compared here")
    links: dict[str, Link] = {}

    def add(name: str) -> None:
        if name in links or name == GROUND:
            return
        joint = carrying.get(name)
        parent = GROUND if joint is None else joint.a
        add(parent)
        at, axes = (np.zeros(3), np.eye(3)) if joint is None else joint_frame(flat, joint)
        links[name] = Link(flat.bodies[name], parent, joint, at, axes)

    for name in flat.bodies:
        add(name)
    for link in links.values():
        if link.free and link.parent != GROUND:
            raise UnsupportedError(
                f"body '{link.body.name}': free of a body that moves cannot be compared here"
            )
        if any(motion.ball or (motion.rot and motion.trans) for motion in link.motions):
            raise UnsupportedError(f"joint '{link.joint.name}' cannot be compared here")  # type: ignore[union-attr]
    return World(flat, model.gravity, links)


def joint_frame(flat: Flat, joint: Joint) -> tuple[Array, Array]:
    """Place and axes of a joint in the world as written."""
    if isinstance(joint.at, str):
        at, axes = flat.markers[joint.at].frame
        return at, axes if joint.axis is None else frame_from_axis(joint.axis, joint.reference)
    return np.array(joint.at), frame_from_axis(joint.axis or (0.0, 0.0, 1.0), joint.reference)


def placed(thing: Body | Scenery) -> tuple[Array, Array]:
    """Position and rotation of a body's or scenery's frame as written."""
    return np.array(thing.at), matrix(thing.rotation)


def principal(inertia: Array) -> tuple[Array, Array]:
    """Principal moments and axes; the axes as they are if the matrix is diagonal already."""
    if not np.any(np.abs(inertia - np.diag(np.diag(inertia))) > 1e-12 * np.trace(inertia)):
        return np.diag(inertia).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    return moments, axes * np.sign(np.linalg.det(axes))
