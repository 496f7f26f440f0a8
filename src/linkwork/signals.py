"""Time signals that scale a load: a sine, or a table of values joined by straight lines."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from .item import NonNegative, Number, item

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


@item
class Table:
    """Straight lines between (times[i], values[i]); constant before the first and after the last."""

    times: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Increasing [s]; two equal times make a step."""
    values: Annotated[tuple[Number, ...], Field(min_length=1)]
    _: KW_ONLY
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
        return *self.times, *self.values


Signal = Annotated[Sine | Table, Field(discriminator="signal")]
"""Any time signal; in model files the key `signal` tells which."""
