"""Implicit steps in independent coordinates: the semi-recursive method with its second velocity projection.

The independent rates among those of the joints are the unknowns, v = R v_i; the others follow from the constraints, in
position, velocity and acceleration. Newton's method on Rᵀ (M z'' - Q) = 0 with the tangent Rᵀ (M + h/2 C + s K) R.
Where the constraints lose rank no choice of independent coordinates works: a step that would reach such a position is
halved again and again, and then refused.
"""

import numpy as np

from ..coordinates.tree import place, retract
from ..kernels.clock import cycles
from ..kernels.jit import kernel
from ..kernels.skyline import FIRST, LOWER, START, UNKNOWN, UPPER
from ..solvers.multipliers import (
    ACCELERATIONS,
    AIM,
    AUXILIARY,
    CHANGED,
    DELTA,
    FACTORED,
    HALVED,
    LAST_ITERATIONS,
    MULTIPLIER,
    OVERRUNS,
    RATES,
    RECHOSEN,
    RESIDUAL,
    SMALLEST,
    SMALLEST_ROW,
    SMALLEST_TIME,
    TARGET,
    TRIAL_ACCELERATION,
    TRIAL_AUX,
    TRIAL_RATE,
    rate_command,
)
from ..solvers.partition import eliminate, follow, gather_back, load_gradients, solve_dense
from ..tables import SERVO_RATE
from .balance import account, begin_states, evaluate, keep_states, look
from .implicit import (
    JUMP,
    NO_CONVERGENCE,
    aim_servos,
    begin_span,
    converged,
    count_step,
    local_error,
    sample,
    timed,
    try_end,
)
from .onto import ASIDE, NOW, TRIAL, begin
from .state import OK, untouched

SINGULAR = 5
"""How a stretch of steps ended: no choice of independent coordinates works any more."""

ENDS, CHANGES = range(2)
"""Of part.size: smallest pivot where the last step ended, and how fast it changes [1/s]."""
_CLOSED = 1e-13  # gaps after a closure [rad or m]
_CLOSURES = 20
_ROUNDING = 1e-14
_WORN = 0.3  # share of the best choice's pivot below which a set is given up
_LEFT = 0.05  # share of the smallest pivot that a step must leave


@kernel
def _want_rates(tables, constraints, part, n, t):
    for i in range(part.rows.shape[0]):
        part.G[i, n] = rate_command(tables, constraints, constraints.rows[part.rows[i]], t)[0]


@kernel
def _want_accelerations(tables, constraints, part, n, t):
    for i in range(part.rows.shape[0]):
        row = constraints.rows[part.rows[i]]
        part.G[i, n] = rate_command(tables, constraints, row, t)[1] - row.bias


@kernel
def _close(tables, constraints, work, part, path, v):
    """Dependent displacements for the independent ones; leaves rows measured at the trial. False if it fails."""
    n, delta = work.x.shape[1], work.x[DELTA]
    last = np.inf
    for turn in range(_CLOSURES):
        retract(tables.dofs, path.q[NOW], delta, path.q[TRIAL])
        place(tables.dofs, tables.islands, path.q[TRIAL], v)
        look(tables, constraints, work, path.q[TRIAL], v)
        load_gradients(part, work)
        gap = 0.0
        for i in range(part.rows.shape[0]):
            r = part.rows[i]
            part.G[i, n] = -constraints.rows[r].phi
            if constraints.rows[r].role == SERVO_RATE:
                part.G[i, n] += work.row[AIM, r]
            gap = max(gap, abs(part.G[i, n]))
        if gap <= _CLOSED or (turn > 2 and gap <= 1e3 * _CLOSED and gap >= 0.5 * last):
            return True
        if not gap < 1e3:
            return False
        if eliminate(part, False)[0] == 0.0:
            return False
        for i in range(part.rows.shape[0]):
            if part.dependent[i] >= 0:
                delta[part.dependent[i]] += part.G[i, n]
        last = gap
    return False


@kernel
def _consistent(tables, constraints, work, part, q, v, a, t):
    """(measured rows) => dependent rates and accelerations; leaves the elimination in part. False if it fails."""
    n = v.shape[0]
    load_gradients(part, work)
    _want_rates(tables, constraints, part, n, t)
    if eliminate(part, False)[0] == 0.0:
        return False
    follow(part, v, True)
    place(tables.dofs, tables.islands, q, v)
    look(tables, constraints, work, q, v)
    load_gradients(part, work)
    _want_accelerations(tables, constraints, part, n, t)
    eliminate(part, False)
    follow(part, a, True)
    return True


@kernel
def _reduce(matrix, part):
    """reduced = Rᵀ A R of a sparse matrix A, element by element: R has a one and the dependent unknowns' shares."""
    shape, values, G = matrix.shape, matrix.values, part.G
    k = part.independent.shape[0]
    for a in range(k):
        for b in range(k):
            part.reduced[a, b] = 0.0
    for i in range(shape.shape[1]):
        for j in range(shape[FIRST, i], i + 1):
            place_ij = shape[START, i] + j
            x, y = shape[UNKNOWN, i], shape[UNKNOWN, j]
            _spread(part, G, x, y, values[LOWER, place_ij], k)
            if i != j:
                _spread(part, G, y, x, values[UPPER, place_ij], k)


@kernel
def _share(part, G, x, a):
    """Element of R: how unknown x follows independent unknown number a."""
    j = part.independent[a]
    if part.free[x] != 0:
        return 1.0 if x == j else 0.0
    for i in range(part.dependent.shape[0]):
        if part.dependent[i] == x:
            return -G[i, j]
    return 0.0


@kernel
def _spread(part, G, x, y, value, k):
    if value == 0.0:
        return
    for a in range(k):
        left = value * _share(part, G, x, a)
        if left != 0.0:
            for b in range(k):
                part.reduced[a, b] += left * _share(part, G, y, b)


@kernel
def _attempt(tables, constraints, work, part, path, stats, t, h, options):
    """Newton's method for the end of one step; returns whether it converged, everything at the trial."""
    x = work.x
    delta, v, a, residual = x[DELTA], x[TRIAL_RATE], x[TRIAL_ACCELERATION], x[RESIDUAL]
    n, k = x.shape[1], part.independent.shape[0]
    s = options[0] * h * h * (1.0 - options[3]) / (1.0 - options[2])
    on_v = s * options[1] / (options[0] * h)
    for i in range(n):
        delta[i] = h * path.y[RATES, i] + 0.5 * h * h * path.y[AUXILIARY, i]
    aim_servos(tables, constraints, work, t, h)
    begin_states(constraints, work, h)
    last = np.inf
    for turn in range(int(options[5])):
        stats[LAST_ITERATIONS] = turn + 1
        if not _close(tables, constraints, work, part, path, v):
            return False
        try_end(work, path, h, options)
        if not _consistent(tables, constraints, work, part, path.q[TRIAL], v, a, t + h):
            return False
        evaluate(tables, constraints, work, path.q[TRIAL], v, a, t + (1.0 - ASIDE) * h, on_v, s, True)
        _reduce(work.matrix, part)
        gather_back(part, residual, part.x[0])
        stats[FACTORED] += 1
        for i in range(k):
            part.reduced[i, k] = -s * part.x[0, i]
        solve_dense(part.reduced)
        for i in range(n):
            part.x[1, i] = 0.0
        for i in range(k):
            part.x[1, part.independent[i]] = part.reduced[i, k]
        follow(part, part.x[1], False)
        size, moved = 0.0, 0.0
        for i in range(n):
            delta[i] += part.x[1, i]
            size, moved = max(size, abs(part.x[1, i])), max(moved, abs(delta[i]))
        if not size < 1e6:
            return False
        ratio = size / last if turn > 0 else 0.0
        enough = options[4] * moved + _ROUNDING
        if converged(turn, size, ratio, enough):
            return _close(tables, constraints, work, part, path, v)
        if turn > 3 and ratio > 2.0:
            return False
        last = size
    return False


@kernel
def _take(tables, constraints, work, part, path, t, h, options):
    """(converged trial) => the state at its end, and the work done on the way."""
    x, n = work.x, work.x.shape[1]
    supplied, dissipated = work.report[2], work.report[3]
    try_end(work, path, h, options)
    v, a, q = path.y[RATES], path.y[ACCELERATIONS], path.q[NOW]
    for i in range(q.shape[0]):
        q[i] = path.q[TRIAL, i]
    for i in range(n):
        path.y[AUXILIARY, i] = x[TRIAL_AUX, i] - x[TRIAL_ACCELERATION, i]
        v[i], a[i] = x[TRIAL_RATE, i], x[TRIAL_ACCELERATION, i]
    _consistent(tables, constraints, work, part, q, v, a, t + h)
    for i in range(n):
        path.y[AUXILIARY, i] += a[i]
    for r in range(constraints.rows.shape[0]):
        work.row[TARGET, r] = work.row[AIM, r]
    evaluate(tables, constraints, work, q, v, a, t + (1.0 - ASIDE) * h, 0.0, 0.0, False)
    _react(work, part)
    account(constraints, work)
    path.energy[0] += 0.5 * h * (supplied + work.report[2])
    path.energy[1] += 0.5 * h * (dissipated + work.report[3])
    keep_states(tables, constraints, work, t + h)
    if timed(tables, constraints):
        _meet_jump(tables, constraints, work, part, path, t + h, h)


@kernel
def _meet_jump(tables, constraints, work, part, path, t, h):
    """If forces just after t do not balance the accelerations, find these anew."""
    q, v, a, residual = path.q[NOW], path.y[RATES], path.y[ACCELERATIONS], work.x[RESIDUAL]
    evaluate(tables, constraints, work, q, v, a, t + ASIDE * h, 0.0, 0.0, True)
    _reduce(work.matrix, part)
    gather_back(part, residual, part.x[0])
    k, miss, size = part.independent.shape[0], 0.0, 0.0
    for i in range(k):
        part.reduced[i, k] = part.x[0, i]
    solve_dense(part.reduced)
    for i in range(k):
        miss, size = max(miss, abs(part.reduced[i, k])), max(size, abs(a[part.independent[i]]))
    if miss > JUMP * size:
        begin(tables, constraints, work, path, t, h)
    else:
        account(constraints, work)


@kernel
def _react(work, part):
    """Multipliers from the dependent unknowns' equations: r_d + G_dᵀ λ = 0."""
    n, m, residual = work.x.shape[1], part.rows.shape[0], work.x[RESIDUAL]
    for j in range(m):
        total = 0.0
        for i in range(m):
            if part.dependent[i] >= 0:
                total -= part.G[i, n + 1 + j] * residual[part.dependent[i]]
        work.row[MULTIPLIER, part.rows[j]] = total


@kernel
def _judge(tables, constraints, work, part, path, stats, t, h):
    """(measured rows at the state) => whether the set in use still serves, else the best one is taken."""
    if part.rows.shape[0] == 0:
        return
    for i in range(part.rows.shape[0]):
        part.kept[i] = part.dependent[i]
    load_gradients(part, work)
    worn, _ = eliminate(part, False)
    load_gradients(part, work)
    best, row = eliminate(part, True)
    if h > 0.0:  # of one set: which of several that are as good is found next is up to rounding
        part.size[CHANGES] = (worn - part.size[ENDS]) / h
    if stats[SMALLEST_ROW] < 0.0 or best < stats[SMALLEST]:
        stats[SMALLEST], stats[SMALLEST_ROW], stats[SMALLEST_TIME] = best, part.rows[row], t
    part.size[ENDS] = best
    if h > 0.0 and worn >= _WORN * best:
        _return_to(part)
        part.size[ENDS] = worn
    elif h > 0.0:
        stats[RECHOSEN] += 1


@kernel
def _return_to(part):
    """Go on with the set that was in use."""
    for j in range(part.free.shape[0]):
        part.free[j] = 1
    for i in range(part.rows.shape[0]):
        part.dependent[i] = int(part.kept[i])
        if part.dependent[i] >= 0:
            part.free[part.dependent[i]] = 0
    k = 0
    for j in range(part.free.shape[0]):
        if part.free[j] != 0:
            part.independent[k] = j
            k += 1


@kernel
def run_topological(tables, constraints, every_row, work, part, path, clock, stats, h, options, targets, out):
    """Steps of size h with a sample at each step count in `targets`; returns (samples, status).

    options: as for `run_implicit`.
    """
    halvings, budget, bound = int(options[6]), options[7], part.rows.shape[0] > 0
    refinements = int(options[9])
    if not untouched(path.seen, path.q[NOW], path.y[RATES], constraints.inputs, False):
        begin(tables, constraints, work, path, clock.now, h)
        part.size[CHANGES] = 0.0
        _judge(tables, constraints, work, part, path, stats, clock.now, 0.0)
        stats[CHANGED] += 1
    for row in range(targets.shape[0]):
        while clock.steps < targets[row]:
            began = cycles() if budget > 0.0 else 0
            t0, left = clock.origin + clock.steps * h, h
            span = begin_span(tables, constraints, work, path, t0, left)
            parts, done, level, iterations = 1, 0, 0, 0
            while done < parts:
                step = span / parts
                t = t0 + done * step
                ahead = part.size[ENDS] + step * part.size[CHANGES]
                singular = bound and ahead <= _LEFT * part.size[ENDS]
                ended = False
                if not singular:
                    ended = _attempt(tables, constraints, work, part, path, stats, t, step, options)
                    iterations += stats[LAST_ITERATIONS]
                if ended and (
                    level >= refinements or local_error(constraints, work, path, step) <= options[8]
                ):
                    _take(tables, constraints, work, part, path, t, step, options)
                    _judge(tables, constraints, work, part, path, stats, t + step, step)
                    done += 1
                    if done == parts and span < left:  # an element is sampled within the step
                        t0, left = t0 + span, left - span
                        span = begin_span(tables, constraints, work, path, t0, left)
                        parts, done, level = 1, 0, 0
                    continue
                level += 1
                if level > max(halvings, refinements) and not ended:
                    clock.now = t
                    return row, SINGULAR if singular else NO_CONVERGENCE
                stats[HALVED] += 1
                parts, done = 2 * parts, 2 * done
            if budget > 0.0 and cycles() - began > budget:
                stats[OVERRUNS] += 1
            status = count_step(path, clock, stats, h, iterations)
            if status != OK:
                return row, status
        sample(tables, constraints, every_row, work, path, stats, clock.now, out, row)
    untouched(path.seen, path.q[NOW], path.y[RATES], constraints.inputs, True)
    return targets.shape[0], OK
