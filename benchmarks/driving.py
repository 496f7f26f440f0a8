"""The operator's panel: how late a step obeys a hand, and how late steps begin while browsers render beside them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.view.page import Page

SCENE = "krt100_driven"
CROWDS = {
    "one drives": ("drive",),
    "two render": ("watch", "watch"),
    "two render, one drives": ("watch", "watch", "drive"),
}
"""Who sits at the scene."""
DT = 1e-3
_SETTLING = 1.5  # [s]
_PATIENCE = 90.0  # for browsers to come and go [s]
# A process that waits for every millisecond and does nothing else: what this machine lets anybody have.
_BARE = """
import json, sys, time
late, due = [], time.perf_counter() + 1e-3
end = due + float(sys.argv[1])
while due < end:
    time.sleep(max(0.0, due - time.perf_counter()))
    now = time.perf_counter()
    late.append(now - due)
    due = max(due + 1e-3, now)
late.sort()
print(json.dumps(1e3 * late[int(0.99 * len(late))]))
"""
HOW = {
    "latency_*_ms": "from the time stamp of an event of a mouse in a browser with the panel alone, 60 a second, to the "
    "step of the simulation that obeys it",
    "bare_p99_ms": "meanwhile, 99th percentile of how late a process wakes that does nothing each millisecond",
}


def measure(seconds: float) -> list[dict[str, Any]]:
    """Every crowd for a while."""
    from linkwork.scenes import scene
    from linkwork.view.live import show

    rows = []
    for who, crowd in CROWDS.items():
        page = show(scene(SCENE, course="flat"), port=0, dt=DT, block=False)
        try:
            rows.append({"who": who, **_measure(page, crowd, seconds)})
        finally:
            page.close()
    return rows


def _measure(page: Page, crowd: tuple[str, ...], seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.sitting", page.server.url, str(seconds + 2 * _SETTLING)]
    people = [subprocess.Popen([*command, how], stdout=subprocess.PIPE) for how in crowd]
    assert page.session is not None
    loop = page.session.loop
    try:
        for one in people:
            assert one.stdout is not None
            if not one.stdout.readline():
                raise RuntimeError("a browser did not come up")
        time.sleep(_SETTLING)
        loop.forget().result()
        page.session.desk.forget()
        lost = loop.status.lost
        bare = subprocess.Popen([sys.executable, "-c", _BARE, str(seconds)], stdout=subprocess.PIPE)
        time.sleep(seconds)
        status, latency = loop.status, page.session.desk.latency
        told = bare.communicate(timeout=_PATIENCE)[0]
    finally:
        for one in people:
            one.terminate()
            one.wait(_PATIENCE)
    drives = "drive" in crowd and latency.events > 0
    return {
        "events": latency.events if drives else None,
        "latency_median_ms": 1e3 * latency.median if drives else None,
        "latency_p95_ms": 1e3 * latency.most if drives else None,
        "late_p99_ms": 1e3 * max(status.lateness, 0.0),
        "lost_ms": 1e3 * (status.lost - lost),
        "bare_p99_ms": json.loads(told),
    }
