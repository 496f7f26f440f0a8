"""The compiled model with its names: what a simulation runs and a record labels its columns with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .constrain import RowTable
from .contacts import ColliderTable
from .errors import LinkworkError, nearest
from .joints.base import Joint
from .rotation import Array, Quaternion
from .tables import Tables


class Column(NamedTuple):
    """Name and unit of one number of the state."""

    name: str
    unit: str


def coordinate_columns(joint: Joint) -> list[Column]:
    """Names and units of a joint's coordinates."""
    return [Column(f"{joint.name}.{c}", m.unit) for m in joint.motions() for c in m.coordinates]


def rate_columns(joint: Joint) -> list[Column]:
    """Names and units of a joint's rates."""
    return [Column(f"{joint.name}.{c}", m.rate_unit) for m in joint.motions() for c in m.rates]


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
    def cuts(self) -> tuple[str, ...]:
        """Names of the joints that close loops."""
        return tuple(name for name, placed in self.joints.items() if not placed.in_tree)

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

    def dof_name(self, dof: int) -> str:
        """Name of the rate of a dof, for messages."""
        return self.rates[int(self.tables.dofs["v"][dof])].name

    def set_force(self, tables: Tables, load: str, force: Array | None, body: str | None, at: Array) -> None:
        """Change the vector of a force load [N] in tables of this system, and where it acts; None: as it was written.

        `body` is the body that it acts on from now on, None for the same as before, and `at` the point in the frame of
        that body [m]. Forces of loads that follow their body are in the axes that the tables have them in.
        """
        index = self.loads.index(load)
        if force is None:
            tables.loads[index] = self.tables.loads[index]
            return
        row = tables.loads[index]
        row["value"][:3] = force
        if body is not None:
            place = tables.bodies[self.body(body)]
            row["a"] = place["link"]
            row["X_A"][:9] = place["X_R"]
            row["X_A"][9:] = place["X_p"] + place["X_R"].reshape(3, 3) @ at

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
