"""Forces in a mechanism at rest: what pushes at a pose, how stiff it is there, and what loops and limits carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compile.compiler import Compiled
from ..compile.rank import EXACT, null_space, shortest
from ..engine.tables import BALL
from ..mechanism.closure import difference
from ..mechanism.kinematics import Indices
from ..mechanism.linkage import Lost
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from .mechanism import Mechanism

# Good enough if rounding allows no better: forces left over, as shares of those in play, and gaps, of the size.
NEARLY = 1e-9
# Differences of order 4 with this stride [rad, or shares of the mechanism's size]: exact to some 1e-13.
_STRIDE = 1e-3
_ASYMMETRIC = 1e-6


@dataclass
class Look:
    """What is known at a pose."""

    Q: Array
    """Generalised forces of everything but loops, limits and what is held."""
    size: Array
    """How large the parts are that make them up."""
    J: Array
    """Jacobian of the equalities, and of the limits."""
    J_limits: Array
    room: Array
    """How far each limit is away [rad or m]."""


class Forces:
    """What pushes in a mechanism; `hold` gives drives commands and coordinates places, signals act as at `time` [s].

    With `friction`, dry friction of joints is told by somebody else; without, it is left out.
    """

    def __init__(self, compiled: Compiled, hold: dict[str, float], time: float, *, friction: bool = False):
        self.compiled, self.time = compiled, time
        self.mech = mech = Mechanism(self.compiled)
        self.notes: list[str] = list(mech.system.notes)
        self.commands: dict[int, float] = {}
        self.held: dict[int, float] = {}
        self._read(hold)
        self.locks = self._locks()
        frictions = [mech.kin.names[i].partition(":")[0] for i in mech.friction]
        if frictions and not friction:
            self.notes.append(
                f"dry friction is left out ({', '.join(frictions)}): the mechanism may rest at other poses too"
            )
        self.acting = mech.acting(without=mech.friction.tolist())
        self.equal = mech.hold
        self.goal = np.zeros(len(mech.hold))
        dofs = mech.kin.tables.dofs
        self._balls = [int(v) for v in dofs["v"][dofs["motion"] == BALL]]

    def _read(self, hold: dict[str, float]) -> None:
        """Drives get commands, coordinates places."""
        drives = self.mech.system.row_table.drives
        for name, value in hold.items():
            if not isinstance(value, int | float | np.number) or not np.isfinite(value):
                raise LinkworkError(f"hold of '{name}' must be a finite number, not {value!r}")
            if name in drives:
                self.commands[drives.index(name)] = float(value)
            elif name in self.mech.coordinates:
                self.held[self.mech.index(name)] = float(value)
            else:
                known = [*drives, *self.mech.coordinates]
                raise LinkworkError(f"there is no drive or coordinate '{name}' to hold{nearest(name, known)}")

    def command(self, row: int) -> float:
        """What a drive is told."""
        slot = int(self.mech.kin.constraints.rows["input"][row])
        return self.commands[slot] if slot in self.commands else self.mech.command(row, self.time)

    def _locks(self) -> dict[int, int]:
        """Coordinates that velocity servos keep from moving, and their rows."""
        locks: dict[int, int] = {}
        for row in map(int, self.mech.servos):
            c, rate = int(self.mech.kin.constraints.rows["first"][row]), self.command(row)
            if c in self.held:
                continue
            if rate != 0.0:
                name = self.mech.drive_name(row)
                raise LinkworkError(
                    f"velocity servo '{name}' keeps '{self.mech.coordinates[c]}' moving at {rate:g}: nothing rests; "
                    f"tell it 0 (hold={{'{name}': 0}}) or hold the coordinate"
                )
            locks[c] = row
        return locks

    def start(self) -> Array:
        """The pose as written, loops closed, with what is held moved to its place."""
        mech = self.mech
        q = mech.assemble()
        for c in self.locks:
            self.held[c] = float(mech.values()[c])
        if not self.held:
            return q
        chosen = np.array(list(self.held), np.int64)
        self.equal = np.concatenate([mech.hold, mech.places[chosen]])
        there = np.array(list(self.held.values()))
        here, closed = mech.values()[chosen], np.zeros(len(mech.hold))
        self.goal = np.concatenate([closed, there])

        def path(s: float) -> tuple[Array, Array]:
            return np.concatenate([closed, here + s * (there - here)]), np.concatenate([closed, there - here])

        try:
            return mech.follow(q, self.equal, path, 0.0, 1.0)
        except Lost as lost:
            names = ", ".join(f"'{mech.coordinates[c]}'" for c in chosen)
            raise LinkworkError(
                f"{names} cannot be brought where they are to be held: '{lost.row}' stays open"
            ) from None

    def moved(self, q: Array, delta: Array) -> tuple[Array, Array, Array]:
        """A displacement from a pose, loops closed: the pose, what closing added, and gaps that are left."""
        there = self.mech.kin.moved(q, delta)
        found, gaps = self.mech.settle_down(there, self.equal, self.goal)
        return found, difference(self.mech.system, there, found), gaps

    def push(self, q: Array) -> tuple[Array, Array]:
        """Generalised forces of springs, drives, gravity and loads at a pose, and the parts of rows added up."""
        mech = self.mech
        mech.kin.place(q)
        rest = np.zeros(mech.system.nv)
        force = np.array(
            [mech.law(row, 0.0, 0.0, self.command(row), self.time) for row in map(int, self.acting)]
        )
        parts = mech.kin.jacobian(self.acting) * force[:, None] if len(force) else np.zeros((0, len(rest)))
        return parts.sum(axis=0) - mech.kin.demand(q, rest, rest, self.time), np.abs(parts).sum(axis=0)

    def look(self, q: Array) -> Look:
        """Forces at a pose, and the constraints there."""
        mech = self.mech
        Q, size = self.push(q)
        size = size + self._weights(q)
        mech.kin.place(q)
        return Look(
            Q, size, mech.kin.jacobian(self.equal), mech.kin.jacobian(mech.limits), mech.kin.gaps[mech.limits]
        )

    def _weights(self, q: Array) -> Array:
        """How much gravity could push if it pointed any way, and loads: what forces in balance are compared with."""
        mech, rest = self.mech, np.zeros(self.mech.system.nv)
        base = mech.kin.tables.dofs["A0"]
        gravity = base[0, 3:].copy()
        base[0, 3:] = 0.0
        loads = mech.kin.demand(q, rest, rest, self.time)
        size = np.abs(loads)
        for axis in range(3):
            base[0, 3:] = 0.0
            base[0, 3 + axis] = np.linalg.norm(gravity)
            size = size + np.abs(mech.kin.demand(q, rest, rest, self.time) - loads)
        base[0, 3:] = gravity
        return size

    def stiffness(self, q: Array, equal: Array, limits: Array) -> Array:
        """How fast forces fall with displacements, those of loops and limits kept as they are."""
        mech = self.mech
        K = np.zeros((mech.system.nv, mech.system.nv))
        for i, unit in enumerate(mech.strides):
            for k, weight in ((1, -2 / 3), (-1, 2 / 3), (2, 1 / 12), (-2, -1 / 12)):
                delta = np.zeros(mech.system.nv)
                delta[i] = k * _STRIDE * unit
                force = self._all_forces(mech.kin.moved(q, delta), equal, limits)
                K[:, i] += weight / (_STRIDE * unit) * force
        # Turns about the axes of a ball do not commute: differences of forces that have a potential lack symmetry
        # by the force itself, K_xy - K_yx = Q_z.
        force = self._all_forces(q, equal, limits)
        for x in self._balls:
            for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                K[x + i, x + j] -= 0.5 * force[x + k]
                K[x + j, x + i] += 0.5 * force[x + k]
        mech.kin.place(q)
        return K

    def _all_forces(self, q: Array, equal: Array, limits: Array) -> Array:
        """Generalised forces at a pose with those of loops and limits."""
        force, _ = self.push(q)
        if np.any(equal) or np.any(limits):
            self.mech.kin.place(q)
            J, J_limits = self.mech.kin.jacobian(self.equal), self.mech.kin.jacobian(self.mech.limits)
            force = force + J.T @ equal + J_limits.T @ limits
        return force

    def inertia(self, q: Array) -> Array:
        """Joint-space inertia with the rotors of motors."""
        mech, rows = self.mech, self.mech.kin.constraints.rows
        mech.kin.place(q)
        motors = self.acting[rows["inertia"][self.acting] > 0.0]
        J = mech.kin.jacobian(motors)
        H: Array = mech.kin.inertia() + J.T @ (J * rows["inertia"][motors, None])
        mech.kin.place(q)
        return H

    def free(self, look: Look, carrying: Indices) -> Array:
        """Motions that neither the equalities nor the limits that carry load resist."""
        mech = self.mech
        rows = np.concatenate([self.equal, mech.limits[carrying]])
        J = np.concatenate([look.J, look.J_limits[carrying]])
        N: Array = mech.strides[:, None] * null_space(J / mech.sizes[rows, None] * mech.strides)
        return N

    def carry(self, look: Look) -> tuple[Array, Array]:
        """Forces of the equalities and of the limits that touch, these pushing only, that come nearest to balance."""
        mech = self.mech
        touching = np.flatnonzero(look.room / mech.sizes[mech.limits] < NEARLY)
        limits = np.zeros(len(mech.limits))
        if len(touching):
            N = self.free(look, np.zeros(0, np.int64))
            C = (look.J_limits[touching] @ N).T
            limits[touching] = complementary(C.T @ C, C.T @ (N.T @ look.Q))
        rest = look.Q + look.J_limits.T @ limits
        equal = np.zeros(len(self.equal))
        if len(equal):
            equal[:] = -shortest(look.J.T, rest)
        return equal, limits


def complementary(A: Array, b: Array) -> Array:
    """x >= 0 with A x + b >= 0 and one of both zero, A symmetric and not negative: least ½ x A x + b x.

    Active sets after Lawson and Hanson; what cannot be helped (A x = 0) is left as it is.
    """
    x = np.zeros(len(b))
    free = np.zeros(len(b), bool)
    hopeless = np.zeros(len(b), bool)
    slack = 1e-14 * np.abs(b).max(initial=0.0)
    for _ in range(10 * len(b)):
        want = np.where(free | hopeless, -np.inf, -(A @ x + b))
        k = int(np.argmax(want)) if len(b) else 0
        if not len(b) or want[k] <= slack:
            break
        free[k] = True
        while free.any():
            target = np.zeros(len(b))
            target[free] = shortest(A[np.ix_(free, free)], -b[free], EXACT)
            negative = free & (target <= 0.0)
            if not negative.any():
                x = target
                break
            if negative[k] and x[k] == 0.0:
                free[k], hopeless[k] = False, True
                break
            share = np.min(x[negative] / (x[negative] - target[negative]))
            x = x + share * (target - x)
            free &= x > 1e-15 * x.max()
            x[~free] = 0.0
    return x


def symmetric(K: Array) -> bool:
    """Whether a stiffness is that of forces with a potential, as far as differences tell."""
    return bool(np.abs(K - K.T).max(initial=0.0) <= _ASYMMETRIC * np.abs(K).max(initial=0.0))
