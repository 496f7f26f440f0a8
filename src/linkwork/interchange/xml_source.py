"""XML text to plain elements that know their line and column.

Document types are refused, and with them entities: nothing in a file can grow, and nothing is read beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ..model.errors import ModelError, Problem

MAX_BYTES = 50_000_000
"""Largest file that is read."""
MAX_DEPTH = 500
MAX_ELEMENTS = 500_000


@dataclass(eq=False)
class Element:
    """An element as it was written."""

    tag: str
    attributes: dict[str, str]
    file: Path
    line: int
    column: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def find(self, tag: str) -> Element | None:
        """The first child of a tag."""
        return next(self.all(tag), None)

    def all(self, tag: str) -> Iterator[Element]:
        """All children of a tag."""
        return (child for child in self.children if child.tag == tag)

    def problem(self, what: str, attribute: str = "") -> Problem:
        """Something wrong here."""
        name = self.attributes.get("name", "")
        where = self.tag + (f" '{name[:60]}'" if name else "") + (f".{attribute}" if attribute else "")
        return Problem(where, what, self.file, self.line, self.column)


def read_xml(file: Path, text: bytes | None = None) -> Element:
    """The root element of an XML file, or of `text` that stands for its content; ModelError if it is none."""
    if text is None:
        try:
            with file.open("rb") as stream:
                text = stream.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            raise _error(file, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > MAX_BYTES:
        raise _error(file, f"is larger than {MAX_BYTES // 1_000_000} MB")
    return _Builder(file).build(text)


def _error(file: Path, what: str, line: int | None = None, column: int | None = None) -> ModelError:
    return ModelError([Problem("", what, file, line, column)])


class _Builder:
    """Makes elements of what the parser tells."""

    def __init__(self, file: Path):
        self.file = file
        self.open: list[Element] = []
        self.root: Element | None = None
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.data
        self.parser.StartDoctypeDeclHandler = self.doctype

    def build(self, text: bytes) -> Element:
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            what = f"is not XML: {expat.ErrorString(error.code)}"
            raise _error(self.file, what, error.lineno, error.offset + 1) from None
        except (ValueError, LookupError) as error:  # an encoding that is not known
            raise _error(self.file, f"is not XML: {error}") from None
        assert self.root is not None
        return self.root

    def here(self, what: str) -> ModelError:
        return _error(self.file, what, self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise self.here(f"has more than {MAX_ELEMENTS} elements")
        if len(self.open) >= MAX_DEPTH:
            raise self.here(f"is nested deeper than {MAX_DEPTH} elements")
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        made = Element(tag, attributes, self.file, line, column)
        if self.open:
            self.open[-1].children.append(made)
        else:
            self.root = made
        self.open.append(made)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        if self.open:
            self.open[-1].text += text

    def doctype(self, *_: object) -> None:
        raise self.here(
            "has a document type, which could define entities that grow or read other files; remove it"
        )
