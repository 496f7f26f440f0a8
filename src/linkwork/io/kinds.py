"""What a model file can hold: its sections, the types in them, and the fields whose values are texts."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal

from ..engine.elements import COUPLINGS, DRIVES
from ..model import Body, Marker, Material, MaterialPair, NoContact, Scenery
from ..model.item import Item, _hints, field_names
from ..model.joints import JOINTS
from ..model.panel import PanelGroup

PLAIN: dict[str, type[Item]] = {
    cls.shelf: cls for cls in (Body, Scenery, Marker, Material, MaterialPair, NoContact, PanelGroup)
}
"""Sections whose items are all of one class."""
TYPED = ("joints", "loads", "drives", "couplings", "control")
"""Sections whose items are of several types; the key `type` tells which."""
SHELVES = (*PLAIN, *TYPED)
"""Sections of items that are no instances."""


def file_types(shelf: str) -> Mapping[str, type[Item]]:
    """What `type` may say in a section, and the classes that it stands for."""
    registries: dict[str, Mapping[str, type[Item]]] = {
        "joints": JOINTS, "drives": DRIVES, "couplings": COUPLINGS,
    }  # fmt: skip
    if shelf in ("loads", "control"):
        return {kind: cls for kind, cls in all_types(shelf).items() if "function" not in field_names(cls)}
    return registries[shelf]


def all_types(shelf: str) -> Mapping[str, type[Item]]:
    """All items of a section, those that only Python can describe too."""
    if shelf == "loads":
        from ..engine.loads import LOADS  # brings Numba along: only when a file has loads

        return LOADS
    if shelf == "control":
        from ..control.blocks import BLOCKS  # many classes: only when a file has a diagram

        return BLOCKS
    return file_types(shelf)


def of_python(shelf: str) -> set[str]:
    """Types of a section that only Python can describe, for they call a function of the user."""
    return all_types(shelf).keys() - file_types(shelf).keys()


@cache
def text_fields(cls: Any) -> frozenset[str]:
    """Fields of a dataclass, and of those inside it, that take a text: there `=` begins no expression."""
    return frozenset(_text_fields(cls))


def _text_fields(hint: Any) -> Iterator[str]:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        for name, inner in _hints(hint).items():
            if _takes_text(inner):
                yield name
            yield from _text_fields(inner)
    for inner in typing.get_args(hint):
        yield from _text_fields(inner)


def _takes_text(hint: Any) -> bool:
    if hint is str or typing.get_origin(hint) is Literal:
        return True
    # Inside lists and nested items texts would stand under keys of their own.
    return typing.get_origin(hint) is not tuple and any(map(_takes_text, typing.get_args(hint)))
