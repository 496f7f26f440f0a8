"""One case of a study: the model is built, simulated, and what came of it measured. Runs in any process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..model.rotation import Array
from ..results.measured import REACTIONS
from ..run.schedule import Schedule
from ..run.simulate import Simulation
from ..run.snapshot import fingerprint
from ..scenes import Scene
from .measure import Measure, measures_of, usual
from .outcome import Values
from .subject import Buildable, Subject


@dataclass(frozen=True)
class Trial:
    """Simulate a case for a time and measure. Made by `prepare`, which looks at one case first."""

    subject: Subject
    duration: float
    """[s]"""
    every: float
    """Time between samples [s]."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of `Simulation`: method, dt, tolerance …"""
    measures: tuple[Measure, ...] = ()
    reactions: bool = False
    """Whether a measure needs forces in joints."""

    @cached_property
    def times(self) -> Array:
        """Of signals over time [s]."""
        count = int(self.duration / self.every * (1.0 + 1e-12))
        ticks = [self.every * k for k in range(count + 1)]
        if ticks[-1] < self.duration * (1.0 - 1e-9):  # the end is always a sample
            ticks.append(self.duration)
        return np.array(ticks)

    def __call__(self, case: Mapping[str, float]) -> Values:
        model, _ = self.subject.build(case)
        simulation = Simulation(model, **self.options)
        try:
            record = simulation.run(self.duration, every=self.every, reactions=self.reactions)
        finally:
            simulation.close()
        return {measure.name: measure.of(record) for measure in self.measures}

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from others, beside the model."""
        return {
            "subject": self.subject.name, "settings": {k: repr(v) for k, v in self.subject.settings.items()},
            "duration": self.duration, "every": self.every, "measures": [m.name for m in self.measures],
            "options": {k: repr(v) for k, v in self.options.items()},
        }  # fmt: skip


def prepare(
    what: Buildable,
    case: Mapping[str, float],
    measure: Sequence[str],
    duration: float | None,
    every: float | None,
    settings: Mapping[str, Any],
    options: Mapping[str, Any],
) -> tuple[Trial, str]:
    """A trial that is known to fit a case: names of parameters and signals are right, kernels are compiled.

    Also returns a fingerprint of the model of that case.
    """
    subject = Subject(what, settings).varying(case)
    model, scene = subject.build(case)
    chosen = _completed(options, scene)
    simulation = Simulation(model, **chosen)
    signals = dict(simulation.signals)
    coordinates = [column.name for column in simulation.system.coordinates]
    measures = measures_of(list(measure) or usual(coordinates), signals)
    observer = simulation.method.observer
    observer.choose(reactions=True)
    heavy = {column for group in observer.groups if group.name in REACTIONS for column in group.columns}
    length = duration if duration is not None else (scene.duration if scene else 10.0)
    step = None if simulation.method.adaptive else simulation.dt
    spacing = Schedule(0, step, length, every, False, ()).every
    trial = Trial(subject, length, spacing, chosen, measures, any(m.signal in heavy for m in measures))
    simulation.step()  # what cannot begin is told now, and kernels are compiled once
    simulation.close()
    return trial, fingerprint(simulation.system)


def _completed(options: Mapping[str, Any], scene: Scene | None) -> dict[str, Any]:
    """Options with those that suit the scene."""
    given = {key: value for key, value in options.items() if value is not None}
    if scene is None:
        return given
    if not {"method", "solver"} & given.keys() and scene.method is not None:
        given["method"] = scene.method
    return {"dt": scene.dt, **given}
