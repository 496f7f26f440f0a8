"""A page that runs for long, with visitors coming and going, changes, recordings, kills and full disks.

In rounds: deeds at random, then nobody is there and nothing is recorded, and it is measured what is left: memory, file
handles, threads. Whatever grows from round to round is a leak.
"""

from __future__ import annotations

import gc
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .deeds import Scene, WrongError, do, draw, small_disk, wait
from .visitors import Visitors

SCENES = ("crank_rocker", "a01_pendulum")
ROUND = 20.0
"""Of a round [s]."""
WARM = 0.3
"""Share of the rounds that are not judged: caches fill."""
GROWTH = 0.03
"""By which memory may differ from the first judged rounds to the last ones: allocators keep what they had."""
LOST = 0.01
"""Share of the time that steps may fall behind the clock, beyond what any process lost on this machine."""
_COMPILING = 600.0  # until the model must move that is shown first [s]
_REST, _BETWEEN = 1.5, 0.3  # of a quiet moment, and between deeds [s]
_LOOKS, _BLINK = 10, 0.02  # at file handles, and between two of them [s]


@dataclass(frozen=True)
class Moment:
    """A quiet moment: what the process holds while nothing happens."""

    time: float
    """Since the beginning [s]."""
    memory: float
    """Resident [MB]."""
    handles: int
    threads: int
    lateness: float
    """99th percentile of how late steps began [s]."""
    load: float = 0.0
    """Threads that ran or waited for a core in the last minute."""


@dataclass
class Report:
    """How a page has soaked."""

    seconds: float = 0.0
    moments: list[Moment] = field(default_factory=list)
    deeds: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    """What went wrong, and when."""
    heard: int = 0
    """Messages that visitors took."""
    steps: int = 0
    lost: float = 0.0
    """Time that steps fell behind the clock [s]."""
    elsewhere: float = 0.0
    """Time that a process which does nothing lost meanwhile [s]."""
    disk: str = ""
    """How disks were filled."""
    seed: int = 0
    cores: int = 0
    load: float = 0.0
    """Threads that ran or waited for a core, on average, those of other programs included."""

    @property
    def judged(self) -> tuple[list[Moment], list[Moment]]:
        """The first and the last third of the moments after warming up."""
        kept = self.moments[int(WARM * len(self.moments)) :]
        third = max(1, len(kept) // 3)
        return kept[:third], kept[-third:]

    @property
    def verdicts(self) -> dict[str, bool]:
        """What must be."""
        if not self.moments:
            return {"anything was measured": False}
        before, after = self.judged

        def least(name: str, moments: list[Moment]) -> float:
            return float(min(getattr(moment, name) for moment in moments))

        memory = [float(np.median([moment.memory for moment in moments])) for moments in (before, after)]
        return {
            "nothing went wrong": not self.wrong,
            "memory is flat": memory[1] <= (1.0 + GROWTH) * memory[0],
            "file handles are flat": least("handles", after) <= least("handles", before),
            "threads are flat": least("threads", after) <= least("threads", before),
            "steps keep time": self.lost - self.elsewhere <= LOST * self.seconds,
        }

    @property
    def ok(self) -> bool:
        """All of it."""
        return all(self.verdicts.values())

    def text(self) -> str:
        """For people."""
        lines = [
            f"{self.seconds:.0f} s, {self.steps} steps, {self.heard} messages to visitors, disks: {self.disk}"
        ]
        lines.append("  " + ", ".join(f"{count} {name}" for name, count in sorted(self.deeds.items())))
        if self.moments:
            lines.append(
                f"{'time [s]':>9} {'memory [MB]':>12} {'handles':>8} {'threads':>8} {'lateness [ms]':>14}"
            )
            every = max(1, len(self.moments) // 12)
            lines += [
                f"{m.time:9.0f} {m.memory:12.1f} {m.handles:8d} {m.threads:8d} {1e3 * m.lateness:14.2f}"
                for m in self.moments[::every]
            ]
        lines.append(
            f"steps lost {self.lost:.2f} s to the clock; a process that does nothing lost {self.elsewhere:.2f} s"
        )
        lines += [f"WRONG: {what}" for what in self.wrong]
        return "\n".join(
            [*lines, *(f"{'yes' if so else 'NO ':3} {what}" for what, so in self.verdicts.items())]
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"ok": self.ok, "verdicts": self.verdicts, **asdict(self)}


def soak(
    seconds: float,
    *,
    scenes: tuple[str, ...] = SCENES,
    seed: int = 0,
    progress: Callable[[float], object] | None = None,
) -> Report:
    """Let a page run for so long [s], and everything happen to it; `progress` is told the share done."""
    from ..view.page import Page
    from ..view.server import Server

    report = Report(seed=seed, cores=os.cpu_count() or 0)
    with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder)) as disk:
        report.disk = "a full tmpfs" if disk else "a limit on the size of files"
        with Page(Server(port=0), folder=folder) as page:
            for name in reversed(scenes):
                page.open(name)
            visitors = Visitors(page.server.port)
            scene = Scene(
                page, visitors, np.random.default_rng(seed), Path(folder), disk, scenes, report.deeds
            )
            wait("it moves", lambda: page.session and page.session.status.steps, patience=_COMPILING)
            began = time.monotonic()
            try:
                while (passed := time.monotonic() - began) < seconds:
                    _round(scene, report, began, min(began + seconds, time.monotonic() + ROUND))
                    if progress is not None:
                        progress(min(1.0, passed / seconds))
            finally:
                report.seconds = time.monotonic() - began
                report.heard, report.elsewhere = visitors.heard, visitors.lost
                visitors.end()
    return report


def _round(scene: Scene, report: Report, began: float, until: float) -> None:
    """Deeds until a time, then a quiet moment."""
    while time.monotonic() < until:
        session, status = scene.session, scene.session.status
        deed = draw(scene)
        try:
            do(scene, deed)
        except WrongError as error:
            report.wrong.append(f"at {time.monotonic() - began:.0f} s, {deed.__name__}: {error}")
        time.sleep(float(scene.random.exponential(_BETWEEN)))
        after = scene.session.status
        same = scene.session is session and after.steps >= status.steps
        report.steps += after.steps - (status.steps if same else 0)
        # Of a run; a new one begins without any.
        report.lost += max(0.0, after.lost - (status.lost if same and after.lost >= status.lost else 0.0))
    scene.visitors.say("leave")
    try:
        wait("nobody is left", lambda: not scene.visitors.count and not scene.page.server.channel.visitors)
    except WrongError as error:
        report.wrong.append(str(error))
    if failed := scene.page.pictures.failed:
        scene.page.pictures.failed = 0
        report.wrong.append(f"by {time.monotonic() - began:.0f} s {failed} pictures could not be taken")
    scene.session.loop.forget()
    time.sleep(_REST)
    gc.collect()
    handles, lateness = _handles(), scene.session.status.lateness
    passed = time.monotonic() - began
    report.moments.append(
        Moment(passed, _memory(), handles, threading.active_count(), lateness, os.getloadavg()[0])
    )
    report.load = float(np.mean([moment.load for moment in report.moments]))


def _handles() -> int:
    """File handles that stay open: the least of some looks, since a folder that is just listed takes one, too."""
    counts = []
    for _ in range(_LOOKS):
        counts.append(len(os.listdir("/proc/self/fd")))
        time.sleep(_BLINK)
    return min(counts)


def _memory() -> float:
    """Resident memory of this process [MB]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
