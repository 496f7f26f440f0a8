"""The server of the page: on loopback unless told otherwise, at the port that was asked for or not at all.

It serves our page and its channel, and viser's client as the canvas in it. Viser has no access control: whoever reaches
it, a page of another site in the operator's own browser included, may drive the simulation. All requests therefore pass
a guard that wants the right host, origin and token. Viser has no place for such a guard either: it is put around the
one function by which its server begins to listen.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import hmac
import http
import io
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextvars import ContextVar
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ..model.errors import LinkworkError, MissingExtraError
from . import channel, editors, operators, signals, site
from .channel import Channel
from .editors import Editors
from .operators import Operators
from .reply import Handler, Reply
from .wakeup import wake_by_own_thread

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8080
SHORTEST_TOKEN = 16
"""Characters of a token: nobody may guess it, however often."""
ENTER = "/enter"
"""Where a browser that names the token gets its cookie."""
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]+")
_MORE = 0.02  # until it is looked for more handlers [s]
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
_visitor: ContextVar[str] = ContextVar("visitor", default="")


class Server:
    """A viser server behind a guard.

    `token` is what a visitor must know; None for no token. It is told in the header `Authorization` alone, never in an
    address, which browsers remember and programs log: the page asks for it and has it exchanged for a cookie. One that
    is not yet `complete` lets requests that nobody answers wait until more handlers are there, and somebody sets it.
    """

    def __init__(
        self,
        *,
        host: str = LOOPBACK,
        port: int = DEFAULT_PORT,
        token: str | None = None,
        complete: bool = True,
    ):
        try:
            import viser
        except ImportError:
            raise MissingExtraError("viser", "view", "the live page") from None
        if token is not None and not (
            len(token) >= SHORTEST_TOKEN and token.isascii() and token.isprintable()
        ):
            raise LinkworkError(
                f"the token of a page must have {SHORTEST_TOKEN} characters of ASCII or more (it has {len(token)})"
            )
        self.host, self.token, self.complete = host, token, complete
        self._pass = secrets.token_urlsafe(32)  # what browsers keep instead of the token
        self.channel, self.operators, self.editors = Channel(), Operators(), Editors()
        self._handlers: list[Handler] = [site.answer, self.channel.answer]
        _refuse_busy(host, port)
        listening = False
        import websockets.asyncio.server as websockets

        serve = websockets.serve

        def guarded(handler: Any, host: str, port: int, *, process_request: Any, **options: Any) -> Any:
            nonlocal listening
            listening = True

            async def check(connection: Any, request: Any) -> Any:
                while (answer := self._answer(request)) is not None and answer.status_code == 404:
                    if self.complete:
                        break
                    await asyncio.sleep(_MORE)
                return answer or process_request(connection, request)

            async def receive(connection: Any) -> None:
                path = urlsplit(connection.request.path).path
                place, _, name = path.rpartition("/")
                if place == channel.PATH:
                    await self.channel.receive(connection, name)
                elif place == operators.PATH:
                    await self.operators.receive(connection, name)
                elif place == editors.PATH:
                    await self.editors.receive(connection, name)
                elif path == signals.PATH:
                    await signals.receive(connection, lambda: self.operators.session)
                else:
                    _visitor.set(name if place == site.CANVAS else "")
                    await handler(connection)

            return serve(receive, host, port, process_request=check, **options)

        # Viser greets on standard output, which belongs to --json and to pipes.
        # It also obeys a variable that moves its port.
        os.environ.pop("_VISER_PORT_OVERRIDE", None)
        wake_by_own_thread()
        with _listening_by(guarded), contextlib.redirect_stdout(io.StringIO()):
            self.viser: Any = viser.ViserServer(host=host, port=port, verbose=False)
        self.port = int(self.viser.get_port())
        if not listening or (port and self.port != port):
            self.stop()
            if listening:
                raise LinkworkError(_busy(host, port))
            raise LinkworkError(
                f"viser {viser.__version__} does not let its requests be checked; use viser 1.1"
            )
        # Its button opens a tunnel to a public server; closing one that is not there is told on standard output.
        setattr(self.viser, "request_share_url", _no_tunnel)  # noqa: B010
        setattr(self.viser, "disconnect_share_url", _no_tunnel)  # noqa: B010

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        name = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        name = f"[{name}]" if ":" in name else name
        return f"http://{name}:{self.port}/"

    def serve(self, handler: Handler) -> None:
        """Let a handler answer requests before all others."""
        self._handlers.insert(0, handler)

    def note(self, name: str, value: Any) -> None:
        """Tell pages and operators' panels something that new ones are told, too: see `Channel.note`."""
        for one in self._channels:
            one.note(name, value)

    @staticmethod
    def visitor_of_connection() -> str:
        """(async callback of viser) Which visitor a canvas belongs to."""
        return _visitor.get()

    def stop(self) -> None:
        """End it."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.viser.stop()
        for one in self._channels:
            one.stop()

    @property
    def _channels(self) -> tuple[Channel, ...]:
        return self.channel, self.operators, self.editors

    # The guard; runs in the thread of the server

    def _answer(self, request: Any) -> Any:
        """A response, or None to let the request pass to viser."""
        try:
            reply = self._reply(request)
        except Exception as error:  # a bug of ours must not open the door
            reply = Reply(500, "text/plain", f"error: {error}".encode())
        if reply is None:
            return None
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        headers = Headers(
            [
                ("Content-Type", reply.kind),
                ("Content-Length", str(len(reply.body))),
                ("Connection", "close"),
                ("X-Content-Type-Options", "nosniff"),
                ("Referrer-Policy", "no-referrer"),
                ("Content-Security-Policy", reply.policy.format(sockets=_sockets(request))),
                ("Cross-Origin-Resource-Policy", "same-origin"),
                *reply.headers,
            ]
        )
        return Response(reply.status, http.HTTPStatus(reply.status).phrase, headers, reply.body)

    def _reply(self, request: Any) -> Reply | None:
        headers, parts = request.headers, urlsplit(request.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        host = headers.get("Host", "")
        if self.host in (LOOPBACK, "localhost", "::1") and host not in self._own_names():
            # A site whose name was made to lead here, so that its pages count as ours.
            return _refused(f"this server does not go by the name '{host}'")
        origin = headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return _refused(f"pages of {origin} may not use this server")
        if self.token is not None:
            knows = self._knows(headers)
            if knows and parts.path == ENTER:
                cookie = f"{self._cookie}={self._pass}; HttpOnly; SameSite=Strict; Path=/"
                return Reply(204, "text/plain", b"", (("Set-Cookie", cookie), ("Cache-Control", "no-store")))
            if not knows and not self._has_pass(headers):
                return site.door(parts.path) or _refused(
                    "this server wants a token: open its page and type it, or send 'Authorization: Bearer TOKEN'"
                )
        if headers.get("Upgrade", "").lower() == "websocket":
            return None
        for handler in self._handlers:
            reply = handler(parts.path, query)
            if reply is not None:
                return reply
        return Reply(404, "text/plain; charset=utf-8", b"there is nothing here")

    @property
    def _cookie(self) -> str:
        """Its name; browsers do not tell ports of a machine apart."""
        return f"linkwork-{self.port}"

    def _knows(self, headers: Any) -> bool:
        """Whether a request names the token."""
        kind, _, given = headers.get("Authorization", "").partition(" ")
        return kind.lower() == "bearer" and _same(given.strip(), self.token or "")

    def _has_pass(self, headers: Any) -> bool:
        """Whether a request comes from a browser that has named it before."""
        known = SimpleCookie(headers.get("Cookie", "")).get(self._cookie)
        return known is not None and _same(known.value, self._pass)

    def _own_names(self) -> Iterator[str]:
        for name in _LOCAL_NAMES:
            yield f"{name}:{self.port}"
            if self.port == 80:
                yield name


def new_token() -> str:
    """A token that nobody guesses, of 80 bits, to be typed: four groups of letters and digits."""
    text = base64.b32encode(secrets.token_bytes(10)).decode().lower()
    return "-".join(text[i : i + 4] for i in range(0, len(text), 4))


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode(errors="replace"))


@contextlib.contextmanager
def _listening_by(serve: Any) -> Iterator[None]:
    """Servers of websockets that are made meanwhile begin to listen by `serve`."""
    import websockets.asyncio.server as websockets

    own = websockets.serve
    websockets.serve = serve  # type: ignore[misc]
    try:
        yield
    finally:
        websockets.serve = own  # type: ignore[misc]


def _sockets(request: Any) -> str:
    """Where a page may open its channel; not every browser counts that as the page's own address."""
    host = request.headers.get("Host", "")
    return f"ws://{host}" if _HOST.fullmatch(host) else ""


def _refused(why: str) -> Reply:
    return Reply(403, "text/plain; charset=utf-8", f"refused: {why}\n".encode())


def _no_tunnel(verbose: bool = True) -> None:
    """Stands in for viser's tunnel to a public server: the simulator is nobody else's business."""


def _refuse_busy(host: str, port: int) -> None:
    """Viser would silently take the next port that is free."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise LinkworkError(f"'{host}' is not an address of this machine: {error.strerror}") from None
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        if os.name == "posix":  # as the server itself: a port in TIME_WAIT is free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise LinkworkError(_busy(host, port)) from None
            raise LinkworkError(f"cannot listen on {host}:{port}: {error.strerror}") from None


def _busy(host: str, port: int) -> str:
    return (
        f"port {port} of {host} is taken, perhaps by another Linkwork: end that one, or choose another port with "
        f"--port {port + 1} (0 for any that is free)"
    )
