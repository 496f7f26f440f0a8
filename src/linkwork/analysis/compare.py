"""Every method that can run a model, side by side: how far their motions are apart, and what each costs.

A body is followed at four points: its centre of mass and three a radius of gyration from it, along its axes. The
distance of two motions is the largest distance of such a point, so that it tells of turning too, in metres.

How much a motion changes when its steps are halved tells its own error. A method whose distance from the reference is
explained by that tells the same motion, and agrees if it is within the tolerance at the step that was asked for; one
that is further away than its error explains tells another motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..methods.options import DEFAULT_DT
from ..methods.registry import WAYS
from ..model import Model
from ..model.errors import LinkworkError, SimulationError
from ..model.rotation import Array
from ..results.record import Record
from ..run.simulate import Simulation
from .comparison import AGREES, APART, COARSE, UNSEEN, VAGUE, Comparison, Entry

_SAMPLES = 200  # at most, of each run
_TOLERANCES = (1e-12, 1e-11, 1e-10, 1e-9)  # of the reference: the first that the model allows
_COARSER = 10.0  # the reference once more at this many times the tolerance tells its own error
_FINER = 8  # steps of the finest run in one of the others, where no tolerance can be kept
_ORDERS = {"euler": 1.0, "rk4": 4.0, "adams": 4.0, "adaptive": 5.0}
_AS_EXPECTED = (
    0.7  # the share of its order by which the distance of a method must fall for the order to be seen
)
_EXPLAINED = 3.0  # times what halving the step changes: distances beyond that are not the method's own error
_ROUNDING = 1e-11  # of the distances that the mechanism covers
_KNOWN = 1e-7  # of the same: a reference that is known less well is measured against the finest run
_VAGUE = 1e-2  # of the same: a method that is so far off, and comes no nearer, tells nothing
_TOLERANCE = 1e-3  # of the same: what counts as one motion unless told otherwise


def compare(
    model: Model,
    *,
    duration: float = 2.0,
    dt: float = DEFAULT_DT,
    tolerance: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> Comparison:
    """Run a model by all methods for `duration` [s] at steps of `dt` [s] and of half that size.

    Motions no further apart than the `tolerance` [m] are one; by default a thousandth of the longest way that a body
    goes.
    """
    if tolerance is not None and not (math.isfinite(tolerance) and tolerance > 0.0):
        raise LinkworkError(f"tolerance must be a positive number of metres, not {tolerance!r}")
    steps = max(1, round(duration / dt))
    every = math.ceil(steps / _SAMPLES) * dt
    ways, refused = _ways(model, dt)
    share = _Progress(progress, 2 * len(ways) + 2)
    points = _Points(model)
    runs = _Runs(model, steps * dt, every, points)
    entries, motions = [], {}
    for name, method, solver in ways:
        entry = Entry(name, method, solver)
        entries.append(entry)
        motions[name] = _try_both(runs, entry, dt, share)
    if not any(motions.values()):
        unknown = math.nan
        return Comparison(
            model.name,
            runs.duration,
            dt,
            "none",
            unknown,
            tolerance or unknown,
            np.zeros(0),
            entries,
            refused,
        )
    best = next(entry for entry in entries if motions[entry.name])
    ran = [entry for entry in entries if motions[entry.name]]
    found = _reference(runs, best, dt)
    share.more(2)
    within = _judge(ran, motions, found, points, tolerance)
    if found.adaptive and len(ran) > 1 and all(entry.verdict == APART for entry in ran):
        found = _finest(runs, best, dt, "the run in adaptive steps stands alone against all others")
        within = _judge(ran, motions, found, points, tolerance)
    entries.sort(key=lambda entry: entry.name)
    return Comparison(
        model.name,
        runs.duration,
        dt,
        found.description,
        found.uncertainty,
        within,
        found.times,
        entries,
        refused,
    )


# --- what can run ---


def _ways(model: Model, dt: float) -> tuple[list[tuple[str, str, str | None]], dict[str, str]]:
    """(name, method, solver) of all that can run a model, and why others cannot.

    A method that is refused with all its solvers is told once.
    """
    reasons = {way: _refusal(model, way.method, way.solver, dt) for way in WAYS}
    refused: dict[str, str] = {}
    for way, reason in reasons.items():
        if reason is not None:
            whole = all(why for other, why in reasons.items() if other.method == way.method)
            refused.setdefault(way.method if whole else way.name, reason)
    return [(way.name, way.method, way.solver) for way, why in reasons.items() if why is None], refused


def _refusal(model: Model, method: str, solver: str | None, dt: float) -> str | None:
    try:
        Simulation(model, method=method, solver=solver, dt=dt)
    except LinkworkError as error:
        return str(error)
    return None


# --- running ---


class _Points:
    """The points at which bodies are followed."""

    def __init__(self, model: Model):
        flat = model.flatten()
        self.bodies = list(flat.bodies)
        places = []
        for body in flat.bodies.values():
            properties = body.mass_properties
            mass = properties.mass
            radius = math.sqrt(0.5 * float(np.trace(properties.inertia)) / mass) if mass > 0.0 else 0.0
            places.append(np.array(properties.com) + radius * np.vstack([np.zeros(3), np.eye(3)]))
        self.places = np.array(places)

    def of(self, record: Record) -> Array:
        """samples × bodies × points × 3 [m]"""
        n, count = len(record.time), len(self.bodies)
        p = record.array("positions").reshape(n, count, 1, 3)
        rotation = record.array("rotations").reshape(n, count, 1, 4)
        u = rotation[..., 1:]
        twice = 2.0 * np.cross(u, self.places[None])
        points: Array = p + self.places[None] + rotation[..., :1] * twice + np.cross(u, twice)
        return points


@dataclass
class _Runs:
    """Runs of one model that are sampled alike."""

    model: Model
    duration: float
    every: float
    points: _Points

    def run(self, dt: float, parts: int = 1, **options: Any) -> tuple[Record, Array]:
        """A run, compiled beforehand, and the points of its bodies; in so many `parts` from sample to sample."""
        simulation = Simulation(self.model, dt=dt, **options)
        simulation.run(dt, reactions=False)
        simulation.reset()
        record = simulation.run(self.duration, every=self.every / parts, reactions=False)
        chosen = np.abs(record.time[:, None] - self.times()).argmin(
            axis=0
        )  # rounding may add one beside the end
        return record, self.points.of(record)[chosen]

    def times(self) -> Array:
        """Of the samples that are compared [s]."""
        count = math.floor(self.duration / self.every + 1e-9)
        grid: Array = self.every * np.arange(count + 1.0)
        if self.duration - grid[-1] > 1e-9 * self.every:
            grid = np.append(grid, self.duration)
        return grid


def _try_both(runs: _Runs, entry: Entry, dt: float, share: _Progress) -> list[Array]:
    """Motions at dt and at half of it; what they cost goes into the entry. Empty for a method that failed."""
    options: dict[str, Any] = {"method": entry.method, "solver": entry.solver}
    try:
        record, whole = runs.run(dt, **options)
        share.more()
        _, half = runs.run(0.5 * dt, **options)
        share.more()
    except SimulationError as error:
        entry.why = str(error)
        return []
    info = record.info
    entry.integrator, entry.expected_order = info["integrator"], _ORDERS.get(info["integrator"])
    entry.steps, entry.wall, entry.us_per_step = info["steps"], info["wall_s"], info["us_per_step"]
    entry.energy_drift, entry.worst_gap = record.energy_drift, info.get("worst_gap_m")
    return [whole, half]


class _Reference(NamedTuple):
    """A motion that is nearer to the truth than others."""

    description: str
    """In words."""
    points: Array
    uncertainty: float
    """How far it may be off [m]."""
    times: Array
    adaptive: bool


def _reference(runs: _Runs, best: Entry, dt: float) -> _Reference:
    """Adaptive steps at a tight tolerance if that can be had and is worth it, else the finest run."""
    found = _adaptive(runs, dt)
    if found is None:
        return _finest(runs, best, dt, "no tolerance can be kept")
    if found.uncertainty <= _KNOWN * float(np.ptp(found.points, axis=0).max()):
        return found
    other = _finest(runs, best, dt, "adaptive steps depend on where they end here")
    return min(found, other, key=lambda reference: reference.uncertainty)


def _adaptive(runs: _Runs, dt: float) -> _Reference | None:
    """The direct solver at the tightest tolerance that the model allows.

    Its own error is told by a run at a looser tolerance, which must also end steps elsewhere: at more samples.
    """
    for tolerance in _TOLERANCES:
        try:
            record, truth = runs.run(dt, solver="direct", tolerance=tolerance)
            _, rough = runs.run(dt, 3, solver="direct", tolerance=_COARSER * tolerance)
        except LinkworkError:
            continue
        description = f"{record.info['method']}, direct, in adaptive steps at a tolerance of {tolerance:g}"
        return _Reference(description, truth, _largest(rough - truth), runs.times(), True)
    return None


def _finest(runs: _Runs, best: Entry, dt: float, why: str) -> _Reference:
    """A run in much smaller steps."""
    options: dict[str, Any] = {"method": best.method, "solver": best.solver}
    _, truth = runs.run(dt / _FINER, **options)
    _, rough = runs.run(2.0 * dt / _FINER, **options)
    description = f"the finest run: {best.name} in steps of {dt / _FINER:g} s, for {why}"
    return _Reference(description, truth, _largest(rough - truth), runs.times(), False)


class _Progress:
    """How many of the runs are done."""

    def __init__(self, tell: Callable[[float], object] | None, count: int):
        self._tell, self._count, self._done = tell, count, 0

    def more(self, runs: int = 1) -> None:
        self._done += runs
        if self._tell is not None:
            self._tell(self._done / self._count)


# --- judging ---


def _judge(
    entries: list[Entry],
    motions: dict[str, list[Array]],
    reference: _Reference,
    points: _Points,
    tolerance: float | None,
) -> float:
    """How far motions are from the reference, and whether their own errors explain it; returns the tolerance [m]."""
    truth = reference.points
    covered = float(np.ptp(truth, axis=0).max())
    floor = 2.0 * reference.uncertainty + _ROUNDING * covered
    within = tolerance or max(_TOLERANCE * covered, _ROUNDING)
    for entry in entries:
        whole, half = motions[entry.name]
        apart = np.linalg.norm(whole - truth, axis=-1).max(axis=-1)  # samples × bodies
        at, body = np.unravel_index(np.argmax(apart), apart.shape)
        entry.distances = apart.max(axis=1)
        entry.body, entry.time = points.bodies[body], float(reference.times[at])
        first, second, changed = float(apart.max()), _largest(half - truth), _largest(whole - half)
        entry.distance, entry.half_distance = first, second
        entry.order = math.log2(first / second) if first > 0.0 and second > floor else None
        ordered = entry.order is None or entry.order >= _AS_EXPECTED * (entry.expected_order or 1.0)
        if second > _EXPLAINED * changed + floor:
            entry.verdict = APART
        elif not ordered and second > _VAGUE * covered:
            entry.verdict = VAGUE
        elif first > within:
            entry.verdict = COARSE
        else:
            entry.verdict = AGREES if ordered else UNSEEN
    return within


def _largest(difference: Array) -> float:
    return float(np.linalg.norm(difference, axis=-1).max(initial=0.0))
