"""Linkwork as a contender: a system on its way, and forward dynamics of a batch of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array


_TOLERANCE = 1e-8


class Runner:
    """Steps a system in one compiled call, and starts again from the same state."""

    def __init__(self, system: System, integrator: str, dt: float):
        self.dt = dt
        self._system, self._integrator, self._tolerance = system, integrator, _TOLERANCE
        self.reset()

    def reset(self) -> None:
        """Back to time zero; the step an adaptive run begins with is dt."""
        from linkwork.methods.tree import TreeMethod

        self._method = TreeMethod(self._system, self._integrator, self.dt, self._tolerance)

    def run(self, steps: int) -> None:
        """Take fixed steps of dt."""
        self._reach(int(self._method.state.clock.steps) + steps)

    def run_until(self, time: float, tolerance: float) -> None:
        """Take steps of any size, as few as keep the local error at `tolerance`."""
        if tolerance != self._tolerance:
            self._tolerance = tolerance
            self.reset()
        self._reach(time)

    def _reach(self, target: float) -> None:
        from linkwork.engine.steppers.state import OK

        if self._method.advance([target])[1] != OK:
            raise ArithmeticError("a benchmark run went astray")

    @property
    def q(self) -> Array:
        """Coordinates now."""
        return self._method.state.q

    @property
    def steps(self) -> int:
        """Steps taken since the start."""
        return int(self._method.state.clock.taken)


class Forward:
    """Joint accelerations of a batch of states (a row each) in one compiled call."""

    def __init__(self, system: System, q: Array, v: Array):
        self._tables = system.fresh_tables()
        self._states = np.zeros(len(q)), np.ascontiguousarray(q), np.ascontiguousarray(v)
        self.accelerations = np.empty_like(v)

    def run(self, batches: int) -> None:
        """Go through the batch that many times."""
        from linkwork.engine.coordinates.observe import observe_accelerations

        for _ in range(batches):
            observe_accelerations(self._tables, *self._states, self.accelerations)


def random_states(system: System, count: int, seed: int = 1) -> tuple[Array, Array]:
    """Coordinates within half a turn and rates within 1 rad/s, a state per row."""
    random = np.random.default_rng(seed)
    return random.uniform(-np.pi, np.pi, (count, system.nq)), random.uniform(-1.0, 1.0, (count, system.nv))
