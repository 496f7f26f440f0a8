"""What a comparison of methods found: one entry a method, and the verdict in a sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..model.rotation import Array

AGREES, UNSEEN, COARSE, VAGUE, APART, FAILED = (
    "agrees",
    "agrees, order not seen",
    "too coarse",
    "cannot tell",
    "stays apart",
    "failed",
)


@dataclass
class Entry:
    """How one method fared."""

    name: str
    method: str
    solver: str | None
    integrator: str = ""
    verdict: str = FAILED
    why: str = ""
    """Of a method that failed."""
    distance: float | None = None
    """Largest distance from the reference [m]."""
    body: str | None = None
    """Which body is that far away,"""
    time: float | None = None
    """and when [s]."""
    half_distance: float | None = None
    """Largest distance from the reference with steps of half the size [m]."""
    order: float | None = None
    """By which power of the step the distance falls; None where it is rounding or the reference's own error."""
    expected_order: float | None = None
    steps: int = 0
    wall: float = 0.0
    """Time of the run, compiled beforehand, recording included [s]."""
    us_per_step: float = 0.0
    energy_drift: float | None = None
    """Largest energy that came from nowhere or went there [J]."""
    worst_gap: float | None = None
    """Largest gap of a joint; None where joints cannot have any [m]."""
    distances: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    """Over time [m]."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with units in the names."""
        made = asdict(self) | {"distances": self.distances.tolist()}
        return {f"{name}{_UNITS.get(name, '')}": value for name, value in made.items()}


_UNITS = {
    "distance": "_m", "time": "_s", "half_distance": "_m", "wall": "_s", "energy_drift": "_J", "worst_gap": "_m",
    "distances": "_m",
}  # fmt: skip


@dataclass
class Comparison:
    """All methods of a model; made by `compare`."""

    model: str
    duration: float
    dt: float
    reference: str
    """What the others are measured against, in words."""
    uncertainty: float
    """How far the reference itself may be from the truth [m]."""
    tolerance: float
    """Distance within which motions are one [m]."""
    times: Array
    entries: list[Entry]
    refused: dict[str, str]
    """Methods that cannot run this model, and why."""

    @property
    def agree(self) -> bool:
        """Whether all methods that ran tell one motion within the tolerance."""
        return bool(self.entries) and all(entry.verdict in (AGREES, UNSEEN) for entry in self.entries)

    def verdict(self) -> str:
        """In a sentence."""
        count = len(self.entries)
        if not count:
            return "no method can run this model"
        if self.agree:
            what = f"all {count} methods tell one" if count > 1 else "the method tells the reference's"
            return f"{what} motion within {self.tolerance:.2g} m"
        good = sum(entry.verdict in (AGREES, UNSEEN) for entry in self.entries)
        parts = [f"{good} of {count} methods tell one motion within {self.tolerance:.2g} m"] if good else []
        for verdict, what in (
            (COARSE, "for this step: it comes nearer with smaller ones"),
            (APART, "from the reference by more than the error of the step explains"),
            (
                VAGUE,
                "whether it agrees: its error is large and does not fall with the step; look at a shorter time",
            ),
            (FAILED, "on the way"),
        ):
            names = [_named(entry) for entry in self.entries if entry.verdict == verdict]
            parts += [f"{', '.join(names)}: {verdict} {what}"] if names else []
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "model": self.model, "duration_s": self.duration, "dt_s": self.dt, "reference": self.reference,
            "reference_uncertainty_m": self.uncertainty, "tolerance_m": self.tolerance, "agree": self.agree,
            "verdict": self.verdict(),
            "methods": [entry.to_dict() for entry in self.entries], "refused": self.refused,
            "times_s": self.times.tolist(),
        }  # fmt: skip


def _named(entry: Entry) -> str:
    return f"'{entry.name}'" + ("" if entry.distance is None else f" (off by {entry.distance:.2g} m)")
