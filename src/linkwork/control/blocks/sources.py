"""Sources: what blocks give by themselves over time."""

from __future__ import annotations

from dataclasses import KW_ONLY
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from ...model.block import OUT, Block, Port
from ...model.item import Flag, NonNegative, Number, Positive, item

Whole = Annotated[int, Field(strict=True, ge=0)]


@item
class Source(Block):
    """A source: one output `out`, of a unit that it may state."""

    _: KW_ONLY
    unit: str | None = None
    """Unit of the output, such as rad/s; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)


@item
class Constant(Source):
    """A number."""

    kind = "constant"

    value: Number
    """The number [of the unit that it states]."""


@item
class Clock(Block):
    """Simulated time [s]."""

    kind = "clock"

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, "s"),)


@item
class Step(Source):
    """Jumps from one value to another. Steps of the integrator end at the jump."""

    kind = "step"

    _: KW_ONLY
    at: Number = 0.0
    """When it jumps [s]."""
    before: Number = 0.0
    """Value before the jump [of the unit that it states]."""
    after: Number = 1.0
    """Value from the jump on [of the unit that it states]."""


@item
class Ramp(Source):
    """Rises evenly from one moment to another, and stays."""

    kind = "ramp"

    _: KW_ONLY
    slope: Number = 1.0
    """How fast it rises [its unit per s]."""
    begin: Number = 0.0
    """When it begins to rise [s]."""
    end: Number | None = None
    """When it stops [s]; by default never."""
    offset: Number = 0.0
    """Value before it rises [of the unit that it states]."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end is not None and self.end < self.begin:
            raise ValueError(f"ends at {self.end:g} s, before it begins at {self.begin:g} s")
        return self


@item
class SineWave(Source):
    """offset + amplitude sin(2π frequency t + phase)."""

    kind = "sine_wave"

    frequency: NonNegative
    """Turns per second [Hz]."""
    _: KW_ONLY
    amplitude: Number = 1.0
    """Half of the way between lowest and highest value [of the unit that it states]."""
    phase: Number = 0.0
    """Angle of the sine at time zero [rad]."""
    offset: Number = 0.0
    """Value about which it swings [of the unit that it states]."""


@item
class Chirp(Source):
    """A sine whose frequency rises or falls evenly, and then stays; it begins at zero."""

    kind = "chirp"

    first: NonNegative
    """Frequency at time zero [Hz]."""
    last: NonNegative
    """Frequency at the end of `duration`, and after it [Hz]."""
    duration: Positive
    """Time in which the frequency changes [s]."""
    _: KW_ONLY
    amplitude: Number = 1.0
    """Half of the way between lowest and highest value [of the unit that it states]."""


@item
class Pulse(Source):
    """Switches between two values again and again. Steps of the integrator end at each jump."""

    kind = "pulse"

    every: Positive
    """Time from one rise to the next [s]."""
    _: KW_ONLY
    width: Positive = 0.5
    """Share of that time for which it is high [1]."""
    begin: Number = 0.0
    """When it rises first [s]."""
    low: Number = 0.0
    """Value while it is low, and before it begins [of the unit that it states]."""
    high: Number = 1.0
    """Value while it is high [of the unit that it states]."""

    @model_validator(mode="after")
    def _share(self) -> Self:
        if self.width >= 1.0:
            raise ValueError(f"must have a width below 1, not {self.width:g}")
        return self


@item
class TimeTable(Source):
    """Straight lines between values at given times; constant before the first and after the last.

    Two equal times make a jump. Steps of the integrator end at every corner.
    """

    kind = "time_table"

    times: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Times, increasing [s]."""
    values: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Values at these times [of the unit that it states]."""
    _: KW_ONLY
    repeats: Flag = False
    """True: begins again after the last time."""

    @model_validator(mode="after")
    def _matches(self) -> Self:
        if len(self.times) != len(self.values):
            raise ValueError(f"has {len(self.times)} times but {len(self.values)} values")
        if any(b < a for a, b in pairwise(self.times)):
            raise ValueError("times must not decrease")
        if self.repeats and self.times[-1] == self.times[0]:
            raise ValueError("repeats, but lasts no time")
        return self


@item
class Noise(Source):
    """Random numbers with a normal distribution, a new one every `sample_time`.

    The k-th is a function of `seed` and k alone: the same in every run, on every machine, and after a resume.
    """

    kind = "noise"

    sample_time: Positive
    """Time between two numbers [s]."""
    _: KW_ONLY
    deviation: NonNegative = 1.0
    """Standard deviation [of the unit that it states]."""
    mean: Number = 0.0
    """Mean [of the unit that it states]."""
    seed: Whole = 0
    """Which sequence of numbers it is."""


SOURCES = (Constant, Clock, Step, Ramp, SineWave, Chirp, Pulse, TimeTable, Noise)
