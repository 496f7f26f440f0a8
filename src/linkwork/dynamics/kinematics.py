"""Where bodies are and how they move, as functions of coordinates and rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.functions import compute as ask
from ..model.rotation import Array, rotation_vectors
from .arrays import room_for
from .functions import NOTHING, ORIGIN, START, Functions, Pair, Vector3, empty


class Kinematics(Functions):
    """Poses, twists, Jacobians, the centre of mass, momentum and energies; see `Dynamics`."""

    def poses(self, q: Any, *, out: Pair | None = None) -> Pair:
        """Positions of all bodies [m], (..., bodies, 3), and rotation matrices, (..., bodies, 3, 3), in the world.

        `out` is an array for each.
        """
        count = len(self.bodies)
        return self._two(ask.POSES, (count, 3), (count, 3, 3), q, out=out)

    def pose(self, q: Any, body: str, at: Vector3 = ORIGIN, *, out: Pair | None = None) -> Pair:
        """Position of a point of a body or marker [m], (..., 3), and its rotation matrix, (..., 3, 3), in the world.

        `at` is in the frame of the body or marker [m]; `out` is an array for each result.
        """
        axes = self._look_at(body, at).axes
        p, R = self._two(ask.POSE, (3,), (3, 3), q, out=out)
        if axes is not None:
            R[...] = R @ axes
        return p, R

    def twists(self, q: Any, v: Any, *, out: Array | None = None) -> Array:
        """Angular velocity [rad/s] and velocity of the origin [m/s] of all bodies, world axes: (..., bodies, 6)."""
        return self._one(ask.TWISTS, (len(self.bodies), 6), out, q, v)

    def jacobian(self, q: Any, body: str, at: Vector3 = ORIGIN, *, out: Array | None = None) -> Array:
        """How rates make the angular velocity of a body or marker, and the velocity of its point `at`: (..., 6, nv).

        World axes; the angular velocity comes first.
        """
        if body is not self._looked_at or at is not ORIGIN:
            self._look_at(body, at)
        one = self._single
        if out is None and one.ask(
            one.told, ask.JACOBIAN, q, None, None, None, None, START, made := empty(self._wide), NOTHING
        ):
            return made
        return self._one(ask.JACOBIAN, (6, self.nv), out, q)

    def jacobian_drift(
        self, q: Any, v: Any, body: str, at: Vector3 = ORIGIN, *, out: Array | None = None
    ) -> Array:
        """J̇ v of that Jacobian, (..., 6): angular acceleration [rad/s²] and acceleration of the point [m/s²], world
        axes, while no joint accelerates."""
        self._look_at(body, at)
        return self._one(ask.DRIFT, (6,), out, q, v)

    def centre_of_mass(self, q: Any, *, out: Array | None = None) -> Array:
        """Common centre of mass of all bodies [m]: (..., 3)."""
        return self._one(ask.CENTRE, (3,), out, q)

    def centre_of_mass_jacobian(self, q: Any, *, out: Array | None = None) -> Array:
        """How rates move the common centre of mass: (..., 3, nv)."""
        return self._one(ask.CENTRE_JACOBIAN, (3, self.nv), out, q)

    def momentum(self, q: Any, v: Any, *, out: Array | None = None) -> Array:
        """Angular momentum about the world's origin [N m s] and linear momentum [N s]: (..., 6)."""
        return self._one(ask.MOMENTUM, (6,), out, q, v)

    def energies(
        self, q: Any, v: Any, x: Any = None, u: Any = None, t: Any = START, *, out: Array | None = None
    ) -> Array:
        """Kinetic energy, potential of gravity (zero at the world's origin) and of springs [J]: (..., 3)."""
        return self._one(ask.ENERGIES, (3,), out, q, v, None, x, u, t)

    def move(self, q: Any, displacement: Any, *, out: Array | None = None) -> Array:
        """q ⊕ displacement: coordinates after a displacement, numbered like rates [rad, m]; quaternions stay unit."""
        return self._one(ask.MOVED, (self.nq,), out, q, None, displacement, name="displacement")

    def difference(self, start: Any, end: Any, *, out: Array | None = None) -> Array:
        """The displacement that takes one q to another, numbered like rates: the inverse of `move`."""
        a, b = np.broadcast_arrays(self._q(start), self._q(end))
        delta = room_for(out, (*a.shape[:-1], self.nv))
        dofs = self.system.tables.dofs[1:]
        single = dofs["motion"] == 0
        delta[..., dofs["v"][single]] = b[..., dofs["q"][single]] - a[..., dofs["q"][single]]
        for ball in dofs[dofs["motion"] == 1]:
            i, k = int(ball["q"]), int(ball["v"])
            w, n, W, N = a[..., i], a[..., i + 1 : i + 4], b[..., i], b[..., i + 1 : i + 4]
            real = w * W + (n * N).sum(-1)
            axis = w[..., None] * N - W[..., None] * n - np.cross(n, N)
            turn = np.concatenate([real[..., None], axis], -1).reshape(-1, 4)
            delta[..., k : k + 3] = rotation_vectors(turn).reshape(*a.shape[:-1], 3)
        return delta
