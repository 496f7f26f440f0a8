"""Open mechanisms: accelerations of the tree, integrated explicitly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compile.compiler import Compiled
from ..compile.scratch import Scratch, settable_forces
from ..compile.system import System, fresh
from ..engine.coordinates.dynamics import derive
from ..engine.steppers.integrate import (
    Tableau,
    dormand_prince,
    euler,
    new_run,
    rk4,
    run_adaptive,
    run_fixed,
)
from ..engine.steppers.state import new_state
from ..model import Model
from ..model.rotation import Array
from ..observe.observer import Block, TreeObserver
from .base import Method, samples
from .options import DEFAULT_TOLERANCE, Options, option

TABLEAUS: dict[str, Callable[[], Tableau]] = {"rk4": rk4, "euler": euler, "adaptive": dormand_prince}


@dataclass(frozen=True, kw_only=True)
class Tree(Options):
    """Open mechanisms, by articulated bodies. Integrators: "rk4" (order 4), "euler" (order 1), "adaptive" (order 5)."""

    integrators: ClassVar = tuple(TABLEAUS)
    text: ClassVar = "open mechanisms, by articulated bodies"
    way: ClassVar[str] = "tree"

    tolerance: float | None = option(None, "Local error that adaptive steps keep; 1e-8 by default.")

    def build(self, model: Compiled | System, dt: float) -> TreeMethod:
        return self._build(model, dt)

    def _build(self, model: Compiled | System, dt: float) -> TreeMethod:
        assert self.integrator is not None
        return TreeMethod(model, self.integrator, dt, self.tolerance or DEFAULT_TOLERANCE)


class TreeMethod(Method):
    """Open mechanisms: accelerations of the tree, integrated explicitly."""

    name = "tree"

    def __init__(self, model: Model | Compiled | System, integrator: str, dt: float, tolerance: float):
        compiled = None if isinstance(model, System) else Compiled.of(model)
        if compiled is not None:
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
        self.state = new_state(self.system.q0, self.system.v0, self._dt)
        self._run = new_run(self.state)

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = samples(len(targets), self.system)
        if self.adaptive:
            goals = np.array(targets, float)
            done, status = run_adaptive(self._tables, self._tableau, self._run, self._tolerance, goals, *out)
        else:
            steps = np.array(targets, np.int64)
            done, status = run_fixed(self._tables, self._tableau, self._run, self._dt, steps, *out)
        return done, status, out

    def info(self) -> dict[str, Any]:
        return {"integrator": self._integrator, "tolerance": self._tolerance if self.adaptive else None}

    def outcome(self) -> dict[str, Any]:
        return {"rejected_steps": int(self.state.clock.refused)}

    def accelerations(self) -> Array:
        qdd = np.zeros(self.system.nv)
        state = self.state
        derive(
            fresh(self._tables),
            state.q,
            state.v,
            float(state.clock.now),
            qdd,
        )
        return qdd
