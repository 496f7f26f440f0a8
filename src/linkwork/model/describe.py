"""What the fields of an item are: type, default and meaning, for help(), commands, the JSON schema and the reference.

The one source is the docstrings below the fields of a class. Units stand there in brackets.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import math
import types
import typing
from typing import Any, Literal, NamedTuple

from pydantic.fields import FieldInfo


class FieldText(NamedTuple):
    """A field as users read of it."""

    name: str
    type: str
    default: str
    """As Python writes it; "required" if there is none."""
    meaning: str


class Doc:
    """The docstring of an item: what its class says, then all its fields; put together when it is first asked for."""

    def __init__(self, said: str | None):
        self.said = inspect.cleandoc(said or "")
        self._whole: dict[type, str] = {}

    def __get__(self, _: object, owner: type) -> str:
        if owner not in self._whole:
            self._whole[owner] = f"{self.said}\n\n{_listed(owner)}".strip()
        return self._whole[owner]


def summary(cls: type) -> str:
    """What a class says of itself, without its fields."""
    own = next(base.__dict__["__doc__"] for base in cls.__mro__ if base.__dict__.get("__doc__"))
    return own.said if isinstance(own, Doc) else inspect.cleandoc(own)


def field_texts(cls: Any) -> list[FieldText]:
    """All fields of an item, in the order in which they are written."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return [
        FieldText(field.name, type_words(hints[field.name]), _default(field), _meaning(cls, field.name))
        for field in dataclasses.fields(cls)
    ]


def _meaning(cls: type, name: str) -> str:
    # pydantic reads the docstrings of a class's own fields only, not of inherited ones.
    for base in cls.__mro__:
        known = base.__dict__.get("__pydantic_fields__", {}).get(name)
        if known is not None and known.description:
            return " ".join(known.description.split())
    return ""


def _default(field: dataclasses.Field[Any]) -> str:
    value = field.default
    if isinstance(value, FieldInfo):
        value = value.default
    if value is dataclasses.MISSING or type(value).__name__ == "PydanticUndefinedType":
        return "required"
    if value == math.inf:
        return "unlimited"
    if isinstance(value, tuple):
        return f"({', '.join(f'{x:g}' if isinstance(x, float | int) else str(x) for x in value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(cls: Any) -> str:
    lines = ["Fields:"]
    for name, kind, default, meaning in field_texts(cls):
        lines.append(f"    {name}: {kind}; {default if default == 'required' else f'default {default}'}")
        lines.append(f"        {meaning}")
    return "\n".join(lines)


def type_words(hint: Any) -> str:
    """A type hint in words."""
    origin, options = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(options[0], options[1:])
    if origin is Literal:
        return " or ".join(map(str, options))
    if origin in (typing.Union, types.UnionType):
        return _either([option for option in options if option is not types.NoneType])
    if (
        origin is tuple
        and options[-1] is not Ellipsis
        and len({type_words(option) for option in options}) == 1
    ):
        return _many(f"{len(options)}", type_words(options[0]))
    if origin is tuple:
        return f"list of {_many('', type_words(options[0])).strip()}"
    if origin is collections.abc.Callable:
        return "function"
    return _WORDS.get(hint) or hint.__name__.lower()


_WORDS: dict[Any, str] = {bool: "true or false", str: "text", float: "number"}


def _annotated(inner: Any, marks: tuple[Any, ...]) -> str:
    for mark in marks:
        if mark.__class__.__name__ == "Refers":
            return f"name of a {mark.value}"
        if mark.__class__.__name__ == "Takes":
            return "wire"
        if getattr(getattr(mark, "func", None), "__name__", "") == "_turn":
            return "quaternion (w, x, y, z), or {axis: (x, y, z), angle: rad}"
        if getattr(getattr(mark, "func", None), "__name__", "") == "_named":
            return "name"
    rules = [rule for mark in marks if isinstance(mark, FieldInfo) for rule in mark.metadata]
    if any(getattr(rule, "pattern", None) for rule in rules):
        return "#rrggbb"
    words = type_words(inner)
    if words != "number":
        return words
    bounds = [_bound(rule) for rule in rules if _bound(rule)]
    return " ".join([words, " and ".join(bounds)]) if bounds else words


def _bound(rule: Any) -> str:
    """What a rule of pydantic says of a number."""
    for name, sign in (("gt", ">"), ("ge", ">="), ("le", "<=")):
        if hasattr(rule, name):
            return f"{sign} {getattr(rule, name):g}"
    return ""


def _many(count: str, words: str) -> str:
    """Several of something."""
    head, space, rest = words.partition(" ")
    plural = {"number": "numbers", "shape": "shapes", "list": "lists", "wire": "wires"}.get(head, head)
    return f"{count} {plural}{space}{rest}"


def _either(options: list[Any]) -> str:
    """One of several; those that are told apart by one key have its name."""
    for key in ("shape", "signal"):
        if all(dataclasses.is_dataclass(option) and hasattr(option, key) for option in options):
            return key
    return " or ".join(dict.fromkeys(type_words(option) for option in options))
