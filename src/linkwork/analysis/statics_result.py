"""What statics gives back: the pose, what holds it there, and whether it stays."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..methods.touching import Touch
from ..model import Model
from ..model.errors import LinkworkError
from ..model.rotation import Array, Vector

if TYPE_CHECKING:
    from ..run.simulate import Simulation

Stability = Literal["stable", "indifferent", "unstable"]
_AFTER_A_PUSH = {
    "stable": "comes back",
    "indifferent": "stays where it is put",
    "unstable": "goes somewhere else",
}


@dataclass(frozen=True)
class Mode:
    """A way in which the mechanism can leave its equilibrium; dampers and friction left out."""

    stability: Stability
    coordinate: str
    """What moves most in it."""
    frequency: float
    """At which it swings about the equilibrium [Hz]."""
    growth: float
    """At which it departs, as exp(growth t) [1/s]."""
    shape: Array
    """Displacements, numbered like the rates of the system; the largest is one radian, or the mechanism's size."""


@dataclass(frozen=True)
class Holder:
    """Something that pushes or carries."""

    name: str
    kind: Literal["spring", "drive", "limit", "held", "friction"]
    force: float
    """Along what it measures; of a limit, away from it [unit]."""
    unit: str


@dataclass
class Equilibrium:
    """A pose in which nothing accelerates."""

    model: str
    q: Array
    """Coordinates of the tree, as `Simulation.q` has them."""
    values: dict[str, float]
    """All joint coordinates by name; of a ball, the components of its rotation vector [rad or m]."""
    stability: Stability
    modes: list[Mode]
    """From the least stable on; empty if nothing can move."""
    holders: list[Holder]
    """Springs, drives, limits that carry load and coordinates that were held, with their forces."""
    residual: float
    """Largest generalised force that nothing balances [N m or N]."""
    iterations: int
    notes: list[str]
    _posed: Model
    contacts: list[Touch] = field(default_factory=list)
    """Points where bodies push each other or scenery, as `Simulation.touches` has them; empty if nothing may touch."""
    crept: bool = False
    """Whether bodies may touch: found by creeping, `modes` are not known and `stability` is what small pushes tell."""

    @property
    def limits(self) -> dict[str, float]:
        """Reaction of every limit that carries load [N m or N]."""
        return {holder.name: holder.force for holder in self.holders if holder.kind == "limit"}

    def posed(self) -> Model:
        """The model with this pose as its start, at rest. Items inside components keep their dotted names."""
        return self._posed

    def start(self, simulation: Simulation) -> None:
        """Put a simulation of the same model into this pose, at rest."""
        if len(simulation.q) != len(self.q):
            raise LinkworkError(
                f"method '{simulation.method.name}' has coordinates of its own: simulate `posed()` instead"
            )
        simulation.q[:] = self.q
        simulation.v[:] = 0.0

    def lines(self) -> list[str]:
        """The result in words: verdict, pose, what holds it, how it can move."""
        text = [f"{self.model}: {self.stability}, residual {self.residual:.2g}, {self.iterations} iterations"]
        text += [f"  {name} = {value:.6g}" for name, value in self.values.items()]
        verbs = {
            "spring": "pulls with",
            "drive": "gives",
            "limit": "carries",
            "held": "takes",
            "friction": "carries",
        }
        text += [
            f"  {one.kind} '{one.name}' {verbs[one.kind]} {one.force:.6g} {one.unit}" for one in self.holders
        ]
        text += [
            f"  '{one.a}' pushes '{one.b}' with {one.force:.6g} N at ({_listed(one.point)}) m along "
            f"({_listed(one.normal)}), friction ({_listed(one.friction)}) N{' at its bound' if one.slides else ''}"
            for one in self.contacts
        ]
        for mode in self.modes:
            swing = f", swings at {mode.frequency:.4g} Hz" if mode.frequency else ""
            leave = f", departs as exp({mode.growth:.4g} t/s)" if mode.growth else ""
            text.append(f"  {mode.stability} in '{mode.coordinate}'{swing}{leave}")
        if self.crept:
            text.append(f"  after a small push it {_AFTER_A_PUSH[self.stability]}")
        elif not self.modes:
            text.append("  nothing can move")
        return text + [f"  note: {note}" for note in self.notes]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "model": self.model,
            "coordinates": dict(self.values),
            "stability": self.stability,
            "modes": [
                {
                    "stability": mode.stability,
                    "coordinate": mode.coordinate,
                    "frequency_Hz": mode.frequency,
                    "growth_per_s": mode.growth,
                }
                for mode in self.modes
            ],
            "holders": [dataclasses.asdict(holder) for holder in self.holders],
            "contacts": [one._asdict() for one in self.contacts],
            "residual": self.residual,
            "iterations": self.iterations,
            "notes": list(self.notes),
        }


def _listed(vector: Vector) -> str:
    """Numbers for readers, rounding left out."""
    return ", ".join(f"{x:.6g}" for x in np.round(vector, 9) + 0.0)
