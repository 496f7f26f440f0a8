"""Equations of joints as unit wrenches on the bodies they join, and the least forces of them that balance a load.

Every body floats here. J are the equations as unit wrenches; the equations must supply the wrench w that each body
needs: Jᵀ λ = w. Of all λ that do, the smallest is λ = J x with (JᵀJ) x = w. JᵀJ couples bodies that share a joint:
symmetric, sparse, without masses, and singular wherever the mechanism can move. A little damping D makes it definite;
since λ is corrected by what is missing of w (λ += J (JᵀJ + D)⁻¹ (w - Jᵀ λ): the method of Riley, here with the
corrected seminormal equations of Björck), the damping leaves no trace, and no pivot has to be judged zero.

Unit wrench: forces count as they are, torques at b's joint frame over one length of the model, so that 'smallest' does
not depend on the unit of length. Each equation of λ is of this size: λ is in N.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import cross3, get3, sub3
from ..kernels.spatial import dot6, get6, scale6
from ..tables import COORDINATE
from .block_envelope import solve_envelope

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
        ("ends", "i8", 4),  # bodies that it acts on, numbered as in `riders`; -1 for the ground or none
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
            pair = constraints.pairs[coord.pair]
            size = _ends(bodies.dofs, pair, row.sign, coord, length, J, 0)
            coord = coords[row.second]
            pair = constraints.pairs[coord.pair]
            size += _ends(bodies.dofs, pair, -row.ratio, coord, length, J, 12)
            count = 4
        else:
            size = _ends(bodies.dofs, constraints.pairs[row.pair], 1.0, row, length, J, 0)
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
def _ends(dofs, pair, s, measured, length, J, at):
    """s times the Jacobian of a row or coordinate as wrenches on a and b, into J from `at`; the square of its size."""
    W_A, W_B = scale6(s, get6(measured.J_A)), scale6(s, get6(measured.J_B))
    on_a = wrench_at(W_A, get3(dofs[pair.a].r), length)
    on_b = wrench_at(W_B, get3(dofs[pair.b].r), length)
    for k in range(6):
        J[at + k] = on_a[k]
        J[at + 6 + k] = on_b[k]
    W = wrench_at(W_B, get3(pair.r_B), length)
    return dot6(W, W)


@inlined
def wrench_at(W, r, length):
    """A wrench taken at r, its torque over the length."""
    f = (W[3], W[4], W[5])
    n = sub3((W[0], W[1], W[2]), cross3(r, f))
    return n[0] / length, n[1] / length, n[2] / length, f[0], f[1], f[2]


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
