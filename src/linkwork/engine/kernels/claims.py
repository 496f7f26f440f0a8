"""Which of several processes compiles a kernel: the first that claims it; others wait until it has done so.

A claim is a lock on one byte of a file that all processes share, at a place that follows from the kernel's name. The
system gives it up when a process ends, however that comes about, so nothing is left to clean up. Where there are no
such locks, processes compile the same kernel twice, and nothing worse.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["claim"]


@cache
def _file(folder: Path, process: int) -> int:
    """The shared file of a cache, open as long as the process lives: closing it would give up all of its claims."""
    return os.open(folder / ".claims", os.O_RDWR | os.O_CREAT, 0o666)


@contextmanager
def claim(path: Path) -> Iterator[None]:
    """While this lasts, no other process claims the same path."""
    held = None
    if fcntl is not None:
        place = int.from_bytes(hashlib.sha256(str(path).encode()).digest()[:4])
        # A folder that cannot be written to, a system without locks, or a circle of two places that are equal by chance
        with suppress(OSError):
            held = _file(path.parent.parent, os.getpid())
            try:
                fcntl.lockf(held, fcntl.LOCK_EX, 1, place)
            except OSError:
                held = None
                raise
    try:
        yield
    finally:
        if held is not None:
            with suppress(OSError):
                fcntl.lockf(held, fcntl.LOCK_UN, 1, place)
