"""Self-stresses of a mechanism: which equations of its joints depend on each other, and the rings of joints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..compile.rank import null_space, rank_of
from ..compile.system import System
from ..compile.union import Union
from ..mechanism.closure import Closure, loop_of
from ..methods.rows import floating
from ..model import Flat
from ..model.item import GROUND
from ..model.joints import Joint
from ..model.rotation import Array

SOUND = 1e-3  # self-stresses nearer to dependent than this are not told apart


@dataclass(frozen=True)
class Redundant:
    """A joint some of whose equations the rest of the mechanism already holds."""

    joint: str
    kind: str
    equations: int
    dependent: int
    """How many of them could be given up without a new freedom, all others kept."""


@dataclass(frozen=True)
class Loop:
    """Joints in a ring, and by how many equations they hold each other too often."""

    joints: tuple[str, ...]
    excess: int


class Stresses:
    """Self-stresses of a mechanism at a pose: columns over the scaled equations of all joints and couplings."""

    def __init__(self, bare: Compiled, driven: set[str], tree: System, q: Array):
        self.bare, self.flat = bare, bare.flat
        self.driven = driven
        system = bare.floating
        self.closure = Closure(system, floating(bare, system, tree, q, np.zeros(tree.nv))[0])
        J = self.closure.jacobian()
        U, s, _ = np.linalg.svd(J)
        self.J = J
        self.basis = U[:, rank_of(s) :]
        self.left = self.basis
        self.given_up: dict[str, Array] = {}
        rows = self.closure.kin.constraints.rows[self.closure.rows]
        names = [joint.name for joint in system.row_table.joints]
        self.rows_of: dict[str, Any] = {
            name: np.flatnonzero(rows["group"] == g)
            for g, name in enumerate(names)
            if (rows["group"] == g).any()
        }
        self.pair_of = {
            name: self.closure.kin.constraints.pairs[int(rows["pair"][indices[0]])]
            for name, indices in self.rows_of.items()
        }
        self.twists_of = {name: self._twists(rows[indices]) for name, indices in self.rows_of.items()}
        self.columns_of = {
            placed.joint.b: np.arange(placed.v.start, placed.v.stop)
            for placed in system.joints.values()
            if placed.in_tree
        }
        self.names = {name for name in self.rows_of if name in self.flat.joints}
        self.rings = rings(self.flat)
        self.shared = Counter(name for ring in self.rings for name in ring)

    def _twists(self, rows: Any) -> Array:
        """Scaled equations against the twist of B relative to A at the joint (angular, linear in sizes)."""
        r = self.closure.kin.constraints.pairs[int(rows["pair"][0])]["r_B"]
        C = np.array([[*(row["J_B"][:3] - np.cross(r, row["J_B"][3:])), *row["J_B"][3:]] for row in rows])
        lengths = np.abs(C[:, 3:]).max(axis=1) > 0.0  # a row of lengths, measured in sizes
        C[:, 3:] *= self.closure.length
        C[lengths] /= self.closure.length
        return C

    def redundant(self) -> list[Redundant]:
        found = []
        for name in self.names:
            rows = self.rows_of[name]
            dependent = int((np.linalg.svd(self.basis[rows], compute_uv=False) > SOUND * 1e-3).sum())
            if dependent:
                found.append(Redundant(name, self.flat.joints[name].kind, len(rows), dependent))
        order = list(self.flat.joints)
        return sorted(found, key=lambda joint: order.index(joint.joint))

    def may_change(self, name: str) -> bool:
        """Whether a joint may be replaced: not twice, and a drive or coupling needs the coordinate that it acts on."""
        return name in self.rows_of and name not in self.driven and name not in self.given_up

    def give_up(self, joint: str, combinations: Array) -> None:
        """Do without some equations of a joint (rows × equations given up); keep the self-stresses that remain."""
        reached = self.left[self.rows_of[joint]].T @ combinations
        self.left = self.left @ np.linalg.qr(reached, mode="complete").Q[:, combinations.shape[1] :]
        self.given_up[joint] = combinations

    def excess(self, joints: tuple[str, ...]) -> int:
        """Redundant equations of some joints by themselves, less those given up."""
        bodies = {
            body for name in joints for body in (self.flat.joints[name].a, self.flat.joints[name].b)
        } - {GROUND}
        columns = np.concatenate([self.columns_of[body] for body in sorted(bodies)])
        parts = []
        for name in joints:
            part = self.J[np.ix_(self.rows_of[name], columns)] if name in self.rows_of else np.zeros((0, 1))
            if name in self.given_up and len(part):
                part = null_space(self.given_up[name].T).T @ part
            if len(part):
                parts.append(part)
        if not parts:
            return 0
        whole = np.concatenate(parts)
        return len(whole) - rank_of(np.linalg.svd(whole, compute_uv=False))

    def loops(self) -> list[Loop]:
        """A basis of short rings that are overconstrained by themselves."""
        return [Loop(ring, excess) for ring in self.rings if (excess := self.excess(ring))]


def rings(flat: Flat) -> list[tuple[str, ...]]:
    """One ring of joints for every loop, each as short as joints taken earlier allow."""
    tree: list[Joint] = []
    together = Union((GROUND, *flat.bodies))
    closing = []
    # Joints of the ground first: rings through it are short.
    for joint in sorted(flat.joints.values(), key=lambda j: GROUND not in (j.a, j.b)):
        if together.find(joint.a) == together.find(joint.b):
            closing.append(joint)
        else:
            together.join(joint.a, joint.b)
            tree.append(joint)
    return [(*loop_of(tree, joint), joint.name) for joint in closing]
