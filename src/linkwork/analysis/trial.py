"""A short run of a mechanism, and how near it comes to a singular position."""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..compile.system import System
from ..mechanism.closure import CLOSED, Closure, difference
from ..mechanism.mobility import singular_values
from ..model.errors import LinkworkError
from ..model.rotation import Array
from ..run.simulate import Simulation

_DURATION, _SAMPLES, _PATIENCE = 1.0, 100, 3.0  # simulated time [s], poses looked at, time it may take [s]
_NEAR = 0.02  # share of the usual distance that is worth a warning
_SEARCH = 30  # poses tried between samples


@dataclass(frozen=True)
class Trial:
    """The pose of a run that is nearest to a singular one."""

    distance: float
    """Smallest singular value that should not vanish against the largest."""
    usual: float
    """Its median over the run."""
    time: float
    """[s]"""
    joints: tuple[str, ...]
    """Joints that move or are loaded most there."""
    duration: float
    """How long the run was [s]."""

    @property
    def near(self) -> bool:
        """Near enough to be worth a warning."""
        return self.distance < _NEAR * self.usual

    def __str__(self) -> str:
        return (
            f"comes to a singular position at t = {self.time:.3g} s (distance {self.distance:.1e}, usually "
            f"{self.usual:.1e}) in {', '.join(self.joints)}: the motion may branch there and forces grow without "
            "bound; pass it fast, drive it through, or keep it away by limits"
        )


def try_out(
    simulation: Simulation, system: System, start: Array, rank: int
) -> tuple[Trial | None, list[str]]:
    """Run a second or so; the nearest singular position if there are loops, and complaints about the run."""
    times: list[float] = [0.0]
    poses: list[Array] = [start]

    def sample(sim: Simulation) -> None:
        if not sim.changes:  # singular positions are those of the mechanism as it starts
            times.append(sim.time)
            poses.append(sim.q.copy())

    began = wall.perf_counter()
    complaints: list[str] = []
    every = max(1, round(_DURATION / _SAMPLES / simulation.dt)) * simulation.dt
    try:
        record = simulation.run(
            _DURATION,
            every=every,
            callbacks=[(every, sample)],
            until=lambda _: wall.perf_counter() - began > _PATIENCE,
            reactions=False,
        )
        notes = set(simulation.system.notes)
        complaints += [text for text in record.info["warnings"] if text not in notes]
    except LinkworkError as error:
        complaints.append(str(error))
    closure = Closure(system, start)
    if not rank or not len(closure.rows):
        return None, complaints
    return _nearest(closure, rank, times, poses), complaints


def _nearest(closure: Closure, rank: int, times: list[float], poses: list[Array]) -> Trial:
    def distance(q: Array) -> float:
        values = singular_values(closure, q)
        return float(values[rank - 1] / values[0]) if len(values) >= rank else 0.0

    finite = [k for k, q in enumerate(poses) if np.isfinite(q).all()]
    found = [distance(poses[k]) for k in finite]
    best = int(np.argmin(found))
    time, q, least = times[finite[best]], poses[finite[best]], found[best]
    for other in (best - 1, best + 1):  # it may lie between samples
        if 0 <= other < len(finite):
            a, b = finite[best], finite[other]
            share, pose = _between(closure, distance, poses[a], poses[b])
            if distance(pose) < least:
                least, q = distance(pose), pose
                time = times[a] + share * (times[b] - times[a])
    return Trial(least, float(np.median(found)), time, _involved(closure, q, rank), times[-1])


def _between(closure: Closure, distance: Callable[[Array], float], a: Array, b: Array) -> tuple[float, Array]:
    """Share of the way and closed pose between two where the distance is least: golden section."""
    way = difference(closure.system, a, b)

    def pose(share: float) -> Array:
        q, gap = closure.close(closure.kin.moved(a, share * way), enough=CLOSED)
        return q if gap <= CLOSED else a

    low, high, ratio = 0.0, 1.0, 0.6180339887498949
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = distance(pose(left)), distance(pose(right))
    for _ in range(_SEARCH):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = distance(pose(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = distance(pose(right))
    share = 0.5 * (low + high)
    return share, pose(share)


def _involved(closure: Closure, q: Array, rank: int) -> tuple[str, ...]:
    """Joints with the largest entries in the singular vectors of the vanishing value."""
    closure.gaps(q)
    U, _, Vt = np.linalg.svd(closure.jacobian(), full_matrices=False)
    weight: dict[str, float] = {}
    for column, x in zip(closure.system.rates, Vt[rank - 1], strict=True):
        name = column.name.rpartition(".")[0]
        weight[name] = max(weight.get(name, 0.0), abs(float(x)))
    for i, x in zip(closure.rows, U[:, rank - 1], strict=True):
        name = closure.kin.names[i].partition(": ")[0]
        weight[name] = max(weight.get(name, 0.0), abs(float(x)))
    largest = max(weight.values())
    ranked = sorted(weight, key=lambda name: -weight[name])
    return tuple(name for name in ranked[:4] if weight[name] > 0.3 * largest)
