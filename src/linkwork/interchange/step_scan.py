"""What is wrong with the text of a STEP file, with lines, before a CAD kernel reads it; no other file may be named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..model.errors import ModelError, Problem

MAX_BYTES = 500_000_000
"""Largest file that is read."""
_MANY = 20
"""Problems that are told."""
_RECORD = re.compile(rb"\s*#(\d+)\s*=\s*(.*)", re.DOTALL)
_NUMBER = re.compile(rb"(?<![A-Za-z0-9_.$])([-+]?(?:nan|inf)[a-z]*)(?![A-Za-z0-9_])", re.IGNORECASE)
_FILES = (b"DOCUMENT_FILE", b"EXTERNAL_SOURCE", b"EXTERNALLY_DEFINED")
_CODE = re.compile(rb"'(?:[^']|'')*'|/\*.*?\*/", re.DOTALL)
"""Texts and comments."""


class Record(NamedTuple):
    """One entity of the data section."""

    number: int
    line: int
    code: bytes
    """What it is, without its texts."""


def check_step(file: Path) -> None:
    """Raise a ModelError with everything that is wrong with the text of a file."""
    data = _read(file)
    problems: list[Problem] = []

    def refuse(what: str, line: int | None = None) -> None:
        problems.append(Problem("", what, file, line))

    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"ISO-10303-21"):
        refuse("is not STEP: it must begin with ISO-10303-21;", 1)
        raise ModelError(problems)
    begin = re.search(rb"\bDATA\s*(\([^;]*\))?\s*;", data)
    if begin is None:
        refuse("has no section DATA;")
        raise ModelError(problems)
    if b"END-ISO-10303-21" not in data[begin.end() :]:
        refuse("is cut off: END-ISO-10303-21; is missing", data.count(b"\n") + 1)
    records: dict[int, Record] = {}
    for record in _records(data, begin.end()):
        if record.number in records:
            refuse(
                f"#{record.number} is there twice, first in line {records[record.number].line}", record.line
            )
        records[record.number] = record
    if not records:
        refuse("has no entities in its section DATA;", data.count(b"\n", 0, begin.end()) + 1)
    for record in records.values():
        if len(problems) >= _MANY:
            break
        for reference in re.findall(rb"#(\d+)", record.code):
            if int(reference) not in records:
                refuse(f"#{record.number} needs #{int(reference)}, which is not there", record.line)
        if (number := _NUMBER.search(record.code)) is not None:
            refuse(f"#{record.number} has the number {number[1].decode()}", record.line)
        if record.code.lstrip(b"( ").startswith(_FILES):
            what = "names another file, and others are not read: export the assembly as one file"
            refuse(f"#{record.number} {what}", record.line)
    _circles(records, refuse)
    if problems:
        raise ModelError(problems)


def _read(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise ModelError(
                [Problem("", "there is no such file" if not file.exists() else "is not a file", file)]
            )
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelError([Problem("", f"cannot be read: {error.strerror or error}", file)]) from None
    if len(data) > MAX_BYTES:
        raise ModelError([Problem("", f"is larger than {MAX_BYTES // 1_000_000} MB", file)])
    return data


def _records(data: bytes, start: int) -> Iterator[Record]:
    """Entities with their lines."""
    line = data.count(b"\n", 0, start) + 1
    for text in _statements(data[start:]):
        if (found := _RECORD.match(text)) is not None:
            head = len(text) - len(text.lstrip())
            yield Record(int(found[1]), line + text.count(b"\n", 0, head), _CODE.sub(b" ", found[2]))
        line += text.count(b"\n")


def _statements(data: bytes) -> Iterator[bytes]:
    """Text between semicolons; those in texts and comments do not count."""
    begin = 0
    for found in re.finditer(rb"'(?:[^']|'')*'|/\*.*?\*/|;", data, re.DOTALL):
        if found.group() == b";":
            yield data[begin : found.start()]
            begin = found.end()


def _circles(records: dict[int, Record], refuse: Callable[[str, int], None]) -> None:
    """Assemblies that contain themselves."""
    parts: dict[int, list[tuple[int, int]]] = {}
    for record in records.values():
        if record.code.startswith(b"NEXT_ASSEMBLY_USAGE_OCCURRENCE"):
            ends = [int(one) for one in re.findall(rb"#(\d+)", record.code)]
            if len(ends) >= 2:
                parts.setdefault(ends[0], []).append((ends[1], record.line))
    done: set[int] = set()
    for root in parts:
        trail: list[int] = []
        waiting: list[tuple[int, int, bool]] = [(root, 0, False)]
        while waiting:
            node, line, leave = waiting.pop()
            if leave:
                trail.pop()
                done.add(node)
            elif node in trail:
                refuse("an assembly contains itself", line)
                return
            elif node not in done:
                trail.append(node)
                waiting.append((node, line, True))
                waiting += [(inner, at, False) for inner, at in parts.get(node, ())]
