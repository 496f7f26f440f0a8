"""The search for a pose in which a mechanism rests: downhill, or straight there.

It follows the forces downhill: trust-region steps with the Hessian of the potential on the motions that the loops
allow, its downward curvature reversed, so that it ends in a stable pose unless it starts in an unstable one. Only
forces are evaluated, never a potential: loads that have none (following forces, user functions) act too, and the work
of a step is the mean force at its ends times its length.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compile.rank import ROOM, shortest
from ..model.errors import LinkworkError
from ..model.rotation import Array
from .forces import NEARLY, Forces, Look, complementary, symmetric

# The first trust region, and how far anything may go before it counts as running away [rad, or shares of its size].
_RADIUS, _AWAY = 0.3, 1e6
# What goes on for so long, and further than this since half-way, does not come to rest either.
_ITERATIONS, _FAR = 400, 10.0
# Forces left over that are balanced, as a share of those in play.
_BALANCED = 1e-13
# What is this near to an equilibrium is there: forces of stiff springs are rounded, and balance no better.
_SETTLED = 1e-14
# A step this short needs no proof that it was downhill: rounding would spoil it.
_SHORT = 1e-7
# Below this length Newton's own step is taken for forces without potential.
_STRAIGHT, _STEPS = 0.1, 50


class Descent:
    """A mechanism that looks for rest."""

    def __init__(self, forces: Forces):
        self.forces, self.mech = forces, forces.mech
        self.iterations = 0
        self.symmetric = True
        """Whether all forces that were met have a potential."""

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
        forces, mech = self.forces, self.mech
        for _ in range(_STEPS):
            self.iterations += 1
            look = forces.look(q)
            equal, limits = forces.carry(look)
            carrying = np.flatnonzero(limits > 0.0)
            N = forces.free(look, carrying)
            y = self._local(q, look, equal, limits, N)[0].newton()
            if y is None:
                return None
            length, before = mech.far(N @ y), self._unrest(q, look, N)
            if length < _SETTLED or _share(N, look) < _BALANCED:
                return q
            part, read = min(1.0, _RADIUS / length), mech.values()
            while part > _SHORT:
                mech.back(q, read)
                found, _, gaps = forces.moved(q, part * N @ y)
                ahead = forces.look(found)
                closed = np.abs(gaps).max(initial=0.0) < NEARLY
                if length < _SHORT or (
                    closed and self._unrest(found, ahead, forces.free(ahead, carrying)) < before
                ):
                    break
                part *= 0.5
            else:
                return None
            q = found
        return None

    def _unrest(self, q: Array, look: Look, N: Array) -> float:
        """Accelerations that the forces would cause, weighed with the inertia."""
        force = N.T @ look.Q
        return float(np.sqrt(force @ np.linalg.solve(N.T @ self.forces.inertia(q) @ N, force)))

    def _descend(self, q: Array) -> Array:
        """Follow the forces downhill."""
        mech, radius, patience, inside = self.mech, _RADIUS, 5, True
        travel, late = np.zeros(mech.system.nv), np.zeros(mech.system.nv)
        for iteration in range(_ITERATIONS):
            self.iterations += 1
            look = self.forces.look(q)
            equal, limits = self.forces.carry(look)
            N = self.forces.free(look, np.flatnonzero(limits > 0.0))
            share = _share(N, look)
            inside = bool(np.all(look.room / mech.sizes[mech.limits] > -NEARLY))
            if inside and (share < _BALANCED or N.shape[1] == 0):
                return q
            if inside and share < NEARLY:
                patience -= 1
                if not patience:
                    return q
            moved, radius = self._step(q, look, equal, limits, N, radius)
            if moved is None:
                if inside and share < NEARLY:
                    return q
                raise self._stuck(look, N)
            q, delta = moved
            if not np.any(delta):
                if inside:
                    return q
                raise self._stuck(look, N)
            travel += delta
            late = late + delta if iteration > _ITERATIONS // 2 else late
            if mech.far(travel) > _AWAY:
                raise self._runaway(travel)
        raise self._runaway(late) if inside and self.mech.far(late) > _FAR else self._stuck(look, N)

    def _stuck(self, look: Look, N: Array) -> LinkworkError:
        scaled = look.room / self.mech.sizes[self.mech.limits]
        if np.any(scaled < -NEARLY):
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
        self, q: Array, look: Look, equal: Array, limits: Array, N: Array, radius: float
    ) -> tuple[tuple[Array, Array] | None, float]:
        """One step downhill within the trust region, and the next region."""
        forces, mech = self.forces, self.mech
        local, straight = self._local(q, look, equal, limits, N)
        back = self._back_to_limits(look, limits)
        if mech.far(N @ local.step(_RADIUS, lambda y: mech.far(N @ y)) + back) < _SETTLED:
            return (q, np.zeros(mech.system.nv)), radius
        read = mech.values()
        for _ in range(40):
            mech.back(q, read)
            y = local.step(radius, lambda y: mech.far(N @ y))
            if straight is not None and mech.far(N @ straight) < min(radius, _STRAIGHT):
                y = straight
            delta = N @ y + back
            length = mech.far(delta)
            found, more, gaps = forces.moved(q, delta)
            if np.abs(gaps).max(initial=0.0) > NEARLY or mech.far(more) > 0.5 * length + _SHORT:
                radius = 0.25 * length
                continue
            delta = delta + more
            expected = local.work(y)
            work = 0.5 * float((look.Q + forces.push(found)[0]) @ delta)
            pushed_back = np.any(look.room / mech.sizes[mech.limits] < -NEARLY)
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
        self, q: Array, look: Look, equal: Array, limits: Array, N: Array
    ) -> tuple[_Local, Array | None]:
        """Forces and stiffness about a pose, and Newton's step if they have no potential."""
        mech = self.mech
        K = N.T @ self.forces.stiffness(q, equal, limits) @ N
        C = look.J_limits @ N / mech.sizes[mech.limits, None]
        # Limits that carry load are kept by N, and no motion changes those that hang on them.
        near = (limits == 0.0) & (np.abs(C / self._unit_lengths(N)).max(axis=1, initial=0.0) > ROOM)
        room = (look.room / mech.sizes[mech.limits])[near]
        local = _Local(K, N.T @ self.forces.inertia(q) @ N, N.T @ look.Q, C[near], room)
        has_potential = symmetric(K)
        self.symmetric &= has_potential
        return local, None if has_potential else local.newton()

    def _unit_lengths(self, N: Array) -> Array:
        lengths: Array = np.abs(N / self.mech.strides[:, None]).max(axis=0)
        return lengths

    def _back_to_limits(self, look: Look, limits: Array) -> Array:
        """The short way back to the limits that carry load, which the search may have passed a little."""
        mech, carrying = self.mech, np.flatnonzero(limits > 0.0)
        if not len(carrying):
            return np.zeros(mech.system.nv)
        rows = np.concatenate([self.forces.equal, mech.limits[carrying]])
        J = np.concatenate([look.J, look.J_limits[carrying]])
        sizes = mech.sizes[rows]
        gap = np.concatenate([np.zeros(len(self.forces.equal)), look.room[carrying]])
        back: Array = mech.strides * shortest(J / sizes[:, None] * mech.strides, -gap / sizes)
        return back


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


def _share(N: Array, look: Look) -> float:
    """Largest force that nothing balances, as a share of those in play; where only rounding of others is, none is."""
    left, size = np.abs(N.T @ look.Q), np.abs(N).T @ look.size
    rounding = np.finfo(float).eps * size.max(initial=0.0)
    return float(np.max(np.divide(left, size, out=np.zeros_like(left), where=size > rounding), initial=0.0))
