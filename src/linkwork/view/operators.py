"""The channel of the operator's panel: JSON over a websocket at /operate/<visitor>, beside that of the page.

A connection of its own: what an operator does must not wait behind plots. It is taken in the thread of the server and
left at the session's desk (`live.desk`), where the physics finds it before its next step.

From the server, lists of messages, each with one key:
    {"operate": panel}                  the whole panel, instead of what was there: see `operated`
    {"now": {"values": {input: value}, "held": {input: operator}, "readings": {signal: value}, "latency": [...],
             "on": [action]}}           where everything stands; latency: median and 95 % [s] and how many events
    {"you": name}                       what this operator is called
    {"refused": {"input": name, "why": text}}  an input that this operator may not have now
    {"pong": [page's time, server's time]}     [ms by the page's clock, s by the server's]
    {"note": ...}, {"tell": ...}        as in `channel`
From a page, one message at a time:
    {"put": [input, value, hold], "seq": number, "at": time}   a lever was moved, and is held or let go
    {"release": input, "seq": number, "at": time}              a lever is let go
    {"ping": page's time, "seq": number}                       somebody is there
    {"act": name}                       an action of the panel: see `operated`
`seq` grows with every message of a page; what comes after a later one is not obeyed. `at` is when the event was, by the
server's clock [s], or null if the page does not know that clock yet. From whom nothing is heard for `SILENCE` seconds,
everything that it holds is let go; so it is when the connection ends.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from ..model import wire
from ..model.errors import LinkworkError
from .channel import Channel, Message, Visitor
from .operated import act, operated, pressed

if TYPE_CHECKING:
    from ..live.session import Session

PATH = "/operate"
"""Where operators' pages connect."""
_NOTHING: Message = {"groups": [], "actions": []}
_EVERY = 2  # pictures between two messages of where everything stands


class Operators(Channel):
    """All operators of the session that runs."""

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None
        """What runs."""
        self._names: dict[Visitor, str] = {}
        self._counted = itertools.count(1)
        self._panel: Message = _NOTHING
        self._readings: tuple[str, ...] = ()
        self._version = -1
        self._pictures = 0
        self._told: Message = {}
        self.welcomes.append(self._welcome)
        self.listeners.append(self._act)

    def name_of(self, visitor: Visitor) -> str:
        """What an operator is called."""
        return self._names[visitor]

    def follow(self, session: Session | None) -> None:
        """(thread of the pictures) Tell operators where everything stands."""
        if session is not self.session or (session and session.desk.version != self._version):
            self._begin(session)
        self._pictures += 1
        if session is None or self._pictures % _EVERY or not self.visitors:
            return
        values, desk = session.view.values, session.desk
        latency = desk.latency
        now = {
            "values": dict(desk.values), "held": desk.owners,
            "readings": {name: values[name] for name in self._readings if name in values},
            "latency": [latency.median, latency.most, latency.events], "on": pressed(session),
        }  # fmt: skip
        if now != self._told:
            self._told = now
            self.send({"now": now})

    def take(self, visitor: Visitor, message: Message) -> bool:
        match message:
            case {"ping": int() | float() as then, "seq": int() as number}:
                if self.session is not None:
                    clock = self.session.desk.clock
                    self.session.desk.hear(self._names[visitor], number)
                    visitor.send({"pong": [then, clock()]})
                return True
            case {"put": [str() as name, value, bool() as hold], "seq": int() as number}:
                found = wire.number(value)
                if found is None:
                    return False
                self._obey(visitor, number, name, message, value=found, hold=hold)
                return True
            case {"release": str() as name, "seq": int() as number}:
                self._obey(visitor, number, name, message)
                return True
            case {"act": str()}:
                visitor.hear(message, self.listeners)
                return True
        return False

    def gone(self, visitor: Visitor) -> None:
        name = self._names.pop(visitor, None)
        if name is not None and self.session is not None:
            self.session.desk.leave(name)

    # Within

    def _begin(self, session: Session | None) -> None:
        """Another session, or other inputs of the same: another panel."""
        if self.session is not None and session is not self.session:
            for name in self._names.values():
                self.session.desk.leave(name)
        self.session, self._told = session, {}
        if session is not None:
            self._version = session.desk.version
        self._panel = _NOTHING if session is None else operated(session)
        self._readings = tuple(
            element["reading"]["signal"]
            for group in self._panel["groups"]
            for element in group["elements"]
            if element.get("reading") and element["reading"]["signal"]
        )
        self.send({"operate": self._panel})

    def _welcome(self, visitor: Visitor) -> None:
        name = self._names[visitor] = f"operator {next(self._counted)}"
        visitor.send({"you": name})
        visitor.send({"operate": self._panel})
        if self._told:
            visitor.send({"now": self._told})

    def _act(self, visitor: Visitor, message: Message) -> None:
        """(thread of the visitor) Do an action of the panel."""
        if self.session is not None:
            try:
                act(self.session, message["act"])
            except LinkworkError as error:
                visitor.tell(str(error))

    def _obey(self, visitor: Visitor, number: int, name: str, message: Message, **put: Any) -> None:
        session, operator = self.session, self._names[visitor]
        if session is None or not session.desk.hear(operator, number):
            return
        at = wire.number(message.get("at"))
        when = None if at is None or not math.isfinite(at) or session.loop.stands else at
        try:
            if put:
                session.desk.put(operator, name, at=when, **put)
            else:
                session.desk.release(operator, name, at=when)
        except LinkworkError as error:
            visitor.send({"refused": {"input": name, "why": str(error)}})
