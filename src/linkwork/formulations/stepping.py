"""Steps of the direct solver: Adams, Runge-Kutta or semi-implicit Euler, onto the constraints, from event to event.

Every step ends on the constraints (`arrive`) with the accelerations there, which the next one begins with. In smooth motion
one evaluation a step is enough: velocities by Adams-Bashforth, then positions by Adams-Moulton, both of order four; for
oscillations that pair is stable up to ω h = 0.9 and never gains energy. Runge-Kutta steps begin it and take over wherever
predictor and corrector differ too much. A joint that comes to rest against dry friction, or a limit that is hit, ends a
step early: the moment is located, the mode of the row changes, and the rest of the step begins anew, so that order is kept
between events. Where events crowd, what is left of the step is taken by impulses (semi-implicit Euler), which need no times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.factor import solve_inward
from ..coordinates.observe import read_joints
from ..coordinates.tree import local_rate, retract
from ..integrate import OK, TOO_SMALL, error_norm, finite, sample
from ..kernels.clock import cycles
from ..kernels.jit import kernel
from ..kernels.math3 import quat_log, quat_mul, rotation_vector_rate
from ..solvers.aim import aim, audit
from ..solvers.box import solve_box
from ..tables import BALL, FREE, FRICTION, GIVEN, HELD, HOLD, LIMIT, LOW, SERVO_PLACE, SERVO_RATE
from .direct import STOPPED, TOUCH, add_response, arrive, couple, evaluate, gather, outward, set_modes

EULER, RUNGE_KUTTA, ADAMS, ADAPTIVE = range(4)
# Predictor and corrector may differ by this share of 1 + |v| before a Runge-Kutta step is taken instead.
_APART = 1e-6
_EVENTS = 10  # in one step, before the rest of it is taken by impulses
_SEARCHES = 8  # for the time of one event
_STILL = 1e-11  # a located event is this near [m, rad, m/s or rad/s]

(
    EVALUATIONS, EVENTS, EULER_STEPS, UNSETTLED, RATIO, RATIO_ROW, RATIO_TIME, GAP, GAP_ROW, GAP_TIME, OVERRUNS, LAST,
    LAST_GAP, UNSETTLED_TIME, REDONE,
) = range(15)  # fmt: skip
STATS = 15


class History(NamedTuple):
    """Derivatives at the last four points, newest first, and what they belong to."""

    f: np.ndarray
    """(v, accelerations, power) of each."""
    q: np.ndarray
    a: np.ndarray
    """Accelerations at the state being looked at."""
    count: np.ndarray
    """[how many are valid]"""
    seen: np.ndarray
    """q, v and commands at the end of the last call: if they differ, somebody wrote to them."""


def new_history(nq: int, nv: int, inputs: int) -> History:
    """An empty history."""
    unseen = np.full(nq + nv + inputs, np.nan)
    return History(np.zeros((4, 2 * nv + 2)), np.zeros((4, nq)), np.zeros(nv), np.zeros(1, np.int64), unseen)


# --- smooth steps: from state (history.f[0] holds its derivative) to (state.q_stage, state.y) ---


@kernel
def _adams(tables, state, history, h):
    """v by Adams-Bashforth, displacement by Adams-Moulton with that v."""
    n = state.v.shape[0]
    y, f = state.y, history.f
    for i in range(n):
        new = state.v[i] + h / 24.0 * (
            55.0 * f[0, n + i] - 59.0 * f[1, n + i] + 37.0 * f[2, n + i] - 9.0 * f[3, n + i]
        )
        y[n + i] = new
        y[i] = h / 24.0 * (9.0 * new + 19.0 * f[0, i] - 5.0 * f[1, i] + f[2, i])
    if state.q.shape[0] != n:
        _adams_balls(tables.dofs, state, history, h)
    retract(tables.dofs, state.q, y, state.q_stage)


@kernel
def _adams_balls(dofs, state, history, h):
    """The same on the group of rotations: past rates in the local coordinates of the present pose."""
    n = state.v.shape[0]
    y, f, q = state.y, history.f, state.q
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        if dof.motion != BALL:
            continue
        i, j = dof.q, dof.v - dof.column
        back = (q[i], -q[i + 1], -q[i + 2], -q[i + 3])
        w0 = (f[0, j], f[0, j + 1], f[0, j + 2])
        w1 = _seen_from(back, history.q[1], i, f[1], j)
        w2 = _seen_from(back, history.q[2], i, f[2], j)
        w3 = _seen_from(back, history.q[3], i, f[3], j)
        predicted = (
            h / 24.0 * (55.0 * w0[0] - 59.0 * w1[0] + 37.0 * w2[0] - 9.0 * w3[0]),
            h / 24.0 * (55.0 * w0[1] - 59.0 * w1[1] + 37.0 * w2[1] - 9.0 * w3[1]),
            h / 24.0 * (55.0 * w0[2] - 59.0 * w1[2] + 37.0 * w2[2] - 9.0 * w3[2]),
        )
        new = rotation_vector_rate(predicted, (y[n + j], y[n + j + 1], y[n + j + 2]))
        for k in range(3):
            y[j + k] = h / 24.0 * (9.0 * new[k] + 19.0 * w0[k] - 5.0 * w1[k] + w2[k])


@kernel
def _seen_from(back, q, i, f, j):
    """Rate of the local coordinates at an earlier pose, from its angular velocity."""
    phi = quat_log(quat_mul(back, (q[i], q[i + 1], q[i + 2], q[i + 3])))
    return rotation_vector_rate(phi, (f[j], f[j + 1], f[j + 2]))


@kernel
def _runge_kutta(tables, constraints, pattern, work, tableau, state, history, t, h, stages):
    """Explicit Runge-Kutta with so many stages; the first one is known."""
    n = state.v.shape[0]
    y, k, q_stage, a = state.y, state.k, state.q_stage, tableau.a
    for i in range(2 * n + 2):
        k[0, i] = history.f[0, i]
    for s in range(1, stages):
        _combine(state, a[s], s, h)
        retract(tables.dofs, state.q, y, q_stage)
        local_rate(tables.dofs, q_stage, y, y[n : 2 * n], k[s])
        evaluate(
            tables, constraints, pattern, work, q_stage, y[n : 2 * n], t + tableau.c[s] * h, h, k[s, n : 2 * n]
        )
        k[s, 2 * n], k[s, 2 * n + 1] = work.power[0], work.power[1]
    _combine(state, tableau.b, stages, h)
    retract(tables.dofs, state.q, y, q_stage)


@kernel
def _combine(state, weights, count, h):
    """y ← (0, v, W) + h Σ weights k."""
    n = state.v.shape[0]
    y, k = state.y, state.k
    for i in range(n):
        y[i] = 0.0
        y[n + i] = state.v[i]
    y[2 * n], y[2 * n + 1] = state.work[0], state.work[1]
    for s in range(count):
        if weights[s] != 0.0:
            w = h * weights[s]
            for i in range(2 * n + 2):
                y[i] += w * k[s, i]


# --- events ---


@kernel
def _remember(constraints, work):
    """Gap, rate and acceleration of bounded rows at the start of a step."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.role == LIMIT:
            work.before[i, 0], work.before[i, 1] = row.phi, row.rate
        elif row.role == FRICTION or row.role == SERVO_RATE:
            work.before[i, 0], work.before[i, 1] = row.rate - row.goal, row.accel - row.push


@kernel
def _measured(row):
    """What changes its sign at an event of a row (positive before), and its rate."""
    if row.role == LIMIT:
        return row.phi, row.rate
    sign = 1.0 if row.mode == LOW else -1.0
    return sign * (row.rate - row.goal), sign * (row.accel - row.push)


@kernel
def _first_event(constraints, work, h):
    """Share of the step at which the first event happens, by cubic interpolation, and its row; (1, -1) for none."""
    rows = constraints.rows
    share, event = 1.0, -1
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.role == LIMIT:
            if row.mode != FREE or row.phi > -TOUCH or row.rate >= 0.0:
                continue
        elif row.role == FRICTION or row.role == SERVO_RATE:
            if row.mode == HELD or row.value[0] == 0.0:
                continue
        else:
            continue
        end, slope_end = _measured(row)
        if end >= (-TOUCH if row.role == LIMIT else -STOPPED):
            continue
        sign = 1.0 if row.role == LIMIT or row.mode == LOW else -1.0
        begin, slope = sign * work.before[i, 0], sign * work.before[i, 1]
        at = 0.0 if begin <= 0.0 else _root(begin, h * slope, end, h * slope_end)
        if at < share or event < 0:
            share, event = at, i
    return share, event


@kernel
def _root(y0, s0, y1, s1):
    """Where the cubic with ends y0 > 0 > y1 and slopes s0, s1 on [0, 1] crosses zero, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(40):
        x = 0.5 * (low + high)
        z = 1.0 - x
        value = z * z * ((1.0 + 2.0 * x) * y0 + x * s0) + x * x * ((1.0 + 2.0 * z) * y1 - z * s1)
        if value > 0.0:
            low = x
        else:
            high = x
    return high


@kernel
def _go_to_event(tables, constraints, pattern, work, tableau, state, history, t, h, share, event, stats, stages):
    """Runge-Kutta to the moment of an event; returns the share of h used. The state is evaluated there."""
    n = state.v.shape[0]
    low, high = 0.0, 1.0
    for search in range(_SEARCHES):
        _runge_kutta(tables, constraints, pattern, work, tableau, state, history, t, share * h, stages)
        evaluate(
            tables, constraints, pattern, work, state.q_stage, state.y[n : 2 * n], t + share * h, h, history.a
        )
        stats[EVALUATIONS] += stages
        value, slope = _measured(constraints.rows[event])
        if abs(value) <= _STILL or search == _SEARCHES - 1:
            break
        if value > 0.0:
            low = share
        else:
            high = share
        newton = share - value / (h * slope) if slope < 0.0 else -1.0
        share = newton if low < newton < high else 0.5 * (low + high)
    return share


@kernel
def _take(state):
    """The trial becomes the state."""
    n = state.v.shape[0]
    for i in range(state.q.shape[0]):
        state.q[i] = state.q_stage[i]
    for i in range(n):
        state.v[i] = state.y[n + i]
    state.work[0], state.work[1] = state.y[2 * n], state.y[2 * n + 1]


@kernel
def _push(state, history, work):
    """The state's derivative becomes the newest of the history."""
    n = state.v.shape[0]
    f, q = history.f, history.q
    for j in range(3, 0, -1):
        for i in range(2 * n + 2):
            f[j, i] = f[j - 1, i]
        for i in range(q.shape[1]):
            q[j, i] = q[j - 1, i]
    _write_newest(state, history, work)
    history.count[0] += 1


@kernel
def _write_newest(state, history, work):
    n = state.v.shape[0]
    f = history.f
    for i in range(n):
        f[0, i] = state.v[i]
        f[0, n + i] = history.a[i]
    f[0, 2 * n], f[0, 2 * n + 1] = work.power[0], work.power[1]
    for i in range(state.q.shape[0]):
        history.q[0, i] = state.q[i]


@kernel
def restart(tables, constraints, pattern, work, state, history, t, h, stats, event):
    """Begin anew at the present state, where row `event` (or none, -1) has one: modes, projection, accelerations."""
    qdd = history.a
    set_modes(tables, constraints, pattern, work, state.q, state.v, t, state.work, event)
    _, evaluations, unsettled = arrive(
        tables, constraints, pattern, work, state.q, state.v, state.work, t, h, qdd, False, True
    )
    stats[EVALUATIONS] += evaluations + 1
    _note_unsettled(stats, unsettled, t)
    _write_newest(state, history, work)
    history.count[0] = 1


@kernel
def _note_unsettled(stats, unsettled, t):
    if unsettled != 0:
        if stats[UNSETTLED] == 0.0:
            stats[UNSETTLED_TIME] = t
        stats[UNSETTLED] += 1


# --- a step ---


@kernel
def step(tables, constraints, pattern, work, tableau, state, history, t, h, integrator, bounded, stats):
    """One step of size h, from event to event; the state and history.f[0] belong together before and after."""
    stages = 4
    rest, now = h, t
    for events in range(_EVENTS + 1):
        if integrator == EULER or events == _EVENTS:
            _impulse_step(tables, constraints, pattern, work, state, now, rest)
            stats[EULER_STEPS] += 1
            restart(tables, constraints, pattern, work, state, history, t + h, h, stats, -1)
            return
        if bounded:
            _remember(constraints, work)
        smooth = integrator == ADAMS and events == 0 and history.count[0] >= 4
        if smooth:
            _adams(tables, state, history, h)
            _evaluate_end(tables, constraints, pattern, work, state, history, t + h, h)
            stats[EVALUATIONS] += 1
            if _apart(state, history, h):
                smooth = False
                stats[REDONE] += 1
            else:
                _adams_work(state, history, work, h)
        if not smooth:
            _runge_kutta(tables, constraints, pattern, work, tableau, state, history, now, rest, stages)
            _evaluate_end(tables, constraints, pattern, work, state, history, t + h, h)
            stats[EVALUATIONS] += stages
        share, event = 1.0, -1
        if bounded:
            share, event = _first_event(constraints, work, rest)
        if event < 0:
            _accept(tables, constraints, pattern, work, state, history, t + h, h, events == 0, bounded, stats)
            return
        stats[EVENTS] += 1
        if share > 0.0:
            share = _go_to_event(
                tables, constraints, pattern, work, tableau, state, history, now, rest, share, event, stats, stages
            )
            _take(state)
            now += share * rest
            rest *= 1.0 - share
        restart(tables, constraints, pattern, work, state, history, now, h, stats, event)
        if rest <= 1e-12 * h:
            return


@kernel
def _accept(tables, constraints, pattern, work, state, history, t, h, steady, bounded, stats):
    """The evaluated trial becomes the state, on the constraints."""
    _take(state)
    changed, evaluations, unsettled = arrive(
        tables, constraints, pattern, work, state.q, state.v, state.work, t, h, history.a, True, bounded
    )
    stats[EVALUATIONS] += evaluations
    _note_unsettled(stats, unsettled, t)
    if changed != 0 or not steady:
        _write_newest(state, history, work)
        history.count[0] = 1
    else:
        _push(state, history, work)


@kernel
def adaptive_step(tables, constraints, pattern, work, tableau, state, history, t, h, tolerance, bounded, stats):
    """A trial of size h; returns (time used, factor for the next h): none if the error was too large.

    A step ends at the first event in it.
    """
    n = state.v.shape[0]
    stages = 6  # the seventh is the first of the next step
    k = state.k
    if bounded:
        _remember(constraints, work)
    _runge_kutta(tables, constraints, pattern, work, tableau, state, history, t, h, stages)
    _evaluate_end(tables, constraints, pattern, work, state, history, t + h, h)
    stats[EVALUATIONS] += stages
    local_rate(tables.dofs, state.q, state.y, state.y[n : 2 * n], k[stages])
    for i in range(n):
        k[stages, n + i] = history.a[i]
    share, event = 1.0, -1
    if bounded:
        share, event = _first_event(constraints, work, h)
    error = error_norm(state, tableau, h, tolerance)
    if not error <= 1.0 and event < 0:
        return 0.0, max(0.2, 0.9 * error**-0.2) if error < np.inf else 0.1
    if event < 0:
        _accept(tables, constraints, pattern, work, state, history, t + h, h, True, bounded, stats)
        return h, min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
    # Beyond the event the motion is another one, and an error there means nothing: judge the part before it alone.
    if share > 0.0 and not error <= 1.0:
        return 0.0, max(0.2, min(share, 0.9))
    stats[EVENTS] += 1
    if share > 0.0:
        share = _go_to_event(
            tables, constraints, pattern, work, tableau, state, history, t, h, share, event, stats, stages
        )
        _take(state)
    restart(tables, constraints, pattern, work, state, history, t + share * h, h, stats, event)
    return share * h, 1.0


@kernel
def _evaluate_end(tables, constraints, pattern, work, state, history, t, h):
    """Evaluate the trial; servos at their strength are tried again as kept."""
    n = state.v.shape[0]
    rows = constraints.rows
    for i in range(rows.shape[0]):
        if rows[i].role == SERVO_PLACE:
            rows[i].mode = GIVEN
    evaluate(tables, constraints, pattern, work, state.q_stage, state.y[n : 2 * n], t, h, history.a)


@kernel
def _apart(state, history, h):
    """Whether the corrector of Adams-Moulton is far from the predicted velocities."""
    n = state.v.shape[0]
    y, f = state.y, history.f
    for i in range(n):
        corrected = state.v[i] + h / 24.0 * (
            9.0 * history.a[i] + 19.0 * f[0, n + i] - 5.0 * f[1, n + i] + f[2, n + i]
        )
        if not abs(corrected - y[n + i]) <= _APART * (1.0 + abs(corrected)):
            return True
    return False


@kernel
def _adams_work(state, history, work, h):
    """Work by Adams-Moulton, the power at the end being known."""
    n = state.v.shape[0]
    f = history.f
    for i in range(2):
        k = 2 * n + i
        state.y[k] = state.work[i] + h / 24.0 * (
            9.0 * work.power[i] + 19.0 * f[0, k] - 5.0 * f[1, k] + f[2, k]
        )


@kernel
def _impulse_step(tables, constraints, pattern, work, state, t, h):
    """Semi-implicit Euler with all rows as impulses within their bounds."""
    rows, z = constraints.rows, work.z
    n = state.v.shape[0]
    gather(tables, constraints, pattern, work, state.q, state.v, t)
    state.work[0] += h * work.power[2]
    state.work[1] += h * work.power[3]
    aim(tables, constraints, t, h, 0.0)
    for d in range(n):
        z[d] = work.rhs[d]
    solve_inward(tables.dofs, work.H, z)
    for i in range(rows.shape[0]):
        row = rows[i]
        work.on[i] = row.active
        work.side[i] = HELD
        work.soft[i], work.lo[i], work.hi[i] = row.soft, row.lo, row.hi
    couple(tables, pattern, work)
    for i in range(rows.shape[0]):
        if work.on[i] != 0:
            free = rows[i].rate
            for k in range(pattern.ptr[i], pattern.ptr[i + 1]):
                free += h * work.Y[k] * work.D[pattern.dof[k]] * z[pattern.dof[k]]
            work.want[i] = rows[i].goal - free
    solve_box(
        work.A, work.L, work.E, work.soft, work.want, work.lo, work.hi, work.on, work.side, work.kept,
        pattern.start, pattern.first, work.p, work.w, work.scale, work.report,
    )  # fmt: skip
    for d in range(n):
        z[d] *= h
    add_response(pattern, work, work.p, z)
    outward(tables, pattern, work, z, work.delta)
    for i in range(n):
        state.v[i] += work.delta[i]
        state.y[i] = h * state.v[i]
    for i in range(rows.shape[0]):
        if work.on[i] != 0:
            after = 0.0
            for k in range(pattern.ptr[i], pattern.ptr[i + 1]):
                after += work.X[k] * state.v[pattern.rate_of[pattern.dof[k]]]
            audit(rows[i], work.p[i], 0.5 * (rows[i].rate + after), h, state.work)
    retract(tables.dofs, state.q, state.y, state.q)


# --- many steps ---


@kernel
def _untouched(constraints, state, history):
    """Whether state and commands are those that the last call left."""
    seen, k = history.seen, 0
    same = True
    for part in (state.q, state.v, constraints.inputs):
        for i in range(part.shape[0]):
            same &= seen[k] == part[i]
            k += 1
    return same


@kernel
def _leave(constraints, state, history):
    k = 0
    for part in (state.q, state.v, constraints.inputs):
        for i in range(part.shape[0]):
            history.seen[k] = part[i]
            k += 1


@kernel
def _watch(work, stats, t):
    """The nearest to a singular position so far."""
    if work.report[0] < stats[RATIO]:
        stats[RATIO], stats[RATIO_ROW], stats[RATIO_TIME] = work.report[0], work.report[1], t


@kernel
def run_direct(
    tables, constraints, every_row, pattern, work, state, history, tableau, stats, h, options, targets,
    out_t, out_q, out_v, out_work, out_values, out_rates, out_solver, out_a, out_forces,
):  # fmt: skip
    """Steps with a sample at each of `targets`: step counts, or times for the adaptive integrator; (samples, status).

    every_row: the same constraints with all their rows, redundant ones too. options: integrator, 1 if there are bounded
    rows, tolerance, budget of a step in clock ticks.
    """
    integrator, bounded, tolerance, budget = int(options[0]), options[1] != 0.0, options[2], options[3]
    t0, clock, counts = state.clock[0], state.clock, state.counts
    if not _untouched(constraints, state, history):
        restart(tables, constraints, pattern, work, state, history, clock[2], h, stats, -1)
    for row in range(targets.shape[0]):
        while True:
            t = clock[2]
            evaluations, began = stats[EVALUATIONS], cycles()
            if integrator == ADAPTIVE:
                end = targets[row]
                if t >= end:
                    break
                size = clock[1]
                last = t + 1.01 * size >= end
                if last:
                    size = end - t
                if size <= 1e-14 * max(1.0, abs(t)):
                    return row, TOO_SMALL
                used, factor = adaptive_step(
                    tables, constraints, pattern, work, tableau, state, history, t, size, tolerance, bounded, stats
                )
                if used > 0.0:
                    clock[2] = end if last and used == size else t + used
                    clock[1] = max(size * factor, clock[1]) if last else size * factor
                    counts[1] += 1
                else:
                    clock[1] = size * factor
                    counts[2] += 1
            else:
                if counts[0] >= targets[row]:
                    break
                t = t0 + counts[0] * h
                step(tables, constraints, pattern, work, tableau, state, history, t, h, integrator, bounded, stats)
                counts[0] += 1
                counts[1] += 1
                clock[2] = t0 + counts[0] * h
            _watch(work, stats, clock[2])
            if cycles() - began > budget:
                stats[OVERRUNS] += 1
            stats[LAST] = stats[EVALUATIONS] - evaluations
            status = finite(state.v, counts, h)
            if status != OK:
                return row, status
        sample(state, out_t, out_q, out_v, out_work, row, clock[2])
        for i in range(history.a.shape[0]):
            out_a[row, i] = history.a[i]
        for i in range(constraints.rows.shape[0]):
            out_forces[row, i] = constraints.rows[i].force
        gap, strain = look(tables, every_row, state, out_values[row], out_rates[row], stats, clock[2])
        out_solver[row, 0], out_solver[row, 1], out_solver[row, 2] = strain, stats[LAST], gap
    _leave(constraints, state, history)
    return targets.shape[0], OK


@kernel
def look(tables, every_row, state, values, rates, stats, t):
    """Coordinates and rates of all joints; returns the largest gap and the strain of springs [J]."""
    strain = read_joints(tables, every_row, state.q, state.v, values, rates)
    gap = 0.0
    rows = every_row.rows
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD and abs(rows[i].phi) > gap:
            gap = abs(rows[i].phi)
            if gap > stats[GAP]:
                stats[GAP], stats[GAP_ROW], stats[GAP_TIME] = gap, i, t
    stats[LAST_GAP] = gap
    return gap, strain
