"""What every block of a control diagram has: inputs that name what they take, outputs, and a place in the drawing.

A *wire* is what an input takes: the output of a block (`stick.x`; `stick` alone is its output `out`), any signal of the
model (`pivot.angle`), or a number. A minus before a name takes it negatively.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field

from .item import Item, Number, _hints, _plain, either, item
from .rotation import Placement

ALIKE = "="
"""Unit of ports of a block that all have the same one."""
OUT = "out"
"""Name of an output that is the only one."""
_WIRE = re.compile(r"-?[^\s/:\\\"'.+\-*()=][^\s/:\\\"'*()=]*")


def _wire(value: str) -> str:
    if not _WIRE.fullmatch(value) or value.endswith(".") or ".." in value:
        raise ValueError(
            "must be the name of a block, of one of its outputs, or of a signal, such as stick.x, or a number"
        )
    return value


WireName = Annotated[str, Field(strict=True, max_length=400), AfterValidator(_wire)]
if typing.TYPE_CHECKING:
    Wire = str | float
else:
    Wire = Annotated[
        either(
            ("name", WireName), ("number", Number), by=lambda v: "name" if isinstance(v, str) else "number"
        ),
        BeforeValidator(_plain),
    ]


@dataclass(frozen=True)
class Takes:
    """Marks a field as an input, or a list of them, and tells its unit."""

    unit: str | None = None
    """None for any, `ALIKE` for that of other ports of the block."""


AnyWire = Annotated[Wire, Takes()]
LikeWire = Annotated[Wire, Takes(ALIKE)]
FactWire = Annotated[Wire, Takes("1")]
"""True from 0.5 on."""


class Port(NamedTuple):
    """An output of a block."""

    name: str = OUT
    unit: str | None = None
    """None if it is not known, `ALIKE` for that of its inputs."""


class Input(NamedTuple):
    """An input of a block."""

    name: str
    """Its field; of a list of inputs with its number, from 0: `inputs.1`."""
    path: tuple[str | int, ...]
    """Field, and number in the list."""
    wire: str | float
    unit: str | None


@item
class Block(Item):
    """A block of a control diagram."""

    shelf = "control"

    _: KW_ONLY
    spot: tuple[Number, Number] | None = None
    """Where its middle stands in the drawing, to the right and down [widths and heights of a block]; by default where
    the automatic layout puts it."""
    note: str | None = None
    """What to call it in the drawing; by default its name."""

    def inputs_now(self) -> tuple[Input, ...]:
        """Its inputs as they are connected."""
        found = []
        for field, unit in wire_fields(type(self)):
            value = getattr(self, field)
            if isinstance(value, tuple):
                found += [Input(f"{field}.{i}", (field, i), wire, unit) for i, wire in enumerate(value)]
            elif value is not None:
                found.append(Input(field, (field,), value, unit))
        return tuple(found)

    def ports(self) -> tuple[Port, ...]:
        """Its outputs; none by default."""
        return ()

    @property
    def period(self) -> float:
        """Time between its samples [s]; 0 for a block that acts continuously."""
        return float(getattr(self, "sample_time", 0.0))

    def placed(self, placement: Placement, rename: Callable[[str], str]) -> Self:
        made = super().placed(placement, rename)
        return dataclasses.replace(made, **self.rewired(rename))

    def rewired(self, rename: Callable[[str], str]) -> dict[str, Any]:
        """Fields with inputs, every wire that is a name renamed."""
        changes: dict[str, Any] = {}
        for field, _ in wire_fields(type(self)):
            value = getattr(self, field)
            if value is not None:
                several = isinstance(value, tuple)
                changes[field] = (
                    tuple(other_wire(wire, rename) for wire in value)
                    if several
                    else other_wire(value, rename)
                )
        return changes


def other_wire(wire: str | float, rename: Callable[[str], str]) -> str | float:
    """A wire with another name."""
    if not isinstance(wire, str):
        return wire
    return f"-{rename(wire[1:])}" if wire.startswith("-") else rename(wire)


_KNOWN: dict[type, tuple[tuple[str, str | None], ...]] = {}


def wire_fields(cls: type) -> tuple[tuple[str, str | None], ...]:
    """Fields of a block that are inputs, and their units."""
    if cls not in _KNOWN:
        _KNOWN[cls] = tuple((name, mark.unit) for name, hint in _hints(cls).items() for mark in _takes(hint))
    return _KNOWN[cls]


def _takes(hint: Any) -> Iterator[Takes]:
    if typing.get_origin(hint) is Annotated:
        marks = [mark for mark in hint.__metadata__ if isinstance(mark, Takes)]
        yield from marks[:1]
        if not marks:
            yield from _takes(hint.__origin__)
    else:
        for option in typing.get_args(hint):
            found = [*_takes(option)] if option is not Ellipsis else []
            if found:
                yield found[0]
                return
