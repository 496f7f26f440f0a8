"""Functions of arrays of states, several of these in lock step: each number is one of every state (`kernels/lanes.py`).

For what asks for nothing but the tree: poses, velocities and Jacobians of any mechanism, and the dynamics of open ones
without loads. Everything but the way in and out is compiled from the sources of `compute`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.jit import kernel
from ..kernels.lanes import LANES, aligned, lanes_in, widened
from ..tables import DOF, ISLAND, Tables
from .compute import put

_DOF, _ISLAND = widened(DOF, "sin"), widened(ISLAND, "o")


class Lockstep(NamedTuple):
    """Tables, and a state and its results, of which each number is one of every state along a last axis."""

    dofs: np.ndarray
    islands: np.ndarray
    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    out: np.ndarray
    more: np.ndarray


def new_lockstep(tables: Tables, nq: int, nv: int, width: int, more: int) -> Lockstep:
    """Scratch for a mechanism and results of at most so many numbers."""
    dofs, islands = aligned((len(tables.dofs),), _DOF), aligned((len(tables.islands),), _ISLAND)
    for wide, narrow in ((dofs, tables.dofs), (islands, tables.islands)):
        for name in narrow.dtype.names or ():
            same = wide[name].shape == narrow[name].shape
            wide[name] = narrow[name] if same else narrow[name][..., None]
    return Lockstep(dofs, islands, *(aligned((count, LANES)) for count in (nq, nv, nv, width, more)))


@kernel
def compute_lanes(tables, lockstep, asked, inputs, out, more):
    """What `compute` does, for as many states at a time as there are lanes. The last ones are gone through again where
    states are fewer."""
    count, nothing = asked.count, inputs.t[0]
    wide = Tables(
        lanes_in(lockstep.dofs),
        tables.bodies,
        lanes_in(lockstep.islands),
        tables.loads,
        tables.signals,
        tables.numbers,
    )
    q, v, f = lanes_in(lockstep.q), lanes_in(lockstep.v), lanes_in(lockstep.force)
    result, second = lanes_in(lockstep.out)[: asked.width], lanes_in(lockstep.more)[: asked.more]
    state = q, v, inputs.x, inputs.u, nothing
    for first in range(0, count, LANES):
        _take(inputs.q, asked.nq, first, count, lockstep.q)
        _take(inputs.v, asked.nv, first, count, lockstep.v)
        _take(inputs.force, asked.nv, first, count, lockstep.force)
        put(wide, None, None, None, asked, state, f, result, second)
        _give(lockstep.out, asked.width, first, count, out)
        _give(lockstep.more, asked.more, first, count, more)


@kernel
def _take(x, width, first, count, lanes):
    """The numbers of some states, or of the one that serves all."""
    many = x.shape[0] > width
    if many or first == 0:
        for lane in range(LANES):
            begin = min(first + lane, count - 1) * width if many else 0
            for i in range(width):
                lanes[i, lane] = x[begin + i]


@kernel
def _give(lanes, width, first, count, x):
    """The results of some states."""
    for lane in range(min(LANES, count - first)):
        begin = (first + lane) * width
        for i in range(width):
            x[begin + i] = lanes[i, lane]
