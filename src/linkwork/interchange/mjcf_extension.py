"""What MJCF cannot say, in texts of its own: `<custom><text name="linkwork_1" data="spring name=..."/>`.

MuJoCo keeps such texts and reads nothing in them. Each holds one element of an extension (`extension.py`) without its
angle brackets.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..model.errors import ModelError
from ..model.item import Item
from .extension import TAG
from .extension_text import item_tag, set_tag
from .report import LossReport
from .values import Values
from .xml_source import Element, read_xml
from .xml_text import Tag


class Extension:
    """Gathers what Linkwork is to change of what it reads."""

    def __init__(self, report: LossReport):
        self.report = report
        self.drops: list[Tag] = []
        self.items: list[Tag] = []
        self.sets: list[Tag] = []

    def drop(self, shelf: str, name: str) -> None:
        """Remove what stands for something else."""
        self.drops.append(Tag("drop", {"shelf": shelf, "name": name}))

    def add(self, item: Item, instead: str | None = None) -> bool:
        """Add an item, in place of the one that is read under the name `instead`. False where it cannot be written."""
        if any(getattr(shape, "file", None) for shape in getattr(item, "shapes", ())):
            return False
        tag = item_tag(item, self.report)
        if tag is None:
            return False
        if instead is not None and item.shelf != "joints":
            self.drop(item.shelf, instead)
        elif instead is not None and instead != item.name:
            self.drop("joints", instead)
        self.items.append(tag)
        return True

    def change(self, shelf: str, name: str, fields: dict[str, Any]) -> None:
        """Change fields of what is read."""
        self.sets.append(set_tag(shelf, name, fields))

    def texts(self) -> Tag | None:
        """All of it as a section of MJCF."""
        parts = [*self.drops, *self.items, *self.sets]
        if not parts:
            return None
        section = Tag("custom")
        for number, part in enumerate(parts, 1):
            section.add("text", name=f"{TAG}_{number}", data=part.text().strip()[1:-2])
        return section


def extension_of(roots: Sequence[Element], values: Values) -> Element | None:
    """The extension that files of MJCF hold, if they hold one."""
    found: Element | None = None
    for root in roots:
        for section in root.all("custom"):
            for text in section.all("text"):
                if not text.attributes.get("name", "").startswith(f"{TAG}_"):
                    continue
                if found is None:
                    found = Element(TAG, {}, text.file, text.line, text.column)
                if (part := _parsed(text, values)) is not None:
                    found.children.append(part)
    return found


def _parsed(text: Element, values: Values) -> Element | None:
    try:
        inner = read_xml(Path("text"), f"<{text.attributes.get('data', '')}/>".encode())
    except ModelError as error:
        values.refuse(text, error.problems[0].what, "data")
        return None
    return Element(inner.tag, inner.attributes, text.file, text.line, text.column)
