"""Joint equations that follow from others, exactly or but for the digits that a model is written with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compile.rank import independent
from ..compile.system import System
from ..model.rotation import Array
from .closure import Closure
from .mobility import analyse

_TOLD = 1e-11
"""Equations that miss the others by less are not worth a word: models are written with ten digits or so."""
_GAIN = 1.5  # by how much another choice must be better, or it would go back and forth
LOCKED = "the mechanism is locked: its loops leave no motion; loosen a joint if it is meant to move"


class Misfit(NamedTuple):
    """A joint or coupling of which an equation follows from the others but for rounded numbers."""

    name: str
    off: float
    """By how much it misses what the others say when the mechanism moves by about a radian."""
    unit: str

    def __str__(self) -> str:
        return (
            f"'{self.name}' is off by {self.off:.2g} {self.unit} from where it would only repeat what other joints "
            "hold: taken as rounding, and these equations are left out; write positions and axes with more digits"
        )


@dataclass(frozen=True)
class Dependence:
    """Which joint equations of a mechanism say nothing new."""

    idle: tuple[str, ...]
    """Rows that no motion changes."""
    others: tuple[str, ...]
    """Rows beside them that follow from the rest, as few as needed: a choice that is good near the pose."""
    misfits: tuple[Misfit, ...]
    """Joints of which that is true but for the digits they are written with."""
    locked: bool
    """The equations leave no motion."""

    @property
    def names(self) -> tuple[str, ...]:
        """All rows that say nothing new."""
        return (*self.idle, *self.others)

    @property
    def notes(self) -> list[str]:
        """What a run should say of it."""
        found = [str(misfit) for misfit in self.misfits]
        if self.locked:
            found.append(LOCKED)
        return found


def dependence(system: System, q: Array) -> Dependence:
    """Of a system compiled with rows, in generalized coordinates, at a pose that closes its loops.

    There only joints that close loops have equations; in maximal coordinates those of the tree are independent, so
    that the same names are redundant.
    """
    closure = Closure(system, q)
    names = closure.kin.names
    closure.gaps(q)
    found = independent(closure.dimensionless())
    locked = 0 < system.nv == len(found.kept)
    if len(found.kept) < np.count_nonzero(~closure.idle):  # the start may be singular: ask where it is not
        mobility = analyse(system, q)
        closure.gaps(mobility.pose)
        found = independent(closure.dimensionless())
        locked = mobility.mobility == 0 < system.nv
    dropped = set(closure.rows.tolist()) - set(closure.rows[found.kept].tolist())
    idle = [i for i in range(len(names)) if closure.still[i]]
    return Dependence(
        tuple(names[i] for i in idle),
        tuple(names[i] for i in sorted(dropped.difference(idle))),
        _misfits(closure, q, found.left),
        locked,
    )


def better_choice(system: System, q: Array, kept: Array) -> Array | None:
    """Other joint equations that are farther from following from each other at a pose than the `kept` ones.

    Rows are numbered as in the table of the system, in any coordinates. None if there are none, as at a position that
    is really singular.
    """
    closure = Closure(system, q)
    closure.gaps(q)
    J = closure.dimensionless()
    found = independent(J).kept
    old = np.searchsorted(closure.rows, kept)
    if len(found) != len(old) or _smallest(J[found]) < _GAIN * _smallest(J[old]):
        return None
    chosen: Array = closure.rows[found]
    return chosen


def _smallest(J: Array) -> float:
    """Smallest singular value of independent rows."""
    return float(np.linalg.svd(J, compute_uv=False)[-1])


def _misfits(closure: Closure, q: Array, left: Array) -> tuple[Misfit, ...]:
    """Of every joint by how much it misses what the others say: an angle, or a length where the angles fit."""
    closure.gaps(q)
    sizes, units = closure.sizes[closure.rows], closure.units[closure.rows]
    J = closure.kin.jacobian(closure.rows) / sizes[:, None] * closure.strides
    off: dict[str, Misfit] = {}
    for i in sorted(range(len(left)), key=lambda i: units[i] == "m"):
        closing = closure.kin.names[closure.rows[i]].partition(": ")[0]
        size, name = _odd_one(closure, closing, J[i]) if closure.idle[i] else (float(left[i]), closing)
        misfit = Misfit(name, size * float(sizes[i]), str(units[i]))
        known = off.get(closing)
        if size > _TOLD and (known is None or (known.unit == misfit.unit and known.off < misfit.off)):
            off[closing] = misfit
    return tuple(off.values())


def _odd_one(closure: Closure, name: str, line: Array) -> tuple[float, str]:
    """By how much the joints of a loop disagree about a direction that no motion should change, and who is the odd one.

    An entry says how far a joint's motion is from that of joint `name`, which closes the loop.
    """
    entries = {name: 0.0}
    for x, rate in zip(line.tolist(), closure.system.rates, strict=True):
        if x != 0.0:
            entries[rate.name.rpartition(".")[0]] = x
    usual = float(np.median(list(entries.values())))
    worst = max(entries, key=lambda joint: abs(entries[joint] - usual))
    return abs(entries[worst] - usual), worst
