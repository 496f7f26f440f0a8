"""Implicit steps in natural coordinates: the global formulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..coordinates.natural_tangent import MOTION, Reach
from ..mobility import analyse
from ..model import Model
from ..natural import NaturalTable, choose, natural_system
from ..observe import Block, RowObserver
from ..order import elimination_order
from ..rotation import Array
from ..solvers import multipliers as m
from ..solvers.skyline import new_skyline
from .implicit import ImplicitMethod
from .rows import floating


class GlobalMethod(ImplicitMethod):
    """Points and unit vectors, a constant mass matrix, rigid-body and joint equations by multipliers and penalties.

    Its state is that of floating bodies, which records are made of; the unknowns are kept beside it.
    """

    def _prepare(self, model: Model) -> None:
        start = self._start
        self.system = natural_system(model)
        poses = [
            floating(model, self.system, start.tree, q, np.zeros(start.tree.nv))[0]
            for q in (start.tree_q, analyse(start.tree, start.tree_q).pose)
        ]
        self._first = floating(model, self.system, start.tree, start.tree_q, start.v)
        self._table = choose(self.system, poses)
        self._rows = self._table.rows
        self._degenerate = (*self._table.satisfied, *self._table.redundant)
        self._work = new_natural_step(self._table)
        self.observer: RowObserver = RowObserver(self.system)

    def _start_of(self) -> tuple[Array, Array]:
        return self._table.from_floating(*self._first)

    @property
    def _settled(self) -> Array:
        return self._first[0]

    def reset(self) -> None:
        super().reset()
        self.state = self.state._replace(q=self._first[0].copy(), v=self._first[1].copy())
        self._known = self._first

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        state = self.state
        if not all(np.array_equal(a, b) for a, b in zip(self._known, (state.q, state.v), strict=True)):
            self._path.q[:], self._path.y[m.RATES] = self._table.from_floating(state.q, state.v)
        done, status, out = super().advance([*targets, targets[-1]] if len(targets) else targets)
        state.q[:], state.v[:] = self._table.to_floating(self._path.q[0], self._path.y[m.RATES])
        self._known = state.q.copy(), state.v.copy()
        return min(done, len(targets)), status, tuple(part[: len(targets)] for part in out)


def new_natural_step(table: NaturalTable) -> m.Step:
    """Structure and scratch of implicit steps in natural coordinates."""
    natural, n = table.fresh(), table.count
    rigid, rows = table.touched()
    reached = [sorted(set(body.index)) for body in table.bodies]
    cliques = [*rigid, *rows, *(set(unknowns) for unknowns in reached)]
    loads = table.system.tables.loads
    for load in loads:
        both = [natural.body_of[int(load[side])] for side in ("a", "b")]
        cliques.append({i for b in both if b >= 0 for i in reached[b]})
    touching = [{k for k, clique in enumerate(cliques) if i in clique} for i in range(n)]
    matrix = new_skyline(elimination_order(touching, both_ends=True), cliques)
    local = np.zeros(len(natural.terms), np.int64)
    for body, unknowns in zip(natural.bodies, reached, strict=True):
        for i in range(body["first"], body["first"] + body["count"]):
            local[i] = unknowns.index(int(natural.terms[i]["unknown"]))
    first = np.cumsum([0, *map(len, reached)]).astype(np.int64)
    flat = np.array([i for unknowns in reached for i in unknowns], np.int64)
    at = np.array(np.nonzero(table.inertia), np.int64)
    step = m.new_step(matrix, [*rows, *rigid], m.kept_rows(table.rows.constraints, len(rigid)), np.arange(n))
    return step._replace(
        natural=natural,
        reach=Reach(first, flat, local),
        mass_at=at,
        mass=table.inertia[at[0], at[1]],
        weight=table.weight,
        motions=np.zeros((3, max(map(len, reached), default=0) + 1, MOTION)),
        state=table.system.q0.copy(),
        speed=table.system.v0.copy(),
    )
