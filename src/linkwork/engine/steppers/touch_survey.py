"""(placed tables) => points of contact with their gaps, velocities and velocity-product accelerations.

What contact geometry does to accelerations (how normals turn and points wander as bodies roll on each other) is a
derivative along the present motion. It is taken by differences of the narrow phase itself at four poses ahead of and
behind this one, so that every pair of shapes has it, whatever its curvature: fourth order in a thousandth of a radian.
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
from .touch_tables import FREE

NO_PAIRS, GIVE_UP = 11, 23
"""Why an evaluation of contact is no good: there is no room for so many pairs of shapes; points are too many, or one
that carried a load is not found again, or something is deep inside of something else."""

_AHEAD = 1e-3
"""How far poses are moved for differences, as an angle and a share of sizes; also the longest time [s]."""
_TURNED = 0.1  # what has another normal is another contact [rad]


@kernel
def survey_touch(tables, touch, h):
    """Points that are near within h from here, matched with the slots; state.bad tells if that is no good."""
    state, slots, found = touch.state[0], touch.slots, touch.found
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
        for p in range(patch.first, patch.first + patch.count):
            depth = max(depth, -points[p].gap)
            s = _slot_of(slots, state.slots, patch.i, patch.j, points[p].feature, patch.count)
            if s < 0:
                if state.slots == slots.shape[0]:
                    state.bad = GIVE_UP
                    return
                s = state.slots
                state.slots += 1
                _begin_slot(slots[s], patch)
            slot = slots[s]
            slot.found, slot.feature = 1, points[p].feature
            slot.gap = points[p].gap
            set3(slot.x, get3(points[p].x))
            for m in range(3):
                slot.axes[m], slot.axes[3 + m], slot.axes[6 + m] = (
                    points[p].n[m],
                    points[p].t[m],
                    points[p].s[m],
                )
    state.depth = depth
    for k in range(state.slots):
        if slots[k].found != 0:
            _measure_rates(tables, touch, slots[k])


@inlined
def _slot_of(slots, count, i, j, feature, alone):
    """The slot of a point: of the same feature or, if it is the only one of its pair, the only one that was there."""
    others, last = 0, -1
    for k in range(count):
        slot = slots[k]
        if slot.i == i and slot.j == j and slot.found == 0:
            if slot.feature == feature:
                return k
            others += 1
            last = k
    return last if others == 1 and alone == 1 else -1


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
                slot.bias[m] = 0.0
    # (f(-2) - 8 f(-1) + 8 f(1) - f(2)) / 12
    for k in range(4):
        x = s * (k - 2.0 if k < 2 else k - 1.0)
        weight = (1.0 if k == 0 else -8.0 if k == 1 else 8.0 if k == 2 else -1.0) / (12.0 * s)
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
            at = -1
            for p in range(count):
                same = found.out[p].feature == slot.feature or count == 1
                if same and dot3(get3(found.out[p].normal), n) > 1.0 - 0.5 * _TURNED * _TURNED:
                    at = p
                    break
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
    for c in range(state.closed):
        slot = slots[order[c]]
        if slot.i == i and slot.j == j and slot.found == 2:
            for m in range(3):
                slot.bias[m] = 0.0


@inlined
def _margin(found, i, j):
    """For displaced poses, whatever the shapes are apart there."""
    return (
        found.reach[i] + found.reach[j] + _AHEAD * (_finite(found.bounds[i, 0]) + _finite(found.bounds[j, 0]))
    )


@inlined
def _finite(size):
    return size if size < math.inf else 0.0
