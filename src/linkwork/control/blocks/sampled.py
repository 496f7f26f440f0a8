"""Blocks that act at instants of their own, k times their `sample_time`, and hold their outputs between them.

Steps of the integrator end at the instants. At one instant, all outputs are found first, each from what is there then;
after that all blocks change their states.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Self

from pydantic import Field, model_validator

from ...model.block import ALIKE, OUT, AnyWire, Block, LikeWire, Port
from ...model.item import Number, Positive, item
from .continuous import Matrix, Row, check_fraction, check_matrices, matrix_ports

Count = Annotated[int, Field(strict=True, ge=1, le=10_000)]


@item
class _Sampled(Block):
    """A sampled block with one input and one output of the same unit."""

    input: LikeWire
    """What it samples."""
    sample_time: Positive
    """Time between samples [s]."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, ALIKE),)


@item
class Hold(_Sampled):
    """Zero-order hold: its input as it was at the last instant."""

    kind = "hold"


@item
class Delay(_Sampled):
    """Its input as it was some samples ago."""

    kind = "delay"

    steps: Count = 1
    """How many samples [1]."""
    _: KW_ONLY
    start: Number = 0.0
    """Output until the first input comes through [of the unit of its input]."""


@item
class MovingAverage(_Sampled):
    """Mean of the last samples of its input; at the start, of those that there are."""

    kind = "moving_average"

    count: Count
    """Over how many samples [1]."""


@item
class SampledPID(Block):
    """A digital PID controller: proportional · e + integral · Σ T e + derivative · filtered difference of e.

    e = target - measured at an instant, T the sample time. The sum takes in the present error, and stands still while
    the output is at `low` or `high` and the error leads further out. The filtered difference d follows
    d = (filter_time · d_before + e - e_before)/(filter_time + T).
    """

    kind = "sampled_pid"

    target: LikeWire
    """What is wished."""
    measured: LikeWire
    """What is."""
    sample_time: Positive
    """Time between samples [s]."""
    _: KW_ONLY
    proportional: Number = 0.0
    """Gain of the error [unit of the output per unit of the input]."""
    integral: Number = 0.0
    """Gain of its integral [unit of the output per s and unit of the input]."""
    derivative: Number = 0.0
    """Gain of its rate [unit of the output times s per unit of the input]."""
    filter_time: Annotated[Number, Field(ge=0)] = 0.0
    """Lag of the derivative [s]."""
    low: Number | None = None
    """Least output [of the unit of the output]; by default none."""
    high: Number | None = None
    """Largest output [of the unit of the output]; by default none."""
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"must have a low below its high, not {self.low:g} and {self.high:g}")
        return self


@item
class SampledTransferFunction(Block):
    """numerator(z)/denominator(z), at rest at the start."""

    kind = "sampled_transfer_function"

    input: AnyWire
    """What it samples."""
    sample_time: Positive
    """Time between samples [s]."""
    numerator: Row
    """Coefficients, the highest power of z first [1]."""
    denominator: Row
    """Coefficients, the highest power of z first [1]."""
    _: KW_ONLY
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    @model_validator(mode="after")
    def _proper(self) -> Self:
        check_fraction(self.numerator, self.denominator)
        return self


@item
class SampledStateSpace(Block):
    """x⁺ = A x + B u, y = C x + D u at each instant. Output: `out`, or `y0`, `y1` … if there are several."""

    kind = "sampled_state_space"

    inputs: Annotated[tuple[AnyWire, ...], Field(min_length=1, max_length=64)]
    """What it samples: u."""
    sample_time: Positive
    """Time between samples [s]."""
    A: Matrix
    """Rows of A [1]."""
    B: Matrix
    """Rows of B [of its own]."""
    C: Matrix
    """Rows of C [of its own]."""
    D: Matrix | None = None
    """Rows of D [of its own]; by default zero."""
    _: KW_ONLY
    start: tuple[Number, ...] | None = None
    """State x at the start [of its own]; by default zero."""

    def ports(self) -> tuple[Port, ...]:
        return matrix_ports(self.C)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        start = None if self.start is None else len(self.start)
        check_matrices(self.A, self.B, self.C, self.D, len(self.inputs), start)
        return self


SAMPLED = (Hold, Delay, MovingAverage, SampledPID, SampledTransferFunction, SampledStateSpace)
