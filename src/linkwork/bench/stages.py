"""Where the time of a step of the direct solver goes: its kernels one by one, on the state where a run stands."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .timing import Contender, interleave

if TYPE_CHECKING:
    from ..model import Model

HOW = {
    "place": "positions, velocities and inertias of all bodies",
    "measure": "gap, Jacobian and bias of all rows",
    "factor": "inertia in joint space and its factors",
    "project": "rows in joint space, and their rates",
    "couple": "A = J H⁻¹ Jᵀ",
    "envelope": "factors of A, and three solutions: forces, gaps, rates",
    "respond": "laws of rows, and what their forces do to the rates",
    "rest": "of a step, what is not one evaluation: integration, corrections, steps done anew",
}
STAGES = tuple(HOW)
_BEFORE = 100  # steps to the state that is looked at
DT = 1e-3
STEPS = 1000
"""Of a repetition: the same motion whatever the size."""


class Profile(NamedTuple):
    """Times of a step and of its stages."""

    step: float
    """[µs]"""
    stages: dict[str, float]
    """[µs]; they add up to the step unless noise made one negative, which counts as zero."""


def profile(model: Model, method: str, repetitions: int, tick: Callable[[], object]) -> Profile:
    """Times of the stages of the direct solver, many calls each inside one compiled loop."""
    from ..simulate import Simulation

    moving, still = (Simulation(model, method=method, solver="direct", dt=DT) for _ in range(2))
    still.step(_BEFORE)
    parts = still.method
    tables, constraints, work = parts._tables, parts._constraints, parts._work  # type: ignore[attr-defined]
    state = (still.q.copy(), still.v.copy())
    loops = _loops()
    calls: dict[str, Callable[[int], object]] = {
        "place": partial(loops["place"], tables, *state),
        "measure": partial(loops["measure"], tables, constraints, state[0]),
        "place, factor": partial(loops["place, factor"], tables, work, *state),
        "gather": partial(loops["gather"], tables, constraints, work, *state),
        "evaluate": partial(loops["evaluate"], tables, constraints, work, *state, np.empty(len(state[1]))),
        "couple": partial(loops["couple"], tables, work),
        "envelope": partial(loops["envelope"], work),
    }
    calls["evaluate"](1)  # the others read what it leaves
    contenders = [Contender(name, call) for name, call in calls.items()]
    contenders.append(Contender("step", lambda times: moving.step(STEPS * times), STEPS, moving.reset))
    us = {name: figure.median for name, figure in interleave(contenders, repetitions, tick=tick).items()}
    return Profile(us["step"], split(us))


def split(us: dict[str, float]) -> dict[str, float]:
    """Times of stages from those of calls, some of which hold several stages."""
    factor = us["place, factor"] - us["place"]
    project = us["gather"] - us["place"] - us["measure"] - factor
    respond = us["evaluate"] - us["gather"] - us["couple"] - us["envelope"]
    rest = us["step"] - us["evaluate"]
    times = (us["place"], us["measure"], factor, project, us["couple"], us["envelope"], respond, rest)
    return {name: max(time, 0.0) for name, time in zip(STAGES, times, strict=True)}


@cache
def _loops() -> dict[str, Callable[..., object]]:
    """Compiled loops over kernels, the number of rounds last."""
    from ..coordinates.factor import factor
    from ..coordinates.tree import place
    from ..formulations.direct import _couple, gather, solve
    from ..kernels.rows import survey
    from ..solvers.envelope import factor_envelope, solve_three
    from ..solvers.layout import FORCE, INVERSE, ON, PLACE, TURN, P

    def placed(tables: Any, q: Any, v: Any, times: int) -> None:
        for _ in range(times):
            place(tables.dofs, tables.islands, q, v)

    def measured(tables: Any, constraints: Any, q: Any, times: int) -> None:
        for _ in range(times):
            survey(tables, constraints, q)

    def factored(tables: Any, work: Any, q: Any, v: Any, times: int) -> None:
        for _ in range(times):
            place(tables.dofs, tables.islands, q, v)
            factor(tables.dofs, work.H, work.dof[INVERSE], work.dof[FORCE])

    def gathered(tables: Any, constraints: Any, work: Any, q: Any, v: Any, times: int) -> None:
        for _ in range(times):
            gather(tables, constraints, work, q, v, 0.0)

    def evaluated(tables: Any, constraints: Any, work: Any, q: Any, v: Any, a: Any, times: int) -> None:
        for _ in range(times):
            gather(tables, constraints, work, q, v, 0.0)
            solve(tables, constraints, work, 0.0, DT, a, False, True)

    def coupled(tables: Any, work: Any, times: int) -> None:
        for _ in range(times):
            _couple(tables, work)

    def enveloped(work: Any, times: int) -> None:
        row = work.row
        for _ in range(times):
            for i in range(row.shape[1]):  # or else solutions of solutions would grow without end
                row[P, i], row[PLACE, i], row[TURN, i] = 1.0, 1.0, 1.0
            factor_envelope(work, ON)
            solve_three(work)

    # Not through linkwork.kernels: what is cached there is hashed with the kernels, and this is none.
    njit = import_module("numba").njit
    plain = {
        "place": placed, "measure": measured, "place, factor": factored, "gather": gathered,
        "evaluate": evaluated, "couple": coupled, "envelope": enveloped,
    }  # fmt: skip
    return {name: njit(loop, error_model="numpy") for name, loop in plain.items()}
