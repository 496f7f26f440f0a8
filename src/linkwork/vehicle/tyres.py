"""Tyres of wheels, chosen by a word or described by their numbers."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import KW_ONLY
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ..model.item import item
from ..model.tyres import BrushNumbers, BrushTyre, MagicTyre, Tyre


@item
class Brush(BrushNumbers):
    """A handling tyre by the brush law; radius and nominal load are those of the wheel."""

    type: Literal["brush"] = "brush"
    """Which tyre it is."""


@item
class Magic:
    """A handling tyre by the Magic Formula, from a tyre property file."""

    _: KW_ONLY
    file: Annotated[str, Field(min_length=1), AfterValidator(os.path.abspath)]
    """Path of the .tir file; in a model file, relative to its folder and inside it."""
    type: Literal["magic"] = "magic"
    """Which tyre it is."""


AnyTyre = Annotated[Brush | Magic, Field(discriminator="type")]
RIGID = "rigid"
TYRES = {"brush": Brush}
"""Tyres that need no more than a word; and `RIGID`, a wheel that contact knows."""


def made(choice: str | Brush | Magic, radius: float, load: float) -> Tyre:
    """The tyre of the wheel `wheel` at the origin, on the left side."""
    chosen = TYRES[choice]() if isinstance(choice, str) else choice
    if isinstance(chosen, Magic):
        return MagicTyre("tyre", "wheel", file=chosen.file)
    numbers = {field.name: getattr(chosen, field.name) for field in dataclasses.fields(BrushNumbers)}
    return BrushTyre("tyre", "wheel", radius=radius, load=load, **numbers)
