"""Tables of a flattened model: dofs, islands, rigidly merged inertias, loads, names. No physics.

Everything is written in the assembled pose, where all joint coordinates are zero: the frame of a dof in
its parent is just the quotient of their two frames there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.kernels.record import named
from ..engine.kernels.signal import WIRE
from ..engine.loads import KIND_CODES, Tyre
from ..engine.tables import BALL, BALL_NEXT, BODY, DOF, ISLAND, LOAD, SCREW, SIGNAL, Tables
from ..model import Flat
from ..model.errors import LinkworkError
from ..model.item import GROUND, Vector
from ..model.joints import Joint
from ..model.joints.base import Motion
from ..model.load import Load
from ..model.rotation import Array, matrix, quaternion
from ..model.rotation import vector as as_vector
from ..model.shapes import MassProperties, combine
from .colliders import collider_table
from .constrain import MEASURED, Column, Constrainer
from .spanning import Edge, Spanning
from .system import Mark, PlacedJoint, System, coordinate_columns, rate_columns
from .union import Union

if TYPE_CHECKING:
    from .compiler import Compiled


@dataclass(frozen=True)
class Frame:
    """A frame in the world of the assembled pose."""

    p: Array
    """Origin [m]."""
    R: Array
    """Axes, as columns."""

    def of(self, other: Frame) -> Frame:
        """`other` as seen from this frame."""
        return Frame(self.R.T @ (other.p - self.p), self.R.T @ other.R)


# Rotations that take z to the x, y, z axis of the joint frame: every dof moves along its own z.
_AXIS_FRAMES = (
    np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    np.eye(3),
)
_WORLD = Frame(np.zeros(3), np.eye(3))
NOT_IN_TREE = "joint '{}' is no joint of the tree in this method; a function cannot act on its coordinates"


class Tabulator:
    """Holds what is known so far while the tables are filled."""

    def __init__(self, compiled: Compiled, flat: Flat, rows: bool, spanning: Spanning, apart: bool = False):
        """`flat`: the items that are wanted; `spanning`: the joints that carry bodies, and those that are rows."""
        self.flat = flat
        self.rows = rows
        self.apart = apart
        self.edges, self.cuts, self.notes = spanning.edges, spanning.cuts, list(spanning.notes)
        self.tree_edges, self.joint_frame = compiled.spanning.edges, compiled.joint_frame
        self.gravity = np.array(compiled.gravity)
        self.name = compiled.name
        self.frames = [_WORLD]  # of every dof in the assembled pose
        self._room = np.zeros(1, DOF)
        self.dofs = self._room
        self.link_of = {GROUND: 0}
        self.signals: list[tuple[int, int, int, int]] = []
        self.number_list: list[float] = []
        self.owners: list[Any] = []

    def system(self) -> System:
        cut = {joint.name for joint in self.cuts}
        joints = {name: joint for name, joint in self.flat.joints.items() if name not in cut}
        joints.update((edge.joint.name, edge.joint) for edge in self.edges)
        coordinates, rates = self._number(joints)

        self.dofs["R"][0] = np.eye(3).ravel()
        self.dofs["A0"][0, 3:] = -self.gravity
        dofs_of = {edge.joint.name: self._attach(edge) for edge in self.edges}
        self._weigh()
        if self.rows:  # springs and dampers become rows
            self.dofs["stiffness"] = self.dofs["damping"] = 0.0
        islands = self._islands(dofs_of)
        self.q0, v0 = self._start(joints, len(coordinates), len(rates))
        loads = self._load_table = self._loads()
        table = Constrainer(self).table() if self.rows else None
        tables = Tables(
            self.dofs.copy(),
            self._bodies(),
            islands,
            loads,
            np.array(self.signals, SIGNAL),
            np.array(self.number_list, float),
        )
        backwards = {edge.joint.name for edge in self.edges if edge.reversed}
        placed = {
            name: PlacedJoint(joint, True, name in backwards, dofs_of[name], *self.spans[name])
            for name, joint in joints.items()
        }
        placed.update(
            (joint.name, PlacedJoint(joint, False, False, (), slice(0, 0), slice(0, 0)))
            for joint in self.cuts
        )
        markers = self._markers()
        colliders = collider_table(self) if self.rows else None
        return System(
            self.name,
            Tables(*map(named, tables)),
            placed,
            tuple(self.flat.bodies),
            tuple(coordinates),
            tuple(rates),
            self.q0,
            v0,
            tuple(load.name for load in self._pushing()),
            markers,
            table,
            tuple(self.notes),
            self.owners,
            colliders,
        )

    def _number(self, joints: dict[str, Joint]) -> tuple[list[Column], list[Column]]:
        """Give every joint of the tree its stretch of q and v, in the order of declaration."""
        coordinates: list[Column] = []
        rates: list[Column] = []
        self.spans: dict[str, tuple[slice, slice]] = {}
        for name, joint in joints.items():
            q, v = len(coordinates), len(rates)
            coordinates += coordinate_columns(joint)
            rates += rate_columns(joint)
            self.spans[name] = slice(q, len(coordinates)), slice(v, len(rates))
        return coordinates, rates

    def _attach(self, edge: Edge) -> tuple[int, ...]:
        """Append the dofs of a tree joint and put its child body on the last of them."""
        joint, backwards = edge.joint, edge.reversed
        frame = self.joint_frame(joint)
        q, v = self.spans[joint.name][0].start, self.spans[joint.name][1].start
        numbered: list[tuple[Motion, int, int]] = []
        for motion in joint.motions():
            numbered.append((motion, q, v))
            q, v = q + len(motion.coordinates), v + len(motion.rates)
        sign = -1.0 if backwards else 1.0
        hand = -sign if joint.mirrored else sign
        link = self.link_of[edge.parent]
        made: list[int] = []
        for motion, i, k in reversed(numbered) if backwards else numbered:
            if motion.ball:
                first = len(self.dofs)
                for column in range(3):
                    kind = BALL if column == 0 else BALL_NEXT
                    link = self._add_dof(link, frame, joint, i, k + column, kind, sign, 0.0)
                    self.dofs["column"][link] = column
                    self.dofs["first"][link] = first
                    self.dofs["before"][link] = self.dofs["parent"][first]
                    made.append(link)
            else:
                turned = Frame(frame.p, frame.R @ _AXIS_FRAMES[motion.axis])
                link = self._add_dof(link, turned, joint, i, k, SCREW, sign * motion.rot, hand * motion.trans)
                made.append(link)
        self.link_of[edge.child] = link
        return tuple(made)

    def _add_dof(
        self, parent: int, frame: Frame, joint: Joint, q: int, v: int, motion: int, rot: float, trans: float
    ) -> int:
        local = self.frames[parent].of(frame)
        row = np.zeros(1, DOF)
        row["parent"] = row["before"] = parent
        row["depth"] = self.dofs["depth"][parent] + 1 if parent else 0
        row["first"] = len(self.dofs)
        row["q"], row["v"], row["motion"] = q, v, motion
        row["rot"], row["trans"], row["shift"] = rot, trans, trans
        row["X_R"], row["X_p"] = local.R.ravel(), local.p
        row["aligned"] = int(np.array_equal(local.R, np.eye(3)))
        k = v - self.spans[joint.name][1].start
        for column, name in (("armature",) * 2, ("stiffness", "spring"), ("rest",) * 2, ("damping",) * 2):
            row[column] = joint.per_rate(name)[k]
        count = len(self.dofs)
        if count == len(self._room):  # a copy for every dof would take minutes for large models
            self._room = np.concatenate([self.dofs, np.zeros(count, DOF)])
        self._room[count] = row[0]
        self.dofs = self._room[: count + 1]
        self.frames.append(frame)
        return len(self.dofs) - 1

    def _body_frame(self, body: str) -> Frame:
        if body == GROUND:
            return _WORLD
        described = self.flat.bodies[body]
        return Frame(np.array(described.at), matrix(described.rotation))

    def _weigh(self) -> None:
        """Merge what rides rigidly on each dof into one inertia."""
        riding: dict[int, list[MassProperties]] = defaultdict(list)
        for name, body in self.flat.bodies.items():
            link = self.link_of[name]
            local = self.frames[link].of(self._body_frame(name))
            riding[link].append(body.mass_properties.placed(local.p, local.R))
        for link, parts in riding.items():
            mass, com, inertia = combine(parts)
            self.dofs["mass"][link] = mass
            self.dofs["com"][link] = com
            self.dofs["inertia"][link] = inertia[np.triu_indices(3)]
            self.dofs["solid"][link] = int(mass > 0.0 or inertia.any())

    def _islands(self, dofs_of: dict[str, tuple[int, ...]]) -> np.ndarray:
        """Bodies that touch each other, ground left out, share a reference point: their first root's base."""
        together = Union(self.flat.bodies)
        for joint in [*(edge.joint for edge in self.edges), *self.cuts]:
            if joint.switchable or self.apart:  # what it lets go of may fly far away
                continue
            if 0 not in (self.link_of[joint.a], self.link_of[joint.b]):  # neither ground nor welded to it
                together.join(joint.a, joint.b)
        number: dict[str, int] = {}
        bases: list[Array] = []
        for edge in self.edges:
            made = list(dofs_of[edge.joint.name])
            if not made:
                continue
            island = number.setdefault(together.find(edge.child), len(number))
            self.dofs["island"][made] = island
            if island == len(bases):
                bases.append(self.dofs["X_p"][made[0]])
                self._anchor(made)
        table = np.zeros(len(bases) + 1, ISLAND)
        if bases:
            table["p0"][:-1] = bases
        self.dofs["island"][0] = len(bases)  # the world's own reference point is its origin
        return table

    def _anchor(self, made: list[int]) -> None:
        """Leading translations of an island's root carry its reference point along."""
        for d in made:
            if self.dofs["motion"][d] != SCREW or self.dofs["rot"][d] != 0.0:
                break
            self.dofs["shift"][d] = 0.0

    def _bodies(self) -> np.ndarray:
        table = np.zeros(len(self.flat.bodies), BODY)
        for row, name in zip(table, self.flat.bodies, strict=True):
            link = self.link_of[name]
            local = self.frames[link].of(self._body_frame(name))
            row["link"], row["X_R"], row["X_p"] = link, local.R.ravel(), local.p
        return table

    def _loads(self) -> np.ndarray:
        loads = self._pushing()
        table = np.zeros(len(loads), LOAD)
        for row, load in zip(table, loads, strict=True):
            row["kind"] = KIND_CODES[type(load)]
            row["signal"] = -1
            load.fill(row, self)
        return table

    def _pushing(self) -> list[Load]:
        """Loads of the table: with rows, those that act along one measure are rows."""
        return [
            load for load in self.flat.loads.values() if not isinstance(load, MEASURED if self.rows else Tyre)
        ]

    def _markers(self) -> tuple[Mark, ...]:
        names = list(self.flat.bodies)
        marks = []
        for marker in self.flat.markers.values():
            if marker.name in self.flat.bodies:
                self.notes.append(f"marker '{marker.name}' is not recorded: a body has the same name")
                continue
            home = self._body_frame(marker.body)
            body = names.index(marker.body) if marker.body != GROUND else -1
            p, R = marker.frame
            marks.append(Mark(marker.name, body, home.R.T @ (p - home.p), quaternion(home.R.T @ R)))
        return tuple(marks)

    def _start(self, joints: dict[str, Joint], nq: int, nv: int) -> tuple[Array, Array]:
        q0, v0 = np.zeros(nq), np.zeros(nv)
        for name, joint in joints.items():
            q, v = self.spans[name]
            v0[v] = joint.per_rate("velocity")
            q0[q] = joint.start()
        return q0, v0

    # --- what loads ask for (load.Site) ---

    def point(self, at: Vector | str) -> Vector:
        return self.flat.markers[at].at if isinstance(at, str) else at

    def end(
        self, row: np.void, side: str, body: str, at: Vector | str | None, axes: Array | None = None
    ) -> None:
        frame = self._body_frame(body)
        if at is not None:
            frame = Frame(np.array(self.point(at)), frame.R if axes is None else axes)
        link = self.link_of[body]
        local = self.frames[link].of(frame)
        row[side] = link
        row[f"X_{side.upper()}"] = np.r_[local.R.ravel(), local.p]

    def world_vector(self, body: str, vector: Vector) -> Vector:
        return as_vector(self.frames[self.link_of[body]].R.T @ np.array(vector))

    def signal(self, signal: Any) -> int:
        if signal is None:
            return -1
        first, count = self.numbers(signal.numbers())
        self.signals.append((signal.code, first, count, 0))
        return len(self.signals) - 1

    def factor_place(self, load: str) -> int:
        """Place of a number that scales a load from now on."""
        first, count = self.numbers([1.0])
        self.signals.append((WIRE, first, count, 0))
        names = [pushing.name for pushing in self._pushing()]
        self._load_table["signal"][names.index(load)] = len(self.signals) - 1
        return first

    def numbers(self, values: Iterable[float], scratch: int = 0) -> tuple[int, int]:
        first = len(self.number_list)
        self.number_list += map(float, values)
        count = len(self.number_list) - first
        self.number_list += [0.0] * scratch
        return first, count

    def joint_span(self, joint: str) -> tuple[int, int, int, int]:
        if joint not in self.spans:
            raise LinkworkError(NOT_IN_TREE.format(joint))
        q, v = self.spans[joint]
        return q.start, q.stop - q.start, v.start, v.stop - v.start

    def keep(self, owner: Any) -> None:
        self.owners.append(owner)
