"""The live page: what serving costs, what visitors get, and whether the physics notices them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from . import driving
from .progress import Progress
from .report import Section, grids, made_with, notes_and_targets, number
from .sitting import find_browser
from .targets import Target, judge_view

if TYPE_CHECKING:
    from rich.table import Table

    from linkwork.view.page import Page

SIZES = (30, 200)
VISITORS = (0, 1, 2)
DT = 1e-3
SECONDS, SECONDS_QUICK = 8.0, 1.5
HOW = {
    "serving": "share of a core that takes pictures and sends them: processor time of all threads but the physics and "
    "the one that measures",
    "physics": "share of a core that steps",
    "pictures_per_s": "pictures in which bodies moved that reached a visitor, the worst of all visitors",
    "longest_gap_ms": "longest time between two of them",
    "late_p99_ms": "99th percentile of how late steps of 1 ms begin, over at most the last 4096",
    "lost_ms": "time that the physics gave up because it was too late",
    **driving.HOW,
}


@dataclass(frozen=True)
class ViewResult:
    """Everything that the suite measured, and how."""

    quick: bool
    made_with: dict[str, Any]
    rows: list[dict[str, Any]]
    driving: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        data = {"suite": "view", "how": HOW} | asdict(self)
        targets: list[Target] = judge_view(data)
        return data | {"targets": [target._asdict() for target in targets]}

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """Every table of a result."""
    yield Section(
        "The live page: a chain with a step of 1 ms, 60 pictures per second",
        ("bodies", "visitors", "serving", "physics", "pictures/s", "longest gap [ms]", "late p99 [ms]", "lost [ms]"),
        [
            (
                str(row["bodies"]), str(row["visitors"]), f"{row['serving']:.1%}", f"{row['physics']:.1%}",
                number(row["pictures_per_s"]), number(row["longest_gap_ms"]), number(row["late_p99_ms"]),
                number(row["lost_ms"]),
            )
            for row in data["rows"]
        ],
        words=2,
    )  # fmt: skip
    if data.get("driving"):  # not without a browser
        yield Section(
            f"Somebody drives {driving.SCENE} with a step of 1 ms, or browsers of this machine render it in software",
            (
                "who", "events", "latency median [ms]", "latency 95 % [ms]", "late p99 [ms]", "a bare process [ms]",
                "lost [ms]",
            ),
            [
                (
                    row["who"], number(row["events"]), number(row["latency_median_ms"]), number(row["latency_p95_ms"]),
                    number(row["late_p99_ms"]), number(row["bare_p99_ms"]), number(row["lost_ms"]),
                )
                for row in data["driving"]
            ],
        )  # fmt: skip
    yield from notes_and_targets(data)


def run(*, quick: bool = False, progress: Callable[[float], object] | None = None) -> ViewResult:
    """Measure everything; takes about a minute."""
    from linkwork.scenes import scene
    from linkwork.view.live import show

    seconds = SECONDS_QUICK if quick else SECONDS
    told = Progress(progress)
    tick = told.stretch(0.8, len(SIZES) * len(VISITORS))
    rows = []
    for bodies in SIZES:
        page = show(scene("chain", links=bodies, damping=0.05), port=0, dt=DT, block=False)
        try:
            for visitors in VISITORS:
                rows.append({"bodies": bodies, "visitors": visitors, **watched(page, visitors, seconds)})
                tick()
        finally:
            page.close()
    notes = ["Visitors are processes of this machine that read every message but render nothing."]
    driven: list[dict[str, Any]] = []
    if find_browser() is None or find_spec("playwright") is None:
        notes.append("No browser or no playwright is installed: nobody drove.")
    else:
        driven = driving.measure(seconds)
    told.to(1.0)
    return ViewResult(quick, made_with(1, seconds), rows, driven, notes)


def watched(page: Page, visitors: int, seconds: float) -> dict[str, Any]:
    """What so many visitors get of a page, and what that costs."""
    command = [sys.executable, "-m", "benchmarks.visitor", page.server.url, str(seconds)]
    crowd = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(visitors)]
    assert page.session is not None
    loop = page.session.loop
    try:
        for visitor in crowd:
            assert visitor.stdout is not None
            visitor.stdout.readline()  # it is there
        time.sleep(1.0)
        loop.forget().result()
        lost, before, began = loop.status.lost, _processor_times(), time.perf_counter()
        time.sleep(max(seconds - 0.5, 0.5))
        after, span = _processor_times(), time.perf_counter() - began
        status = loop.status
        reports = [json.loads(visitor.communicate(timeout=seconds + 60)[0]) for visitor in crowd]
    finally:
        for visitor in crowd:
            visitor.kill()
            visitor.wait()
    spent = {name: after[name] - before.get(name, 0.0) for name in after}
    physics = sum(time for name, time in spent.items() if name[0] == "linkwork-physics")
    here = threading.current_thread().name
    serving = sum(t for name, t in spent.items() if name[0] not in ("linkwork-physics", here))
    return {
        "serving": serving / span,
        "physics": physics / span,
        "pictures_per_s": min((report["pictures_per_s"] for report in reports), default=None),
        "longest_gap_ms": max((report["longest_gap_ms"] for report in reports), default=None),
        "kB_per_s": max((report["kB_per_s"] for report in reports), default=None),
        "late_p99_ms": 1e3 * max(status.lateness, 0.0),
        "lost_ms": 1e3 * (status.lost - lost),
        "real_time_factor": status.factor,
    }


def _processor_times() -> dict[tuple[str, int], float]:
    """Processor time of every thread of this process so far [s], by name and number."""
    found = {}
    for thread in threading.enumerate():
        if thread.ident is not None:
            try:
                found[thread.name, thread.ident] = time.clock_gettime(
                    time.pthread_getcpuclockid(thread.ident)
                )
            except OSError:  # it ended meanwhile
                continue
    return found
