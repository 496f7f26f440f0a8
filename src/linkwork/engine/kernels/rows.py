"""Rows: what every constraint is to a solver. Gaps, rates and Jacobians against body twists.

A joint equation is a dot product φ = α·β of axes of the world, of the joint frames A and B, and of the distance d
from A to B. Its Jacobian is exact: an axis of A turns with ω_A, so it contributes (α×β)·ω_A; d contributes
β·(v_B - v_A) at the two points. Coordinates of joints that close loops are read from the same frames.
"""

from ..tables import CALLED, COORDINATE, DOT, HOLD, SPIN, TURN
from .called import call_functions, measure_called
from .jit import kernel
from .joint_coordinates import coordinate_bias, measure_coordinate, recall_angle, track_angle
from .math3 import (
    cross3,
    dot3,
    get3,
    norm3,
    scale3,
    sub3,
)
from .pairs import (
    A_AXES,
    B_AXES,
    DISTANCE_VECTOR,
    add_point,
    add_turning,
    clear_jacobian,
    dot_motion,
    measure_dot,
    move_pair,
    pair_vector,
    place_pair,
    vector_motion,
)


@kernel
def measure(tables, constraints, q):
    """(placed tables) => value of every coordinate, gap and Jacobian of every row."""
    pairs, coords, rows = constraints.pairs, constraints.coords, constraints.rows
    _measure_coordinates(tables, constraints, q)
    call_functions(tables, constraints)
    for i in range(rows.shape[0]):
        if rows[i].kind == CALLED:
            measure_called(tables, pairs[rows[i].pair], rows[i])
        else:
            _measure_row(pairs, coords, rows[i])


@kernel
def measure_joints(tables, constraints, q):
    """(poses) => value of every coordinate, gap and Jacobian of joint equations."""
    _measure_coordinates(tables, constraints, q)
    for i in range(constraints.rows.shape[0]):
        if constraints.rows[i].role == HOLD:
            _measure_row(constraints.pairs, constraints.coords, constraints.rows[i])


@kernel
def _measure_coordinates(tables, constraints, q):
    """(poses) => frames of pairs, and the value of every coordinate."""
    pairs, coords = constraints.pairs, constraints.coords
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
        axis = pair_vector(pairs[row.pair], row.alpha)
        clear_jacobian(row.J_A)
        clear_jacobian(row.J_B)
        add_turning(row.J_B, axis)
        add_turning(row.J_A, scale3(-1.0, axis))
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
    clear_jacobian(row.J_A)
    clear_jacobian(row.J_B)
    if length > 0.0:
        u = scale3(1.0 / length, d)
        add_point(row.J_B, 1.0, get3(pair.r_B), u)
        add_point(row.J_A, -1.0, get3(pair.r_A), u)


@kernel
def measure_motion(tables, constraints):
    """(measured rows) => bias of every coordinate that rows are about, and row: its second derivative if no joint
    accelerated."""
    pairs, coords, rows = constraints.pairs, constraints.coords, constraints.rows
    for i in range(pairs.shape[0]):
        move_pair(tables, pairs[i])
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
    if row.kind == CALLED:  # as if its direction stayed: stiff rows alone ask
        return dot3((row.J_B[3], row.J_B[4], row.J_B[5]), get3(pair.d2))
    if row.kind == DOT:
        bias = dot_motion(pair, row.alpha, row.beta)[2]
        if row.first >= 0:
            bias -= row.ratio * coords[row.first].bias
        return bias
    if row.kind == SPIN:
        axis = pair_vector(pair, row.alpha)
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


@kernel
def survey(tables, constraints, q):
    """(placed tables) => gap, Jacobian and bias of every row; coordinates that no row is about are only kept track
    of."""
    pairs, coords, rows = constraints.pairs, constraints.coords, constraints.rows
    for i in range(pairs.shape[0]):
        place_pair(tables, pairs[i])
        move_pair(tables, pairs[i])
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
    call_functions(tables, constraints)
    for i in range(rows.shape[0]):
        row = rows[i]
        if (
            row.kind == DOT
            and row.alpha >= A_AXES
            and row.alpha < B_AXES
            and row.beta >= B_AXES
            and row.first < 0
        ):
            _survey_equation(pairs[row.pair], row)
        elif row.kind == CALLED:
            measure_called(tables, pairs[row.pair], row)
            row.bias = _row_bias(pairs, coords, row)
        else:
            _measure_row(pairs, coords, row)
            row.bias = _row_bias(pairs, coords, row)


@kernel
def _survey_equation(pair, row):
    """Gap, Jacobian and bias of the equations that joints are mostly made of: an axis of A times d or an axis of B."""
    alpha = pair_vector(pair, row.alpha)
    alpha1, alpha2 = vector_motion(pair, row.alpha, alpha)
    beta = pair_vector(pair, row.beta)
    n = cross3(alpha, beta)
    if row.beta == DISTANCE_VECTOR:
        beta1, beta2 = get3(pair.d1), get3(pair.d2)
        n_A, n_B = sub3(n, cross3(get3(pair.r_A), alpha)), cross3(get3(pair.r_B), alpha)
        f = alpha
    else:
        beta1, beta2 = vector_motion(pair, row.beta, beta)
        n_A, n_B = n, scale3(-1.0, n)
        f = (0.0, 0.0, 0.0)
    row.phi = dot3(alpha, beta) - row.offset
    row.bias = dot3(alpha2, beta) + 2.0 * dot3(alpha1, beta1) + dot3(alpha, beta2)
    J_A, J_B = row.J_A, row.J_B
    J_A[0], J_A[1], J_A[2] = n_A[0], n_A[1], n_A[2]
    J_A[3], J_A[4], J_A[5] = -f[0], -f[1], -f[2]
    J_B[0], J_B[1], J_B[2] = n_B[0], n_B[1], n_B[2]
    J_B[3], J_B[4], J_B[5] = f[0], f[1], f[2]
