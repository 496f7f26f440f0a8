"""Rows that hold a mechanism together, scaled so that lengths and angles compare, and steps that close them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..compile.rank import EXACT, ROOM, alive, along_null_space, clusters, null_space, rank_of
from ..compile.system import System
from ..engine.tables import BALL, COORDINATE, DOT, SCREW, SPIN
from ..model.joints.base import D, Joint
from ..model.rotation import Array, rotation_vectors
from .kinematics import Kinematics

CLOSED = 1e-10
"""Gaps [m or rad] that count as closed."""
_ROUND_OFF, _ROUNDING = 1e-15, 1e-13  # scaled gaps at which nothing is left to improve, or little
_STEP = 0.5  # longest step, in radians or sizes of the mechanism
_ITERATIONS = 100
_PULLS = 30  # steps back along the loops
_POSES = 5  # at which rows are tried: the pose itself and random ones


class Closure:
    """The rows that hold a system together, scaled so that lengths and angles compare, and steps that close them."""

    def __init__(self, system: System, q: Array):
        self.kin = Kinematics(system)
        self.system = system
        self.kin.settle(q)
        self._values = self.kin.constraints.coords["value"].copy()
        self.rows: Any = self.kin.hold
        units = row_units(system)
        self.units = [units[i] for i in self.rows]
        self.length = self._size()
        self.still: Any = idle_rows(system, q)
        """Which of all rows no motion changes, but for the digits that the model is written with."""
        self.idle = self.still[self.rows]
        sizes, self.strides = local_sizes(self.kin)
        self.sizes = sizes[self.rows]
        self.row_scale = np.array([self.length if unit == "m" else 1.0 for unit in self.units])
        self.reach = np.array([self.length if c.unit.startswith("m") else 1.0 for c in system.rates])
        """A displacement of this much in a coordinate counts as one."""

    def _size(self) -> float:
        """The longest lever by which a rotation moves the end of a loop [m]."""
        J = self.kin.jacobian(self.rows)
        lengths = np.array([unit == "m" for unit in self.units], bool)
        turns = np.array([c.unit.startswith("rad") for c in self.system.rates], bool)
        levers = np.abs(J[np.ix_(lengths, turns)])
        return float(levers.max()) if levers.size and levers.max() > 1e-9 else 1.0

    def forget(self) -> None:
        """Count angles from the start again, before a jump to another pose."""
        self.kin.constraints.coords["value"] = self._values

    def gaps(self, q: Array) -> Array:
        """Scaled gaps at a pose, which the next Jacobian is about."""
        self.kin.place(q)
        gaps: Array = self.kin.gaps[self.rows] / self.row_scale
        return gaps

    def within_reach(self, q: Array) -> Array:
        """Scaled gaps at a pose, those left out that no motion closes and that may be due to rounded numbers."""
        gaps = self.gaps(q)
        gaps[self.idle & (np.abs(gaps) <= ROOM)] = 0.0
        return gaps

    def gradients(self) -> Array:
        """Jacobian at the pose of the last `gaps`, [m or rad] per [m or rad]; rows that are idle have none."""
        J = self.kin.jacobian(self.rows)
        J[self.idle] = 0.0
        return J

    def jacobian(self, reach: Array | None = None) -> Array:
        """Scaled Jacobian at the pose of the last `gaps`."""
        scale = self.reach if reach is None else reach
        J: Array = self.gradients() / self.row_scale[:, None] * scale
        return J

    def dimensionless(self, reach: Array | None = None) -> Array:
        """Jacobian at the pose of the last `gaps`, lengths in sizes of the loop that they belong to: for `rank`."""
        scale = self.strides if reach is None else reach
        J: Array = self.gradients() / self.sizes[:, None] * scale
        return J

    def close(self, q: Array, reach: Array | None = None, enough: float = _ROUND_OFF) -> tuple[Array, float]:
        """The pose near q where the gaps are least, and the largest scaled gap there; rounding alone if they close.

        Levenberg-Marquardt: far away, and where J loses rank, steps are held back, near the end they are Gauss-Newton
        steps of least displacement. Coordinates of no `reach` stay, and gaps that no motion closes count for nothing
        as long as they may be due to rounded numbers.
        """
        scale = self.reach if reach is None else reach
        share = scale / self.reach
        f = self.within_reach(q)
        if not len(f):
            return q, 0.0
        error, damping = float(f @ f), 1e-3 if np.abs(f).max() > 1e-3 else 0.0
        for _ in range(_ITERATIONS):
            if np.abs(f).max() <= enough:
                break
            J = self.jacobian(scale)
            live = alive(J)
            if not live.any():
                break
            U, s, Vt = np.linalg.svd(J[live], full_matrices=False)
            kept = s > EXACT * s[0]
            along, s, Vt = U.T[kept] @ f[live], s[kept], Vt[kept]
            before = error
            while damping < (1e-3 if error < _ROUNDING**2 else 1e8):
                y = -Vt.T @ (along * s / (s * s + damping * s[0] ** 2))
                longest = np.abs(y * share).max()
                if longest > _STEP:
                    y *= _STEP / longest
                trial = self.kin.moved(q, scale * y)
                g = self.within_reach(trial)
                if float(g @ g) < error:
                    q, f, error = trial, g, float(g @ g)
                    damping = damping / 30.0 if damping > 1e-16 else 0.0
                    break
                damping = max(damping, 1e-17) * 10.0
            # Rounding or a minimum: nothing better within reach. Creeping ends here too.
            if error > (0.25 if before < _ROUNDING**2 else 0.9999) * before:
                break
        return q, float(np.abs(self.within_reach(q)).max())

    def settle_down(self, q: Array) -> tuple[Array, float]:
        """The pose near q where all is closed that J can close by more than rounding of the model's numbers.

        Returns it and the largest scaled gap that is left there: of rows that contradict each other by their last
        digits it is no more than `ROOM` or so. Gauss-Newton steps, for poses that are nearly closed.
        """
        before = np.inf
        for _ in range(_ITERATIONS):
            f = self.within_reach(q) * self.row_scale / self.sizes
            U, s, Vt = np.linalg.svd(self.dimensionless(), full_matrices=False)
            rank = rank_of(s)
            along = U.T[:rank] @ f
            size = float(np.abs(along).max(initial=0.0))
            if size <= _ROUND_OFF or size >= 0.5 * before:
                break
            before = size
            y = -Vt[:rank].T @ (along / s[:rank])
            longest = np.abs(y).max(initial=0.0)
            q = self.kin.moved(q, self.strides * (y if longest <= _STEP else y * _STEP / longest))
        return q, float(np.abs(self.within_reach(q)).max(initial=0.0))

    def nearest(self, q: Array, target: Array, reach: Array | None = None) -> Array:
        """From a closed pose along the loops to the closed one that is nearest to the target."""
        scale = self.reach if reach is None else reach
        free = scale > 0.0
        inverse = np.zeros_like(scale)
        inverse[free] = 1.0 / scale[free]
        size = 1.0
        away = inverse * difference(self.system, q, target)
        for _ in range(_PULLS):
            self.gaps(q)
            pull = along_null_space(self.dimensionless(scale)[:, free], away[free])
            if np.abs(pull).max(initial=0.0) <= 1e-10:
                break
            step = np.zeros_like(scale)
            step[free] = pull
            trial, gap = self.close(self.kin.moved(q, size * scale * step), scale, CLOSED)
            left = inverse * difference(self.system, trial, target)
            if gap <= 10.0 * CLOSED and left @ left < away @ away:
                gained = 1.0 - (left @ left) / (away @ away)
                q, away = trial, left
                if gained < 1e-9:
                    break
            elif size < 1e-2:
                break
            else:
                size *= 0.5
        return q


def difference(system: System, start: Array, end: Array) -> Array:
    """The displacement, numbered like the rates, that takes one pose to another: the inverse of `moved`."""
    delta, dofs = np.zeros(system.nv), system.tables.dofs[1:]
    screws = dofs[dofs["motion"] == SCREW]
    delta[screws["v"]] = end[screws["q"]] - start[screws["q"]]
    for ball in dofs[dofs["motion"] == BALL]:
        i, k = int(ball["q"]), int(ball["v"])
        a, b = start[i : i + 4], end[i : i + 4]
        turn = np.r_[a @ b, a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])]
        delta[k : k + 3] = rotation_vectors(turn[None])[0]
    return delta


def yielding(closure: Closure, q: Array, rows: Any) -> Array:
    """How much a force along each of some rows accelerates each of them, the loops closed [1/kg or 1/(kg m²)]."""
    closure.gaps(q)
    K, J = closure.kin.jacobian(rows), closure.gradients()
    H = closure.kin.inertia()
    count, parts = 0, []  # motions that the loops allow: those of each loop that shares no joint with another
    for own, columns in clusters(J):
        motions = null_space(J[np.ix_(own, columns)])
        parts.append((columns, motions, slice(count, count + motions.shape[1])))
        count += motions.shape[1]
    HN, inertia, KN = np.zeros((len(H), count)), np.zeros((count, count)), np.zeros((len(K), count))
    for columns, motions, place in parts:
        HN[:, place] = H[:, columns] @ motions
        KN[:, place] = K[:, columns] @ motions
    for columns, motions, place in parts:
        inertia[place] = motions.T @ HN[columns]
    moved: Array = KN @ np.linalg.solve(inertia, KN.T)
    return 0.5 * (moved + moved.T)


def idle_rows(system: System, q: Array) -> Any:
    """Which rows no motion of the tree changes by more than rounding of the model's numbers.

    A row in joint space is an analytic function of the coordinates: if it vanishes at a few random poses, it vanishes
    everywhere. Planar mechanisms built from spatial joints are full of such rows; joints whose axes should be parallel
    but are written with six to ten digits leave that much of them [rad, or m in sizes of the loop].
    """
    kin = Kinematics(system)
    kin.place(q)
    sizes, strides = local_sizes(kin)
    random = np.random.default_rng(0)
    rows: Any = np.arange(len(kin.names))
    moved = np.zeros(len(rows))
    for _ in range(_POSES):
        size = np.abs(kin.jacobian(rows) / sizes[rows, None] * strides).max(axis=1, initial=0.0)
        moved[rows] = np.maximum(moved[rows], size)
        rows = rows[moved[rows] <= ROOM]
        if not len(rows):
            break
        kin.place(q + random.normal(size=len(q)))
    return moved <= ROOM


def local_sizes(kin: Kinematics) -> tuple[Array, Array]:
    """Lengths at the pose that make rows and rates dimensionless: of each row the size of its loop [m], 1 for angles.

    The size of a loop is how far its joints are from the one that closes it: a small mechanism on a large machine is
    measured by itself. Sliding rates count in sizes of the largest loop that they are part of.
    """
    dofs, pairs = kin.tables.dofs, kin.constraints.pairs
    slides = {int(v) for v, c in enumerate(kin.system.rates) if c.unit.startswith("m")}
    sizes, strides, units = np.ones(len(kin.names)), np.ones(kin.system.nv), row_units(kin.system)
    loops: dict[int, float] = {}
    largest: dict[int, float] = {}
    for i, row in enumerate(kin.constraints.rows):
        pair = int(row["pair"])
        if row["kind"] == COORDINATE:
            continue
        if pair not in loops:
            loops[pair], rates = _loop_size(dofs, pairs[pair])
            for rate in slides.intersection(rates):
                largest[rate] = max(largest.get(rate, 0.0), loops[pair])
        if units[i] == "m" and loops[pair] > 0.0:
            sizes[i] = loops[pair]
    for rate, size in largest.items():
        strides[rate] = size if size > 0.0 else 1.0
    return sizes, strides


def _loop_size(dofs: Any, pair: Any) -> tuple[float, list[int]]:
    """Distance of the farthest joint of a loop from the frames that close it [m]; rates of the joints in the loop."""
    size, rates = 0.0, []
    a, b = int(pair["a"]), int(pair["b"])
    while a != b:  # up to where the paths to the root meet
        from_a = b == 0 or (a != 0 and dofs["depth"][a] >= dofs["depth"][b])
        d, r = (a, pair["r_A"]) if from_a else (b, pair["r_B"])
        size = max(size, float(np.linalg.norm(dofs["r"][d] - r)))
        rates.append(int(dofs["v"][d]))
        if from_a:
            a = int(dofs["parent"][a])
        else:
            b = int(dofs["parent"][b])
    return size, rates


def row_units(system: System) -> list[str]:
    """m or rad for what every row measures."""
    table = system.row_table
    coords = [
        m.rate_unit.removesuffix("/s") for joint in table.joints for m in joint.motions() for _ in m.rates
    ]

    def unit(row: Any) -> str:
        if row["kind"] == COORDINATE:
            return coords[int(row["first"])]
        turns = row["kind"] == SPIN or (row["kind"] == DOT and D not in (row["alpha"], row["beta"]))
        return "rad" if turns else "m"

    return [unit(row) for row in table.constraints.rows]


def loop_of(joints: Iterable[Joint], closing: Joint) -> list[str]:
    """Names of the joints on the shortest way between the bodies of `closing`, other than itself."""
    touching: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for joint in joints:
        if joint.name != closing.name:
            touching[joint.a].append((joint.b, joint.name))
            touching[joint.b].append((joint.a, joint.name))
    came: dict[str, tuple[str, str]] = {closing.a: ("", "")}
    queue = [closing.a]
    for body in queue:
        for other, name in touching[body]:
            if other not in came:
                came[other] = (body, name)
                queue.append(other)
    path: list[str] = []
    body = closing.b
    while body in came and came[body][1]:
        path.append(came[body][1])
        body = came[body][0]
    return path[::-1]
