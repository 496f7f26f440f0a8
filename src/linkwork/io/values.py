"""Entries of a file to checked values: expressions are computed, every mistake is told where it stands."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..model.item import _is_number, _shown, explain, field_names
from .entry import Entry
from .expressions import ExpressionError, UnknownValueError, evaluate, is_expression, parameter_name
from .files import Files
from .kinds import SHELVES, text_fields
from .yaml_source import Node

Steps = tuple[str | int, ...]
"""The way from an entry to something in it."""
Parameters = dict[str, float | None]
"""Parameters by name; None where the value could not be found."""


_NO_FIELDS = {"name": "the key is the name"} | dict.fromkeys(
    (*SHELVES, "components", "instances"), "it is a section of a file or component"
)


class Values:
    """Turns entries into values and gathers what is wrong in the problems of its files."""

    def __init__(self, files: Files):
        self.files = files

    def mapping(self, entry: Entry | None) -> Iterator[tuple[str, Entry]]:
        """The entries of a section; one that is left out or empty has none."""
        if entry is not None and entry.value is not None and self.is_mapping(entry):
            yield from entry.entries()

    def is_mapping(self, entry: Entry) -> bool:
        """Whether an entry is a mapping; a problem if not."""
        if isinstance(entry.value, dict):
            return True
        entry.refuse(f"must be a mapping of names to values (got {entry.shown})")
        return False

    def text(self, entry: Entry | None, default: str) -> str:
        """A text."""
        if entry is None or isinstance(entry.value, str):
            return default if entry is None else entry.value
        entry.refuse(f"must be a text (got {entry.shown})")
        return default

    def number(self, entry: Entry, parameters: Parameters) -> float | None:
        """A finite number."""
        value, failed = self._computed(entry, entry.node, (), frozenset(), parameters)
        if not failed and _is_number(value) and math.isfinite(value):
            return float(value)
        if not failed:
            entry.refuse(f"must be a finite number (got {_shown(value)})")
        return None

    def parameters(self, section: Entry | None, overrides: Parameters) -> Parameters:
        """The values of declared parameters, which may be computed from earlier ones."""
        values: Parameters = {}
        for key, entry in self.mapping(section):
            try:
                name = parameter_name(key)
            except ExpressionError as error:
                entry.refuse(str(error), at_key=True)
                continue
            if name in values:  # written with another character of the same meaning, such as µ and μ
                entry.refuse("means the same as a name before", at_key=True)
            values[name] = overrides[name] if name in overrides else self.number(entry, values)
        return values

    def vector(self, entry: Entry, hint: Any, parameters: Parameters) -> Any:
        """A value of a type that is no item, or None."""
        data, failed = self._computed(entry, entry.node, (), frozenset(), parameters)
        return self._validated(entry, hint, data, failed, {})

    def item(
        self,
        entry: Entry,
        cls: type,
        parameters: Parameters,
        given: dict[str, Any],
        beside: Collection[str] = (),
    ) -> Any:
        """The item that a mapping describes, or None.

        Fields in `given` come from elsewhere; keys in `beside` are allowed in the file, but no fields.
        """
        fields = [name for name in field_names(cls) if name != "name"]
        entry.refuse_unknown([*fields, *beside], _NO_FIELDS)
        data: dict[str, Any] = dict(given)
        failed: list[Steps] = []
        for key, node in entry.value.items():
            if key in fields and key not in given:
                data[key], wrong = self._computed(entry, node, (key,), text_fields(cls), parameters)
                failed += wrong
        return self._validated(entry, cls, data, failed, given)

    def _computed(
        self, entry: Entry, node: Node, path: Steps, texts: frozenset[str], parameters: Parameters
    ) -> tuple[Any, list[Steps]]:
        """The plain value, expressions computed, and the paths where that failed (NaN stands there)."""
        failed: list[Steps] = []

        def compute(node: Node, path: Steps) -> Any:
            value = node.value
            if isinstance(value, dict):
                return {key: compute(inner, (*path, key)) for key, inner in value.items()}
            if isinstance(value, list):
                return [compute(inner, (*path, i)) for i, inner in enumerate(value)]
            if path and path[-1] in texts and isinstance(value, str):
                return self._file(entry, node, path) if path[-1] == "file" else value
            if not is_expression(value):
                return value
            try:
                return evaluate(value, parameters)
            except ExpressionError as error:
                entry.refuse(str(error), path)
            except UnknownValueError:
                pass  # the parameter's own problem is told already
            failed.append(path)
            return math.nan

        return compute(node, path), failed

    def _file(self, entry: Entry, node: Node, path: Steps) -> str:
        """The absolute path of a file that an item names."""
        named = Entry(entry.file, (*entry.path, *map(str, path)), node, entry.find(path)[1], entry.problems)
        return self.files.inside(named) or str(node.value)

    def _validated(
        self, entry: Entry, hint: Any, data: Any, failed: list[Steps], given: dict[str, Any]
    ) -> Any:
        try:
            made = _adapter(hint).validate_python(data)
        except ValidationError as error:
            for path, what in explain(error, hint):
                if path and path[0] in given:
                    entry.refuse(what, at_key=True)
                elif not _follows(entry, path, failed):
                    node, _ = entry.find(path)
                    if not path and not given:
                        what += f" (got {_shown(data)})"
                    if node is not None and is_expression(node.value):
                        what += f", computed from '{node.value}'"
                    entry.refuse(what, path)
            return None
        return None if failed else made


def _follows(entry: Entry, path: Steps, failed: list[Steps]) -> bool:
    """Whether a problem at `path` only comes from the NaN that stands for a failed expression."""
    written = entry.find(path)[0] is not None
    for wrong in failed:
        length = min(len(path), len(wrong)) - (not written and len(path) > 1)
        if path[:length] == wrong[:length] and (length or not wrong):
            return True
    return False


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    return TypeAdapter(hint)
