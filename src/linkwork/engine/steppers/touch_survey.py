"""(placed tables) => points of contact with their gaps, velocities and velocity-product accelerations.

What contact geometry does to accelerations (how normals turn and points wander as bodies roll on each other) is a
derivative along the present motion. It is taken by differences of the narrow phase itself at four poses ahead of and
behind this one, so that every pair of shapes has it, whatever its curvature: fourth order in a thousandth of a radian.
Where normals jump between these poses (an edge slides over another's end) there is no derivative, and differences would
be any force.
"""

import math

from ..contact.collide import collide
from ..contact.detect import NO_ROOM, detect
from ..kernels.jit import inlined, kernel
from ..kernels.math3 import (
    add3,
    chain,
    cross3,
    dot3,
    get3,
    get9,
    norm3,
    quat_exp,
    quat_matrix,
    scale3,
    set3,
    sub3,
)
from .touch_tables import FREE, STICKS

NO_PAIRS, GIVE_UP = 11, 23
"""Why an evaluation of contact is no good: there is no room for so many pairs of shapes; points are too many, or one
that carried a load is not found again or turns by jumps, or something is deep inside of something else."""

_AHEAD = 1e-3
"""How far poses are moved for differences, as an angle and a share of sizes; also the longest time [s]."""
_JUMP = 0.1  # share of velocities that a step may change by where normals jump
_TURNED = 0.1  # what has another normal is another contact [rad]


@kernel
def survey_touch(tables, touch, h):
    """Points that are near within h from here, matched with the slots; state.bad tells if that is no good."""
    state, slots, found = touch.state[0], touch.slots, touch.found
    state.step = h
    if detect(tables.dofs, tables.islands, touch.colliders, found, h, state.near) == NO_ROOM:
        state.bad = NO_PAIRS
        return
    side = found.counts[0].side
    patches, points = found.patches[side], found.points[side]
    for k in range(state.slots):
        slots[k].found = 0
    depth = 0.0
    for k in range(found.counts[0].patches):
        patch = patches[k]
        for turn in range(2):  # by feature; then what is left by place, for what rolls changes its features
            for p in range(patch.first, patch.first + patch.count):
                point = points[p]
                depth = max(depth, -point.gap)
                if turn == 0:
                    point.pushes = _slot_by_feature(slots, state.slots, patch, point)
                elif point.pushes < 0:
                    point.pushes = _slot_by_place(slots, state.slots, patch, point)
                if turn == 1 and point.pushes < 0:
                    if state.slots == slots.shape[0]:
                        state.bad = GIVE_UP
                        return
                    point.pushes = state.slots
                    state.slots += 1
                    _begin_slot(slots[point.pushes], patch)
                if point.pushes >= 0:
                    _put_slot(slots[point.pushes], point)
    state.depth = depth
    for k in range(state.slots):
        if slots[k].found != 0:
            _measure_rates(tables, touch, slots[k])


@inlined
def _slot_by_feature(slots, count, patch, point):
    for k in range(count):
        slot = slots[k]
        if slot.i == patch.i and slot.j == patch.j and slot.found == 0 and slot.feature == point.feature:
            return k
    return -1


@inlined
def _slot_by_place(slots, count, patch, point):
    """The nearest slot of a pair that is left and carried a load."""
    best, nearest = math.inf, -1
    for k in range(count):
        slot = slots[k]
        if (
            slot.i == patch.i
            and slot.j == patch.j
            and slot.found == 0
            and (slot.mode != FREE or patch.count == 1)
        ):
            d = sub3(get3(slot.x), get3(point.x))
            if dot3(d, d) < best:
                best, nearest = dot3(d, d), k
    return nearest


@inlined
def _put_slot(slot, point):
    slot.found, slot.feature, slot.gap = 1, point.feature, point.gap
    set3(slot.x, get3(point.x))
    for m in range(3):
        slot.axes[m], slot.axes[3 + m], slot.axes[6 + m] = point.n[m], point.t[m], point.s[m]


@inlined
def _begin_slot(slot, patch):
    slot.i, slot.j, slot.a, slot.b = patch.i, patch.j, patch.a, patch.b
    slot.mode, slot.onset, slot.known, slot.friction = FREE, 0, 0, patch.friction
    for m in range(3):
        slot.p[m], slot.bias[m], slot.accel[m], slot.way[m], slot.ahead[m] = 0.0, 0.0, 0.0, 0.0, 0.0


@inlined
def _motion(tables, touch, i):
    """Of a shape: position, velocity and acceleration of its origin, angular velocity and acceleration, if no joint
    accelerated."""
    mount, at = touch.colliders.mounts[i], touch.found.positions[i]
    p, zero = (at[0], at[1], at[2]), (0.0, 0.0, 0.0)
    if mount.link == 0:
        return p, zero, zero, zero, zero
    dof = tables.dofs[mount.link]
    base, V, A = tables.dofs[0].A0, dof.V, dof.A0
    r = sub3(p, get3(tables.islands[dof.island].o))
    w, e = (V[0], V[1], V[2]), (A[0], A[1], A[2])
    u = add3((V[3], V[4], V[5]), cross3(w, r))
    a = (A[3] - base[3], A[4] - base[4], A[5] - base[5])
    a = add3(add3(a, cross3(e, r)), cross3(w, u))
    return p, u, a, w, e


@inlined
def _relative(x, p_a, u_a, w_a, p_b, u_b, w_b):
    """Velocity of B against A at a point."""
    b = add3(u_b, cross3(w_b, sub3(x, p_b)))
    return sub3(b, add3(u_a, cross3(w_a, sub3(x, p_a))))


@kernel
def _measure_rates(tables, touch, slot):
    p_a, u_a, _, w_a, _ = _motion(tables, touch, slot.i)
    p_b, u_b, _, w_b, _ = _motion(tables, touch, slot.j)
    w = _relative(get3(slot.x), p_a, u_a, w_a, p_b, u_b, w_b)
    for m in range(3):
        slot.rate[m] = slot.axes[3 * m] * w[0] + slot.axes[3 * m + 1] * w[1] + slot.axes[3 * m + 2] * w[2]


@kernel
def survey_bias(tables, touch):
    """Velocity-product accelerations of all slots that touch."""
    slots, order, state = touch.slots, touch.order, touch.state[0]
    for c in range(state.closed):
        slot, done = slots[order[c]], False
        for b in range(c):
            done |= slots[order[b]].i == slot.i and slots[order[b]].j == slot.j
        if not done:
            _bias_of_pair(tables, touch, slot.i, slot.j)


@inlined
def _turned(R, s, w, e):
    """R after a time s of turning with w, which changes by e."""
    f = quat_exp(add3(scale3(s, w), scale3(0.5 * s * s, e)))
    return chain(quat_matrix(f[0], f[1], f[2], f[3]), R)


@kernel
def _bias_of_pair(tables, touch, i, j):
    """Differences of the velocities at the points of a pair, over four poses."""
    slots, order, state, found, colliders = (
        touch.slots,
        touch.order,
        touch.state[0],
        touch.found,
        touch.colliders,
    )
    p_a, u_a, a_a, w_a, e_a = _motion(tables, touch, i)
    p_b, u_b, a_b, w_b, e_b = _motion(tables, touch, j)
    R_a, R_b = get9(found.rotations[i]), get9(found.rotations[j])
    thin = min(found.bounds[i, 1], found.bounds[j, 1])
    speed = norm3(sub3(u_b, u_a)) / thin if thin > 0.0 else 0.0
    s = _AHEAD / max(norm3(w_a) + norm3(w_b) + speed, 1.0)
    for c in range(state.closed):
        slot = slots[order[c]]
        if slot.i == i and slot.j == j:
            slot.found = 1
            for m in range(3):
                slot.bias[m] = slot.uneven[m] = 0.0
    # (f(-2) - 8 f(-1) + 8 f(1) - f(2)) / 12
    for k in range(4):
        x = s * (k - 2.0 if k < 2 else k - 1.0)
        weight = (1.0 if k == 0 else -8.0 if k == 1 else 8.0 if k == 2 else -1.0) / (12.0 * s)
        # (f(1) - f(-1)) / 2, less (f(2) - f(-2)) / 4
        other = (1.0 if k == 0 else -2.0 if k == 1 else 2.0 if k == 2 else -1.0) / (4.0 * s)
        h = 0.5 * x * x
        q_a, q_b = (
            add3(p_a, add3(scale3(x, u_a), scale3(h, a_a))),
            add3(p_b, add3(scale3(x, u_b), scale3(h, a_b))),
        )
        count = collide(
            colliders.shapes[i], (q_a, _turned(R_a, x, w_a, e_a)), colliders.shapes[j],
            (q_b, _turned(R_b, x, w_b, e_b)), colliders.hulls, _margin(found, i, j), found.scratch, found.out,
        )  # fmt: skip
        v_a, v_b = add3(u_a, scale3(x, a_a)), add3(u_b, scale3(x, a_b))
        o_a, o_b = add3(w_a, scale3(x, e_a)), add3(w_b, scale3(x, e_b))
        for c in range(state.closed):
            slot = slots[order[c]]
            if slot.i != i or slot.j != j:
                continue
            n = (slot.axes[0], slot.axes[1], slot.axes[2])
            at, best = -1, math.inf
            for p in range(count):
                y = scale3(0.5, add3(get3(found.out[p].a), get3(found.out[p].b)))
                d = sub3(y, get3(slot.x))
                apart = -1.0 if found.out[p].feature == slot.feature else dot3(d, d)
                alike = dot3(get3(found.out[p].normal), n) > 1.0 - 0.5 * _TURNED * _TURNED
                if alike and apart < best:
                    at, best = p, apart
            if at < 0:
                slot.found = 2  # something else begins to touch: corrections of velocities see to it
            else:
                y, m = (
                    scale3(0.5, add3(get3(found.out[at].a), get3(found.out[at].b))),
                    get3(found.out[at].normal),
                )
                w = _relative(y, q_a, v_a, o_a, q_b, v_b, o_b)
                t = (slot.axes[3], slot.axes[4], slot.axes[5])
                rate = (dot3(m, w), dot3(t, w), dot3((slot.axes[6], slot.axes[7], slot.axes[8]), w))
                for d in range(3):
                    slot.bias[d] += weight * rate[d]
                    slot.uneven[d] += other * rate[d]
    # Where a curvature jumps, these differ by a quarter of what the motion takes around the thinner shape, which a step
    # hardly notices; where a normal does so, by that times hundreds, of which a step would make a motion of its own.
    most = _JUMP * _AHEAD / s * thin / state.step if state.step > 0.0 else math.inf
    for c in range(state.closed):
        slot = slots[order[c]]
        if slot.i == i and slot.j == j:
            for m in range(3):
                if slot.found == 2:
                    slot.bias[m] = 0.0
                elif (m == 0 or slot.mode == STICKS) and thin > 0.0 and abs(slot.uneven[m]) > most:
                    state.bad = GIVE_UP


@inlined
def _margin(found, i, j):
    """For displaced poses, whatever the shapes are apart there."""
    return (
        found.reach[i] + found.reach[j] + _AHEAD * (_finite(found.bounds[i, 0]) + _finite(found.bounds[j, 0]))
    )


@inlined
def _finite(size):
    return size if size < math.inf else 0.0
