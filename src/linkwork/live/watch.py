"""Watching files: tells when any of some files has been saved, however an editor does that.

Editors write in place, or write another file and rename it, or delete and create; some save several files at once. So
nothing is told before all files have stood still from one look to the next, and a file that is gone has some time to
come back. Looks at times, sizes and inodes a few times a second: no service of the system is needed, and network
folders work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from ..io.files import Stamp, stamp

_EVERY = 0.1  # between looks [s]
_GONE = 0.4  # how long a file may be missing while it is saved [s]

Stamps = Mapping[str, Stamp]


class Watch:
    """Calls `changed` in a thread of its own when files differ from what `stamps` says of them.

    `changed` returns the files to watch from then on, as they stood before it read them: what is saved meanwhile
    is told again.
    """

    def __init__(self, stamps: Stamps, changed: Callable[[], Stamps]):
        self._known = dict(stamps)
        self._changed = changed
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look, name="linkwork-files", daemon=True)

    @property
    def ended(self) -> bool:
        """Whether it was told to end."""
        return self._ending.is_set()

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, but not what it is in the midst of telling."""
        self._ending.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_GONE)

    def _look(self) -> None:
        before: dict[str, Stamp] | None = None
        since = 0.0  # when the files were first seen as they are
        while not self._ending.wait(_EVERY):
            now = {file: stamp(file) for file in self._known}
            if now == self._known:
                before = None
            elif now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since >= (_GONE if self._lacks(now) else 0.0):
                before = None
                self._known = dict(self._changed())

    def _lacks(self, now: Stamps) -> bool:
        """Whether a file is gone that was there."""
        return any(now[file] is None and known is not None for file, known in self._known.items())
