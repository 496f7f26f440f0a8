"""Rates of a start that every loop and coupling agrees with: the nearest by kinetic energy."""

from __future__ import annotations

import numpy as np

from ..compile.rank import null_space
from ..compile.system import System
from ..model.rotation import Array
from .assembly import Change
from .closure import Closure
from .kinematics import Kinematics
from .wishes import Wishes

_CONSISTENT = 1e-9  # rates that miss a row by less, relative to what adds up in it, are left as they are
_DEAD = 1e-4  # rates that the loops move less than this, while others move by one, cannot be prescribed
STRONG = 0.01  # a share by which a written rate changes that the user should know about


def assemble_rates(
    system: System, closure: Closure, q: Array, written: Array, wishes: Wishes | None
) -> tuple[Array, list[Change]]:
    """Rates on J v = 0, and the wishes for closing joints that they could not fulfil."""
    closure.gaps(q)
    J = closure.gradients()
    K, values = np.zeros((0, system.nv)), np.zeros(0)
    if wishes is not None and len(wishes.rows):
        kin = Kinematics(wishes.system)
        kin.place(q)
        K, values = kin.jacobian(wishes.rows), np.array(wishes.values)
    if _consistent(J, written, np.zeros(len(J))) and _consistent(K, written, values):
        return written, []
    scaled = closure.dimensionless()
    H = closure.kin.inertia()
    motions = closure.strides[:, None] * null_space(scaled)
    c, left = np.zeros(motions.shape[1]), np.eye(motions.shape[1])
    loose = np.abs(scaled).max(axis=0, initial=0.0) == 0.0
    if wishes is not None and not (wishes.columns | loose).all():
        # What was not written follows what was: joints of the tree first, then those that close loops.
        firm = wishes.columns | loose
        if firm.any():
            metric = np.linalg.cholesky(H[np.ix_(firm, firm)]).T.astype(float)
            c, left = _towards(c, left, motions[firm], written[firm], closure.reach[firm], metric)
        if len(K):
            units = np.array([closure.length if unit == "m/s" else 1.0 for unit in wishes.units])
            c, left = _towards(c, left, K @ motions, values, units, np.diag(1.0 / units).astype(float))
    inertia = left.T @ motions.T @ H @ motions @ left
    c = c + left @ np.linalg.solve(inertia, left.T @ motions.T @ H @ (written - motions @ c))
    v = motions @ c
    # Rates that no row touches, exactly as they were.
    same = np.abs(v - written) <= 1e-13 * max(float(np.abs(v).max(initial=0.0)), 1e-300)
    v[same] = written[same]
    unmet = []
    if len(K) and wishes is not None:
        got = K @ v
        unmet = [
            Change(name, value, float(rate), unit)
            for name, value, rate, unit in zip(wishes.names, values.tolist(), got, wishes.units, strict=True)
            if abs(rate - value) > STRONG * abs(value) > 0.0
        ]
    return v, unmet


def _consistent(J: Array, v: Array, wanted: Array) -> bool:
    sums = np.abs(J) @ np.abs(v) + np.abs(wanted)
    return bool((np.abs(J @ v - wanted) <= _CONSISTENT * sums).all())


def _towards(c: Array, left: Array, A: Array, b: Array, units: Array, metric: Array) -> tuple[Array, Array]:
    """Least squares of A c = b, measured by a metric, in the directions left; the solution and what it leaves open.

    Near a dead point a rate is not fulfilled by ten thousand times as much elsewhere.
    """
    if not left.shape[1]:
        return c, left
    _, s, Vt = np.linalg.svd(A @ left / units[:, None])
    rank = int((s > _DEAD).sum())
    seen = left @ Vt[:rank].T
    e = np.linalg.lstsq(metric @ A @ seen, metric @ (b - A @ c), rcond=None)[0]
    return c + seen @ e, left @ Vt[rank:].T
