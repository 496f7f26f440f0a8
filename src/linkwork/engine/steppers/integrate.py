"""Integrators: semi-implicit Euler, and explicit Runge-Kutta of any tableau, fixed or adaptive.

A step works in local coordinates y = (δ, v, W): δ are displacements from the pose at its start, so that
quaternions move on the group (q = q₀ ⊕ δ, with Bortz's equation for δ', exact) and every Runge-Kutta method
keeps its order. W holds the work supplied and dissipated, integrated with the same weights, so that the
energy balance can be audited at every step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.dynamics import derive, load
from ..coordinates.gyroscopic import turn_freely
from ..coordinates.tree import accelerate, local_rate, retract
from ..kernels.jit import inlined, kernel
from .state import DISSIPATED, OK, SUPPLIED, TOO_SMALL, State, finite


class Tableau(NamedTuple):
    """Butcher's tableau of an explicit method; `e` = b - b̂ of the embedded one (zeros if none)."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    e: np.ndarray


class Run(NamedTuple):
    """A state, and the scratch of the integrators."""

    q: np.ndarray
    v: np.ndarray
    work: np.ndarray
    clock: np.record
    y: np.ndarray
    y0: np.ndarray
    k: np.ndarray
    q_stage: np.ndarray


STAGES = 7


def new_run(state: State) -> Run:
    """Scratch for every method beside a state."""
    n = 2 * len(state.v) + 2
    return Run(*state, np.zeros(n), np.zeros(n), np.zeros((STAGES, n)), state.q.copy())


def euler() -> Tableau:
    """No stages: the sign for semi-implicit Euler."""
    return Tableau(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0))


def rk4() -> Tableau:
    """The classical method of order four."""
    a = np.zeros((4, 4))
    a[1, 0] = a[2, 1] = 0.5
    a[3, 2] = 1.0
    return Tableau(a, np.array([1, 2, 2, 1]) / 6, np.array([0, 0.5, 0.5, 1]), np.zeros(4))


def dormand_prince() -> Tableau:
    """Order five with an embedded order four (Dormand and Prince, J. Comp. Appl. Math. 6, 1980)."""
    a = np.zeros((7, 7))
    a[1, :1] = [1 / 5]
    a[2, :2] = [3 / 40, 9 / 40]
    a[3, :3] = [44 / 45, -56 / 15, 32 / 9]
    a[4, :4] = [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]
    a[5, :5] = [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]
    a[6, :6] = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
    b = a[6].copy()
    lower = np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])
    return Tableau(a, b, np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]), b - lower)


@inlined
def _euler_step(tables, q, v, work, delta, qdd, turn, t, h):
    """v ← v + h a(q, v, t);  q ← q ⊕ h v.  First order; bodies on balls turn as free ones do."""
    supplied, dissipated = load(tables, q, v, t)
    turn_freely(tables.dofs, h, turn)
    accelerate(tables.dofs, qdd)
    for i in range(v.shape[0]):
        v[i] += h * qdd[i]
        delta[i] = h * (v[i] + turn[i])
    retract(tables.dofs, q, delta, q)
    work[SUPPLIED] += h * supplied
    work[DISSIPATED] += h * dissipated


@inlined
def _stages(tables, tableau, state, t, h):
    """All stage derivatives k of a Runge-Kutta step from (q, v, W), and the end point in y."""
    n = state.v.shape[0]
    y, y0, k, q_stage = state.y, state.y0, state.k, state.q_stage
    for i in range(n):
        y0[i] = 0.0
        y0[n + i] = state.v[i]
    y0[2 * n] = state.work[SUPPLIED]
    y0[2 * n + 1] = state.work[DISSIPATED]
    a = tableau.a
    for s in range(a.shape[0]):
        for i in range(2 * n):
            y[i] = y0[i]
        for j in range(s):
            if a[s, j] != 0.0:
                w = h * a[s, j]
                for i in range(2 * n):
                    y[i] += w * k[j, i]
        retract(tables.dofs, state.q, y, q_stage)
        local_rate(tables.dofs, q_stage, y, y[n : 2 * n], k[s])
        supplied, dissipated = derive(tables, q_stage, y[n : 2 * n], t + tableau.c[s] * h, k[s, n:])
        k[s, 2 * n] = supplied
        k[s, 2 * n + 1] = dissipated
    for i in range(2 * n + 2):
        y[i] = y0[i]
    for s in range(a.shape[0]):
        w = h * tableau.b[s]
        for i in range(2 * n + 2):
            y[i] += w * k[s, i]


@inlined
def _accept(tables, state):
    """y => (q, v, W)."""
    n = state.v.shape[0]
    retract(tables.dofs, state.q, state.y, state.q)
    for i in range(n):
        state.v[i] = state.y[n + i]
    state.work[SUPPLIED] = state.y[2 * n]
    state.work[DISSIPATED] = state.y[2 * n + 1]


@kernel
def sample(state, out_t, out_q, out_v, out_work, row, t):
    # Loops, not slices: an array assignment costs seconds to compile.
    out_t[row] = t
    for i in range(state.q.shape[0]):
        out_q[row, i] = state.q[i]
    for i in range(state.v.shape[0]):
        out_v[row, i] = state.v[i]
    out_work[row, SUPPLIED] = state.work[SUPPLIED]
    out_work[row, DISSIPATED] = state.work[DISSIPATED]


@kernel
def run_fixed(tables, tableau, state, h, targets, out_t, out_q, out_v, out_work):
    """Steps of size h with a sample at each step count in `targets`; returns (samples, status).

    An empty tableau means semi-implicit Euler. Time is counted in steps, so that it does not drift.
    """
    t0, clock = state.clock.origin, state.clock
    for row in range(targets.shape[0]):
        while clock.steps < targets[row]:
            t = t0 + clock.steps * h
            if tableau.b.shape[0] == 0:
                _euler_step(tables, state.q, state.v, state.work, state.y, state.k[0], state.k[1], t, h)
            else:
                _stages(tables, tableau, state, t, h)
                _accept(tables, state)
            clock.steps += 1
            clock.taken += 1
            clock.now = t0 + clock.steps * h
            status = finite(state.v, clock, h)
            if status != OK:
                return row, status
        sample(state, out_t, out_q, out_v, out_work, row, clock.now)
    return targets.shape[0], OK


@kernel
def error_norm(state, tableau, h, tolerance):
    """Largest local error of δ and v against tolerance (1 + |y|)."""
    worst = 0.0
    y, y0, k = state.y, state.y0, state.k
    for i in range(y.shape[0] - 2):
        e = 0.0
        for s in range(tableau.e.shape[0]):
            e += tableau.e[s] * k[s, i]
        r = abs(h * e) / (tolerance * (1.0 + max(abs(y[i]), abs(y0[i]))))
        if not r <= worst:  # also catches NaN
            worst = r
    return worst


@kernel
def run_adaptive(tables, tableau, state, tolerance, targets, out_t, out_q, out_v, out_work):
    """Steps that keep the local error at `tolerance` and end at each time in `targets`; (samples, status).

    Standard controller (Hairer, Nørsett, Wanner I, II.4): h ← h min(5, max(0.2, 0.9 err^(-1/5))).
    """
    t = state.clock.now
    for row in range(targets.shape[0]):
        end = targets[row]
        while t < end:
            h = state.clock.proposed
            last = t + 1.01 * h >= end  # as in DOPRI5: leave no sliver of a step
            if last:
                h = end - t
            if h <= 1e-14 * max(1.0, abs(t)):
                return row, TOO_SMALL
            _stages(tables, tableau, state, t, h)
            error = error_norm(state, tableau, h, tolerance)
            if error <= 1.0:
                _accept(tables, state)
                t = end if last else t + h
                state.clock.now = t
                state.clock.taken += 1
                factor = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
                # A step cut short to meet a sample says little about the next one.
                state.clock.proposed = max(h * factor, state.clock.proposed) if last else h * factor
                status = finite(state.v, state.clock, h)
                if status != OK:
                    return row, status
            else:
                state.clock.refused += 1
                state.clock.proposed = h * (max(0.2, 0.9 * error**-0.2) if error < np.inf else 0.1)
        sample(state, out_t, out_q, out_v, out_work, row, t)
    return targets.shape[0], OK
