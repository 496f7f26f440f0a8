"""Time signals that scale a load: a sine, or a table of values joined by straight lines."""

from __future__ import annotations

import bisect
import math
from dataclasses import KW_ONLY
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from .item import Flag, NonNegative, Number, item

SINE, TABLE = 0, 1


@item
class Sine:
    """offset + amplitude sin(2π frequency t + phase)."""

    frequency: NonNegative
    """[Hz]"""
    _: KW_ONLY
    amplitude: Number = 1.0
    phase: Number = 0.0
    """[rad]"""
    offset: Number = 0.0
    signal: Literal["sine"] = "sine"

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

    With `repeats` it begins again after the last, where its first value takes the place of its last one.
    """

    times: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Increasing [s]; two equal times make a step."""
    values: Annotated[tuple[Number, ...], Field(min_length=1)]
    _: KW_ONLY
    repeats: Flag = False
    """True: begins again after the last time."""
    signal: Literal["table"] = "table"

    code = TABLE

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
        return float(self.repeats), *self.times, *self.values

    def value(self, t: float) -> float:
        """The factor at a time [s]."""
        start, end = self.times[0], self.times[-1]
        if self.repeats and t >= end > start:
            t -= (end - start) * math.floor((t - start) / (end - start))
        after = bisect.bisect_right(self.times, t)
        if after == 0 or after == len(self.times):
            return self.values[0 if after == 0 else -1]
        (t0, t1), (y0, y1) = self.times[after - 1 : after + 1], self.values[after - 1 : after + 1]
        return y0 + (y1 - y0) * (t - t0) / (t1 - t0)

    def unrolled(self, end: float) -> Table:
        """The same until a time [s], without repeating."""
        period = self.times[-1] - self.times[0]
        if not self.repeats or period == 0.0:
            return self
        rounds = max(1, math.ceil((end - self.times[0]) / period))
        times = [t + k * period for k in range(rounds) for t in self.times]
        return Table(tuple(times), self.values * rounds)


Signal = Annotated[Sine | Table, Field(discriminator="signal")]
"""Any time signal; in model files the key `signal` tells which."""
