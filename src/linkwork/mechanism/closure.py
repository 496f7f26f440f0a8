"""Rows that hold a mechanism together, scaled so that lengths and angles compare, and steps that close them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..compile.rank import ROOM, alive, along_null_space, clusters, damped_steps, null_space, shortest
from ..compile.system import System
from ..engine.tables import BALL, SCREW
from ..model.joints.base import Joint
from ..model.rotation import Array, rotation_vectors
from .kinematics import Indices, Kinematics
from .scales import idle_rows, local_sizes, row_units

CLOSED = 1e-10
"""Gaps [m or rad, or lengths in sizes of the loop] that count as closed: rounding is not far below."""
_ROUND_OFF, _ROUNDING = 1e-15, 1e-13  # scaled gaps at which nothing is left to improve, or little
_STEP = 0.5  # longest step, in radians or sizes of the mechanism
_ITERATIONS, _NEWTONS = 100, 30  # from afar, and nearly closed
_PULLS = 30  # steps back along the loops


class Closure:
    """The rows that hold a system together, scaled so that lengths and angles compare, and steps that close them."""

    def __init__(self, system: System, q: Array):
        self.kin = Kinematics(system)
        self.system = system
        self.kin.settle(q)
        self._values = self.kin.constraints.coords["value"].copy()
        self.rows: Any = self.kin.hold
        self.units = np.array(row_units(system))
        """Of what each of all rows measures: rad or m."""
        self.length = self._size()
        self.still: Any = idle_rows(system, q)
        """Which of all rows no motion changes, but for the digits that the model is written with."""
        self.sizes, self.strides = local_sizes(self.kin)
        self.row_scale = np.where(self.units == "m", self.length, 1.0)
        self.reach = np.array([self.length if c.unit.startswith("m") else 1.0 for c in system.rates])
        """A displacement of this much in a coordinate counts as one."""

    def _size(self) -> float:
        """The longest lever by which a rotation moves the end of a loop [m]."""
        J = self.kin.jacobian(self.rows)
        lengths = self.units[self.rows] == "m"
        turns = np.array([c.unit.startswith("rad") for c in self.system.rates], bool)
        levers = np.abs(J[np.ix_(lengths, turns)])
        return float(levers.max()) if levers.size and levers.max() > 1e-9 else 1.0

    def forget(self) -> None:
        """Count angles from the start again, before a jump to another pose."""
        self.kin.constraints.coords["value"] = self._values

    @property
    def idle(self) -> Any:
        """Which of the rows that hold no motion changes."""
        return self.still[self.rows]

    def values(self) -> Array:
        """All joint coordinates at the pose [rad or m]."""
        return np.array(self.kin.constraints.coords["value"])

    def back(self, q: Array, values: Array) -> None:
        """Back to a pose at which coordinates had these values: angles count turns from where they were last."""
        self.kin.constraints.coords["value"] = values
        self.kin.place(q)

    def gaps(self, q: Array) -> Array:
        """Gaps at a pose [m or rad], which the next Jacobian is about."""
        self.kin.place(q)
        gaps: Array = self.kin.gaps[self.rows]
        return gaps

    def within_reach(self, q: Array) -> Array:
        """Scaled gaps at a pose, those left out that no motion closes and that may be due to rounded numbers."""
        gaps: Array = self.gaps(q) / self.row_scale[self.rows]
        gaps[self.idle & (np.abs(gaps) <= ROOM)] = 0.0
        return gaps

    def gradients(self, rows: Indices | None = None) -> Array:
        """Jacobian at the pose of the last `gaps`, [m or rad] per [m or rad]; rows that are idle have none."""
        chosen = self.rows if rows is None else rows
        J = self.kin.jacobian(chosen)
        J[self.still[chosen]] = 0.0
        return J

    def jacobian(self, reach: Array | None = None) -> Array:
        """Scaled Jacobian at the pose of the last `gaps`."""
        scale = self.reach if reach is None else reach
        J: Array = self.gradients() / self.row_scale[self.rows, None] * scale
        return J

    def dimensionless(self, reach: Array | None = None, rows: Indices | None = None) -> Array:
        """Jacobian at the pose of the last `gaps`, lengths in sizes of the loop that they belong to: for `rank`."""
        scale = self.strides if reach is None else reach
        chosen = self.rows if rows is None else rows
        J: Array = self.gradients(chosen) / self.sizes[chosen, None] * scale
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
            step = damped_steps(J[live], f[live])
            before = error
            while damping < (1e-3 if error < _ROUNDING**2 else 1e8):
                y = step(damping)
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

    def settle_down(
        self, q: Array, rows: Indices | None = None, wanted: Array | float = 0.0
    ) -> tuple[Array, Array]:
        """Newton's method from q, where rows nearly measure what is wanted; by default those that hold, and zero.

        Returns the best pose that was met and the gaps that are left there [rad, or m in sizes of the loop]. Steps are
        the shortest ones. Of rows that contradict each other by the last digits of the model's numbers, gaps of `ROOM`
        or so are left; what J can close by more than that is closed.
        """
        chosen = self.rows if rows is None else rows
        still = self.still[chosen]
        best, least, before, read = q, np.full(len(chosen), np.inf), np.inf, self.values()
        for _ in range(_NEWTONS):
            self.kin.place(q)
            gaps = (self.kin.gaps[chosen] - wanted) / self.sizes[chosen]
            gaps[still & (np.abs(gaps) <= ROOM)] = 0.0
            open_by = float(np.abs(gaps).max(initial=0.0))
            if open_by < np.abs(least).max(initial=0.0):
                best, least, read = q, gaps, self.values()
            if open_by <= _ROUNDING:
                break
            J = self.dimensionless(rows=chosen)
            y = -shortest(J, gaps)
            size = float(np.abs(J @ y).max(initial=0.0))  # of the gaps, what J can close
            if size <= _ROUNDING or CLOSED > size >= 0.5 * before:
                break
            before = size
            y *= min(1.0, _STEP / float(np.abs(y).max(initial=1e-300)))
            q = self.kin.moved(q, self.strides * y)
        self.back(best, read)
        return best, least

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
