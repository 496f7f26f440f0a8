"""Open mechanisms: accelerations of the tree, integrated explicitly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..compile import Compiled
from ..coordinates.dynamics import derive
from ..errors import UnsupportedError
from ..integrate import Tableau, dormand_prince, euler, new_state, rk4, run_adaptive, run_fixed
from ..model import Model
from ..observe import Block, TreeObserver
from ..rotation import Array
from ..scratch import Scratch, settable_forces
from ..system import System, fresh
from .base import Method, samples
from .rows import row_features

TABLEAUS: dict[str, Callable[[], Tableau]] = {"rk4": rk4, "euler": euler, "adaptive": dormand_prince}


class TreeMethod(Method):
    """Open mechanisms: accelerations of the tree, integrated explicitly."""

    name = "tree"

    def __init__(self, model: Model | Compiled | System, integrator: str, dt: float, tolerance: float):
        compiled = None if isinstance(model, System) else Compiled.of(model)
        if compiled is not None:
            features = row_features(compiled.flat, compiled.spanning.cuts)
            if features:
                raise UnsupportedError(
                    "the method 'tree' has no constraints, but "
                    + "; ".join(features)
                    + "; use method 'simgc'"
                )
            self.system = compiled.tree
        else:
            assert isinstance(model, System)
            self.system = model
        self.adaptive = integrator == "adaptive"
        self._integrator, self._dt, self._tolerance = integrator, dt, tolerance
        self._tableau = TABLEAUS[integrator]()
        self.scratch = Scratch(() if compiled is None else settable_forces(compiled.flat))
        self._tables = self.scratch.tables("step", self.system)
        self.observer = TreeObserver(self.system, self.scratch)
        self.reset()

    def reset(self) -> None:
        self.state = new_state(self.system.q0, self.system.v0)
        self.state.clock[1] = self._dt

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = samples(len(targets), self.system)
        if self.adaptive:
            goals = np.array(targets, float)
            done, status = run_adaptive(self._tables, self._tableau, self.state, self._tolerance, goals, *out)
        else:
            steps = np.array(targets, np.int64)
            done, status = run_fixed(self._tables, self._tableau, self.state, self._dt, steps, *out)
        return done, status, out

    def info(self) -> dict[str, Any]:
        return {"integrator": self._integrator, "tolerance": self._tolerance if self.adaptive else None}

    def outcome(self) -> dict[str, Any]:
        return {"rejected_steps": int(self.state.counts[2])}

    def accelerations(self) -> Array:
        qdd = np.zeros(self.system.nv)
        state = self.state
        derive(
            fresh(self._tables),
            state.q,
            state.v,
            float(state.clock[2]),
            qdd,
        )
        return qdd
