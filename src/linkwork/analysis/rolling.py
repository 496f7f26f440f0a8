"""Contacts that roll or stick, as constraints: a gap that stays, and no velocity along the surface.

At every pose the contact points are found anew by the narrow phase, so that the curvature of surfaces is in the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile.colliders import ColliderTable
from ..engine.contact.collide import collide_pairs
from ..engine.contact.colliders import FRICTION
from ..engine.contact.geometry import contact_rows, make_scratch
from ..mechanism.kinematics import Kinematics
from ..model.errors import LinkworkError
from ..model.rotation import Array

_NEAR = 1e-4  # of the size of a shape: what is nearer than this at the start touches


class _Point(NamedTuple):
    """Where two shapes touch."""

    pair: int
    normal: Array
    """From the first to the second."""
    where: Array
    """[m]"""
    gap: float
    """[m]"""


class Contacts:
    """Points where things touch at a pose. Rows: the gaps of all, then two velocities along the surface for each."""

    def __init__(self, kin: Kinematics, table: ColliderTable, q: Array):
        self._kin, self._colliders = kin, table.colliders
        self._scratch = make_scratch(self._colliders.hulls)
        count = len(self._colliders.shapes)
        pairs = [(i, j) for j in range(count) for i in range(j) if self._may(i, j)]
        self._pairs = np.array(pairs, np.int64).reshape(-1, 2)
        kin.place(q)
        sizes = np.abs(self._colliders.shapes["dims"]).max(axis=1, initial=0.0)
        size = float(sizes.max(initial=0.0)) or 1.0
        touching = [point.pair for point in self._points(_NEAR * size)]
        self._pairs, self._margin = self._pairs[sorted(set(touching))], size
        found = self._points(size)
        self._expected = [point.pair for point in found]
        owners = self._colliders.mounts["owner"]
        self.names = [" on ".join(table.owners[owners[k]] for k in self._pairs[p.pair]) for p in found]
        """What touches, point by point."""
        self.friction = np.array([self._friction(p.pair) for p in found])
        """Coefficient of dry friction of each point."""
        self._along = [np.eye(3)[int(np.argmin(np.abs(p.normal)))] for p in found]

    def __len__(self) -> int:
        return len(self.names)

    def _may(self, i: int, j: int) -> bool:
        """Whether the filters of the broad phase let shapes i < j touch."""
        c = self._colliders
        met = c.groups[i] & c.masks[j] and c.groups[j] & c.masks[i]
        return bool(met) and not (c.fixed[i] and c.fixed[j]) and i * len(c.shapes) + j not in c.excluded

    def _friction(self, pair: int) -> float:
        a, b = (int(self._colliders.mounts["material"][k]) for k in self._pairs[pair])
        return float(self._colliders.materials[a, b][FRICTION])

    def _poses(self) -> tuple[Array, Array]:
        """Positions and rotations of all shapes at the pose that the tables are placed at."""
        tables, mounts = self._kin.tables, self._colliders.mounts
        dofs = tables.dofs[mounts["link"]]
        R = dofs["R"].reshape(-1, 3, 3)
        arm = dofs["r"] + np.einsum("nij,nj->ni", R, mounts["X_p"])
        positions = tables.islands["o"][dofs["island"]] + arm
        return positions, (R @ mounts["X_R"].reshape(-1, 3, 3)).reshape(-1, 9)

    def _points(self, margin: float) -> list[_Point]:
        positions, rotations = self._poses()
        n = len(self._pairs)
        counts, out = np.zeros(n, np.int64), contact_rows(n)
        collide_pairs(
            self._colliders.shapes, positions, rotations, self._pairs, self._colliders.hulls, margin,
            self._scratch, counts, out,
        )  # fmt: skip
        return [
            _Point(k, np.array(c["normal"]), 0.5 * (c["a"] + c["b"]), float(c["distance"]))
            for k in range(n)
            for c in out[k, : counts[k]]
        ]

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Gaps at a pose [m], and the Jacobian of all rows there by the rates of the system."""
        self._kin.place(q)
        found = self._points(self._margin)
        if [point.pair for point in found] != self._expected:
            raise LinkworkError(
                f"{', '.join(sorted(set(self.names)))}: the number of points that touch changes with the smallest "
                "motion, which has no linear form; let round shapes touch"
            )
        count, nv = len(found), self._kin.system.nv
        J = np.zeros((3 * count, nv))
        frames = [self._frame(k, point) for k, point in enumerate(found)]
        for i in range(nv):
            self._kin.place(q, np.eye(nv)[i])
            for k, point in enumerate(found):
                a, b = self._pairs[point.pair]
                moved = frames[k] @ (self._velocity(b, point.where) - self._velocity(a, point.where))
                J[k, i], J[count + 2 * k, i], J[count + 2 * k + 1, i] = moved
        return np.array([point.gap for point in found]), J

    def _frame(self, k: int, point: _Point) -> Array:
        """The normal and two directions along the surface, which turn with it smoothly."""
        n = point.normal
        t = self._along[k] - n * (n @ self._along[k])
        t /= np.linalg.norm(t)
        return np.array([n, t, np.cross(n, t)])

    def _velocity(self, shape: int, where: Array) -> Array:
        """Of the matter of a shape at a place in the world, with the rates placed [m/s]."""
        tables, link = self._kin.tables, int(self._colliders.mounts["link"][shape])
        if link == 0:
            return np.zeros(3)
        V, o = tables.dofs["V"][link], tables.islands["o"][tables.dofs["island"][link]]
        velocity: Array = V[3:] + np.cross(V[:3], where - o)
        return velocity

    def held(self) -> Any:
        """Which rows hold: all gaps, and what runs along surfaces that are rough."""
        return np.r_[np.ones(len(self), bool), np.repeat(self.friction > 0.0, 2)]
