"""Independent coordinates in an implicit step: the semi-recursive method with its second velocity projection.

The independent rates among those of the joints are the unknowns, v = R v_i; the others follow from the constraints, in
position, velocity and acceleration. Where the constraints lose rank no choice of independent coordinates works: a step
that would reach such a position is halved again and again, and then refused.
"""

import numpy as np

from ..kernels.jit import kernel, woven
from ..solvers.equations import SOFT
from ..solvers.partition import eliminate, follow, keep_choice, load_gradients, restore_choice
from .balance import evaluate_rows, move
from .responses import want_accelerations, want_rates

_CLOSED = 1e-13  # gaps after a closure [rad or m]
_CLOSURES = 20
_WORN = 0.3  # share of the best choice's pivot below which a set is given up
_LEFT = 0.05  # share of the smallest pivot that a step must leave


@woven
def _want_closed(work):
    """(measured rows) Displacements that constraints want; returns the largest."""
    gap = 0.0
    for r in range(work.kept.shape[0]):
        if work.kept[r] != SOFT:
            row = work.rows[r]
            row.want = row.aim - row.phi
            gap = max(gap, abs(row.want))
    return gap


@kernel
def close(equations, part, path):
    """Dependent displacements for the independent ones; leaves rows measured at the trial. False if it fails."""
    work, trial = equations.work, path.trial
    n, last = trial.delta.shape[0], np.inf
    for turn in range(_CLOSURES):
        move(equations.tables, work, path.state.q, trial.delta, trial.q)
        evaluate_rows(equations, trial.q, trial.v)
        gap = _want_closed(work)
        if gap <= _CLOSED or (turn > 2 and gap <= 1e3 * _CLOSED and gap >= 0.5 * last):
            return True
        if not gap < 1e3:
            return False
        load_gradients(part, work)
        if eliminate(part, False) == 0.0:
            return False
        for i in range(part.rows.shape[0]):
            if part.dependent[i] >= 0:
                trial.delta[part.dependent[i]] += part.G[i, n]
        last = gap
    return False


@kernel
def make_consistent(equations, part, q, v, a, t):
    """(measured rows) => dependent rates and accelerations; leaves the elimination in part. False if it fails."""
    want_rates(equations, t)
    load_gradients(part, equations.work)
    if eliminate(part, False) == 0.0:
        return False
    follow(part, v, True)
    evaluate_rows(equations, q, v)
    want_accelerations(equations, t)
    load_gradients(part, equations.work)
    eliminate(part, False)
    follow(part, a, True)
    return True


@woven
def choose(work, part):
    """(measured rows) Take the dependent unknowns with the largest pivots."""
    part.pivot.slope = 0.0
    if part.rows.shape[0] > 0:
        load_gradients(part, work)
        part.pivot.smallest = eliminate(part, True)


@woven
def judge(work, part, stats, h):
    """(measured rows at the end of a step of h) Take another choice of dependent unknowns if it is much better."""
    if part.rows.shape[0] == 0:
        return
    keep_choice(part)
    load_gradients(part, work)
    worn = eliminate(part, False)
    load_gradients(part, work)
    best = eliminate(part, True)
    # Of one set: which of several that are as good is found next is up to rounding.
    part.pivot.slope = (worn - part.pivot.smallest) / h
    if worn >= _WORN * best:
        restore_choice(part)
        part.pivot.smallest = worn
    else:
        part.pivot.smallest = best
        stats.rechosen += 1


@woven
def singular_ahead(part, h):
    """Whether a step of h would come near a position where no choice of dependent unknowns works."""
    ahead = part.pivot.smallest + h * part.pivot.slope
    return part.rows.shape[0] > 0 and ahead <= _LEFT * part.pivot.smallest
