"""The channel between the server and the pages of visitors: JSON over a websocket at /panel/<visitor>.

A visitor's name is made up by its page, which loads the picture at /canvas/<visitor>: so both belong together.

From the server, lists of messages, each with one key:
    {"panel": [control, ...]}           the whole panel, instead of what was there
    {"add": control}, {"remove": id}    one control; see `gui`
    {"set": {"id": id, name: value}}    other properties of a control
    {"note": {name: value}}             what the page shows beside the panel: see `Channel.note`
    {"tell": {"text": text, "kind": kind}}   a message to this visitor; kind is "error" or "info"
    {"download": {"name": name, "url": url}}  a file for this visitor
    {"canvas": true}                    the picture of this visitor has something to show
From a page, one message at a time:
    {"set": [id, value]}                a control was moved
    {"click": id}                       a button was pressed
    {"open": name}                      a scene is wanted

Nobody waits for a visitor: what a slow one has not fetched yet is replaced by what is newer. What a visitor does is
done in a thread of its own, in order; of several moves of one control only the last is done.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import secrets
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import quote

from ..model import wire
from .reply import Reply

PATH = "/panel"
"""Where pages connect, and fetch files that were made for them."""
_LONGEST = 100_000  # characters of a message from a page
_KEPT_FILES = 8  # that nobody has fetched

Message = dict[str, Any]
Listener = Callable[["Visitor", Message], None]


class _File(NamedTuple):
    name: str
    content: bytes


class Visitor:
    """One page in a browser; `name` is the one that it made up for itself."""

    def __init__(self, name: str, channel: Channel, loop: asyncio.AbstractEventLoop):
        self.name, self._channel, self._loop = name, channel, loop
        self._lock = threading.Lock()
        self._waiting: list[Message] = []
        self._places: dict[tuple[str, object], int] = {}  # of messages that newer ones replace
        self._news = asyncio.Event()
        self._moved: dict[object, Message] = {}
        self._worker = ThreadPoolExecutor(1, "linkwork-visitor")

    def send(self, message: Message) -> None:
        """Let the page know, when it has time."""
        ((key, value),) = message.items()
        with self._lock:
            if key == "panel":  # says all that there is to say of controls
                self._waiting = [one for one in self._waiting if not one.keys() & {"add", "set", "remove"}]
                self._find_places()
            place = _place(message)
            if place is not None and place in self._places:
                old = self._waiting[self._places[place]][key]
                self._waiting[self._places[place]] = {key: {**old, **value} if key == "set" else value}
            else:
                if place is not None:
                    self._places[place] = len(self._waiting)
                self._waiting.append(message)
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._news.set)

    def tell(self, text: str, kind: str = "error") -> None:
        """Show a text to this visitor alone."""
        self.send({"tell": {"text": text, "kind": kind}})

    def give(self, name: str, content: bytes) -> None:
        """Let the visitor download a file."""
        self.send({"download": {"name": name, "url": self._channel.offer(name, content)}})

    def _find_places(self) -> None:
        found = ((_place(message), k) for k, message in enumerate(self._waiting))
        self._places = {place: k for place, k in found if place is not None}

    # In the thread of the server

    async def deliver(self, connection: Any) -> None:
        """Send what waits, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            with self._lock:
                waiting, self._waiting, self._places = self._waiting, [], {}
            if waiting:
                await connection.send(json.dumps(waiting, default=_plain))

    def hear(self, message: Message, listeners: list[Listener]) -> None:
        """Do what the page asks for, after what it asked for before."""
        if "set" in message:
            key = message["set"][0]
            waits = key in self._moved
            self._moved[key] = message
            if not waits:
                self._submit(lambda: self._do(self._moved.pop(key), listeners))
        else:
            self._submit(lambda: self._do(message, listeners))

    def _submit(self, work: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # it has left
            self._worker.submit(work)

    def _do(self, message: Message, listeners: list[Listener]) -> None:
        try:
            for listener in listeners:
                listener(self, message)
        except Exception as error:
            traceback.print_exc()
            self.tell(f"{type(error).__name__}: {error}")

    def leave(self, wait: bool = False) -> None:
        """Do nothing more for it."""
        self._worker.shutdown(wait=wait, cancel_futures=True)


class Channel:
    """All visitors, and what a new one is told."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        """Are told what visitors do, in threads of theirs."""
        self.welcomes: list[Callable[[Visitor], None]] = []
        """Are called for every new visitor, in the thread of the server."""
        self._lock = threading.RLock()
        self._visitors: list[Visitor] = []
        self._gone: list[Visitor] = []
        self._notes: Message = {}
        self._show: Callable[[Visitor], None] | None = None
        self._files: dict[str, _File] = {}

    def show(self, panel: Callable[[Visitor], None]) -> None:
        """Who tells a new visitor of the controls of the panel."""
        self._show = panel

    @property
    def visitors(self) -> list[Visitor]:
        """Those who look now."""
        with self._lock:
            return [*self._visitors]

    def visitor(self, name: str) -> Visitor | None:
        """The visitor of this name, if it looks now."""
        return next((visitor for visitor in self.visitors if visitor.name == name), None)

    def send(self, message: Message, but: Visitor | None = None) -> None:
        """Let all pages know, or all but one."""
        for visitor in self.visitors:
            if visitor is not but:
                visitor.send(message)

    def note(self, name: str, value: Any) -> None:
        """Something that pages show and new ones are told, too: `status`, `progress`, `trouble`, `ended`."""
        with self._lock:
            if self._notes.get(name) == value:
                return
            self._notes[name] = value
            for visitor in self._visitors:
                visitor.send({"note": {name: value}})

    def noted(self, name: str) -> Any:
        """What was noted last."""
        with self._lock:
            return self._notes.get(name)

    def offer(self, name: str, content: bytes) -> str:
        """Where a file can be fetched, once."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            while len(self._files) >= _KEPT_FILES:
                self._files.pop(next(iter(self._files)))
            self._files[key] = _File(name, content)
        return f"{PATH}/file/{key}"

    def answer(self, path: str, query: dict[str, str]) -> Reply | None:
        """A file that was offered."""
        key = path.removeprefix(f"{PATH}/file/")
        if key == path:
            return None
        with self._lock:
            found = self._files.pop(key, None)
        if found is None:
            return Reply(404, "text/plain", b"no such file")
        header = f"attachment; filename*=UTF-8''{quote(found.name)}"
        return Reply(200, "application/octet-stream", found.content, (("Content-Disposition", header),))

    async def receive(self, connection: Any, name: str) -> None:
        """Look after a page until it leaves."""
        visitor = Visitor(name, self, asyncio.get_running_loop())
        with self._lock:
            self._visitors.append(visitor)
            for note, value in self._notes.items():
                visitor.send({"note": {note: value}})
        if self._show is not None:
            self._show(visitor)
        for welcome in self.welcomes:
            welcome(visitor)
        sender = asyncio.create_task(visitor.deliver(connection))
        try:
            from websockets.exceptions import ConnectionClosed

            with contextlib.suppress(ConnectionClosed):
                async for text in connection:
                    message = parsed(text)
                    if message is None or not self.take(visitor, message):
                        visitor.tell(
                            "the page and the server do not understand each other: load the page anew"
                        )
        finally:
            with self._lock:
                self._visitors.remove(visitor)
                self._gone = [*self._gone[-_KEPT_FILES:], visitor]
            sender.cancel()
            visitor.leave()
            self.gone(visitor)

    def take(self, visitor: Visitor, message: Message) -> bool:
        """(thread of the server) Take what a page says; False if it is no message."""
        match message:
            case {"set": [int(), _]} | {"click": int()} | {"open": str()}:
                visitor.hear(message, self.listeners)
                return True
        return False

    def gone(self, visitor: Visitor) -> None:
        """(thread of the server) A page has left."""

    def stop(self) -> None:
        """Wait for what visitors have begun."""
        with self._lock:
            known = [*self._visitors, *self._gone]
        for visitor in known:
            visitor.leave(wait=True)


def _place(message: Message) -> tuple[str, object] | None:
    """What a message is about, if a newer one makes it useless."""
    ((key, value),) = message.items()
    if key == "set":
        return key, value["id"]
    if key == "note":
        return key, next(iter(value))
    return (key, None) if key in ("panel", "operate", "now", "diagram", "live") else None


def parsed(text: Any) -> Message | None:
    """A message from a page, if it is one: an object of JSON."""
    if not isinstance(text, str):
        return None
    try:
        return wire.parsed(text, _LONGEST)
    except ValueError:
        return None


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as JSON has them, without those that it has not."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
