"""What happens to a page that soaks: a function a deed, which raises a `WrongError` if something is not as it must be.

Deeds are drawn at random, so each leaves the page as others may find it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.errors import LinkworkError
from ..results.record import Record

if TYPE_CHECKING:
    from ..live.session import Session
    from ..view.page import Page
    from .visitors import Visitors

_PATIENCE = 60.0  # until something that must happen has not [s]
_WORK = 60.0  # of a processor, until a run must have begun to write [s]
_BUSY = 600.0  # until it must have, however busy the machine is [s]
_DISK = 8_000_000  # bytes of a small disk, on which some seconds of recording have room


class WrongError(Exception):
    """Something that must not be; the text says what."""


@dataclass
class Scene:
    """Who takes part: the page, its visitors, chance, a folder, and a small disk if this machine lets us have one."""

    page: Page
    visitors: Visitors
    random: np.random.Generator
    folder: Path
    disk: Path | None = None
    scenes: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def session(self) -> Session:
        if self.page.session is None:
            raise WrongError("nothing runs")
        return self.page.session


def wait(
    what: str,
    is_so: Callable[[], Any],
    patience: float = _PATIENCE,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Until something is so, or so long by a clock [s]."""
    until = clock() + patience
    while not is_so():
        if clock() > until:
            raise WrongError(f"not after {patience:g} s: {what}")
        time.sleep(0.02)


def goes_on(scene: Scene) -> None:
    """The motion goes on: there is another sample before long."""
    session = scene.session
    wait("the motion goes on", lambda: session.status.failure is not None or session.status.steps > 0)
    before, run = session.status.steps, session.loop.run
    wait("steps are taken", lambda: session.status.steps != before or session.loop.run != run)


def come(scene: Scene) -> None:
    """Some visitors come, and stay."""
    scene.visitors.come(int(scene.random.integers(1, 4)))


def leave(scene: Scene) -> None:
    """All visitors leave."""
    scene.visitors.say("leave")


def vanish(scene: Scene) -> None:
    """Connections of all visitors break."""
    scene.visitors.say("vanish")


def kill_visitors(scene: Scene) -> None:
    """The process of the visitors is killed; others come."""
    scene.visitors.kill()
    scene.visitors.come(1)


def change(scene: Scene) -> None:
    """A parameter changes while the model moves, and back again."""
    known = scene.session.parameters
    one = known[int(scene.random.integers(len(known)))]
    for value in (one.value * scene.random.uniform(0.5, 1.5), one.value):
        scene.session.set_parameter(one.name, float(value)).result(_PATIENCE)


def push(scene: Scene) -> None:
    """A body is pushed."""
    bodies = scene.session.stage.bodies
    name = bodies[int(scene.random.integers(len(bodies)))].name
    scene.session.push(name, (1.0, 0.0, 0.0)).result(_PATIENCE)


def reset(scene: Scene) -> None:
    """Back to the start."""
    scene.session.reset().result(_PATIENCE)


def another(scene: Scene) -> None:
    """Somebody chooses another scene."""
    scene.page.open(scene.scenes[int(scene.random.integers(len(scene.scenes)))])


def record(scene: Scene) -> None:
    """A recording is made; it must hold every sample of the time."""
    session = scene.session
    path = session.start_recording("soak")
    time.sleep(scene.random.uniform(0.3, 1.0))
    whole(session.stop_recording(), path)


def whole(told: Record, path: Path) -> None:
    """What was recorded is in the file, without a hole; the file goes."""
    kept = Record.load(path)
    path.unlink()
    if not np.array_equal(told.time, kept.time):
        raise WrongError(f"{path.name} holds other rows than were recorded")
    steps = np.diff(kept.time)
    if len(steps) and steps.max() > 1.5 * np.median(steps):
        raise WrongError(f"{path.name} has a hole of {steps.max():.3g} s")


def fill(scene: Scene) -> None:
    """A disk is full while something is recorded: the motion goes on, visitors are told, no row is lost."""
    session, usual = scene.session, scene.session.folder
    if not scene.visitors.count:
        scene.visitors.come(1)
    wait("a visitor is there", lambda: scene.visitors.count)
    session.folder = scene.disk or usual
    try:
        path = session.start_recording("full")
        with _full(Path(f"{path}.part"), scene.disk):
            wait("the full disk is told", lambda: session.trouble)
            goes_on(scene)
            wait("visitors are told", lambda: scene.visitors.troubled)
        wait("there is room again", lambda: not session.trouble)
        whole(session.stop_recording(), path)
    finally:
        session.end_recording()
        session.folder = usual
        for left in (scene.disk or scene.folder).glob("full*"):
            left.unlink()


@contextlib.contextmanager
def _full(part: Path, disk: Path | None) -> Iterator[None]:
    """Meanwhile the disk has no room: a real one, or files of this process may not grow."""
    if disk is not None:
        filler = disk / "full.filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        try:
            yield
        finally:
            filler.unlink()
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    heard = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (part.stat().st_size + 100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, heard)


def kill_run(scene: Scene) -> None:
    """A run beside the page is killed while it writes; what it had written is recovered."""
    target = scene.folder / "killed.h5"
    words = ["run", scene.scenes[0], "--time", "100000", "--every", "0.01", "--save", target, "--json"]
    run = subprocess.Popen([sys.executable, "-m", "linkwork", *map(str, words)], stdout=subprocess.DEVNULL)
    part = Path(f"{target}.part")
    try:
        # It may have to be patient itself: what counts is how long it has worked.
        wait(
            "it writes",
            lambda: run.poll() is not None or (part.exists() and part.stat().st_size > 20_000),
            patience=_WORK,
            clock=lambda: worked(run.pid) + time.monotonic() * _WORK / _BUSY,
        )
    finally:
        run.kill()
        run.wait()
    kept, _ = Record.recover(part)
    part.unlink()
    if len(kept) < 2 or not np.isfinite(kept.array("positions")).all():
        raise WrongError(f"{len(kept)} rows are left of a run that was killed")


def worked(pid: int) -> float:
    """How long processors have worked for a process that may have ended, and for those that it has waited for [s]."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A disk of some hundred kilobytes, where this machine lets us have one (as root, on Linux); or None."""
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        done = False
    try:
        yield place if done else None
    finally:
        if done:
            subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)
        with contextlib.suppress(OSError):
            os.rmdir(place)


DEEDS: tuple[tuple[Callable[[Scene], None], float], ...] = (
    (come, 3.0), (leave, 1.0), (vanish, 1.0), (kill_visitors, 0.5), (change, 4.0), (push, 3.0), (reset, 1.0),
    (another, 1.0), (record, 3.0), (fill, 1.0), (kill_run, 0.3),
)  # fmt: skip
"""What may happen, and how often of all it does."""


def draw(scene: Scene) -> Callable[[Scene], None]:
    """What happens next."""
    shares = np.array([share for _, share in DEEDS])
    deed, _ = DEEDS[int(scene.random.choice(len(DEEDS), p=shares / shares.sum()))]
    return deed


def do(scene: Scene, deed: Callable[[Scene], None]) -> None:
    """Let it happen: the motion goes on."""
    scene.counts[deed.__name__] = scene.counts.get(deed.__name__, 0) + 1
    try:
        deed(scene)
        goes_on(scene)
    except (LinkworkError, OSError, TimeoutError) as error:
        raise WrongError(f"{type(error).__name__}: {error}") from error
    if scene.session.status.failure is not None:
        raise WrongError(f"the motion ended: {scene.session.status.failure}")
