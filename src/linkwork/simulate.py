"""Run a model: steps, samples, callbacks, stop conditions, state on disk."""

from __future__ import annotations

import time as wall
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from . import __version__, snapshot
from .coordinates.dynamics import derive, energies
from .errors import LinkworkError, SimulationError, UnsupportedError, nearest
from .explain import likely_reason
from .integrate import OK, State
from .methods import DirectMethod, ImpulseMethod, Method, TreeMethod, row_features
from .model import Model
from .record import Record, RecordBuilder
from .rotation import Array
from .schedule import Schedule, positive
from .system import System

Integrator = Literal["rk4", "euler", "adaptive"]
METHODS = ("tree", "simgc", "simmc")

DEFAULT_DT = 1e-3
DEFAULT_TOLERANCE = 1e-8
# A balance that strays by more than this share of the energy in play is worth a warning.
_BALANCE_BUDGET = 0.01


class Simulation:
    """A model in motion.

    `method` is "tree" (open mechanisms, explicit integration), "simgc" or "simmc" (sequential impulses in
    generalized or maximal coordinates: loops, limits, friction, drives); by default the first that can do the
    model. With "tree", `integrator` is "rk4" (fixed steps, order 4, the default), "euler" (semi-implicit, order 1) or
    "adaptive" (order 5, keeps the local error at `tolerance`). `dt` is the step [s], or the first step of the
    adaptive integrator. For impulses, `epsilon` is the change of an impulse [N s] at which iterations end,
    `iterations` their limit, `budget` the time they may take a step [s] and `erp` the share of a gap removed in
    a step.
    """

    def __init__(
        self,
        model: Model | System,
        *,
        method: str | None = None,
        solver: str = "direct",
        integrator: str | None = None,
        dt: float = DEFAULT_DT,
        tolerance: float = DEFAULT_TOLERANCE,
        epsilon: float = 1e-6,
        iterations: int = 1000,
        budget: float | None = None,
        erp: float = 0.8,
    ):
        if method is not None and method not in METHODS:
            raise LinkworkError(f"there is no method '{method}'{nearest(method, METHODS)}")
        for name, value in (("dt", dt), ("tolerance", tolerance), ("epsilon", epsilon), ("erp", erp)):
            positive(name, value)
        if budget is not None:
            positive("budget", budget)
        if method is None:
            method = "simgc" if isinstance(model, Model) and row_features(model.flatten()) else "tree"
        self.dt = float(dt)
        self.tolerance = float(tolerance)
        self.integrator = integrator or "rk4"
        self.method: Method
        if method == "tree":
            self.method = TreeMethod(model, integrator or "rk4", self.dt, self.tolerance)
        elif isinstance(model, Model) and solver == "direct":
            self.method = DirectMethod(model, method, integrator or "adams", self.dt, self.tolerance, budget)
        elif isinstance(model, Model):
            self.method = ImpulseMethod(model, method, self.dt, epsilon, iterations, budget, erp)
        else:
            raise LinkworkError(f"method '{method}' needs the model itself, not a compiled system")
        self.tables = self.system.fresh_tables()

    @property
    def system(self) -> System:
        """The compiled model."""
        return self.method.system

    @property
    def _state(self) -> State:
        return self.method.state

    def reset(self) -> None:
        """Back to the start: time zero, coordinates and rates as written."""
        self.method.reset()

    def command(self, drive: str, value: float) -> None:
        """Tell a drive what to do from now on, in units of its kind."""
        self.method.command(drive, float(value))

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self._state.clock[2])

    @property
    def q(self) -> Array:
        """Coordinates now; may be written to between steps."""
        return self._state.q

    @property
    def v(self) -> Array:
        """Rates now; may be written to between steps."""
        return self._state.v

    @property
    def work(self) -> tuple[float, float]:
        """Work supplied by loads and dissipated by dampers so far [J]."""
        return float(self._state.work[0]), float(self._state.work[1])

    @property
    def steps(self) -> int:
        """Steps taken since the start."""
        return int(self._state.counts[1])

    def __getitem__(self, name: str) -> float:
        """A coordinate (`pivot.angle`) or rate (`pivot.angle_rate`) now."""
        found = self._find(name)
        return self.method.read(name) if found is None else float(found[0][found[1]])

    def __setitem__(self, name: str, value: float) -> None:
        found = self._find(name)
        if found is None:
            self.method.read(name)  # raises if there is no such name at all
            raise LinkworkError(
                f"'{name}' follows from the state of method '{self.method.name}'; it cannot be set"
            )
        found[0][found[1]] = value

    def _find(self, name: str) -> tuple[Array, int] | None:
        """Where a coordinate or rate stands in the state, if it does."""
        for array, columns in ((self.q, self.system.coordinates), (self.v, self.system.rates)):
            names = [column.name for column in columns]
            if name in names:
                return array, names.index(name)
        return None

    def accelerations(self) -> Array:
        """Joint accelerations of an open mechanism in the present state [rad/s², m/s²]."""
        if self.system.rows is not None:
            raise UnsupportedError(
                f"method '{self.method.name}' works with impulses: it has no accelerations"
            )
        qdd = np.zeros(self.system.nv)
        derive(self.tables, self.q, self.v, self.time, qdd)
        return qdd

    def energies(self) -> tuple[float, float, float]:
        """Kinetic energy, potential of gravity and of springs now [J]."""
        kinetic, gravity, strain = energies(self.tables, self.q, self.v, self.time)
        return float(kinetic), float(gravity), float(strain) + self.method.strain()

    def step(self, count: int = 1, *, dt: float | None = None) -> None:
        """Take `count` steps of size dt; of the adaptive integrator, as many as reach count dt further.

        A new `dt` [s] holds from now on.
        """
        if dt is not None and dt != self.dt:
            positive("dt", dt)
            self.dt = float(dt)
            self.method.change_step(self.dt)
        self._advance([self._later(count)], None)

    def run(
        self,
        duration: float,
        *,
        every: float | None = None,
        until: Callable[[Simulation], bool] | None = None,
        callbacks: Sequence[tuple[float, Callable[[Simulation], object]]] = (),
        save: str | Path | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> Record:
        """Simulate `duration` seconds and return what was recorded, the start and the end included.

        `every` is the time between samples [s]; `until(sim)` is asked at each sample and ends the run when it
        says True; `callbacks` are (period [s], function(sim)) pairs; `save` names an HDF5 file that grows
        while running; `progress(share)` is told how far the run is. With fixed steps all periods must be
        multiples of dt. A run that fails raises a SimulationError that holds the record so far.
        """
        positive("duration", duration)
        if not (np.isfinite(self.q).all() and np.isfinite(self.v).all()):
            raise LinkworkError("the state holds a number that is not finite; set it before running")
        schedule = Schedule(self, duration, every, bool(until), callbacks)
        builder = RecordBuilder(self.method.observer.groups, self._info(duration, schedule.every), save)
        began, steps = wall.perf_counter(), self.steps
        self.method.observer.restart()
        self.method.observer.append(builder, self.method.now())
        failure: SimulationError | None = None
        for targets, samples, calls in schedule.stretches():
            try:
                self._advance(targets, (builder, samples))
            except SimulationError as error:
                failure = error
                break
            for call in calls:
                call(self)
            if progress is not None:
                progress(schedule.share())
            if until is not None and until(self):
                break
        elapsed = wall.perf_counter() - began
        taken = self.steps - steps
        info = {
            "steps": taken,
            "wall_s": elapsed,
            "us_per_step": 1e6 * elapsed / max(taken, 1),
            **self.method.outcome(),
            "warnings": [
                *self.system.notes,
                *self.method.warnings(),
                *self.method.observer.warnings(_BALANCE_BUDGET),
            ],
        }
        if failure is not None:
            info["failure"] = str(failure)
        record = builder.finish(info)
        if failure is not None:
            failure.record = record
            raise failure
        return record

    def _info(self, duration: float, every: float) -> dict[str, Any]:
        return {
            "linkwork": __version__,
            "model": self.system.name,
            "method": self.method.name,
            **self.method.info(),
            "dt": self.dt,
            "duration": duration,
            "every": every,
        }

    def _later(self, count: int) -> float:
        """The target `count` steps of dt from now: a step count, or a time for the adaptive integrator."""
        if self.method.adaptive:
            return self.time + count * self.dt
        return int(self._state.counts[0]) + count

    def _advance(self, targets: Sequence[float], into: tuple[RecordBuilder, int] | None) -> None:
        """Move on through `targets`; hand the first `samples` of them to the record."""
        done, status, out = self.method.advance(targets)
        if into is not None:
            builder, samples = into
            rows = min(done, samples)
            self.method.observer.append(builder, tuple(array[:rows] for array in out))
        if status != OK:
            raise SimulationError(likely_reason(self, status), self.time)

    def save_state(self, path: str | Path) -> None:
        """Write everything a run needs to go on bit by bit as if never interrupted."""
        snapshot.save(path, self._snapshot())

    def load_state(self, path: str | Path) -> None:
        """Go on from a state written by `save_state` of the same model, method and step."""
        snapshot.load(path, self._snapshot())

    def _snapshot(self) -> dict[str, Any]:
        s = self._state
        return {
            "q": s.q, "v": s.v, "work": s.work, "clock": s.clock, "counts": s.counts, **self.method.memory(),
            "model": np.array(snapshot.fingerprint(self.system)),
            "method": np.array(f"{self.method.name} dt={self.dt!r} {self.method.info()}"),
        }  # fmt: skip
