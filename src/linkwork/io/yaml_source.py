"""YAML text to plain data that still knows the line and column of every value and key.

Scalars follow YAML 1.2: `1e3` is a number, `no` and `on` are texts, `010` is ten. Built from the parser's
events rather than its constructors, so that nothing in a file can make an object, and so that depth and
aliases stay bounded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ..model.errors import ModelError, Problem

MAX_BYTES = 20_000_000
"""Largest file that is read or written."""
MAX_DEPTH = 50
MAX_ALIASED = 100_000
"""Values that aliases may add: a few hundred bytes of nested aliases can stand for billions."""

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_PREFIXED = re.compile(r"0x[0-9a-fA-F]{1,12}|0o[0-7]{1,16}")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Node:
    """A value as it was written."""

    value: Any
    """None, bool, int, float or str; of a collection, list[Node] or dict[str, Node]."""
    line: int
    column: int
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Line and column of every key of a mapping."""
    size: int = 1
    """Number of values in it, aliases spelled out."""
    height: int = 0
    """Levels below it, aliases spelled out."""

    def plain(self) -> Any:
        """The value with plain lists and dicts."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


class _SourceError(Exception):
    """Something wrong at a line and column; inside this module only."""

    def __init__(self, what: str, line: int | None = None, column: int | None = None):
        self.what, self.line, self.column = what, line, column


def read_source(file: Path, text: str | None = None) -> tuple[Node, list[Problem]]:
    """The one document in a YAML file, and its keys that stand twice; ModelError if it is not YAML.

    With `text`, that is read in place of the file, which only gives its name to messages.
    """
    try:
        composer = _Composer()
        node = composer.compose(_read_text(file) if text is None else text)
        return node, [Problem("", error.what, file, error.line, error.column) for error in composer.twice]
    except _SourceError as error:
        raise ModelError([Problem("", error.what, file, error.line, error.column)]) from None
    except OSError as error:
        raise ModelError([Problem("", f"cannot be read: {error.strerror or error}", file)]) from None


def scalar(text: str) -> Any:
    """What a plain (unquoted) scalar of YAML 1.2 stands for."""
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        # Longer ones do not fit a float exactly anyway, and Python refuses integers of 5000 digits.
        return int(text) if text.lstrip("+-").isdigit() and len(text) < 16 else float(text)
    return int(text, 0) if _PREFIXED.fullmatch(text) else text


def _read_text(file: Path) -> str:
    if file.is_dir():
        raise _SourceError("is a folder, not a model file")
    if not file.exists():
        raise _SourceError("there is no such file")
    if not file.is_file():  # a pipe or device might never end
        raise _SourceError("is not a regular file")
    with file.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _SourceError(f"is larger than {MAX_BYTES // 1_000_000} MB, the limit for a model file")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _SourceError("is UTF-16 text; save it as UTF-8", 1, 1)
    if b"\0" in data:
        raise _SourceError("is a binary file, not YAML text", data.count(b"\n", 0, data.index(b"\0")) + 1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _SourceError(
            f"is not UTF-8 text (byte 0x{data[error.start]:02x}); save it as UTF-8", line
        ) from None


class _Composer:
    """Turns the parser's events into nodes."""

    def __init__(self) -> None:
        self.events: Iterator[Any] = iter(())
        self.anchors: dict[str, Node | None] = {}
        self.aliased = 0
        self.twice: list[_SourceError] = []

    def compose(self, text: str) -> Node:
        strange = UNREADABLE.search(text)
        if strange:
            line = text.count("\n", 0, strange.start()) + 1
            column = strange.start() - text.rfind("\n", 0, strange.start())
            raise _SourceError(f"has the unreadable character U+{ord(strange.group()):04X}", line, column)
        self.events = yaml.parse(text, Loader=_LOADER)
        try:
            return self.document()
        except yaml.YAMLError as error:
            what = ", ".join(filter(None, (getattr(error, "context", ""), getattr(error, "problem", ""))))
            mark: Any = getattr(error, "problem_mark", None)
            if mark is None:
                raise _SourceError(f"is not valid YAML: {what or error}") from None
            lines = text.splitlines()
            if mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "\t":
                what = "a tab stands here; indent with spaces"
            raise _SourceError(f"is not valid YAML: {what}", mark.line + 1, mark.column + 1) from None

    def document(self) -> Node:
        root: Node | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise _refuse(event, "a second document; a model file has only one")
                root = self.node(next(self.events), 0)
        if root is None:
            raise _SourceError("is empty", 1, 1)
        return root

    def node(self, event: Any, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, depth)
        if event.tag is not None:
            name = event.tag.replace("tag:yaml.org,2002:", "!!")
            raise _refuse(event, f"the tag {name} is not allowed: a model file holds plain data only")
        self._check_depth(event, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = None  # until it is complete, so that it cannot contain itself
        made = self.content(event, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = made
        return made

    def content(self, event: Any, depth: int) -> Node:
        line, column = _place(event)
        if isinstance(event, yaml.ScalarEvent):
            return Node(scalar(event.value) if event.implicit[0] else event.value, line, column)
        if isinstance(event, yaml.SequenceStartEvent):
            entries = []
            while not isinstance(inner := next(self.events), yaml.SequenceEndEvent):
                entries.append(self.node(inner, depth + 1))
            return _collection(entries, line, column, {}, entries)
        values: dict[str, Node] = {}
        keys: dict[str, tuple[int, int]] = {}
        while not isinstance(inner := next(self.events), yaml.MappingEndEvent):
            if not isinstance(inner, yaml.ScalarEvent) or inner.tag is not None:
                raise _refuse(inner, "a key must be a plain name")
            key = inner.value
            value = self.node(next(self.events), depth + 1)
            if key in values:
                self.twice.append(_refuse(inner, f"the key '{key}' stands already in line {keys[key][0]}"))
                continue
            keys[key] = _place(inner)
            values[key] = value
        return _collection(values, line, column, keys, values.values())

    def alias(self, event: Any, depth: int) -> Node:
        if event.anchor not in self.anchors:
            raise _refuse(event, f"there is no anchor &{event.anchor} before this")
        target = self.anchors[event.anchor]
        if target is None:
            raise _refuse(event, f"the alias *{event.anchor} stands inside its own anchor")
        self.aliased += target.size
        if self.aliased > MAX_ALIASED:
            raise _refuse(event, f"aliases spell out to more than {MAX_ALIASED} values")
        self._check_depth(event, depth + target.height)
        return target

    def _check_depth(self, event: Any, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise _refuse(event, f"is nested deeper than {MAX_DEPTH} levels")


def _collection(value: Any, line: int, column: int, keys: Any, children: Collection[Node]) -> Node:
    size = 1 + sum(child.size for child in children)
    return Node(value, line, column, keys, size, 1 + max((child.height for child in children), default=0))


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _refuse(event: Any, what: str) -> _SourceError:
    return _SourceError(what, *_place(event))
