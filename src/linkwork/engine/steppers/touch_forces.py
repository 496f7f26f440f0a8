"""Forces of contacts that touch, at their present modes, on top of what keeps the rows of the mechanism.

The mechanism with its rows answers to unit forces at the points by Z (three columns a point), so that accelerations
along the axes of the points are

    accel = bias + J a + G p,      G = J Zᵀ

A point that sticks has none of them, one that slides none along its normal and the friction -µ p_n way. What statics
leaves open is determinate: all of these equations give way by a tiny share, and what that leaves is taken back with the
same factors, from zero on, so that forces are the smallest that will do (the proximal point method).
"""

from ..coordinates.factor import solve_inward, solve_outward
from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, get3, norm3, sub3
from ..kernels.spatial import get6
from ..solvers.envelope import solve_envelope
from ..solvers.layout import FORCE, INVERSE, ON, RIGHT, SOFT, TAKEN, P
from ..solvers.layout import WANT as ROW_WANTS
from ..tables import LAW
from .row_forces import account
from .touch_survey import GIVE_UP, survey_bias
from .touch_tables import FREE, SLIDES, STICKS
from .touch_ways import STOPPED, slip_of

_GIVES = 1e-7
"""By what share of the mean response equations give way."""
_ROUNDS = 5
_STIFF = 1.0  # decay of slip across its way within a step from which it is taken implicitly
WANT, FOUND, LEFT, ALONG, SOFTNESS = range(5)
"""Vectors over rows: wanted accelerations or velocities, what solves for them, what is left, scratch, softness."""


@kernel
def gather_closed(touch):
    """Slots that touch => state.closed, order; false if there are too many."""
    state, slots, order = touch.state[0], touch.slots, touch.order
    state.closed = 0
    for k in range(state.slots):
        if slots[k].mode != FREE and slots[k].found != 0:
            if state.closed == order.shape[0]:
                state.bad = GIVE_UP
                return False
            order[state.closed] = k
            state.closed += 1
    return True


@kernel
def reach_touch(tables, work, touch):
    """J, Z and G of all slots that touch, and their velocity-product accelerations; rows are factored."""
    state, slots, order = touch.state[0], touch.slots, touch.order
    survey_bias(tables, touch)
    J, Y, Z, S, D, n = touch.J, touch.Y, touch.Z, touch.S, work.dof[INVERSE], work.J.shape[0]
    for c in range(state.closed):
        slot = slots[order[c]]
        for m in range(3):
            r = 3 * c + m
            for d in range(n):
                J[r, d] = 0.0
            _project(tables, slot.a, slot.x, slot.axes, m, -1.0, J[r])
            _project(tables, slot.b, slot.x, slot.axes, m, 1.0, J[r])
            for d in range(n):
                Y[r, d] = J[r, d]
            solve_inward(tables.dofs, work.K, Y[r])
            _answer(work, Y[r], Z[r], S[r], D)
            solve_outward(tables.dofs, work.K, Z[r])
    couple_touch(touch)


@kernel
def couple_touch(touch):
    """(J and Z) => G."""
    J, Z, rows = touch.J, touch.Z, 3 * touch.state[0].closed
    for r in range(rows):
        for s in range(r + 1):
            total = 0.0
            for d in range(J.shape[1]):
                total += J[r, d] * Z[s, d]
            touch.G[r, s] = total
            touch.G[s, r] = total


@kernel
def _project(tables, link, x, axes, m, sign, out):
    """out += sign times the velocity, along axis m, of the point x that moves with a link, per rate of each dof."""
    while link != 0:
        dof = tables.dofs[link]
        S = get6(dof.S)
        arm = sub3(get3(x), get3(tables.islands[dof.island].o))
        u = add3((S[3], S[4], S[5]), cross3((S[0], S[1], S[2]), arm))
        out[link - 1] += sign * (axes[3 * m] * u[0] + axes[3 * m + 1] * u[1] + axes[3 * m + 2] * u[2])
        link = dof.parent


@kernel
def _answer(work, y, z, s, D):
    """z = D⁻¹ (y - Yᵀ s), with what s the rows that are kept take up."""
    row, flag, Y, link = work.row, work.flag, work.Y, work.link
    count = row.shape[1]
    for r in range(count):
        row[RIGHT, r] = 0.0
    for d in range(y.shape[0]):
        weight = D[d] * y[d]
        if weight != 0.0:
            for r in range(link[d].begin, link[d].end):
                row[RIGHT, r] += Y[d, r] * weight
    for r in range(count):
        if flag[ON, r] == 0:
            row[RIGHT, r] = 0.0
    solve_envelope(work, RIGHT)
    for r in range(count):
        s[r] = row[RIGHT, r]
    for d in range(y.shape[0]):
        total = y[d]
        for r in range(link[d].begin, link[d].end):
            total -= Y[d, r] * s[r]
        z[d] = D[d] * total


@kernel
def solve_touch(touch, a, h):
    """(a: accelerations without contact) => forces of all slots at their modes, and their accelerations.

    h: how far ahead slow slip is looked at; 0 for how modes are found [s]."""
    state, slots, order, vector = touch.state[0], touch.slots, touch.order, touch.vector
    along = vector[ALONG]
    rates_along(touch, a, along)
    unknown = 0
    for c in range(state.closed):
        slot = slots[order[c]]
        for m in range(3):
            r = 3 * c + m
            vector[WANT, r], vector[SOFTNESS, r] = -(slot.bias[m] + along[r]), 0.0
            picked = slot.mode != FREE and (m == 0 or slot.mode == STICKS)
            if m == 2 and slot.mode == SLIDES:
                picked, vector[SOFTNESS, r] = _across(slot, touch.G[r, r], h)
            if picked:
                touch.pick[0, unknown] = r
                unknown += 1
    solve_for(touch, unknown, True)
    for c in range(state.closed):
        slot = slots[order[c]]
        for m in range(3):
            slot.p[m] = vector[FOUND, 3 * c + m]
    for c in range(state.closed):
        slot = slots[order[c]]
        for m in range(3):
            r = 3 * c + m
            total = slot.bias[m] + along[r]
            for s in range(3 * state.closed):
                total += touch.G[r, s] * vector[FOUND, s]
            slot.accel[m] = total


@kernel
def rates_along(touch, v, out):
    """out = J v over the slots that touch, v numbered like rates."""
    for r in range(3 * touch.state[0].closed):
        total = 0.0
        for d in range(touch.J.shape[1]):
            total += touch.J[r, d] * v[touch.rate[d]]
        out[r] = total


@kernel
def solve_for(touch, unknown, sliding):
    """vector[FOUND] with G FOUND = WANT in the rows that are picked, zero in others; with `sliding`, friction of slots
    that slide goes with their normal forces."""
    M, G, pick, vector = touch.M, touch.G, touch.pick, touch.vector
    slots, order, rows = touch.slots, touch.order, 3 * touch.state[0].closed
    for r in range(rows):
        vector[FOUND, r] = 0.0
    if unknown == 0:
        return
    mean = 0.0
    for k in range(unknown):
        mean += G[pick[0, k], pick[0, k]] / unknown
    for e in range(unknown):
        s = pick[0, e]
        slot = slots[order[s // 3]]
        slides = sliding and s % 3 == 0 and slot.mode == SLIDES and slot.friction > 0.0
        t, u = _friction(slot) if slides else (0.0, 0.0)
        for k in range(unknown):
            r = pick[0, k]
            value = G[r, s]
            if slides:
                value += t * G[r, s + 1] + u * G[r, s + 2]
            if k == e and sliding:
                value += vector[SOFTNESS, r]
            M[0, k, e] = value
            M[1, k, e] = value + (_GIVES * mean if k == e else 0.0)
    _factor(M[1], pick[1], unknown)
    size, before = 0.0, 0.0
    for k in range(unknown):
        vector[LEFT, k] = vector[WANT, pick[0, k]]
        size = max(size, abs(vector[LEFT, k]))
    for turn in range(_ROUNDS):
        _substitute(M[1], pick[1], vector[LEFT], unknown)
        for k in range(unknown):
            vector[FOUND, pick[0, k]] += vector[LEFT, k]
        largest = 0.0
        for k in range(unknown):
            total = vector[WANT, pick[0, k]]
            for e in range(unknown):
                total -= M[0, k, e] * vector[FOUND, pick[0, e]]
            vector[LEFT, k] = total
            largest = max(largest, abs(total))
        if largest <= 1e-15 * size or (turn > 0 and largest > 0.5 * before):
            break
        before = largest
    if sliding:
        for k in range(unknown):
            s = pick[0, k]
            slot = slots[order[s // 3]]
            if s % 3 == 0 and slot.mode == SLIDES:
                t, u = _friction(slot)
                vector[FOUND, s + 1] += t * vector[FOUND, s]
                vector[FOUND, s + 2] += u * vector[FOUND, s]


@inlined
def _friction(slot):
    """Of a slot that slides: friction along its tangents per normal force."""
    way, axes = get3(slot.way), slot.axes
    t, s = dot3(way, (axes[3], axes[4], axes[5])), dot3(way, (axes[6], axes[7], axes[8]))
    size = (t * t + s * s) ** 0.5
    return (-slot.friction * t / size, -slot.friction * s / size) if size > 0.0 else (0.0, 0.0)


@kernel
def _factor(M, pivot, n):
    """LU of a small dense matrix, rows exchanged."""
    for k in range(n):
        best = k
        for r in range(k + 1, n):
            if abs(M[r, k]) > abs(M[best, k]):
                best = r
        pivot[k] = best
        if best != k:
            for c in range(n):
                x = M[k, c]
                M[k, c] = M[best, c]
                M[best, c] = x
        if M[k, k] == 0.0:
            continue
        for r in range(k + 1, n):
            if M[r, k] != 0.0:
                M[r, k] /= M[k, k]
                for c in range(k + 1, n):
                    M[r, c] -= M[r, k] * M[k, c]


@kernel
def _substitute(M, pivot, x, n):
    """x ← M⁻¹ x; what no equation is about gets nothing."""
    for k in range(n):
        if pivot[k] != k:
            y = x[k]
            x[k] = x[pivot[k]]
            x[pivot[k]] = y
    for k in range(n):
        for c in range(k):
            x[k] -= M[k, c] * x[c]
    for k in range(n - 1, -1, -1):
        for c in range(k + 1, n):
            x[k] -= M[k, c] * x[c]
        x[k] = x[k] / M[k, k] if M[k, k] != 0.0 else 0.0


@kernel
def note_lost(touch):
    """Power that friction takes, in state.lost."""
    state = touch.state[0]
    state.lost = 0.0
    for c in range(state.closed):
        slot = touch.slots[touch.order[c]]
        state.lost -= slot.p[1] * slot.rate[1] + slot.p[2] * slot.rate[2]


@kernel
def apply_touch(constraints, work, touch, a, bounded):
    """Forces of contact onto accelerations, forces of rows and power."""
    state, slots, order = touch.state[0], touch.slots, touch.order
    rows, flag = constraints.rows, work.flag
    note_lost(touch)
    if state.closed == 0:
        return
    for r in range(rows.shape[0]):  # what `account` adds to the flows of states it adds again
        if rows[r].role == LAW and rows[r].state >= 0 and flag[ON, r] != 0:
            rows[r].flow -= rows[r].push * (rows[r].goal - rows[r].force) * work.row[SOFT, r]
    row, D, link = work.row, work.dof[INVERSE], work.link
    for c in range(state.closed):
        slot = slots[order[c]]
        for m in range(3):
            p, s = slot.p[m], 3 * c + m
            if p == 0.0:
                continue
            for r in range(rows.shape[0]):
                row[P, r] -= touch.S[s, r] * p
            for d in range(touch.J.shape[1]):
                a[touch.rate[d]] += touch.Z[s, d] * p
                push = touch.Y[s, d] * p
                work.dof[FORCE, d] += push
                for r in range(link[d].begin, link[d].end):  # rows that are let go are to know of it
                    if flag[ON, r] != 0:
                        row[ROW_WANTS, r] -= work.Y[d, r] * D[d] * push
                        row[TAKEN, r] += work.Y[d, r] * D[d] * push
    account(constraints, work, a, bounded)


@kernel
def aim_touch(touch, moves, turns):
    """What takes points that touch to no gap and no velocity that they must not have, added to what rows want of that:
    displacements, and changes of rates."""
    state, slots, order, vector, pick = touch.state[0], touch.slots, touch.order, touch.vector, touch.pick
    state.residual = 0.0
    if state.closed == 0:
        return
    for place in range(2):
        delta = moves if place != 0 else turns
        rates_along(touch, delta, vector[ALONG])
        unknown = 0
        for c in range(state.closed):
            slot = slots[order[c]]
            for m in range(3 if slot.mode != FREE else 0):
                r = 3 * c + m
                if m > 0 and (place != 0 or slot.mode != STICKS):
                    continue
                now = slot.gap if place != 0 else slot.rate[m]
                if place == 0:
                    state.residual = max(state.residual, abs(now))
                vector[WANT, r] = -(now + vector[ALONG, r])
                pick[0, unknown] = r
                unknown += 1
        solve_for(touch, unknown, False)
        for r in range(3 * state.closed):
            p = vector[FOUND, r]
            if p != 0.0:
                for d in range(touch.J.shape[1]):
                    delta[touch.rate[d]] += touch.Z[r, d] * p


@inlined
def _across(slot, response, h):
    """How a slot that slides slowly is held across its way: (whether it is to be taken implicitly, its softness).

    Friction turns with the slip, and damps what there is of it across by µ p_n/|slip|. That is stiff where slip begins
    or ends, and then it is taken at the end of the step, to first order, as stiff dampers are: a + soft f = 0. From
    rest slip goes with the acceleration, so that this is Newton's method for the way.
    """
    push, speed = slot.friction * max(slot.p[0], 0.0), norm3(slip_of(slot))
    if push == 0.0:
        return False, 0.0
    if speed <= STOPPED:
        return slot.accel[1] > 1e-9 * push * response, max(slot.accel[1], 0.0) / push
    if h * push * response > _STIFF * speed:
        return True, speed / (h * push)
    return False, 0.0
