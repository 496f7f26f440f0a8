"""Open mechanisms: accelerations of the tree, integrated explicitly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..compile.compiler import Compiled
from ..compile.scratch import Scratch, settable_forces
from ..compile.system import System, fresh
from ..engine.coordinates.dynamics import derive
from ..engine.kernels.steady import Steady, slots
from ..engine.steppers import explicit
from ..engine.steppers.integrators import INTEGRATORS, integrators
from ..engine.steppers.motion import ADAPTIVE, Run, new_run
from ..engine.steppers.samples import Samples, new_samples
from ..model.rotation import Array
from ..observe.observer import Block, TreeObserver
from .base import Method, slot
from .options import DEFAULT_TOLERANCE, Options, option
from .sampled import run_memory


@dataclass(frozen=True, kw_only=True)
class Tree(Options):
    """Open mechanisms, by articulated bodies.

    Integrators: "rk4" (order 4; the default), "adams" (order 4, one evaluation a step), "adaptive" (order 5), "euler"
    (order 1).
    """

    integrators: ClassVar = integrators(usual="rk4")
    text: ClassVar = "open mechanisms, by articulated bodies"
    way: ClassVar[str] = "tree"

    tolerance: float | None = option(None, "Local error that adaptive steps keep; 1e-8 by default.")

    def build(self, model: Compiled | System, dt: float) -> TreeMethod:
        return self._build(model, dt)

    def _build(self, model: Compiled | System, dt: float) -> TreeMethod:
        return TreeMethod(model, str(self.integrator), dt, self.tolerance or DEFAULT_TOLERANCE)


class TreeMethod(Method):
    """Open mechanisms: accelerations of the tree, integrated explicitly."""

    name = "tree"

    def __init__(self, model: Compiled | System, integrator: str, dt: float, tolerance: float):
        self.system = model if isinstance(model, System) else model.tree
        self._kind, self._tableau = INTEGRATORS[integrator]
        self.adaptive = self._kind == ADAPTIVE
        self._integrator, self._dt, self._tolerance = integrator, dt, tolerance
        self.scratch = Scratch(() if isinstance(model, System) else settable_forces(model.flat))
        self._tables = self.scratch.tables("step", self.system)
        self.observer = TreeObserver(self.system, self.scratch)
        self._loop, self._blind = Steady(explicit.run, changing=2), Steady(explicit.run, changing=2)
        self._wanted, self._sample = np.zeros(1), self._room(1)
        self._goal = slots(self._wanted)
        self._blind_run: Run | None = None  # that the last call of it was for
        self.reset()

    def reset(self) -> None:
        self._run = new_run(self.system.q0, self.system.v0, 0, 0, self._dt)
        self.state = self._run.state
        course = self._run.course
        self._phase = slot(course, "phase")
        course.integrator, course.tolerance = self._kind, self._tolerance

    def advance(self, targets: Sequence[float]) -> tuple[int, int, Block]:
        out = self._room(len(targets))
        done, status = self._travel(np.array(targets, float), out, self._loop)
        return done, status, tuple(out[:4])

    def _go(self, target: float) -> int:
        self._goal[0] = target
        if self._blind_run is self._run:  # no argument is another one
            self._phase[0] = explicit.PLAN
            return self._blind.repeat()[1]
        self._blind_run = self._run
        return self._travel(self._wanted, self._sample, self._blind)[1]

    def _room(self, count: int) -> Samples:
        """Room for samples."""
        return new_samples(count, self.system.nq, self.system.nv, 0, 0, 0)

    def _travel(self, wanted: Array, out: Samples, loop: Steady) -> tuple[int, int]:
        """Go through targets: how many were reached, and the status."""
        run, self._phase[0] = self._run, explicit.PLAN
        found: tuple[int, int] = loop(
            self._tables, None, None, None, None, None, run.motion, run.books, self._tableau, wanted, out
        )
        return found

    def change_step(self, dt: float) -> None:
        super().change_step(dt)
        self._run.course.step = dt
        self.disturb()

    def disturb(self) -> None:
        self._run.motion.seen[:] = np.nan

    def memory(self) -> dict[str, Array]:
        return {"stats": np.asarray(self._run.stats), **run_memory(self._run)}

    def info(self) -> dict[str, Any]:
        return {"integrator": self._integrator, "tolerance": self._tolerance if self.adaptive else None}

    def outcome(self) -> dict[str, Any]:
        return {"rejected_steps": int(self.state.clock.refused)}

    def accelerations(self) -> Array:
        qdd, state = np.zeros(self.system.nv), self.state
        derive(fresh(self._tables), state.q, state.v, float(state.clock.now), qdd)
        return qdd
