"""Where a motion is: coordinates, rates, work and time; how a stretch of steps may end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.jit import kernel
from ..kernels.record import new_record

OK, NOT_FINITE, TOO_SMALL, RUNAWAY = 0, 1, 2, 3
"""How a stretch of steps ended."""

SUPPLIED, DISSIPATED = 0, 1
"""Entries of `State.work`."""

# A coordinate that moves further than this in one step [rad or m] is running away, not moving.
_RUNAWAY = 1.0e4

CLOCK = np.dtype(
    [
        ("origin", "f8"),  # time at the start of the run of equal steps [s]
        ("now", "f8"),  # time now [s]
        ("proposed", "f8"),  # size of the next step, where that is chosen by its error [s]
        ("steps", "i8"),  # steps of equal size since `origin`
        ("taken", "i8"),  # steps taken since the start
        ("refused", "i8"),  # steps refused since the start, for their error
        ("fastest", "i8"),  # the rate that was not finite, or ran away
    ]
)


class State(NamedTuple):
    """Where a motion is; arrays and the clock are written in place."""

    q: np.ndarray
    """Coordinates [rad, m, quaternions]."""
    v: np.ndarray
    """Rates [rad/s, m/s]."""
    work: np.ndarray
    """Work supplied and dissipated so far [J]."""
    clock: np.record
    """Time and counts of steps: a record of `CLOCK`."""

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it by name, to be copied, saved or written to."""
        return {"q": self.q, "v": self.v, "work": self.work, "clock": np.asarray(self.clock)}

    def times(self) -> np.ndarray:
        """The clock as plain numbers, to be told to another process."""
        return np.array(self.clock.item(), float)

    def set_times(self, numbers: np.ndarray) -> None:
        """Set the clock to such numbers."""
        np.asarray(self.clock)[...] = tuple(numbers.tolist())


def new_state(q: np.ndarray, v: np.ndarray, step: float) -> State:
    """A state at time zero, with a first step of so many seconds proposed."""
    clock = new_record(CLOCK)
    clock.proposed = step
    return State(q.copy(), v.copy(), np.zeros(2), clock)


@kernel
def finite(v, clock, h):
    """OK if the rates at the end of a step of h are sane; else the reason, with the guilty rate in clock.fastest."""
    total = 0.0
    for i in range(v.shape[0]):  # without branches: nearly always this is all
        total += v[i] * v[i]
    if total * h * h <= _RUNAWAY * _RUNAWAY:
        return OK
    fastest, guilty = 0.0, 0
    for i in range(v.shape[0]):
        if not abs(v[i]) <= fastest:
            fastest, guilty = abs(v[i]), i
            if not fastest < np.inf:
                break
    if fastest * h <= _RUNAWAY:
        return OK
    clock.fastest = guilty
    return RUNAWAY if fastest < np.inf else NOT_FINITE


@kernel
def untouched(seen, q, v, inputs, write):
    """Whether coordinates, rates and commands are those that the last call left in `seen`; with `write`, leave them."""
    same = True
    for i in range(q.shape[0]):
        same &= seen[i] == q[i]
        seen[i] = q[i] if write else seen[i]
    k = q.shape[0]
    for i in range(v.shape[0]):
        same &= seen[k + i] == v[i]
        seen[k + i] = v[i] if write else seen[k + i]
    k += v.shape[0]
    for i in range(inputs.shape[0]):
        same &= seen[k + i] == inputs[i]
        seen[k + i] = inputs[i] if write else seen[k + i]
    return same


@kernel
def count_step(clock, h):
    """A step of fixed size has been taken. Time is counted in steps, so that it does not drift."""
    clock.steps += 1
    clock.taken += 1
    clock.now = clock.origin + clock.steps * h
