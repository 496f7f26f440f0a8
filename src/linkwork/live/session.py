"""A model in real time, and what an operator can do to it.

The physics runs in a thread of its own (`realtime`). Whoever shows it calls `look` some tens of times a second: it
takes what the physics has left there, names it, keeps traces and histories, and writes the recording (`sight`).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from ..compile.compiler import Compiled
from ..methods.options import DEFAULT_DT, Options, option_names
from ..methods.registry import WAYS, way_for
from ..model import Model
from ..model.edit import with_item
from ..model.errors import LinkworkError, nearest
from ..model.rotation import Vector, matrix, vector
from ..run.simulate import Simulation
from ..scenes import Scene
from ..stage.stage import stage_of
from .drives import Lever, levers
from .hand import Grip, Hand
from .parameters import Parameter, parameters, with_parameter
from .realtime import RealTime
from .sight import Sight
from .view import Method


class Session(Sight):
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
        self.hand = Hand(self._opened.flat)
        self._options = _defaults(self._opened, scene, options)
        self._values: dict[str, float] = {}
        self.commands: dict[str, float] = {}
        """Commands of drives that the operator gave."""
        self.manual = False
        """True if the drives obey the operator alone, not their signals."""
        simulation = Simulation(self._model(), **self._options)
        self.names = simulation.method.name, simulation.method.info().get("solver")
        self.warnings = [*simulation.system.notes]
        loop = RealTime(simulation, speed=speed, paused=paused)
        loop.before_steps.append(self.hand.act)
        origin = {"model": model.name, "scene": scene and scene.name}
        super().__init__(loop, stage_of(self._opened), Path(folder), origin)

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

        return self._begin_with(lambda simulation: simulation.alter(self._model()))

    def reset(self) -> Future[None]:
        """Back to the start; levers stay where the operator put them."""
        return self._begin_with(lambda simulation: simulation.reset())

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
        grip = Grip(body, vector(at), place)
        return self.loop.do(lambda _: setattr(self.hand, "grip", grip))

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

    # Within

    def _begin_with(self, change: Callable[[Simulation], object]) -> Future[None]:
        """Change the simulation; drives then obey what the operator told them."""

        def apply(simulation: Simulation) -> None:
            change(simulation)
            for name, value in self.commands.items():
                simulation.command(name, value)

        return self.loop.change(apply)

    def _model(self) -> Model:
        """The model as it is now: with the hand, other parameters and free levers."""
        model = self.written
        for name, value in self._values.items():
            model = with_parameter(model, name, value)
        if self.manual:
            for name in self._opened.flat.drives:
                model = with_item(model, "drives", name, signal=None)
        return self.hand.held_by(model)


def _defaults(model: Compiled, scene: Scene | None, options: dict[str, Any]) -> dict[str, Any]:
    chosen = {name: value for name, value in options.items() if value is not None}
    if scene is not None:
        chosen.setdefault("dt", scene.dt)
        if scene.method is not None:
            chosen.setdefault("method", scene.method)
    named = chosen.get("method"), chosen.get("solver")
    if any(isinstance(name, Options) for name in named):
        return chosen
    dt = chosen.get("dt", DEFAULT_DT)
    if "budget" in option_names(way_for(model, *named, dt).options):
        chosen.setdefault("budget", dt)  # a step must not take longer than it simulates
    return chosen
