"""A model in real time: what an operator can do to it, and what there is to see of it.

The physics runs in a thread of its own (`realtime`). Whoever shows it calls `look` some tens of times a second: it
takes what the physics has left there, names it, keeps traces and histories, and writes the recording.
"""

from __future__ import annotations

import contextlib
import threading
import time as wall
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..compile.compiler import Compiled
from ..methods.capabilities import WITH_CONTACT
from ..methods.options import DEFAULT_DT, Options, option_names
from ..methods.registry import WAYS, way_for
from ..methods.touching import TouchArrays
from ..model import Model
from ..model.edit import with_item
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Array, Vector, matrix
from ..observe.observer import Observer
from ..results.record import Record, RecordBuilder, matching
from ..run.simulate import Simulation
from ..scenes import Scene
from ..stage.bounds import extent
from ..stage.stage import Poses, Stage, stage_of
from ..version import __version__
from .drives import Lever, levers
from .files import inside
from .hand import Grip, Hand
from .history import History
from .parameters import Parameter, parameters, with_parameter
from .realtime import RealTime, Samples, Status

TRACE = 800  # points of a trace
_TRACE_SPACING = 2e-3  # of the size of the model
_WRITE_EVERY = 0.5  # [s]


@dataclass(frozen=True, eq=False)
class View:
    """What there is to see now."""

    time: float
    """[s]"""
    poses: Poses
    run: int
    """Counts resets and changes of the model."""
    names: list[str]
    """Of all signals that are recorded."""
    numbers: Array
    """Their values."""

    @cached_property
    def values(self) -> dict[str, float]:
        """All signals by name."""
        return dict(zip(self.names, self.numbers.tolist(), strict=True))


class Method(NamedTuple):
    """A way to simulate, as a selector names it."""

    name: str
    method: str
    solver: str | None


class Session:
    """One model, running.

    `scene` tells duration, step and method that suit it; `folder` is where recordings go; `options` are those of
    `Simulation`.
    """

    def __init__(
        self,
        model: Model,
        *,
        scene: Scene | None = None,
        folder: Path | str = ".",
        speed: float = 1.0,
        paused: bool = False,
        **options: Any,
    ):
        self._opened = Compiled(model)
        if not self._opened.flat.bodies:
            raise LinkworkError(f"the model '{model.name}' has no bodies: there is nothing to see")
        self.written = model
        """As it was opened."""
        self.scene = scene
        self.folder = Path(folder)
        self.hand = Hand(self._opened.flat)
        self._options = _defaults(self._opened, scene, options)
        self._values: dict[str, float] = {}
        self.commands: dict[str, float] = {}
        """What drives were told by the operator."""
        self.manual = False
        """True if the drives obey the operator alone, not their signals."""
        self._gave: deque[Samples] = deque()
        self._builder: RecordBuilder | None = None
        self._seeing = threading.RLock()
        self._unwritten: list[tuple[Array, dict[str, Array]]] = []
        self._written = wall.monotonic()
        self._recording_path: Path | None = None
        simulation = Simulation(self._model(), **self._options)
        self.stage: Stage = stage_of(self._opened)
        self.names = simulation.method.name, simulation.method.info().get("solver")
        self.warnings = [*simulation.system.notes]
        self.loop = RealTime(simulation, speed=speed, paused=paused)
        self.loop.listeners.append(self._gave.append)
        self.loop.before_steps.append(self.hand.act)
        self.reactions = False
        self.contacts: TouchArrays | None = None
        """Where things touch, while that is watched (`watch_contacts`)."""
        self._watches_contacts = False
        self._copied: Future[None] | None = None
        self._observer: Observer | None = None
        self._with_reactions = False
        self._view: View | None = None
        self._run = -1
        self.history = History((), 10.0)
        self.traces: dict[str, deque[Array]] = {}
        self._heads: list[str] = []
        self.size = 1.0
        """Largest extent at the start [m]."""
        self._marks = [mark.name for mark in simulation.system.markers]
        self.loop.announce()
        self.look()
        assert self._view is not None
        low, high = extent(self.stage, *self._view.poses)
        self.size = float((high - low).max())

    # Life

    def start(self) -> None:
        """Let it run."""
        self.loop.start()

    def stop(self) -> None:
        """End it; a recording is finished."""
        self.loop.stop()
        if self.recording is not None:
            self.look()
            self.stop_recording()

    def __enter__(self) -> Session:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def status(self) -> Status:
        """How it fares against the clock."""
        return self.loop.status

    @property
    def report(self) -> dict[str, Any]:
        """What the method tells of its work so far: iterations, gaps, events, overruns."""
        method = self.loop.simulation.method
        return {**method.outcome(), **getattr(method, "report", dict)()}

    def warm(self) -> None:
        """Compile what is wanted later, such as reactions, which must not hold up the picture then; before `start`."""
        observer = self.loop.simulation.method.observer
        observer.choose(reactions=True)
        observer.observe(self.loop.simulation.method.now())
        observer.choose(reactions=False)
        observer.restart()

    # What an operator does

    @property
    def levers(self) -> list[Lever]:
        """Drives and the ranges of their commands."""
        return levers(self._opened.flat, not self.manual)

    def command(self, drive: str, value: float) -> Future[None]:
        """Tell a drive what to do."""
        known = self._opened.flat.drives
        if drive not in known:
            raise LinkworkError(f"there is no drive '{drive}'{nearest(drive, known)}")
        if not np.isfinite(value):
            raise LinkworkError(f"the command of drive '{drive}' must be a finite number, not {value}")
        self.commands[drive] = value
        return self.loop.do(lambda simulation: simulation.command(drive, value))

    @property
    def switches(self) -> dict[str, bool]:
        """Joints that can be attached and released, and whether they hold now."""
        method = self.loop.simulation.method
        return {name: name in method.attached for name in method.switchable}

    def attach(self, joint: str, hold: bool) -> Future[None]:
        """Let a joint take hold where it is, or let go."""
        if joint not in self.switches:
            raise LinkworkError(
                f"there is no joint '{joint}' to attach or release{nearest(joint, self.switches)}"
            )
        names = (joint,)
        return self.loop.do(
            lambda simulation: simulation.method.switch(names if hold else (), () if hold else names)
        )

    def take_the_levers(self, manual: bool) -> Future[None]:
        """Drives obey the operator alone, beginning where they are; or their signals again."""
        flat = self._opened.flat
        now = self.loop.simulation.time
        for name, drive in flat.drives.items():
            if drive.signal is not None and manual != self.manual:
                factor = self.commands.get(name, drive.command) * drive.signal.value(now)
                self.commands[name] = factor if manual else drive.command
        self.manual = manual

        def apply(simulation: Simulation) -> None:
            simulation.alter(self._model())
            for name, value in self.commands.items():
                simulation.command(name, value)

        return self.loop.change(apply)

    def reset(self) -> Future[None]:
        """Back to the start; levers stay where the operator put them."""

        def back(simulation: Simulation) -> None:
            simulation.reset()
            for name, value in self.commands.items():
                simulation.command(name, value)

        return self.loop.change(back)

    @property
    def parameters(self) -> list[Parameter]:
        """Numbers that may change while it moves, as they are now."""
        return [
            parameter._replace(value=self._values.get(parameter.name, parameter.value))
            for parameter in parameters(self.written)
        ]

    def set_parameter(self, name: str, value: float) -> Future[None]:
        """Change a number of the model while it moves."""
        with_parameter(self.written, name, value)  # raises if it cannot be
        self._values[name] = value

        def apply(simulation: Simulation) -> None:
            if self._values.get(name) == value:  # else a later change is on its way
                simulation.alter(self._model())

        return self.loop.change(apply)

    def grab(self, body: str, place: Vector) -> Future[None]:
        """Take hold of a body at a place of the world [m]."""
        view = self.view
        i = self.stage.index(body)
        at = matrix(view.poses.rotations[i]).T @ (np.array(place) - view.poses.positions[i])
        grip = Grip(body, (float(at[0]), float(at[1]), float(at[2])), place)

        def take(_: Simulation) -> None:
            self.hand.grip = grip

        return self.loop.do(take)

    def drag(self, place: Vector) -> Future[None]:
        """Pull what is held to another place of the world [m]."""
        return self.loop.do(lambda _: self.hand.moved(place))

    def let_go(self) -> Future[None]:
        """Hold nothing."""
        return self.loop.do(lambda _: self.hand.let_go())

    def push(self, body: str, direction: Vector) -> Future[None]:
        """Push a body at its centre of mass for a moment, along a direction of the world."""
        self.stage.index(body)  # raises if there is none
        return self.loop.do(lambda simulation: self.hand.push(body, direction, simulation.time))

    def press(self, button: str) -> Future[object]:
        """A button of the scene."""
        if button not in self.buttons:
            raise LinkworkError(f"there is no button '{button}'{nearest(button, self.buttons)}")
        action = self.buttons[button]
        return self.loop.do(lambda _: action(self))

    @property
    def buttons(self) -> dict[str, Callable[[Session], object]]:
        """Of the scene, by label."""
        return {} if self.scene is None else self.scene.buttons

    def methods(self) -> list[Method]:
        """What a selector of methods offers."""
        return [Method(way.name, way.method, way.solver) for way in WAYS]

    # What there is to see

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
    def markers(self) -> list[str]:
        """Names of the points that can be traced."""
        return list(self._marks)

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

    @property
    def touching(self) -> bool:
        """Whether things of this model can touch."""
        return WITH_CONTACT in self.loop.simulation.method.circumstances

    def watch_contacts(self, on: bool) -> None:
        """Keep `contacts` up to date, or no longer."""
        with self._seeing:
            self._watches_contacts = on and self.touching
            self.contacts = None
            if self._watches_contacts:
                self._copy_contacts()

    # Recording

    @property
    def recording(self) -> Path | None:
        """The file that is being written, or None."""
        return self._recording_path

    def start_recording(self, name: str) -> Path:
        """Record into a file of the folder from now on, with what the joints transmit."""
        with self._seeing:
            if self._recording_path is not None:
                raise LinkworkError(f"'{self._recording_path.name}' is being recorded already")
            path = inside(self.folder, name, ".h5")
            if path.exists():
                raise LinkworkError(
                    f"there is already a file '{path.name}' in {self.folder}: choose another name"
                )
            self.look()
            assert self._observer is not None
            self._recording_path = path
            self._observe_with(self._observer)
            info = {
                "linkwork": __version__, "model": self.written.name, "scene": self.scene and self.scene.name,
                "method": self.names[0], **self.loop.simulation.method.info(), "dt": self.loop.simulation.dt,
                "stage": self.stage.to_dict(), "frames": self._observer.frames.to_dict(),
            }  # fmt: skip
            try:
                self._builder = RecordBuilder(self._observer.groups, info, path)
            except BaseException:
                self._recording_path = None
                raise
            return path

    def stop_recording(self) -> Record:
        """Finish the recording."""
        with self._seeing:
            builder = self._builder
            if builder is None:
                raise LinkworkError("nothing is being recorded")
            self._builder = self._recording_path = None
            self._write(builder)
            return builder.finish(
                {"warnings": self.loop.simulation.method.warnings(), **self.report_numbers()}
            )

    def report_numbers(self) -> dict[str, Any]:
        """What a record should say about how it went."""
        status = self.status
        return {
            "real_time_factor": status.factor,
            "lost_s": status.lost,
            **self.loop.simulation.method.outcome(),
        }

    # Within

    def _model(self) -> Model:
        """The model as it is now: with the hand, other parameters and free levers."""
        model = self.written
        for name, value in self._values.items():
            model = with_parameter(model, name, value)
        if self.manual:
            for name in self._opened.flat.drives:
                model = with_item(model, "drives", name, signal=None)
        return self.hand.held_by(model)

    def _take_in(self, samples: Samples) -> None:
        observer, times, kept = samples.observer, samples.block[0], samples.kept
        if samples.run != self._run:
            self._begin_run(samples.run, float(times[0]))
            observer.restart()
        if observer is not self._observer or self._with_reactions != (
            self.reactions or self._builder is not None
        ):
            self._observe_with(observer)
        data = observer.observe(samples.block)
        if kept:
            self._keep(times[:kept], {name: block[:kept] for name, block in data.items()})
        last = np.concatenate([data[group.name][-1] for group in observer.groups])
        count = len(self.stage.bodies)
        poses = Poses(data["positions"][-1].reshape(count, 3), data["rotations"][-1].reshape(count, 4))
        self._view = View(float(times[-1]), poses, samples.run, self._heads, last)
        self._extend_traces(data)

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
        self._with_reactions = self.reactions or self._recording_path is not None
        observer.choose(reactions=self._with_reactions)
        self._heads = [column for group in observer.groups for column in group.columns]

    def _begin_run(self, run: int, time: float) -> None:
        """Time went back, or the model changed and goes on from where it was."""
        self._run = run
        if self._view is None or time < self._view.time:
            self.history.clear()
            for points in self.traces.values():
                points.clear()
            if self._builder is not None:
                self.stop_recording()

    def _keep(self, times: Array, data: dict[str, Array]) -> None:
        """Samples on the grid: for plots and recordings."""
        if self._builder is not None:
            self._unwritten.append((times, data))
            if wall.monotonic() - self._written > _WRITE_EVERY:
                self._write(self._builder)
        if self.history.names:
            columns = [self._column(name, data, len(times)) for name in self.history.names]
            self.history.add(times, np.column_stack(columns))

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

    def _column(self, name: str, data: dict[str, Array], count: int) -> Array:
        assert self._observer is not None
        column = self._observer.column(name, data)
        return np.full(count, np.nan) if column is None else column

    def _extend_traces(self, data: dict[str, Array]) -> None:
        for name, points in self.traces.items():
            first = 3 * self._marks.index(name)
            for point in data["markers"][:, first : first + 3]:
                if not points or np.abs(point - points[-1]).max() > _TRACE_SPACING * self.size:
                    points.append(point.copy())


def _defaults(model: Compiled, scene: Scene | None, options: dict[str, Any]) -> dict[str, Any]:
    chosen = {name: value for name, value in options.items() if value is not None}
    if scene is not None:
        chosen.setdefault("dt", scene.dt)
        if scene.method is not None:
            chosen.setdefault("method", scene.method)
    named = chosen.get("method"), chosen.get("solver")
    if any(isinstance(name, Options) for name in named):
        return chosen
    if "budget" in option_names(
        way_for(model, *named).options
    ):  # a step must not take longer than it simulates
        chosen.setdefault("budget", chosen.get("dt", DEFAULT_DT))
    return chosen


def _joined(stretch: list[Samples]) -> Samples:
    """One stretch of many: observing has a price by the call. Of samples off the grid only the last is kept."""
    blocks = [tuple(array[: part.kept] for array in part.block) for part in stretch]
    kept = sum(part.kept for part in stretch)
    latest = stretch[-1]
    blocks.append(tuple(array[latest.kept :] for array in latest.block))
    block = tuple(np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    return latest._replace(block=block, kept=kept)


__all__ = ["Method", "Session", "View"]
