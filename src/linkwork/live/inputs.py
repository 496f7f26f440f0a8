"""What operators of a model hold: levers of drives, and elements of the panel that its control diagram has."""

from __future__ import annotations

from collections.abc import Mapping

from ..control.blocks.panel import OPERATED, SHOWING, Element
from ..model import Flat
from .desk import Input
from .drives import Lever

_STEPPED = ("button", "toggle", "selector")


def elements_of(flat: Flat) -> dict[str, Element]:
    """Elements of the model's panel, by name."""
    kinds = (*OPERATED, *SHOWING)
    return {name: block for name, block in flat.control.items() if isinstance(block, kinds)}


def inputs_of(flat: Flat, known: list[Lever], put: Mapping[str, float]) -> list[Input]:
    """Inputs of a model: of drives and of elements of the panel; `put` tells where they were put before."""
    drives = [
        Input(
            lever.drive, lever.low, lever.high, 0.0 if lever.springs_back else None,
            put.get(lever.drive, lever.command),
        )
        for lever in known
    ]  # fmt: skip
    channels = [
        Input(
            f"{name}.{channel}", *element.span(), element.rest() if element.springs else None,
            put.get(f"{name}.{channel}", element.rest()),
            1.0 if element.kind in _STEPPED else 0.0,
        )
        for name, element in elements_of(flat).items()
        for channel in element.channels
    ]  # fmt: skip
    return [*drives, *channels]
