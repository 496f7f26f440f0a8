"""Implicit steps in natural, relative or independent coordinates: the one loop of `hybrid`, `global`, `topological`.

`part` is the partition of relative coordinates into dependent and independent ones, or None where constraints are met
by multipliers and penalties: each is compiled on its own, without the branches of the other. See `newton`.
"""

from ..coordinates.natural import floating_accelerations, floating_state, place_natural
from ..elements.respond import sampling_due, take_samples, up_to_sample
from ..kernels.clock import cycles
from ..kernels.jit import kernel, woven
from ..solvers.multipliers import keep_multipliers, miss_penalised, restore_multipliers
from ..solvers.reduction import find_multipliers, miss_independent
from .balance import evaluate, is_natural, move, settle_forces
from .independent import choose, judge, make_consistent, singular_ahead
from .newton import find_end
from .onto import begin, project_motion
from .path import ASIDE, on_position, try_end
from .responses import account, keep_states, timed
from .samples import write_sample
from .state import DISSIPATED, OK, SUPPLIED, count_step, finite, untouched

NO_CONVERGENCE, SINGULAR = 4, 5
"""How a stretch of steps ended: Newton's method found no end of a step however short; no choice of independent
coordinates works any more."""
_JUMP = 1e-2  # share of the accelerations by which forces may miss balance before these are found anew


@woven
def _local_error(constraints, work, path, h):
    """Error of a step: what accelerations that changed made of it, a third of it being that of the trapezoidal rule;
    of states of elements against 1 + |x|."""
    worst, rows = 0.0, constraints.rows
    for r in range(rows.shape[0]):
        if rows[r].state >= 0:
            bent = rows[r].x - work.rows[r].state - h * work.rows[r].flow
            worst = max(worst, abs(bent) / (1.0 + abs(rows[r].x)))
    v, aux, delta = path.state.v, path.aux, path.trial.delta
    for i in range(delta.shape[0]):
        straight_on = h * v[i] + 0.5 * h * h * aux[i]
        worst = max(worst, abs(delta[i] - straight_on))
    return worst / 3.0


@woven
def _take(equations, part, path, options, t, h):
    """(converged trial) => the state at its end, on the constraints, and the work done on the way."""
    constraints, work, state, trial = equations.constraints, equations.work, path.state, path.trial
    q, v, a, before = state.q, state.v, path.a, t + (1.0 - ASIDE) * h
    supply, loss = work.report.supply, work.report.loss
    try_end(path, options, h)
    if part is None:
        move(equations.tables, work, q, trial.delta, trial.q)
    for i in range(q.shape[0]):
        q[i] = trial.q[i]
    for i in range(v.shape[0]):
        v[i], a[i] = trial.v[i], trial.a[i]
    if part is None:
        project_motion(equations, q, v, a, t + h, on_position(options, h))
        settle_forces(equations, q, v, a, before)
    else:
        make_consistent(equations, part, q, v, a, t + h)
        evaluate(equations, q, v, a, before, 0.0, 0.0, False)
        find_multipliers(work, part)
        account(constraints, work)
    for i in range(v.shape[0]):
        path.aux[i] = trial.aux[i] + a[i] - trial.a[i]
    for r in range(work.kept.shape[0]):
        work.rows[r].target = work.rows[r].aim
    state.work[SUPPLIED] += 0.5 * h * (supply + work.report.supply)
    state.work[DISSIPATED] += 0.5 * h * (loss + work.report.loss)
    keep_states(equations, t + h)
    if timed(equations.tables, constraints):
        _meet_jump(equations, part, path, t + h, h)


@woven
def _meet_jump(equations, part, path, t, h):
    """If forces just after t do not balance the accelerations, find these anew."""
    work, state = equations.work, path.state
    evaluate(equations, state.q, state.v, path.a, t + ASIDE * h, 0.0, 0.0, part is not None)
    if part is None:
        miss, size = miss_penalised(work, path.a)
    else:
        miss, size = miss_independent(work, part, path.a)
    if miss > _JUMP * size:
        begin(equations, path, t, h)
    else:
        account(equations.constraints, work)


@woven
def _begin_span(equations, path, t, h):
    """(measured rows) Sample elements that are due at t, whose forces jump; how far the step may go from there."""
    constraints = equations.constraints
    if sampling_due(constraints, t):
        take_samples(equations.tables, constraints, t)
        begin(equations, path, t, h)
    return up_to_sample(constraints, t, h)


@woven
def _step(equations, part, path, stats, options):
    """One step, in halves and halves of these where iterations do not converge or the error is too large, up to the
    limits; returns a status."""
    constraints, work, clock = equations.constraints, equations.work, path.state.clock
    t0, left, iterations, singular = clock.origin + clock.steps * options.step, options.step, 0, False
    span = _begin_span(equations, path, t0, left)
    parts, done, level = 1, 0, 0
    while done < parts:
        h = span / parts
        t = t0 + done * h
        if part is None:
            keep_multipliers(work)
        else:
            singular = singular_ahead(part, h)
        ended = False
        if not singular:
            ended = find_end(equations, part, path, stats, options, t, h)
            iterations += stats.last_iterations
        if ended and (
            level >= options.refinements or _local_error(constraints, work, path, h) <= options.error
        ):
            _take(equations, part, path, options, t, h)
            if part is not None:
                judge(work, part, stats, h)
            done += 1
            if done == parts and span < left:  # an element is sampled within the step
                t0, left = t0 + span, left - span
                span = _begin_span(equations, path, t0, left)
                parts, done, level = 1, 0, 0
            continue
        if part is None:
            restore_multipliers(work)
        level += 1
        if level > max(options.halvings, options.refinements) and not ended:
            clock.now = t
            return SINGULAR if singular else NO_CONVERGENCE
        stats.halved += 1
        parts, done = 2 * parts, 2 * done
    stats.iterations += iterations
    stats.most_iterations = max(stats.most_iterations, iterations)
    stats.last_iterations = iterations
    count_step(clock, options.step)
    return finite(path.state.v, clock, options.step)


@kernel
def run_implicit(equations, every_row, part, path, stats, options, targets, out):
    """Steps of equal size with a sample at each step count in `targets`; returns (samples, status).

    every_row: the constraints with redundant rows, in which gaps are measured; part: a partition, or None.
    """
    state, inputs, clock = path.state, equations.constraints.inputs, path.state.clock
    if not untouched(path.seen, state.q, state.v, inputs, False):
        begin(equations, path, clock.now, options.step)
        if part is not None:
            choose(equations.work, part)
    for k in range(targets.shape[0]):
        while clock.steps < targets[k]:
            began = cycles() if options.budget > 0.0 else 0
            status = _step(equations, part, path, stats, options)
            if options.budget > 0.0 and cycles() - began > options.budget:
                stats.overruns += 1
            if status != OK:
                return k, status
        _sample(equations, every_row, path, stats, out, k)
    untouched(path.seen, state.q, state.v, inputs, True)
    return targets.shape[0], OK


@woven
def _sample(equations, every_row, path, stats, out, k):
    """Sample k, and what the statistics keep of it; natural coordinates are told as those of floating bodies."""
    tables, constraints, work = equations
    q, v, a, t = path.state.q, path.state.v, path.a, path.state.clock.now
    if is_natural(work):
        place_natural(tables, work.natural, q, v)
        q, v, a = out.q[k], out.v[k], out.a[k]
        floating_state(tables, work.natural, q, v)
        floating_accelerations(tables, work.natural, path.a, a)
    stats.last_gap, worst = write_sample(
        tables, constraints, every_row, q, v, a, path.state.work, t, stats.last_iterations, out, k
    )
    if stats.last_gap > stats.gap:
        stats.gap, stats.gap_row, stats.gap_time = stats.last_gap, worst, t
