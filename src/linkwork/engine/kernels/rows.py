"""Rows: what every constraint is to a solver. Gaps, rates and Jacobians against body twists.

A joint equation is a dot product φ = α·β of axes of the world, of the joint frames A and B, and of the distance d
from A to B. Its Jacobian is exact: an axis of A turns with ω_A, so it contributes (α×β)·ω_A; d contributes
β·(v_B - v_A) at the two points. Coordinates of joints that close loops are read from the same frames.
"""

import math

from ..tables import COORDINATE, DOT, SLIDE, SPIN, TURN
from .jit import kernel
from .math3 import (
    add3,
    chain,
    cross3,
    dot3,
    get3,
    get9,
    norm3,
    quat_log,
    rotate,
    rotation_vector_rate,
    scale3,
    set3,
    set9,
    sub3,
)
from .quaternion import matrix_quaternion
from .spatial import get6

_A, _B, _D = 3, 6, 9  # where the axes of A, of B and d begin among the vectors of a row


@kernel
def place_pair(tables, pair):
    """(placed tables) => frames, positions and distance of the two ends of a joint."""
    dofs, islands = tables.dofs, tables.islands
    a, b = dofs[pair.a], dofs[pair.b]
    R_a, R_b = get9(a.R), get9(b.R)
    X_A, X_B = pair.X_A, pair.X_B
    r_A = add3(get3(a.r), rotate(R_a, (X_A[9], X_A[10], X_A[11])))
    r_B = add3(get3(b.r), rotate(R_b, (X_B[9], X_B[10], X_B[11])))
    set9(pair.R_A, chain(R_a, get9(X_A)))
    set9(pair.R_B, chain(R_b, get9(X_B)))
    set3(pair.r_A, r_A)
    set3(pair.r_B, r_B)
    apart = sub3(get3(islands[b.island].o), get3(islands[a.island].o))
    set3(pair.d, add3(sub3(r_B, r_A), apart))


@kernel
def _vector(pair, k):
    """The k-th vector that rows are made of."""
    if k < _A:
        return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
    if k < _B:
        return pair.R_A[k - _A], pair.R_A[k], pair.R_A[k + 3]
    if k < _D:
        return pair.R_B[k - _B], pair.R_B[k - 3], pair.R_B[k]
    return get3(pair.d)


@kernel
def _add_turning(J, n):
    J[0] += n[0]
    J[1] += n[1]
    J[2] += n[2]


@kernel
def _add_point(J, sign, r, f):
    """J += sign (r × f, f): the velocity along f of the point r."""
    n = cross3(r, f)
    for k in range(3):
        J[k] += sign * n[k]
        J[3 + k] += sign * f[k]


@kernel
def _add_factor(pair, k, alpha, beta, J_A, J_B):
    """What α' · β adds to a Jacobian, α being the k-th vector."""
    if k >= _D:
        _add_point(J_B, 1.0, get3(pair.r_B), beta)
        _add_point(J_A, -1.0, get3(pair.r_A), beta)
    elif k >= _B:
        _add_turning(J_B, cross3(alpha, beta))
    elif k >= _A:
        _add_turning(J_A, cross3(alpha, beta))


@kernel
def _clear(J):
    for k in range(6):
        J[k] = 0.0


@kernel
def measure_dot(pair, i, k, J_A, J_B):
    """φ = α·β of the i-th and k-th vector, its Jacobians into J_A and J_B."""
    alpha, beta = _vector(pair, i), _vector(pair, k)
    _clear(J_A)
    _clear(J_B)
    _add_factor(pair, i, alpha, beta, J_A, J_B)
    _add_factor(pair, k, beta, alpha, J_A, J_B)
    return dot3(alpha, beta)


@kernel
def measure_coordinate(pair, coord):
    """Value (angles continued beyond a turn) and Jacobian of a joint coordinate read from its frames."""
    pick = coord.pick
    if coord.how == SLIDE:
        value = coord.hand * measure_dot(pair, pick[4], _D, coord.J_A, coord.J_B)
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
    _clear(coord.J_A)
    _clear(coord.J_B)
    _add_turning(coord.J_B, axis)
    _add_turning(coord.J_A, scale3(-1.0, axis))


@kernel
def _measure_angle(pair, coord):
    """Angle from its sine and cosine, both dot products; its derivative (c s' - s c')/(s² + c²) is exact anywhere."""
    pick = coord.pick
    s = measure_dot(pair, pick[0], pick[1], coord.J_A, coord.J_B)
    c = measure_dot(pair, pick[2], pick[3], coord.K_A, coord.K_B)
    angle = math.atan2(
        s, c
    )  # and as many turns as bring it near what it was: the same bits however often it is read
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
def measure(tables, constraints, q):
    """(placed tables) => value of every coordinate, gap and Jacobian of every row."""
    pairs, coords, rows = constraints.pairs, constraints.coords, constraints.rows
    for i in range(pairs.shape[0]):
        place_pair(tables, pairs[i])
    for i in range(coords.shape[0]):
        coord = coords[i]
        if coord.q >= 0:
            coord.value = q[coord.q]
        else:
            if coord.tracked != 0:
                recall_angle(pairs[coord.pair], coord)
            measure_coordinate(pairs[coord.pair], coord)
    for i in range(rows.shape[0]):
        _measure_row(pairs, coords, rows[i])


@kernel
def _measure_row(pairs, coords, row):
    """Gap and Jacobian of a row."""
    if row.kind == DOT:
        pair = pairs[row.pair]
        row.phi = measure_dot(pair, row.alpha, row.beta, row.J_A, row.J_B) - row.offset
        if row.first >= 0:  # a screw: travel less lead times angle
            _subtract_coordinate(row, coords[row.first], row.ratio)
    elif row.kind == COORDINATE:  # its Jacobian is that of its coordinates
        row.phi = row.sign * coords[row.first].value - row.offset
        if row.second >= 0:
            row.phi -= row.ratio * coords[row.second].value
    elif row.kind == SPIN:
        axis = _vector(pairs[row.pair], row.alpha)
        _clear(row.J_A)
        _clear(row.J_B)
        _add_turning(row.J_B, axis)
        _add_turning(row.J_A, scale3(-1.0, axis))
    else:
        _measure_distance(row, pairs[row.pair])


@kernel
def _subtract_coordinate(row, coord, factor):
    row.phi -= factor * coord.value
    for k in range(6):
        row.J_A[k] -= factor * coord.J_A[k]
        row.J_B[k] -= factor * coord.J_B[k]


@kernel
def _measure_distance(row, pair):
    """φ = |d| - length."""
    d = get3(pair.d)
    length = norm3(d)
    row.phi = length - row.offset
    _clear(row.J_A)
    _clear(row.J_B)
    if length > 0.0:
        u = scale3(1.0 / length, d)
        _add_point(row.J_B, 1.0, get3(pair.r_B), u)
        _add_point(row.J_A, -1.0, get3(pair.r_A), u)


# --- second derivatives ---


@kernel
def _move_pair(tables, pair):
    """(placed tables) => rates and bias accelerations of the two frames and of d."""
    a, b = tables.dofs[pair.a], tables.dofs[pair.b]
    stir_pair(pair, get6(a.V), get6(b.V), get6(a.A0), get6(b.A0))


@kernel
def stir_pair(pair, V_A, V_B, A_A, A_B):
    """(twists and spatial accelerations of its links) => rates and accelerations of the two frames and of d.

    A point r of a link has the acceleration a + e×r + w×(v + w×r). Gravity is in A0 for all links alike and cancels
    in d.
    """
    w_A, w_B = (V_A[0], V_A[1], V_A[2]), (V_B[0], V_B[1], V_B[2])
    e_A, e_B = (A_A[0], A_A[1], A_A[2]), (A_B[0], A_B[1], A_B[2])
    r_A, r_B = get3(pair.r_A), get3(pair.r_B)
    v_A = add3((V_A[3], V_A[4], V_A[5]), cross3(w_A, r_A))
    v_B = add3((V_B[3], V_B[4], V_B[5]), cross3(w_B, r_B))
    a_A = add3(add3((A_A[3], A_A[4], A_A[5]), cross3(e_A, r_A)), cross3(w_A, v_A))
    a_B = add3(add3((A_B[3], A_B[4], A_B[5]), cross3(e_B, r_B)), cross3(w_B, v_B))
    set3(pair.w_A, w_A)
    set3(pair.w_B, w_B)
    set3(pair.e_A, e_A)
    set3(pair.e_B, e_B)
    set3(pair.d1, sub3(v_B, v_A))
    set3(pair.d2, sub3(a_B, a_A))


@kernel
def _vector_motion(pair, k, x):
    """First and second derivative of the k-th vector x; axes turn with their frame."""
    if k < _A:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if k >= _D:
        return get3(pair.d1), get3(pair.d2)
    w, e = (get3(pair.w_A), get3(pair.e_A)) if k < _B else (get3(pair.w_B), get3(pair.e_B))
    x1 = cross3(w, x)
    return x1, add3(cross3(e, x), cross3(w, x1))


@kernel
def dot_motion(pair, i, k):
    """α·β of the i-th and k-th vector, its rate, and its second derivative if no joint accelerated."""
    alpha, beta = _vector(pair, i), _vector(pair, k)
    alpha1, alpha2 = _vector_motion(pair, i, alpha)
    beta1, beta2 = _vector_motion(pair, k, beta)
    rate = dot3(alpha1, beta) + dot3(alpha, beta1)
    return dot3(alpha, beta), rate, dot3(alpha2, beta) + 2.0 * dot3(alpha1, beta1) + dot3(alpha, beta2)


@kernel
def coordinate_bias(pair, coord):
    """Second derivative of a coordinate read from its frames if no joint accelerated."""
    pick = coord.pick
    if coord.how == SLIDE:
        _, _, bias = dot_motion(pair, pick[4], _D)
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
def measure_motion(tables, constraints):
    """(measured rows) => bias of every coordinate that rows are about, and row: its second derivative if no joint
    accelerated."""
    pairs, coords, rows = constraints.pairs, constraints.coords, constraints.rows
    for i in range(pairs.shape[0]):
        _move_pair(tables, pairs[i])
    for i in range(coords.shape[0]):
        coord = coords[i]
        if coord.q < 0 and coord.used != 0:
            coord.bias = coordinate_bias(pairs[coord.pair], coord)
    for i in range(rows.shape[0]):
        rows[i].bias = _row_bias(pairs, coords, rows[i])


@kernel
def _row_bias(pairs, coords, row):
    """phi'' of a row if no joint accelerated."""
    if row.kind == COORDINATE:
        bias = row.sign * coords[row.first].bias
        if row.second >= 0:
            bias -= row.ratio * coords[row.second].bias
        return bias
    pair = pairs[row.pair]
    if row.kind == DOT:
        bias = dot_motion(pair, row.alpha, row.beta)[2]
        if row.first >= 0:
            bias -= row.ratio * coords[row.first].bias
        return bias
    if row.kind == SPIN:
        axis = _vector(pair, row.alpha)
        w_B = get3(pair.w_B)
        slip = sub3(w_B, get3(pair.w_A))
        turning = sub3(get3(pair.e_B), get3(pair.e_A))
        return dot3(axis, turning) + dot3(cross3(w_B, axis), slip)
    return distance_bias(pair)


@kernel
def distance_bias(pair):
    """|d|'' if no joint accelerated."""
    d, d1 = get3(pair.d), get3(pair.d1)
    length = norm3(d)
    if length == 0.0:
        return 0.0
    u = scale3(1.0 / length, d)
    along = dot3(u, d1)
    return dot3(u, get3(pair.d2)) + (dot3(d1, d1) - along * along) / length


# --- both at once, for stepping ---


@kernel
def survey(tables, constraints, q):
    """(placed tables) => gap, Jacobian and bias of every row; coordinates that no row is about are only kept track
    of."""
    pairs, coords, rows = constraints.pairs, constraints.coords, constraints.rows
    for i in range(pairs.shape[0]):
        place_pair(tables, pairs[i])
        _move_pair(tables, pairs[i])
    for i in range(coords.shape[0]):
        coord = coords[i]
        if coord.used == 0:
            if coord.q < 0 and coord.how == TURN:
                track_angle(pairs[coord.pair], coord)
        elif coord.q >= 0:
            coord.value = q[coord.q]
        else:
            measure_coordinate(pairs[coord.pair], coord)
            coord.bias = coordinate_bias(pairs[coord.pair], coord)
    for i in range(rows.shape[0]):
        row = rows[i]
        if row.kind == DOT and row.alpha >= _A and row.alpha < _B and row.beta >= _B and row.first < 0:
            _survey_equation(pairs[row.pair], row)
        else:
            _measure_row(pairs, coords, row)
            row.bias = _row_bias(pairs, coords, row)


@kernel
def _survey_equation(pair, row):
    """The same for what joints are mostly made of: an axis of A on the distance, or on an axis of B."""
    alpha = _vector(pair, row.alpha)
    alpha1, alpha2 = _vector_motion(pair, row.alpha, alpha)
    beta = _vector(pair, row.beta)
    n = cross3(alpha, beta)
    if row.beta == _D:
        beta1, beta2 = get3(pair.d1), get3(pair.d2)
        n_A, n_B = sub3(n, cross3(get3(pair.r_A), alpha)), cross3(get3(pair.r_B), alpha)
        f = alpha
    else:
        beta1, beta2 = _vector_motion(pair, row.beta, beta)
        n_A, n_B = n, scale3(-1.0, n)
        f = (0.0, 0.0, 0.0)
    row.phi = dot3(alpha, beta) - row.offset
    row.bias = dot3(alpha2, beta) + 2.0 * dot3(alpha1, beta1) + dot3(alpha, beta2)
    J_A, J_B = row.J_A, row.J_B
    J_A[0], J_A[1], J_A[2] = n_A[0], n_A[1], n_A[2]
    J_A[3], J_A[4], J_A[5] = -f[0], -f[1], -f[2]
    J_B[0], J_B[1], J_B[2] = n_B[0], n_B[1], n_B[2]
    J_B[3], J_B[4], J_B[5] = f[0], f[1], f[2]


@kernel
def track_angle(pair, coord):
    """Count the turns of an angle that nobody asks for at every step: it passes π where its cosine is negative."""
    pick = coord.pick
    s = dot3(_vector(pair, pick[0]), _vector(pair, pick[1]))
    c = dot3(_vector(pair, pick[2]), _vector(pair, pick[3]))
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
    s = dot3(_vector(pair, pick[0]), _vector(pair, pick[1]))
    c = dot3(_vector(pair, pick[2]), _vector(pair, pick[3]))
    coord.value = math.atan2(s, c) + 2.0 * math.pi * coord.turns
