"""Elements to XML text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np


@dataclass
class Tag:
    """An element to be written."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list[Tag] = field(default_factory=list)
    comment: str = ""
    words: str = ""
    """Its text, if it holds no elements."""

    def add(self, tag: str, **attributes: Any) -> Tag:
        """Put another element inside; attributes of None are left out. Returns it."""
        made = Tag(
            tag, {key.rstrip("_"): words(value) for key, value in attributes.items() if value is not None}
        )
        self.inside.append(made)
        return made

    def text(self, indent: str = "") -> str:
        """As XML."""
        head = f"{indent}<!-- {escape(self.comment).replace('--', '- -')} -->\n" if self.comment else ""
        start = " ".join(
            [self.name, *(f"{key}={quoteattr(value)}" for key, value in self.attributes.items())]
        )
        if self.words:
            return f"{head}{indent}<{start}>{escape(self.words)}</{self.name}>\n"
        if not self.inside:
            return f"{head}{indent}<{start}/>\n"
        inner = "".join(child.text(indent + "  ") for child in self.inside)
        return f"{head}{indent}<{start}>\n{inner}{indent}</{self.name}>\n"


def words(value: Any) -> str:
    """Numbers with all their digits, separated by blanks; texts as they are."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in np.ravel(value))
