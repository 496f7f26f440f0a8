"""Implicit steps in natural coordinates: the global formulation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..compile.compiler import Compiled
from ..compile.natural import NaturalTable, choose, natural_system
from ..compile.order import elimination_order
from ..engine.coordinates.natural_tangent import MOTION, Reach
from ..engine.coordinates.observe import read_joints
from ..engine.kernels.skyline import new_skyline
from ..engine.solvers import multipliers as m
from ..mechanism.mobility import analyse
from ..mechanism.switching import Attachment, Impact, impact, tree_coordinates, tree_rates
from ..model.rotation import Array
from ..observe.observer import Block, RowObserver
from .implicit import ImplicitMethod, ImplicitOptions
from .rows import Start, floating


@dataclass(frozen=True, kw_only=True)
class Global(ImplicitOptions):
    """Large steps of smooth motions: index-3 augmented Lagrangian in natural coordinates, by Newton's method."""

    text: ClassVar = "large steps of smooth motions, in natural coordinates"
    way: ClassVar[str] = "global"

    def kind(self) -> type[ImplicitMethod]:
        return GlobalMethod


class GlobalMethod(ImplicitMethod):
    """Points and unit vectors, a constant mass matrix, rigid-body and joint equations by multipliers and penalties.

    Its state is that of floating bodies, which records are made of; the unknowns are kept beside it.
    """

    def _first_start(self, compiled: Compiled) -> Start:
        self._compiled = compiled
        return Start(compiled, maximal=True, floats=natural_system)

    def _new_observer(self, compiled: Compiled, start: Start) -> RowObserver:
        return RowObserver(start.system, self.scratch)

    def _prepare(self, start: Start) -> None:
        self._start, self.system = start, start.system
        still = np.zeros(start.tree.nv)
        poses = [
            floating(self._compiled, self.system, start.tree, q, still)[0]
            for q in (start.tree_q, analyse(start.tree, start.tree_q).pose)
        ]
        self._table = choose(self.system, poses)
        self._rows = self._table.rows
        self._degenerate = (*self._table.satisfied, *self._table.redundant)
        self._work = new_natural_step(self._table)

    def reset(self) -> None:
        super().reset()
        start = self._start
        self.state = self.state._replace(q=start.q.copy(), v=start.v.copy())
        self._take_up()

    def _take_up(self) -> None:
        """Unknowns of the state; it may be that of another configuration, with other unknowns."""
        energy = self._path.energy
        self._path = self._new_path(*self._table.from_floating(self.state.q, self.state.v))
        self._path.energy[:] = energy
        self.state = self.state._replace(work=self._path.energy)
        self._known = self.state.q.copy(), self.state.v.copy()

    def _restore(self, attachment: Attachment, tree_q: Array) -> None:
        super()._restore(attachment, tree_q)
        self._take_up()

    def memory(self) -> dict[str, Array]:
        q, v = self._known
        return {**super().memory(), "path_q": self._path.q, "known_q": q, "known_v": v}

    def _impact(self, taking: Collection[str]) -> Impact:
        """In the coordinates of the tree: bodies without inertia of their own cannot be struck while they float."""
        tree, coords = self._start.tree, len(self._constraints.coords)
        values, rates = np.empty(coords), np.empty(coords)
        read_joints(
            self._tables,
            self._constraints,
            self.state.q,
            self.state.v,
            float(self.state.clock.now),
            values,
            rates,
        )
        q, v = tree_coordinates(tree, values), tree_rates(tree, rates)
        hit = impact(tree, q, v, taking)
        return hit._replace(v=floating(self._compiled, self.system, tree, q, hit.v)[1])

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        state = self.state
        if not all(np.array_equal(a, b) for a, b in zip(self._known, (state.q, state.v), strict=True)):
            self._take_up()
            state = self.state
        done, status, out = super().advance(targets)
        state.q[:], state.v[:] = self._table.to_floating(self._path.q[0], self._path.y[m.RATES])
        self._known = state.q.copy(), state.v.copy()
        return done, status, out


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
