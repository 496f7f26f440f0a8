"""Motion in independent coordinates: how fast positions, rates and states of elements change, loops closed.

Independent positions y are some coordinates of the tree, counted from a reference pose, from which all others follow by
the equations that hold a position: loops, couplings, contacts that do not part. Independent rates w are fewer where
velocities are held besides: rolling without slip, velocity servos. With J of all of these, J v = c,

    J a = -J' v,   N^T (H a + bias - forces) = 0,   N = null(J)

and y' = v, w' = a in their places; y of a ball is the rotation vector from the reference, which itself turns on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..compile.compiler import Compiled
from ..compile.rank import null_space, shortest
from ..engine.elements.respond import bounded, flow, respond
from ..engine.tables import BALL
from ..mechanism.closure import difference
from ..mechanism.kinematics import Indices
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array
from .mechanism import Mechanism
from .rolling import Contacts

_CLOSE, _NEWTONS = 1e-14, 30  # gaps in sizes of the mechanism, and steps to close them
_STRIDE = 1e-3  # of differences of contact rows along the motion [rad, or sizes of the mechanism]
_DRIVEN = 4.0  # how much more a coordinate with a drive is wanted as a state
_UNWANTED = 1e-2  # how much less a rate along an axis of the world is wanted as a state


class Motion(NamedTuple):
    """A state of the mechanism, its accelerations, and what constraints exert."""

    q: Array
    v: Array
    a: Array
    flow: Array
    """How fast states of elements change."""
    multipliers: Array
    """Force along each row that holds."""


class Reference(NamedTuple):
    """A state of a model to look about."""

    compiled: Compiled
    q: Array
    v: Array
    time: float = 0.0
    """[s]"""
    commands: Array | None = None
    """What drives are told; None for what the model says."""
    x: Array | None = None
    """States of elements; None for their start."""


class Field:
    """The equations of motion about a state, in independent coordinates."""

    def __init__(self, reference: Reference):
        compiled, q, v, time, commands, x = reference
        self.mech = mech = Mechanism(compiled)
        if commands is not None:
            mech.kin.constraints.inputs[:] = commands
        self.time, self.q0, self.system = time, q.copy(), mech.system
        rows = mech.kin.constraints.rows
        self.acting = mech.acting(without=mech.friction.tolist())
        self.owners: Indices = np.array([r for r in self.acting if rows["state"][r] >= 0], np.int64)
        """Rows of elements with a state, in the order of x."""
        self.x0 = np.array([float(rows["x"][r]) for r in self.owners]) if x is None else x.copy()
        self.commands = np.zeros(len(rows))
        """Added to what the drive of each row is told."""
        self.pushes = np.zeros(len(mech.coordinates))
        """Forces along coordinates [N m or N]."""
        table = compiled.rows.colliders
        self.contacts = Contacts(mech.kin, table, q) if table is not None else None
        self._hold = np.concatenate([mech.hold, mech.servos]).astype(np.int64)
        self._targets = np.array([mech.command(int(r), time) for r in mech.servos])
        mech.kin.place(q)
        self._gap0 = self._gaps(q)[0]
        self.v0 = self._on_constraints(q, v)
        dofs = mech.kin.tables.dofs
        self.reference = reference._replace(v=self.v0, x=self.x0)
        self._balls = [(int(d["v"])) for d in dofs[1:] if d["motion"] == BALL]

    # --- constraints ---

    def _gaps(self, q: Array) -> tuple[Array, Array, Array]:
        """Gaps in sizes of the mechanism, Jacobian of them, and of all rows that hold a velocity."""
        mech = self.mech
        mech.kin.place(q)
        gaps = mech.kin.gaps[mech.hold] / mech.sizes[mech.hold]
        J = mech.kin.jacobian(self._hold) / mech.sizes[self._hold, None]
        held = len(mech.hold)
        if self.contacts is None or not len(self.contacts):
            return gaps, J[:held], J
        apart, K = self.contacts.rows(q)
        K = K[self.contacts.held()] / mech.length
        n = len(self.contacts)
        mech.kin.place(q)
        return np.r_[gaps, apart / mech.length], np.vstack([J[:held], K[:n]]), np.vstack([J, K])

    def _wanted(self, count: int) -> Array:
        """Rates of all rows that hold a velocity, of which there are so many."""
        wanted = np.zeros(count)
        first = len(self.mech.hold)
        servos = self.mech.servos
        wanted[first : first + len(servos)] = self._targets / self.mech.sizes[servos]
        return wanted

    def _on_constraints(self, q: Array, v: Array) -> Array:
        """The rates that the constraints allow nearest to those given."""
        J = self._gaps(q)[2]
        strides = self.mech.strides
        found: Array = v - strides * shortest(J * strides, J @ v - self._wanted(len(J)))
        return found

    def slip(self, v: Array) -> tuple[float, str]:
        """Largest velocity along a rough surface that rates have [m/s], and where."""
        if self.contacts is None or not len(self.contacts):
            return 0.0, ""
        J = self.contacts.rows(self.q0)[1][len(self.contacts) :]
        speeds = np.abs(J @ v).reshape(-1, 2).max(axis=1) * (self.contacts.friction > 0.0)
        k = int(np.argmax(speeds))
        return float(speeds[k]), self.contacts.names[k]

    # --- independent coordinates ---

    def choose(self, wanted: Sequence[str] | None = None) -> None:
        """Choose independent rates, by name or as well conditioned as can be, and positions: theirs and more."""
        _, Jp, Jv = self._gaps(self.q0)
        strides = self.mech.strides
        self._Np = strides[:, None] * null_space(Jp * strides)
        Nv = strides[:, None] * null_space(Jv * strides)
        names = [column.name.removesuffix("_rate") for column in self.system.rates]
        order = [_index(names, name) for name in wanted or []]
        # Rates along axes of the world come last: they are not the same whatever way a vehicle heads.
        likes = np.ones(self.system.nv)
        likes[self._worldly()] = _UNWANTED
        first = self.mech.kin.constraints.rows["first"]
        driven = {self.mech.coordinates[first[r]] for r in self.acting if self._driven(r)}
        likes[[name in driven for name in names]] *= _DRIVEN
        rates = _pick(Nv / strides[:, None], order, likes)
        places = _pick(self._Np / strides[:, None], [*rates, *order], likes)
        self.rates: Indices = np.array(sorted(rates), np.int64)
        self.places: Indices = np.array(sorted(places), np.int64)
        self.rate_names = [names[i] for i in self.rates]
        self.place_names = [names[i] for i in self.places]
        missing = [names[i] for i in order if i not in places]
        if missing:
            raise LinkworkError(f"'{missing[0]}' follows from other chosen states: choose another one")

    def _driven(self, row: int) -> bool:
        return bool(self.mech.kin.constraints.rows["input"][row] >= 0)

    def _worldly(self) -> list[int]:
        """Rates of slides along axes that do not turn."""
        dofs, straight = self.mech.kin.tables.dofs, [True]
        for dof in dofs[1:]:
            slides = self.system.rates[int(dof["v"])].unit == "m/s"
            straight.append(slides and straight[int(dof["parent"])])
        return [int(dof["v"]) for dof, yes in zip(dofs[1:], straight[1:], strict=True) if yes]

    def pose(self, y: Array) -> Array:
        """The pose at which independent positions differ by y from the reference, all loops closed."""
        Np = self._Np
        delta = Np @ np.linalg.solve(Np[self.places], y)
        mech, strides = self.mech, self.mech.strides
        others = np.setdiff1d(np.arange(self.system.nv), self.places)
        before = np.inf
        for _ in range(_NEWTONS):
            q = mech.kin.moved(self.q0, delta)
            gaps, J, _ = self._gaps(q)
            off = gaps - self._gap0
            error = float(np.abs(off).max(initial=0.0))
            if error <= _CLOSE or not len(others) or error >= 0.5 * before < 1e-12:
                break
            before = error
            delta[others] -= strides[others] * shortest(J[:, others] * strides[others], off)
        return q

    def displacements(self) -> Array:
        """Displacements of all rates of the tree, by independent positions."""
        found: Array = self._Np @ np.linalg.inv(self._Np[self.places])
        return found

    def rates_at(self, q: Array, w: Array) -> Array:
        """All rates where the independent ones are w."""
        J = self._gaps(q)[2]
        return self._rates(J, w)

    def _rates(self, J: Array, w: Array) -> Array:
        strides = self.mech.strides
        chosen = np.eye(self.system.nv)[self.rates]
        A = np.vstack([J * strides, chosen * strides / strides[self.rates, None]])
        b = np.r_[self._wanted(len(J)), w / strides[self.rates]]
        v: Array = strides * shortest(A, b)
        return v

    # --- dynamics ---

    def motion(self, q: Array, v: Array, x: Array) -> Motion:
        """Accelerations and flows of a state."""
        mech, kin = self.mech, self.mech.kin
        rows = kin.constraints.rows
        J = self._gaps(q)[2]
        gamma = self._turning(q, v)
        kin.place(q, v)
        bent = kin.bias()
        kin.place(q, v)
        Ja = kin.jacobian(self.acting)
        along = Ja @ v
        force, flows = np.zeros(len(self.acting)), np.zeros(len(self.owners))
        for i, r in enumerate(map(int, self.acting)):
            record = rows[r]
            record["rate"] = along[i]
            mine = np.flatnonzero(self.owners == r)
            if len(mine):
                record["x"] = x[mine[0]]
            command = mech.command(r, self.time) + self.commands[r]
            force[i] = bounded(record, respond(kin.tables, record, command, self.time, False)).force
            if len(mine):
                flows[mine[0]] = flow(record, command).rate
        spin = rows["inertia"][self.acting]
        Q = Ja.T @ (force - spin * bent[self.acting]) + kin.jacobian(mech.pushes).T @ self.pushes
        Q -= kin.demand(q, v, np.zeros(self.system.nv), self.time)
        kin.place(q)
        H = kin.inertia() + Ja.T @ (Ja * spin[:, None])
        strides = mech.strides
        N = strides[:, None] * null_space(J * strides)
        a = -strides * shortest(J * strides, gamma)
        a = a + N @ np.linalg.solve(N.T @ H @ N, N.T @ (Q - H @ a))
        return Motion(q, v, a, flows, shortest(J.T, H @ a - Q))

    def _turning(self, q: Array, v: Array) -> Array:
        """J' v of all rows that hold a velocity: of contacts by differences of fourth order along the motion."""
        kin, mech = self.mech.kin, self.mech
        kin.place(q, v)
        bias = kin.bias()[self._hold] / mech.sizes[self._hold]
        if self.contacts is None or not len(self.contacts):
            return bias
        speed = mech.far(v)
        if speed == 0.0:
            return np.array([*bias, *np.zeros(int(self.contacts.held().sum()))])
        h = _STRIDE / speed
        total = np.zeros(3 * len(self.contacts))
        for k, weight in ((1, 2 / 3), (-1, -2 / 3), (2, -1 / 12), (-2, 1 / 12)):
            total += weight / h * (self.contacts.rows(kin.moved(q, k * h * v))[1] @ v)
        return np.array([*bias, *(total[self.contacts.held()] / mech.length)])

    def drift(self, q: Array, v: Array) -> Array:
        """How fast y changes: rates less those of the reference, which turns with a ball."""
        rates = v - self.v0
        delta = difference(self.system, self.q0, q)
        for k in self._balls:
            rates[k : k + 3] = v[k : k + 3] - _turned(-delta[k : k + 3], self.v0[k : k + 3])
        return np.array(rates[self.places])


def _turned(turn: Array, vector: Array) -> Array:
    """A vector after a rotation, by Rodrigues' formula."""
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return vector.copy()
    n = turn / angle
    across = np.cross(n, vector)
    turned: Array = vector + np.sin(angle) * across + (1.0 - np.cos(angle)) * np.cross(n, across)
    return turned


def _pick(N: Array, first: Sequence[int], likes: Array) -> list[int]:
    """Rows of N, as many as it has columns, that are independent: those of `first` that are, then the largest left,
    some of them less wanted."""
    rest, picked = N.copy(), list[int]()
    for step in range(N.shape[1] + len(first)):
        if len(picked) == N.shape[1]:
            break
        sizes = np.linalg.norm(rest, axis=1)
        if step < len(first):
            k = int(first[step])
            if sizes[k] < 1e-6 * np.linalg.norm(N):
                continue
        else:
            # Of rows that are as good, the first: rounding must not choose.
            wanted = sizes * likes
            k = int(np.argmax(wanted > (1.0 - 1e-6) * wanted.max()))
        picked.append(k)
        axis = rest[k] / sizes[k]
        rest = rest - np.outer(rest @ axis, axis)
    return picked


def _index(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise LinkworkError(f"there is no coordinate '{name}' of the tree to choose{nearest(name, names)}")
    return names.index(name)
