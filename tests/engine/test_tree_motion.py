"""Motion of trees: rotations through every orientation, and orders of convergence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from helpers.probe import ADAMS, DOPRI, EULER, RK4, Probe, ball_columns
from helpers.runs import orders
from helpers.trees import EPS, FAST, placed_model, triple, unit
from linkwork.engine.loads import Force, Spring, Torque
from linkwork.model import Body, Model
from linkwork.model.item import GROUND
from linkwork.model.joints import Free, Hinge, Spherical, Universal
from linkwork.model.rotation import matrix
from linkwork.model.signals import Sine

# --- rotations through every orientation ---


def free_body(inertia, **fields) -> Model:
    model = Model(gravity=(0.0, 0.0, 0.0))
    model.add(Body("body", mass=1.0, inertia=inertia))
    model.add(Free("free", GROUND, "body", **fields))
    return model


def assert_unit_quaternions(path, system):
    # The factor 1/|q| is off by 2 eps at most, and each component is rounded once more by eps/2.
    for i, _ in ball_columns(system):
        assert np.abs(np.linalg.norm(path.q[:, i : i + 4], axis=1) - 1).max() <= 1e-15


def rotations_by_scipy(inertia, torque, w0, times):
    """Orientation and own-axes angular velocity of a body: Euler's equations and R' = R [ω], by scipy."""
    I = np.array(inertia)

    def rate(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.r_[(R @ W).ravel(), (torque(R) - np.cross(w, I * w)) / I]

    start = np.r_[np.eye(3).ravel(), w0]
    y = solve_ivp(rate, (0, times[-1]), start, "DOP853", times, rtol=1e-13, atol=1e-13).y.T
    return y[:, :9].reshape(-1, 3, 3), y[:, 9:]


def gimbal_lock(R):
    """Sine of the middle Euler angle (x-y-z): 1 or -1 where the other two lock."""
    return R[:, 0, 2]


def test_a_tumbling_body_follows_jacobis_solution_through_every_orientation():
    # Torque-free, started at ω₂ = 0 (Landau and Lifshitz, Mechanics, §37): ω = (a₁ cn, a₂ sn, a₃ dn)(λt | m).
    # With inertia (1, 2, 3): a₂ = a₁, λ = a₃, m = a₁²/(3 a₃²); m near 1 turns the body over again and again.
    a1, a3 = 1.72, 1.0
    times = np.linspace(0, 40, 401)[1:]
    sn, cn, dn, _ = ellipj(a3 * times, a1**2 / (3 * a3**2))
    probe = Probe(free_body((1.0, 2.0, 3.0), velocity=(0.1, 0.2, 0.3, a1, 0.0, a3)))
    path = probe.run_adaptive(probe.system.q0, probe.system.v0, times, 1e-13)
    # Some thousand steps of local error 1e-13, amplified by the saddle that m near 1 stays close to.
    np.testing.assert_allclose(path.v[:, 3:], np.transpose([a1 * cn, a1 * sn, a3 * dn]), atol=1e-8)
    np.testing.assert_allclose(path.q[:, :3], np.outer(times, [0.1, 0.2, 0.3]), atol=1e-10)
    assert_unit_quaternions(path, probe.system)

    R = np.array([probe.poses(q)[1][0] for q in path.q])
    wanted, _ = rotations_by_scipy((1.0, 2.0, 3.0), lambda R: np.zeros(3), (a1, 0.0, a3), times)
    np.testing.assert_allclose(R, wanted, atol=1e-8)
    # The way led through gimbal lock and half turns, or the test would prove little.
    assert np.abs(gimbal_lock(R)).max() > 0.995
    assert path.q[:, 3].min() < -0.9 < 0.9 < path.q[:, 3].max()


@given(st.integers(0, 10**6))
@FAST
def test_the_orientation_at_the_start_only_turns_the_motion_of_a_free_body(seed):
    rng = np.random.default_rng(seed)
    Q, w = unit(rng, 4), triple(rng.normal(size=3) * 2)
    straight = Probe(free_body((1.0, 2.0, 2.5), velocity=(0.0, 0.0, 0.0, *w)))
    turned = Probe(free_body((1.0, 2.0, 2.5), position=(0.0, 0.0, 0.0, *Q), velocity=(0.0, 0.0, 0.0, *w)))
    one = straight.run(straight.system.q0, straight.system.v0, 1e-2, 200, stride=40)
    two = turned.run(turned.system.q0, turned.system.v0, 1e-2, 200, stride=40)
    # Equal steps, so that only rounding differs: four evaluations in each of 200 steps, a few ulp of numbers
    # below 10 in each.
    atol = 200 * 4 * 4 * 10 * EPS
    np.testing.assert_allclose(two.v[:, 3:], one.v[:, 3:], atol=atol)
    for q1, q2 in zip(one.q, two.q, strict=True):
        np.testing.assert_allclose(turned.poses(q2)[1], matrix(Q) @ straight.poses(q1)[1], atol=atol)


def test_a_heavy_top_on_a_ball_joint_swings_through_gimbal_lock():
    mass, com, inertia = 2.0, np.array([0.0, 0.0, -0.4]), np.array([0.37, 0.38, 0.03])  # about the pivot
    gravity, w0 = np.array([0.0, 0.0, -9.81]), (0.3, 6.0, 0.2)
    model = Model(gravity=triple(gravity))
    about_com = inertia - mass * 0.16 * np.array([1, 1, 0])
    model.add(Body("top", mass=mass, com=triple(com), inertia=triple(about_com)))
    model.add(Spherical("ball", GROUND, "top", velocity=w0))
    probe = Probe(model)
    times = np.linspace(0, 3, 301)[1:]
    path = probe.run_adaptive(probe.system.q0, probe.system.v0, times, 1e-13)
    wanted, w = rotations_by_scipy(inertia, lambda R: np.cross(com, R.T @ (mass * gravity)), w0, times)
    R = np.array([probe.poses(q)[1][0] for q in path.q])
    np.testing.assert_allclose(path.v, w, atol=1e-8)
    np.testing.assert_allclose(R, wanted, atol=1e-8)
    assert_unit_quaternions(path, probe.system)
    assert np.abs(gimbal_lock(R)).max() > 0.99


def test_a_ball_joint_swung_in_a_plane_moves_as_a_hinge():
    # About a principal axis y, which gravity does not twist, over the top and exactly through gimbal lock.
    rng = np.random.default_rng(2)
    probes = []
    for joint in (
        Hinge("joint", GROUND, "body", axis=(0.0, 1.0, 0.0), velocity=9.0),
        Spherical("joint", GROUND, "body", velocity=(0.0, 9.0, 0.0)),
    ):
        model = Model()
        model.add(Body("body", mass=1.0, com=(0.0, 0.0, -0.5), inertia=(0.02, 0.03, 0.02)))
        model.add(joint)
        probes.append(Probe(placed_model(model, rotation=tuple(unit(rng, 4)))))
        rng = np.random.default_rng(2)
    one, two = (probe.run(probe.system.q0, probe.system.v0, 1e-3, 2000, stride=20) for probe in probes)
    assert one.q.max() > 2 * np.pi
    # One method of order four on two sets of coordinates: each is off by some h⁴, about 1e-10 after 2 s.
    np.testing.assert_allclose(two.v[:, 1], one.v[:, 0], atol=1e-8)
    for q1, q2 in zip(one.q, two.q, strict=True):
        np.testing.assert_allclose(probes[1].poses(q2)[1], probes[0].poses(q1)[1], atol=1e-8)


# --- orders of convergence ---


def swinging_tower() -> Model:
    """Quaternions on the ground and in the air, dampers, springs, and loads that change with time."""
    model = Model(gravity=(0.0, 0.0, -9.81))
    solid = {"mass": 1.0, "inertia": (0.02, 0.03, 0.04, 0.001, 0.002, 0.003)}
    model.add(Body("lower", at=(0.0, 0.0, 0.5), com=(0.05, 0.0, 0.0), **solid))
    model.add(Body("upper", at=(0.0, 0.1, 1.0), **solid))
    model.add(Body("head", at=(0.2, 0.0, 1.4), com=(0.0, 0.05, 0.02), **solid))
    model.add(Body("kite", at=(1.0, 0.5, 1.5), **solid))
    model.add(Spherical("root", GROUND, "lower", spring=8.0, damping=0.1, velocity=(0.5, 1.0, -0.4)))
    model.add(Hinge("waist", "upper", "lower", at=(0.0, 0.0, 0.8), axis=(0.0, 1.0, 0.2), damping=0.05))
    model.add(Universal("neck", "upper", "head", at=(0.1, 0.0, 1.2), damping=0.02, velocity=(1.0, -2.0)))
    line = {"at_a": (0.2, 0.0, 1.5), "at_b": (0.9, 0.5, 1.5)}
    model.add(Spring("line", "head", "kite", **line, stiffness=30.0, damping=0.5))
    model.add(Force("gust", "kite", force=(0.5, 1.0, 10.0), at=(1.1, 0.5, 1.5), signal=Sine(0.7, offset=1.0)))
    model.add(Torque("motor", "head", torque=(0.0, 0.2, 0.1), follows=True, signal=Sine(1.3, phase=0.4)))
    return model


def solution_by_scipy(probe, end):
    """State and work at time `end`, from nothing but the derivatives, with plain quaternion rates."""
    nq, nv = probe.system.nq, probe.nv

    def rate(t, y):
        q, v = y[:nq].copy(), y[nq : nq + nv].copy()
        return np.r_[probe.rates(q, v), *probe.derive(q, v, t)]

    start = np.r_[probe.system.q0, probe.system.v0, 0.0, 0.0]
    return solve_ivp(rate, (0, end), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


END = 2.0  # long enough for errors that stand well above rounding [s]


@pytest.fixture(scope="module")
def tower():
    probe = Probe(swinging_tower())
    return probe, solution_by_scipy(probe, END)


def end_error(path, reference):
    end = np.r_[path.q[-1], path.v[-1], path.work[-1]]
    return np.abs(end - reference).max()


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


@pytest.mark.parametrize(
    ("integrator", "order", "steps"),
    [
        (EULER, 1, (8000, 16000, 32000)),
        (RK4, 4, (400, 800, 1600)),
        (ADAMS, 4, (2400, 4800, 9600)),
        (DOPRI, 5, (200, 400, 800, 1600)),
    ],
    ids=["semi-implicit Euler", "RK4", "Adams", "Dormand-Prince"],
)
def test_each_integrator_has_its_order(tower, integrator, order, steps):
    probe, reference = tower
    q, v = probe.system.q0, probe.system.v0
    errors = [end_error(probe.run(q, v, END / n, n, integrator, stride=n), reference) for n in steps]
    # Far above the 1e-12 of the reference, and small enough for the leading term to rule.
    assert 1e-11 < errors[-1] < errors[0] < 0.2
    assert slope(np.divide(END, steps), errors) == pytest.approx(order, abs=0.2)
    if integrator is ADAMS:
        # The error is C h⁴ (1 + c h + …), so that between h and h/2 the order seems to be 4 + c h/(2 ln 2). Past
        # accelerations miss the fifth derivative by C₅ = 251/720 and the sixth by C₆ = 95/288, and derivatives of a
        # motion whose fastest rate is Λ (36/s here, the largest eigenvalue on the way) grow like k! Λᵏ: |c| is about
        # 6 Λ C₆/C₅ = 200/s, and the largest step, 2 s/2400, one with |c h| = 0.2. Extrapolated to h = 0, orders
        # are off by some (c h)².
        first, second = orders(errors)
        assert 2.0 * second - first == pytest.approx(order, abs=0.1)


def test_the_error_of_the_adaptive_integrator_follows_its_tolerance(tower):
    probe, reference = tower
    q, v = probe.system.q0, probe.system.v0
    tolerances = 10.0 ** -np.arange(5, 12)
    errors = [end_error(probe.run_adaptive(q, v, [END], tolerance), reference) for tolerance in tolerances]
    # The local error of order five is held at the tolerance, so that the global one of order five (the higher
    # solution goes on) is proportional to it. The constant is the sensitivity of the motion, some 20 here;
    # far less than that would mean steps smaller than asked for.
    ratios = errors / tolerances
    assert 2 < ratios.min() < ratios.max() < 100
    assert slope(tolerances, errors) == pytest.approx(1, abs=0.15)


def test_samples_of_the_adaptive_integrator_do_not_change_the_motion_beyond_its_tolerance(tower):
    probe, reference = tower
    times = np.linspace(0, END, 38)[1:]
    path = probe.run_adaptive(probe.system.q0, probe.system.v0, times, 1e-9)
    np.testing.assert_array_equal(path.t, times)
    assert end_error(path, reference) < 100 * 1e-9


def test_a_sample_a_hair_behind_a_step_is_reached(tower):
    # A rest of 5e-15 s is too small for a step of its own.
    probe, _ = tower
    path = probe.run_adaptive(probe.system.q0, probe.system.v0, [1e-6 + 5e-15], 1e-6, first_step=1e-6)
    assert path.t[-1] == 1e-6 + 5e-15


def test_fixed_steps_do_not_let_time_drift():
    probe = Probe(swinging_tower())
    path = probe.run(probe.system.q0, probe.system.v0, 1e-3, 3000, stride=100)
    np.testing.assert_array_equal(path.t, 1e-3 * np.arange(100, 3001, 100))
