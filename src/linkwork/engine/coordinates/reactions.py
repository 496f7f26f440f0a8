"""What every joint transmits, from a motion that is known: Newton and Euler on every body, solved for the joints.

Here every body floats and every joint is a group of equations, whatever coordinates the motion was computed in: the
definition of a reaction must not depend on where a method cuts loops. A body of known motion needs the wrench

    w = I A + V ×* I V - loads - forces of rows that are no equations,

and the equations of the joints must supply it (`equations`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, chain, cross3, get3, get9, rotate, set3, set9, sub3
from ..kernels.rows import measure
from ..kernels.spatial import add6, add_scaled6, dot6, get6, set6
from ..loads import apply_loads
from ..tables import BALL_AXIS, COORDINATE, DISTANCE
from .block_envelope import factor_envelope
from .equations import correct, state_equations, wrench_at
from .tree import place, set_inertia


class KnownMotion(NamedTuple):
    """Samples of a motion, and the forces of rows that go with it."""

    t: np.ndarray
    """[s]"""
    q: np.ndarray
    v: np.ndarray
    qdd: np.ndarray
    """Derivatives of v."""
    pushes: np.ndarray
    """Generalised forces along the joints of the source that no table knows of; samples × rates, or none."""
    forces: np.ndarray
    """Samples × forces of rows [N or N m]."""
    rows: np.ndarray
    """The row of each of these forces; -1 for one that does not count."""
    lawful: bool
    """Springs between points follow their law, instead of forces of rows."""


class Transmitted(NamedTuple):
    """What joints transmit, for every sample."""

    outer: np.ndarray
    """Of each joint: 1 if it is seen at a's frame, 0 at b's."""
    forces: np.ndarray
    """Of a on b, world axes: samples × 3 joints [N]."""
    torques: np.ndarray
    """[N m]"""
    unbalanced: np.ndarray
    """Of each sample: the largest share of what acts on a body that no forces in the joints can balance."""


@kernel
def observe_wrenches(source, bodies, constraints, balance, length, motion, out):
    """Force and torque of a on b through every joint for every sample of a `KnownMotion` => a `Transmitted`.

    source: tables of the system that the motion belongs to, its loads those on joint coordinates alone; bodies,
    constraints: floating bodies and their rows.
    """
    dofs, pairs = bodies.dofs, constraints.pairs
    t, q, v, qdd, outer = motion.t, motion.q, motion.v, motion.qdd, out.outer
    for i in range(t.shape[0]):
        carry(source, bodies, balance, t[i], q[i], v[i], qdd[i])
        apply_loads(bodies, q[i], v[i], t[i])
        measure(bodies, constraints, q[i])
        _assemble_known_forces(source, bodies, constraints, balance, motion, i)
        state_equations(bodies, constraints, balance, length)
        factor_envelope(balance)
        out.unbalanced[i] = _solve(dofs, balance, length)
        for e in range(balance.equations.shape[0]):
            equation = balance.equations[e]
            _add_row(constraints, balance.wrench, equation.row, equation.force / equation.size)
        for j in range(outer.shape[0]):
            sign, r, k = (-1.0, get3(pairs[j].r_A), 0) if outer[j] != 0 else (1.0, get3(pairs[j].r_B), 6)
            W = balance.wrench[j]
            f = (W[k + 3], W[k + 4], W[k + 5])
            n = sub3((W[k], W[k + 1], W[k + 2]), cross3(r, f))
            for x in range(3):
                out.forces[i, 3 * j + x] = sign * f[x]
                out.torques[i, 3 * j + x] = sign * n[x]


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
        set_inertia(own, R, r, V, A)


@inlined
def _moved(V, d):
    """A motion vector at a reference point further by d."""
    u = cross3((V[0], V[1], V[2]), d)
    return V[0], V[1], V[2], V[3] + u[0], V[4] + u[1], V[5] + u[2]


@kernel
def _assemble_known_forces(source, bodies, constraints, balance, motion, i):
    """Forces along joint coordinates, of rotors and of rows that are no equations, at sample i => wrench, and off p."""
    qdd, given, rows = motion.qdd[i], motion.forces[i], motion.rows
    dofs, pairs, wrench = bodies.dofs, constraints.pairs, balance.wrench
    for j in range(wrench.shape[0]):
        for k in range(12):
            wrench[j, k] = 0.0
    for d in range(1, source.dofs.shape[0]):
        dof = source.dofs[d]
        push = dof.tau - dof.armature * qdd[dof.v]
        if motion.pushes.shape[0] > 0:
            push += motion.pushes[i, dof.v]
        if balance.along[d] >= 0 and push != 0.0:
            _add_rate(constraints, wrench, balance.along[d], push)
    for k in range(rows.shape[0]):
        if rows[k] >= 0 and given[k] != 0.0:
            _add_row(constraints, wrench, rows[k], given[k])
    if motion.lawful:
        for r in range(constraints.rows.shape[0]):
            row = constraints.rows[r]
            if row.kind == DISTANCE:
                pair = pairs[row.pair]
                rate = dot6(get6(row.J_A), get6(dofs[pair.a].V)) + dot6(get6(row.J_B), get6(dofs[pair.b].V))
                _add_row(constraints, wrench, r, -row.value[0] * row.phi - row.value[1] * rate)
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


@kernel
def _solve(dofs, balance, length):
    """p of every body => the smallest forces of the equations that balance it; returns what share they cannot."""
    for k in range(balance.riders.shape[0]):
        dof = dofs[balance.riders[k].link]
        w = wrench_at(get6(dof.p), get3(dof.r), length)
        for c in range(6):
            balance.load[6 * k + c] = w[c]
    for e in range(balance.equations.shape[0]):
        balance.equations[e].force = 0.0
    return correct(balance)
