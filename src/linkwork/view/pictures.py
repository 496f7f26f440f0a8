"""The clock of the page: pictures 60 times a second, other things less often."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable

RATE = 60.0
"""Pictures per second."""
_PANEL_RATE, _TRACE_RATE = 5.0, 12.0
_SLOWEST = 25.0  # pictures per second below which it is said
_SWITCH = 5e-4  # how long a thread may keep the interpreter from the physics [s]


class Pictures:
    """Calls `take(panel, trace)` in a thread of its own: whether the panel and traces are due, too."""

    def __init__(self, take: Callable[[bool, bool], None]):
        self._take = take
        self.rate = 0.0
        """Pictures taken per second."""
        self.troubles: list[str] = []
        """What is wrong with them."""
        self.failed = 0
        """How many could not be taken, ever."""
        self._moments: deque[float] = deque(maxlen=int(RATE))
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="linkwork-pictures", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._switch = sys.getswitchinterval()
        sys.setswitchinterval(min(self._switch, _SWITCH))
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()
            sys.setswitchinterval(self._switch)

    def _run(self) -> None:
        period, due = 1.0 / RATE, time.perf_counter()
        panel = trace = 0.0  # when they are to be shown next
        while not self._ending.is_set():
            due = max(due + period, time.perf_counter() - period)
            try:
                now = time.perf_counter()
                self._take(now > panel, now > trace)
                panel = now + 1.0 / _PANEL_RATE if now > panel else panel
                trace = now + 1.0 / _TRACE_RATE if now > trace else trace
                self._count(now)
            except Exception:
                self.failed += 1
                self.troubles = ["pictures failed; see the terminal"]
                traceback.print_exc()
                self._ending.wait(1.0)
            self._ending.wait(max(0.0, due - time.perf_counter()))

    def _count(self, now: float) -> None:
        self._moments.append(now)
        span = now - self._moments[0]
        if span > 0.5:
            self.rate = (len(self._moments) - 1) / span
            slow = f"only {self.rate:.0f} pictures per second: this machine is too busy"
            self.troubles = [slow] if self.rate < _SLOWEST else []
