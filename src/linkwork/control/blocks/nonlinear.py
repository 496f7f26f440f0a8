"""Nonlinear blocks. Where their law has a corner or a jump, the moment is located as an event."""

from __future__ import annotations

from dataclasses import KW_ONLY
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from ...model.block import ALIKE, OUT, AnyWire, Block, LikeWire, Port
from ...model.item import Flag, Number, Positive, item

_Row = Annotated[tuple[Number, ...], Field(min_length=2)]


@item
class _Alike(Block):
    """A block whose output has the unit of its input."""

    input: LikeWire
    """What it acts on."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, ALIKE),)


def _below(low: float | None, high: float | None) -> None:
    if low is not None and high is not None and not low < high:
        raise ValueError(f"must have a low below its high, not {low:g} and {high:g}")


@item
class Saturation(_Alike):
    """Its input, within bounds."""

    kind = "saturation"

    low: Number = -1.0
    """Least value [of the unit of its input]."""
    high: Number = 1.0
    """Largest value [of the unit of its input]."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _below(self.low, self.high)
        return self


@item
class DeadZone(_Alike):
    """Zero within a zone; beyond it, how far its input is from it."""

    kind = "dead_zone"

    low: Number = -1.0
    """Lower end of the zone [of the unit of its input]."""
    high: Number = 1.0
    """Upper end of the zone [of the unit of its input]."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _below(self.low, self.high)
        return self


@item
class RateLimit(_Alike):
    """Follows its input no faster than some rate: y' = (input - y)/time_constant, within `falling` and `rising`.

    It begins at `start`.
    """

    kind = "rate_limit"

    rising: Positive
    """Largest rate [unit of its input per s]."""
    falling: Positive | None = None
    """Largest rate downwards [unit of its input per s]; by default the same as `rising`."""
    _: KW_ONLY
    time_constant: Positive = 0.01
    """Lag with which it follows what is slow enough [s]."""
    start: Number = 0.0
    """Value at the start [of the unit of its input]."""


@item
class Relay(Block):
    """Switches on above one value and off below another: between them it stays as it is."""

    kind = "relay"

    input: AnyWire
    """What it acts on."""
    on_above: Number
    """Where it switches on [of the unit of its input]."""
    off_below: Number
    """Where it switches off [of the unit of its input]."""
    _: KW_ONLY
    on: Number = 1.0
    """Output while it is on [of the unit that it states]."""
    off: Number = 0.0
    """Output while it is off [of the unit that it states]."""
    begins_on: Flag = False
    """True: it is on at the start, should its input be between the two."""
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.off_below > self.on_above:
            raise ValueError(
                f"switches off below {self.off_below:g}, above {self.on_above:g} where it switches on"
            )
        return self


@item
class Play(_Alike):
    """Backlash: follows its input with free play, half a `gap` behind it; between the flanks it stands still."""

    kind = "play"

    gap: Positive
    """Way from flank to flank [of the unit of its input]."""
    _: KW_ONLY
    start: Number = 0.0
    """Value at the start, should its input be between the flanks then [of the unit of its input]."""


@item
class Lookup(Block):
    """Straight lines between points (x, y); beyond the ends constant, or along the last line."""

    kind = "lookup"

    input: AnyWire
    """Where it is looked up."""
    x: _Row
    """Places, increasing [of the unit of its input]."""
    y: _Row
    """Values there [of the unit that it states]."""
    _: KW_ONLY
    extends: Flag = False
    """True: beyond its ends it goes on along the first and last line."""
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    @model_validator(mode="after")
    def _matches(self) -> Self:
        if len(self.x) != len(self.y):
            raise ValueError(f"has {len(self.x)} places but {len(self.y)} values")
        _rising("x", self.x)
        return self


@item
class Lookup2D(Block):
    """A table over two inputs: bilinear between its points, constant beyond its edges."""

    kind = "lookup_2d"

    input: AnyWire
    """Where it is looked up, along x."""
    across: AnyWire
    """Where it is looked up, along y."""
    x: _Row
    """Places along x, increasing [of the unit of `input`]."""
    y: _Row
    """Places along y, increasing [of the unit of `across`]."""
    values: Annotated[tuple[_Row, ...], Field(min_length=2)]
    """Values: one row for each place along x, one entry for each along y [of the unit that it states]."""
    _: KW_ONLY
    unit: str | None = None
    """Unit of the output; by default any."""

    def ports(self) -> tuple[Port, ...]:
        return (Port(OUT, self.unit),)

    @model_validator(mode="after")
    def _matches(self) -> Self:
        if len(self.values) != len(self.x):
            raise ValueError(f"has {len(self.x)} places along x but {len(self.values)} rows of values")
        for i, row in enumerate(self.values):
            if len(row) != len(self.y):
                raise ValueError(f"has {len(self.y)} places along y but {len(row)} values in row {i}")
        _rising("x", self.x)
        _rising("y", self.y)
        return self


def _rising(what: str, places: tuple[float, ...]) -> None:
    if any(not a < b for a, b in pairwise(places)):
        raise ValueError(f"{what} must increase from place to place")


NONLINEAR = (Saturation, DeadZone, RateLimit, Relay, Play, Lookup, Lookup2D)
__all__ = ["NONLINEAR", "DeadZone", "Lookup", "Lookup2D", "Play", "RateLimit", "Relay", "Saturation"]
