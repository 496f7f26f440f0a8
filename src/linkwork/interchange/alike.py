"""Whether two items say the same, but for rounding."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..model.item import Item

SLACK = 1e-12
"""Rounding of some products, relative where numbers are larger than 1."""


def alike(one: Any, other: Any) -> bool:
    """Numbers to rounding, all else exactly."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float | int) and isinstance(other, float | int) and not isinstance(one, bool):
        return one == other or abs(one - other) <= SLACK * max(1.0, abs(one))
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        return type(one) is type(other) and not unlike(one, other)
    return bool(one == other)


def unlike(one: Any, other: Any) -> list[str]:
    """Fields in which two items of one class differ; orientations may differ by the sign of their quaternions."""
    found = []
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        turned = field.name == "rotation" and isinstance(b, tuple) and alike(a, tuple(-x for x in b))
        if not turned and not alike(a, b):
            found.append(field.name)
    return found


def restates(wanted: Item, read: Item | None) -> bool:
    """Whether what is read of an item is not all of it."""
    return read is None or type(wanted) is not type(read) or bool(unlike(wanted, read))
