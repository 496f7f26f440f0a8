"""The channel of the diagram's page: JSON over a websocket at /edit/<visitor>. All editors share one draft.

From the server, lists of messages, each with one key:
    {"diagram": {...}}                  the level that this visitor looks at, drawn, and what can be done: see `_told`
    {"live": {output: value}}           values of wires of the model that runs
    {"form": form}                      of the block that was chosen: see `diagram.form`
    {"chosen": name}                    a block that was made or renamed
    {"note": ...}, {"tell": ...}        as in `channel`
From a page, one message at a time:
    {"do": [name, argument, ...]}       a change: see `_DEEDS`
    {"open": name}                      look inside an instance; "" is the top
    {"form": name}                      a block was chosen
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..control.diagram import Diagram
from ..control.svg import diagram_svg
from ..model import wire
from ..model.errors import LinkworkError
from .channel import Channel, Message, Visitor
from .diagram import edits
from .diagram.draft import Draft
from .diagram.form import form_of, palette, wires_of

if TYPE_CHECKING:
    from ..live.session import Session

PATH = "/edit"
"""Where pages of the diagram connect."""
_RATE, _LOOK = 10.0, 1.0  # of live values [1/s]; between looks at the file [s]


class _Deed(NamedTuple):
    """A change that a page asks for; one that makes a block gives its name."""

    do: Callable[..., str | None]
    given: tuple[Callable[[Any], bool], ...]
    """What each argument must be."""
    inside: bool = False
    """It takes the level that the visitor looks at, first."""


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _spot(value: Any) -> bool:
    numbers = [wire.number(one) for one in value] if isinstance(value, list) else []
    finite = [number is not None and math.isfinite(number) for number in numbers]
    return value is None or (len(finite) == 2 and all(finite))


_DEEDS = {
    "connect": _Deed(edits.connect, (_text, _text, _text)),
    "cut": _Deed(edits.cut, (_text, _text)),
    "negate": _Deed(edits.negate, (_text, _text)),
    "delete": _Deed(edits.delete, (_texts,)),
    "put": _Deed(edits.put, (_text, _text, _text)),
    "move": _Deed(edits.move, (_text, _spot)),
    "rename": _Deed(edits.rename, (_text, _text)),
    "add": _Deed(edits.add, (_text,), inside=True),
    "group": _Deed(edits.group, (_texts, _text), inside=True),
    "undo": _Deed(Draft.undo, ()),
    "redo": _Deed(Draft.redo, ()),
    "save": _Deed(Draft.save, ()),
    "reload": _Deed(Draft.reload, ()),
}


class Editors(Channel):
    """All who look at the diagram of what runs, or edit it."""

    def __init__(self) -> None:
        super().__init__()
        self.draft: Draft | None = None
        """Of the file of the model that runs; None if it is of no file, or of one that cannot be read."""
        self._session: Session | None = None
        self._settings: Mapping[str, Any] = {}
        self._inside: dict[Visitor, str] = {}
        self._trouble = ""
        self._next_values = self._next_look = 0.0
        self.welcomes.append(self._welcome)
        self.listeners.append(self._hear)

    def follow(self, session: Session | None, settings: Mapping[str, Any]) -> None:
        """(thread of the pictures) Follow what runs."""
        now = time.monotonic()
        if session is not self._session:
            self._begin(session, settings)
        if not self.visitors:
            return
        if now > self._next_look:
            self._next_look = now + _LOOK
            self._follow()
        if session is not None and now > self._next_values:
            self._next_values = now + 1.0 / _RATE
            diagram = session.loop.simulation.diagram
            values = session.view.values
            if diagram is not None:
                self.send({"live": {name: values[name] for name in diagram.outputs if name in values}})

    def take(self, visitor: Visitor, message: Message) -> bool:
        match message:
            case {"do": [str(), *_]} | {"open": str()} | {"form": str()}:
                visitor.hear(message, self.listeners)
                return True
        return False

    def gone(self, visitor: Visitor) -> None:
        self._inside.pop(visitor, None)

    # Within

    def _begin(self, session: Session | None, settings: Mapping[str, Any]) -> None:
        """Another model runs."""
        self._session, self._settings = session, dict(settings)
        self._inside = dict.fromkeys(self._inside, "")
        self._load()

    def _load(self) -> None:
        """Read the file of what runs."""
        self.draft, self._trouble = None, ""
        file = None if self._session is None else next(iter(self._session.written.files), None)
        if file is not None and Path(file).suffix in (".yaml", ".yml"):
            try:
                self.draft = Draft(Path(file), self._settings)
            except LinkworkError as error:
                self._trouble = str(error)
        self._tell_all()

    def _follow(self) -> None:
        """The file may have been changed beside the page."""
        if self.draft is None:
            if self._trouble:
                self._load()
        elif not self.draft.dirty and self.draft.stale:
            try:
                self.draft.reload()
            except LinkworkError as error:
                self.draft, self._trouble = None, str(error)
            self._tell_all()

    def _welcome(self, visitor: Visitor) -> None:
        self._inside[visitor] = ""
        visitor.send({"palette": palette()})
        self._tell(visitor)

    def _tell_all(self) -> None:
        for visitor in self.visitors:
            self._tell(visitor)

    def _tell(self, visitor: Visitor) -> None:
        visitor.send({"diagram": self._told(self._inside.get(visitor, ""))})

    def _told(self, inside: str) -> Message:
        """What a page shows of a level."""
        draft = self.draft
        diagram = draft.diagram if draft is not None else self._running()
        named = self._session.written.name if self._session is not None else ""
        about: Message = {
            "inside": inside, "editable": draft is not None, "trouble": self._trouble,
            "file": draft.path.name if draft is not None else "", "name": named,
            "svg": "" if diagram is None
            else diagram_svg(diagram, inside, title=f"control diagram of {named}", styled=False),
            "faults": [] if diagram is None else [
                {"block": fault.block, "path": "/".join(map(str, fault.path)), "what": fault.what}
                for fault in diagram.faults
            ],
        }  # fmt: skip
        if draft is not None:
            about |= {
                "dirty": draft.dirty, "undo": draft.can_undo, "redo": draft.can_redo, "wires": wires_of(draft, inside),
            }  # fmt: skip
        return about

    def _running(self) -> Diagram | None:
        return None if self._session is None else self._session.loop.simulation.diagram

    def _hear(self, visitor: Visitor, message: Message) -> None:
        """(thread of the visitor) Do what an editor wants."""
        try:
            match message:
                case {"open": str() as inside}:
                    self._inside[visitor] = inside
                    self._tell(visitor)
                case {"form": str() as name}:
                    if self.draft is not None:
                        visitor.send({"form": form_of(self.draft, name)})
                case {"do": [str() as deed, *given]}:
                    self._do(visitor, deed, given)
        except LinkworkError as error:
            visitor.tell(str(error))
            self._tell(visitor)  # what was dragged goes back

    def _do(self, visitor: Visitor, deed: str, given: list[Any]) -> None:
        draft = self.draft
        if draft is None:
            raise LinkworkError(
                self._trouble
                or "only diagrams of model files (.yaml) can be edited: `linkwork view my-machine.yaml`"
            )
        known = _DEEDS.get(deed)
        if known is None:
            raise LinkworkError(f"an editor cannot '{deed}'")
        if len(given) != len(known.given) or not all(
            fits(one) for fits, one in zip(known.given, given, strict=True)
        ):
            raise LinkworkError(
                f"the page asks to '{deed}' in a way that the server does not know: load it anew"
            )
        level = [self._inside.get(visitor, "")] if known.inside else []
        made = known.do(draft, *level, *given)
        self._tell_all()
        if made:
            visitor.send({"chosen": made})
