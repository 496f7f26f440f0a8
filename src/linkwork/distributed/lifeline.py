"""Who of an MPI run is still alive: a TCP connection from every rank to rank 0 that carries nothing but its end.

The system closes the sockets of a process however it ends, so that rank 0 learns of a death within milliseconds, on
other hosts too, and tells the rest. A thread on each side does nothing but wait for that. `launch` says what follows.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import selectors
import socket
import threading
from typing import Any

from ..model.errors import LinkworkError

_GRACE = 10.0
"""After the end of rank 0 another rank ends by itself, whatever it is doing [s]."""
_START = 60.0
"""In which all ranks must have called rank 0 [s]."""
_TOKEN = 16
_MAX_LINE = 4096


class Lifeline:
    """Connections that tell of deaths. Made by all ranks together, after MPI began."""

    def __init__(self, world: Any, guard: int | None = None):
        """`guard` is a pipe that closes when the process that watches over this one has ended."""
        self.rank, self.size = world.Get_rank(), world.Get_size()
        self._ended: dict[int, str] = {}
        self._leaving = False
        self._guard = guard
        self._sockets: dict[int, socket.socket] = {}
        if self.rank == 0:
            self._gather(world)
        else:
            self._call(world)
        self._thread = threading.Thread(target=self._watch, name="lifeline", daemon=True)
        self._thread.start()

    def lost(self) -> tuple[str, str] | None:
        """Who was the first to end, and what happened: none can be done without, and others end because of it."""
        if not self._ended:
            return None
        first, what = next(iter(self._ended.items()))
        return f"rank {first}", what

    def leave(self, why: str = "") -> None:
        """Say goodbye, so that the end of this process counts as no death; `why` if it is one after all."""
        self._leaving = True
        farewell = json.dumps({"ended": self.rank, "what": why[: _MAX_LINE // 2]}).encode() + b"\n"
        for connection in self._sockets.values():
            with contextlib.suppress(OSError):
                connection.sendall(farewell)
                connection.shutdown(socket.SHUT_WR)

    # --- start ---

    def _gather(self, world: Any) -> None:
        """Rank 0: let all others call."""
        hosts = world.gather(socket.gethostname())
        alone = len(set(hosts)) == 1
        token = secrets.token_bytes(_TOKEN)
        with socket.create_server(("127.0.0.1" if alone else "", 0), backlog=self.size) as server:
            host = "127.0.0.1" if alone else socket.gethostname()
            world.bcast((host, server.getsockname()[1], token))
            server.settimeout(_START)
            while len(self._sockets) < self.size - 1:
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    missing = sorted(set(range(1, self.size)) - set(self._sockets))
                    raise LinkworkError(f"ranks {missing} did not call rank 0 within {_START:g} s") from None
                said = _exactly(connection, _TOKEN + 4)
                rank = int.from_bytes(said[_TOKEN:], "little")
                if hmac.compare_digest(said[:_TOKEN], token) and 0 < rank < self.size:
                    connection.settimeout(None)
                    self._sockets[rank] = connection
                else:
                    connection.close()

    def _call(self, world: Any) -> None:
        world.gather(socket.gethostname())
        host, port, token = world.bcast(None)
        connection = socket.create_connection((host, port), timeout=_START)
        connection.settimeout(None)
        connection.sendall(token + self.rank.to_bytes(4, "little"))
        self._sockets[0] = connection

    # --- watch ---

    def _watch(self) -> None:
        with selectors.DefaultSelector() as selector:
            for rank, connection in self._sockets.items():
                selector.register(connection, selectors.EVENT_READ, (rank, bytearray()))
            if self._guard is not None:
                selector.register(self._guard, selectors.EVENT_READ, None)
            while selector.get_map():
                for key, _ in selector.select():
                    if key.data is None:
                        os._exit(1)  # nobody is left who would end this process
                    rank, text = key.data
                    if not self._read(rank, key.fileobj, text):
                        selector.unregister(key.fileobj)

    def _read(self, rank: int, connection: Any, text: bytearray) -> bool:
        """Take what a rank says; False if that was its last."""
        try:
            came = connection.recv(_MAX_LINE)
        except OSError:
            came = b""
        text += came
        *lines, rest = bytes(text).split(b"\n")
        text[:] = rest
        farewell = False
        for line in lines:
            said = json.loads(line)
            farewell |= said["ended"] == rank
            if said["what"]:
                self._note(said["ended"], said["what"])
            elif said["ended"] == rank == 0:
                self._leaving = True
        if farewell:
            return False
        if not came and not self._leaving:
            self._note(rank, "has ended: its process was killed or crashed")
        return bool(came)

    def _note(self, rank: int, what: str) -> None:
        first = not self._ended
        self._ended.setdefault(rank, what)
        if self.rank == 0 and first:
            message = json.dumps({"ended": rank, "what": what}).encode() + b"\n"
            for other, connection in self._sockets.items():
                if other != rank:
                    with contextlib.suppress(OSError):
                        connection.sendall(message)
        elif rank == 0:
            # Whoever waits for rank 0 is told by its link. Whoever computes or compiles is ended here.
            timer = threading.Timer(_GRACE, os._exit, (1,))
            timer.daemon = True
            timer.start()


def _exactly(connection: socket.socket, size: int) -> bytes:
    """So many bytes, or zeros if they do not come."""
    got = b""
    connection.settimeout(5.0)
    with contextlib.suppress(OSError):
        while len(got) < size and (more := connection.recv(size - len(got))):
            got += more
    return got if len(got) == size else bytes(size)
