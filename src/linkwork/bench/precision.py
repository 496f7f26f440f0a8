"""Work against precision: what a tip error of the five-link chain after one second costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from .timing import Contender, interleave

if TYPE_CHECKING:
    from ..rotation import Array
    from ..system import System

ERRORS = (1e-2, 1e-3, 1e-4, 1e-5)
"""Tip errors to reach [m]."""
STEPS_MS = (20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02)
STEPS_MS_QUICK = (20, 5, 1, 0.2)
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
TOLERANCES_QUICK = (1e-3, 1e-5, 1e-7)
REFERENCE_TOLERANCE = 1e-12
PUBLISHED_TIP = (-1.876936326497, -1.551198864884)
"""Tip at 1 s from an independent high-order solution [m]."""
_LINK = 0.5  # length of a link of the scene [m]
_DURATION = 1.0
_FIRST_STEP = 1e-3  # of the adaptive integrator [s]


class Point(NamedTuple):
    """One setting of a method: coarse settings come first."""

    setting: str
    error: float
    """[m]"""
    ms: float
    """Time per simulated second [ms]."""


class Cost(NamedTuple):
    """Interpolated cost of an error."""

    ms: float | None
    """None if no setting was fine enough."""
    at_most: bool
    """True if even the coarsest setting was better than asked for."""


def cost_of(target: float, points: Sequence[Point]) -> Cost:
    """Log-log interpolation between the settings on both sides of `target`.

    A coarse setting may be good by chance: its error counts as no smaller than that of any finer one.
    """
    errors = np.array([point.error if math.isfinite(point.error) else math.inf for point in points])
    errors = np.maximum.accumulate(errors[::-1])[::-1]
    good = np.flatnonzero(errors <= target)
    if not len(good):
        return Cost(None, False)
    i = int(good[0])
    if i == 0:
        return Cost(points[0].ms, True)
    if not math.isfinite(errors[i - 1]) or errors[i] == 0.0:
        return Cost(points[i].ms, True)
    share = math.log(errors[i - 1] / target) / math.log(errors[i - 1] / errors[i])
    return Cost(points[i - 1].ms * (points[i].ms / points[i - 1].ms) ** share, False)


def precision(*, quick: bool, repetitions: int, mujoco: bool, tick: Callable[[], object]) -> dict[str, Any]:
    """Errors and costs of every method and setting, and the costs of given errors."""
    from ..compile import compile_model
    from ..scenes import scene
    from .runner import Runner

    system = compile_model(scene("chain5"))
    exact = Runner(system, "adaptive", _FIRST_STEP)
    exact.run_until(_DURATION, REFERENCE_TOLERANCE)
    reference = tip(exact.q)

    trials = _trials(system, quick, mujoco)
    errors = []
    for trial in trials:
        trial.run(1)
        errors.append(float(np.hypot(*(tip(trial.runner.q) - reference))))
    figures = interleave(
        [Contender(trial.name, trial.run) for trial in trials], repetitions, shortest=0.01, tick=tick
    )
    methods: dict[tuple[str, str], list[Point]] = {}
    for trial, error in zip(trials, errors, strict=True):
        # One operation was a run of _DURATION.
        point = Point(trial.setting, error, figures[trial.name].median / 1e3 / _DURATION)
        methods.setdefault((trial.engine, trial.method), []).append(point)
    return {
        "how": "Time of a run of 1 s from the start, in one call, reset included",
        "reference": {
            "tip_m": [float(x) for x in reference],
            "published_tip_m": list(PUBLISHED_TIP),
            "difference_m": float(np.hypot(*(reference - np.array(PUBLISHED_TIP)))),
            "tolerance": REFERENCE_TOLERANCE,
        },
        "errors_m": list(ERRORS),
        "methods": [
            {
                "engine": engine,
                "method": method,
                "costs": [cost_of(error, points)._asdict() for error in ERRORS],
                "points": [_finite(point) for point in points],
            }
            for (engine, method), points in methods.items()
        ],
    }


def _finite(point: Point) -> dict[str, Any]:
    """JSON knows neither NaN nor infinity."""
    error = point.error if math.isfinite(point.error) else None
    return {"setting": point.setting, "error_m": error, "ms": point.ms}


def tip(q: Array) -> Array:
    """Where the chain ends: every coordinate is the angle of a link against the one before."""
    angles = np.cumsum(q)
    return _LINK * np.array([np.cos(angles).sum(), np.sin(angles).sum()])


class _Runner(Protocol):
    """What both engines' runners can do."""

    @property
    def q(self) -> Array: ...

    def reset(self) -> None: ...


class _Trial(NamedTuple):
    """One setting of one method of one engine."""

    engine: str
    method: str
    setting: str
    runner: _Runner
    advance: Callable[[], object]
    """From the start to the end of the run."""

    @property
    def name(self) -> str:
        return f"{self.engine} {self.method} {self.setting}"

    def run(self, times: int) -> None:
        """Whole runs, each from the start."""
        for _ in range(times):
            self.runner.reset()
            self.advance()


def _trials(system: System, quick: bool, mujoco: bool) -> list[_Trial]:
    from .runner import Runner

    found: list[_Trial] = []
    fixed = [(ms, round(1e3 * _DURATION / ms)) for ms in (STEPS_MS_QUICK if quick else STEPS_MS)]
    for method in ("euler", "rk4"):
        for ms, count in fixed:
            runner = Runner(system, method, ms / 1e3)
            found.append(_Trial("linkwork", method, f"{ms:g} ms", runner, partial(runner.run, count)))
    for tolerance in TOLERANCES_QUICK if quick else TOLERANCES:
        runner = Runner(system, "adaptive", _FIRST_STEP)
        advance = partial(runner.run_until, _DURATION, tolerance)
        found.append(_Trial("linkwork", "adaptive", f"{tolerance:.0e}", runner, advance))
    if mujoco:
        from .peer_mujoco import MujocoRunner

        for method in ("euler", "rk4"):
            for ms, count in fixed:
                peer = MujocoRunner(system, dt=ms / 1e3, rk4=method == "rk4", lean=True)
                found.append(_Trial("mujoco", method, f"{ms:g} ms", peer, partial(peer.run, count)))
    return found
