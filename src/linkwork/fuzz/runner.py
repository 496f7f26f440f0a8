"""Runs of a mechanism by every method that can do it, at its step and at halves of it, and what solvers promise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compile.colliders import may_touch
from ..methods.capabilities import LACKS
from ..methods.features import features
from ..model import Flat, Model
from ..model.errors import LinkworkError, nearest
from ..results.record import Record
from ..run.simulate import Simulation

STEP, DURATION, SAMPLES = 1e-3, 0.1, 10
METHODS = ("simgc", "simmc")
COMPONENTS = "components"
"""Examines models of several components, too, if it can do them."""


@dataclass(frozen=True)
class Bounds:
    """What a solver promises."""

    order: int
    """Of the method in the step."""
    order_at_events: int
    """Where impacts or changes of friction fall within steps."""
    gap: float
    """Of joint equations and couplings at every sample, times the distance from the origin in metres [m or rad]."""
    limit: float
    """How far a limit may be exceeded, times the distance from the origin in metres [m or rad]."""
    rest: float
    """Speeds below it are rest [m/s]."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Options of `Simulation`."""


# Adams' method, or Runge and Kutta's, with events located: the order is kept across them. Projections that converge
# quadratically end at rounding: a gap of 1e-10 is one that was not removed.
DIRECT = Bounds(order=4, order_at_events=4, gap=1e-10, limit=1e-8, rest=1e-7, settings={"solver": "direct"})
# A step opens h² a/2, of which the next one removes the share erp = 0.8; a up to 25 g, for levers and stops multiply
# accelerations. Iterations end when impulses change by less than epsilon, which must not show in what is compared.
_OPEN = STEP**2 * 25 * 9.81 / (2 * 0.8)
_SWEEPS = {"solver": "impulses", "epsilon": 1e-10, "iterations": 3000}
IMPULSES = Bounds(order=1, order_at_events=1, gap=_OPEN, limit=_OPEN, rest=1e-6, settings=_SWEEPS)
# With contact the direct solver steps at first order, too, unless it is asked for another integrator.
TOUCHING = Bounds(
    order=1, order_at_events=1, gap=_OPEN, limit=_OPEN, rest=1e-6, settings={"solver": "direct"}
)


def bounds_of(solver: str, model: Model | None = None) -> Bounds:
    """What may be asked of a solver, in a model."""
    known = {"direct": DIRECT, "impulses": IMPULSES}
    if solver not in known:
        raise LinkworkError(f"there is no solver '{solver}'{nearest(solver, known)}")
    return (
        TOUCHING if solver == "direct" and model is not None and touches(model.flatten()) else known[solver]
    )


def touches(flat: Flat) -> bool:
    """Whether anything in a model may touch something."""
    return bool(may_touch(flat))


@dataclass(frozen=True)
class Finding:
    """Something that must not be."""

    kind: str
    """error, not_finite, gap, limit, start, locked, sunk, energy or disagree."""
    method: str
    what: str
    value: float = np.nan
    bound: float = np.nan

    def __str__(self) -> str:
        return f"{self.kind} ({self.method}): {self.what}"


class RunError(Exception):
    """A run that could not be made; holds what is to be said about it."""

    def __init__(self, finding: Finding):
        super().__init__(str(finding))
        self.finding = finding


class Runner:
    """Runs a model with both methods, at its step and at halves of it. Simulations are made once."""

    def __init__(self, model: Model, bounds: Bounds, dt: float = STEP, duration: float = DURATION):
        # Simulations flatten their model again and again: nested components only once.
        self.model = Model(model.name, gravity=model.gravity)
        self.flat = model.flatten()
        self.model.take_from(self.flat)
        self.whole = model
        self.methods: tuple[str, ...] = METHODS
        """What it is run by."""
        if len(model.instances) > 1 and not features(self.flat, LACKS[COMPONENTS]):
            self.methods = (*METHODS, COMPONENTS)
        self.bounds, self.dt, self.duration = bounds, dt, duration
        self.simulations: dict[str, Simulation] = {}
        self._records: dict[tuple[str, int], Record] = {}

    def simulation(self, method: str) -> Simulation:
        """The simulation of a method, at any time of its run."""
        if method not in self.simulations:
            hierarchy = method == COMPONENTS
            settings = {} if hierarchy else self.bounds.settings
            model = self.whole if hierarchy else self.model
            self.simulations[method] = Simulation(model, method=method, dt=self.dt, **settings)
        return self.simulations[method]

    def record(self, method: str, halvings: int = 0) -> Record:
        """From the start, with the step halved so many times."""
        if (method, halvings) not in self._records:
            dt = self.dt / 2**halvings
            try:
                simulation = self.simulation(method)
                simulation.reset()
                simulation.step(0, dt=dt)
                record = simulation.run(self.duration, every=self.duration / SAMPLES)
            except Exception as error:  # whatever it is, it must not be
                what = f"{type(error).__name__} at a step of {dt:g} s: {error}"
                raise RunError(Finding("error", method, what)) from error
            self._records[method, halvings] = record
        return self._records[method, halvings]
