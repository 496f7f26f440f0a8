"""The compiled model with its names: what a simulation runs and a record labels its columns with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..engine.tables import Tables
from ..model.errors import LinkworkError, nearest
from ..model.joints.base import Joint
from ..model.rotation import Array, Quaternion, quaternions_of
from .colliders import ColliderTable
from .constrain import Column, RowTable
from .spanning import FLOATING


def coordinate_columns(joint: Joint) -> list[Column]:
    """Names and units of a joint's coordinates."""
    return [Column(f"{joint.name}.{c}", m.unit) for m in joint.motions() for c in m.coordinates]


def rate_columns(joint: Joint) -> list[Column]:
    """Names and units of a joint's rates."""
    return [Column(f"{joint.name}.{c}", m.rate_unit) for m in joint.motions() for c in m.rates]


def as_coordinates(joints: Iterable[Joint], values: Array) -> Array:
    """Coordinates of joints (samples × columns) from one number per rate: of a ball, the quaternion of its rotation
    vector."""
    columns, k = [np.empty((len(values), 0))], 0
    for motion in (motion for joint in joints for motion in joint.motions()):
        part = values[:, k : k + len(motion.rates)]
        columns.append(quaternions_of(part) if motion.ball else part)
        k += len(motion.rates)
    return np.hstack(columns)


class Mark(NamedTuple):
    """A named point of a body."""

    name: str
    body: int
    """Index; -1 for the ground."""
    at: Array
    """In the body's frame [m]."""
    rotation: Quaternion
    """In the body's frame."""


@dataclass(frozen=True)
class PlacedJoint:
    """A joint of the model and where the compiled tables hold it."""

    joint: Joint
    in_tree: bool
    """False if it closes a loop."""
    reversed: bool
    """True if the tree passes it from b to a."""
    dofs: tuple[int, ...]
    """Its dofs in the table, from the root outward."""
    q: slice
    """Its coordinates; empty for a cut joint."""
    v: slice
    """Its rates."""

    @property
    def name(self) -> str:
        return self.joint.name


@dataclass(frozen=True)
class System:
    """Tables, names and start of a model. Made by `compile_model`; never changed afterwards."""

    name: str
    tables: Tables
    joints: dict[str, PlacedJoint]
    bodies: tuple[str, ...]
    """Names in the order of tables.bodies."""
    coordinates: tuple[Column, ...]
    rates: tuple[Column, ...]
    q0: Array
    v0: Array
    loads: tuple[str, ...] = ()
    """Names in the order of tables.loads."""
    markers: tuple[Mark, ...] = ()
    """Named points of bodies."""
    rows: RowTable | None = None
    """Constraints and their names, if it was compiled with rows."""
    notes: tuple[str, ...] = ()
    """What the compiler did that the user may want to know."""
    owners: list[Any] = field(default_factory=list, repr=False)
    """Objects that must live as long as the tables (compiled user functions)."""
    colliders: ColliderTable | None = None
    """Shapes that may touch, if it was compiled with rows and something has a material."""

    @property
    def row_table(self) -> RowTable:
        """Constraints of a system that has them."""
        assert self.rows is not None, "it was compiled without rows"
        return self.rows

    @property
    def cuts(self) -> tuple[str, ...]:
        """Names of the joints that close loops."""
        return tuple(name for name, placed in self.joints.items() if not placed.in_tree)

    @property
    def floating(self) -> tuple[str, ...]:
        """In maximal coordinates: bodies with six rates of their own, in their order; others are part of these."""
        return tuple(name.removeprefix(FLOATING) for name in self.joints if name.startswith(FLOATING))

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        return len(self.rates)

    @property
    def depth(self) -> int:
        """Levels of dofs, the world's left out."""
        return int(self.tables.dofs["depth"].max(initial=0)) + 1

    def body(self, name: str) -> int:
        """Index of a body."""
        return _find(self.bodies, name, "body")

    def coordinate(self, name: str) -> int:
        """Index of a coordinate such as `pivot.angle`."""
        return _find([column.name for column in self.coordinates], name, "coordinate")

    def rate(self, name: str) -> int:
        """Index of a rate such as `pivot.angle_rate`."""
        return _find([column.name for column in self.rates], name, "rate")

    def fresh_tables(self) -> Tables:
        """A copy of the tables with scratch of its own, so that simulations do not share it."""
        return fresh(self.tables)


def fresh(tables: Tables) -> Tables:
    """A copy of tables with scratch of its own."""
    return Tables(*(np.copy(table).view(type(table)) for table in tables))


def _find(names: Iterable[str], name: str, what: str) -> int:
    listed = list(names)
    try:
        return listed.index(name)
    except ValueError:
        raise LinkworkError(f"there is no {what} '{name}'{nearest(name, listed)}") from None
