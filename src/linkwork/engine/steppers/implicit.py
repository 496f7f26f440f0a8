"""Implicit steps by the index-3 augmented Lagrangian (Cuadrado and Dopico, eqs. 1-2 and 21-29).

Positions at the end of a step are sought by Newton's method,

    M z'' + Φᵀ (λ* + α Φ) = Q,    λ* ← λ* + α (Φ + Φ_z Δz) after every iteration Δz,

with the rates and accelerations that the integrator gives for them: generalized-α with spectral radius 1, which is the
trapezoidal rule, or less, which damps what the step cannot resolve. The tangent M + h/2 C + s (K + Φᵀ α Φ), s = h²/4 of
the trapezoidal rule, has the exact derivatives of inertial forces, loads, springs and drives; second derivatives of
constraints are left out: they cost an iteration at most. Multipliers follow the gap that an iteration should leave,
not the one that it does leave, whose curvature times α would be a force out of all proportion; and as long as a tangent
is in use, αΦ pushes along the gradients in it, since what turns out of them is not resisted.

Rates and accelerations are then projected onto the constraints with the same factors. Relative and natural coordinates
differ in what `evaluate` and `look` make of them.
"""

import numpy as np

from ..coordinates.natural import floating_accelerations, floating_state, place_natural
from ..coordinates.observe import read_joints
from ..elements.respond import sample_states, sampling_due, take_samples, up_to_sample
from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel
from ..kernels.skyline import factor, solve
from ..solvers.multipliers import (
    ACCELERATIONS,
    AIM,
    AUXILIARY,
    CHANGE,
    CHANGED,
    DELTA,
    DRIVEN,
    FACTORED,
    FLOW,
    GAP,
    GAP_ROW,
    GAP_TIME,
    HALVED,
    ITERATIONS,
    LAST_GAP,
    LAST_ITERATIONS,
    MOST_ITERATIONS,
    MULTIPLIER,
    OVERRUNS,
    PENALTY,
    PHI,
    RATES,
    RESIDUAL,
    SAFE,
    SLOW_STEPS,
    SOFT,
    STATE,
    STEEPEST,
    TARGET,
    TRIAL_ACCELERATION,
    TRIAL_AUX,
    TRIAL_RATE,
    rate_command,
    scatter,
)
from ..tables import HOLD
from .balance import account, begin_states, evaluate, is_natural, keep_states, move, settle_forces, stiffen
from .onto import ASIDE, NOW, TRIAL, along, begin, project_motion, shove
from .state import OK, finite, untouched

NO_CONVERGENCE = 4
"""How a stretch of steps ended: Newton's method found no end of a step however short."""
JUMP = 1e-2
"""Share of the accelerations by which forces may miss balance before these are found anew."""
_SLOW = 0.1  # contraction beyond which the tangent is made anew
_NEARLY = 1e-5  # share of a step's displacement that may be left after the last iteration
# Of displacements [rad or m]; near singular positions gaps weigh a thousandfold.
_ROUNDING, _NOISE = 1e-14, 1e-11


@kernel
def aim_servos(tables, constraints, work, t, h):
    """Where the coordinates of servos that keep a rate should be at the end of a step."""
    for r in range(work.kept.shape[0]):
        if work.kept[r] == DRIVEN:
            now = rate_command(tables, constraints, constraints.rows[r], t)[0]
            later = rate_command(tables, constraints, constraints.rows[r], t + h)[0]
            work.row[AIM, r] = work.row[TARGET, r] + 0.5 * h * (now + later)


@kernel
def try_end(work, path, h, method):
    """(displacement) => rates, auxiliary accelerations and accelerations at the end of a step; method: β, γ, αm, αf."""
    beta, gamma, am, af = method[0], method[1], method[2], method[3]
    x, y = work.x, path.y
    for i in range(x.shape[1]):
        aux = (x[DELTA, i] - h * y[RATES, i]) / (beta * h * h) - (0.5 - beta) / beta * y[AUXILIARY, i]
        x[TRIAL_AUX, i] = aux
        x[TRIAL_RATE, i] = y[RATES, i] + h * ((1.0 - gamma) * y[AUXILIARY, i] + gamma * aux)
        mixed = (1.0 - am) * aux + am * y[AUXILIARY, i] - af * y[ACCELERATIONS, i]
        x[TRIAL_ACCELERATION, i] = mixed / (1.0 - af)


@inlined
def converged(turn, size, ratio, enough):
    """Whether corrections are small enough, or the next one will be, or they are rounding and will not get smaller."""
    # The first correction may be a leap that says little of how fast the next ones shrink.
    if size <= enough or (turn > 0 and ratio < 0.5 and size * max(ratio, _SLOW * _SLOW) <= enough):
        return True
    return turn > 1 and size <= _NOISE and ratio > 0.3


@kernel
def attempt(tables, constraints, work, path, stats, t, h, method, tolerance, limit):
    """Newton's method for the end of one step of size h; returns whether it converged, everything at the trial."""
    x = work.x
    n, delta, change, residual = x.shape[1], x[DELTA], x[CHANGE], x[RESIDUAL]
    s = (
        method[0] * h * h * (1.0 - method[3]) / (1.0 - method[2])
    )  # what a position is worth as an acceleration
    on_v = s * method[1] / (method[0] * h)
    for i in range(n):
        delta[i] = h * path.y[RATES, i] + 0.5 * h * h * path.y[AUXILIARY, i]
    aim_servos(tables, constraints, work, t, h)
    begin_states(constraints, work, h)
    last, ratio, size, moved, end = np.inf, 0.0, 0.0, 0.0, t + (1.0 - ASIDE) * h
    for turn in range(limit):
        try_end(work, path, h, method)
        move(tables, work, path.q[NOW], delta, path.q[TRIAL])
        anew = turn == 0 or ratio > _SLOW
        evaluate(
            tables, constraints, work, path.q[TRIAL], x[TRIAL_RATE], x[TRIAL_ACCELERATION], end, on_v, s, anew
        )  # fmt: skip
        if anew:
            stiffen(work, s)
            factor(work.matrix)
            stats[FACTORED] += 1
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                if work.kept[r] == DRIVEN:
                    work.row[PHI, r] -= work.row[AIM, r]
                scatter(work, r, work.row[MULTIPLIER, r], residual)
                shove(work, r, work.row[PENALTY, r] * work.row[PHI, r], residual)
        for i in range(n):
            change[i] = -s * residual[i]
        solve(work.matrix, change)
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                work.row[MULTIPLIER, r] += work.row[PENALTY, r] * (work.row[PHI, r] + along(work, r, change))
        size, moved = 0.0, 0.0
        for i in range(n):
            delta[i] += change[i]
            size, moved = max(size, abs(change[i])), max(moved, abs(delta[i]))
        if not size < 1e6:  # or not a number
            return False
        ratio = size / last if turn > 0 else 0.0
        stats[LAST_ITERATIONS] = turn + 1
        enough = tolerance * moved + _ROUNDING
        if converged(turn, size, ratio, enough):
            return True
        if turn > 3 and ratio > 2.0:
            return False
        last = size
    # At a singular position penalties resist little, and a gap closes slowly: what is left of it is told by the ratio.
    if ratio < 1.0 and size * ratio <= _NEARLY * moved * (1.0 - ratio):
        stats[SLOW_STEPS] += 1
        return True
    return False


@kernel
def local_error(constraints, work, path, h):
    """Error of a step: what accelerations that changed made of it, a third of it being that of the trapezoidal rule;
    of states of elements against 1 + |x|."""
    worst, rows = 0.0, constraints.rows
    for r in range(rows.shape[0]):
        if rows[r].state >= 0:
            bent = rows[r].x - work.row[STATE, r] - h * work.row[FLOW, r]
            worst = max(worst, abs(bent) / (1.0 + abs(rows[r].x)))
    for i in range(work.x.shape[1]):
        straight_on = h * path.y[RATES, i] + 0.5 * h * h * path.y[AUXILIARY, i]
        worst = max(worst, abs(work.x[DELTA, i] - straight_on))
    return worst / 3.0


@kernel
def take(tables, constraints, work, path, t, h, method):
    """(converged trial) => the state at its end, on the constraints, and the work done on the way."""
    x, n = work.x, work.x.shape[1]
    s = method[0] * h * h * (1.0 - method[3]) / (1.0 - method[2])
    supplied, dissipated = work.report[2], work.report[3]
    try_end(work, path, h, method)
    move(tables, work, path.q[NOW], x[DELTA], path.q[TRIAL])
    v, a, q = path.y[RATES], path.y[ACCELERATIONS], path.q[NOW]
    for i in range(q.shape[0]):
        q[i] = path.q[TRIAL, i]
    for i in range(n):
        v[i], a[i] = x[TRIAL_RATE, i], x[TRIAL_ACCELERATION, i]
    project_motion(tables, constraints, work, q, v, a, t + h, s)
    for i in range(n):
        path.y[AUXILIARY, i] = x[TRIAL_AUX, i] + a[i] - x[TRIAL_ACCELERATION, i]
    for r in range(work.kept.shape[0]):
        work.row[TARGET, r] = work.row[AIM, r]
    settle_forces(tables, constraints, work, q, v, a, t + (1.0 - ASIDE) * h)
    path.energy[0] += 0.5 * h * (supplied + work.report[2])
    path.energy[1] += 0.5 * h * (dissipated + work.report[3])
    keep_states(tables, constraints, work, t + h)
    if timed(tables, constraints):
        _meet_jump(tables, constraints, work, path, t + h, h, s)


@kernel
def timed(tables, constraints):
    """Whether forces may change with time alone, and so jump."""
    for i in range(tables.loads.shape[0]):
        if tables.loads[i].signal >= 0 or tables.loads[i].function != 0:
            return True
    for r in range(constraints.rows.shape[0]):
        if constraints.rows[r].signal >= 0 or constraints.rows[r].function != 0:
            return True
    return False


@kernel
def _meet_jump(tables, constraints, work, path, t, h, s):
    """If forces just after t do not balance the accelerations, find these anew."""
    q, v, a, residual = path.q[NOW], path.y[RATES], path.y[ACCELERATIONS], work.x[RESIDUAL]
    evaluate(tables, constraints, work, q, v, a, t + ASIDE * h, 0.0, 0.0, False)
    for r in range(work.kept.shape[0]):
        if work.kept[r] != SOFT:
            scatter(work, r, work.row[MULTIPLIER, r], residual)
    solve(work.matrix, residual)
    miss, size = 0.0, 0.0
    for i in range(residual.shape[0]):
        miss, size = max(miss, abs(residual[i])), max(size, abs(a[i]))
    if miss > JUMP * size:
        begin(tables, constraints, work, path, t, h)
    else:
        account(constraints, work)


@kernel
def begin_span(tables, constraints, work, path, t, h):
    """(measured rows) Sample elements that are due at t, whose forces jump; how far the step may go from there."""
    if sampling_due(constraints, t):
        take_samples(tables, constraints, t)
        begin(tables, constraints, work, path, t, h)
    return up_to_sample(constraints, t, h)


@kernel
def count_step(path, clock, stats, h, iterations):
    """A whole step has been taken: time, counts, and whether rates are sane."""
    stats[ITERATIONS] += iterations
    stats[MOST_ITERATIONS] = max(stats[MOST_ITERATIONS], iterations)
    stats[LAST_ITERATIONS] = iterations
    clock.steps += 1
    clock.taken += 1
    clock.now = clock.origin + clock.steps * h
    return finite(path.y[RATES], clock, h)


@kernel
def run_implicit(tables, constraints, every_row, work, path, clock, stats, h, options, targets, out):
    """Steps of size h with a sample at each step count in `targets`; returns (samples, status).

    options: β, γ, αm, αf, tolerance of Newton's method, limits of its iterations and of halvings, budget of a step in
    clock ticks (0 for none), error that a step may make [rad or m], and how often it is halved for that. A step whose
    iterations do not converge or whose error is too large is taken in halves, and these in halves, up to the limits.
    """
    tolerance, limit, halvings, budget = options[4], int(options[5]), int(options[6]), options[7]
    refinements = int(options[9])
    if not untouched(path.seen, path.q[NOW], path.y[RATES], constraints.inputs, False):
        begin(tables, constraints, work, path, clock.now, h)
        stats[CHANGED] += 1
    for row in range(targets.shape[0]):
        while clock.steps < targets[row]:
            began = cycles() if budget > 0.0 else 0
            t0, left = clock.origin + clock.steps * h, h
            span = begin_span(tables, constraints, work, path, t0, left)
            parts, done, level, iterations = 1, 0, 0, 0
            while done < parts:
                part = span / parts
                t = t0 + done * part
                for r in range(work.kept.shape[0]):
                    work.row[SAFE, r] = work.row[MULTIPLIER, r]
                ended = attempt(tables, constraints, work, path, stats, t, part, options, tolerance, limit)
                iterations += stats[LAST_ITERATIONS]
                if ended and (
                    level >= refinements or local_error(constraints, work, path, part) <= options[8]
                ):
                    take(tables, constraints, work, path, t, part, options)
                    done += 1
                    if done == parts and span < left:  # an element is sampled within the step
                        t0, left = t0 + span, left - span
                        span = begin_span(tables, constraints, work, path, t0, left)
                        parts, done, level = 1, 0, 0
                    continue
                for r in range(work.kept.shape[0]):
                    work.row[MULTIPLIER, r] = work.row[SAFE, r]
                    work.row[STEEPEST, r] = 0.0  # a trial that goes astray may have seen anything
                level += 1
                if level > max(halvings, refinements) and not ended:
                    clock.now = t
                    return row, NO_CONVERGENCE
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


@kernel
def sample(tables, constraints, every_row, work, path, stats, t, out, row):
    """State, accelerations, forces of rows, coordinates of all joints and the largest gap, measured."""
    q, y = path.q[NOW], path.y
    out.t[row] = t
    if is_natural(work):
        place_natural(tables, work.natural, q, y[RATES])
        floating_state(tables, work.natural, out.q[row], out.v[row])
        floating_accelerations(tables, work.natural, y[ACCELERATIONS], out.a[row])
    else:
        for i in range(q.shape[0]):
            out.q[row, i] = q[i]
        for i in range(y.shape[1]):
            out.v[row, i] = y[RATES, i]
            out.a[row, i] = y[ACCELERATIONS, i]
    out.work[row, 0], out.work[row, 1] = path.energy[0], path.energy[1]
    for i in range(constraints.rows.shape[0]):
        out.forces[row, i] = constraints.rows[i].force
    sample_states(constraints, out.states[row])
    strain = read_joints(
        tables, every_row, out.q[row], out.v[row], out.t[row], out.values[row], out.rates[row]
    )
    gap, rows = 0.0, every_row.rows
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD and abs(rows[i].phi) > gap:
            gap = abs(rows[i].phi)
            if gap > stats[GAP]:
                stats[GAP], stats[GAP_ROW], stats[GAP_TIME] = gap, i, t
    stats[LAST_GAP] = gap
    out.solver[row, 0], out.solver[row, 1], out.solver[row, 2] = strain, stats[LAST_ITERATIONS], gap
