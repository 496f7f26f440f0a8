"""Mobility: how many ways a mechanism can really move, and how far it is from a singular position.

The rank of J tells: freedoms are rates less rank, redundant are rows less rank. At a singular position the rank is
lower than anywhere near, so it is also looked for at poses a little way along the loops; the highest is the structural
one. Lengths are measured in sizes of the mechanism, so that singular values compare and a tolerance means something.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..compile.rank import ROOM, null_space, rank_of, spectrum
from ..compile.system import System
from ..model.rotation import Array
from .assemble import assemble
from .closure import CLOSED, Closure, difference

_PROBES, _STRIDE = 4, 0.25  # poses tried, and how far apart [rad or sizes of the mechanism]
_LARGE = 60  # coordinates beyond which fewer poses are tried
_STUCK = 0.02  # a step along the loops that comes back to this share of itself was no motion


@dataclass(frozen=True)
class Mobility:
    """Rank of the rows that hold a mechanism together, at a pose and generically near it."""

    mobility: int
    """Freedoms of finite motion near the pose."""
    instantaneous: int
    """Freedoms of velocity at the pose itself; more than `mobility` at a singular one."""
    rates: int
    rows: int
    rank: int
    """Structural: the highest near the pose."""
    singular: bool
    """There are more freedoms of velocity at the pose than of motion near it."""
    distance: float
    """Smallest singular value that should not vanish, relative to the largest: 0 at a singular position."""
    pose: Array
    """A closed pose of structural rank."""

    @property
    def redundant(self) -> int:
        """Equations that repeat what others say already."""
        return self.rows - self.rank


def analyse(system: System, q: Array | None = None) -> Mobility:
    """Mobility of a system compiled with rows, at a pose that closes its loops; by default its assembled start."""
    if q is None:
        q = assemble(system).q
    closure = Closure(system, q)
    values = singular_values(closure, q)
    first = rank_of(values)
    nv, rows = system.nv, len(closure.rows)
    rank, pose, moves = first, q, rows == 0 or first == nv
    if rows and first < nv:
        for reached in poses_nearby(closure, q):
            moves = True
            found = rank_of(singular_values(closure, reached))
            if found > rank:
                rank, pose = found, reached
    closure.forget()
    mobility = nv - rank if moves else 0
    singular = mobility < nv - first
    distance = float(values[rank - 1] / values[0]) if rank and not singular else float(not singular)
    return Mobility(mobility, nv - first, nv, rows, rank, singular, distance, pose)


def poses_nearby(closure: Closure, q: Array) -> Iterator[Array]:
    """Closed poses a little way off, each from the one before; none if the mechanism cannot move."""
    random = np.random.default_rng(0)
    here, failed = q, 0
    probes = _PROBES if len(q) < _LARGE else 1
    for _ in range(2 * probes):
        closure.gaps(here)
        N = null_space(closure.jacobian())
        if not N.shape[1]:
            return
        step = N @ random.normal(size=N.shape[1])
        step *= _STRIDE / np.abs(step).max()
        beside = closure.kin.moved(here, closure.reach * step)
        trial, gap = closure.close(beside)
        gone = np.abs(difference(closure.system, here, trial) / closure.reach).max()
        if gap > CLOSED or gone <= _STUCK * _STRIDE:  # rows that contradict each other by their last digits
            trial, gaps = closure.settle_down(beside)
            gap = np.abs(gaps).max(initial=0.0)
            gone = np.abs(difference(closure.system, here, trial) / closure.reach).max()
        if gap <= ROOM and gone > _STUCK * _STRIDE:
            here = trial
            yield here
        else:
            failed += 1
            closure.forget()
        if failed > probes:
            return


def singular_values(closure: Closure, q: Array) -> Array:
    """Of the scaled Jacobian at a pose, largest first."""
    closure.gaps(q)
    return spectrum(closure.dimensionless())
