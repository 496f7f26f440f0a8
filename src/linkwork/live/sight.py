"""What there is to see of a model that runs: poses and signals now, traces, histories, contacts, and the recording."""

from __future__ import annotations

import contextlib
import threading
import time as wall
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ..methods.capabilities import SMOOTHLY, WITH_CONTACT
from ..methods.touching import TouchArrays
from ..model.errors import LinkworkError, StorageError
from ..model.rotation import Array
from ..observe.observer import Observer
from ..results.builder import RecordBuilder
from ..results.measured import REACTIONS
from ..results.record import MISSING, Record, matching
from ..run.simulate import Simulation
from ..stage.bounds import extent
from ..stage.stage import Poses, Stage
from ..version import __version__
from .files import inside
from .history import History
from .realtime import RealTime, Samples, Status
from .view import TRACE, View

FADED = 8.0  # how long points of a trace last [s of the simulation]
_TRACE_SPACING = 2e-3  # of the size of the model
_WRITE_EVERY = 0.5  # [s]


class Sight:
    """Takes what the physics has left, names it, keeps traces and histories, and writes the recording.

    `loop` is where the model runs; `folder` is where recordings go; `origin` is what they say of where they come from.
    """

    def __init__(self, loop: RealTime, stage: Stage, folder: Path, origin: dict[str, Any]):
        self.loop, self.stage, self.folder, self._origin = loop, stage, folder, origin
        self.reactions = False
        """True if what joints transmit is observed too."""
        self.contacts: TouchArrays | None = None
        """Where things touch, while that is watched (`watch_contacts`)."""
        self.history = History((), 10.0)
        self.traces: dict[str, deque[Array]] = {}
        """Where markers went in the last seconds [m]."""
        self._traced: dict[str, deque[float]] = {}  # when they were there [s]
        self.size = 1.0
        """Largest extent at the start [m]."""
        self._gave: deque[Samples] = deque()
        self._builder: RecordBuilder | None = None
        self._seeing = threading.RLock()
        self._unwritten: list[tuple[Array, dict[str, Array]]] = []
        self._written = wall.monotonic()
        self.recording: Path | None = None
        """The file that is being written, or None."""
        self.trouble: str | None = None
        """What is wrong with the last recording, or None."""
        self._watches_contacts = False
        self._copied: Future[None] | None = None
        self._observer: Observer | None = None
        self._with_reactions = False
        self._view: View | None = None
        self._run = -1
        self._coming: dict[int, Callable[[], object]] = {}  # what to do when a run is first seen
        self._heads: list[str] = []
        self.markers = [mark.name for mark in loop.simulation.system.markers]
        """Names of the points that can be traced."""
        loop.listeners.append(self._gave.append)
        loop.announce()
        self.look()
        low, high = extent(stage, *self.view.poses)
        self.size = float((high - low).max())

    @property
    def status(self) -> Status:
        """How it fares against the clock."""
        return self.loop.status

    def look(self) -> View | None:
        """What there is to see now; None if nothing came since the last look."""
        with self._seeing:
            fresh = []
            while self._gave:
                fresh.append(self._gave.popleft())
            for _, stretch in groupby(fresh, key=lambda samples: (samples.run, id(samples.observer))):
                self._take_in(_joined(list(stretch)))
            if fresh and self._watches_contacts:
                self._copy_contacts()
            return self._view if fresh else None

    @property
    def view(self) -> View:
        """What was seen last."""
        assert self._view is not None
        return self._view

    @property
    def signals(self) -> list[str]:
        """Names of everything that can be read and plotted."""
        derived = () if self._observer is None else self._observer.derived
        return [*self.view.names, *(column for group in derived for column in group.columns)]

    def find(self, pattern: str) -> list[str]:
        """Names of signals that match a pattern, where `*` stands for any text and `?` for any character."""
        return matching(pattern, self.signals)

    def unit(self, signal: str) -> str:
        """Of a signal."""
        return "1" if self._observer is None else self._observer.signals.get(signal, "1")

    def watch(self, names: tuple[str, ...], seconds: float) -> None:
        """Keep a history of some signals."""
        with self._seeing:
            self.history = History(names, seconds)

    def trace(self, points: list[str]) -> None:
        """Keep traces of some markers."""
        with self._seeing:
            self.traces = {name: self.traces.get(name, deque(maxlen=TRACE)) for name in points}
            self._traced = {name: self._traced.get(name, deque(maxlen=TRACE)) for name in points}

    def traced(self) -> dict[str, Array]:
        """Where traced markers went, as it is now: points × 3 of each [m]. Traces grow when any thread looks."""
        with self._seeing:
            return {name: np.array(points).reshape(-1, 3) for name, points in self.traces.items()}

    @property
    def touching(self) -> bool:
        """Whether things of this model can touch."""
        return not {WITH_CONTACT, SMOOTHLY}.isdisjoint(self.loop.simulation.method.circumstances)

    @property
    def without_reactions(self) -> str | None:
        """Why this method cannot tell what joints transmit; None if it can."""
        lacking = self.loop.simulation.method.observer.unavailable
        return next((lacking[name] for name in REACTIONS if name in lacking), None)

    def watch_contacts(self, on: bool) -> None:
        """Keep `contacts` up to date, or no longer."""
        with self._seeing:
            self._watches_contacts = on and self.touching
            self.contacts = None
            if self._watches_contacts:
                self._copy_contacts()

    # Recording

    def start_recording(self, name: str) -> Path:
        """Record into a file of the folder from now on, with what the joints transmit."""
        with self._seeing:
            if self.recording is not None:
                raise LinkworkError(f"'{self.recording.name}' is being recorded already")
            path = inside(self.folder, name, ".h5")
            if path.exists():
                raise LinkworkError(
                    f"there is already a file '{path.name}' in {self.folder}: choose another name"
                )
            self.look()
            assert self._observer is not None
            self.recording, self.trouble = path, None
            self._observe_with(self._observer)
            simulation = self.loop.simulation
            info = {
                "linkwork": __version__, **self._origin, "method": simulation.method.name,
                **simulation.method.info(), "dt": simulation.dt,
                "stage": self.stage.to_dict(), "frames": self._observer.frames.to_dict(),
                **({MISSING: missing} if (missing := self._observer.missing) else {}),
            }  # fmt: skip
            try:
                self._builder = RecordBuilder(self._observer.groups, info, path)
            except BaseException:
                self.recording = None
                raise
            self.trouble = self._builder.kept
            return path

    def stop_recording(self) -> Record:
        """Finish the recording; a StorageError that holds it if it cannot be written."""
        with self._seeing:
            builder = self._builder
            if builder is None:
                raise LinkworkError("nothing is being recorded")
            self._builder = self.recording = None
            self._write(builder)
            method, status = self.loop.simulation.method, self.status
            pace = {"real_time_factor": status.factor, "lost_s": status.lost}
            try:
                record = builder.finish({"warnings": method.warnings(), **pace, **method.outcome()})
            except StorageError as error:
                self.trouble = str(error)
                raise
            finally:
                builder.abandon()
            self.trouble = None
            return record

    def end_recording(self) -> None:
        """Finish the recording, if there is one, whatever the disk says: that is told by `trouble`."""
        if self._builder is not None:
            with contextlib.suppress(StorageError):
                self.stop_recording()

    # Within

    def _take_in(self, samples: Samples) -> None:
        observer, times, kept = samples.observer, samples.block[0], samples.kept
        if samples.run != self._run:
            self._begin_run(samples.run, float(times[0]))
            observer.restart()
        if observer is not self._observer or self._with_reactions != (
            self.reactions or self._builder is not None
        ):
            heads = self._heads
            self._observe_with(observer)
            if self._heads != heads:
                self.end_recording()
        data = observer.observe(samples.block)
        if kept:
            self._keep(times[:kept], {name: block[:kept] for name, block in data.items()})
        last = np.concatenate([data[group.name][-1] for group in observer.groups])
        count = len(self.stage.bodies)
        poses = Poses(data["positions"][-1].reshape(count, 3), data["rotations"][-1].reshape(count, 4))
        self._view = View(float(times[-1]), poses, samples.run, self._heads, last)
        self._extend_traces(times, data)

    def _copy_contacts(self) -> None:
        """Ask for the contacts of this moment. Between two steps, for a step writes where they are."""
        if self._copied is not None and not self._copied.done():
            return

        def copy(simulation: Simulation) -> None:
            self.contacts = simulation.method.touch_arrays()

        with contextlib.suppress(LinkworkError):  # it has ended
            self._copied = self.loop.do(copy)

    def _observe_with(self, observer: Observer) -> None:
        self._observer = observer
        self._with_reactions = self.reactions or self.recording is not None
        observer.choose(reactions=self._with_reactions)
        self._heads = [column for group in observer.groups for column in group.columns]

    def _begin_run(self, run: int, time: float) -> None:
        """Time went back, or the model changed and goes on from where it was."""
        self._run = run
        if run in self._coming:
            self._coming.pop(run)()
        if self._view is None or time < self._view.time:
            self.history.clear()
            self.traces = {name: deque(maxlen=TRACE) for name in self.traces}
            self._traced = {name: deque(maxlen=TRACE) for name in self._traced}
            self.end_recording()

    def _set_stage(self, stage: Stage, markers: list[str]) -> None:
        """There is something else to see; a recording of what was seen before is finished."""
        if stage != self.stage:
            self.end_recording()
        self.stage, self.markers = stage, markers
        self.traces = {name: points for name, points in self.traces.items() if name in markers}

    def _keep(self, times: Array, data: dict[str, Array]) -> None:
        """Samples on the grid: for plots and recordings."""
        if self._builder is not None:
            self._unwritten.append((times, data))
            if wall.monotonic() - self._written > _WRITE_EVERY:
                self._write(self._builder)
        if self.history.names:
            assert self._observer is not None
            columns = [self._observer.column(name, data) for name in self.history.names]
            unknown = np.full(len(times), np.nan)
            self.history.add(times, np.column_stack([unknown if c is None else c for c in columns]))

    def _write(self, builder: RecordBuilder) -> None:
        """Append what was kept back: every append costs some milliseconds, however short."""
        if self._unwritten:
            times = np.concatenate([part for part, _ in self._unwritten])
            blocks = [data for _, data in self._unwritten]
            builder.append(
                times, {name: np.concatenate([data[name] for data in blocks]) for name in blocks[0]}
            )
        self._unwritten.clear()
        self._written = wall.monotonic()
        if builder.trouble is not None:
            self.trouble = f"{builder.trouble}; they are kept in memory, and it goes on"
        elif builder is self._builder:
            self.trouble = builder.kept

    def _extend_traces(self, times: Array, data: dict[str, Array]) -> None:
        for name, points in self.traces.items():
            first, when = 3 * self.markers.index(name), self._traced[name]
            for time, point in zip(times, data["markers"][:, first : first + 3], strict=True):
                if not points or np.abs(point - points[-1]).max() > _TRACE_SPACING * self.size:
                    points.append(point.copy())
                    when.append(float(time))
            while when and when[0] < times[-1] - FADED:
                points.popleft()
                when.popleft()


def _joined(stretch: list[Samples]) -> Samples:
    """One stretch of many: observing has a price by the call. Of samples off the grid only the last is kept."""
    blocks = [tuple(array[: part.kept] for array in part.block) for part in stretch]
    kept = sum(part.kept for part in stretch)
    latest = stretch[-1]
    blocks.append(tuple(array[latest.kept :] for array in latest.block))
    block = tuple(np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    return latest._replace(block=block, kept=kept)
