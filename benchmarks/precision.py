"""Work against precision: what a tip error of the five-link chain after one second costs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .timing import Contender, Figure, interleave, summary

if TYPE_CHECKING:
    from linkwork.compile.system import System
    from linkwork.model.rotation import Array

ERRORS = (1e-2, 1e-3, 1e-4, 1e-5)
"""Tip errors to reach [m]."""
STEPS_MS = (20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02)
STEPS_MS_QUICK = (20, 5, 1, 0.2)
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
TOLERANCES_QUICK = (1e-3, 1e-5, 1e-7)
REFERENCE_TOLERANCE = 1e-12
PUBLISHED_TIP = (-1.876936326497, -1.551198864884)
"""Tip at 1 s from an independent high-order solution [m]."""
PUBLISHED_DRY_TIP = (-1.763090180773, -1.739431792192)
"""The same with dry friction of 1 N m in every joint."""
FRICTIONS = (0.0, 1.0, 0.05)
"""Dry friction of the chains of the suite `loops` [N m]."""
DRY_REFERENCE_STEP = 2e-5
_LINK = 0.5  # length of a link of the scene [m]
_DURATION = 1.0
_FIRST_STEP = 1e-3  # of the adaptive integrator [s]
_SHORTEST = 0.01  # of a repetition [s]


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
    from linkwork.compile.compiler import compile_model
    from linkwork.scenes import scene

    from .runner import Runner

    system = compile_model(scene("chain5"))
    exact = Runner(system, "adaptive", _FIRST_STEP)
    exact.run_until(_DURATION, REFERENCE_TOLERANCE)
    reference = tip(exact.q)

    trials = _trials(system, quick, mujoco)
    errors = [_error(trial, reference) for trial in trials]
    figures = interleave(
        [Contender(trial.name, trial.run) for trial in trials], repetitions, shortest=_SHORTEST, tick=tick
    )
    return {
        "how": "Time of a run of 1 s from the start, in one call, reset included",
        "reference": {
            "tip_m": [float(x) for x in reference],
            "published_tip_m": list(PUBLISHED_TIP),
            "difference_m": float(np.hypot(*(reference - np.array(PUBLISHED_TIP)))),
            "tolerance": REFERENCE_TOLERANCE,
        },
        "errors_m": list(ERRORS),
        "methods": _methods(trials, errors, figures),
    }


def chains(*, quick: bool, repetitions: int, mujoco: bool, tick: Callable[[], object]) -> dict[str, Any]:
    """The same for the free chain and for chains with dry friction, which the direct solver runs."""
    found = []
    for friction in FRICTIONS:
        reference, made = _reference(friction)
        trials = _dry_trials(friction, quick, mujoco) if friction else _free_trials(quick, mujoco)
        errors = [_error(trial, reference) for trial in trials]
        figures = _whole_runs(trials, repetitions, tick)
        found.append(
            {"friction_Nm": friction, "reference": made, "methods": _methods(trials, errors, figures)}
        )
    return {
        "how": "Time of a run of 1 s from the start, in one call, reset not included",
        "errors_m": list(ERRORS),
        "chains": found,
    }


def _whole_runs(trials: Sequence[_Trial], repetitions: int, tick: Callable[[], object]) -> dict[str, Figure]:
    """Times of runs [µs], each from the start, which is not timed; trials take turns."""
    taken: dict[str, list[float]] = {trial.name: [] for trial in trials}
    for _ in range(repetitions):
        for trial in trials:
            total, runs = 0.0, 0
            while total < _SHORTEST:
                trial.reset()
                began = time.perf_counter()
                trial.advance()
                total += time.perf_counter() - began
                runs += 1
            taken[trial.name].append(1e6 * total / runs)
        tick()
    return {name: summary(times) for name, times in taken.items()}


def _reference(friction: float) -> tuple[Array, dict[str, Any]]:
    """The tip after a second as exactly as we can, and how that is known."""
    from linkwork.compile.compiler import compile_model
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    from .runner import Runner

    if friction:
        simulation = Simulation(scene("chain5", friction=friction), method="simgc", dt=DRY_REFERENCE_STEP)
        simulation.step(round(_DURATION / DRY_REFERENCE_STEP))
        place, how = tip(simulation.q), f"Adams, steps of {1e3 * DRY_REFERENCE_STEP:g} ms"
    else:
        exact = Runner(compile_model(scene("chain5")), "adaptive", _FIRST_STEP)
        exact.run_until(_DURATION, REFERENCE_TOLERANCE)
        place, how = tip(exact.q), f"adaptive, tolerance {REFERENCE_TOLERANCE:.0e}"
    known = {0.0: PUBLISHED_TIP, 1.0: PUBLISHED_DRY_TIP}.get(friction)
    return place, {
        "tip_m": [float(x) for x in place],
        "how": how,
        "published_tip_m": list(known) if known else None,
        "difference_m": float(np.hypot(*(place - np.array(known)))) if known else None,
    }


def _error(trial: _Trial, reference: Array) -> float:
    trial.run(1)
    return float(np.hypot(*(tip(trial.q()) - reference)))


def _methods(
    trials: Sequence[_Trial], errors: Sequence[float], figures: dict[str, Figure]
) -> list[dict[str, Any]]:
    """Points and costs of every method."""
    methods: dict[tuple[str, str], list[Point]] = {}
    for trial, error in zip(trials, errors, strict=True):
        # One operation was a run of _DURATION.
        point = Point(trial.setting, error, figures[trial.name].median / 1e3 / _DURATION)
        methods.setdefault((trial.engine, trial.method), []).append(point)
    return [
        {
            "engine": engine,
            "method": method,
            "costs": [cost_of(error, points)._asdict() for error in ERRORS],
            "points": [_finite(point) for point in points],
        }
        for (engine, method), points in methods.items()
    ]


def _finite(point: Point) -> dict[str, Any]:
    """JSON knows neither NaN nor infinity."""
    error = point.error if math.isfinite(point.error) else None
    return {"setting": point.setting, "error_m": error, "ms": point.ms}


def tip(q: Array) -> Array:
    """Where the chain ends: every coordinate is the angle of a link against the one before."""
    angles = np.cumsum(q)
    return _LINK * np.array([np.cos(angles).sum(), np.sin(angles).sum()])


class _Trial(NamedTuple):
    """One setting of one method of one engine."""

    engine: str
    method: str
    setting: str
    q: Callable[[], Array]
    """Angles now."""
    reset: Callable[[], object]
    advance: Callable[[], object]
    """From the start to the end of the run."""

    @property
    def name(self) -> str:
        return f"{self.engine} {self.method} {self.setting}"

    def run(self, times: int) -> None:
        """Whole runs, each from the start."""
        for _ in range(times):
            self.reset()
            self.advance()


def _steps(quick: bool) -> list[tuple[float, int]]:
    """Sizes of steps [ms] and how many make the run."""
    return [(ms, round(1e3 * _DURATION / ms)) for ms in (STEPS_MS_QUICK if quick else STEPS_MS)]


def _tolerances(quick: bool) -> tuple[float, ...]:
    return TOLERANCES_QUICK if quick else TOLERANCES


def _trials(system: System, quick: bool, mujoco: bool) -> list[_Trial]:
    return [
        *_tree_trials(system, ("euler", "rk4"), quick),
        *_adaptive_trials(system, quick),
        *(_mujoco_trials(system, ("euler", "rk4"), quick) if mujoco else ()),
    ]


def _free_trials(quick: bool, mujoco: bool) -> list[_Trial]:
    from linkwork.compile.compiler import compile_model
    from linkwork.scenes import scene

    system = compile_model(scene("chain5"))
    peers = _mujoco_trials(system, ("rk4",), quick) if mujoco else []
    return [*_tree_trials(system, ("rk4",), quick), *_adaptive_trials(system, quick), *peers]


def _tree_trials(system: System, methods: Sequence[str], quick: bool) -> list[_Trial]:
    from .runner import Runner

    found = []
    for method in methods:
        for ms, count in _steps(quick):
            runner = Runner(system, method, ms / 1e3)
            found.append(_trial("linkwork", method, f"{ms:g} ms", runner, partial(runner.run, count)))
    return found


def _adaptive_trials(system: System, quick: bool) -> list[_Trial]:
    from .runner import Runner

    found = []
    for tolerance in _tolerances(quick):
        runner = Runner(system, "adaptive", _FIRST_STEP)
        advance = partial(runner.run_until, _DURATION, tolerance)
        found.append(_trial("linkwork", "adaptive", f"{tolerance:.0e}", runner, advance))
    return found


def _mujoco_trials(system: System, methods: Sequence[str], quick: bool) -> list[_Trial]:
    from .peer_mujoco import MujocoRunner

    found = []
    for method in methods:
        for ms, count in _steps(quick):
            peer = MujocoRunner(system, dt=ms / 1e3, rk4=method == "rk4", lean=True)
            found.append(_trial("mujoco", method, f"{ms:g} ms", peer, partial(peer.run, count)))
    return found


def _dry_trials(friction: float, quick: bool, mujoco: bool) -> list[_Trial]:
    from linkwork.run.simulate import Simulation
    from linkwork.scenes import scene

    model, found = scene("chain5", friction=friction), []
    for method in ("adams", "rk4"):
        for ms, count in _steps(quick):
            simulation = Simulation(model, method="simgc", integrator=method, dt=ms / 1e3)
            found.append(
                _trial("linkwork", method, f"{ms:g} ms", simulation, partial(simulation.step, count))
            )
    for tolerance in _tolerances(quick):
        simulation = Simulation(model, method="simgc", tolerance=tolerance, dt=_FIRST_STEP)
        advance = partial(simulation.step, round(_DURATION / _FIRST_STEP))
        found.append(_trial("linkwork", "adaptive", f"{tolerance:.0e}", simulation, advance))
    if mujoco:
        from .peer_mujoco_loops import MujocoLoops

        for method, tight in (("rk4", False), ("rk4, tight", True)):
            for ms, count in _steps(quick):
                peer = MujocoLoops(simulation.system, friction, ms / 1e3, tight=tight, rk4=True)
                advance = partial(peer.run, count)
                found.append(
                    _Trial(
                        "mujoco", method, f"{ms:g} ms", partial(getattr, peer, "angles"), peer.reset, advance
                    )
                )
    return found


def _trial(engine: str, method: str, setting: str, runner: Any, advance: Callable[[], object]) -> _Trial:
    return _Trial(engine, method, setting, lambda: runner.q, runner.reset, advance)
