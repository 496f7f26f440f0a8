"""Steps of the direct solver: Adams, Runge-Kutta or semi-implicit Euler, onto the constraints, from event to event.

Every step ends on the constraints (`arrive`) with the accelerations there, which the next one begins with. In smooth
motion one evaluation a step is enough: velocities by Adams-Bashforth, then positions by Adams-Moulton, both of order
four; for oscillations that pair is stable up to ω h = 0.9 and never gains energy. Runge-Kutta steps begin it and
take over wherever past accelerations do not foretell the next one. A joint that comes to rest against dry friction,
or a limit that is hit, ends a step early: the moment is located (`events`), the mode of the row changes, and the rest
of the step begins anew, so that order is kept between events. Where events crowd, what is left of the step is taken by
impulses (semi-implicit Euler), which need no times.
"""

import numpy as np

from ..coordinates.observe import read_joints
from ..coordinates.tree import local_rate, retract
from ..elements.respond import (
    read_flows,
    read_states,
    sample_states,
    sampling_due,
    up_to_sample,
    write_states,
)
from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel, woven
from ..kernels.math3 import quat_log, quat_mul, rotation_vector_rate
from ..solvers.layout import (
    DISSIPATED,
    EULER_STEPS,
    EVALUATIONS,
    EVENTS,
    GAP,
    GAP_ROW,
    GAP_TIME,
    HEAD,
    HI,
    KNOWN,
    LAST_EVALUATIONS,
    LAST_GAP,
    LO,
    NOW,
    ON,
    OVERRUNS,
    PAST,
    PAST_Q,
    RATIO,
    RATIO_FIRST,
    RATIO_ROW,
    RATIO_TIME,
    REDONE,
    SMALLEST,
    SMALLEST_ROW,
    STAGE,
    STUCK,
    SUPPLIED,
    TRIAL,
    UNSETTLED,
    UNSETTLED_TIME,
    WAIT,
    WEAKEST,
    WORN,
    P,
)
from ..tables import BALL, GIVEN, HELD, HIGH, HOLD, LAW, LOW
from .direct import arrive, gather, leap, scale_pivots, solve
from .events import PEEK, first_event, measured, near_enough, remember
from .state import OK, TOO_SMALL, finite, untouched

EULER, RUNGE_KUTTA, ADAMS, ADAPTIVE, PROBE = range(5)
"""What a run does; PROBE only looks how large the diagonals of A are at a pose."""
CHOOSE = 21
"""A stretch of steps ended because the joint equations in use come near to following from each other, while there are
others that they could be exchanged for: choose anew, and come again."""
USED_UP = 0.05
"""Share of its usual pivot below which a joint equation is to be exchanged; see CHOOSE."""
# Rows of a tableau that are no stages: weights, times, error weights.
WEIGHTS, TIMES, ERRORS = -3, -2, -1
# Fourth differences of accelerations against second ones from which Adams steps are no good: oscillations with
# ω h > 0.72, while Adams is stable up to 0.9.
_ROUGH = 0.5
# What changes velocities by less in a step, as a share of 1 + |v|, says nothing of smoothness: near singular positions
# accelerations are good to so much, and stages of Runge-Kutta, which lie off the constraints, to less.
_NOISE = 3e-6
_LONGEST = 60  # stretch by Runge-Kutta where Adams steps are no good [steps]
_EVENTS = 10  # in one step, before the rest of it is taken by impulses
_LEAP = 1e-5  # how far the adaptive integrator goes by impulses where events crowd [s]
_SEARCHES = 8  # for the time of one event


# --- smooth motion: from the state, whose derivative is y[PAST], to the trial ---


@inlined
def past(head, j):
    """Where the derivative j points ago stands in motion.y: a ring of four."""
    return PAST + ((head + j) & 3)


@kernel
def adams(tables, motion, h):
    """v by Adams-Bashforth, displacement by Adams-Moulton with that v."""
    y, n = motion.y, motion.a.shape[0]
    head = motion.tally[HEAD]
    f0, f1, f2, f3 = y[past(head, 0)], y[past(head, 1)], y[past(head, 2)], y[past(head, 3)]
    trial = y[TRIAL]
    for i in range(n):
        k = n + i
        new = y[NOW, k] + h / 24.0 * (55.0 * f0[k] - 59.0 * f1[k] + 37.0 * f2[k] - 9.0 * f3[k])
        trial[k] = new
        trial[i] = h / 24.0 * (9.0 * new + 19.0 * f0[i] - 5.0 * f1[i] + f2[i])
    for k in range(2 * n + 2, y.shape[1]):  # states of elements
        trial[k] = y[NOW, k] + h / 24.0 * (55.0 * f0[k] - 59.0 * f1[k] + 37.0 * f2[k] - 9.0 * f3[k])
    if motion.q.shape[1] != n:
        _adams_balls(tables.dofs, motion, h)


@kernel
def _adams_balls(dofs, motion, h):
    """The same on the group of rotations: past rates in the local coordinates of the present pose."""
    y, q, n, head = motion.y, motion.q, motion.a.shape[0], motion.tally[HEAD]
    f0, f1, f2, f3 = y[past(head, 0)], y[past(head, 1)], y[past(head, 2)], y[past(head, 3)]
    to_q = PAST_Q - PAST
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        if dof.motion != BALL:
            continue
        i, j = dof.q, dof.v - dof.column
        back = (q[NOW, i], -q[NOW, i + 1], -q[NOW, i + 2], -q[NOW, i + 3])
        w0 = (f0[j], f0[j + 1], f0[j + 2])
        w1 = _seen_from(back, q[past(head, 1) + to_q], i, f1, j)
        w2 = _seen_from(back, q[past(head, 2) + to_q], i, f2, j)
        w3 = _seen_from(back, q[past(head, 3) + to_q], i, f3, j)
        predicted = (
            h / 24.0 * (55.0 * w0[0] - 59.0 * w1[0] + 37.0 * w2[0] - 9.0 * w3[0]),
            h / 24.0 * (55.0 * w0[1] - 59.0 * w1[1] + 37.0 * w2[1] - 9.0 * w3[1]),
            h / 24.0 * (55.0 * w0[2] - 59.0 * w1[2] + 37.0 * w2[2] - 9.0 * w3[2]),
        )
        k = n + j
        new = rotation_vector_rate(predicted, (y[TRIAL, k], y[TRIAL, k + 1], y[TRIAL, k + 2]))
        y[TRIAL, j] = h / 24.0 * (9.0 * new[0] + 19.0 * w0[0] - 5.0 * w1[0] + w2[0])
        y[TRIAL, j + 1] = h / 24.0 * (9.0 * new[1] + 19.0 * w0[1] - 5.0 * w1[1] + w2[1])
        y[TRIAL, j + 2] = h / 24.0 * (9.0 * new[2] + 19.0 * w0[2] - 5.0 * w1[2] + w2[2])


@kernel
def _seen_from(back, q, i, f, j):
    """Rate of the local coordinates at an earlier pose, from its angular velocity."""
    phi = quat_log(quat_mul(back, (q[i], q[i + 1], q[i + 2], q[i + 3])))
    return rotation_vector_rate(phi, (f[j], f[j + 1], f[j + 2]))


@kernel
def combine(motion, weights, count, h):
    """Trial = (0, v, W, x) + h Σ weights stages."""
    y, n = motion.y, motion.a.shape[0]
    for i in range(n):
        y[TRIAL, i] = 0.0
    for i in range(n, y.shape[1]):
        y[TRIAL, i] = y[NOW, i]
    for s in range(count):
        if weights[s] != 0.0:
            w = h * weights[s]
            for i in range(y.shape[1]):
                y[TRIAL, i] += w * y[STAGE + s, i]


@woven
def _attempt(tables, constraints, work, motion, tableau, t, h, ahead, smooth, stages, bounded):
    """The trial h after the state, by Adams (smooth) or Runge-Kutta, evaluated; `ahead` is for stiff rows.

    Returns the number of evaluations.
    """
    y, q, n = motion.y, motion.q, motion.a.shape[0]
    if smooth:
        stages = 1
    else:
        newest = past(motion.tally[HEAD], 0)
        for i in range(y.shape[1]):
            y[STAGE, i] = y[newest, i]
    v = y[TRIAL, n : 2 * n]
    evaluations = 0
    for s in range(1, stages + 1):
        last = s == stages
        if smooth:
            adams(tables, motion, h)
        else:
            combine(motion, tableau[WEIGHTS] if last else tableau[s], s, h)
        retract(tables.dofs, q[NOW], y[TRIAL], q[TRIAL])
        write_states(constraints, y[TRIAL], 2 * n + 2)
        if bounded:
            _try_servos(constraints)
        # A stage at the end of the step is still before it, should a signal jump there; by so much that sums of times
        # show it, and so little that no order of convergence does.
        share = 1.0 if last else min(tableau[TIMES, s], 1.0 - 1e-9)
        while True:
            gather(tables, constraints, work, q[TRIAL], v, t + share * h)
            solve(tables, constraints, work, t + share * h, ahead, motion.a, bounded, last)
            evaluations += 1
            if (
                last or not bounded or not _overstrained(constraints, work)
            ):  # of the last one `arrive` takes care
                break
        if not smooth:
            stage = y[STAGE + s]
            local_rate(tables.dofs, q[TRIAL], y[TRIAL], v, stage)
            for i in range(n):
                stage[n + i] = motion.a[i]
            stage[2 * n], stage[2 * n + 1] = work.report[SUPPLIED], work.report[DISSIPATED]
            read_flows(constraints, stage, 2 * n + 2)
    return evaluations


@kernel
def _overstrained(constraints, work):
    """Whether stiff servos would push with more than their strength; they are at it from now on."""
    rows, found = constraints.rows, False
    for i in range(rows.shape[0]):
        within = work.row[LO, i] <= work.row[P, i] <= work.row[HI, i]
        if rows[i].role == LAW and work.flag[ON, i] != 0 and not within:
            rows[i].mode = LOW if work.row[P, i] < 0.0 else HIGH
            found = True
    return found


@kernel
def _try_servos(constraints):
    """Stiff servos at their strength are tried again as kept."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        if rows[i].role == LAW:
            rows[i].mode = GIVEN


@kernel
def apart(work, motion, h, count):
    """Whether the past does not foretell the first `count` accelerations; if it does, work is corrected.

    In motion that the step resolves, differences of accelerations get smaller with their order: those of an
    oscillation by 2 sin(ω h/2) each. After a jump or a kink, and in what grows because the step is too large for it,
    fourth ones are as large as second ones. That holds for any size of the motion and of the step, so that a run at
    half the step is by the same formulas, which it must be to converge evenly.
    """
    y, n, head = motion.y, motion.a.shape[0], motion.tally[HEAD]
    f0, f1, f2, f3 = y[past(head, 0)], y[past(head, 1)], y[past(head, 2)], y[past(head, 3)]
    for i in range(count):
        k = n + i
        newest = motion.a[i] - 2.0 * f0[k] + f1[k]
        middle = f0[k] - 2.0 * f1[k] + f2[k]
        oldest = f1[k] - 2.0 * f2[k] + f3[k]
        fourth = abs(newest - 2.0 * middle + oldest)
        if not (
            fourth <= _ROUGH * max(abs(newest), abs(middle), abs(oldest))
            or h * fourth <= _NOISE * (1.0 + abs(y[TRIAL, k]))
        ):
            return True
    for i in range(2):
        k = 2 * n + i
        y[TRIAL, k] = y[NOW, k] + h / 24.0 * (
            9.0 * work.report[SUPPLIED + i] + 19.0 * f0[k] - 5.0 * f1[k] + f2[k]
        )
    return False


@kernel
def falter(motion):
    """Adams could not take this step: Runge-Kutta does, and begins a new past.

    Where the first Adams step after that fails again, the motion is too fast for the step, and Runge-Kutta goes on for
    longer and longer, so that it costs hardly more than Runge-Kutta alone.
    """
    tally = motion.tally
    tally[WAIT] = min(2 * tally[WAIT] + 4, _LONGEST) if tally[KNOWN] == 4 else 0
    tally[KNOWN] = -tally[WAIT]


@kernel
def local_error(motion, tableau, h, tolerance, count):
    """Largest local error of the first `count` displacements and velocities, and of the states of elements, against
    tolerance (1 + |y|)."""
    y, n = motion.y, motion.a.shape[0]
    worst = 0.0
    for k in range(2 * count + y.shape[1] - 2 * n - 2):
        i = k if k < count else n + k - count if k < 2 * count else 2 * (n + 1 - count) + k
        e = 0.0
        for s in range(tableau.shape[1]):
            e += tableau[ERRORS, s] * y[STAGE + s, i]
        begin = y[NOW, i] if i >= n else 0.0
        r = abs(h * e) / (tolerance * (1.0 + max(abs(y[TRIAL, i]), abs(begin))))
        if not r <= worst:  # also catches NaN
            worst = r
    return worst


@kernel
def take(motion):
    """The trial becomes the state."""
    y, q, n = motion.y, motion.q, motion.a.shape[0]
    for i in range(q.shape[1]):
        q[NOW, i] = q[TRIAL, i]
    for i in range(n, y.shape[1]):
        y[NOW, i] = y[TRIAL, i]


@kernel
def keep(constraints, work, motion, anew):
    """The state's derivative becomes the newest of the past, or all of it."""
    y, q, n, tally = motion.y, motion.q, motion.a.shape[0], motion.tally
    tally[HEAD] = (tally[HEAD] - 1) & 3
    tally[KNOWN] = 1 if anew else tally[KNOWN] + 1
    newest = past(tally[HEAD], 0)
    for i in range(n):
        y[newest, i] = y[NOW, n + i]
        y[newest, n + i] = motion.a[i]
    y[newest, 2 * n], y[newest, 2 * n + 1] = work.report[SUPPLIED], work.report[DISSIPATED]
    read_flows(constraints, y[newest], 2 * n + 2)
    for i in range(q.shape[1]):
        q[newest + PAST_Q - PAST, i] = q[NOW, i]


# --- a step ---


@woven
def _advance(
    tables, constraints, work, motion, tableau, stats, t, h, ahead, integrator, tolerance, bounded, crowded, begin
):  # fmt: skip
    """From the state to h later, or to the first event before that, whose row changes its mode.

    begin: stay, for no step led here. Returns (time used, factor for the next h of the adaptive integrator, 1 for a
    step that was refused).
    """
    n = motion.a.shape[0]
    stages = tableau.shape[1] - 1 if integrator == ADAPTIVE else tableau.shape[1]
    q, v, energy = motion.q[NOW], motion.y[NOW, n : 2 * n], motion.y[NOW, 2 * n :]
    share, event, factor = 1.0, -1, 1.0
    fresh, refused = True, 0
    if begin:
        fresh, share = False, 0.0
    elif integrator == EULER or crowded:
        leap(tables, constraints, work, q, v, energy, motion.y[TRIAL, :n], t, h)
        read_states(constraints, motion.y[NOW], 2 * n + 2)
        stats[EULER_STEPS] += 1
        fresh, begin = False, True
    else:
        smooth = integrator == ADAMS and motion.tally[KNOWN] >= 4 and h == ahead
        low, high, search, before, at = 0.0, 1.0, 0, 0.0, 1.0
        while True:
            stats[EVALUATIONS] += _attempt(
                tables, constraints, work, motion, tableau, t, share * h, ahead, smooth, stages, bounded
            )
            if smooth and apart(work, motion, h, n):
                falter(motion)
                smooth = False
                stats[REDONE] += 1
                continue
            if event < 0:
                if bounded:
                    share, event, high = first_event(constraints, work, h)
                if integrator == ADAPTIVE:
                    error = local_error(motion, tableau, h, tolerance, n)
                    factor = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2)) if error < np.inf else 0.1
                    if not error <= 1.0:
                        # Beyond an event the motion is another one, and its error means little: try up to there.
                        factor = factor if event < 0 else min(max(share, 0.2), 0.9)
                        refused = 1
                if event < 0 or share == 0.0 or refused != 0:
                    break
                before, at = measured(constraints.rows[event])[0], 1.0
                smooth = False
            else:
                # Newton's method for the time of the event, kept within what is known.
                value, rate = measured(constraints.rows[event])
                search += 1
                enough = near_enough(constraints, work, event)
                if search == 1 and share == PEEK and value <= 0.0 and constraints.rows[event].mode == HELD:
                    share = 0.0  # at its bound when the step began
                    break
                if abs(value) <= enough or search == _SEARCHES:
                    if value > enough:
                        event = -1  # not yet: the next part of the step begins nearer to it
                    break
                if rate == 0.0:  # not known: by the line through the last two points
                    rate = (value - before) / (h * (share - at))
                before, at = value, share
                if value > 0.0:
                    low = share
                else:
                    high = share
                newton = share - value / (h * rate) if rate < 0.0 else -1.0
                share = newton if low < newton < high else 0.5 * (low + high)
        if event >= 0:
            fresh, begin = False, True
            stats[EVENTS] += 1 - refused
        if share > 0.0 and refused == 0:
            take(motion)
        write_states(constraints, motion.y[NOW], 2 * n + 2)
    if refused == 0:
        changed, evaluations, unsettled = arrive(
            tables,
            constraints,
            work,
            q,
            v,
            energy,
            t + share * h,
            ahead,
            motion.a,
            fresh,
            begin,
            event,
            bounded,
        )
        stats[EVALUATIONS] += evaluations
        if bounded:
            remember(constraints, work)  # here, for a trial that is refused leaves rows elsewhere
        if unsettled != 0:
            if stats[UNSETTLED] == 0.0:
                stats[UNSETTLED_TIME] = t + share * h
            stats[UNSETTLED] += 1
        keep(constraints, work, motion, changed != 0 or share < 1.0 or h != ahead)
    return share * h if refused == 0 else 0.0, factor, refused


# --- many steps ---


@kernel
def remind(constraints, motion, write):
    """Whether state and commands are those that the last call left; with `write`, leave them."""
    n = motion.a.shape[0]
    return untouched(motion.seen, motion.q[NOW], motion.y[NOW, n : 2 * n], constraints.inputs, write)


@kernel
def _used_up(report):
    """Whether joint equations are to be chosen anew."""
    if report[WORN] > 0.0 and report[WEAKEST] > USED_UP:
        report[WORN] = USED_UP
    return report[WEAKEST] < report[WORN]


@kernel
def run_direct(tables, constraints, every_row, work, motion, clock, tableau, stats, h, options, targets, out):
    """Steps with a sample at each of `targets`: step counts, or times for the adaptive integrator; (samples, status).

    every_row: the same constraints with all their rows, redundant ones too. options: integrator, 1 if there are
    bounded rows, tolerance, budget of a step in clock ticks (0 for none).
    """
    integrator, bounded, tolerance, budget = int(options[0]), options[1] != 0.0, options[2], options[3]
    n, rest, crowd, budgeted = motion.a.shape[0], 0.0, 0, budget > 0.0
    if integrator == PROBE:
        gather(tables, constraints, work, motion.q[NOW], motion.y[NOW, n : 2 * n], 0.0)
        scale_pivots(tables, work)
        return 0, OK
    begin, sampling = not remind(constraints, motion, False), False
    read_states(constraints, motion.y[NOW], 2 * n + 2)
    for sample in range(targets.shape[0]):
        while True:
            # What is next: t, how far, and how far stiff rows look ahead.
            t, last = clock.now, False
            if integrator == ADAPTIVE:
                last = t + 1.01 * clock.proposed >= targets[sample]  # as in DOPRI5: leave no sliver of a step
                rest = targets[sample] - t if last else clock.proposed
                crowd = motion.tally[STUCK]
                if rest <= 1e-14 * max(1.0, abs(t)) and not begin:
                    if rest > 0.0:
                        return sample, TOO_SMALL
                    break
                rest = min(rest, _LEAP) if crowd >= _EVENTS else rest
                ahead = (
                    rest if rest > 0.0 else clock.proposed
                )  # a sample of now: bounds need some time to act
            else:
                if rest == 0.0:
                    if clock.steps >= targets[sample] and not begin:
                        break
                    rest, crowd = h, 0
                t += h - rest
                ahead = h
            if not begin and (integrator == ADAPTIVE or rest == h) and _used_up(work.report):
                remind(constraints, motion, True)
                return sample, CHOOSE
            sampling = not begin and sampling_due(constraints, t)
            whole, rest = rest, up_to_sample(constraints, t, rest)
            began, evaluations = cycles() if budgeted else 0, stats[EVALUATIONS]
            used, factor, refused = _advance(
                tables, constraints, work, motion, tableau, stats, t, rest, ahead, integrator, tolerance, bounded,
                crowd >= _EVENTS, begin or sampling,
            )  # fmt: skip
            if sampling:  # forces have jumped: the step, or what is left of it, begins anew
                rest = whole
                continue
            if begin:
                begin, rest = False, 0.0
                continue
            if integrator == ADAPTIVE:
                clock.taken += 1 - refused
                clock.refused += refused
                motion.tally[STUCK] = crowd + 1 if used < 1e-3 * rest and refused == 0 else 0
                clock.now = targets[sample] if last and used == whole else t + used
                # A step cut short to meet a sample says little about the next one.
                short = (last or rest < whole) and refused == 0
                clock.proposed = max(rest * factor, clock.proposed) if short else rest * factor
            else:
                rest = whole - used if whole - used > 1e-12 * h else 0.0
                crowd += 1
                if rest == 0.0:
                    clock.steps += 1
                    clock.taken += 1
                    clock.now = clock.origin + clock.steps * h
            if stats[RATIO_FIRST] == 0.0:
                stats[RATIO_FIRST] = work.report[SMALLEST]
            if work.report[SMALLEST] < stats[RATIO]:
                stats[RATIO], stats[RATIO_ROW] = work.report[SMALLEST], work.report[SMALLEST_ROW]
                stats[RATIO_TIME] = t
            if budgeted and cycles() - began > budget:
                stats[OVERRUNS] += 1
            stats[LAST_EVALUATIONS] = stats[EVALUATIONS] - evaluations
            status = finite(motion.y[NOW, n : 2 * n], clock, h)
            if status != OK:
                return sample, status
        leave_sample(tables, constraints, every_row, motion, stats, clock.now, out, sample)
    remind(constraints, motion, True)
    return targets.shape[0], OK


@kernel
def leave_sample(tables, constraints, every_row, motion, stats, t, out, sample):
    """State, accelerations, forces of rows, coordinates of all joints and the largest gap, measured."""
    n, q, y = motion.a.shape[0], motion.q[NOW], motion.y[NOW]
    out.t[sample] = t
    for i in range(q.shape[0]):
        out.q[sample, i] = q[i]
    for i in range(n):
        out.v[sample, i] = y[n + i]
        out.a[sample, i] = motion.a[i]
    out.work[sample, 0], out.work[sample, 1] = y[2 * n], y[2 * n + 1]
    for i in range(constraints.rows.shape[0]):
        out.forces[sample, i] = constraints.rows[i].force
    sample_states(constraints, out.states[sample])
    write_states(every_row, y, 2 * n + 2)
    strain = read_joints(tables, every_row, q, y[n : 2 * n], t, out.values[sample], out.rates[sample])
    gap, rows = 0.0, every_row.rows
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD and abs(rows[i].phi) > gap:
            gap = abs(rows[i].phi)
            if gap > stats[GAP]:
                stats[GAP], stats[GAP_ROW], stats[GAP_TIME] = gap, i, t
    stats[LAST_GAP] = gap
    out.solver[sample, 0], out.solver[sample, 1], out.solver[sample, 2] = strain, stats[LAST_EVALUATIONS], gap
