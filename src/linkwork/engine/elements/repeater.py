"""Couplings between joints."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Self

from pydantic import model_validator

from ...model.drive import Ratio
from ...model.item import Item, JointName, item


@item
class Repeater(Item):
    """Makes one joint follow another: the coordinate of `a` moves `ratio` times as far as that of `b`."""

    kind = "repeater"
    shelf = "couplings"

    a: JointName
    """The joint that follows."""
    b: JointName
    """The joint that is followed."""
    _: KW_ONLY
    ratio: Ratio = 1.0
    """Way of a per way of b [1, rad/m or m/rad]."""
    coordinate_a: str | None = None
    """Which coordinate of a; default: its first."""
    coordinate_b: str | None = None
    """Which coordinate of b; default: its first."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if (self.a, self.coordinate_a) == (self.b, self.coordinate_b):
            raise ValueError(f"couples '{self.a}' with itself")
        return self
