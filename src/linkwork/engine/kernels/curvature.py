"""Second derivatives of rows: how a row's Jacobian changes when its bodies move.

With both links of a row moving with constant twists, φ'' is a quadratic form of these twists; the bias kernels
measure it. Its bilinear form, x and y being two motions, follows exactly from x + y and x - y. It is the mean of both
orders of differentiation, which differ by J·(x × y): half of that leads to the order that is wanted. What the turning
of the motions' own axes adds, J·(∂S/∂q), is up to the coordinates.
"""

from ..tables import CALLED, DISTANCE, SPIN
from .jit import inlined, kernel
from .joint_coordinates import coordinate_bias
from .math3 import cross3, dot3
from .pairs import dot_motion, stir_pair
from .rows import distance_bias
from .spatial import add6, add_scaled6, cross_motion, dot6, get6

_REST = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined
def _quadratic(pair, coords, row):
    """φ'' of a row on one pair as it is stirred."""
    if row.kind == DISTANCE:
        return distance_bias(pair)
    value = dot_motion(pair, row.alpha, row.beta)[2]
    if row.first >= 0:
        value -= row.ratio * coordinate_bias(pair, coords[row.first])
    return value


@inlined
def _half_turned(row, x_A, x_B, y_A, y_B):
    """Half of what differentiating along x, then y, has over the other order."""
    return 0.5 * (dot6(get6(row.J_A), cross_motion(x_A, y_A)) + dot6(get6(row.J_B), cross_motion(x_B, y_B)))


@kernel
def bend_row(pair, coords, row, x_A, x_B, y_A, y_B):
    """Second derivative of a row on one pair along the motions x, then y, of its links, given as twists."""
    if row.kind == CALLED:  # left out: Newton's method then takes a step or two more
        return 0.0
    if row.kind == SPIN:  # axis·(ω_B - ω_A), the axis turning with B
        k = row.alpha - 6
        axis = (pair.R_B[k], pair.R_B[k + 3], pair.R_B[k + 6])
        slip = (x_B[0] - x_A[0], x_B[1] - x_A[1], x_B[2] - x_A[2])
        return dot3(cross3((y_B[0], y_B[1], y_B[2]), axis), slip)
    stir_pair(pair, add6(x_A, y_A), add6(x_B, y_B), _REST, _REST)
    total = _quadratic(pair, coords, row)
    stir_pair(pair, add_scaled6(x_A, -1.0, y_A), add_scaled6(x_B, -1.0, y_B), _REST, _REST)
    mean = 0.25 * (total - _quadratic(pair, coords, row))
    return mean + _half_turned(row, x_A, x_B, y_A, y_B)


@kernel
def bend_coordinate(pair, coord, x_A, x_B, y_A, y_B):
    """Second derivative of a joint coordinate read from its frames along the motions x, then y, of its links."""
    stir_pair(pair, add6(x_A, y_A), add6(x_B, y_B), _REST, _REST)
    total = coordinate_bias(pair, coord)
    stir_pair(pair, add_scaled6(x_A, -1.0, y_A), add_scaled6(x_B, -1.0, y_B), _REST, _REST)
    mean = 0.25 * (total - coordinate_bias(pair, coord))
    return mean + _half_turned(coord, x_A, x_B, y_A, y_B)
