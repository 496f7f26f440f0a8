"""Time signals that scale a load: a sine, or a table of values joined by straight lines or cubics."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import KW_ONLY
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from .item import Flag, NonNegative, Number, item

SINE, TABLE, CURVE = 0, 1, 2

_REACH = 2  # neighbours on each side that the slope of a smooth table looks at


@item
class Sine:
    """offset + amplitude sin(2π frequency t + phase)."""

    frequency: NonNegative
    """Turns per second [Hz]."""
    _: KW_ONLY
    amplitude: Number = 1.0
    """Half of the way between lowest and highest factor [1]."""
    phase: Number = 0.0
    """Angle of the sine at time zero [rad]."""
    offset: Number = 0.0
    """Factor about which it swings [1]."""
    signal: Literal["sine"] = "sine"
    """Which signal it is."""

    code = SINE

    def numbers(self) -> tuple[float, ...]:
        """What the kernel reads."""
        return self.offset, self.amplitude, math.tau * self.frequency, self.phase

    def value(self, t: float) -> float:
        """The factor at a time [s]."""
        return self.offset + self.amplitude * math.sin(math.tau * self.frequency * t + self.phase)


@item
class Table:
    """Straight lines between (times[i], values[i]); constant before the first and after the last.

    With `smooth`, cubics with continuous slopes, of fourth order in the spacing; a step stays a step. With `repeats` it
    begins again after the last, where its first value takes the place of its last one.
    """

    times: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Times, increasing [s]; two equal times make a step."""
    values: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Factors at these times [1]."""
    _: KW_ONLY
    repeats: Flag = False
    """True: begins again after the last time."""
    smooth: Flag = False
    """True: joined by cubics instead of straight lines."""
    signal: Literal["table"] = "table"
    """Which signal it is."""

    @property
    def code(self) -> int:
        """What the kernel calls it."""
        return CURVE if self.smooth else TABLE

    @model_validator(mode="after")
    def _matches(self) -> Self:
        if len(self.times) != len(self.values):
            raise ValueError(f"has {len(self.times)} times but {len(self.values)} values")
        for earlier, later in zip(self.times, self.times[1:], strict=False):
            if later < earlier:
                raise ValueError(f"times must not decrease ({earlier:g} is followed by {later:g})")
        return self

    def numbers(self) -> tuple[float, ...]:
        """What the kernel reads."""
        return float(self.repeats), *self.times, *self.values, *(self._slopes if self.smooth else ())

    def value(self, t: float) -> float:
        """The factor at a time [s]."""
        return self.derivatives(t)[0]

    def derivatives(self, t: float) -> tuple[float, float, float]:
        """The factor at a time [s], its rate and its second derivative, from the right where they jump."""
        start, end = self.times[0], self.times[-1]
        if self.repeats and t >= end > start:
            t -= (end - start) * math.floor((t - start) / (end - start))
        after = bisect.bisect_right(self.times, t)
        if after == 0 or after == len(self.times):
            return self.values[0 if after == 0 else -1], 0.0, 0.0
        (t0, t1), (y0, y1) = self.times[after - 1 : after + 1], self.values[after - 1 : after + 1]
        h, rise, s = t1 - t0, y1 - y0, (t - t0) / (t1 - t0)
        if not self.smooth:
            return y0 + rise * s, rise / h, 0.0
        d0, d1 = (h * slope for slope in self._slopes[after - 1 : after + 1])
        b, c = 3.0 * rise - 2.0 * d0 - d1, d0 + d1 - 2.0 * rise
        value = y0 + s * (d0 + s * (b + s * c))
        return value, (d0 + s * (2.0 * b + 3.0 * s * c)) / h, (2.0 * b + 6.0 * s * c) / h**2

    @cached_property
    def _slopes(self) -> tuple[float, ...]:
        """At every point that of the polynomial through its neighbours, of fourth order, on its side of a step."""
        steps = [i for i, (a, b) in enumerate(pairwise(self.times), 1) if a == b]
        found: list[float] = []
        for first, end in pairwise([0, *steps, len(self.times)]):
            for k in range(first, end):
                low = max(first, min(k - _REACH, end - 2 * _REACH - 1))
                near = range(low, min(end, low + 2 * _REACH + 1))
                found.append(_slope([self.times[i] for i in near], [self.values[i] for i in near], k - low))
        return tuple(found)

    def unrolled(self, end: float) -> Table:
        """A table of all rounds until a time [s], which does not repeat."""
        period = self.times[-1] - self.times[0]
        if not self.repeats or period == 0.0:
            return self
        rounds = max(1, math.ceil((end - self.times[0]) / period))
        times = [t + k * period for k in range(rounds) for t in self.times]
        return Table(tuple(times), self.values * rounds, smooth=self.smooth)


def _slope(t: Sequence[float], x: Sequence[float], k: int) -> float:
    """Slope at the k-th of some different times of the polynomial through all values there."""
    others = [j for j in range(len(t)) if j != k]
    total = 0.0
    for j in others:
        share = 1.0 / (t[j] - t[k])
        for m in others:
            if m != j:
                share *= (t[k] - t[m]) / (t[j] - t[m])
        total += share * (x[j] - x[k])
    return total


Signal = Annotated[Sine | Table, Field(discriminator="signal")]
"""Any time signal; in model files the key `signal` tells which."""
