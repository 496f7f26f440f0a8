"""Which files of a folder are opened, by whatever process and library: asked of the system itself, Linux's inotify.

Python's own hooks do not see what MuJoCo and Open CASCADE open in C.
"""

import contextlib
import ctypes
import os
import struct
import sys

import pytest

_OPEN, _IS_FOLDER, _NONBLOCK = 0x20, 0x40000000, 0o4000
_EVENT = struct.Struct("iIII")


@contextlib.contextmanager
def opened_in(folder):
    """A list that is filled at the end with the names of the files in a folder that were opened meanwhile."""
    if not sys.platform.startswith("linux"):
        pytest.skip("files that are opened can be watched on Linux alone")
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(_NONBLOCK)
    assert watch >= 0, os.strerror(ctypes.get_errno())
    found = []
    try:
        assert libc.inotify_add_watch(watch, os.fsencode(folder), _OPEN) >= 0
        yield found
        found.extend(_names(watch))
    finally:
        os.close(watch)


def _names(watch):
    with contextlib.suppress(BlockingIOError):
        while data := os.read(watch, 65536):
            at = 0
            while at < len(data):
                _, mask, _, length = _EVENT.unpack_from(data, at)
                name = data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0").decode()
                at += _EVENT.size + length
                if not mask & _IS_FOLDER:
                    yield name
