"""The two frames A and B of a joint: dot products of their vectors, with Jacobians and second derivatives.

Vectors are numbered as in `model.joints.base`: axes of the world, of A, of B, and the distance d from A to B. An axis
of A turns with ω_A, so that it contributes (α×β)·ω_A to the rate of α·β; d contributes β·(v_B - v_A) at the two points.
"""

from .jit import kernel
from .math3 import (
    add3,
    chain,
    cross3,
    dot3,
    get3,
    get9,
    rotate,
    set3,
    set9,
    sub3,
)
from .spatial import get6

A_AXES, B_AXES, DISTANCE_VECTOR = 3, 6, 9  # where the axes of A, of B and d begin among the vectors of a row


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
def pair_vector(pair, k):
    """The k-th vector that rows are made of."""
    if k < A_AXES:
        return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
    if k < B_AXES:
        return pair.R_A[k - A_AXES], pair.R_A[k], pair.R_A[k + 3]
    if k < DISTANCE_VECTOR:
        return pair.R_B[k - B_AXES], pair.R_B[k - 3], pair.R_B[k]
    return get3(pair.d)


@kernel
def add_turning(J, n):
    J[0] += n[0]
    J[1] += n[1]
    J[2] += n[2]


@kernel
def add_point(J, sign, r, f):
    """J += sign (r × f, f): the velocity along f of the point r."""
    n = cross3(r, f)
    for k in range(3):
        J[k] += sign * n[k]
        J[3 + k] += sign * f[k]


@kernel
def _add_factor(pair, k, alpha, beta, J_A, J_B):
    """What α' · β adds to a Jacobian, α being the k-th vector."""
    if k >= DISTANCE_VECTOR:
        add_point(J_B, 1.0, get3(pair.r_B), beta)
        add_point(J_A, -1.0, get3(pair.r_A), beta)
    elif k >= B_AXES:
        add_turning(J_B, cross3(alpha, beta))
    elif k >= A_AXES:
        add_turning(J_A, cross3(alpha, beta))


@kernel
def clear_jacobian(J):
    for k in range(6):
        J[k] = 0.0


@kernel
def measure_dot(pair, i, k, J_A, J_B):
    """φ = α·β of the i-th and k-th vector, its Jacobians into J_A and J_B."""
    alpha, beta = pair_vector(pair, i), pair_vector(pair, k)
    clear_jacobian(J_A)
    clear_jacobian(J_B)
    _add_factor(pair, i, alpha, beta, J_A, J_B)
    _add_factor(pair, k, beta, alpha, J_A, J_B)
    return dot3(alpha, beta)


@kernel
def move_pair(tables, pair):
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
def vector_motion(pair, k, x):
    """First and second derivative of the k-th vector x; axes turn with their frame."""
    if k < A_AXES:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if k >= DISTANCE_VECTOR:
        return get3(pair.d1), get3(pair.d2)
    w, e = (get3(pair.w_A), get3(pair.e_A)) if k < B_AXES else (get3(pair.w_B), get3(pair.e_B))
    x1 = cross3(w, x)
    return x1, add3(cross3(e, x), cross3(w, x1))


@kernel
def dot_motion(pair, i, k):
    """α·β of the i-th and k-th vector, its rate, and its second derivative if no joint accelerated."""
    alpha, beta = pair_vector(pair, i), pair_vector(pair, k)
    alpha1, alpha2 = vector_motion(pair, i, alpha)
    beta1, beta2 = vector_motion(pair, k, beta)
    rate = dot3(alpha1, beta) + dot3(alpha, beta1)
    return dot3(alpha, beta), rate, dot3(alpha2, beta) + 2.0 * dot3(alpha1, beta1) + dot3(alpha, beta2)
