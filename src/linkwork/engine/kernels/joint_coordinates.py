"""Coordinates of joints that close loops, read from the joint's two frames: travel, angle, rotation vector."""

import math

from ..tables import BALL_AXIS, SLIDE, TURN
from .jit import kernel
from .math3 import (
    add3,
    chain,
    cross3,
    dot3,
    get3,
    get9,
    quat_log,
    rotate,
    rotation_vector_rate,
    scale3,
    sub3,
)
from .pairs import DISTANCE_VECTOR, add_turning, clear_jacobian, dot_motion, measure_dot, pair_vector
from .quaternion import matrix_quaternion
from .spatial import dot6, get6


@kernel
def measure_coordinate(pair, coord):
    """Value (angles continued beyond a turn) and Jacobian of a joint coordinate read from its frames."""
    pick = coord.pick
    if coord.how == SLIDE:
        value = coord.hand * measure_dot(pair, pick[4], DISTANCE_VECTOR, coord.J_A, coord.J_B)
        for k in range(6):
            coord.J_A[k] *= coord.hand
            coord.J_B[k] *= coord.hand
        coord.value = value
        return
    if coord.how == TURN:
        _measure_angle(pair, coord)
        return
    phi, axis = _ball_axis(pair, pick[4])
    coord.value = phi
    clear_jacobian(coord.J_A)
    clear_jacobian(coord.J_B)
    add_turning(coord.J_B, axis)
    add_turning(coord.J_A, scale3(-1.0, axis))


@kernel
def _measure_angle(pair, coord):
    """Angle from its sine and cosine, both dot products; its derivative (c s' - s c')/(s² + c²) is exact anywhere."""
    pick = coord.pick
    s = measure_dot(pair, pick[0], pick[1], coord.J_A, coord.J_B)
    c = measure_dot(pair, pick[2], pick[3], coord.K_A, coord.K_B)
    angle = math.atan2(s, c)
    # As many turns as bring it near what it was: the same bits however often it is read.
    coord.value = angle + 2.0 * math.pi * math.floor((coord.value - angle) / (2.0 * math.pi) + 0.5)
    size = 1.0 / (s * s + c * c)
    for k in range(6):
        coord.J_A[k] = size * (c * coord.J_A[k] - s * coord.K_A[k])
        coord.J_B[k] = size * (c * coord.J_B[k] - s * coord.K_B[k])


@kernel
def _ball_axis(pair, column):
    """One component φ_k of the rotation vector from A to B, and the vector n with φ_k' = n·(ω_B - ω_A).

    φ' = M ω with M of Bortz's equation and ω in the axes of B; row k of M is Mᵀ e_k, and Mᵀ is M with φ reversed.
    """
    R_A, R_B = get9(pair.R_A), get9(pair.R_B)
    back = (R_A[0], R_A[3], R_A[6], R_A[1], R_A[4], R_A[7], R_A[2], R_A[5], R_A[8])
    phi = quat_log(matrix_quaternion(chain(back, R_B)))
    e = (1.0 if column == 0 else 0.0, 1.0 if column == 1 else 0.0, 1.0 if column == 2 else 0.0)
    n = rotation_vector_rate((-phi[0], -phi[1], -phi[2]), e)
    return phi[column], rotate(R_B, n)


@kernel
def coordinate_bias(pair, coord):
    """Second derivative of a coordinate read from its frames if no joint accelerated."""
    pick = coord.pick
    if coord.how == SLIDE:
        _, _, bias = dot_motion(pair, pick[4], DISTANCE_VECTOR)
        return coord.hand * bias
    if coord.how == TURN:
        s, s1, s2 = dot_motion(pair, pick[0], pick[1])
        c, c1, c2 = dot_motion(pair, pick[2], pick[3])
        size = 1.0 / (s * s + c * c)
        rate = (c * s1 - s * c1) * size
        return (c * s2 - s * c2) * size - 2.0 * (c * c1 + s * s1) * rate * size
    return _ball_bias(pair, pick[4])


@kernel
def _ball_bias(pair, column):
    """φ_k'' of the rotation vector from A to B: φ' = M(φ) ω, φ'' = M ω' + M' ω, ω in the axes of B."""
    R_A, R_B = get9(pair.R_A), get9(pair.R_B)
    back_A = (R_A[0], R_A[3], R_A[6], R_A[1], R_A[4], R_A[7], R_A[2], R_A[5], R_A[8])
    back_B = (R_B[0], R_B[3], R_B[6], R_B[1], R_B[4], R_B[7], R_B[2], R_B[5], R_B[8])
    phi = quat_log(matrix_quaternion(chain(back_A, R_B)))
    w_B = get3(pair.w_B)
    slip = sub3(w_B, get3(pair.w_A))
    turning = sub3(sub3(get3(pair.e_B), get3(pair.e_A)), cross3(w_B, slip))
    w = rotate(back_B, slip)
    phi1 = rotation_vector_rate(phi, w)
    phi2 = rotation_vector_rate(phi, rotate(back_B, turning))
    # M ω = ω + φ×ω/2 + k φ×(φ×ω), k a function of φ·φ.
    a2 = dot3(phi, phi)
    if a2 < 1.0e-3:
        k = 1.0 / 12.0 + a2 * (1.0 / 720.0 + a2 / 30240.0)
        slope = 1.0 / 720.0 + a2 * (1.0 / 15120.0 + a2 / 403200.0)
    else:
        x = 0.5 * math.sqrt(a2)
        cot = math.cos(x) / math.sin(x)
        k = (1.0 - x * cot) / (4.0 * x * x)
        slope = ((x / math.sin(x) ** 2 - cot) / (4.0 * x * x) - 2.0 * k / x) / (8.0 * x)
    u = cross3(phi, w)
    u1 = cross3(phi1, w)
    phi2 = add3(phi2, scale3(0.5, u1))
    phi2 = add3(phi2, scale3(2.0 * slope * dot3(phi, phi1), cross3(phi, u)))
    phi2 = add3(phi2, scale3(k, add3(cross3(phi1, u), cross3(phi, u1))))
    return phi2[column]


@kernel
def coordinate_rate(dofs, pairs, coord, v):
    """Rate of a measured coordinate, on placed tables."""
    if coord.v >= 0:
        return v[dofs[coord.v].v]
    pair = pairs[coord.pair]
    V_A, V_B = get6(dofs[pair.a].V), get6(dofs[pair.b].V)
    if coord.how == BALL_AXIS:  # the rates of a ball are its angular velocity in the axes of b
        k = coord.pick[4]
        axis = (pair.R_B[k], pair.R_B[k + 3], pair.R_B[k + 6])
        return dot3(axis, (V_B[0] - V_A[0], V_B[1] - V_A[1], V_B[2] - V_A[2]))
    return dot6(get6(coord.J_A), V_A) + dot6(get6(coord.J_B), V_B)


@kernel
def track_angle(pair, coord):
    """Count the turns of an angle that nobody asks for at every step: it passes π where its cosine is negative."""
    pick = coord.pick
    s = dot3(pair_vector(pair, pick[0]), pair_vector(pair, pick[1]))
    c = dot3(pair_vector(pair, pick[2]), pair_vector(pair, pick[3]))
    if coord.tracked == 0:
        turns = (coord.value - math.atan2(s, c)) / (2.0 * math.pi)
        coord.turns = math.floor(turns + 0.5)
        coord.tracked = 1
    elif c < 0.0 and s * coord.sine < 0.0:
        coord.turns += 1.0 if s < 0.0 else -1.0
    coord.sine = s


@kernel
def recall_angle(pair, coord):
    """The value of a tracked angle, near enough for `measure_coordinate` to go on from."""
    pick = coord.pick
    track_angle(pair, coord)
    s = dot3(pair_vector(pair, pick[0]), pair_vector(pair, pick[1]))
    c = dot3(pair_vector(pair, pick[2]), pair_vector(pair, pick[3]))
    coord.value = math.atan2(s, c) + 2.0 * math.pi * coord.turns
