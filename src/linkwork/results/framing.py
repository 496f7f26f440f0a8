"""Pieces of bytes one after the other, each sealed by a digest that follows from all before it.

A piece is its length (8 bytes, little-endian) and a CRC-32 of the digest before it and that length (4 bytes), its
bytes, and the SHA-256 of the digest before it, these twelve bytes and its bytes. So a piece that is damaged, missing or
out of place is noticed before anything in it is believed, and one that was cut off is told from one that was changed.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from typing import BinaryIO

HEAD, DIGEST = 12, 32  # [bytes]


class DamagedError(Exception):
    """A piece is whole, but not what was written."""


def seal(payload: bytes, before: bytes) -> tuple[bytes, bytes]:
    """A piece as it is written, and its digest."""
    head = _head(len(payload), before)
    digest = hashlib.sha256(before + head + payload).digest()
    return head + payload + digest, digest


def pieces(stream: BinaryIO, size: int, before: bytes) -> Iterator[bytes]:
    """The bytes of each piece, from where a stream stands to its `size` [bytes]; what is cut off is left out.

    Raises a DamagedError at the first that was changed.
    """
    place = stream.tell()
    while len(head := stream.read(HEAD)) == HEAD:
        count = int.from_bytes(head[:8], "little")
        if head != _head(count, before):
            raise DamagedError
        place += HEAD + count + DIGEST
        if place > size:
            return
        payload, digest = stream.read(count), stream.read(DIGEST)
        if hashlib.sha256(before + head + payload).digest() != digest:
            raise DamagedError
        before = digest
        yield payload


def _head(count: int, before: bytes) -> bytes:
    length = count.to_bytes(8, "little")
    return length + zlib.crc32(before + length).to_bytes(4, "little")
