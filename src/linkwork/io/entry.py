"""A value of a model file together with the way to it, for messages that point at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..model.errors import Problem, nearest
from ..model.item import _shown
from .yaml_source import Node


@dataclass(frozen=True)
class Entry:
    """What was written, where, and how it is reached in the document."""

    file: Path
    path: tuple[str, ...]
    node: Node
    key: tuple[int, int]
    """Line and column of its key."""
    problems: list[Problem]
    """What is wrong anywhere in the model."""

    @property
    def value(self) -> Any:
        return self.node.value

    @property
    def shown(self) -> str:
        """The value, for messages."""
        return _shown(self.node.plain())

    def get(self, key: str) -> Entry | None:
        """The entry of a mapping under a key."""
        return self._at(key) if isinstance(self.value, dict) and key in self.value else None

    def entries(self) -> Iterator[tuple[str, Entry]]:
        """All entries of a mapping, in the order of the file."""
        for key in self.value:
            yield key, self._at(key)

    def _at(self, key: str) -> Entry:
        return Entry(self.file, (*self.path, key), self.value[key], self.node.keys[key], self.problems)

    def find(self, path: Iterable[str | int]) -> tuple[Node | None, tuple[int, int]]:
        """What stands at the end of `path`, or None, and the place of the last key on the way to it."""
        node, place = self.node, self.key
        for part in path:
            if isinstance(node.value, dict) and part in node.value:
                place = node.keys[str(part)]
                node = node.value[part]
            elif isinstance(node.value, list) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
                place = node.line, node.column
            else:
                return None, place
        return node, place

    def problem(self, what: str, path: Iterable[str | int] = (), *, at_key: bool = False) -> Problem:
        """Something wrong here, or further down along `path`.

        Points at a scalar itself, but at the key of a collection or of what lacks something.
        """
        path = tuple(path)
        node, (line, column) = self.find(path)
        if node is not None and not at_key and not isinstance(node.value, dict | list):
            line, column = node.line, node.column
        return Problem(".".join([*self.path, *map(str, path)]), what, self.file, line, column)

    def refuse(self, what: str, path: Iterable[str | int] = (), *, at_key: bool = False) -> None:
        """Note a problem; arguments as for `problem`."""
        self.problems.append(self.problem(what, path, at_key=at_key))

    def refuse_unknown(self, known: Iterable[str], reasons: dict[str, str] | None = None) -> None:
        """Note every key of a mapping that is not `known`; some have a better reason than that."""
        known = tuple(known)
        for key, entry in self.entries():
            if key not in known:
                why = (reasons or {}).get(key)
                what = f"is not allowed here: {why}" if why else f"is not known here{nearest(key, known)}"
                entry.refuse(what, at_key=True)
