"""States onto their constraints: gaps closed, rates and accelerations projected, accelerations and multipliers found.

All with the factors of a matrix that has the penalties of the constraints in it.
"""

from ..kernels.jit import kernel, woven
from ..kernels.skyline import solve
from ..solvers.equations import DRIVEN, HELD, SOFT, multiply, scatter
from ..solvers.multipliers import ROUNDS, factor_penalised, project
from .balance import evaluate, evaluate_rows, move
from .path import ASIDE
from .responses import account, keep_states, want_accelerations, want_rates

_PLACED = 1e-13  # gaps that a state may have [rad or m]


@kernel
def _close_gaps(tables, work, q, s):
    """(measured rows, factored matrix) => q moved so that gaps close, if they are worth it; returns the largest."""
    change, gap = work.change, 0.0
    for i in range(change.shape[0]):
        change[i] = 0.0
    for r in range(work.kept.shape[0]):
        if work.kept[r] == HELD:
            phi = work.rows[r].phi
            gap = max(gap, abs(phi))
            scatter(work, work.pushed, r, -s * work.rows[r].penalty * phi, change)
    if gap > _PLACED:
        solve(work.matrix, change)
        move(tables, work, q, change, q)
    return gap


@woven
def project_motion(equations, q, v, a, t, s):
    """(factored matrix) => rates and accelerations on the constraints, rows measured there."""
    work = equations.work
    for _ in range(ROUNDS):
        evaluate_rows(equations, q, v)
        if _close_gaps(equations.tables, work, q, s) <= _PLACED:
            break
    want_rates(equations, t)
    if project(work, s, v):
        evaluate_rows(equations, q, v)
    want_accelerations(equations, t)
    project(work, s, a)


@kernel
def begin(equations, path, t, h):
    """Bring a state onto the constraints and find its accelerations and multipliers."""
    work, q, v, a, s = equations.work, path.state.q, path.state.v, path.a, 0.25 * h * h
    keep_states(equations, t)
    for i in range(a.shape[0]):
        a[i] = 0.0
    for r in range(work.kept.shape[0]):
        work.rows[r].multiplier = 0.0
    for _ in range(2 * ROUNDS):
        evaluate(equations, q, v, a, t, 0.0, 0.0, True)
        factor_penalised(work, s)
        if _close_gaps(equations.tables, work, q, s) <= _PLACED:
            break
    for r in range(work.kept.shape[0]):
        if work.kept[r] == DRIVEN:
            work.rows[r].target = work.rows[r].phi
    want_rates(equations, t)
    project(work, s, v)
    _find_accelerations(equations, path, t + ASIDE * h, s)
    keep_states(equations, t)


@woven
def _find_accelerations(equations, path, t, s):
    """(inertia and penalties factored) => accelerations and multipliers of a state."""
    work, q, v, a = equations.work, path.state.q, path.state.v, path.a
    residual, change = work.residual, work.change
    n = change.shape[0]
    for turn in range(ROUNDS):  # M a + Φᵀ λ = Q with Φ a = want, augmented likewise
        evaluate(equations, q, v, a, t, 0.0, 0.0, False)
        want_accelerations(equations, t)
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                row = work.rows[r]
                pull = s * row.penalty * (multiply(work, work.val, r, a) - row.want)
                row.multiplier += pull if turn > 0 else 0.0
                scatter(work, work.val, r, row.multiplier + pull, residual)
        for i in range(n):
            change[i] = -residual[i]
        solve(work.matrix, change)
        for i in range(n):
            a[i] += change[i]
    for i in range(n):
        path.aux[i] = a[i]
    account(equations.constraints, work)
