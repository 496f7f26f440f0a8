"""Items of a model as elements of an extension (`extension.py`)."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable
from typing import Any

from ..io.yaml_text import flow
from ..model.item import Item, _hints
from .extension import AS_TEXT, types
from .report import LossReport
from .xml_text import Tag


def item_tag(item: Item, report: LossReport) -> Tag | None:
    """An item with all fields that differ from their defaults; None where it cannot be written."""
    if type(item) is not types().get(item.kind):
        report.add("dropped", f"{item.kind} '{item.name}'", "it calls a function, which no file holds")
        return None
    made = Tag(item.kind, {"name": item.name})
    for key, value in fields_of(item).items():
        made.attributes[key] = written(key, value)
    return made


def set_tag(shelf: str, name: str, fields: dict[str, Any]) -> Tag:
    """What is to be changed of an item that the file has."""
    return Tag(
        "set", {"shelf": shelf, "name": name, **{key: written(key, value) for key, value in fields.items()}}
    )


def fields_of(item: Any, leave: Iterable[str] = ("name",)) -> dict[str, Any]:
    """Fields that differ from their defaults."""
    found = {}
    for field in dataclasses.fields(item):
        value = getattr(item, field.name)
        if field.name not in leave and repr(value) != repr(field.default):
            found[field.name] = value
    return found


def written(key: str, value: Any) -> str:
    """A value as model files write it."""
    return str(value) if key in AS_TEXT and isinstance(value, str) else flow(plain(value))


def plain(value: Any) -> Any:
    """Items and tuples as mappings and lists."""
    if isinstance(value, tuple):
        return [plain(entry) for entry in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hints = _hints(type(value))
        found: dict[str, Any] = {}
        for field in dataclasses.fields(value):
            entry, hint = getattr(value, field.name), hints[field.name]
            tells = typing.get_origin(hint) is typing.Literal and len(typing.get_args(hint)) == 1
            if tells or repr(entry) != repr(field.default):
                found[field.name] = plain(entry)
        return found
    return value
