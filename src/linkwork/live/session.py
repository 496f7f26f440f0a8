"""A model in real time, and what an operator can do to it.

The physics runs in a thread of its own (`realtime`). Whoever shows it calls `look` some tens of times a second: it
takes what the physics has left there, names it, keeps traces and histories, and writes the recording (`sight`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..methods.registry import WAYS
from ..model import Flat, Model
from ..model.edit import with_item
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Vector, matrix, vector
from ..observe.observer import Block
from ..run.simulate import Simulation
from ..scenes import Scene
from ..stage.stage import stage_of
from .desk import Desk
from .drives import Lever, levers
from .hand import Grip, Hand
from .inputs import inputs_of
from .opened import names_of, open_model, options_of
from .parameters import Parameter, parameters, with_parameter
from .realtime import RealTime
from .rewrite import kept_commands, kept_values, other_start, went_over
from .sight import Sight
from .view import Method
from .watch import Watch

T = TypeVar("T")
_FIRST, _SOON = 5.0, 0.1  # how long a report is waited for before there is any, and then [s]


class Session(Sight):
    """One model, running.

    `scene` tells duration, step and method that suit it; `folder` is where recordings go; `changed` are values of
    `parameters` that it begins with; `options` are those of `Simulation`.
    """

    def __init__(
        self,
        model: Model,
        *,
        scene: Scene | None = None,
        folder: Path | str = ".",
        speed: float = 1.0,
        paused: bool = False,
        changed: dict[str, float] | None = None,
        **options: Any,
    ):
        # Many arguments: each is a wish of its own, told by name.
        self._opened = open_model(model)
        self.written = model
        """As it was opened."""
        self.scene = scene
        self.hand = Hand(self._opened.flat)
        self._wishes = options
        self._values: dict[str, float] = dict(changed or {})
        self.commands: dict[str, float] = {}
        """Commands of drives that the operator gave."""
        self.operated: dict[str, float] = {}
        """Where the operator put elements of the model's panel, by channel."""
        self.manual = False
        """True if the drives obey the operator alone, not their signals."""
        simulation = Simulation(self._model(), **options_of(self._opened, scene, options))
        self.names, self.warnings = names_of(simulation), [*simulation.system.notes]
        self._watch: Watch | None = None
        self.desk = Desk(inputs_of(self._opened.flat, self.levers, self.commands), self._operate)
        """What operators hold: pages and programs."""
        loop = RealTime(simulation, speed=speed, paused=paused)
        loop.before_steps += [
            self.desk.act, self._press_by_itself, lambda simulation: self.hand.act(simulation)
        ]  # fmt: skip
        origin = {"model": model.name, "scene": scene and scene.name}
        super().__init__(loop, stage_of(self._opened), Path(folder), origin)
        self.loops = scene is not None and not scene.endless
        """Whether it begins again when the scene's duration has passed since it began, or since the operator last did
        something. Not while a body is held, drives are driven by hand or a recording is made."""
        self._touched = 0.0
        """When the operator last did something in this run [s of the simulation]; 0 if never."""
        self._unattended = False  # while a button is pressed by itself
        self._report: dict[str, Any] = {}
        self._asked: Future[dict[str, Any]] | None = None
        self._pressed = 0.0  # until then the scene's own presses were done [s]
        loop.ends, loop.begin_again = self._end, self._reset

    # Life

    def start(self) -> None:
        """Let it run."""
        self.loop.start()

    def stop(self) -> None:
        """End it; a recording is finished."""
        if self._watch is not None:
            self._watch.stop()
        self.loop.stop()
        if self.recording is not None:
            self.look()
            self.end_recording()

    def __enter__(self) -> Session:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def report(self) -> dict[str, Any]:
        """What the method tells of its work so far: iterations, gaps, events, overruns.

        Told by the thread that steps, between two steps, for methods work on what they tell of; if it takes long, what
        was told last.
        """

        def told(simulation: Simulation) -> dict[str, Any]:
            method = simulation.method
            return {**method.outcome(), **method.report()}

        if not self.loop.running:
            return told(self.loop.simulation)
        if self._asked is None or self._asked.done():
            with suppress(LinkworkError):  # it has ended
                self._asked = self.loop.do(told)
        if self._asked is not None:
            with suppress(TimeoutError, CancelledError):
                self._report = self._asked.result(_SOON if self._report else _FIRST)
        return self._report

    def warm(self) -> None:
        """Compile what is wanted later, such as reactions, which must not hold up the picture then; before `start`."""
        observer = self.loop.simulation.method.observer
        observer.choose(reactions=True)
        observer.observe(self.loop.simulation.method.now())
        observer.choose(reactions=False)
        observer.restart()

    def rehearse(self, steps: int) -> Block:
        """Take steps before `start`, with what the scene does by itself meanwhile; `rewind` goes back."""
        for before in self.loop.before_steps:
            before(self.loop.simulation)
            while self.loop.serve():
                pass
        return self.loop.simulation.advance([steps])

    def rewind(self) -> None:
        """As if nothing had been rehearsed."""
        self.hand.let_go()
        self.hand.act(self.loop.simulation)
        self._reset(self.loop.simulation)
        self.loop.simulation.method.observer.restart()

    # Another model in its place

    def watch_files(self, watch: Watch) -> None:
        """Let somebody watch the files of the model until the end."""
        self._watch = watch
        watch.start()

    def rewrite(self, model: Model) -> str:
        """Go on with another version of the model, from where it is; returns why it begins anew if it has to.

        Waits until the motion goes on; an error leaves everything as it was. What the operator changed stays, unless
        the model changes the same.
        """
        opened = open_model(model)
        old, new = self._opened.flat, opened.flat
        hand = Hand(new)
        values = kept_values(self._values, self.written, model)
        commands = kept_commands(self.commands, old, new)
        fresh = Simulation(
            hand.held_by(self._changed(model, new, values)), **options_of(opened, self.scene, self._wishes)
        )
        fresh.step()  # compiles what is new in it, while the old one moves
        fresh.reset()
        stage = stage_of(opened)

        def become() -> None:
            self.written, self._opened = model, opened
            self.names, self.warnings = names_of(fresh), [*fresh.system.notes]
            self._set_stage(stage, [mark.name for mark in fresh.system.markers])

        def apply(simulation: Simulation) -> str:
            failed = self.loop.status.failure and "the motion had ended"
            anew = failed or other_start(old, new) or went_over(fresh, simulation)
            known = levers(new, not self.manual)
            self.desk.offer(inputs_of(new, known, commands | self.operated), anew=True)
            self.operated = {name: v for name, v in self.operated.items() if name in self.desk.inputs}
            for lever in known:
                fresh.command(lever.drive, commands.get(lever.drive, new.drives[lever.drive].command))
            for name, value in self.operated.items():
                fresh.operate(name, value)
            self.loop.simulation, self.hand = fresh, hand
            self._values, self.commands = values, commands
            self._coming[self.loop.run + 1] = become
            simulation.close()
            return anew

        return self.loop.change(apply).result()

    # What an operator does

    @property
    def flat(self) -> Flat:
        """The model, components taken apart."""
        return self._opened.flat

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
        self.desk.told(drive, value)
        self.commands[drive] = value
        return self._do(lambda simulation: simulation.command(drive, value))

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
        return self._do(
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
        self.desk.offer(inputs_of(flat, self.levers, self.commands | self.operated), anew=True)

        def apply(simulation: Simulation) -> None:
            simulation.alter(self._model())
            self._obey(simulation)

        return self._change(apply)

    def reset(self) -> Future[None]:
        """Back to the start; levers stay where the operator put them."""
        return self.loop.change(self._reset)

    @property
    def parameters(self) -> list[Parameter]:
        """Numbers that may change while it moves, as they are now."""
        return [
            parameter._replace(value=self._values.get(parameter.name, parameter.value))
            for parameter in parameters(self.written)
        ]

    @property
    def changed(self) -> dict[str, float]:
        """Parameters that were changed, by name."""
        return dict(self._values)

    def set_parameter(self, name: str, value: float) -> Future[None]:
        """Change a number of the model while it moves."""
        with_parameter(self.written, name, value)  # raises if it cannot be
        self._values[name] = value

        def apply(simulation: Simulation) -> None:
            if self._values.get(name) == value:  # else a later change is on its way
                simulation.alter(self._model())
                self._obey(simulation)

        return self._change(apply)

    def grab(self, body: str, place: Vector) -> Future[None]:
        """Take hold of a body at a place of the world [m]."""
        view = self.view
        i = self.stage.index(body)
        at = matrix(view.poses.rotations[i]).T @ (np.array(place) - view.poses.positions[i])
        grip = Grip(body, vector(at), place)
        return self._do(lambda _: setattr(self.hand, "grip", grip))

    def drag(self, place: Vector) -> Future[None]:
        """Pull what is held to another place of the world [m]."""
        return self._do(lambda _: self.hand.moved(place))

    def let_go(self) -> Future[None]:
        """Hold nothing."""
        return self._do(lambda _: self.hand.let_go())

    def push(self, body: str, direction: Vector) -> Future[None]:
        """Push a body at its centre of mass for a moment, along a direction of the world."""
        self.stage.index(body)  # raises if there is none
        return self._do(lambda simulation: self.hand.push(body, direction, simulation.time))

    def press(self, button: str) -> Future[object]:
        """A button of the scene."""
        if button not in self.buttons:
            raise LinkworkError(f"there is no button '{button}'{nearest(button, self.buttons)}")
        action = self.buttons[button]
        return self._do(lambda _: action(self))

    @property
    def buttons(self) -> dict[str, Callable[[Session], object]]:
        """Of the scene, by label."""
        return {} if self.scene is None else self.scene.buttons

    def methods(self) -> list[Method]:
        """What a selector of methods offers."""
        return [Method(way.name, way.method, way.solver) for way in WAYS]

    # Within

    def _do(self, task: Callable[[Simulation], T]) -> Future[T]:
        """Something that the operator does."""
        return self.loop.do(self._noting(task))

    def _change(self, task: Callable[[Simulation], T]) -> Future[T]:
        """Something that the operator changes, so that a new run begins."""
        return self.loop.change(self._noting(task))

    def _noting(self, task: Callable[[Simulation], T]) -> Callable[[Simulation], T]:
        if self._unattended:
            return task

        def done(simulation: Simulation) -> T:
            self._touched = simulation.time
            return task(simulation)

        return done

    def _reset(self, simulation: Simulation) -> None:
        """Back to the start; drives then obey what the operator told them."""
        simulation.reset()
        self._obey(simulation)
        self._touched = self._pressed = 0.0

    def _operate(self, simulation: Simulation, values: Mapping[str, float]) -> None:
        """What operators did since the last step."""
        self._touched = simulation.time
        for name, value in values.items():
            (self.commands if name in self._opened.flat.drives else self.operated)[name] = value
        self._obey(simulation)

    def _obey(self, simulation: Simulation) -> None:
        for name, value in self.commands.items():
            simulation.command(name, value)
        for name, value in self.operated.items():
            simulation.operate(name, value)

    def _end(self) -> float:
        """When it begins again [s of the simulation]."""
        held = self.manual or self.hand.grip or self.recording or self.desk.owners
        if self.scene is None or not self.loops or held:
            return inf
        return self._touched + self.scene.duration

    def _press_by_itself(self, simulation: Simulation) -> None:
        """Buttons that the scene has pressed when their time has come, unless the operator does something."""
        if self.scene is None or not self.loops or self._touched:
            return
        self._unattended = True
        for time, button in self.scene.presses:
            if self._pressed < time <= simulation.time:
                with suppress(LinkworkError):  # what it is for may not be there, with other parameters
                    self.buttons[button](self)
        self._unattended = False
        self._pressed = simulation.time

    def _model(self) -> Model:
        """The model as it is now: with the hand, other parameters and free levers."""
        return self.hand.held_by(self._changed(self.written, self._opened.flat, self._values))

    def _changed(self, model: Model, flat: Flat, values: dict[str, float]) -> Model:
        """A model with other parameters and free levers."""
        for name, value in values.items():
            model = with_parameter(model, name, value)
        if self.manual:
            for name in flat.drives:
                model = with_item(model, "drives", name, signal=None)
        return model
