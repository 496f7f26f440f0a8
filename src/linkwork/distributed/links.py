"""A line to another process: numbers on the hot path, messages now and then, and a peer that may die.

Both kinds of line, over TCP (`tcp`) and MPI (`mpi`), keep the same promises: a frame is taken whole or not at
all, what is sent must be what the other side expects, and a peer that has ended or hangs is named in an error
within seconds. Peers are not trusted: messages are JSON and raw numbers, never pickles.
"""

from __future__ import annotations

import json
import math
import struct
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array

NUMBERS, MESSAGE = 1, 2
"""Kinds of frames."""
MAX_NUMBERS = 1 << 27
"""Bytes of the largest frame of numbers: 16 million of them."""
MAX_MESSAGE = 1 << 26
"""Bytes of the largest message with its arrays."""
TIMEOUT = 30.0
"""After which a silent peer counts as hanging, unless told otherwise [s]."""

_LENGTH = struct.Struct("<I")


class LinkLost(LinkworkError):  # noqa: N818 - a state of the line; the name says it better than an Error would
    """A line that can no longer be used: who was at the other end, and what happened."""

    def __init__(self, peer: str, what: str):
        super().__init__(f"{peer}: {what}")
        self.peer = peer
        self.what = what


class Link(ABC):
    """A line to one other process. After a LinkLost it is of no more use but to be closed."""

    def __init__(self, peer: str, timeout: float | None = TIMEOUT):
        self.peer = peer
        """Who is at the other end, for messages."""
        self.timeout = timeout
        """How long the peer may keep silent [s]; None for ever."""
        self.waited = 0.0
        """Time spent in sending and waiting so far [s]."""

    @abstractmethod
    def send(self, numbers: Array) -> None:
        """Send all of a contiguous array."""

    @abstractmethod
    def receive(self, into: Array) -> None:
        """Wait for exactly `into.size` numbers."""

    @abstractmethod
    def tell(self, message: dict[str, Any], arrays: dict[str, Array] | None = None) -> None:
        """Send a message: what JSON can hold, and named arrays."""

    @abstractmethod
    def hear(self, timeout: float | None = None) -> tuple[dict[str, Any], dict[str, Array]]:
        """Wait for a message; `timeout` [s] if it is another one than that of the line."""

    @abstractmethod
    def close(self) -> None:
        """Hang up. Closing twice does no harm."""

    def _read(self, packed: bytearray) -> tuple[dict[str, Any], dict[str, Array]]:
        """The message in what came."""
        try:
            return unpack(packed)
        except ValueError as error:
            raise self._lost(f"sent a message that cannot be read ({error})") from None

    def _lost(self, what: str) -> LinkLost:
        return LinkLost(self.peer, what)

    def _silent(self, timeout: float | None) -> LinkLost:
        return self._lost(f"no answer for {timeout:g} s: it hangs, or the network does")


def mismatch(expected_kind: int, expected_bytes: int | None, kind: int, length: int) -> str:
    """What to say of a frame that is not what was expected."""
    wanted = "a message was" if expected_kind == MESSAGE else f"{(expected_bytes or 0) // 8} numbers were"
    got = {NUMBERS: f"{length // 8} numbers", MESSAGE: "a message"}.get(kind, "something unknown")
    return f"sent {got} where {wanted} expected: the two sides are not in step"


def pack(message: dict[str, Any], arrays: dict[str, Array] | None) -> bytes:
    """A message as bytes: length of the head, head (JSON with the shapes of arrays), numbers one after another."""
    plain = {name: np.ascontiguousarray(array, np.float64) for name, array in (arrays or {}).items()}
    head = {"message": message, "arrays": [[name, list(array.shape)] for name, array in plain.items()]}
    text = json.dumps(head).encode()
    packed = b"".join([_LENGTH.pack(len(text)), text, *(array.tobytes() for array in plain.values())])
    if len(packed) > MAX_MESSAGE:
        raise LinkworkError(f"a message of {len(packed)} bytes is too large; the limit is {MAX_MESSAGE}")
    return packed


def unpack(packed: bytes | bytearray) -> tuple[dict[str, Any], dict[str, Array]]:
    """The message and arrays in what `pack` made; ValueError for anything else."""
    try:
        (length,) = _LENGTH.unpack_from(packed)
        head = json.loads(packed[_LENGTH.size : _LENGTH.size + length].decode())
        message, shapes = head["message"], head["arrays"]
        if not isinstance(message, dict):
            raise ValueError("no message")
        arrays, start = {}, _LENGTH.size + length
        for name, shape in shapes:
            if not isinstance(name, str) or not all(type(n) is int and n >= 0 for n in shape):
                raise ValueError("no array")
            count = math.prod(shape)
            if count > (len(packed) - start) // 8:
                raise ValueError("an array is cut off")
            arrays[name] = np.frombuffer(packed, np.dtype("<f8"), count, start).reshape(shape).copy()
            start += 8 * count
        if start != len(packed):
            raise ValueError("more than was announced")
    except (struct.error, UnicodeDecodeError, RecursionError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from None
    return message, arrays
