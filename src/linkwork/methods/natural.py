"""Implicit steps in natural coordinates: the global formulation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..compile.compiler import Compiled
from ..compile.implicit import new_natural_step
from ..compile.natural import choose
from ..engine.steppers.path import Path, new_path
from ..engine.steppers.samples import Samples
from ..mechanism.mobility import analyse
from ..mechanism.switching import Attachment, Impact, impact
from ..model.rotation import Array
from ..observe.observer import RowObserver
from .implicit import ImplicitMethod, ImplicitOptions
from .rows import Start


@dataclass(frozen=True, kw_only=True)
class Global(ImplicitOptions):
    """Large steps of smooth motions: index-3 augmented Lagrangian in natural coordinates, by Newton's method."""

    text: ClassVar = "large steps of smooth motions, in natural coordinates"
    way: ClassVar[str] = "global"

    def _build(self, model: Compiled, dt: float) -> GlobalMethod:
        return GlobalMethod(model, self, dt)


class GlobalMethod(ImplicitMethod):
    """Points and unit vectors, a constant mass matrix, rigid-body and joint equations by multipliers and penalties.

    Its state is that of floating bodies, which records are made of; the unknowns are kept beside it.
    """

    def _first_start(self, compiled: Compiled) -> Start:
        return Start(compiled, maximal=True, floats=lambda compiled: compiled.floating)

    def _new_observer(self, start: Start) -> RowObserver:
        return RowObserver(start.system, self.scratch)

    def _prepare(self, start: Start) -> None:
        still = np.zeros(start.tree.nv)
        poses = (start.tree_q, analyse(start.tree, start.tree_q).pose)
        self._table = choose(self.system, [start.of_tree(q, still)[0] for q in poses])
        self._rows = self._table.rows
        self._degenerate = (*self._table.satisfied, *self._table.redundant)
        self._work = new_natural_step(self._table)

    def _new_path(self) -> Path:
        self._known = self.state.q.copy(), self.state.v.copy()
        z, rates = self._table.from_floating(*self._known)
        return new_path(self.state._replace(q=z, v=rates), len(self._constraints.inputs))

    def _restore(self, attachment: Attachment, tree_q: Array) -> None:
        super()._restore(attachment, tree_q)
        self._path = self._new_path()  # another configuration has other unknowns

    def memory(self) -> dict[str, Array]:
        q, v = self._known
        own = {"path_q": self._path.state.q, "path_v": self._path.state.v, "known_q": q, "known_v": v}
        return {**super().memory(), **own}

    def _impact(self, taking: Collection[str]) -> Impact:
        """In the coordinates of the tree: bodies without inertia of their own cannot be struck while they float."""
        motion = self._in_tree()
        hit = impact(self._start.tree, motion.q, motion.v, taking)
        return hit._replace(v=self._start.of_tree(motion.q, hit.v)[1])

    def _travel(self, wanted: Array, out: Samples) -> tuple[int, int]:
        state = self.state
        if not all(np.array_equal(a, b) for a, b in zip(self._known, (state.q, state.v), strict=True)):
            self._path = self._new_path()
        done, status = super()._travel(wanted, out)
        state.q[:], state.v[:] = self._table.to_floating(self._path.state.q, self._path.state.v)
        self._known = state.q.copy(), state.v.copy()
        return done, status
