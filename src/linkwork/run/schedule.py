"""When a run samples, calls back and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..model.errors import LinkworkError, need_positive

Call = Callable[[Any], object]

DEFAULT_EVERY = 1e-2
# Samples computed in one compiled call: long enough to hide the call, short enough for a progress bar.
_BLOCK = 256


class Schedule:
    """Which targets to reach in one compiled call, which of them are samples, and whom to call then.

    Targets are counted from `offset`, in steps of `dt` [s], or in seconds where dt is None (adaptive steps).
    """

    def __init__(
        self,
        offset: float,
        dt: float | None,
        duration: float,
        every: float | None,
        watched: bool,
        callbacks: Sequence[tuple[float, Call]],
    ):
        self.offset, self.dt = offset, dt
        self.duration = duration
        if every is None:
            every = min(DEFAULT_EVERY, duration)
            if dt is not None:
                every = max(1, round(every / dt)) * dt
        self.every = every
        self.watched = watched
        self.ticks = [(self._ticks("callback period", period), call) for period, call in callbacks]
        self.sample_ticks = self._ticks("every", every)
        self.total = self._ticks("duration", duration)

    def _ticks(self, what: str, value: float) -> float:
        """A duration in steps (fixed) or seconds (adaptive)."""
        need_positive(what, value)
        dt = self.dt
        if dt is None:
            return value
        count = round(value / dt)
        if count < 1 or abs(value / dt - count) > 1e-6:
            near = max(count, 1) * dt
            raise LinkworkError(f"{what} = {value:g} s is not a multiple of dt = {dt:g} s; use {near:g}")
        return count

    def stretches(self) -> Iterator[tuple[list[float], int, list[Call]]]:
        """(targets, how many of them are samples, functions to call) until the end."""
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
            yield [self._target(ticks) for ticks in block], samples, calls

    def _target(self, ticks: float) -> float:
        """Absolute target. Times on the grid of samples are its multiples, so that a resumed run meets the
        same bits: 0.6 is always 6 * 0.1, never 0.5 + 0.1.
        """
        target = self.offset + ticks
        if self.dt is None:
            nearest = round(target / self.sample_ticks) * self.sample_ticks
            if abs(target - nearest) <= 1e-9 * self.sample_ticks:
                return nearest
        return target

    def share(self, elapsed: float) -> float:
        """How far the run is, 0 to 1, after so many seconds of simulated time."""
        return min(1.0, elapsed / self.duration)
