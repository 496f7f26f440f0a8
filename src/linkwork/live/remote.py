"""Programs that drive a session and read it, over UDP or a websocket: a user's own controller, hardware in the loop.

Both carry the same objects of JSON. A program says, each field but `seq` being optional:
    {"seq": 7, "put": {"motor": 0.5}, "release": ["motor"], "outputs": ["rail.travel"], "rate": 100.0, "token": "..."}
`seq` is a whole number that grows with every message; one that comes after a later one is not obeyed. `put` sets inputs
and holds them; numbers only, NaN and infinities are refused. `outputs` names the signals that it wants `rate` times a
second of the simulation from then on. It is told
    {"seq": 3, "time": 1.25, "values": {"rail.travel": 0.1}, "held": ["motor"]}
    {"error": "what is wrong", "of": 7}
A program that holds something and says nothing for `SILENCE` seconds has let go: levers spring back.
"""

from __future__ import annotations

import hmac
import itertools
import json
import logging
import math
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..model import wire
from ..model.errors import LinkworkError, nearest
from .desk import Desk

if TYPE_CHECKING:
    from ..run.simulate import Simulation
    from .session import Session

LOOPBACK = "127.0.0.1"
_LOCAL = (LOOPBACK, "localhost", "::1")
_LONGEST = 60_000  # bytes of a message
_FORM = 'a message must be an object of JSON with a whole number "seq" that grows'
_RATES = 0.1, 10_000.0  # of outputs [1/s]
_PROGRAMS = 16  # that one port serves; the first of more is forgotten
_count = itertools.count(1)
_log = logging.getLogger("linkwork")


class Remote:
    """One program. `session` tells what runs; `send` gives a text to the program and must return at once."""

    def __init__(self, session: Callable[[], Session | None], send: Callable[[str], object], kind: str):
        self._session_of, self._send = session, send
        self.name = f"{kind} {next(_count)}"
        """What others read who want a lever that it holds."""
        self._session: Session | None = None
        self._outputs: tuple[str, ...] = ()
        self._period, self._due = 0.01, -math.inf
        self._told = 0

    def hear(self, text: str | bytes) -> None:
        """Obey a message of the program; it is told what is wrong with it."""
        number: Any = None
        try:
            message = _parsed(text)
            number = message["seq"]
            session = self._attached()
            if session.desk.hear(self.name, number):
                self._obey(session, message)
        except LinkworkError as error:
            self._say({"error": str(error), "of": number})

    def leave(self) -> None:
        """It is gone: all that it holds is let go."""
        session, self._session = self._session, None
        if session is not None:
            session.desk.leave(self.name)
            _between_steps(session, lambda: session.loop.before_steps.remove(self._act))

    def _attached(self) -> Session:
        """What runs now; inputs and outputs of what ran before are forgotten."""
        session = self._session_of()
        if session is None:
            raise LinkworkError("nothing runs yet")
        if session is not self._session:
            self.leave()
            self._session, self._outputs = session, ()
            _between_steps(session, lambda: session.loop.before_steps.append(self._act))
        return session

    def _obey(self, session: Session, message: dict[str, Any]) -> None:
        if "outputs" in message or "rate" in message:
            self._choose(
                session, message.get("outputs", self._outputs), message.get("rate", 1.0 / self._period)
            )
        values = message.get("put", {})
        if not isinstance(values, dict):
            raise LinkworkError('`put` must name inputs and their values: {"motor": 0.5}')
        wanted: dict[str, float] = {}
        for name, value in values.items():
            found = wire.number(value)
            if found is None:
                raise LinkworkError(f"input '{name}' must be a number, not {json.dumps(value)[:40]}")
            wanted[name] = found
        _check(session.desk, wanted)  # all or nothing
        for name, found in wanted.items():
            session.desk.put(self.name, name, found)
        released = message.get("release", [])
        if not isinstance(released, list):
            raise LinkworkError('`release` must be a list of inputs: ["motor"]')
        for name in released:
            session.desk.release(self.name, str(name))

    def _choose(self, session: Session, outputs: Any, rate: Any) -> None:
        known = session.loop.simulation.signals
        if not isinstance(outputs, list | tuple):
            raise LinkworkError('`outputs` must be a list of signals: ["rail.travel"]')
        for name in outputs:
            if not isinstance(name, str) or name not in known:
                raise LinkworkError(f"there is no signal '{name}'{nearest(str(name), known)}")
        low, high = _RATES
        found = wire.number(rate)
        if found is None or not low <= found <= high:
            raise LinkworkError(f"`rate` must be a number from {low:g} to {high:g} per second, not {rate!r}")
        self._outputs, self._period, self._due = tuple(outputs), 1.0 / found, -math.inf

    def _act(self, simulation: Simulation) -> None:
        """(thread of the physics) Tell the program what it wants to know, if it is time."""
        now = simulation.time
        if not self._outputs or self._due - self._period <= now < self._due:
            return
        self._due = (math.floor(now / self._period + 1e-9) + 1) * self._period
        values = {name: simulation[name] for name in self._outputs}
        values = {name: value if math.isfinite(value) else None for name, value in values.items()}
        held = [] if self._session is None else [
            name for name, who in self._session.desk.owners.items() if who == self.name
        ]  # fmt: skip
        self._told += 1
        self._say({"seq": self._told, "time": now, "values": values, "held": held})

    def _say(self, message: dict[str, Any]) -> None:
        self._send(json.dumps(message))


class UdpPort:
    """Serves programs by datagrams, on loopback unless `host` is given, and then with a `token` that they must know.

    `session` is what they drive, or tells it. Close it at the end, or use it in a `with` statement.
    """

    def __init__(
        self,
        session: Session | Callable[[], Session | None],
        *,
        port: int = 0,
        host: str = LOOPBACK,
        token: str | None = None,
    ):
        if token is None and host not in _LOCAL:
            raise LinkworkError(f"datagrams from beyond this machine ({host}) want a token: give one")
        self._session: Callable[[], Session | None] = session if callable(session) else lambda: session
        self._token = token
        self._programs: dict[Any, Remote] = {}
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM, flags=socket.AI_PASSIVE)
            family, kind, protocol, _, address = found[0]
            self._socket = socket.socket(family, kind, protocol)
            self._socket.bind(address)
        except OSError as error:
            raise LinkworkError(f"cannot receive datagrams at {host}:{port}: {error.strerror}") from None
        self.port = int(self._socket.getsockname()[1])
        """Where it listens."""
        self._ending = False
        self._thread = threading.Thread(target=self._listen, name="linkwork-udp", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it; what programs hold is let go."""
        self._ending = True
        host, port = self._socket.getsockname()[:2]
        local = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)
        with socket.socket(self._socket.family, socket.SOCK_DGRAM) as knock:
            knock.sendto(b"", (local, port))
        self._thread.join()
        self._socket.close()

    def __enter__(self) -> UdpPort:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self) -> None:
        while not self._ending:
            with suppress(OSError):  # a port that is unreachable is told here on some systems
                data, address = self._socket.recvfrom(_LONGEST + 1)
                if not self._ending:
                    try:
                        self._take(data, address)
                    except Exception as error:  # a bug of ours must not end it for all others
                        _log.error("datagrams: %s from %s port %s", type(error).__name__, *address[:2])
        for program in self._programs.values():
            program.leave()

    def _take(self, data: bytes, address: Any) -> None:
        if self._token is not None and not _knows(data, self._token):
            return  # to strangers nothing is said
        program = self._programs.pop(address, None)
        if program is None:
            program = Remote(self._session, lambda text: self._send(text, address), "program")
            while len(self._programs) >= _PROGRAMS:
                self._programs.pop(next(iter(self._programs))).leave()
        self._programs[address] = program  # the latest last
        program.hear(data)

    def _send(self, text: str, address: Any) -> None:
        with suppress(OSError):  # nobody is there any more, or the way is full: what comes next is newer
            self._socket.sendto(
                text.encode(), socket.MSG_DONTWAIT if hasattr(socket, "MSG_DONTWAIT") else 0, address
            )


def _parsed(text: str | bytes) -> dict[str, Any]:
    try:
        message = wire.parsed(text, _LONGEST)
    except ValueError as error:
        raise LinkworkError(f"{_FORM}: {error}") from None
    number = message.get("seq")
    if not isinstance(number, int) or isinstance(number, bool):
        raise LinkworkError(_FORM)
    return message


def _knows(data: bytes, token: str) -> bool:
    try:
        given = _parsed(data).get("token")
    except LinkworkError:
        return False
    # Half of a pair of surrogates, which JSON may hold, is no text.
    return isinstance(given, str) and hmac.compare_digest(given.encode(errors="replace"), token.encode())


def _check(desk: Desk, values: dict[str, float]) -> None:
    """Refuse values of which one is no number or no input."""
    for name, value in values.items():
        desk.check(name, value)


def _between_steps(session: Session, task: Callable[[], object]) -> Future[object] | None:
    with suppress(LinkworkError):  # it has ended
        return session.loop.do(lambda _: task())
    return None
