"""How fast the matter of each body of a simulation moves, and how far it went: one number a body, turns included."""

from __future__ import annotations

import numpy as np

from ..compile.compiler import Compiled
from ..model.rotation import Array
from ..results.quantity import BodyMotion, Sampled
from ..run.simulate import Simulation
from ..stage.bounds import extent
from ..stage.geometry import turns


class Matter:
    """The bodies of a simulation as clouds of mass; of bodies without mass, their origins count."""

    def __init__(self, simulation: Simulation, compiled: Compiled):
        self._simulation, self._scenery = simulation, list(compiled.flat.scenery.values())
        parts = [compiled.flat.bodies[name].mass_properties for name in simulation.system.bodies]
        masses = np.array([part.mass for part in parts])
        spread = np.array([part.inertia for part in parts]).reshape(-1, 3, 3)
        self._com = np.array([part.com for part in parts]).reshape(-1, 3)
        self._gyration = spread / np.where(masses > 0.0, masses, np.inf)[:, None, None]  # [m²]
        self._second = (
            0.5 * np.trace(self._gyration, axis1=1, axis2=2)[:, None, None] * np.eye(3) - self._gyration
        )

    def _motion(self) -> BodyMotion:
        return Sampled(self._simulation.method.observer, self._simulation.method.now()).bodies

    def speeds(self) -> Array:
        """Root mean square of the velocities of all that a body consists of [m/s]."""
        motion = self._motion()
        w, R = motion.angular_velocities.reshape(-1, 3), turns(motion.rotations.reshape(-1, 4))
        v = motion.velocities.reshape(-1, 3) + np.cross(w, np.einsum("bij,bj->bi", R, self._com))
        inside = np.einsum("bji,bj->bi", R, w)
        squares = (v * v).sum(axis=1) + np.einsum("bi,bij,bj->b", inside, self._gyration, inside)
        speeds: Array = np.sqrt(np.maximum(squares, 0.0))
        return speeds

    def places(self) -> tuple[Array, Array]:
        """Centres of mass [m] and orientations of all bodies, to tell how far they go."""
        motion = self._motion()
        R = turns(motion.rotations.reshape(-1, 4))
        return motion.positions.reshape(-1, 3) + np.einsum("bij,bj->bi", R, self._com), R

    def ways(self, since: tuple[Array, Array]) -> Array:
        """Root mean square of the displacements of all that a body consists of, since it was at `places` [m]."""
        x, R = self.places()
        shift, turn = x - since[0], R - since[1]
        squares = (shift * shift).sum(axis=1) + np.einsum("bij,bjk,bik->b", turn, self._second, turn)
        ways: Array = np.sqrt(np.maximum(squares, 0.0))
        return ways

    def size(self) -> float:
        """Diagonal of bodies and scenery near them; or how far scenery stands from bodies, if that is more [m]."""
        motion, stage = self._motion(), self._simulation.stage
        assert stage is not None
        positions = motion.positions.reshape(-1, 3)
        low, high = extent(stage, positions, motion.rotations.reshape(-1, 4))
        far = [
            np.linalg.norm(positions - np.array(item.at), axis=1).max(initial=0.0) for item in self._scenery
        ]
        return float(max([np.linalg.norm(high - low), *far]))
