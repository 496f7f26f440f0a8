"""Where the time of a step of the direct solver goes: its kernels one by one, on the state where a run stands."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .timing import Contender, interleave

if TYPE_CHECKING:
    from linkwork.model import Model
    from linkwork.model.rotation import Array

HOW = {
    "place": "positions, velocities and inertias of all bodies",
    "measure": "gap, Jacobian and bias of all rows",
    "factor": "inertia in joint space, factored together with the rows of loops that close inside the tree",
    "project": "rows in joint space, and their rates",
    "couple": "A = J H⁻¹ Jᵀ of the other rows",
    "envelope": "factors of A, and three solutions: forces, gaps, rates",
    "respond": "laws of rows, and what their forces do to the rates",
    "again": "evaluations beyond one a step: at the start, at events and where predictions are poor",
    "rest": "everything else of a step: integration, corrections, records",
}
STAGES = tuple(HOW)
DT = 1e-3
STEPS = 1000
"""Of a repetition: the same motion whatever the size."""
_ROUNDS = 500  # of evaluations in a repetition
_BEFORE = 100  # steps to the state that is looked at
_CALLS = ("place", "measure", "inertia", "gather", "solve", "eliminate", "couple", "envelope")


class Profile(NamedTuple):
    """Times of a step and of its stages [µs], and evaluations a step."""

    step: float
    evaluations: float
    """A step."""
    stages: dict[str, float]
    """They add up to the step, unless noise made one negative, which counts as zero."""


def profile(model: Model, method: str, repetitions: int, tick: Callable[[], object]) -> Profile:
    """Time of a step of the direct solver; that of its stages by the processor's clock inside one compiled loop."""
    from linkwork.engine.kernels.clock import cycles
    from linkwork.run.simulate import Simulation

    moving, still = (Simulation(model, method=method, solver="direct", dt=DT) for _ in range(2))
    still.step(_BEFORE)
    parts: Any = still.method
    state, a = (still.q.copy(), still.v.copy()), np.empty(len(still.v))
    taken: list[Array] = []
    steps: list[float] = []

    def advance(times: int) -> None:
        began = time.thread_time()  # of the processor, as that of the stages
        moving.step(STEPS * times)
        steps.append(1e6 * (time.thread_time() - began) / (STEPS * times))

    def evaluate(times: int) -> None:
        ticks = np.zeros((_ROUNDS * times, len(_CALLS) + 1), np.int64)
        _loop()(parts._tables, parts._constraints, parts._work, *state, a, ticks)
        # A median over rounds: whenever the system takes the processor away, the clock goes on.
        taken.append(np.median(ticks[:, 1:] - ticks[:, :1], axis=0))

    contenders = [Contender("step", advance, reset=moving.reset), Contender("stages", evaluate)]
    began, first = time.perf_counter(), cycles()
    interleave(contenders, repetitions, shortest=0.0, tick=tick)
    us_per_cycle = 1e6 * (time.perf_counter() - began) / (cycles() - first)
    medians = us_per_cycle * np.median(taken[-repetitions:], axis=0)
    us = dict(zip(_CALLS, map(float, medians), strict=True))
    step = float(np.median(steps[-repetitions:]))
    evaluations = moving.method.outcome()["evaluations_mean"]
    return Profile(step, evaluations, split(step, evaluations, us))


def split(step: float, evaluations: float, us: dict[str, float]) -> dict[str, float]:
    """Times of stages from those of calls, some of which hold several stages."""
    project = us["gather"] - us["place"] - us["measure"] - us["inertia"]
    respond = us["solve"] - us["eliminate"] - us["couple"] - us["envelope"]
    evaluation = us["gather"] + us["solve"]
    again, rest = (evaluations - 1.0) * evaluation, step - evaluations * evaluation
    apart = us | {"factor": us["inertia"] + us["eliminate"], "project": project, "respond": respond}
    apart |= {"again": again, "rest": rest}
    return {name: max(apart[name], 0.0) for name in STAGES}


@cache
def _loop() -> Callable[..., None]:
    """Rounds of all calls, with the clock read between them: ticks[:, 0] is for reading it, then a column a call."""
    from linkwork.engine.coordinates.tree import place
    from linkwork.engine.kernels.clock import cycles
    from linkwork.engine.kernels.rows import survey
    from linkwork.engine.solvers.envelope import factor_envelope, solve_three
    from linkwork.engine.solvers.layout import ON, PLACE, TURN, P
    from linkwork.engine.steppers.joint_rows import assemble, couple, embed, weigh
    from linkwork.engine.steppers.row_forces import solve

    def loop(  # type: ignore[no-untyped-def]
        tables, constraints, work, q, v, a, ticks
    ):
        dofs, row = tables.dofs, work.row
        for k in range(ticks.shape[0]):
            t0 = cycles()
            t1 = cycles()
            place(dofs, tables.islands, q, v)
            t2 = cycles()
            survey(tables, constraints, q)
            t3 = cycles()
            weigh(dofs, work)
            t4 = cycles()
            assemble(tables, constraints, work, q, v, 0.0)
            t5 = cycles()
            solve(tables, constraints, work, 0.0, DT, a, False, True)
            t6 = cycles()
            embed(work, 0.0)
            t7 = cycles()
            couple(work)
            t8 = cycles()
            for i in range(row.shape[1]):  # or else solutions of solutions would grow without end
                row[P, i], row[PLACE, i], row[TURN, i] = 1.0, 1.0, 1.0
            t9 = cycles()
            factor_envelope(work, ON, 0.0, 0.0)
            solve_three(work)
            t10 = cycles()
            ticks[k, 0] = t1 - t0
            ticks[k, 1] = t2 - t1
            ticks[k, 2] = t3 - t2
            ticks[k, 3] = t4 - t3
            ticks[k, 4] = t5 - t4
            ticks[k, 5] = t6 - t5
            ticks[k, 6] = t7 - t6
            ticks[k, 7] = t8 - t7
            ticks[k, 8] = t10 - t9

    # Not through linkwork.engine.kernels: what is cached there is hashed with the kernels, and this is none.
    compiled: Callable[..., None] = import_module("numba").njit(loop, error_model="numpy", nogil=True)
    return compiled
