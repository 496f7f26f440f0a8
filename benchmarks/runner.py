"""Linkwork as a contender: a system on its way, and forward dynamics of a batch of states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array


class Runner:
    """Steps a system in one compiled call, and starts again from the same state."""

    def __init__(self, system: System, integrator: str, dt: float):
        from linkwork.engine.steppers.integrate import dormand_prince, euler, new_run, rk4
        from linkwork.engine.steppers.state import new_state

        self.dt = dt
        self._system = system
        self._tables = system.fresh_tables()
        self._tableau = {"euler": euler, "rk4": rk4, "adaptive": dormand_prince}[integrator]()
        self._state = new_run(new_state(system.q0, system.v0, dt))
        self._out = np.empty(1), np.empty((1, system.nq)), np.empty((1, system.nv)), np.empty((1, 2))
        self.reset()

    def reset(self) -> None:
        """Back to time zero; the step an adaptive run begins with is dt."""
        self._state.q[:] = self._system.q0
        self._state.v[:] = self._system.v0
        self._state.work[:] = 0.0
        clock = self._state.clock
        clock.origin, clock.now, clock.proposed, clock.steps, clock.taken, clock.refused = (
            0.0,
            0.0,
            self.dt,
            0,
            0,
            0,
        )

    def run(self, steps: int) -> None:
        """Take fixed steps of dt."""
        from linkwork.engine.steppers.integrate import run_fixed
        from linkwork.engine.steppers.state import OK

        goal = np.array([self._state.clock.steps + steps])
        _, status = run_fixed(self._tables, self._tableau, self._state, self.dt, goal, *self._out)
        if status != OK:
            raise ArithmeticError("a benchmark run went astray")

    def run_until(self, time: float, tolerance: float) -> None:
        """Take steps of any size, as few as keep the local error at `tolerance`."""
        from linkwork.engine.steppers.integrate import run_adaptive
        from linkwork.engine.steppers.state import OK

        goal = np.array([time])
        _, status = run_adaptive(self._tables, self._tableau, self._state, tolerance, goal, *self._out)
        if status != OK:
            raise ArithmeticError("a benchmark run went astray")

    @property
    def q(self) -> Array:
        """Coordinates now."""
        return self._state.q

    @property
    def steps(self) -> int:
        """Steps taken since the start."""
        return int(self._state.clock.taken)


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
