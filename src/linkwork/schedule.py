"""When a run samples, calls back and ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .errors import LinkworkError

if TYPE_CHECKING:
    from .simulate import Simulation

DEFAULT_EVERY = 1e-2
# Samples computed in one compiled call: long enough to hide the call, short enough for a progress bar.
_BLOCK = 256


def positive(name: str, value: float) -> None:
    if not (isinstance(value, int | float | np.number) and math.isfinite(value) and value > 0):
        raise LinkworkError(f"{name} must be a positive number of seconds, not {value!r}")


class Schedule:
    """Which targets to reach in one compiled call, which of them are samples, and whom to call then."""

    def __init__(
        self,
        simulation: Simulation,
        duration: float,
        every: float | None,
        watched: bool,
        callbacks: Sequence[tuple[float, Callable[[Simulation], object]]],
    ):
        self.simulation = simulation
        self.begin = simulation.time
        self.duration = duration
        self.adaptive = simulation.method.adaptive
        if every is None:
            every = min(DEFAULT_EVERY, duration)
            if not self.adaptive:
                every = max(1, round(every / simulation.dt)) * simulation.dt
        self.every = every
        self.watched = watched
        self.ticks = [(self._ticks("callback period", period), call) for period, call in callbacks]
        self.sample_ticks = self._ticks("every", every)
        self.total = self._ticks("duration", duration)

    def _ticks(self, what: str, value: float) -> float:
        """A duration in steps (fixed) or seconds (adaptive)."""
        positive(what, value)
        if self.adaptive:
            return value
        dt = self.simulation.dt
        count = round(value / dt)
        if count < 1 or abs(value / dt - count) > 1e-6:
            near = max(count, 1) * dt
            raise LinkworkError(f"{what} = {value:g} s is not a multiple of dt = {dt:g} s; use {near:g}")
        return count

    def stretches(self) -> Iterator[tuple[list[float], int, list[Callable[[Simulation], object]]]]:
        """(targets, how many of them are samples, functions to call) until the end."""
        offset = self.simulation._later(0)
        done, sample = 0.0, 1
        next_call = [1] * len(self.ticks)
        while done < self.total:
            limit = self.total
            for k, (period, _) in enumerate(self.ticks):
                limit = min(limit, next_call[k] * period)
            block: list[float] = []
            size = 1 if self.watched else _BLOCK
            while len(block) < size and sample * self.sample_ticks <= limit * (1 + 1e-12):
                block.append(min(sample * self.sample_ticks, self.total))
                sample += 1
            samples = len(block)
            reached = block[-1] if len(block) == size else limit
            if reached >= self.total and (not block or block[-1] < self.total):
                samples += 1  # the end is always a sample
            if not block or block[-1] < reached:
                block.append(reached)
            calls = []
            for k, (period, call) in enumerate(self.ticks):
                if next_call[k] * period <= reached * (1 + 1e-12):
                    calls.append(call)
                    next_call[k] += 1
            done = reached
            yield [self._target(offset, ticks) for ticks in block], samples, calls

    def _target(self, offset: float, ticks: float) -> float:
        """Absolute target. Times on the grid of samples are its multiples, so that a resumed run meets the
        same bits: 0.6 is always 6 * 0.1, never 0.5 + 0.1.
        """
        target = offset + ticks
        if self.adaptive:
            nearest = round(target / self.sample_ticks) * self.sample_ticks
            if abs(target - nearest) <= 1e-9 * self.sample_ticks:
                return nearest
        return target

    def share(self) -> float:
        """How far the run is, 0 to 1."""
        return min(1.0, (self.simulation.time - self.begin) / self.duration)
