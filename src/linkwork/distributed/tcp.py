"""Lines over TCP, on one machine or between several."""

from __future__ import annotations

import contextlib
import socket
import struct
from time import perf_counter
from typing import Any

from ..model.address import parse_address
from ..model.errors import LinkworkError, UnsupportedError
from ..model.rotation import Array
from .links import MAX_MESSAGE, MAX_NUMBERS, MESSAGE, NUMBERS, TIMEOUT, Link, LinkLost, mismatch, pack

_HEAD = struct.Struct("<4sIQ")  # magic, kind, bytes that follow
_MAGIC = b"LWK1"
_CLOSED = "closed the connection: its process has ended"


class TcpLink(Link):
    """A connected socket with frames: magic, kind and length before every one.

    The socket blocks; the system itself ends a wait (SO_RCVTIMEO), for Python's own timeouts cost a second
    system call each time.
    """

    def __init__(self, connection: socket.socket, peer: str, timeout: float | None = TIMEOUT):
        if not hasattr(connection, "recvmsg_into"):
            raise UnsupportedError("lines between processes need Linux or macOS")
        self._socket = connection
        super().__init__(peer, timeout)
        connection.setblocking(True)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A host without power sends no farewell; where no timeout is set, the system asks now and then.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, option):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        self.largest = MAX_MESSAGE
        """Bytes of the largest message that is taken."""
        self._out, self._in = bytearray(_HEAD.size), bytearray(_HEAD.size)
        self._closed = False

    @property
    def timeout(self) -> float | None:
        """How long the peer may keep silent [s]; None for ever."""
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._timeout = seconds
        self._set_timeout(seconds)

    def send(self, numbers: Array) -> None:
        self._send(NUMBERS, numbers.nbytes, numbers.data)

    def receive(self, into: Array) -> None:
        began = perf_counter()
        want = _HEAD.size + into.nbytes
        try:
            # Head and numbers in one call. If the frame is not the one expected, `into` is spoilt, and so is the line.
            got = self._socket.recvmsg_into((self._in, into.data))[0]
            if got != want:
                self._complete(into, got)
        except OSError as error:
            raise self._failed(error, self.timeout) from None
        finally:
            self.waited += perf_counter() - began
        magic, kind, length = _HEAD.unpack_from(self._in)
        if magic != _MAGIC or kind != NUMBERS or length != into.nbytes:
            raise self._strange(NUMBERS, into.nbytes)

    def tell(self, message: dict[str, Any], arrays: dict[str, Array] | None = None) -> None:
        packed = pack(message, arrays)
        self._send(MESSAGE, len(packed), packed)

    def hear(self, timeout: float | None = None) -> tuple[dict[str, Any], dict[str, Array]]:
        began = perf_counter()
        patience = self.timeout if timeout is None else timeout
        try:
            self._set_timeout(patience)
            self._fill(memoryview(self._in))
            magic, kind, length = _HEAD.unpack_from(self._in)
            if magic != _MAGIC or kind != MESSAGE:
                raise self._strange(MESSAGE, None)
            if length > self.largest:
                raise self._lost(f"announced a message of {length} bytes; the limit is {self.largest}")
            packed = bytearray(length)
            self._fill(memoryview(packed))
            self._set_timeout(self.timeout)
        except OSError as error:
            raise self._failed(error, patience) from None
        finally:
            self.waited += perf_counter() - began
        return self._read(packed)

    def close(self) -> None:
        self._closed = True
        self._socket.close()

    def hang_up(self) -> None:
        """Close from another thread: whoever waits for this line is woken."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    # --- bytes ---

    def _send(self, kind: int, size: int, content: Any) -> None:
        began = perf_counter()
        if kind == NUMBERS and size > MAX_NUMBERS:
            raise LinkworkError(f"{size // 8} numbers are too many at once; the limit is {MAX_NUMBERS // 8}")
        _HEAD.pack_into(self._out, 0, _MAGIC, kind, size)
        try:
            sent = self._socket.sendmsg((self._out, content))
            if sent != _HEAD.size + size:
                if sent < _HEAD.size:
                    self._socket.sendall(memoryview(self._out)[sent:])
                self._socket.sendall(memoryview(content).cast("B")[max(0, sent - _HEAD.size) :])
        except OSError as error:
            raise self._failed(error, self.timeout) from None
        finally:
            self.waited += perf_counter() - began

    def _complete(self, into: Array, got: int) -> None:
        """Take the rest of a frame of which the first `got` bytes are there."""
        if got == 0:
            raise self._lost(_CLOSED)
        if got < _HEAD.size:
            self._fill(memoryview(self._in)[got:])
            got = _HEAD.size
        magic, kind, length = _HEAD.unpack_from(self._in)
        if magic != _MAGIC or kind != NUMBERS or length != into.nbytes:
            raise self._strange(NUMBERS, into.nbytes)  # do not wait for numbers that will not come
        self._fill(into.data.cast("B")[got - _HEAD.size :])

    def _fill(self, view: memoryview) -> None:
        while view:
            got = self._socket.recv_into(view)
            if got == 0:
                raise self._lost(_CLOSED)
            view = view[got:]

    def _strange(self, kind: int, size: int | None) -> LinkLost:
        magic, came, length = _HEAD.unpack_from(self._in)
        if magic != _MAGIC:
            return self._lost("does not speak Linkwork's protocol")
        return self._lost(mismatch(kind, size, came, length))

    def _failed(self, error: OSError, patience: float | None) -> LinkLost:
        if self._closed:
            return self._lost("this line was closed before")
        if isinstance(error, BlockingIOError | TimeoutError):
            return self._silent(patience)
        if isinstance(error, ConnectionError):
            return self._lost(_CLOSED)
        return self._lost(f"the connection failed: {error.strerror or error}")

    def _set_timeout(self, seconds: float | None) -> None:
        whole = struct.pack("ll", int(seconds or 0), int((seconds or 0) % 1 * 1e6))  # zeros: for ever
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, whole)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, whole)


def dial(address: str, timeout: float = 5.0) -> TcpLink:
    """A line to whoever listens at `tcp://host:port`; `timeout` [s] is for the connection alone."""
    host, port = parse_address(address)
    try:
        return TcpLink(socket.create_connection((host, port), timeout), address)
    except TimeoutError:
        what = f"no answer for {timeout:g} s; is the host up, and does a firewall let port {port} through?"
    except ConnectionRefusedError:
        what = f"nobody listens there; start it with: linkwork serve FILE.sealed --port {port}"
    except OSError as error:
        what = f"cannot be reached: {error.strerror or error}"
    raise LinkLost(address, what)
