"""Small vectors, rotations, quaternions and spatial algebra against independent arithmetic."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from helpers.trees import EPS, FAST, unit
from linkwork.engine.kernels.math3 import (
    chain,
    cross3,
    quat_exp,
    quat_log,
    quat_matrix,
    quat_mul,
    rotate,
    rotate_symmetric,
    rotation_vector_rate,
    sincos,
    turn_z,
)
from linkwork.engine.kernels.spatial import add_downdated, cross_motion, inertia_times, set_rigid_inertia
from linkwork.model.rotation import matrix, quaternion

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899863")


def exact_sincos(x):
    """sin and cos of a float to fifty digits: reduce by a sixty-digit π, then Taylor's series."""
    with localcontext() as context:
        context.prec = 60
        r = Decimal(x) % (2 * PI)
        if abs(r) > PI:
            r -= (2 * PI).copy_sign(r)
        sums = [Decimal(0), Decimal(0)]
        term, k = Decimal(1), 0
        while abs(term) > Decimal("1e-55"):
            sums[k % 2] += term if k % 4 < 2 else -term
            k += 1
            term *= r / k
        return sums[1], sums[0]


def ulps(value, exact):
    """Distance from an exact value in units of its last place."""
    with localcontext() as context:
        context.prec = 60
        return abs(float((Decimal(value) - exact) / Decimal(math.ulp(float(exact)))))


def angles():
    """Everything up to the limit of the reduction, and the neighbours of multiples of π/2, the hard cases."""
    rng = np.random.default_rng(1)
    yield from rng.uniform(-1e5, 1e5, 1500)
    yield from rng.uniform(-4, 4, 1000)
    yield from 10.0 ** rng.uniform(-300, 0, 200)
    yield from (0.0, -0.0, 5e-324, 1e5, -1e5, math.pi, math.pi / 4, math.nextafter(math.pi / 4, 0))
    for n in rng.integers(-63661, 63661, 500):
        x = float(n) * (math.pi / 2)
        yield from (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf), x + math.pi / 4)


def test_sincos_is_within_one_ulp_up_to_the_limit_of_its_reduction():
    worst = 0.0
    for x in map(float, angles()):
        for value, exact in zip(sincos(x), exact_sincos(x), strict=True):
            if exact != 0:
                worst = max(worst, ulps(value, exact))
    assert worst <= 1.0
    assert worst > 0.5  # a correctly rounded result would make the measure itself suspicious


@given(st.floats(1e5, 1e300))
@FAST
def test_sincos_beyond_the_reduction_is_the_library_function(x):
    # The library is accurate to one ulp and so may differ by as much between builds of it.
    s, c = sincos(x)
    assert abs(s - math.sin(x)) <= math.ulp(s)
    assert abs(c - math.cos(x)) <= math.ulp(c)


def test_sincos_of_nan_is_nan():
    assert all(math.isnan(value) for value in sincos(math.nan))


# --- quaternions ---

vectors = st.tuples(*[st.floats(-1, 1)] * 3)
# Lengths over all decades, both sides of the switch to a series, and up to a turn.
lengths = st.one_of(
    st.floats(0, 3.14), st.floats(-14, 0).map(lambda e: 10.0**e), st.sampled_from([0.0, 1e-4, 0.99e-4, 1e-12])
)


def stretched(direction, length):
    norm = np.linalg.norm(direction)
    return np.array(direction) * (length / norm) if norm > 1e-3 else np.array([0.0, 0.0, length])


@given(vectors, lengths)
@FAST
def test_quat_log_inverts_quat_exp(direction, length):
    phi = stretched(direction, length)
    q = quat_exp(tuple(phi))
    assert abs(np.linalg.norm(q) - 1) <= 4 * EPS
    # Each of the two is accurate to a few ulp; near π, atan2(s, w) turns an ulp of w into one of the angle.
    np.testing.assert_allclose(quat_log(q), phi, rtol=8 * EPS, atol=4 * EPS * length)
    np.testing.assert_allclose(quat_log(tuple(-x for x in q)), phi, rtol=8 * EPS, atol=4 * EPS * length)


@given(vectors, st.floats(0, 50))
@FAST
def test_quat_exp_is_the_rotation_by_its_vector(direction, length):
    phi = stretched(direction, length)
    wanted = Rotation.from_rotvec(phi).as_matrix().ravel()
    # The half angle is rounded once: an absolute error of eps times the angle.
    np.testing.assert_allclose(quat_matrix(*quat_exp(tuple(phi))), wanted, atol=8 * EPS * (1 + length))


@given(vectors, st.floats(3.2, 6.2))
@FAST
def test_quat_log_takes_the_short_way_round(direction, length):
    phi = stretched(direction, length)
    back = np.array(quat_log(quat_exp(tuple(phi))))
    np.testing.assert_allclose(back, phi * (1 - 2 * math.pi / length), atol=16 * EPS)


@given(st.integers(0, 10**6))
@FAST
def test_quaternion_product_is_the_product_of_rotations(seed):
    rng = np.random.default_rng(seed)
    p, q = tuple(unit(rng, 4)), tuple(unit(rng, 4))
    R = np.array(quat_matrix(*quat_mul(p, q))).reshape(3, 3)
    np.testing.assert_allclose(R, matrix(p) @ matrix(q), atol=16 * EPS)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=8 * EPS)
    assert np.linalg.det(R) == pytest.approx(1, abs=16 * EPS)
    assert abs(np.dot(quaternion(R), quat_mul(p, q))) == pytest.approx(1, abs=16 * EPS)


@given(st.integers(0, 10**6), st.floats(0.5, 2))
@FAST
def test_quat_matrix_divides_out_the_length(seed, length):
    q = unit(np.random.default_rng(seed), 4)
    np.testing.assert_allclose(quat_matrix(*(length * q)), quat_matrix(*q), atol=8 * EPS)


@given(vectors, lengths, vectors)
@example((1.0, 0.0, 0.0), math.sqrt(1e-3), (0.3, 0.4, 0.5))  # where the series takes over
@FAST
def test_rotation_vector_rate_is_the_derivative_along_the_group(direction, length, w):
    phi = stretched(direction, 0.95 * length)

    def at(h):
        turned = quat_mul(quat_exp(tuple(phi)), quat_exp(tuple(h * np.array(w))))
        return np.array(quat_log(turned))

    # Central differences of order four: h⁴ times a fifth derivative below 100 (|phi| <= 2.98, where the
    # formula has its pole at 2π), and the rounding of phi divided by h.
    h = 2e-3
    difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    tolerance = 100 * h**4 + 8 * EPS * (1 + length) / h
    np.testing.assert_allclose(rotation_vector_rate(tuple(phi), w), difference, atol=tolerance)


def test_rotation_vector_rate_joins_its_series_without_a_step():
    w = (0.3, -0.4, 0.5)
    below = np.array(rotation_vector_rate((math.sqrt(1e-3) * (1 - 1e-12), 0.0, 0.0), w))
    above = np.array(rotation_vector_rate((math.sqrt(1e-3) * (1 + 1e-12), 0.0, 0.0), w))
    # k is a difference of order a² divided by a² = 1e-3, and multiplied by a² again: no digits are lost in
    # the result, and the next term of the series is a⁸/1209600, below 1e-18.
    np.testing.assert_allclose(above, below, atol=1e-12 * 0.1 + 4 * EPS)


# --- rotations and spatial vectors ---


def spd(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T


def packed(M):
    """The 21 numbers of a symmetric 6x6."""
    return np.concatenate([M[:3, :3][np.triu_indices(3)], M[:3, 3:].ravel(), M[3:, 3:][np.triu_indices(3)]])


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


@given(st.integers(0, 10**6))
@FAST
def test_small_matrices_agree_with_numpy(seed):
    rng = np.random.default_rng(seed)
    R, Q, S = matrix(unit(rng, 4)), matrix(unit(rng, 4)), spd(rng, 3)
    a, b, angle = rng.normal(size=3), rng.normal(size=3), rng.uniform(-7, 7)
    Rz = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    upper = np.triu_indices(3)
    for got, wanted in (
        (rotate(tuple(R.ravel()), tuple(a)), R @ a),
        (chain(tuple(R.ravel()), tuple(Q.ravel())), (R @ Q).ravel()),
        (turn_z(tuple(R.ravel()), np.sin(angle), np.cos(angle)), (R @ Rz).ravel()),
        (cross3(tuple(a), tuple(b)), np.cross(a, b)),
        (rotate_symmetric(tuple(R.ravel()), tuple(S[upper])), (R @ S @ R.T)[upper]),
    ):
        # Sums of at most nine products of numbers below 50.
        np.testing.assert_allclose(got, wanted, atol=32 * EPS * max(1, np.abs(wanted).max()))


@given(st.integers(0, 10**6))
@FAST
def test_spatial_algebra_agrees_with_dense_matrices(seed):
    rng = np.random.default_rng(seed)
    M, N, s, U = spd(rng, 6), spd(rng, 6), rng.normal(size=6), rng.normal(size=6)
    tolerance = {"atol": 64 * EPS * np.abs(M).max(), "rtol": 64 * EPS}
    np.testing.assert_allclose(inertia_times(packed(M), tuple(s)), M @ s, **tolerance)
    sum_ = packed(N)
    add_downdated(sum_, packed(M), tuple(U), 0.3)
    np.testing.assert_allclose(sum_, packed(N + M - 0.3 * np.outer(U, U)), **tolerance)

    m, c, J = rng.uniform(0.1, 10), rng.normal(size=3), spd(rng, 3)
    h, J6 = tuple(m * c), tuple(J[np.triu_indices(3)])
    dense = np.block([[J, m * skew(c)], [-m * skew(c), m * np.eye(3)]])
    tolerance = {"atol": 64 * EPS * np.abs(dense).max()}
    I = np.zeros(21)
    set_rigid_inertia(I, m, h, J6)
    np.testing.assert_allclose(I, packed(dense), **tolerance)


@given(st.integers(0, 10**6))
@FAST
def test_spatial_cross_products_agree_with_dense_matrices(seed):
    rng = np.random.default_rng(seed)
    v, m = rng.normal(size=(2, 6))
    X = np.block([[skew(v[:3]), np.zeros((3, 3))], [skew(v[3:]), skew(v[:3])]])
    np.testing.assert_allclose(cross_motion(tuple(v), tuple(m)), X @ m, atol=64 * EPS)
