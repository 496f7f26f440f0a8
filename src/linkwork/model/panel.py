"""Groups of an operator's panel: frames with a label in which elements of the panel stand."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from pydantic import Field

from .item import Item, item

Count = Annotated[int, Field(strict=True, ge=0, le=99)]
Cell = tuple[Count, Count]
"""Column and row of a grid, from 0."""


@item
class PanelGroup(Item):
    """A group of the operator's panel: a frame with a label, in which elements that name it stand in rows."""

    kind = "panel_group"
    shelf = "panel"

    _: KW_ONLY
    label: str | None = None
    """What stands above it; by default its name."""
    cell: Cell | None = None
    """Column and row among the groups, from 0; by default beside the one before."""
    hint: str = ""
    """One sentence for the operator below it."""
