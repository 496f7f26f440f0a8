"""Torsional and rolling friction: torques of a point about its normal and across it."""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import dot3, get3


@kernel
def relax_spin(patch, point, w):
    """Torsional and rolling friction: torques within the arms times the normal impulse."""
    G, p, n, t, s = patch.G, point.p, get3(point.n), get3(point.t), get3(point.s)
    if patch.torsion > 0.0:
        most = patch.torsion * p[0]
        stiff = _turning(G, n)
        new = min(max(p[3] - (n[0] * w[0] + n[1] * w[1] + n[2] * w[2]) / stiff, -most), most)
        w = _add_turn(w, G, n, new - p[3])
        p[3] = new
    if patch.rolling > 0.0:
        most = patch.rolling * p[0]
        stiff = _turning(G, t) + _turning(G, s)
        a = p[4] - (t[0] * w[0] + t[1] * w[1] + t[2] * w[2]) / stiff
        b = p[5] - (s[0] * w[0] + s[1] * w[1] + s[2] * w[2]) / stiff
        size = math.sqrt(a * a + b * b)
        if size > most:
            a, b = a * most / size, b * most / size
        w = _add_turn(_add_turn(w, G, t, a - p[4]), G, s, b - p[5])
        p[4], p[5] = a, b
    return w


@inlined
def _turning(G, n):
    """How fast B turns against A about n under a unit of angular impulse about it."""
    total = 0.0
    for r in range(3):
        total += n[r] * (G[6 * r] * n[0] + G[6 * r + 1] * n[1] + G[6 * r + 2] * n[2])
    return total


@inlined
def _add_turn(w, G, n, p):
    """Relative twist w after an angular impulse p about n."""
    return (
        w[0] + p * (G[0] * n[0] + G[1] * n[1] + G[2] * n[2]),
        w[1] + p * (G[6] * n[0] + G[7] * n[1] + G[8] * n[2]),
        w[2] + p * (G[12] * n[0] + G[13] * n[1] + G[14] * n[2]),
        w[3] + p * (G[18] * n[0] + G[19] * n[1] + G[20] * n[2]),
        w[4] + p * (G[24] * n[0] + G[25] * n[1] + G[26] * n[2]),
        w[5] + p * (G[30] * n[0] + G[31] * n[1] + G[32] * n[2]),
    )


@kernel
def spin_residual(patch, point, w):
    """How far the torques of a point are from what they should be: rate times the arm of the friction [m/s]."""
    G, p, n, t, s = patch.G, point.p, get3(point.n), get3(point.t), get3(point.s)
    turn, largest = (w[0], w[1], w[2]), 0.0
    if patch.torsion > 0.0:
        most, stiff = patch.torsion * p[0], _turning(G, n)
        new = min(max(p[3] - dot3(n, turn) / stiff, -most), most)
        largest = abs(new - p[3]) * stiff * patch.torsion
    if patch.rolling > 0.0:
        most, stiff = patch.rolling * p[0], _turning(G, t) + _turning(G, s)
        a, b = p[4] - dot3(t, turn) / stiff, p[5] - dot3(s, turn) / stiff
        size = math.sqrt(a * a + b * b)
        if size > most:
            a, b = a * most / size, b * most / size
        largest = max(largest, max(abs(a - p[4]), abs(b - p[5])) * stiff * patch.rolling)
    return largest
