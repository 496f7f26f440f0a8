"""Dynamics of random trees: balances, conservation, invariance, orders of convergence, user functions."""

import dataclasses
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from helpers.processes import python
from helpers.trees import (
    ADAMS,
    DOPRI,
    EPS,
    EULER,
    FAST,
    KINDS,
    RK4,
    SLOW,
    Link,
    Plan,
    Probe,
    ball_columns,
    build,
    placed_model,
    plans,
    random_plan,
    triple,
    unit,
    wrenches,
)
from linkwork.engine.loads import BodyFunction, Force, JointFunction, Spring, Torque
from linkwork.model import Body, Model
from linkwork.model.item import GROUND
from linkwork.model.joints import Free, Hinge, Slider, Spherical, Universal
from linkwork.model.rotation import matrix
from linkwork.model.signals import Sine, Table

T = 0.37  # a time at which no signal is at its start [s]


# --- claims about one state of a random tree ---
#
# Forces are compared along each dof in units of what acts there: sizes of the mass matrix's terms in the
# norm of kinetic energy (|H_ij| <= D_i D_j, D = sqrt(diag H)), and the bias. Both recursions lose a few ulp
# of these per dof on the way to the root, whatever the masses.


def force_scale(probe, q, v, qdd, t=T):
    D = np.sqrt(np.diag(probe.mass_matrix(q)))
    return D * np.linalg.norm(D * qdd) + np.abs(probe.bias(q, v, t)) + EPS


def force_tolerance(probe):
    return 64 * EPS * probe.nv


def inverse_dynamics_of_the_accelerations_leaves_no_force(probe, q, v):
    qdd = probe.qdd(q, v, T)
    residual = probe.inverse(q, v, qdd, T)
    assert np.all(np.abs(residual) <= force_tolerance(probe) * force_scale(probe, q, v, qdd))


def inverse_dynamics_is_the_mass_matrix_and_the_bias(probe, q, v):
    qdd = np.random.default_rng(1).normal(size=probe.nv)
    tau = probe.inverse(q, v, qdd, T)
    wanted = probe.mass_matrix(q) @ qdd + probe.bias(q, v, T)
    assert np.all(np.abs(tau - wanted) <= force_tolerance(probe) * force_scale(probe, q, v, qdd))


def columns_of_the_mass_matrix_are_forces_of_unit_accelerations(probe, q, v):
    H, bias = probe.mass_matrix(q), probe.bias(q, v, T)
    for i, unit_acceleration in enumerate(np.eye(probe.nv)):
        column = probe.inverse(q, v, unit_acceleration, T) - bias
        scale = force_scale(probe, q, v, unit_acceleration)
        assert np.all(np.abs(column - H[:, i]) <= force_tolerance(probe) * scale)


def the_mass_matrix_is_symmetric_and_positive_definite(probe, q, v):
    H = probe.mass_matrix(q)
    np.testing.assert_array_equal(H, H.T)
    D = np.sqrt(np.diag(H))
    # Scaled to a unit diagonal, so that light and heavy dofs weigh the same; no body is without inertia.
    assert np.linalg.eigvalsh(H / np.outer(D, D)).min(initial=1) > 100 * EPS


def kinetic_energy_is_half_the_square_of_the_rates_in_the_mass_matrix(probe, q, v):
    wanted = 0.5 * v @ probe.mass_matrix(q) @ v
    scale = 0.5 * np.abs(v) @ np.abs(probe.mass_matrix(q)) @ np.abs(v)
    assert abs(probe.energies(q, v, T)[0] - wanted) <= force_tolerance(probe) * scale


def energies_and_momentum_are_sums_over_the_bodies(probe, q, v):
    flat = probe.model.flatten()
    probe.place(q, v)
    kinetic, height, P, scale = 0.0, 0.0, np.zeros(6), np.zeros(6)
    for name, body in flat.bodies.items():
        (p, R), twist = probe.pose(name), probe.twist(name)
        mass, com, inertia = body.mass_properties
        w, arm = twist[:3], R @ com
        u = twist[3:] + np.cross(w, arm)
        J = R @ inertia @ R.T
        spin = J @ w + mass * np.cross(p + arm, u)
        if int(probe.tables.bodies["link"][probe.system.body(name)]) != 0:
            kinetic += 0.5 * (mass * u @ u + w @ J @ w)
            height -= mass * np.dot(probe.model.gravity, p + arm)
            P += np.r_[spin, mass * u]
            scale += np.r_[np.abs(spin), np.abs(mass * u)].max()
    rotors = sum(
        0.5 * np.sum(np.multiply(placed.joint.per_rate("armature"), v[placed.v] ** 2))
        for placed in probe.system.joints.values()
    )
    energy = probe.energies(q, v, T)
    masses = sum(body.mass for body in flat.bodies.values())
    # Positions are below 20 m, and up to twelve links deep.
    assert abs(energy[0] - kinetic - rotors) <= 1e-12 * (energy[0] + EPS)
    assert abs(energy[1] - height) <= 1e-12 * masses * 9.81 * 20
    np.testing.assert_allclose(probe.momentum(q, v), P, atol=1e-12 * scale.max() + EPS)


def loads_do_the_work_of_their_forces(probe, q, v):
    """Generalised forces of the loads are Jᵀ times the wrenches that NumPy finds from poses and twists."""
    if not probe.model.flatten().loads:
        return
    flat = probe.model.flatten()
    probe.place(q, v)
    poses = {name: probe.pose(name) for name in flat.bodies}
    twists = {name: probe.twist(name) for name in flat.bodies}
    acting, power = wrenches(flat, poses, twists, T)
    terms = np.array([probe.jacobian(name).T @ wrench for name, wrench in acting.items()])
    loaded, bare = probe.bias(q, v, T), probe.unloaded.bias(q, v, T)
    scale = np.abs(terms).sum(axis=0) + np.abs(bare) + np.abs(loaded)
    # Springs take the difference of positions below 20 m: their force is off by 20 eps times the stiffness.
    stiffness = 50 * 20 * EPS * 20 * len(flat.loads)
    assert np.all(np.abs(bare - loaded - terms.sum(axis=0)) <= 1e-12 * scale + stiffness)
    supplied = probe.derive(q, v, T)[1]
    assert supplied == pytest.approx(power, abs=1e-12 * np.abs(v) @ np.abs(terms).sum(axis=0) + EPS)


CLAIMS = [
    inverse_dynamics_of_the_accelerations_leaves_no_force,
    inverse_dynamics_is_the_mass_matrix_and_the_bias,
    columns_of_the_mass_matrix_are_forces_of_unit_accelerations,
    the_mass_matrix_is_symmetric_and_positive_definite,
    kinetic_energy_is_half_the_square_of_the_rates_in_the_mass_matrix,
    energies_and_momentum_are_sums_over_the_bodies,
    loads_do_the_work_of_their_forces,
]


# Derivatives along a motion, by central differences of order four: f'(0) from f(±h), f(±2h). The error is
# h⁴ times a fifth derivative; h is chosen so that nothing moves or gains more than 1/500 in it, whence
# h⁵ f⁽⁵⁾ is some 1e-13 of f. Divided by h, and with the rounding of f itself, f' is known to 1e-12 |f|/h.


def derivative(f, h):
    """f'(0)."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def along_motion(probe, q, v, f):
    """d/dt f(q, v, t) along the true motion, and the error to expect per unit of f."""
    qdd = probe.qdd(q, v, T)
    h = 2e-3 / max(1.0, np.abs(v).max(initial=0), np.abs(qdd).max(initial=0))
    rate = derivative(lambda s: f(probe.retract(q, s * v), v + s * qdd, T + s), h)
    return rate, 1e-12 / h


def size_of_energy(probe, q, v):
    """Sum of the sizes of all energies: what rounding counts in."""
    masses = sum(body.mass for body in probe.model.flatten().bodies.values())
    kinetic, _, strain = probe.energies(q, v, T)
    return kinetic + strain + masses * 9.81 * 20


def energy_changes_by_what_is_supplied_and_dissipated(probe, q, v):
    _, supplied, dissipated = probe.derive(q, v, T)
    assert dissipated >= 0
    rate, error = along_motion(probe, q, v, lambda *state: probe.energies(*state).sum())
    assert abs(rate - (supplied - dissipated)) <= error * size_of_energy(probe, q, v)


def forces_at_rest_are_the_slope_of_the_potential(probe, q, v):
    still = np.zeros(probe.nv)
    slope = [
        derivative(lambda s, e=e: probe.energies(probe.retract(q, s * e), still, T).sum(), 2e-3)
        for e in np.eye(probe.nv)
    ]
    size = size_of_energy(probe, q, still)
    np.testing.assert_allclose(probe.bias(q, still, T), slope, atol=1e-12 / 2e-3 * size)


def momentum_of_a_floating_mechanism_changes_by_its_weight(probe, q, v):
    rate, error = along_motion(probe, q, v, lambda q, v, t: probe.momentum(q, v))
    flat = probe.model.flatten()
    probe.place(q, v)
    wanted, size = np.zeros(6), 1e-3
    for name, body in flat.bodies.items():
        p, R = probe.pose(name)
        w, u = np.split(probe.twist(name), 2)
        f = body.mass * np.array(probe.model.gravity)
        wanted += np.r_[np.cross(p + R @ body.mass_properties.com, f), f]
        size += body.mass * 20 * (9.81 + np.linalg.norm(u) + np.linalg.norm(w))
    np.testing.assert_allclose(rate, wanted, atol=error * size)


class Subject(Probe):
    """A random tree with its model, and the same without loads."""

    def __init__(self, plan: Plan):
        self.model = build(plan)
        super().__init__(self.model)
        self.plan = plan

    @property
    def unloaded(self):
        return Probe(dataclasses.replace(self.plan, loads=0))


def check(claim, plan):
    subject = Subject(plan)
    claim(subject, *subject.state(plan.seed))


# What has a potential: gravity, springs in joints and between points (their dampers do nothing at rest).
conservative = plans(load_kinds=("spring",))
# What hangs on nothing feels no force from outside but its weight; joints push its bodies apart or together.
floating = plans(roots=(None,), max_loads=0)
MOTION_CLAIMS = [
    (energy_changes_by_what_is_supplied_and_dissipated, plans()),
    (forces_at_rest_are_the_slope_of_the_potential, conservative),
    (momentum_of_a_floating_mechanism_changes_by_its_weight, floating),
]
MOTION_NAMES = [claim.__name__ for claim, _ in MOTION_CLAIMS]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
@given(plan=plans())
@FAST
def test_random_trees(claim, plan):
    check(claim, plan)


@pytest.mark.parametrize(
    ("claim", "drawn"), MOTION_CLAIMS, ids=[claim.__name__ for claim, _ in MOTION_CLAIMS]
)
@given(data=st.data())
@FAST
def test_motion_of_random_trees(claim, drawn, data):
    check(claim, data.draw(drawn))


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
@given(plan=plans())
@SLOW
def test_many_random_trees(claim, plan):
    check(claim, plan)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "drawn"), MOTION_CLAIMS, ids=[claim.__name__ for claim, _ in MOTION_CLAIMS]
)
@given(data=st.data())
@SLOW
def test_motion_of_many_random_trees(claim, drawn, data):
    check(claim, data.draw(drawn))


# --- conservation along runs ---


def drift(probe, q, v, measure, h, steps):
    """Largest change of a conserved quantity over a run, relative to its size at the start."""
    path = probe.run(q, v, h, steps, stride=steps // 8)
    start = measure(q, v, 0.0)
    size = np.linalg.norm(start)
    return (
        max(np.linalg.norm(measure(*sample) - start) for sample in zip(path.q, path.v, path.t, strict=True))
        / size
    )


def assert_drift_is_of_order_four(probe, q, v, measure):
    # What RK4 does not conserve it loses at its own order or the next: halving the step divides the drift by
    # 2⁴ to 2⁵. The coarse step is small enough for the leading term to rule and large enough for it to
    # stand well above rounding.
    coarse, fine = (drift(probe, q, v, measure, 0.4 / n, n) for n in (64, 128))
    assert coarse < 1e-5
    assert fine < coarse / 12 + 1e-13


@pytest.mark.parametrize("seed", range(6))
def test_a_floating_tree_in_no_gravity_conserves_momentum_at_the_order_of_rk4(seed):
    plan = random_plan(seed, max_links=6, roots=(None,), gravity=False, decades=1, passive=True, loads=0)
    probe = Probe(plan)
    q, v = probe.state(seed, speed=1.0)
    assert_drift_is_of_order_four(probe, q, v, lambda q, v, t: probe.momentum(q, v)[:3])
    assert_drift_is_of_order_four(probe, q, v, lambda q, v, t: probe.momentum(q, v)[3:])


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_without_dampers_conserves_energy_at_the_order_of_rk4(seed):
    plan = random_plan(seed + 10, max_links=6, passive=False, decades=1, loads=0)
    probe = Probe(plan)
    q, v = probe.state(seed, speed=1.0)
    assert_drift_is_of_order_four(probe, q, v, lambda *state: np.array([probe.energies(*state).sum()]))


@pytest.mark.parametrize("seed", range(6))
def test_energy_and_work_balance_at_the_order_of_rk4(seed):
    plan = random_plan(seed + 40, max_links=6, passive=True, decades=1, loads=4)
    probe = Probe(plan)
    q, v = probe.state(seed, speed=1.0)
    start = probe.energies(q, v).sum()

    def imbalance(steps):
        path = probe.run(q, v, 0.4 / steps, steps, stride=steps)
        supplied, dissipated = path.work[-1]
        assert dissipated > 0
        return abs(probe.energies(path.q[-1], path.v[-1], path.t[-1]).sum() - start - supplied + dissipated)

    coarse, fine = imbalance(100), imbalance(200)
    scale = abs(start) + 1
    assert coarse < 1e-5 * scale
    assert fine < coarse / 12 + 1e-13 * scale


# --- the world moved, turned, and far away ---


def residual_in(probe, q, v, qdd):
    """How far accelerations are from solving the equations of another mechanism, relative to its forces."""
    return np.max(np.abs(probe.inverse(q, v, qdd, T)) / force_scale(probe, q, v, qdd), initial=0.0)


# A body that hangs on nothing gets a free joint along the world's axes, which do not turn along.
@given(plans(placed=("here",), roots=KINDS), st.integers(0, 10**6))
@FAST
def test_a_turned_and_moved_world_gives_the_same_motion(plan, seed):
    rng = np.random.default_rng(seed)
    model = build(plan)
    at, turn = rng.normal(size=3), unit(rng, 4)
    here, there = Probe(model), Probe(placed_model(model, at=triple(at), rotation=tuple(turn)))
    q, v = here.state(seed)
    # Written numbers are rounded once more when they are turned: a few ulp of lever arms below 10 m, against
    # radii of gyration above 0.05 m.
    assert residual_in(here, q, v, there.qdd(q, v, T)) < force_tolerance(here) + 16 * EPS * 10 / 0.05
    (p, R), (p2, R2) = here.poses(q), there.poses(q)
    np.testing.assert_allclose(p2, p @ matrix(turn).T + at, atol=1e-12)
    np.testing.assert_allclose(R2, matrix(turn) @ R, atol=1e-12)


def shifted(model, offset, step=None):
    """The same model written elsewhere; positions are first rounded to multiples of `step`."""
    moved = Model("shifted", gravity=model.gravity)
    for thing in (*model.bodies.values(), *model.joints.values()):
        at = np.array(thing.at) if step is None else np.round(np.array(thing.at) / step) * step
        moved.add(dataclasses.replace(thing, at=triple(at + offset)))
    return moved


@given(plans(placed=("here",), max_loads=0), st.integers(0, 10**6))
@FAST
def test_a_kilometre_from_the_origin_costs_no_bit_where_the_coordinates_cost_none(plan, seed):
    # Multiples of 2^-20 m below 2048 m are exact, and so are all their differences: the frames of the joints
    # in each other are the same bits here and there. All spatial vectors are taken at a reference point that
    # moves along; so the accelerations must be the same bits too.
    model = build(plan)
    here = Probe(shifted(model, 0.0, step=2.0**-20))
    there = Probe(shifted(model, np.array([1024.0, -512.0, 768.0]), step=2.0**-20))
    q, v = here.state(seed)
    np.testing.assert_array_equal(there.qdd(q, v, T), here.qdd(q, v, T))


@given(plans(placed=("here",), roots=KINDS, max_loads=0), st.integers(0, 10**6))
@FAST
def test_a_kilometre_from_the_origin_costs_the_rounding_of_the_coordinates_and_no_more(plan, seed):
    # Coordinates near 1 km are rounded by 2^-44 m = 6e-14 m each (ulp(512 to 1024 m) / 2), twice where they
    # are turned first; a lever arm is a difference of two: off by less than 4e-13 m in length. Inertias and
    # biases are bilinear in lever arms, and no arm that counts is shorter than a body's radius of gyration,
    # above 0.05 m: 2 · 4e-13/0.05 = 1.6e-11 of the forces at most, a hundredth of it as a rule. Moments about
    # the world's origin would be off by up to eps (1 km/0.05 m)² = 9e-8, and by 1e-10 as a rule.
    rng = np.random.default_rng(seed)
    model = build(plan)
    there = placed_model(model, at=triple(900 * unit(rng)), rotation=tuple(unit(rng, 4)))
    here, there = Probe(model), Probe(there)
    q, v = here.state(seed)
    assert residual_in(here, q, v, there.qdd(q, v, T)) < 1.6e-11


@pytest.mark.parametrize("kind", ["free", "planar", "slider", "cylindrical", None])
def test_a_mechanism_that_has_travelled_a_kilometre_accelerates_by_the_same_bits(kind):
    # The leading translations of a root carry the reference point along.
    for seed in range(5):
        links = (Link(kind), Link("spherical", 0), Link("universal", 1, True), Link("planar", 0))
        probe = Probe(Plan(links, seed=seed, passive=False))
        q, v = probe.state(seed)
        root = next(p for p in probe.system.joints.values() if p.joint.a == GROUND)
        far = q.copy()
        far[root.q.start] += 1000.0
        np.testing.assert_array_equal(probe.qdd(far, v), probe.qdd(q, v))


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
        (ADAMS, 4, (6400, 12800, 25600)),
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


# --- users' functions ---


def spill_pose_and_twist(t, x, v, parameters, out):
    """Push along x with entry int(t) of (x, v), so that an acceleration shows it."""
    k = int(t)
    out[3] = x[k] if k < 12 else v[k - 12]


def test_a_body_function_sees_position_rotation_and_twist_in_the_documented_order():
    rng = np.random.default_rng(3)
    mass = 2.0
    model = Model(gravity=(0.0, 0.0, 0.0))
    at, turn = rng.normal(size=3), unit(rng, 4)
    model.add(Body("body", at=triple(at), rotation=tuple(turn), mass=mass, inertia=(1.0, 2.0, 2.5)))
    model.add(BodyFunction("spill", "body", spill_pose_and_twist))
    probe = Probe(model)
    q, v = probe.state(1)
    probe.place(q, v)
    (p, R), twist = probe.pose("body"), probe.twist("body")
    seen = [mass * probe.qdd(q, v, float(k))[0] for k in range(18)]
    np.testing.assert_allclose(seen, np.r_[p, R.ravel(), twist], rtol=1e-14, atol=1e-14)
    # The pose is the body's own, not that of the joint that carries it.
    np.testing.assert_allclose(probe.poses(probe.system.q0)[1][0], matrix(turn), atol=1e-15)


def world_push(t, x, v, parameters, out):
    s = 1.0 + 0.5 * np.sin(2.0 * np.pi * t)
    for k in range(3):
        out[k] = parameters[k] * s
        out[3 + k] = parameters[3 + k] * s


def tail_push(t, x, v, parameters, out):
    for i in range(3):
        for k in range(3):
            out[i] += x[3 + 3 * i + k] * parameters[k]
            out[3 + i] += x[3 + 3 * i + k] * parameters[3 + k]


@pytest.mark.parametrize(("function", "follows"), [(world_push, False), (tail_push, True)])
def test_a_body_function_does_what_force_and_torque_do(function, follows):
    rng = np.random.default_rng(5)
    plan = random_plan(4, max_links=5, loads=0, placed="here")
    n, f = rng.normal(size=(2, 3))
    loaded, called = build(plan), build(plan)
    body = loaded.bodies["body0"]
    signal = None if follows else Sine(1.0, amplitude=0.5, offset=1.0)
    loaded.add(Torque("n", "body0", torque=triple(n), follows=follows, signal=signal))
    loaded.add(Force("f", "body0", force=triple(f), follows=follows, signal=signal))
    # A load that follows is written in world axes of the assembled pose; a function gets the body's axes.
    turn = matrix(body.rotation).T if follows else np.eye(3)
    called.add(BodyFunction("b", "body0", function, parameters=tuple(np.r_[turn @ n, turn @ f])))
    one, two = Probe(loaded), Probe(called)
    q, v = one.state(2)
    for t in (0.0, 0.3):
        qdd, supplied, dissipated = one.derive(q, v, t)
        other = two.derive(q, v, t)
        np.testing.assert_allclose(other[0], qdd, rtol=1e-11, atol=1e-11 * np.abs(qdd).max())
        assert other[1:] == pytest.approx((supplied, dissipated), rel=1e-12)


def drag(t, x, v, parameters, out):
    for k in range(len(out)):
        out[k] = -parameters[0] * v[k]


def spring_and_damper(t, x, v, parameters, out):
    for k in range(len(out)):
        out[k] = parameters[0] * (parameters[1] - x[k]) - parameters[2] * v[k]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", ["hinge", "slider", "universal", "planar", "cylindrical", "screw"])
def test_a_joint_function_does_what_spring_and_damper_in_the_joint_do(kind, backwards):
    links = (Link("spherical"), Link(kind, 0, backwards), Link("hinge", 1))
    model = build(Plan(links, seed=1, passive=False, decades=1))
    joint = model.joints["joint1"]
    called = build(Plan(links, seed=1, passive=False, decades=1))
    called.add(JointFunction("f", "joint1", spring_and_damper, parameters=(3.0, 0.2, 0.4)))
    model.joints["joint1"] = dataclasses.replace(joint, spring=3.0, rest=0.2, damping=0.4)
    one, two = Probe(model), Probe(called)
    q, v = one.state(3)
    wanted = one.qdd(q, v)
    np.testing.assert_allclose(two.qdd(q, v), wanted, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("backwards", [False, True])
def test_a_joint_function_on_a_ball_acts_on_its_three_rates(backwards):
    links = (Link("hinge"), Link("spherical", 0, backwards))
    plan = Plan(links, seed=2, passive=False, decades=1)
    damped, called = build(plan), build(plan)
    damped.joints["joint1"] = dataclasses.replace(damped.joints["joint1"], damping=0.4)
    called.add(JointFunction("f", "joint1", drag, parameters=(0.4,)))
    one, two = Probe(damped), Probe(called)
    q, v = one.state(3)
    qdd, _, dissipated = one.derive(q, v)
    other, supplied, _ = two.derive(q, v)
    np.testing.assert_allclose(other, qdd, atol=1e-12 * np.abs(qdd).max())
    # What a function takes out counts as supplied from outside, with its sign.
    assert supplied == pytest.approx(-dissipated, rel=1e-13)


def spill_coordinates(t, x, v, parameters, out):
    k = int(t)
    out[0] = x[k] if k < len(x) else v[k - len(x)]
    out[1] = 100.0 * len(x) + 10.0 * len(v) + len(out)
    out[2] = parameters[0] + len(parameters)


def test_a_joint_function_sees_its_own_coordinates_and_rates_and_nothing_else():
    plan = Plan((Link("free"), Link("hinge", 0), Link("free")), seed=3, passive=False)
    model = build(plan)
    model.add(JointFunction("f", "joint2", spill_coordinates, parameters=(0.5, 7.0)))
    probe = Probe(model)
    q, v = probe.state(4)
    joint = probe.system.joints["joint2"]
    bare = Probe(plan).bias(q, v)
    forces = np.array([bare - probe.bias(q, v, float(k)) for k in range(13)])[:, joint.v]
    np.testing.assert_allclose(forces[:, 0], np.r_[q[joint.q], v[joint.v]], atol=1e-12)
    np.testing.assert_allclose(forces[:, 1], 766, rtol=1e-13)
    np.testing.assert_allclose(forces[:, 2], 2.5, atol=1e-12)
    np.testing.assert_allclose(forces[:, 3:], 0, atol=1e-12)


@pytest.mark.parametrize(
    "signal",
    [
        Sine(0.8, amplitude=2.0, phase=0.3, offset=-0.5),
        Table((0.5, 1.0, 1.0, 2.0), (1.0, 3.0, -1.0, 0.0)),
        Table((0.0,), (2.5,)),
    ],
    ids=["sine", "table with a step", "constant"],
)
def test_a_signal_scales_its_load_over_time(signal):
    model = Model(gravity=(0.0, 0.0, 0.0))
    model.add(Body("cart", mass=2.0))
    model.add(Slider("rail", GROUND, "cart", axis=(1.0, 0.0, 0.0)))
    model.add(Force("push", "cart", force=(2.0, 0.0, 0.0), signal=signal))
    probe = Probe(model)
    for t in (0.0, 0.25, 0.5, 0.75, 0.999, 1.001, 1.5, 2.0, 3.0):
        if isinstance(signal, Sine):
            wanted = -0.5 + 2.0 * np.sin(2 * np.pi * 0.8 * t + 0.3)
        else:
            wanted = np.interp(t, signal.times, signal.values)
        assert probe.qdd(np.zeros(1), np.zeros(1), t)[0] == pytest.approx(wanted, abs=1e-14)


# --- without the compiler ---


def wind(t, x, v, parameters, out):
    """Drag in a wind that turns, with whole-array arithmetic."""
    out[3:] = parameters * (np.array([np.cos(t), np.sin(t), 0.1 * x[2]]) - v[3:])
    out[:3] = -0.01 * v[:3]


def brake(t, x, v, parameters, out):
    out[:] = -parameters[0] * v


def short_motion():
    """Twenty steps of a mechanism with one of everything: where it ends."""
    model = Model("whirl")
    model.add(Body("arm", at=(0.0, 0.0, -0.5), mass=1.0, inertia=(0.1, 0.1, 0.02), com=(0.0, 0.02, 0.0)))
    model.add(Body("vane", at=(0.3, 0.0, -1.0), mass=0.5, inertia=(0.01, 0.02, 0.02)))
    model.add(Spherical("ball", GROUND, "arm", velocity=(1.0, 2.0, 3.0), spring=2.0))
    model.add(Hinge("pin", "vane", "arm", at=(0.0, 0.0, -1.0), axis=(0.0, 1.0, 0.0), damping=0.02))
    ends = {"at_a": (0.3, 0.0, -1.0), "at_b": (1.0, 0.0, -1.0)}
    model.add(Spring("spring", "vane", GROUND, **ends, stiffness=20.0, damping=0.2, length=0.5))
    model.add(Force("push", "vane", force=(0.0, 1.0, 0.0), signal=Sine(2.0)))
    model.add(BodyFunction("wind", "vane", wind, parameters=(0.5, 0.6, 0.7)))
    model.add(JointFunction("brake", "ball", brake, parameters=(0.05,)))
    probe = Probe(model)
    path = probe.run(probe.system.q0, probe.system.v0, 5e-3, 20, stride=20)
    return [*path.q[-1], *path.v[-1], *path.work[-1], *probe.energies(path.q[-1], path.v[-1], path.t[-1])]


def test_without_the_compiler_the_motion_is_the_same():
    here = Path(__file__).parent
    script = "import json, test_tree_dynamics as t; print(json.dumps([float(x) for x in t.short_motion()]))"
    paths = os.pathsep.join([str(here), str(here.parents[0]), *filter(None, [os.environ.get("PYTHONPATH")])])
    printed = python("-c", script, environment={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths})
    # The compiler fuses products with sums: a few ulp in each of 80 evaluations of numbers below 10.
    np.testing.assert_allclose(json.loads(printed), short_motion(), rtol=1e-12, atol=1e-12)
