"""Identification: parameters for which a simulation does what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..results.files import need
from ..results.record import Record
from .batches import Batches, batches, values_of
from .evaluate import Where
from .subject import Buildable
from .trial import prepare

Start = float | tuple[float, float, float]
"""Where a search begins; with the lowest and highest value that it may try."""
_STRIDE = (
    1e-4  # of a parameter's size: central differences err by its square, rounding of a run by 1e-12 over it
)


@dataclass(frozen=True)
class Fit:
    """What an identification found."""

    parameters: dict[str, float]
    deviations: dict[str, float]
    """Standard deviations, if what is left is noise that is independent from sample to sample and alike in all
    signals; infinite of what the measurement says nothing about."""
    correlation: Array
    """Of the errors of the parameters, in their order."""
    residual: float
    """What is left, rms, as a share of what each signal is scaled by."""
    at_bounds: tuple[str, ...]
    """Parameters that ended at the lowest or highest value they may have."""
    runs: int
    """Simulations that it took."""
    message: str
    """Why the search ended, in the words of SciPy."""

    def __str__(self) -> str:
        lines = [f"{name} = {x:.6g} ± {self.deviations[name]:.2g}" for name, x in self.parameters.items()]
        return "\n".join(
            [*lines, f"residual {self.residual:.3g} of the signals, {self.runs} runs: {self.message}"]
        )


def fit(
    what: Buildable,
    start: Mapping[str, Start],
    measured: Record | Mapping[str, npt.ArrayLike],
    signals: Sequence[str] = (),
    *,
    scale: Mapping[str, float] | None = None,
    every: float | None = None,
    settings: Mapping[str, Any] | None = None,
    on: Where = None,
    **options: Any,
) -> Fit:
    """Find parameters for which a scene, model file, model or function that builds one moves as it was measured.

    `start` gives each parameter (named as for `sweep`) a value to begin with, or (value, lowest, highest). `measured`
    is a record, or a table with "time" [s] from the start of a run on and a column for each signal; `signals` are
    those of a record that count. Deviations are divided by `scale` (by default the standard deviation of each signal),
    and the sum of their squares is made as small as possible: least squares by SciPy, with derivatives by central
    differences whose runs go to `on` all at once. `every` is the time between samples [s] of the simulation, which a
    spline joins; `options` are those of a `Simulation`.
    """
    optimize, interpolate = (
        need(f"scipy.{part}", "fit", "an identification") for part in ("optimize", "interpolate")
    )
    times, columns = _table(measured, signals)
    names, x0, low, high = _bounds(start)
    case = dict(zip(names, x0, strict=True))
    trial, _ = prepare(what, case, list(columns), float(times[-1]), every, settings or {}, options)
    sizes = {name: _size(name, column, scale or {}) for name, column in columns.items()}

    def residuals_of(values: Mapping[str, float | Array]) -> Array:
        made = [
            (interpolate.CubicSpline(trial.times, values[name])(times) - column) / sizes[name]
            for name, column in columns.items()
        ]
        return np.concatenate(made)

    with batches(trial, names, on) as run:
        search = _Search(run, names, residuals_of, (low, high))
        found = optimize.least_squares(
            search.residuals, x0, search.slopes, bounds=(low, high), x_scale=_scales(x0), method="trf"
        )
    return _report(found, names, (low, high), search.runs)


class _Search:
    """Residuals and their derivatives, for SciPy."""

    def __init__(self, run: Batches, names: Sequence[str], residuals: Any, bounds: tuple[Array, Array]):
        self._run, self._names, self._residuals, self._bounds = run, names, residuals, bounds
        self.runs = 0

    def _at(self, points: Array) -> list[Array]:
        self.runs += len(points)
        outcomes = self._run(points)
        return [
            self._residuals(values_of(outcome, self._names, point))
            for outcome, point in zip(outcomes, points, strict=True)
        ]

    def residuals(self, x: Array) -> Array:
        return self._at(x[None])[0]

    def slopes(self, x: Array) -> Array:
        """All runs at once; at a bound the difference is one-sided."""
        strides = _STRIDE * _scales(x)
        above, below = np.minimum(x + strides, self._bounds[1]), np.maximum(x - strides, self._bounds[0])
        n = len(x)
        points = np.concatenate([np.where(np.eye(n, dtype=bool), end, x) for end in (above, below)])
        found = self._at(points)
        return np.stack([(found[k] - found[n + k]) / (above[k] - below[k]) for k in range(n)], axis=1)


def _scales(x: Array) -> Array:
    return np.where(x != 0.0, np.abs(x), 1.0)


def _table(
    measured: Record | Mapping[str, npt.ArrayLike], signals: Sequence[str]
) -> tuple[Array, dict[str, Array]]:
    """Times and columns that count."""
    if isinstance(measured, Record):
        if not signals:
            raise LinkworkError("name the signals of the record that count, such as ['elbow.angle']")
        return np.array(measured.time), {name: np.array(measured[name]) for name in signals}
    table = {str(name): np.asarray(column, float) for name, column in measured.items()}
    if "time" not in table:
        raise LinkworkError("what was measured has no column 'time' [s]")
    times = table.pop("time")
    columns = {name: table[name] for name in signals} if signals else table
    if len(times) < 2 or not (np.diff(times) > 0.0).all() or times[0] < 0.0:
        raise LinkworkError("times must rise, from 0 (the start of the run) or later [s]")
    for name, column in columns.items():
        if column.shape != times.shape or not np.isfinite(column).all():
            raise LinkworkError(f"'{name}' must have a finite number for each of the {len(times)} times")
    if not columns:
        raise LinkworkError("what was measured has no signal beside 'time'")
    return times, columns


def _bounds(start: Mapping[str, Start]) -> tuple[list[str], Array, Array, Array]:
    """Names, values to begin with, lowest and highest ones."""
    if not start:
        raise LinkworkError("nothing to find: give at least one parameter a value to begin with")
    rows = [given if isinstance(given, tuple) else (given, -np.inf, np.inf) for given in start.values()]
    for name, row in zip(start, rows, strict=True):
        if len(row) != 3 or not row[1] <= row[0] <= row[2] or row[1] == row[2]:
            raise LinkworkError(
                f"'{name}': give a value, or (value, lowest, highest) in this order, not {row}"
            )
    x0, low, high = np.array(rows, float).T
    return list(start), x0, low, high


def _size(name: str, column: Array, scale: Mapping[str, float]) -> float:
    size = float(scale.get(name, column.std()))
    if not size > 0.0:
        raise LinkworkError(f"'{name}' never changes: give it a scale, the deviation that counts as large")
    return size


def _report(found: Any, names: Sequence[str], bounds: tuple[Array, Array], runs: int) -> Fit:
    samples, n = found.jac.shape
    left = float(2.0 * found.cost)
    # The inverse of JᵀJ by singular values: a direction that no sample tells of has no bound.
    _, values, V = np.linalg.svd(found.jac, full_matrices=False)
    seen = values > np.finfo(float).eps * samples * values.max(initial=0.0)
    inverse = np.where(seen, 1.0 / np.where(seen, values, 1.0), np.inf)
    with np.errstate(invalid="ignore"):
        halves = np.where(V.T == 0.0, 0.0, V.T * inverse)
        covariance = halves @ halves.T * left / max(samples - n, 1)
        deviations = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(deviations, deviations)
    x = found.x
    ended = tuple(name for k, name in enumerate(names) if x[k] in (bounds[0][k], bounds[1][k]))
    return Fit(
        dict(zip(names, map(float, x), strict=True)),
        dict(zip(names, map(float, deviations), strict=True)),
        correlation,
        float(np.sqrt(left / samples)),
        ended,
        runs,
        str(found.message),
    )
