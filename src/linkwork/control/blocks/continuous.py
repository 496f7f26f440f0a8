"""Blocks with continuous states, integrated with the mechanics: same steps, same order, same error control."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Annotated, Self

from pydantic import Field, model_validator

from ...model.block import OUT, AnyWire, Block, LikeWire, Port
from ...model.item import Number, Positive, item

Row = Annotated[tuple[Number, ...], Field(min_length=1, max_length=64)]
Matrix = Annotated[tuple[Row, ...], Field(min_length=1, max_length=64)]


@item
class Integrator(Block):
    """Integral of its input over time, within bounds: at a bound it stands still until its input leads back."""

    kind = "integrator"

    input: AnyWire
    """What is integrated."""
    _: KW_ONLY
    gain: Number = 1.0
    """Its factor [unit of the output per s and unit of the input]."""
    start: Number = 0.0
    """Value at the start [of the unit of the output]."""
    low: Number | None = None
    """Least value [of the unit of the output]; by default none."""
    high: Number | None = None
    """Largest value [of the unit of the output]; by default none."""
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        if not low < high:
            raise ValueError(f"must have a low below its high, not {low:g} and {high:g}")
        if not low <= self.start <= high:
            raise ValueError(f"starts at {self.start:g}, outside its bounds {low:g} to {high:g}")
        return self


@item
class FirstOrder(Block):
    """Lag of first order: time_constant y' = gain · input - y."""

    kind = "first_order"

    input: AnyWire
    """What it follows."""
    time_constant: Positive
    """Time in which it comes 63 % nearer [s]."""
    _: KW_ONLY
    gain: Number = 1.0
    """Its factor [unit of the output per unit of the input]."""
    start: Number = 0.0
    """Value at the start [of the unit of the output]."""
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)


@item
class ContinuousPID(Block):
    """A PID controller: proportional · e + integral · ∫e + derivative · (filtered e'), e = target - measured.

    The derivative is filtered with `filter_time`, s/(1 + filter_time s). Within `low` and `high`: beyond them the
    integral is drawn back in `tracking_time` (back-calculation), so that it does not wind up.
    """

    kind = "continuous_pid"

    target: LikeWire
    """What is wished."""
    measured: LikeWire
    """What is."""
    _: KW_ONLY
    proportional: Number = 0.0
    """Gain of the error [unit of the output per unit of the input]."""
    integral: Number = 0.0
    """Gain of its integral [unit of the output per s and unit of the input]."""
    derivative: Number = 0.0
    """Gain of its rate [unit of the output times s per unit of the input]."""
    filter_time: Positive = 0.01
    """Lag of the derivative [s]."""
    low: Number | None = None
    """Least output [of the unit of the output]; by default none."""
    high: Number | None = None
    """Largest output [of the unit of the output]; by default none."""
    tracking_time: Positive = 0.1
    """Time in which the integral follows the bounds [s]."""
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"must have a low below its high, not {self.low:g} and {self.high:g}")
        return self


def check_fraction(numerator: tuple[float, ...], denominator: tuple[float, ...]) -> None:
    """Refuse a transfer function that is not one."""
    if denominator[0] == 0.0:
        raise ValueError("the first coefficient of the denominator must not be zero")
    if len(numerator) > len(denominator):
        raise ValueError(
            f"has a numerator of degree {len(numerator) - 1} over a denominator of {len(denominator) - 1}: "
            "it would differentiate its input"
        )


@item
class TransferFunction(Block):
    """numerator(s)/denominator(s), at rest at the start."""

    kind = "transfer_function"

    input: AnyWire
    """What it acts on."""
    numerator: Row
    """Coefficients, the highest power of s first [powers of s]."""
    denominator: Row
    """Coefficients, the highest power of s first [powers of s]."""
    _: KW_ONLY
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    @model_validator(mode="after")
    def _proper(self) -> Self:
        check_fraction(self.numerator, self.denominator)
        return self


def check_matrices(A: Matrix, B: Matrix, C: Matrix, D: Matrix | None, inputs: int, start: int | None) -> None:
    """Refuse matrices that do not fit each other, or the inputs."""
    n, m, p = len(A), inputs, len(C)
    sizes = [("A", A, n, n), ("B", B, n, m), ("C", C, p, n)]
    if D is not None:
        sizes.append(("D", D, p, m))
    for name, matrix, rows, columns in sizes:
        lengths = {len(row) for row in matrix}
        if len(matrix) != rows or lengths != {columns}:
            shown = " or ".join(map(str, sorted(lengths)))
            raise ValueError(f"{name} must be {rows} × {columns}, not {len(matrix)} × {shown}")
    if start is not None and start != n:
        raise ValueError(f"has {n} states, but {start} values at the start")


def matrix_ports(C: Matrix) -> tuple[Port, ...]:
    """Outputs of a block with an output matrix: `out`, or `y0`, `y1` … if there are several."""
    return (Port(),) if len(C) == 1 else tuple(Port(f"y{i}") for i in range(len(C)))


@item
class StateSpace(Block):
    """x' = A x + B u, y = C x + D u, with its inputs u. Output: `out`, or `y0`, `y1` … if there are several."""

    kind = "state_space"

    inputs: Annotated[tuple[AnyWire, ...], Field(min_length=1, max_length=64)]
    """What it acts on: u."""
    A: Matrix
    """Rows of A [1/s]."""
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


CONTINUOUS = (Integrator, FirstOrder, ContinuousPID, TransferFunction, StateSpace)
__all__ = ["CONTINUOUS", "ContinuousPID", "FirstOrder", "Integrator", "StateSpace", "TransferFunction",
           "check_fraction", "check_matrices", "matrix_ports"]  # fmt: skip
