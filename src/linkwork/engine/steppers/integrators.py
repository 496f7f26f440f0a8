"""Explicit integrators: from the state and its derivatives to a trial, and how good that is.

Everything is in local coordinates y (see `Motion`): displacements from the pose at the start of the step, so that
quaternions move on the group (q = q₀ ⊕ δ, with Bortz's equation for δ', exact) and every method keeps its order. Work
is integrated with the same weights as the motion, so that the energy balance can be audited at every step.

In smooth motion one evaluation a step is enough: velocities by Adams-Bashforth, then positions by Adams-Moulton, both
of order four; for oscillations that pair is stable up to ω h = 0.9 and never gains energy. Runge-Kutta steps begin it
and take over wherever past accelerations do not foretell the next one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..coordinates.tree import local_rate
from ..elements.respond import read_flows
from ..kernels.jit import inlined, kernel, woven
from ..kernels.math3 import quat_log, quat_mul, rotation_vector_rate
from ..tables import BALL
from .motion import ADAMS, ADAPTIVE, EULER, RUNGE_KUTTA

# Fourth differences of accelerations against second ones from which Adams steps are no good: oscillations with
# ω h > 0.72, while Adams is stable up to 0.9.
_ROUGH = 0.5
# What changes velocities by less in a step, as a share of 1 + |v|, is rounding and says nothing of smoothness. With a
# larger share, fast damped motions for which the step is too long (λ h > 0.3) would grow unseen up to it. Near singular
# positions accelerations are rounded as pivots are small, and stages of Runge-Kutta, which lie off the constraints, do
# worse: there it is more, but no more than the second.
_NOISE, _MOST_NOISE = 1e-8, 3e-6
_LONGEST = 60  # stretch by Runge-Kutta where Adams steps are no good [steps]


class Tableau(NamedTuple):
    """Butcher's tableau of an explicit method; `e` = b - b̂ of the embedded one (zeros if none)."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    e: np.ndarray


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


class Integrator(NamedTuple):
    """An explicit integrator."""

    kind: int
    """How steps are taken: ADAMS, RUNGE_KUTTA, ADAPTIVE or EULER."""
    tableau: Tableau
    """The Runge-Kutta method that it is, or begins with."""


INTEGRATORS = {
    "adams": Integrator(ADAMS, rk4()),
    "rk4": Integrator(RUNGE_KUTTA, rk4()),
    "adaptive": Integrator(ADAPTIVE, dormand_prince()),
    "euler": Integrator(EULER, rk4()),
}
"""By the names that users know: a new one is an entry here, and every explicit method has it."""


def integrators(usual: str) -> tuple[str, ...]:
    """All their names, with the usual one of a method first."""
    return (usual, *(name for name in INTEGRATORS if name != usual))


@inlined
def evaluations(tableau, integrator, smooth):
    """Evaluations of a step; the last one is where it ends."""
    if smooth or integrator == EULER:
        return 1
    stages = tableau.b.shape[0]
    return stages - 1 if integrator == ADAPTIVE else stages  # its last stage is at the end of the step


@inlined
def past(course, j):
    """Where the derivative j points ago stands in motion.past."""
    return (course.head + j) & 3


# --- trials ---


@woven
def euler(motion, course, h):
    """v ← v + h a, displacement h (v + u) with the new v; u is what the newest derivative has for it.

    First order; bodies on balls turn as free ones do, by that u.
    """
    y, trial, n, f = motion.y, motion.y_trial, motion.a.shape[0], motion.past[past(course, 0)]
    for i in range(n):
        trial[n + i] = y[n + i] + h * f[n + i]
        trial[i] = h * (trial[n + i] + f[i])
    for i in range(2 * n, y.shape[0]):
        trial[i] = y[i] + h * f[i]


@woven
def adams(tables, motion, course, h):
    """v by Adams-Bashforth, displacement by Adams-Moulton with that v."""
    y, trial, n = motion.y, motion.y_trial, motion.a.shape[0]
    f0, f1 = motion.past[past(course, 0)], motion.past[past(course, 1)]
    f2, f3 = motion.past[past(course, 2)], motion.past[past(course, 3)]
    for i in range(n):
        k = n + i
        new = y[k] + h / 24.0 * (55.0 * f0[k] - 59.0 * f1[k] + 37.0 * f2[k] - 9.0 * f3[k])
        trial[k] = new
        trial[i] = h / 24.0 * (9.0 * new + 19.0 * f0[i] - 5.0 * f1[i] + f2[i])
    for k in range(2 * n + 2, y.shape[0]):  # states of elements
        trial[k] = y[k] + h / 24.0 * (55.0 * f0[k] - 59.0 * f1[k] + 37.0 * f2[k] - 9.0 * f3[k])
    if motion.q.shape[0] != n:
        _adams_balls(tables.dofs, motion, course, h)


@kernel
def _adams_balls(dofs, motion, course, h):
    """Displacements of balls by Adams' method: past rates in the local coordinates of the present pose."""
    q, trial, n = motion.q, motion.y_trial, motion.a.shape[0]
    k0, k1, k2, k3 = past(course, 0), past(course, 1), past(course, 2), past(course, 3)
    f0 = motion.past[k0]
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        if dof.motion != BALL:
            continue
        i, j = dof.q, dof.v - dof.column
        back = (q[i], -q[i + 1], -q[i + 2], -q[i + 3])
        w0 = (f0[j], f0[j + 1], f0[j + 2])
        w1 = _seen_from(back, motion.q_past[k1], i, motion.past[k1], j)
        w2 = _seen_from(back, motion.q_past[k2], i, motion.past[k2], j)
        w3 = _seen_from(back, motion.q_past[k3], i, motion.past[k3], j)
        predicted = (
            h / 24.0 * (55.0 * w0[0] - 59.0 * w1[0] + 37.0 * w2[0] - 9.0 * w3[0]),
            h / 24.0 * (55.0 * w0[1] - 59.0 * w1[1] + 37.0 * w2[1] - 9.0 * w3[1]),
            h / 24.0 * (55.0 * w0[2] - 59.0 * w1[2] + 37.0 * w2[2] - 9.0 * w3[2]),
        )
        k = n + j
        new = rotation_vector_rate(predicted, (trial[k], trial[k + 1], trial[k + 2]))
        trial[j] = h / 24.0 * (9.0 * new[0] + 19.0 * w0[0] - 5.0 * w1[0] + w2[0])
        trial[j + 1] = h / 24.0 * (9.0 * new[1] + 19.0 * w0[1] - 5.0 * w1[1] + w2[1])
        trial[j + 2] = h / 24.0 * (9.0 * new[2] + 19.0 * w0[2] - 5.0 * w1[2] + w2[2])


@kernel
def _seen_from(back, q, i, f, j):
    """Rate of the local coordinates at an earlier pose, from its angular velocity."""
    phi = quat_log(quat_mul(back, (q[i], q[i + 1], q[i + 2], q[i + 3])))
    return rotation_vector_rate(phi, (f[j], f[j + 1], f[j + 2]))


@woven
def runge_kutta(motion, course, tableau, stage, last, h):
    """The trial at a stage: (0, v, W, x) + h Σ weights derivatives, of which the newest of the past is the first."""
    y, trial, stages, n = motion.y, motion.y_trial, motion.stages, motion.a.shape[0]
    newest = motion.past[course.head]
    first = h * (tableau.b[0] if last else tableau.a[stage, 0])
    for i in range(n):
        trial[i] = first * newest[i]
    for i in range(n, y.shape[0]):
        trial[i] = y[i] + first * newest[i]
    for s in range(1, stage):
        weight = tableau.b[s] if last else tableau.a[stage, s]
        if weight != 0.0:
            w = h * weight
            for i in range(y.shape[0]):
                trial[i] += w * stages[s, i]


@woven
def store_stage(tables, constraints, motion, course):
    """The derivative at a stage of Runge-Kutta, as it was just evaluated."""
    n, trial, stage = motion.a.shape[0], motion.y_trial, motion.stages[course.stage]
    local_rate(tables.dofs, motion.q_trial, trial, trial[n : 2 * n], stage)
    for i in range(n):
        stage[n + i] = motion.a[i]
    stage[2 * n], stage[2 * n + 1] = course.supplied, course.dissipated
    if constraints is not None and stage.shape[0] > 2 * n + 2:
        read_flows(constraints, stage, 2 * n + 2)


# --- how good a trial is ---


@woven
def foretold(motion, course, h):
    """Whether the past foretells the accelerations at the end of an Adams step; if it does, work is corrected.

    In motion that the step resolves, differences of accelerations get smaller with their order: those of an
    oscillation by 2 sin(ω h/2) each. After a jump or a kink, and in what grows because the step is too large for it,
    fourth ones are as large as second ones. That holds for any size of the motion and of the step, so that a run at
    half the step is by the same formulas, which it must be to converge evenly.
    """
    y, trial, n = motion.y, motion.y_trial, motion.a.shape[0]
    f0, f1 = motion.past[past(course, 0)], motion.past[past(course, 1)]
    f2, f3 = motion.past[past(course, 2)], motion.past[past(course, 3)]
    noise = min(_NOISE / max(course.pivot, 1e-300), _MOST_NOISE)
    for i in range(course.own):
        k = n + i
        newest = motion.a[i] - 2.0 * f0[k] + f1[k]
        middle = f0[k] - 2.0 * f1[k] + f2[k]
        oldest = f1[k] - 2.0 * f2[k] + f3[k]
        fourth = abs(newest - 2.0 * middle + oldest)
        if not (
            fourth <= _ROUGH * max(abs(newest), abs(middle), abs(oldest))
            or h * fourth <= noise * (1.0 + abs(trial[k]))
        ):
            return False
    for i in range(2):
        k = 2 * n + i
        power = course.supplied if i == 0 else course.dissipated
        trial[k] = y[k] + h / 24.0 * (9.0 * power + 19.0 * f0[k] - 5.0 * f1[k] + f2[k])
    return True


@kernel
def give_up_adams(course):
    """Adams could not take this step: Runge-Kutta does, and begins a new past.

    Where the first Adams step after that fails again, the motion is too fast for the step, and Runge-Kutta goes on for
    longer and longer, so that it costs hardly more than Runge-Kutta alone.
    """
    course.wait = min(2 * course.wait + 4, _LONGEST) if course.known == 4 else 0
    course.known = -course.wait
    course.smooth = False


@kernel
def local_error(motion, course, tableau, h):
    """Largest local error of this process' displacements and velocities, and of the states of elements, against
    tolerance (1 + |y|)."""
    y, trial, stages, n, own = motion.y, motion.y_trial, motion.stages, motion.a.shape[0], course.own
    worst, newest = 0.0, motion.past[course.head]
    for k in range(2 * own + y.shape[0] - 2 * n - 2):
        i = k if k < own else n + k - own if k < 2 * own else 2 * (n + 1 - own) + k
        e = tableau.e[0] * newest[i]
        for s in range(1, tableau.e.shape[0]):
            e += tableau.e[s] * stages[s, i]
        begin = y[i] if i >= n else 0.0
        r = abs(h * e) / (course.tolerance * (1.0 + max(abs(trial[i]), abs(begin))))
        if not r <= worst:  # also catches NaN
            worst = r
    return worst


@woven
def judge(motion, course, tableau, vote):
    """What is thought of the end of a step that was just evaluated."""
    vote.apart, vote.error = 0.0, 0.0
    if course.fresh and (course.smooth or course.integrator == ADAPTIVE):
        h = course.share * course.length
        if course.smooth and not foretold(motion, course, h):
            vote.apart = 1.0
        if course.integrator == ADAPTIVE:
            vote.error = local_error(motion, course, tableau, h)


@inlined
def next_factor(error):
    """For the size of the next step (Hairer, Nørsett, Wanner I, II.4): min(5, max(0.2, 0.9 error^(-1/5)))."""
    return min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2)) if error < np.inf else 0.1


# --- from the trial to the state ---


@kernel
def _copy(n, q, y, to_q, to_y):
    """Pose, velocities, work and states of elements; not the n displacements, which count from the pose."""
    for i in range(q.shape[0]):
        to_q[i] = q[i]
    for i in range(n, y.shape[0]):
        to_y[i] = y[i]


@woven
def copy_state(motion):
    """The state becomes the trial."""
    _copy(motion.a.shape[0], motion.q, motion.y, motion.q_trial, motion.y_trial)


@woven
def take_trial(motion):
    """The trial becomes the state."""
    _copy(motion.a.shape[0], motion.q_trial, motion.y_trial, motion.q, motion.y)


@woven
def keep_derivative(constraints, motion, course, anew):
    """The state's derivative becomes the newest of the past, or all of it."""
    n, y = motion.a.shape[0], motion.y
    course.head = (course.head - 1) & 3
    course.known = 1 if anew else course.known + 1
    newest, a = motion.past[course.head], motion.a
    rates = motion.stages[0, :n] if course.integrator == EULER else y[n : 2 * n]
    for i in range(n):
        newest[i], newest[n + i] = rates[i], a[i]
    newest[2 * n], newest[2 * n + 1] = course.supplied, course.dissipated
    if constraints is not None and newest.shape[0] > 2 * n + 2:
        read_flows(constraints, newest, 2 * n + 2)
    if course.integrator == ADAMS:
        for i in range(motion.q.shape[0]):
            motion.q_past[course.head, i] = motion.q[i]
