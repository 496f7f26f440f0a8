"""A model file whose diagram is being edited: a draft of its text, all versions before, and what the last one means.

Changes go into the text, so that the file keeps its comments and its order. A change that would make the file one that
cannot be read is refused and leaves everything as it was; what is wrong with the diagram alone (an open input, a loop)
may stay while somebody works on it, and is shown where it is.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...control.diagram import Diagram
from ...io.edit_text import Path as Way
from ...io.edit_text import TextEditor
from ...io.reader import parse_draft
from ...model import Flat, Model
from ...model.errors import LinkworkError, nearest
from ...results.files import atomic

_KEPT = 200  # versions


class Draft:
    """The draft of a model file; `settings` are its parameters."""

    def __init__(self, path: Path, settings: Mapping[str, float] | None = None):
        self.path, self._settings = path, dict(settings or {})
        self.version = 0
        """Counts changes of any kind."""
        self.reload()

    def reload(self) -> None:
        """Read the file anew; what was not saved is lost."""
        self.saved = self._read()
        self._past: list[str] = []
        self._future: list[str] = []
        self._become(self.saved)

    @property
    def stale(self) -> bool:
        """Whether the file is no longer what was read or saved here."""
        try:
            return self._read() != self.saved
        except LinkworkError:
            return True

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self.text != self.saved

    @property
    def can_undo(self) -> bool:
        """Whether there is something to take back."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether something was taken back."""
        return bool(self._future)

    def change(self, alter: Callable[[TextEditor], object]) -> None:
        """Change the text; refused with the reason if it could not be read then."""
        editor = TextEditor(self.text)
        alter(editor)
        if editor.text == self.text:
            return
        before = self.text
        self._become(editor.text)
        self._past = [*self._past[-_KEPT:], before]
        self._future = []

    def undo(self) -> None:
        """Take back the last change."""
        if not self._past:
            raise LinkworkError("there is nothing to undo")
        self._future.append(self.text)
        self._become(self._past.pop())

    def redo(self) -> None:
        """Do again what was taken back."""
        if not self._future:
            raise LinkworkError("there is nothing to redo")
        self._past.append(self.text)
        self._become(self._future.pop())

    def save(self) -> None:
        """Write the file; an error if somebody else changed it meanwhile."""
        if self.stale:
            raise LinkworkError(
                f"{self.path.name} was changed by somebody else since it was read: reload it (your changes are lost)"
            )
        with atomic(self.path) as temporary:
            temporary.write_bytes(self.text.encode())
            shutil.copymode(self.path.resolve(), temporary)
        self.saved = self.text
        self.version += 1

    # Where things are written

    def entry(self, name: str) -> Way:
        """Where a block or an instance is written, by its name with dots."""
        inside, _, own = name.rpartition(".")
        base = self.base(inside)
        editor = TextEditor(self.text)
        for section in ("control", "instances"):
            if editor.has((*base, section, own)):
                return (*base, section, own)
        known = [*(editor.plain((*base, "control")) or {}), *(editor.plain((*base, "instances")) or {})]
        raise LinkworkError(f"there is no block '{name}' in this file{nearest(own, known)}")

    def base(self, inside: str) -> Way:
        """Where the component is written that an instance places; nothing for the model itself."""
        base: Way = ()
        editor = TextEditor(self.text)
        for head in filter(None, inside.split(".")):
            component = editor.plain((*base, "instances", head, "component"))
            base = ("components", str(component))
            definition = editor.plain(base)
            if not isinstance(definition, dict):
                raise LinkworkError(f"'{head}' is no instance of a component of this file")
            if "include" in definition:
                raise LinkworkError(
                    f"component '{component}' is written in {definition['include']}: open that file"
                )
            if "wheel" in definition:
                raise LinkworkError(
                    f"component '{component}' is made by the wheel constructor and cannot be edited"
                )
        return base

    # Within

    def _become(self, text: str) -> None:
        model = parse_draft(text, self.path, self._settings)
        flat = model.flatten()
        self.diagram = Diagram.of(flat)
        self.text, self.model, self.flat = text, model, flat
        self.version += 1

    text: str
    """Of the file as it would be saved."""
    model: Model
    flat: Flat
    diagram: Diagram
    """What the draft means."""

    def _read(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise LinkworkError(f"{self.path} cannot be read: {error}") from None


def plain_value(text: str) -> Any:
    """What somebody wrote into a field of a form means, as in a model file."""
    editor = TextEditor(f"value: {text}\n")
    value = editor.plain(("value",))
    if isinstance(value, dict) and not text.lstrip().startswith("{"):
        raise LinkworkError(f"'{text}' is not a value: put texts with ': ' in quotes")
    return value
