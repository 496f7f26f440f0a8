"""Statics: a pose in which a mechanism rests, what holds it there, and whether it stays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..compile.system import as_coordinates
from ..engine.tables import LAW
from ..model import Model
from ..model.errors import LinkworkError
from ..model.rotation import Array
from .descent import Descent
from .forces import NEARLY, Forces, Look, symmetric

if TYPE_CHECKING:
    from ..run.simulate import Simulation

Stability = Literal["stable", "indifferent", "unstable"]

# Stiffness that counts as none, as shares of what the forces in play and the stiffest motion would have.
_NO_STIFFNESS, _ROUNDING = 1e-9, 1e-12
_NUDGE, _NUDGES = 1e-2, 10


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
    kind: Literal["spring", "drive", "limit", "held"]
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
        verbs = {"spring": "pulls with", "drive": "gives", "limit": "carries", "held": "takes"}
        text += [
            f"  {one.kind} '{one.name}' {verbs[one.kind]} {one.force:.6g} {one.unit}" for one in self.holders
        ]
        for mode in self.modes:
            swing = f", swings at {mode.frequency:.4g} Hz" if mode.frequency else ""
            leave = f", departs as exp({mode.growth:.4g} t/s)" if mode.growth else ""
            text.append(f"  {mode.stability} in '{mode.coordinate}'{swing}{leave}")
        if not self.modes:
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
            "residual": self.residual,
            "iterations": self.iterations,
            "notes": list(self.notes),
        }


def equilibrium(
    model: Model, *, hold: Mapping[str, float] | None = None, time: float = 0.0, stable: bool = False
) -> Equilibrium:
    """A pose near the written one in which the mechanism rests.

    Gravity, springs, constant forces and your functions act, signals as they are at `time` [s]; position servos pull
    like springs, DC motors with their stall torque, velocity servos told to stand still lock their coordinate; limits
    carry load. Dry friction is left out. `hold` gives drives other commands, or holds coordinates such as
    `crank.angle` at a value [rad or m], beside their drives. An unstable pose is returned only if the search starts
    there, or if forces have no potential to go down; with `stable`, it is then left for a stable one.
    """
    forces = Forces(model, dict(hold or {}), time)
    descent = Descent(forces)
    q = forces.start()
    for _ in range(_NUDGES):
        q = descent.find(q)
        found = _described(forces, q, descent.iterations)
        if not stable or found.stability != "unstable":
            return found
        q = forces.moved(q, _NUDGE * found.modes[0].shape)[0]
    raise LinkworkError(
        f"every equilibrium found near the written pose is unstable, the last in '{found.modes[0].coordinate}'"
    )


def _described(forces: Forces, q: Array, iterations: int) -> Equilibrium:
    """Everything about the pose that was found."""
    mech, look = forces.mech, forces.look(q)
    equal, limits = forces.carry(look)
    left = look.Q + look.J.T @ equal + look.J_limits.T @ limits
    modes = _modes(forces, q, look, equal, limits)
    values = dict(zip(mech.coordinates, map(float, mech.values()), strict=True))
    stability: Stability = modes[0].stability if modes else "stable"
    notes = list(forces.notes)
    holders = _holders(forces, equal, limits, notes)
    return Equilibrium(
        forces.compiled.name, q, values, stability, modes, holders, float(np.abs(left).max(initial=0.0)),
        iterations, notes, _posed(forces, q),
    )  # fmt: skip


def _modes(forces: Forces, q: Array, look: Look, equal: Array, limits: Array) -> list[Mode]:
    mech = forces.mech
    # A limit that barely touches carries nothing.
    carrying = np.flatnonzero(
        limits * np.abs(look.J_limits).max(axis=1, initial=0.0) > NEARLY * look.size.max(initial=0.0)
    )
    N = forces.free(look, carrying)
    if not N.shape[1]:
        return []
    H = forces.inertia(q)
    kappa, shapes = _modal(N.T @ forces.stiffness(q, equal, limits) @ N, N.T @ H @ N)
    modes = []
    for k in np.argsort(kappa.real):
        shape = N @ shapes[:, k]
        shape /= forces.mech.far(shape)
        # Energy of the mode against the work that the forces in play could do on it.
        weight = float(shape @ H @ shape)
        none = _NO_STIFFNESS * float(np.abs(shape) @ look.size) / weight
        none += _ROUNDING * float(np.abs(kappa).max())
        rate = np.sqrt(complex(-kappa[k]))  # exp(rate t)
        stability: Stability = "stable"
        if abs(kappa[k]) <= none:
            stability, rate = "indifferent", 0j
        elif kappa[k].real < 0.0 or abs(kappa[k].imag) > none:
            stability = "unstable"
        modes.append(
            Mode(
                stability,
                mech.busiest(shape),
                float(abs(rate.imag) / math.tau),
                float(abs(rate.real)),
                shape,
            )
        )
    ranks = ("unstable", "indifferent", "stable")
    return sorted(modes, key=lambda mode: ranks.index(mode.stability))


def _holders(forces: Forces, equal: Array, limits: Array, notes: list[str]) -> list[Holder]:
    mech, rows = forces.mech, forces.mech.kin.constraints.rows
    holders = []
    for row in map(int, forces.acting):
        drive = rows["input"][row] >= 0
        force = mech.law(row, 0.0, 0.0, forces.command(row), forces.time)
        if drive or force != 0.0:
            name = mech.drive_name(row) if drive else mech.kin.names[row].partition(":")[0]
            holders.append(Holder(name, "drive" if drive else "spring", force, mech.row_force_unit(row)))
        if drive and rows["role"][row] == LAW and abs(force) >= rows["strength"][row]:
            notes.append(f"drive '{mech.drive_name(row)}' pulls with all its strength")
    for row, force in zip(map(int, mech.limits), map(float, limits), strict=True):
        if force > 0.0:
            holders.append(Holder(mech.kin.names[row], "limit", force, mech.row_force_unit(row)))
    for k, c in enumerate(forces.held):
        force = float(equal[len(mech.hold) + k])
        name = mech.coordinates[c]
        if c in forces.locks:
            row = forces.locks[c]
            name, strength = mech.drive_name(row), float(rows["strength"][row])
            if abs(force) > strength:
                notes.append(
                    f"velocity servo '{name}' would slip: it holds {abs(force):.4g} and has {strength:.4g}"
                )
        holders.append(Holder(name, "held", force, mech.force_unit(c)))
    return holders


def _posed(forces: Forces, q: Array) -> Model:
    """The model with positions set: q for joints of the tree, what is read for those that close loops."""
    posed, values, k = forces.compiled.dissolved(), forces.mech.values(), 0
    for joint in forces.mech.joints:
        read = values[k : k + len(joint.rates)]
        k += len(joint.rates)
        if not joint.rates or not joint.attached_at_start:  # one that is released takes hold where it will be
            continue
        placed = forces.mech.system.joints[joint.name]
        position = q[placed.q] if placed.in_tree else as_coordinates([joint], read[None])[0]
        posed.joints[joint.name] = dataclasses.replace(
            joint, position=tuple(map(float, position)), velocity=None
        )
    return posed


def _modal(K: Array, M: Array) -> tuple[npt.NDArray[np.complexfloating[Any, Any]], Array]:
    """Stiffness over inertia of every mode [1/s²], and shapes as columns; of modes that flutter, their real part."""
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    W = inverse @ K @ inverse.T
    if symmetric(K):
        kappa, V = np.linalg.eigh(0.5 * (W + W.T))
        return kappa.astype(complex), inverse.T @ V
    kappa, V = np.linalg.eig(W)
    return kappa.astype(complex), inverse.T @ np.real(V)
