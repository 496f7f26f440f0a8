"""Plain data to YAML that is pleasant to read: short mappings on one line, vectors in brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .yaml_source import UNREADABLE, scalar

_WIDTH = 100
_PLAIN = re.compile(r"[^\W\d][\w.-]*")


def block(data: dict[str, Any], indent: str = "") -> Iterator[str]:
    """The lines of a mapping, one or more for every entry."""
    for key, value in data.items():
        head = f"{indent}{quoted(key)}:"
        line = f"{head} {flow(value)}"
        inner = indent + "  "
        if len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
            yield line
        elif isinstance(value, dict):
            yield head
            yield from block(value, inner)
        elif isinstance(value[0], dict):
            yield head
            for entry in value:
                first, *others = block(entry, inner + "  ")
                yield f"{inner}- {first.lstrip()}"
                yield from others
        else:
            yield f"{head} ["
            yield from _wrapped([flow(entry) for entry in value], inner)
            yield f"{inner}]"


def _wrapped(words: list[str], indent: str) -> Iterator[str]:
    line = indent
    for word in words:
        if line.strip() and len(line) + len(word) >= _WIDTH:
            yield line.rstrip()
            line = indent
        line += f"{word}, "
    yield line.rstrip()


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    # repr gives the shortest digits that read back to the same bits; -0 would lose its sign as an integer.
    text = repr(value)
    return text if text == "-0.0" else text.removesuffix(".0")


def quoted(text: str) -> str:
    """A text, in quotes if it could be taken for something else."""
    if _PLAIN.fullmatch(text) and isinstance(scalar(text), str):
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character in "\t\n\r\x85\u2028\u2029" or UNREADABLE.match(character):
        return f"\\u{ord(character):04x}"
    return character
