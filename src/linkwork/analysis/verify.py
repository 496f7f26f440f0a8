"""One run against itself at half the step: what hangs on the step is not the mechanism's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..model.errors import LinkworkError
from ..results.record import Record

TOLERANCE = 1e-2
"""Share of the range of its kind by which a signal may differ."""
_MOTION = ("coordinates", "rates", "positions", "rotations")
_TOLD = (*_MOTION, "energy", "element_forces", "contact_forces", "forces")
# What leaves its place by less, however little else moves, is rounding [in the unit of the signal].
_STILL = 1e-9


@dataclass(frozen=True)
class Difference:
    """The signal of a kind that differs most between two runs."""

    group: str
    """Its kind: `coordinates`, `rates`, `forces` ..."""
    signal: str
    unit: str
    largest: float
    """Difference [unit]."""
    time: float
    """When [s]."""
    range: float
    """Largest range of a signal of this kind and unit [unit]."""

    @property
    def share(self) -> float:
        """Difference over range."""
        return self.largest / max(self.range, _STILL)

    @property
    def motion(self) -> bool:
        """Whether it tells of the motion itself, which converges; forces need not where things hit each other."""
        return self.group in _MOTION


@dataclass(frozen=True)
class Verification:
    """How far two runs of one model are apart."""

    finer: str
    """What the second run was, in words."""
    tolerance: float
    """Share of the range by which motions may differ."""
    differences: tuple[Difference, ...]

    @property
    def converged(self) -> bool:
        """Whether both tell the same motion within the tolerance."""
        return all(one.share <= self.tolerance for one in self.differences if one.motion)

    def text(self) -> str:
        """The verdict in a sentence."""
        beyond = [one for one in self.differences if one.motion and one.share > self.tolerance]
        if not beyond:
            return f"{self.finer} tells the same motion within {self.tolerance:.0%} of its range"
        worst = max(beyond, key=lambda one: one.share)
        return (
            f"not converged: with {self.finer} '{worst.signal}' differs by {worst.largest:.2g} {worst.unit} at "
            f"{worst.time:.3g} s, {worst.share:.1%} of its range; take smaller steps, or do not rely on it after that"
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        told = [{**asdict(one), "share": one.share} for one in self.differences]
        return {
            "finer": self.finer, "tolerance": self.tolerance, "converged": self.converged, "differences": told,
        }  # fmt: skip


def verify(coarse: Record, fine: Record, finer: str, tolerance: float = TOLERANCE) -> Verification:
    """Compare two records of one model, by signal, at the times of the first."""
    if not len(coarse) or not len(fine):
        raise LinkworkError("there are no rows to compare")
    times = coarse.time[coarse.time <= fine.time[-1]]
    other, one = fine.resample(times), coarse.resample(times)
    found = []
    for name in _TOLD:
        if name not in one.groups or name not in other.groups:
            continue
        group = one.groups[name]
        a, b = one.array(name), other.array(name)
        for unit in dict.fromkeys(group.units):
            columns = [
                i for i, u in enumerate(group.units) if u == unit and group.columns[i] != "energy.balance"
            ]
            if not columns:
                continue
            apart = np.nan_to_num(np.abs(a[:, columns] - b[:, columns]))
            row, column = np.unravel_index(np.argmax(apart), apart.shape)
            extent = float(np.nanmax(np.nan_to_num(np.ptp(a[:, columns], axis=0))))
            signal = group.columns[columns[int(column)]]
            found.append(Difference(name, signal, unit, float(apart[row, column]), float(times[row]), extent))
    return Verification(finer, tolerance, tuple(found))
