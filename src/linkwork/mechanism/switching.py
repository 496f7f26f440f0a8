"""Joints that are attached and released while a mechanism moves: which hold, where, and the impulse of a change.

A joint that takes hold does so where the bodies are: its frame rides on a, and on b it is placed anew, so that no gap
is to be closed. Velocities jump: they are projected, in the metric of inertia, onto those that the joints allow, which
is an impact without rebound. The pseudo-inverse makes redundant and contradictory joints harmless.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..compile.rank import ROOM
from ..compile.system import System, as_coordinates
from ..engine.coordinates.dynamics import body_pose
from ..engine.tables import HOLD, SERVO_RATE, Tables
from ..model.item import GROUND
from ..model.joints import Joint
from ..model.rotation import Array, Vector, vector
from .kinematics import Kinematics
from .scales import idle_here

# Eigenvalues of the scaled A = J H⁻¹ Jᵀ below this share of the largest belong to rows that repeat others.
_REPEATED = ROOM * ROOM


@dataclass(frozen=True)
class JointChange:
    """A joint that was attached or released during a run."""

    time: float
    """[s]"""
    joint: str
    attached: bool
    """False if it was released."""
    force: Vector
    """Impulse of a on b, in world axes [N s]."""
    torque: Vector
    """Impulse of its torque about the joint's point [N m s]."""
    energy: float
    """That was lost in the joint [J]."""


@dataclass(frozen=True)
class Attachment:
    """Which switchable joints of a mechanism hold, and where they took hold."""

    attached: frozenset[str]
    frames: dict[str, Array] = field(default_factory=dict)
    """Joints that are not where they were written: frame on b, rotation (9) and position (3) [m] in b's own frame."""

    def after(self, attach: dict[str, Array], release: Collection[str]) -> Attachment:
        """The attachment after some joints took hold at these frames and others let go."""
        return Attachment((self.attached | set(attach)) - set(release), self.frames | attach)

    def arrays(self, names: Sequence[str]) -> tuple[Array, Array]:
        """For snapshots: 1 for every joint that holds, and a frame for each, NaN where it is as written."""
        nowhere = np.full(12, np.nan)
        flags = np.array([float(name in self.attached) for name in names])
        return flags, np.array([self.frames.get(name, nowhere) for name in names])

    @classmethod
    def of_arrays(cls, names: Sequence[str], flags: Array, frames: Array) -> Attachment:
        """What `arrays` wrote."""
        return cls(
            frozenset(name for name, flag in zip(names, flags, strict=True) if flag),
            {name: frame for name, frame in zip(names, frames, strict=True) if not np.isnan(frame).any()},
        )


class Due(NamedTuple):
    """What a model wants changed at a time."""

    time: float
    attach: tuple[str, ...]
    release: tuple[str, ...]


def plan(joints: Collection[Joint]) -> list[Due]:
    """All changes that joints are written to make after the start, in the order of time."""
    begins: dict[float, list[str]] = {}
    ends: dict[float, list[str]] = {}
    for joint in joints:
        for begin, end in joint.attached or ():
            begins.setdefault(begin, []).append(joint.name)
            if end is not None:
                ends.setdefault(end, []).append(joint.name)
    times = sorted({*begins, *ends} - {0.0})
    return [Due(time, tuple(begins.get(time, ())), tuple(ends.get(time, ()))) for time in times]


def configured(system: System, attachment: Attachment) -> System:
    """The system with the rows of the joints that are attached, at the frames where they took hold."""
    table = system.row_table
    pairs = table.every.constraints.pairs.copy()
    for name, frame in attachment.frames.items():
        body = next(joint.b for joint in table.joints if joint.name == name)
        R, p = frame[:9].reshape(3, 3), frame[9:]
        if body != GROUND:
            ride = system.tables.bodies[system.body(body)]
            turn = ride["X_R"].reshape(3, 3)
            R, p = turn @ R, ride["X_p"] + turn @ p
        pairs["X_B"][table.switchable[name]] = np.r_[R.ravel(), p]
    return dataclasses.replace(system, rows=table.configured(attachment.attached, pairs))


def here(system: System, tables: Tables, pairs: Any, name: str) -> Array:
    """A joint's frame on b, in b's own frame, if it took hold now; tables are placed and pairs measured."""
    pair = pairs[system.row_table.switchable[name]]
    origin = tables.islands["o"][tables.dofs["island"][pair["a"]]]
    R, p = np.array(pair["R_A"]).reshape(3, 3), origin + pair["r_A"]
    body = next(joint.b for joint in system.row_table.joints if joint.name == name)
    if body != GROUND:
        at, turned = (np.array(part) for part in body_pose(tables, system.body(body)))
        turned = turned.reshape(3, 3)
        R, p = turned.T @ R, turned.T @ (p - at)
    frame: Array = np.r_[R.ravel(), p]
    return frame


class Impact(NamedTuple):
    """What an impact does to a mechanism: joints take hold of it, and its rates jump."""

    v: Array
    """Rates afterwards."""
    supplied: float
    """Work of drives that keep their rate [J]."""
    lost: dict[str, float]
    """Energy lost in each joint that took hold [J]."""
    wrenches: dict[str, tuple[Vector, Vector]]
    """Impulses of force and torque in each of them."""


def impact(system: System, q: Array, v: Array, taking: Collection[str]) -> Impact:
    """Rates v become such that all joints of a configured system allow, with the impulses that this takes.

    Finite forces have no time to act; joint equations, drives of unlimited strength and rotors do.
    """
    kin = Kinematics(system)
    kin.place(q, v)
    rows = kin.constraints.rows
    held = rows["role"] == HOLD
    kept: Any = np.flatnonzero(held | ((rows["role"] == SERVO_RATE) & np.isinf(rows["strength"])))
    rotors: Any = np.flatnonzero(rows["inertia"] > 0.0)
    J, K = kin.jacobian(kept), kin.jacobian(rotors)
    J[idle_here(kin)[kept]] = 0.0
    moments = _moments(system, kin, kept)
    H = kin.inertia()
    geared = rows["inertia"][rotors]
    whole = H + K.T @ (geared[:, None] * K)
    rate = J @ v
    p = impulses(J, whole, np.where(held[kept], -rate, 0.0))
    after = v + np.linalg.solve(whole, J.T @ p)
    mean = 0.5 * (rate + J @ after)
    supplied = float(p[~held[kept]] @ mean[~held[kept]])
    lost, wrenches = {}, {}
    for name in taking:
        mine = [k for k, i in enumerate(kept) if held[i] and name in system.row_table.needs[i]]
        lost[name] = -float(p[mine] @ mean[mine])
        wrench = p[mine] @ moments[mine] if mine else np.zeros(6)
        wrenches[name] = vector(wrench[3:]), vector(wrench[:3])
    return Impact(after, supplied, lost, wrenches)


def spin(system: System, q: Array, v: Array, joints: Collection[str]) -> dict[str, float]:
    """Kinetic energy of the rotors of some joints of a configured system [J]."""
    kin = Kinematics(system)
    kin.place(q, v)
    inertia = kin.constraints.rows["inertia"]
    rotors: Any = np.flatnonzero(inertia > 0.0)
    energies = 0.5 * inertia[rotors] * (kin.jacobian(rotors) @ v) ** 2
    needs = [system.row_table.needs[i] for i in rotors]
    return {
        name: float(sum(e for e, mine in zip(energies, needs, strict=True) if name in mine))
        for name in joints
    }


def impulses(J: Array, H: Array, want: Array) -> Array:
    """The smallest p with J H⁻¹ Jᵀ p = want as nearly as possible, rows scaled so that they compare."""
    A = J @ np.linalg.solve(H, J.T)
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    alive = size > np.finfo(float).eps * size.max(initial=0.0)
    p = np.zeros(len(want))
    scale = 1.0 / size[alive]
    inverse = np.linalg.pinv(A[np.ix_(alive, alive)] * np.outer(scale, scale), _REPEATED, hermitian=True)
    p[alive] = scale * (inverse @ (scale * want[alive]))
    return p


def _moments(system: System, kin: Kinematics, rows: Any) -> Array:
    """Wrench (torque about the joint's point, force) on b of a unit of each of some rows, world axes."""
    found = np.zeros((len(rows), 6))
    for k, i in enumerate(rows):
        row = kin.constraints.rows[i]
        if row["pair"] >= 0:  # a coupling acts along coordinates, not at a frame
            J, r = np.array(row["J_B"]), kin.constraints.pairs["r_B"][row["pair"]]
            found[k] = np.r_[J[:3] - np.cross(r, J[3:]), J[3:]]
    return found


def tree_state(tree: System, values: Array, rates: Array) -> tuple[Array, Array]:
    """Coordinates and rates of a tree from those of all joints, in the order of its row table."""
    q, v, k = tree.q0.copy(), tree.v0.copy(), 0
    for joint in tree.row_table.joints:
        placed, here = tree.joints[joint.name], slice(k, k + len(joint.rates))
        if placed.in_tree:
            q[placed.q], v[placed.v] = as_coordinates([joint], values[None, here])[0], rates[here]
        k = here.stop
    return q, v
