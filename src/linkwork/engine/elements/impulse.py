"""Rows of a velocity-level step: target velocity, softness and impulse bounds of each, and what its impulse did.

A law is linearised once about the start of the step, with the velocity v⁺ at its end:

    p = h (F + h F_φ v⁺ + F_v (v⁺ - v)) - I (v⁺ + h b - v) = h (F - F_v v) + I (v - h b) - s v⁺,
    s = I - h (F_v + h F_φ)

I is the inertia of a rotor, b = J' v what its rate changes by although no joint accelerates: where axes turn, as in a
universal joint, its momentum would miss that at any step. So a row has softness 1/s and the target velocity
(h (F - F_v v) + I (v - h b))/s: implicit, hence stable at any stiffness. A continuous state x follows in the same
way, Δx = h (f + h f_φ v⁺ + f_v (v⁺ - v))/(1 - h f_x). Split impulses: gaps are removed by pseudo velocities that never
enter the motion, so that stabilisation adds no energy.
"""

from ..kernels.jit import kernel, woven
from ..tables import FRICTION, HOLD, LAW, LIMIT
from .respond import command_of, flow, respond, take_samples, with_state

# Another impact may change the velocity of a coordinate by this much in a step: nearer limits are watched,
# whichever way the coordinate moves [rad/s or m/s].
_JUMP = 10.0


@kernel
def set_targets(tables, constraints, t, h, erp):
    """(measured rows, rates, of rotors bias) => active, goal, soft, lo, hi, push of every row for a step of h; erp:
    share of a gap to be removed by it."""
    rows = constraints.rows
    take_samples(tables, constraints, t)
    for i in range(rows.shape[0]):
        row = rows[i]
        row.active = 1
        row.goal = 0.0
        row.soft = 0.0
        row.push = 0.0
        row.hi = h * row.strength
        row.lo = -row.hi
        if row.role == HOLD:
            row.push = -erp * row.phi / h
        elif row.role == LIMIT:
            _aim_limit(row, h, erp)
        elif row.role == LAW:
            _aim_law(tables, row, command_of(tables, constraints, row, t + h), t, h)
        elif row.role != FRICTION:
            row.goal = command_of(tables, constraints, row, t + h)


@kernel
def _aim_limit(row, h, erp):
    """χ = φ >= 0 with p >= 0: the velocity may use up what is left of the way, no more; a hit may bounce."""
    row.lo = 0.0
    if row.phi > 0.0:
        row.active = 1 if row.phi < h * (4.0 * abs(row.rate) + _JUMP) else 0
        row.goal = -row.phi / h
        if row.phi + h * row.rate > 0.0:
            return
    else:
        row.push = -erp * row.phi / h
    bounce = -row.value[0] * row.rate
    if bounce > row.value[1]:
        row.goal = bounce


@kernel
def _aim_law(tables, row, command, t, h):
    """Softness and target of an element; one that the step does not soften has its impulse given."""
    answer = respond(tables, row, command, t, True)
    if row.state >= 0:
        change = flow(row, command)
        row.flow = h / (1.0 - h * change.by_state)  # what is left to multiply at the end of the step
        answer = with_state(answer, change, row.flow)
    given = h * (answer.force - answer.by_rate * row.rate)
    resistance = row.inertia - h * (answer.by_rate + h * answer.by_phi)
    if resistance > 0.0:
        row.soft = 1.0 / resistance
        row.goal = (given + row.inertia * (row.rate - h * row.bias)) * row.soft
    else:  # nothing that resists, or a law that grows with the motion: explicit
        given = min(max(h * answer.force, row.lo), row.hi)
        row.lo = row.hi = given
        row.active = 1 if given != 0.0 or row.state >= 0 else 0


@woven
def end_rows(tables, constraints, after, t, h, energy):
    """Work of the impulses of all active rows (supplied, dissipated [J]), and their states at the end of a step of h
    from t; after: their rates then."""
    rows = constraints.rows
    for i in range(rows.shape[0]):
        if rows[i].active != 0:
            end_row(tables, constraints, rows[i], rows[i].p, after[i], t, h, energy)


@kernel
def end_row(tables, constraints, row, p, after, t, h, energy):
    """Work of an impulse, which acts on the mean of the velocities before and after (supplied, dissipated [J]), and
    the row's state at the end of the step."""
    mean = 0.5 * (row.rate + after)
    if row.role == HOLD:
        return
    if row.role == FRICTION or row.role == LIMIT:
        energy[1] -= p * mean
    elif row.source != 0 or row.role != LAW:
        # What a rotor takes up is kinetic energy.
        energy[0] += p * mean + row.inertia * (after + h * row.bias - row.rate) * mean
    else:
        before = row.rate
        row.rate = mean
        answer = respond(tables, row, command_of(tables, constraints, row, t + h), t, False)
        row.rate = before
        energy[0] += h * answer.supplied
        energy[1] += h * answer.dissipated
    if row.state >= 0:
        change = flow(row, command_of(tables, constraints, row, t + h))
        row.x += row.flow * (change.rate + h * change.by_phi * after + change.by_rate * (after - row.rate))
