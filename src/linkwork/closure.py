"""Rows that hold a mechanism together, scaled so that lengths and angles compare, and steps that close them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from .joints.base import D, Joint
from .kinematics import Kinematics
from .rotation import Array
from .system import System
from .tables import BALL, COORDINATE, DOT, HOLD, SCREW

CLOSED = 1e-10
"""Gaps [m or rad] that count as closed."""
_ROUND_OFF, _ROUNDING = 1e-15, 1e-13  # scaled gaps at which nothing is left to improve, or little
NEGLIGIBLE = 1e-12
"""Singular values below this share of the largest are zero."""
_STEP = 0.5  # longest step, in radians or sizes of the mechanism
_ITERATIONS = 100
_PULLS = 30  # steps back along the loops


class Closure:
    """The rows that hold a system together, scaled so that lengths and angles compare, and steps that close them."""

    def __init__(self, system: System, q: Array):
        self.kin = Kinematics(system)
        self.system = system
        self.kin.place(q)
        self._settle()
        self._values = self.kin.constraints.coords["value"].copy()
        self.rows: Any = self.kin.hold
        units = row_units(system)
        self.units = [units[i] for i in self.rows]
        self.length = self._size()
        self.row_scale = np.array([self.length if unit == "m" else 1.0 for unit in self.units])
        self.reach = np.array([self.length if c.unit.startswith("m") else 1.0 for c in system.rates])
        """A displacement of this much in a coordinate counts as one."""

    def _settle(self) -> None:
        rows = self.kin.constraints.rows
        held = (rows["kind"] == COORDINATE) & (rows["role"] == HOLD)
        rows["offset"][held] += rows["phi"][held]

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

    def jacobian(self, reach: Array | None = None) -> Array:
        """Scaled Jacobian at the pose of the last `gaps`."""
        scale = self.reach if reach is None else reach
        J: Array = self.kin.jacobian(self.rows) / self.row_scale[:, None] * scale
        return J

    def close(self, q: Array, reach: Array | None = None, enough: float = _ROUND_OFF) -> tuple[Array, float]:
        """The pose near q where the gaps are least, and the largest scaled gap there; rounding alone if they close.

        Levenberg-Marquardt: far away, and where J loses rank, steps are held back, near the end they are Gauss-Newton
        steps of least displacement. Coordinates of no `reach` stay.
        """
        scale = self.reach if reach is None else reach
        share = scale / self.reach
        f = self.gaps(q)
        if not len(f):
            return q, 0.0
        error, damping = float(f @ f), 1e-3 if np.abs(f).max() > 1e-3 else 0.0
        for _ in range(_ITERATIONS):
            if np.abs(f).max() <= enough:
                break
            J = self.jacobian(scale)
            alive = _alive(J)
            if not alive.any():
                break
            U, s, Vt = np.linalg.svd(J[alive], full_matrices=False)
            kept = s > NEGLIGIBLE * s[0]
            along, s, Vt = U.T[kept] @ f[alive], s[kept], Vt[kept]
            before = error
            while damping < (1e-3 if error < _ROUNDING**2 else 1e8):
                y = -Vt.T @ (along * s / (s * s + damping * s[0] ** 2))
                longest = np.abs(y * share).max()
                if longest > _STEP:
                    y *= _STEP / longest
                trial = self.kin.moved(q, scale * y)
                g = self.gaps(trial)
                if float(g @ g) < error:
                    q, f, error = trial, g, float(g @ g)
                    damping = damping / 30.0 if damping > 1e-16 else 0.0
                    break
                damping = max(damping, 1e-17) * 10.0
            # Rounding or a minimum: nothing better within reach. Creeping ends here too.
            if error > (0.25 if before < _ROUNDING**2 else 0.9999) * before:
                break
        return q, float(np.abs(self.gaps(q)).max())

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
            pull = along_null_space(self.jacobian(scale)[:, free], away[free])
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


def _alive(J: Array) -> Any:
    """Rows that some motion changes: in planar mechanisms of spatial joints less than half."""
    return np.abs(J).max(axis=1, initial=0.0) > NEGLIGIBLE


def along_null_space(J: Array, x: Array) -> Array:
    """The part of x that J does not see."""
    J = J[_alive(J)]
    if not J.size:
        return x
    _, s, Vt = np.linalg.svd(J, full_matrices=False)
    seen = Vt[s > NEGLIGIBLE * max(s[0], 1e-300)]
    unseen: Array = x - seen.T @ (seen @ x)
    return unseen


def difference(system: System, start: Array, end: Array) -> Array:
    """The displacement, numbered like the rates, that takes one pose to another: the inverse of `moved`."""
    delta = np.zeros(system.nv)
    dofs = system.tables.dofs
    for d in range(1, len(dofs)):
        i, k = int(dofs["q"][d]), int(dofs["v"][d])
        if dofs["motion"][d] == SCREW:
            delta[k] = end[i] - start[i]
        elif dofs["motion"][d] == BALL:
            a, b = start[i : i + 4], end[i : i + 4]
            w = a @ b
            u = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
            sine = float(np.linalg.norm(u))
            if sine > 0.0:
                turn = 2.0 * np.arctan2(sine, abs(w)) * (1.0 if w >= 0.0 else -1.0)
                delta[k : k + 3] = turn / sine * u
    return delta


def yielding(closure: Closure, q: Array, rows: Any) -> Array:
    """How much a force along each of some rows accelerates each of them, the loops closed [1/kg or 1/(kg m²)]."""
    closure.gaps(q)
    K, J = closure.kin.jacobian(rows), closure.kin.jacobian(closure.rows)
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


def clusters(J: Array) -> list[tuple[Any, Any]]:
    """Rows of J and columns that have to do with each other; a column that no row has is alone.

    Dense algebra takes the cube of the size: loops that share no joint are better looked at one by one.
    """
    leader = list(range(J.shape[1]))

    def find(c: int) -> int:
        while leader[c] != c:
            leader[c] = c = leader[leader[c]]
        return c

    size = np.abs(J)
    touched = [np.flatnonzero(line > NEGLIGIBLE * line.max(initial=0.0)).tolist() for line in size]
    for columns in touched:
        for c in columns[1:]:
            leader[find(c)] = find(columns[0])
    found: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for c in range(J.shape[1]):
        found[find(c)][1].append(c)
    for i, columns in enumerate(touched):
        if columns:
            found[find(columns[0])][0].append(i)
    return [(np.array(rows, np.int64), np.array(columns, np.int64)) for rows, columns in found.values()]


def row_units(system: System) -> list[str]:
    """m or rad for the gap of every row."""
    assert system.rows is not None
    coords = [m.rate_unit for joint in system.rows.joints for m in joint.motions() for _ in m.rates]
    units = []
    for row in system.rows.constraints.rows:
        if row["kind"] == COORDINATE:
            units.append(coords[row["first"]].removesuffix("/s"))
        elif row["kind"] == DOT:
            units.append("m" if D in (row["alpha"], row["beta"]) else "rad")
        else:
            units.append("m")
    return units


def null_space(A: Array, tolerance: float = NEGLIGIBLE) -> Array:
    """Orthonormal columns that A takes to zero, up to a share of its largest singular value."""
    A = A[_alive(A)]
    if not A.size:
        return np.eye(A.shape[1])
    tall = len(A) > A.shape[1]
    _, s, Vt = np.linalg.svd(np.linalg.qr(A).R if tall else A)
    return Vt[int((s > tolerance * max(s[0], 1e-300)).sum()) :].T


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
