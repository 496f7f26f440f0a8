"""A block of samples, of which each quantity is computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from ..model.rotation import Array
from ..results.frames import Frames, MovingFrames
from ..results.quantity import BodyMotion, Columns


class Measuring(Protocol):
    """What computes quantities of a block: an observer."""

    frames: Frames
    bodies: Sequence[str]
    report: Columns

    def state_accelerations(self, sampled: BlockSamples) -> Array: ...

    def body_motion(self, sampled: BlockSamples) -> BodyMotion: ...

    def joints(self, block: tuple[Array, ...]) -> tuple[Array, Array]: ...

    def energies(self, sampled: BlockSamples) -> Array: ...

    def reactions(self, sampled: BlockSamples) -> tuple[Array, Array]: ...

    def forces_of_elements(self, sampled: BlockSamples) -> Array: ...


class BlockSamples:
    """A block of samples; what is measured of it is computed when first asked for (see `quantity.Sampled`)."""

    def __init__(self, observer: Measuring, block: tuple[Array, ...]):
        self._observer = observer
        self.block = tuple(np.ascontiguousarray(array) for array in block)
        self.t, self.q, self.v, self.work = self.block[:4]

    @cached_property
    def a(self) -> Array:
        return self._observer.state_accelerations(self)

    @cached_property
    def bodies(self) -> BodyMotion:
        return self._observer.body_motion(self)

    @cached_property
    def frames(self) -> MovingFrames:
        motion = self.bodies
        named = {
            "positions": motion.positions,
            "rotations": motion.rotations,
            "body_velocities": motion.velocities,
            "body_angular_velocities": motion.angular_velocities,
            "body_accelerations": motion.accelerations,
            "body_angular_accelerations": motion.angular_accelerations,
        }
        return MovingFrames(self._observer.frames, self._observer.bodies, named.__getitem__)

    @cached_property
    def _joints(self) -> tuple[Array, Array]:
        return self._observer.joints(self.block)

    @property
    def coordinates(self) -> Array:
        return self._joints[0]

    @property
    def rates(self) -> Array:
        return self._joints[1]

    @cached_property
    def energy(self) -> Array:
        return self._observer.energies(self)

    @cached_property
    def transmitted(self) -> tuple[Array, Array]:
        return self._observer.reactions(self)

    @property
    def element_forces(self) -> Array:
        return self._observer.forces_of_elements(self)

    @property
    def states(self) -> Array:
        return self.block[9]

    @property
    def contact_forces(self) -> Array:
        return self.block[6][:, 1 + len(self._observer.report) :]

    @property
    def report(self) -> Array:
        return self.block[6][:, 1 : 1 + len(self._observer.report)]
