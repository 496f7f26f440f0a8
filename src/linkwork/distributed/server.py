"""Serving a sealed component to models elsewhere: one model at a time, a thread for each of its connections.

Who has not shown a token yet has little time and little room: so many may wait at once, and so many from one address;
whoever comes then takes the place of the one that has waited longest. So nobody who is slow keeps others out.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from ..model import Component
from ..model.errors import LinkworkError
from ..model.header import Header
from . import session
from .handshake import welcome
from .launch import LISTENING
from .links import LinkLost
from .tcp import TcpLink

_MAX_JOINED = 64
_MAX_WAITING, _MAX_OF_ONE_ADDRESS = 64, 16
_GREETING = 10.0  # within which a caller has said all that it has to say before it may join [s]
_LOOK = 0.2  # how often it is looked who has waited too long [s]


class Stopped(BaseException):
    """SIGINT or SIGTERM came: not an error, and nothing that a session may catch."""


class Server:
    """Listens for models that want to join a component."""

    def __init__(
        self,
        component: Component,
        header: Header,
        host: str,
        port: int,
        token: bytes | None = None,
        say: Callable[[str], None] = print,
    ):
        self.component, self.header, self.token, self.say = component, header, token, say
        self._open: dict[TcpLink, str] = {}
        self._waiting: dict[TcpLink, tuple[str, float]] = {}  # address, and since when [s]
        self._lock = threading.Lock()
        self._served = threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise LinkworkError(f"cannot listen on {host}:{port}: {why}") from None
        self.port: int = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.address = f"tcp://{shown}:{self.port}"

    def run(self, once: bool = False) -> None:
        """Serve until a signal comes, or `once` until the first model that did more than look has left."""
        self.say(f"{self.header.name}: {LISTENING} {self.address}")
        self._socket.settimeout(_LOOK)
        try:
            while not (once and self._served.is_set() and not self._open):
                with contextlib.suppress(
                    TimeoutError, ConnectionError
                ):  # a probe has gone before it was seen
                    connection, peer = self._socket.accept()
                    self._accept(connection, *peer[:2])
                self._send_away()
        except Stopped:
            self.say("stopped")
        finally:
            self.close()

    def close(self) -> None:
        """Listen no more and hang up on all."""
        # A thread that waits for a socket is not woken by closing it, but by shutting it down.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for link in [*self._open, *self._waiting]:
            link.hang_up()

    def _accept(self, connection: socket.socket, host: str, port: int) -> None:
        try:
            link = TcpLink(connection, f"{host}:{port}")
        except OSError:  # it has gone
            connection.close()
            return
        with self._lock:
            same = [other for other, (address, _) in self._waiting.items() if address == host]
            crowd = same if len(same) >= _MAX_OF_ONE_ADDRESS else list(self._waiting)
            if len(crowd) >= (_MAX_OF_ONE_ADDRESS if crowd is same else _MAX_WAITING):
                crowd[0].hang_up()
                self._waiting.pop(crowd[0])
            self._waiting[link] = host, time.monotonic()
        threading.Thread(target=self._converse, args=(link,), daemon=True).start()

    def _send_away(self) -> None:
        """Hang up on those who have waited too long."""
        with self._lock:
            late = time.monotonic() - _GREETING
            for link in [link for link, (_, since) in self._waiting.items() if since < late]:
                link.hang_up()
                self._waiting.pop(link)

    def _converse(self, link: TcpLink) -> None:
        """One connection from greeting to end. Whatever a caller does, the server goes on, and says a line of it."""
        joined = False
        try:
            welcome(link, self.token, lambda model: self._claim(link, model))
            joined = True
            self.say(f"{link.peer} joined")
            if session.serve(link, self.component, self.header):
                self._served.set()
        except LinkLost as lost:
            if not joined:
                self.say(f"{link.peer} was not understood: {lost.what}")
        except LinkworkError as error:
            self.say(f"{link.peer}: {error}" if joined else f"{link.peer} was refused: {error}")
        except Exception as error:  # of what, only the kind: the text may tell of the inside
            self.say(f"{link.peer} was not understood: {type(error).__name__}")
        finally:
            link.close()
            with self._lock:
                self._waiting.pop(link, None)
                self._open.pop(link, None)
            if joined:
                self.say(f"{link.peer} left")

    def _claim(self, link: TcpLink, model: str) -> str:
        """Why a model may not join, or nothing."""
        with self._lock:
            others = [other.peer for other, theirs in self._open.items() if theirs not in ("", model)]
            if others:
                return f"busy with the model of {others[0]}"
            if len(self._open) >= _MAX_JOINED:
                return f"busy: {_MAX_JOINED} connections are in use"
            self._waiting.pop(link, None)
            self._open[link] = model
            return ""


def stop_on_signals() -> None:
    """SIGINT and SIGTERM end a server in order; SIGINT stays ignored where it is, as in the background of a script."""

    def stop(number: int, frame: Any) -> None:
        raise Stopped

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)


def end_with_parent() -> None:
    """End this process when its standard input closes: whoever started it has gone, in whatever way."""

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(sys.stdin.fileno(), 4096):
                pass
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host name."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
