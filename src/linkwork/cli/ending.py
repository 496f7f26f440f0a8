"""How a command that serves a page ends: soon after SIGINT or SIGTERM, whatever its threads are busy with.

Python runs handlers of signals in the main thread, between two of its own instructions, and waits for its threads
before it ends: while kernels are compiled, either may take minutes. So a thread of its own listens, closes what is open
within a second, and ends the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from .common import errors

Closers = list[Callable[[], object]]

_GRACE = 1.0  # for what is to be closed [s]
_POLL = 0.02  # [s]
_ENDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def ended_by_signals() -> Iterator[Closers]:
    """Meanwhile a signal ends the process, after all in the list that is given was called; a second one at once.

    Exit code 0 if there was something to close, else 128 + signal, as shells have it. SIGINT counts even where
    it was ignored, as in the background of a script; SIGHUP does not, for that is what nohup is for.
    """
    closers: Closers = []
    heard = [one for one in _ENDS if one == signal.SIGINT or signal.getsignal(one) != signal.SIG_IGN]
    ear, voice = socket.socketpair()
    voice.setblocking(False)
    threading.Thread(target=_listen, args=(ear, closers), name="linkwork-ending", daemon=True).start()
    voice_before = signal.set_wakeup_fd(voice.fileno(), warn_on_full_buffer=False)
    before = {one: signal.signal(one, _heard) for one in heard}
    try:
        yield closers
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        signal.set_wakeup_fd(voice_before)
        voice.close()


def _heard(_signal: int, _frame: FrameType | None) -> None:
    """The number of the signal is on its way to the thread that listens."""


def _listen(ear: socket.socket, closers: Closers) -> None:
    """Wait for the number of a signal that ends; the end of the connection means that nobody cares any more."""
    with ear:
        while which := ear.recv(1):
            if which[0] in _ENDS:
                _end(ear, which[0], closers)


def _end(ear: socket.socket, which: int, closers: Closers) -> None:
    """Close what is open, as long as that may take, and end the process."""
    code = 0 if closers else 128 + which
    closing = threading.Thread(target=_close, args=(tuple(closers),), daemon=True)
    closing.start()
    ear.settimeout(_POLL)
    until = time.monotonic() + _GRACE
    while closing.is_alive() and time.monotonic() < until:
        with contextlib.suppress(TimeoutError):
            if ear.recv(1):
                code = 128 + which
                break
    errors.show_cursor(True)  # a spinner may have hidden it
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _close(closers: tuple[Callable[[], object], ...]) -> None:
    for close in closers:
        close()
