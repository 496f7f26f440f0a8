"""Optimisation: parameters for which a number that a run comes down to is smallest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..results.files import need
from .batches import batches
from .evaluate import Progress, Where
from .outcome import Task
from .subject import Buildable
from .trial import prepare

_VALUE = "value"


@dataclass(frozen=True)
class _Valued:
    """A function that gives a number, as a task."""

    function: Any

    def __call__(self, case: Mapping[str, float]) -> dict[str, float]:
        return {_VALUE: float(self.function(case))}


@dataclass(frozen=True)
class Optimum:
    """What an optimisation found."""

    parameters: dict[str, float]
    value: float
    """Of the objective there."""
    runs: int
    """Simulations that it took, failed ones included."""
    failures: int
    """Of these."""
    message: str
    """Why the search ended, in the words of SciPy."""

    def __str__(self) -> str:
        lines = [f"{name} = {x:.6g}" for name, x in self.parameters.items()]
        told = f"{self.runs} runs, {self.failures} of them failed: {self.message}"
        return "\n".join([*lines, f"objective {self.value:.6g}, {told}"])


def optimise(
    what: Buildable | Callable[[Mapping[str, float]], float],
    bounds: Mapping[str, tuple[float, float]],
    objective: str | None = None,
    *,
    largest: bool = False,
    rounds: int = 100,
    population: int = 8,
    tolerance: float = 1e-6,
    seed: int = 0,
    duration: float | None = None,
    every: float | None = None,
    settings: Mapping[str, Any] | None = None,
    on: Where = None,
    progress: Progress | None = None,
    **options: Any,
) -> Optimum:
    """Find parameters within bounds for which an objective is smallest, or `largest`.

    The objective is a number of each run, such as "rms(body.acceleration.z)" (see `sweep`). Without one, `what` is a
    function of a case, {parameter: value}, that gives the number itself, and nothing is simulated for it.

    SciPy's differential evolution (Storn and Price 1997) seeks anywhere within the bounds: `population` points for each
    parameter, up to `rounds` generations, each of which goes to `on` at once, until they differ by less than
    `tolerance` of their mean; a gradient search ends it. A case that fails is worse than any other. The same seed
    finds the same.
    """
    optimize = need("scipy.optimize", "fit", "an optimisation")
    names = list(bounds)
    ends = [_proper(name, *bounds[name]) for name in names]
    if not names:
        raise LinkworkError(
            "nothing to find: give at least one parameter bounds, such as {'length': (0.1, 0.5)}"
        )
    if objective is None:
        if not callable(what):
            raise LinkworkError(
                'say what shall be smallest: a number of each run, such as "peak(arm.angle_rate)"'
            )
        task: Task = _Valued(what)
    else:
        middle = {name: 0.5 * (low + high) for name, (low, high) in zip(names, ends, strict=True)}
        task, _ = prepare(what, middle, [objective], duration, every, settings or {}, options)  # type: ignore[arg-type]
    label = _VALUE if objective is None else objective
    counts = {"runs": 0, "failures": 0}
    sign = -1.0 if largest else 1.0

    with batches(task, names, on) as run:

        def values(points: Array) -> Array:
            """A column each; SciPy's gradient search asks for one point."""
            table = np.atleast_2d(points.T)
            outcomes = run(table)
            counts["runs"] += len(outcomes)
            counts["failures"] += sum(bool(outcome.failure) for outcome in outcomes)
            found = [
                _number(outcome.values, label) if not outcome.failure else np.inf for outcome in outcomes
            ]
            told = np.array([sign * x if np.isfinite(x) else np.inf for x in found])
            return told if points.ndim > 1 else told[0]

        def tell(intermediate_result: Any) -> None:
            if progress is not None:
                progress(min(intermediate_result.nit / rounds, 1.0))

        found = optimize.differential_evolution(
            values, ends, maxiter=rounds, popsize=population, tol=tolerance, rng=seed, vectorized=True,
            updating="deferred", callback=tell, polish=True,
        )  # fmt: skip
    if not np.isfinite(found.fun):
        raise LinkworkError(f"no case within the bounds has a finite {label}")
    return Optimum(
        dict(zip(names, map(float, found.x), strict=True)), sign * float(found.fun), counts["runs"],
        counts["failures"], str(found.message),
    )  # fmt: skip


def _proper(name: str, low: float, high: float) -> tuple[float, float]:
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise LinkworkError(f"'{name}': bounds are (lowest, highest), finite, not ({low}, {high})")
    return float(low), float(high)


def _number(values: Mapping[str, float | Array], objective: str) -> float:
    if objective not in values or np.ndim(values[objective]):
        raise LinkworkError(f"a case gives no number '{objective}', but {', '.join(values) or 'nothing'}")
    return float(values[objective])
