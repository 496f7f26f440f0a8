"""Statics: a pose in which a mechanism rests, what holds it there, and whether it stays.

The search follows the forces downhill: trust-region steps with the Hessian of the potential on the motions that the
loops allow, its downward curvature reversed, so that it ends in a stable pose unless it starts in an unstable one.
Only forces are evaluated, never a potential: loads that have none (following forces, user functions) act too, and
the work of a step is the mean force at its ends times its length.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import LinkworkError, nearest
from ..model import Model
from ..rotation import Array
from ..tables import BALL, DC_MOTOR, SERVO_PLACE
from .mechanism import RANK, Indices, Lost, Mechanism, as_coordinates, null_space, velocity_servos

if TYPE_CHECKING:
    from ..simulate import Simulation

Stability = Literal["stable", "indifferent", "unstable"]

# Differences of order 4 with this stride [rad, or shares of the mechanism's size]: exact to some 1e-13.
_STRIDE = 1e-3
# The first trust region, and how far anything may go before it counts as running away, in the same units.
_RADIUS, _AWAY = 0.3, 1e6
# What goes on for so long, and further than this since half-way, does not come to rest either.
_ITERATIONS, _FAR = 400, 10.0
# Forces left over, as shares of those in play: balanced; good enough if rounding allows no better.
_BALANCED, _NEARLY = 1e-13, 1e-9
# What is this near to an equilibrium is there: forces of stiff springs are rounded, and balance no better.
_SETTLED = 1e-14
# A step this short needs no proof that it was downhill: rounding would spoil it.
_SHORT = 1e-7
# Stiffness that counts as none, as shares of what the forces in play and the stiffest motion would have.
_NO_STIFFNESS, _ROUNDING = 1e-9, 1e-12
_ASYMMETRIC = 1e-6
# Below this length Newton's own step is taken for forces without potential.
_STRAIGHT, _STEPS = 0.1, 50
_NUDGE, _NUDGES = 1e-2, 10


@dataclass(frozen=True)
class Mode:
    """A way in which the mechanism can leave its equilibrium; dampers and friction left out."""

    stability: Stability
    coordinate: str
    """What moves most in it."""
    frequency: float
    """At which it swings about the equilibrium [Hz]."""
    growth: float
    """At which it departs, as exp(growth t) [1/s]."""
    shape: Array
    """Displacements, numbered like the rates of the system; the largest is one radian, or the mechanism's size."""


@dataclass(frozen=True)
class Holder:
    """Something that pushes or carries."""

    name: str
    kind: Literal["spring", "drive", "limit", "held"]
    force: float
    """Along what it measures; of a limit, away from it [unit]."""
    unit: str


@dataclass
class Equilibrium:
    """A pose in which nothing accelerates."""

    model: str
    q: Array
    """Coordinates of the tree, as `Simulation.q` has them."""
    values: dict[str, float]
    """All joint coordinates by name; of a ball, the components of its rotation vector [rad or m]."""
    stability: Stability
    modes: list[Mode]
    """From the least stable on; empty if nothing can move."""
    holders: list[Holder]
    """Springs, drives, limits that carry load and coordinates that were held, with their forces."""
    residual: float
    """Largest generalised force that nothing balances [N m or N]."""
    iterations: int
    notes: list[str]
    _posed: Model

    @property
    def limits(self) -> dict[str, float]:
        """Reaction of every limit that carries load [N m or N]."""
        return {holder.name: holder.force for holder in self.holders if holder.kind == "limit"}

    def posed(self) -> Model:
        """The model with this pose as its start, at rest. Items inside components keep their dotted names."""
        return self._posed

    def start(self, simulation: Simulation) -> None:
        """Put a simulation of the same model into this pose, at rest."""
        if len(simulation.q) != len(self.q):
            raise LinkworkError(
                f"method '{simulation.method.name}' has coordinates of its own: simulate `posed()` instead"
            )
        simulation.q[:] = self.q
        simulation.v[:] = 0.0

    def lines(self) -> list[str]:
        """The result in words: verdict, pose, what holds it, how it can move."""
        text = [f"{self.model}: {self.stability}, residual {self.residual:.2g}, {self.iterations} iterations"]
        text += [f"  {name} = {value:.6g}" for name, value in self.values.items()]
        verbs = {"spring": "pulls with", "drive": "gives", "limit": "carries", "held": "takes"}
        text += [
            f"  {one.kind} '{one.name}' {verbs[one.kind]} {one.force:.6g} {one.unit}" for one in self.holders
        ]
        for mode in self.modes:
            swing = f", swings at {mode.frequency:.4g} Hz" if mode.frequency else ""
            leave = f", departs as exp({mode.growth:.4g} t/s)" if mode.growth else ""
            text.append(f"  {mode.stability} in '{mode.coordinate}'{swing}{leave}")
        if not self.modes:
            text.append("  nothing can move")
        return text + [f"  note: {note}" for note in self.notes]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "model": self.model,
            "coordinates": dict(self.values),
            "stability": self.stability,
            "modes": [
                {
                    "stability": mode.stability,
                    "coordinate": mode.coordinate,
                    "frequency_Hz": mode.frequency,
                    "growth_per_s": mode.growth,
                }
                for mode in self.modes
            ],
            "holders": [dataclasses.asdict(holder) for holder in self.holders],
            "residual": self.residual,
            "iterations": self.iterations,
            "notes": list(self.notes),
        }


def equilibrium(
    model: Model, *, hold: Mapping[str, float] | None = None, time: float = 0.0, stable: bool = False
) -> Equilibrium:
    """A pose near the written one in which the mechanism rests.

    Gravity, springs, constant forces and your functions act, signals as they are at `time` [s]; position servos pull
    like springs, DC motors with their stall torque, velocity servos told to stand still lock their coordinate; limits
    carry load. Dry friction is left out. `hold` gives drives other commands, or holds coordinates such as
    `crank.angle` at a value [rad or m], beside their drives. An unstable pose is returned only if the search starts
    there, or if forces have no potential to go down; with `stable`, it is then left for a stable one.
    """
    search = _Search(model, dict(hold or {}), time)
    q = search.start()
    for _ in range(_NUDGES):
        q = search.find(q)
        found = search.result(q)
        if not stable or found.stability != "unstable":
            return found
        q = search.nudged(q, found.modes[0].shape)
    raise LinkworkError(
        f"every equilibrium found near the written pose is unstable, the last in '{found.modes[0].coordinate}'"
    )


@dataclass
class _Look:
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


class _Search:
    """A mechanism that looks for rest."""

    def __init__(self, model: Model, hold: dict[str, float], time: float):
        self.model, self.time = model, time
        self.mech = mech = Mechanism(model)
        self.notes: list[str] = list(mech.system.notes)
        self.told: dict[int, float] = {}
        self.held: dict[int, float] = {}
        self._read(hold)
        self.locks = self._locks()
        frictions = [mech.kin.names[i].partition(":")[0] for i in mech.friction]
        if frictions:
            self.notes.append(
                f"dry friction is left out ({', '.join(frictions)}): the mechanism may rest at other poses too"
            )
        self.acting = mech.acting(without=mech.friction.tolist())
        self.equal = mech.hold
        self.goal = np.zeros(len(mech.hold))
        self.iterations = 0
        self.symmetric = True
        dofs = mech.kin.tables.dofs
        self._balls = [int(v) for v in dofs["v"][dofs["motion"] == BALL]]

    def _read(self, hold: dict[str, float]) -> None:
        """Drives get commands, coordinates places."""
        assert self.mech.system.rows is not None
        drives = self.mech.system.rows.drives
        for name, value in hold.items():
            if not isinstance(value, int | float | np.number) or not np.isfinite(value):
                raise LinkworkError(f"hold of '{name}' must be a finite number, not {value!r}")
            if name in drives:
                self.told[drives.index(name)] = float(value)
            elif name in self.mech.coordinates:
                self.held[self.mech.index(name)] = float(value)
            else:
                known = [*drives, *self.mech.coordinates]
                raise LinkworkError(f"there is no drive or coordinate '{name}' to hold{nearest(name, known)}")

    def _command(self, row: int) -> float:
        slot = int(self.mech.kin.constraints.rows["input"][row])
        return self.told[slot] if slot in self.told else self.mech.command(row, self.time)

    def _locks(self) -> dict[int, int]:
        """Coordinates that velocity servos keep from moving, and their rows."""
        locks: dict[int, int] = {}
        for row in velocity_servos(self.mech):
            c, rate = int(self.mech.kin.constraints.rows["first"][row]), self._command(row)
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

    def nudged(self, q: Array, shape: Array) -> Array:
        """A little off a pose, loops closed."""
        return self.mech.close(self.mech.kin.moved(q, _NUDGE * shape), self.equal, self.goal)[0]

    # --- forces ---

    def _push(self, q: Array) -> tuple[Array, Array]:
        """Generalised forces of springs, drives, gravity and loads at a pose, and the parts of rows added up."""
        mech = self.mech
        mech.kin.place(q)
        rest = np.zeros(mech.system.nv)
        force = np.array([mech.law(row, 0.0, 0.0, self._command(row)) for row in map(int, self.acting)])
        parts = mech.jacobian(self.acting) * force[:, None] if len(force) else np.zeros((0, len(rest)))
        return parts.sum(axis=0) - mech.kin.demand(q, rest, rest, self.time), np.abs(parts).sum(axis=0)

    def look(self, q: Array) -> _Look:
        mech = self.mech
        Q, size = self._push(q)
        size = size + self._weights(q)
        mech.kin.place(q)
        return _Look(
            Q, size, mech.jacobian(self.equal), mech.jacobian(mech.limits), mech.kin.gaps[mech.limits]
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

    def _hessian(self, q: Array, equal: Array, limits: Array) -> Array:
        """Stiffness: how fast forces fall with displacements, those of loops and limits kept as they are."""
        mech = self.mech
        K = np.zeros((mech.system.nv, mech.system.nv))
        for i, unit in enumerate(mech.rate_scale):
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
        force, _ = self._push(q)
        if np.any(equal) or np.any(limits):
            self.mech.kin.place(q)
            J, J_limits = self.mech.jacobian(self.equal), self.mech.jacobian(self.mech.limits)
            force = force + J.T @ equal + J_limits.T @ limits
        return force

    def _inertia(self, q: Array) -> Array:
        """Joint-space inertia with the rotors of motors."""
        mech, rows = self.mech, self.mech.kin.constraints.rows
        mech.kin.place(q)
        motors = self.acting[rows["role"][self.acting] == DC_MOTOR]
        J, value = mech.jacobian(motors), rows["value"][motors]
        H: Array = mech.kin.inertia() + J.T @ (J * (value[:, 2] * value[:, 3] ** 2)[:, None])
        mech.kin.place(q)
        return H

    def _free(self, look: _Look, carrying: Indices) -> Array:
        """Motions that neither the equalities nor the limits that carry load resist."""
        mech = self.mech
        rows = np.concatenate([self.equal, mech.limits[carrying]])
        J = np.concatenate([look.J, look.J_limits[carrying]])
        N: Array = mech.rate_scale[:, None] * null_space(mech.row_scale[rows, None] * J * mech.rate_scale)
        return N

    def _carry(self, look: _Look) -> tuple[Array, Array]:
        """Forces of the equalities and of the limits that touch, these pushing only, that come nearest to balance."""
        mech = self.mech
        touching = np.flatnonzero(mech.row_scale[mech.limits] * look.room < _NEARLY)
        limits = np.zeros(len(mech.limits))
        if len(touching):
            N = self._free(look, np.zeros(0, np.int64))
            C = (look.J_limits[touching] @ N).T
            limits[touching] = complementary(C.T @ C, C.T @ (N.T @ look.Q))
        rest = look.Q + look.J_limits.T @ limits
        equal = np.zeros(len(self.equal))
        if len(equal):
            equal[:] = -np.linalg.lstsq(look.J.T, rest, rcond=RANK)[0]
        return equal, limits

    # --- search ---

    def find(self, q: Array) -> Array:
        """A pose where forces balance: downhill, or else, if they have no potential, straight there."""
        self.mech.kin.place(q)
        read = self.mech.values()
        try:
            return self._descend(q)
        except LinkworkError:
            self.mech.back(q, read)
            found = None if self.symmetric else self._straight(q)
            if found is None:
                raise
            return found

    def _straight(self, q: Array) -> Array | None:
        """Newton's method on the forces themselves, each step made to lessen the accelerations."""
        mech = self.mech
        for _ in range(_STEPS):
            self.iterations += 1
            look = self.look(q)
            equal, limits = self._carry(look)
            carrying = np.flatnonzero(limits > 0.0)
            N = self._free(look, carrying)
            y = self._local(q, look, equal, limits, N)[0].newton()
            if y is None:
                return None
            length, before = self._length(N @ y), self._unrest(q, look, N)
            if length < _SETTLED or _share(N, look) < _BALANCED:
                return q
            part, read = min(1.0, _RADIUS / length), mech.values()
            while part > _SHORT:
                mech.back(q, read)
                found, _, gaps = mech.close(mech.kin.moved(q, part * N @ y), self.equal, self.goal)
                ahead = self.look(found)
                closed = np.abs(gaps).max(initial=0.0) < _NEARLY
                if length < _SHORT or (
                    closed and self._unrest(found, ahead, self._free(ahead, carrying)) < before
                ):
                    break
                part *= 0.5
            else:
                return None
            q = found
        return None

    def _unrest(self, q: Array, look: _Look, N: Array) -> float:
        """Accelerations that the forces would cause, weighed with the inertia."""
        force = N.T @ look.Q
        return float(np.sqrt(force @ np.linalg.solve(N.T @ self._inertia(q) @ N, force)))

    def _descend(self, q: Array) -> Array:
        """Follow the forces downhill."""
        mech, radius, patience, inside = self.mech, _RADIUS, 5, True
        travel, late = np.zeros(mech.system.nv), np.zeros(mech.system.nv)
        for iteration in range(_ITERATIONS):
            self.iterations += 1
            look = self.look(q)
            equal, limits = self._carry(look)
            N = self._free(look, np.flatnonzero(limits > 0.0))
            share = _share(N, look)
            inside = bool(np.all(mech.row_scale[mech.limits] * look.room > -_NEARLY))
            if inside and (share < _BALANCED or N.shape[1] == 0):
                return q
            if inside and share < _NEARLY:
                patience -= 1
                if not patience:
                    return q
            moved, radius = self._step(q, look, equal, limits, N, radius)
            if moved is None:
                if inside and share < _NEARLY:
                    return q
                raise self._stuck(look, N)
            q, delta = moved
            if not np.any(delta):
                if inside:
                    return q
                raise self._stuck(look, N)
            travel += delta
            late = late + delta if iteration > _ITERATIONS // 2 else late
            if np.abs(travel / mech.rate_scale).max() > _AWAY:
                raise self._runaway(travel)
        raise self._runaway(late) if inside and self._length(late) > _FAR else self._stuck(look, N)

    def _stuck(self, look: _Look, N: Array) -> LinkworkError:
        scaled = self.mech.row_scale[self.mech.limits] * look.room
        if np.any(scaled < -_NEARLY):
            row = int(self.mech.limits[np.argmin(scaled)])
            return LinkworkError(f"no pose within reach keeps '{self.mech.kin.names[row]}'")
        name = self.mech.busiest(N @ (N.T @ look.Q))
        return LinkworkError(f"the search for an equilibrium does not settle: '{name}' is still pushed")

    def _runaway(self, travel: Array) -> LinkworkError:
        name = self.mech.busiest(travel)
        rates = [column.name.removesuffix("_rate") for column in self.mech.system.rates]
        verb = "slides" if self.mech.system.rates[rates.index(name)].unit == "m/s" else "turns"
        friction = "; dry friction, which may, is left out here" if len(self.mech.friction) else ""
        return LinkworkError(
            f"no equilibrium within reach: '{name}' {verb} on and on, and nothing holds it{friction}; "
            f"give it a spring, a limit or a drive, or hold it"
        )

    def _step(
        self, q: Array, look: _Look, equal: Array, limits: Array, N: Array, radius: float
    ) -> tuple[tuple[Array, Array] | None, float]:
        """One step downhill within the trust region, and the next region."""
        mech = self.mech
        local, straight = self._local(q, look, equal, limits, N)
        back = self._back_to_limits(look, limits)
        if self._length(N @ local.step(_RADIUS, lambda y: self._length(N @ y)) + back) < _SETTLED:
            return (q, np.zeros(mech.system.nv)), radius
        read = mech.values()
        for _ in range(40):
            mech.back(q, read)
            y = local.step(radius, lambda y: self._length(N @ y))
            if straight is not None and self._length(N @ straight) < min(radius, _STRAIGHT):
                y = straight
            delta = N @ y + back
            length = self._length(delta)
            found, more, gaps = mech.close(mech.kin.moved(q, delta), self.equal, self.goal)
            if np.abs(gaps).max(initial=0.0) > _NEARLY or self._length(more) > 0.5 * length + _SHORT:
                radius = 0.25 * length
                continue
            delta = delta + more
            expected = local.work(y)
            work = 0.5 * float((look.Q + self._push(found)[0]) @ delta)
            pushed_back = np.any(mech.row_scale[mech.limits] * look.room < -_NEARLY)
            if length < _SHORT or pushed_back:
                return (found, delta), radius
            ratio = work / expected if expected > 0.0 else 1.0
            if ratio < 0.1:
                radius = 0.25 * length
                continue
            # Turning by more than a radian at once is safe only where forces are as straight as expected.
            if abs(ratio - 1.0) < (0.25 if 2.0 * length < 1.0 else 0.01):
                radius = max(radius, 2.0 * length)
            elif radius > 1.0:
                radius = 1.0
            return (found, delta), radius
        return None, radius

    def _local(
        self, q: Array, look: _Look, equal: Array, limits: Array, N: Array
    ) -> tuple[_Local, Array | None]:
        """Forces and stiffness about a pose, and Newton's step if they have no potential."""
        mech = self.mech
        K = N.T @ self._hessian(q, equal, limits) @ N
        C = mech.row_scale[mech.limits, None] * (look.J_limits @ N)
        # Limits that carry load are kept by N, and no motion changes those that hang on them.
        near = (limits == 0.0) & (np.abs(C / self._unit_lengths(N)).max(axis=1, initial=0.0) > RANK)
        room = (mech.row_scale[mech.limits] * look.room)[near]
        local = _Local(K, N.T @ self._inertia(q) @ N, N.T @ look.Q, C[near], room)
        symmetric = _symmetric(K)
        self.symmetric &= symmetric
        return local, None if symmetric else local.newton()

    def _unit_lengths(self, N: Array) -> Array:
        lengths: Array = np.abs(N / self.mech.rate_scale[:, None]).max(axis=0)
        return lengths

    def _length(self, delta: Array) -> float:
        return float(np.abs(delta / self.mech.rate_scale).max(initial=0.0))

    def _back_to_limits(self, look: _Look, limits: Array) -> Array:
        """The short way back to the limits that carry load, which the search may have passed a little."""
        mech, carrying = self.mech, np.flatnonzero(limits > 0.0)
        if not len(carrying):
            return np.zeros(mech.system.nv)
        rows = np.concatenate([self.equal, mech.limits[carrying]])
        J = np.concatenate([look.J, look.J_limits[carrying]])
        scale = mech.row_scale[rows]
        gap = np.concatenate([np.zeros(len(self.equal)), look.room[carrying]])
        step = np.linalg.lstsq(scale[:, None] * J * mech.rate_scale, -scale * gap, rcond=RANK)[0]
        back: Array = mech.rate_scale * step
        return back

    # --- result ---

    def result(self, q: Array) -> Equilibrium:
        """Everything about the pose that was found."""
        mech, look = self.mech, self.look(q)
        equal, limits = self._carry(look)
        left = look.Q + look.J.T @ equal + look.J_limits.T @ limits
        modes = self._modes(q, look, equal, limits)
        values = dict(zip(mech.coordinates, map(float, mech.values()), strict=True))
        stability: Stability = modes[0].stability if modes else "stable"
        notes = list(self.notes)
        holders = self._holders(equal, limits, notes)
        return Equilibrium(
            self.model.name, q, values, stability, modes, holders, float(np.abs(left).max(initial=0.0)),
            self.iterations, notes, self._posed(q),
        )  # fmt: skip

    def _modes(self, q: Array, look: _Look, equal: Array, limits: Array) -> list[Mode]:
        mech = self.mech
        # A limit that barely touches carries nothing.
        carrying = np.flatnonzero(
            limits * np.abs(look.J_limits).max(axis=1, initial=0.0) > _NEARLY * look.size.max(initial=0.0)
        )
        N = self._free(look, carrying)
        if not N.shape[1]:
            return []
        H = self._inertia(q)
        kappa, shapes = _modal(N.T @ self._hessian(q, equal, limits) @ N, N.T @ H @ N)
        modes = []
        for k in np.argsort(kappa.real):
            shape = N @ shapes[:, k]
            shape /= self._length(shape)
            # Energy of the mode against the work that the forces in play could do on it.
            weight = float(shape @ H @ shape)
            none = _NO_STIFFNESS * float(np.abs(shape) @ look.size) / weight
            none += _ROUNDING * float(np.abs(kappa).max())
            rate = np.sqrt(complex(-kappa[k]))  # exp(rate t)
            stability: Stability = "stable"
            if abs(kappa[k]) <= none:
                stability, rate = "indifferent", 0j
            elif kappa[k].real < 0.0 or abs(kappa[k].imag) > none:
                stability = "unstable"
            modes.append(
                Mode(
                    stability,
                    mech.busiest(shape),
                    float(abs(rate.imag) / math.tau),
                    float(abs(rate.real)),
                    shape,
                )
            )
        ranks = ("unstable", "indifferent", "stable")
        return sorted(modes, key=lambda mode: ranks.index(mode.stability))

    def _holders(self, equal: Array, limits: Array, notes: list[str]) -> list[Holder]:
        mech, rows = self.mech, self.mech.kin.constraints.rows
        holders = []
        for row in map(int, self.acting):
            drive = rows["input"][row] >= 0
            force = mech.law(row, 0.0, 0.0, self._command(row))
            if drive or force != 0.0:
                name = mech.drive_name(row) if drive else mech.kin.names[row].partition(":")[0]
                holders.append(Holder(name, "drive" if drive else "spring", force, self._unit(row)))
            if rows["role"][row] == SERVO_PLACE and abs(force) >= rows["value"][row][0]:
                notes.append(f"position servo '{mech.drive_name(row)}' pulls with all its strength")
        for row, force in zip(map(int, mech.limits), map(float, limits), strict=True):
            if force > 0.0:
                holders.append(Holder(mech.kin.names[row], "limit", force, self._unit(row)))
        for k, c in enumerate(self.held):
            force = float(equal[len(mech.hold) + k])
            name = mech.coordinates[c]
            if c in self.locks:
                row = self.locks[c]
                name, strength = mech.drive_name(row), float(rows["value"][row][0])
                if abs(force) > strength:
                    notes.append(
                        f"velocity servo '{name}' would slip: it holds {abs(force):.4g} and has {strength:.4g}"
                    )
            holders.append(Holder(name, "held", force, mech.force_unit(c)))
        return holders

    def _unit(self, row: int) -> str:
        return "N" if self.mech.row_unit(row) == "m" else "N m"

    def _posed(self, q: Array) -> Model:
        """The model with positions set: q for joints of the tree, what is read for those that close loops."""
        flat = self.model.flatten()
        posed = Model(self.model.name, gravity=self.model.gravity)
        for thing in flat.items():
            getattr(posed, thing.shelf)[thing.name] = thing
        values = self.mech.values()
        k = 0
        for joint in self.mech.joints:
            read = values[k : k + len(joint.rates)]
            k += len(joint.rates)
            if not joint.rates:
                continue
            placed = self.mech.system.joints[joint.name]
            position = q[placed.q] if placed.in_tree else as_coordinates(joint, read[None])[0]
            posed.joints[joint.name] = dataclasses.replace(
                joint, position=tuple(map(float, position)), velocity=None
            )
        return posed


class _Local:
    """Forces, stiffness and limits near a pose, on its free motions y; seen in modes z, where inertia is 1."""

    def __init__(self, K: Array, M: Array, force: Array, limits: Array, room: Array):
        inverse = np.linalg.inv(np.linalg.cholesky(M))
        self.kappa, V = np.linalg.eigh(inverse @ (0.5 * (K + K.T)) @ inverse.T)
        self.T = inverse.T @ V
        self.K, self.raw = K, force
        self.force, self.limits, self.room = self.T.T @ force, limits @ self.T, room

    def step(self, radius: float, length: Callable[[Array], float]) -> Array:
        """Newton's step away from saddles (curvatures counted upward), kept short and within the limits.

        Room that is negative, since a limit is passed, is asked back no faster than the trust region allows.
        """
        upward = np.abs(self.kappa)
        pull = length(self.T @ self.force) / radius
        upward = np.maximum(upward, 1e-13 * upward.max(initial=0.0) + 1e-14 * pull)
        room = np.maximum(self.room, -0.5 * radius)
        damping = 0.0
        for _ in range(100):
            stiffness = upward + damping
            z = np.divide(self.force, stiffness, out=np.zeros_like(self.force), where=stiffness > 0.0)
            if len(room):
                yielding = self.limits / stiffness
                z = z + yielding.T @ complementary(yielding @ self.limits.T, room + self.limits @ z)
            y: Array = self.T @ z
            if length(y) <= radius:
                break
            damping = max(2.0 * damping, 0.05 * pull)
        return y * min(1.0, radius / max(length(y), 1e-300))

    def newton(self) -> Array | None:
        """Newton's step with the stiffness as it is, whatever its sign and symmetry; None if a limit is in the way."""
        y = np.array(np.linalg.lstsq(self.K, self.raw, rcond=None)[0], float)
        blocked = np.any(self.room + self.limits @ np.linalg.solve(self.T, y) < 0.0)
        return None if blocked else y

    def work(self, y: Array) -> float:
        """That the forces are expected to do on a step [J]."""
        return float(self.raw @ y - 0.5 * y @ self.K @ y)


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
            target[free] = np.linalg.lstsq(A[np.ix_(free, free)], -b[free], rcond=1e-12)[0]
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


def _symmetric(K: Array) -> bool:
    return bool(np.abs(K - K.T).max(initial=0.0) <= _ASYMMETRIC * np.abs(K).max(initial=0.0))


def _modal(K: Array, M: Array) -> tuple[npt.NDArray[np.complexfloating[Any, Any]], Array]:
    """Stiffness over inertia of every mode [1/s²], and shapes as columns; of modes that flutter, their real part."""
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    W = inverse @ K @ inverse.T
    if _symmetric(K):
        kappa, V = np.linalg.eigh(0.5 * (W + W.T))
        return kappa.astype(complex), inverse.T @ V
    kappa, V = np.linalg.eig(W)
    return kappa.astype(complex), inverse.T @ np.real(V)


def _share(N: Array, look: _Look) -> float:
    """Largest force that nothing balances, as a share of those in play."""
    left, size = np.abs(N.T @ look.Q), np.abs(N).T @ look.size
    return float(np.max(np.divide(left, size, out=np.zeros_like(left), where=size > 0.0), initial=0.0))
