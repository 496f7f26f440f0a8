"""What every joint transmits, from a motion that is known: Newton and Euler on every body, solved for the joints.

Here every body floats and every joint is a group of equations, whatever coordinates the motion was computed in: the
definition of a reaction must not depend on where a method cuts loops. A body of known motion needs the wrench

    w = I A + V ×* I V - loads - forces of rows that are no equations,

and the equations must supply it: Jᵀ λ = w, with J the equations as unit wrenches (below) on the bodies they join. Of
all λ that do, the smallest is λ = J x with (JᵀJ) x = w. JᵀJ couples bodies that share a joint: symmetric, sparse,
without masses, and singular wherever the mechanism can move. A little damping D makes it definite; since λ is
corrected by what is missing of w (λ += J (JᵀJ + D)⁻¹ (w - Jᵀ λ): the method of Riley, here with the corrected
seminormal equations of Björck), the damping leaves no trace, and no pivot has to be judged zero.

Unit wrench: forces count as they are, torques at b's joint frame over one length of the model, so that 'smallest' does
not depend on the unit of length. Each equation of λ is of this size: λ is in N.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, chain, cross3, get3, get9, rotate, set3, set9, sub3
from ..kernels.rows import measure
from ..kernels.spatial import add6, add_scaled6, dot6, get6, scale6, set6
from ..loads import apply_loads
from ..tables import BALL_AXIS, COORDINATE, DISTANCE
from .tree import _weigh, place

# Damping against the diagonal of JᵀJ. Rounding disturbs pivots by some 1e-15 of it. A correction leaves the share
# damping/(damping + σ²) of a reaction behind, σ the singular value of J that it needs: σ² is 2e-2 in the Peaucellier
# linkage, 1e-6 in a chain of 40 and 2e-9 in one of 200. Less damping blurs the reactions to a motion that no joint
# forces can cause: by rounding/damping/σ of what they cannot balance.
_DAMPING = 1e-11
# Corrections end when every body is balanced to this share of what acts on it, or when they gain no more.
_BALANCED, _CORRECTIONS, _GAIN = 1e-14, 30, 0.9

RIDER = np.dtype(
    [
        ("source", "i8"),  # the dof that it rides on in the system whose motion is known
        ("link", "i8"),  # its dof among the floating bodies
        ("X_R", "f8", 9),  # frame of `link` in that of `source`, rotation
        ("X_p", "f8", 3),  # and position [m]
    ]
)

EQUATION = np.dtype(
    [
        ("row", "i8"),
        (
            "ends",
            "i8",
            4,
        ),  # bodies that it acts on, as they are numbered in `riders`; -1 for the ground or none
        # --- written by every evaluation ---
        ("size", "f8"),  # of the wrench of a unit force of its row
        ("J", "f8", 24),  # unit wrench on every end at its centre of mass, world axes, torque over `length`
        ("force", "f8"),  # how many of them [N]
    ]
)


class Balance(NamedTuple):
    """What the solution needs of a mechanism, and its scratch. Bodies are numbered in the order of elimination."""

    riders: np.ndarray
    leaders: np.ndarray
    """The rider at whose frame each island of floating bodies has its reference point."""
    equations: np.ndarray
    along: np.ndarray
    """The coordinate among the rows that each dof of the source moves, or -1."""
    first: np.ndarray
    """The first body that each body is coupled to in the factor."""
    start: np.ndarray
    """Where the blocks of each body begin in the factor."""
    factor: np.ndarray
    """JᵀJ, then its factor: rows of blocks of 36 numbers from `first` to the diagonal."""
    load: np.ndarray
    """w of every body, torque over `length`, at its centre of mass."""
    missing: np.ndarray
    """What the forces so far leave of it."""
    step: np.ndarray
    weight: np.ndarray
    """What acts on every body, without signs."""
    scale: np.ndarray
    """The least that is taken for that [N]: a body that falls freely is balanced but for rounding."""
    wrench: np.ndarray
    """Per pair of frames: what it does to a (6) and to b (6), at the reference points of their islands."""


@kernel
def observe_wrenches(
    source, bodies, constraints, balance, length, lawful, outer, t, q, v, qdd, given, rows, forces, torques,
    unbalanced,
):  # fmt: skip
    """Force and torque of a on b through every joint, world axes, for every sample [N, N m].

    source: tables of the system that q, v, qdd belong to, its loads those on joint coordinates alone; bodies,
    constraints: floating bodies and their rows. rows[k] is the row of the force given[:, k], -1 for none that counts.
    lawful: springs between points follow their law instead. outer[j]: joint j is seen at a's frame, else at b's.
    unbalanced: share of what acts on a body that no forces in the joints can balance, the worst of every sample.
    """
    dofs, pairs = bodies.dofs, constraints.pairs
    for i in range(t.shape[0]):
        carry(source, bodies, balance, t[i], q[i], v[i], qdd[i])
        apply_loads(bodies, q[i], v[i], t[i])
        measure(bodies, constraints, q[i])
        _gather(source, bodies, constraints, balance, lawful, qdd[i], given[i], rows)
        state_equations(bodies, constraints, balance, length)
        factor_envelope(balance)
        unbalanced[i] = _solve(dofs, balance, length)
        for e in range(balance.equations.shape[0]):
            equation = balance.equations[e]
            _add_row(constraints, balance.wrench, equation.row, equation.force / equation.size)
        for j in range(outer.shape[0]):
            sign, r, k = (-1.0, get3(pairs[j].r_A), 0) if outer[j] != 0 else (1.0, get3(pairs[j].r_B), 6)
            W = balance.wrench[j]
            f = (W[k + 3], W[k + 4], W[k + 5])
            n = sub3((W[k], W[k + 1], W[k + 2]), cross3(r, f))
            for x in range(3):
                forces[i, 3 * j + x] = sign * f[x]
                torques[i, 3 * j + x] = sign * n[x]


@kernel
def carry(source, bodies, balance, t, q, v, qdd):
    """(q, v, qdd of the source) => R, r, V, A0 (the whole acceleration), I, p of every floating body.

    dof.tau of the source becomes what springs, dampers and functions of joint coordinates do along them.
    """
    place(source.dofs, source.islands, q, v)
    apply_loads(source, q, v, t)
    for d in range(1, source.dofs.shape[0]):
        dof = source.dofs[d]
        set6(dof.A, add_scaled6(get6(source.dofs[dof.parent].A), qdd[dof.v], get6(dof.S)))
    riders, islands = balance.riders, bodies.islands
    for k in range(balance.leaders.shape[0]):
        rider = riders[balance.leaders[k]]
        dof = source.dofs[rider.source]
        r = add3(get3(dof.r), rotate(get9(dof.R), get3(rider.X_p)))
        set3(islands[k].o, add3(get3(source.islands[dof.island].o), r))
    for k in range(riders.shape[0]):
        rider = riders[k]
        dof = source.dofs[rider.source]
        own = bodies.dofs[rider.link]
        apart = sub3(get3(islands[own.island].o), get3(source.islands[dof.island].o))
        R = get9(dof.R)
        r = sub3(add3(get3(dof.r), rotate(R, get3(rider.X_p))), apart)
        R = chain(R, get9(rider.X_R))
        V = _moved(get6(dof.V), apart)
        A = _moved(add6(get6(dof.A0), get6(dof.A)), apart)
        balance.scale[k] = own.mass * (
            (abs(dof.A0[3]) + abs(dof.A0[4]) + abs(dof.A0[5]))
            + (abs(dof.A[3]) + abs(dof.A[4]) + abs(dof.A[5]))
        )
        set9(own.R, R)
        set3(own.r, r)
        set6(own.V, V)
        set6(own.A0, A)
        _weigh(own, R, r, V, A)


@inlined
def _moved(V, d):
    """A motion vector at a reference point further by d."""
    u = cross3((V[0], V[1], V[2]), d)
    return V[0], V[1], V[2], V[3] + u[0], V[4] + u[1], V[5] + u[2]


# --- what is known of the forces in joints ---


@kernel
def _gather(source, bodies, constraints, balance, lawful, qdd, given, rows):
    """Forces along joint coordinates, of rotors and of rows that are no equations => wrench, and off p."""
    dofs, pairs, wrench = bodies.dofs, constraints.pairs, balance.wrench
    for j in range(wrench.shape[0]):
        for k in range(12):
            wrench[j, k] = 0.0
    for d in range(1, source.dofs.shape[0]):
        dof = source.dofs[d]
        push = dof.tau - dof.armature * qdd[dof.v]
        if balance.along[d] >= 0 and push != 0.0:
            _add_rate(constraints, wrench, balance.along[d], push)
    for k in range(rows.shape[0]):
        if rows[k] >= 0 and given[k] != 0.0:
            _add_row(constraints, wrench, rows[k], given[k])
    if lawful:
        for i in range(constraints.rows.shape[0]):
            row = constraints.rows[i]
            if row.kind == DISTANCE:
                pair = pairs[row.pair]
                rate = dot6(get6(row.J_A), get6(dofs[pair.a].V)) + dot6(get6(row.J_B), get6(dofs[pair.b].V))
                _add_row(constraints, wrench, i, -row.value[0] * row.phi - row.value[1] * rate)
    for j in range(wrench.shape[0]):
        a, b = pairs[j].a, pairs[j].b
        for k in range(6):
            if a != 0:
                dofs[a].p[k] -= wrench[j, k]
            if b != 0:
                dofs[b].p[k] -= wrench[j, 6 + k]


@inlined
def _add_wrench(wrench, j, s, J_A, J_B):
    for k in range(6):
        wrench[j, k] += s * J_A[k]
        wrench[j, 6 + k] += s * J_B[k]


@kernel
def _add_rate(constraints, wrench, c, s):
    """A force s along the rate of a coordinate: of a ball, its angular velocity about an axis of b."""
    coord = constraints.coords[c]
    if coord.how != BALL_AXIS:
        _add_wrench(wrench, coord.pair, s, coord.J_A, coord.J_B)
        return
    R = constraints.pairs[coord.pair].R_B
    for k in range(3):
        n = s * R[3 * k + coord.pick[4]]
        wrench[coord.pair, k] -= n
        wrench[coord.pair, 6 + k] += n


@kernel
def _add_row(constraints, wrench, i, s):
    """A force s of a row."""
    row, coords = constraints.rows[i], constraints.coords
    if row.kind != COORDINATE:
        _add_wrench(wrench, row.pair, s, row.J_A, row.J_B)
        return
    first = coords[row.first]
    _add_wrench(wrench, first.pair, s * row.sign, first.J_A, first.J_B)
    if row.second >= 0:
        second = coords[row.second]
        _add_wrench(wrench, second.pair, -s * row.ratio, second.J_A, second.J_B)


# --- the equations ---


@kernel
def state_equations(bodies, constraints, balance, length):
    """(measured rows) => unit wrenches J of every equation, and JᵀJ in `factor`."""
    factor, first, start = balance.factor, balance.first, balance.start
    for k in range(factor.shape[0]):
        factor[k] = 0.0
    for e in range(balance.equations.shape[0]):
        equation = balance.equations[e]
        row, coords = constraints.rows[equation.row], constraints.coords
        J = equation.J
        if row.kind == COORDINATE:
            coord = coords[row.first]
            size = _ends(bodies, constraints, coord.pair, row.sign, coord.J_A, coord.J_B, length, J, 0)
            coord = coords[row.second]
            size += _ends(bodies, constraints, coord.pair, -row.ratio, coord.J_A, coord.J_B, length, J, 12)
            count = 4
        else:
            size = _ends(bodies, constraints, row.pair, 1.0, row.J_A, row.J_B, length, J, 0)
            count = 2
        equation.size = math.sqrt(size)
        unit = 1.0 / equation.size
        for k in range(6 * count):
            J[k] *= unit
        for p in range(count):
            i = equation.ends[p]
            for s in range(count):
                j = equation.ends[s]
                if j >= 0 and j <= i:
                    _add_product(factor, 36 * (start[i] + j - first[i]), J, 6 * p, 6 * s)


@inlined
def _add_product(factor, at, J, a, b):
    """Block `at` += six numbers of J times six others."""
    y0, y1, y2, y3, y4, y5 = J[b], J[b + 1], J[b + 2], J[b + 3], J[b + 4], J[b + 5]
    for r in range(6):
        x, k = J[a + r], at + 6 * r
        factor[k] += x * y0
        factor[k + 1] += x * y1
        factor[k + 2] += x * y2
        factor[k + 3] += x * y3
        factor[k + 4] += x * y4
        factor[k + 5] += x * y5


@kernel
def _ends(bodies, constraints, j, s, J_A, J_B, length, J, at):
    """s times a Jacobian as wrenches on a and b, into J from `at`; returns the square of its size."""
    dofs, pair = bodies.dofs, constraints.pairs[j]
    W_A, W_B = scale6(s, get6(J_A)), scale6(s, get6(J_B))
    on_a = _seen(W_A, get3(dofs[pair.a].r), length)
    on_b = _seen(W_B, get3(dofs[pair.b].r), length)
    for k in range(6):
        J[at + k] = on_a[k]
        J[at + 6 + k] = on_b[k]
    W = _seen(W_B, get3(pair.r_B), length)
    return dot6(W, W)


@inlined
def _seen(W, r, length):
    """A wrench taken at r, its torque over the length."""
    f = (W[3], W[4], W[5])
    n = sub3((W[0], W[1], W[2]), cross3(r, f))
    return n[0] / length, n[1] / length, n[2] / length, f[0], f[1], f[2]


# --- JᵀJ + D = L Lᵀ in blocks ---


@kernel
def factor_envelope(balance):
    """JᵀJ => L, damped."""
    L, first, start = balance.factor, balance.first, balance.start
    for i in range(first.shape[0]):
        for j in range(first[i], i + 1):
            at = 36 * (start[i] + j - first[i])
            if i == j:
                for r in range(6):
                    L[at + 7 * r] += _DAMPING * (1.0 + L[at + 7 * r])
            for k in range(max(first[i], first[j]), j):
                _subtract_product(L, at, 36 * (start[i] + k - first[i]), 36 * (start[j] + k - first[j]))
            _divide(L, at, 36 * (start[j] + j - first[j]))


@inlined
def _subtract_product(L, at, a, b):
    """Block `at` -= block a times block b transposed."""
    for r in range(6):
        k = a + 6 * r
        x0, x1, x2, x3, x4, x5 = L[k], L[k + 1], L[k + 2], L[k + 3], L[k + 4], L[k + 5]
        for c in range(6):
            k = b + 6 * c
            L[at + 6 * r + c] -= (
                (x0 * L[k] + x1 * L[k + 1])
                + (x2 * L[k + 2] + x3 * L[k + 3])
                + (x4 * L[k + 4] + x5 * L[k + 5])
            )


@kernel
def _divide(L, at, diagonal):
    """Block `at` times the inverse transpose of a factored diagonal block; of that block itself: factor it."""
    for r in range(6):
        for c in range(r + 1 if at == diagonal else 6):
            x = L[at + 6 * r + c]
            for k in range(c):
                x -= L[at + 6 * r + k] * L[diagonal + 6 * c + k]
            if at == diagonal and c == r:
                L[at + 7 * r] = math.sqrt(max(x, _DAMPING))
            else:
                L[at + 6 * r + c] = x / L[diagonal + 7 * c]


@kernel
def solve_envelope(balance, x):
    """x <- (JᵀJ + D)⁻¹ x."""
    L, first, start = balance.factor, balance.first, balance.start
    n = first.shape[0]
    for i in range(n):
        diagonal = 36 * (start[i] + i - first[i])
        for r in range(6):
            total = x[6 * i + r]
            for j in range(first[i], i):
                k, m = 36 * (start[i] + j - first[i]) + 6 * r, 6 * j
                total -= (
                    (L[k] * x[m] + L[k + 1] * x[m + 1])
                    + (L[k + 2] * x[m + 2] + L[k + 3] * x[m + 3])
                    + (L[k + 4] * x[m + 4] + L[k + 5] * x[m + 5])
                )
            for c in range(r):
                total -= L[diagonal + 6 * r + c] * x[6 * i + c]
            x[6 * i + r] = total / L[diagonal + 7 * r]
    for i in range(n - 1, -1, -1):
        diagonal = 36 * (start[i] + i - first[i])
        for r in range(5, -1, -1):
            total = x[6 * i + r]
            for c in range(r + 1, 6):
                total -= L[diagonal + 6 * c + r] * x[6 * i + c]
            x[6 * i + r] = total / L[diagonal + 7 * r]
        for j in range(first[i], i):
            at = 36 * (start[i] + j - first[i])
            for r in range(6):
                for c in range(6):
                    x[6 * j + c] -= L[at + 6 * r + c] * x[6 * i + r]


@kernel
def _solve(dofs, balance, length):
    """p of every body => the smallest forces of the equations that balance it; returns what share they cannot."""
    for k in range(balance.riders.shape[0]):
        dof = dofs[balance.riders[k].link]
        w = _seen(get6(dof.p), get3(dof.r), length)
        for c in range(6):
            balance.load[6 * k + c] = w[c]
    for e in range(balance.equations.shape[0]):
        balance.equations[e].force = 0.0
    return correct(balance)


@kernel
def correct(balance):
    """Change the forces of the equations as little as balances the load; returns what share they cannot.

    Without a load this leaves of any forces that part which nothing outside can tell: the null space of Jᵀ.
    """
    equations, missing, step = balance.equations, balance.missing, balance.step
    _miss(balance)
    before = math.inf
    for _ in range(_CORRECTIONS):
        for k in range(step.shape[0]):
            step[k] = missing[k]
        solve_envelope(balance, step)
        for e in range(equations.shape[0]):
            equations[e].force += _pull(equations[e], step)
        share = _miss(balance)
        # Bodies differ in what acts on them by many orders: a second correction settles the light ones too.
        if before < math.inf and (share <= _BALANCED or share > _GAIN * before):
            return share
        before = share
    return before


@kernel
def _pull(equation, x):
    """J x of one equation."""
    total = 0.0
    J = equation.J
    for p in range(4):
        i = 6 * equation.ends[p]
        if i >= 0:
            k = 6 * p
            total += (
                (J[k] * x[i] + J[k + 1] * x[i + 1])
                + (J[k + 2] * x[i + 2] + J[k + 3] * x[i + 3])
                + (J[k + 4] * x[i + 4] + J[k + 5] * x[i + 5])
            )
    return total


@kernel
def _miss(balance):
    """missing = w - Jᵀ λ; returns the largest share of it in what acts on a body."""
    equations, load, missing, weight = balance.equations, balance.load, balance.missing, balance.weight
    for k in range(load.shape[0]):
        missing[k] = load[k]
        weight[k] = abs(load[k])
    for e in range(equations.shape[0]):
        equation = equations[e]
        force, J = equation.force, equation.J
        for p in range(4):
            i = 6 * equation.ends[p]
            if i >= 0:
                for k in range(6):
                    part = J[6 * p + k] * force
                    missing[i + k] -= part
                    weight[i + k] += abs(part)
    worst = 0.0
    for b in range(balance.riders.shape[0]):
        left, whole = 0.0, balance.scale[b]
        for k in range(6 * b, 6 * b + 6):
            left = max(left, abs(missing[k]))
            whole = max(whole, weight[k])
        if left > worst * whole:
            worst = left / whole
    return worst
