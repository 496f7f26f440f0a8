"""Spatial vectors and inertias at one reference point, in world axes.

Motion vectors are (ω, v) and forces (n, f), both as six numbers, angular part first, taken at the
reference point of the island. An inertia is 21 numbers: the symmetric angular block A (6), the coupling
block B (9) and the symmetric linear block C (6), so that

    n = A ω + B v,    f = Bᵀ ω + C v.

Notation and cross products: Featherstone, "Rigid Body Dynamics Algorithms" (RBDA), 2008, chapter 2.
"""

from .jit import inlined
from .math3 import cross3


@inlined
def get6(x):
    return x[0], x[1], x[2], x[3], x[4], x[5]


@inlined
def set6(x, a):
    x[0], x[1], x[2], x[3], x[4], x[5] = a


@inlined
def zero6(x):
    x[0] = x[1] = x[2] = x[3] = x[4] = x[5] = 0.0


@inlined
def add6(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inlined
def add_scaled6(a, s, b):
    """a + s b."""
    return (
        a[0] + s * b[0],
        a[1] + s * b[1],
        a[2] + s * b[2],
        a[3] + s * b[3],
        a[4] + s * b[4],
        a[5] + s * b[5],
    )


@inlined
def scale6(s, a):
    return s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5]


@inlined
def dot6(a, b):
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])


@inlined
def cross_motion(v, m):
    """v × m for motion vectors (RBDA eq. 2.31)."""
    w, u = (v[0], v[1], v[2]), (v[3], v[4], v[5])
    a, b = (m[0], m[1], m[2]), (m[3], m[4], m[5])
    n = cross3(w, a)
    p, q = cross3(w, b), cross3(u, a)
    return n[0], n[1], n[2], p[0] + q[0], p[1] + q[1], p[2] + q[2]


@inlined
def inertia_times(I, s):
    """I s for the 21 numbers of an inertia held in an array."""
    return (
        (I[0] * s[0] + I[1] * s[1]) + (I[2] * s[2] + I[6] * s[3]) + (I[7] * s[4] + I[8] * s[5]),
        (I[1] * s[0] + I[3] * s[1]) + (I[4] * s[2] + I[9] * s[3]) + (I[10] * s[4] + I[11] * s[5]),
        (I[2] * s[0] + I[4] * s[1]) + (I[5] * s[2] + I[12] * s[3]) + (I[13] * s[4] + I[14] * s[5]),
        (I[6] * s[0] + I[9] * s[1]) + (I[12] * s[2] + I[15] * s[3]) + (I[16] * s[4] + I[17] * s[5]),
        (I[7] * s[0] + I[10] * s[1]) + (I[13] * s[2] + I[16] * s[3]) + (I[18] * s[4] + I[19] * s[5]),
        (I[8] * s[0] + I[11] * s[1]) + (I[14] * s[2] + I[17] * s[3]) + (I[19] * s[4] + I[20] * s[5]),
    )


@inlined
def set_rigid_inertia(I, m, h, J):
    """The 21 numbers of a rigid body: mass m, first moment h = m c, J (6) about the reference point."""
    I[0], I[1], I[2], I[3], I[4], I[5] = J
    I[6], I[7], I[8] = 0.0, -h[2], h[1]
    I[9], I[10], I[11] = h[2], 0.0, -h[0]
    I[12], I[13], I[14] = -h[1], h[0], 0.0
    I[15], I[16], I[17] = m, 0.0, 0.0
    I[18], I[19], I[20] = m, 0.0, m


@inlined
def add_inertia(P, I):
    """P += I."""
    for k in range(21):
        P[k] += I[k]


@inlined
def add_downdated(P, I, U, d):
    """P += I - d U Uᵀ: what the parent feels of an articulated inertia once its joint has yielded."""
    a0, a1, a2, a3, a4, a5 = d * U[0], d * U[1], d * U[2], d * U[3], d * U[4], d * U[5]
    P[0] = (P[0] + I[0]) - a0 * U[0]
    P[1] = (P[1] + I[1]) - a0 * U[1]
    P[2] = (P[2] + I[2]) - a0 * U[2]
    P[3] = (P[3] + I[3]) - a1 * U[1]
    P[4] = (P[4] + I[4]) - a1 * U[2]
    P[5] = (P[5] + I[5]) - a2 * U[2]
    P[6] = (P[6] + I[6]) - a0 * U[3]
    P[7] = (P[7] + I[7]) - a0 * U[4]
    P[8] = (P[8] + I[8]) - a0 * U[5]
    P[9] = (P[9] + I[9]) - a1 * U[3]
    P[10] = (P[10] + I[10]) - a1 * U[4]
    P[11] = (P[11] + I[11]) - a1 * U[5]
    P[12] = (P[12] + I[12]) - a2 * U[3]
    P[13] = (P[13] + I[13]) - a2 * U[4]
    P[14] = (P[14] + I[14]) - a2 * U[5]
    P[15] = (P[15] + I[15]) - a3 * U[3]
    P[16] = (P[16] + I[16]) - a3 * U[4]
    P[17] = (P[17] + I[17]) - a3 * U[5]
    P[18] = (P[18] + I[18]) - a4 * U[4]
    P[19] = (P[19] + I[19]) - a4 * U[5]
    P[20] = (P[20] + I[20]) - a5 * U[5]
