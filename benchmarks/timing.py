"""Fair timing: contenders take turns, so that a busy moment of the machine hits all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

SHORTEST = 0.02
"""A repetition lasts at least this long [s]: a thousand times the cost of entering compiled code."""


def _nothing() -> None:
    pass


class Contender(NamedTuple):
    """Something to be timed."""

    name: str
    run: Callable[[int], object]
    """Does that many units of work."""
    unit: int = 1
    """Operations in one unit: what a figure is divided by."""
    reset: Callable[[], object] = _nothing
    """Back to the start; not timed."""


class Figure(NamedTuple):
    """Time of one operation."""

    median: float
    """[µs]"""
    spread: float
    """Half the interquartile range [µs]."""


def interleave(
    contenders: Sequence[Contender],
    repetitions: int,
    *,
    shortest: float = SHORTEST,
    tick: Callable[[], object] = _nothing,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Figure]:
    """Time all contenders round-robin; every round begins with another one. `tick` is called after each.

    `clock`: `time.process_time` counts what this process computes, whatever else the machine does meanwhile.
    """
    units = [_calibrate(contender, shortest, clock) for contender in contenders]
    taken: list[list[float]] = [[] for _ in contenders]
    for repetition in range(repetitions):
        for k in range(len(contenders)):
            i = (k + repetition) % len(contenders)
            seconds = _timed(contenders[i], units[i], clock)
            taken[i].append(1e6 * seconds / (units[i] * contenders[i].unit))
        tick()
    return {contender.name: summary(times) for contender, times in zip(contenders, taken, strict=True)}


def summary(times: Sequence[float]) -> Figure:
    """Median and half the interquartile range."""
    low, middle, high = np.percentile(times, (25, 50, 75))
    return Figure(float(middle), float(high - low) / 2)


def _timed(contender: Contender, units: int, clock: Callable[[], float]) -> float:
    contender.reset()
    began = clock()
    contender.run(units)
    return clock() - began


def _calibrate(contender: Contender, shortest: float, clock: Callable[[], float]) -> int:
    """Units of work that last at least `shortest`; compiles and warms the caches on the way."""
    _timed(contender, 3, clock)  # kernels that are called again are laid out at their second call
    units = 1
    # The shorter of two: what is loaded once, at a second or third call, must not count as the work of many units.
    while (seconds := min(_timed(contender, units, clock) for _ in range(2))) < shortest / 4:
        units *= 2
    # A quarter more than needed, since the next repetition may find the machine less busy.
    return max(units, int(np.ceil(1.25 * units * shortest / seconds)))
