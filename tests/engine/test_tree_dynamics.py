"""Dynamics of random trees: balances in one state, and the same wherever the world is."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.newton_euler import wrenches
from helpers.probe import Probe
from helpers.trees import EPS, FAST, KINDS, SLOW, Link, Plan, build, placed_model, plans, triple, unit
from linkwork.model import Model
from linkwork.model.item import GROUND
from linkwork.model.rotation import matrix

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
    still, h = np.zeros(probe.nv), 2e-3
    coarse, slope = (
        np.array(
            [
                derivative(lambda s, e=e: probe.energies(probe.retract(q, s * e), still, T).sum(), step)
                for e in np.eye(probe.nv)
            ]
        )
        for step in (h, h / 2)
    )
    # What the finer of two formulas of order four misses is a fifteenth of their difference, where springs are short
    # too; the fourth of it leaves room for the next order.
    missed = np.abs(coarse - slope) / 4
    rounded = 1e-12 / (h / 2) * size_of_energy(probe, q, still)
    assert (np.abs(probe.bias(q, still, T) - slope) <= missed + rounded + 1e-7 * np.abs(slope)).all()


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
