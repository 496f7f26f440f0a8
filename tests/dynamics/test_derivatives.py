"""Derivatives of forward and inverse dynamics: against differences of order 6, complex steps, and Pinocchio's."""

import numpy as np
import pytest

from helpers import complex_chain
from helpers.in_pinocchio import InPinocchio
from helpers.loops import looped
from helpers.peer_trees import Tree
from helpers.trees import build, random_plan, random_state
from linkwork import Dynamics, scene
from linkwork.compile.compiler import compile_model
from linkwork.compile.rank import null_space

WITHOUT = ("limits", "dry friction")
STRIDE = 2e-3
WEIGHTS = (0.75, -0.15, 1 / 60)
# Of differences of order 6: rounding leaves some eps / STRIDE of the values, and these may be 100 times the slopes;
# STRIDE⁶ is far below that.
SAME = 1e-10
LOADED = 1e-8  # loads that are no rows are differentiated by differences themselves


def difference(function):
    """d function(s)/ds at 0."""
    total = 0.0
    for j, weight in enumerate(WEIGHTS, 1):
        total = total + weight / STRIDE * (function(j * STRIDE) - function(-j * STRIDE))
    return total


def by_differences(dynamics, function, q, v, f):
    """By q, v and f, column by column."""
    axes = np.eye(dynamics.nv)
    return (
        np.array([difference(lambda s, e=e: function(dynamics.move(q, s * e), v, f)) for e in axes]).T,
        np.array([difference(lambda s, e=e: function(q, v + s * e, f)) for e in axes]).T,
        np.array([difference(lambda s, e=e: function(q, v, f + s * e)) for e in axes]).T,
    )


def same(found, wanted, scale, tolerance, what=""):
    for name, x, y in zip(("q", "v", "force"), found, wanted, strict=True):
        size = max(np.abs(y).max(initial=0.0), scale)
        error = np.abs(x - y).max(initial=0.0) / size
        assert error < tolerance, f"{what} by {name} is off by {error:.1e} of {size:.2g}"


def check(dynamics, q, v, tolerance=SAME):
    f = np.random.default_rng(3).normal(size=dynamics.nv)
    a, tau = dynamics.forward(q, v, f), dynamics.inverse(q, v, f)
    found = dynamics.inverse_derivatives(q, v, f)
    wanted = by_differences(dynamics, dynamics.inverse, q, v, f)
    same(found, wanted, np.abs(tau).max(), tolerance, "inverse dynamics")
    assert np.abs(found.by_force - dynamics.mass_matrix(q)).max() < 1e-12 * np.abs(found.by_force).max()
    found = dynamics.forward_derivatives(q, v, f)
    wanted = by_differences(dynamics, dynamics.forward, q, v, f)
    same(found, wanted, np.abs(a).max(), tolerance, "forward dynamics")


@pytest.mark.parametrize("seed", range(12))
def test_of_random_trees(seed):
    model = build(random_plan(seed, max_links=5, decades=1.0))
    system = compile_model(model)
    q, v = random_state(system, seed, 1.0)
    check(Dynamics(model, without=WITHOUT), q, v, LOADED)


@pytest.mark.parametrize("seed", range(8))
def test_of_trees_against_complex_steps(seed):
    """Both are exact: what is left is rounding of some hundred sums and products, and what H makes of it."""
    model = complex_chain.random_chain(seed)
    dynamics = Dynamics(model)
    order = [int(name[5]) for name in dynamics.coordinates]  # of the joints as written

    def inverse(*state):
        as_written = [x[np.argsort(order)] for x in state]
        return complex_chain.inverse(model, *as_written)[order]

    q, v, a, f = np.random.default_rng(seed).normal(size=(4, dynamics.nv))
    tau = inverse(q, v, a).real
    assert np.abs(dynamics.inverse(q, v, a) - tau).max() < 1e-12 * np.abs(tau).max()
    wanted = complex_chain.slopes(inverse, q, v, a)
    same(dynamics.inverse_derivatives(q, v, a), wanted, np.abs(wanted[0]).max(), 1e-12)
    by_q, by_v, H = complex_chain.slopes(inverse, q, v, dynamics.forward(q, v, f))
    rounding = 1e-14 * np.linalg.cond(H)
    assert rounding < 1e-10
    wanted = -np.linalg.solve(H, by_q), -np.linalg.solve(H, by_v), np.linalg.inv(H)
    same(dynamics.forward_derivatives(q, v, f), wanted, np.abs(wanted[0]).max(), rounding)


@pytest.mark.parametrize(
    "name", ["puma560", "peaucellier", "crank_rocker", "slidercrank3d", "double_four_bar"]
)
def test_of_scenes(name):
    dynamics = Dynamics(scene(name), without=WITHOUT)
    random = np.random.default_rng(0)
    q, v = dynamics.project(
        dynamics.move(dynamics.q0, 0.05 * random.normal(size=dynamics.nv)), random.normal(size=dynamics.nv)
    )
    check(dynamics, q, v)


def test_of_random_loops_along_the_motions_they_allow():
    """Off the constraints, equations that follow from others contradict them: differences go along the constraints."""
    compared = 0
    for seed in range(12):
        model = looped(np.random.default_rng(seed), seed, passive=True, loads=0)
        dynamics = Dynamics(model, without=WITHOUT)
        compared += along_motions(dynamics, dynamics.v0)
    assert compared > 5
    dynamics = Dynamics(scene("bennett"))
    assert along_motions(dynamics, np.array([1.0, 2.0, 3.0]))


def along_motions(dynamics, v):
    q, v = dynamics.project(dynamics.q0, v)
    motions = null_space(dynamics.constraint_jacobian(q))
    if not motions.size:
        return 0
    found = dynamics.forward_derivatives(q, v)
    scale = np.abs(dynamics.forward(q, v)).max()
    for n in motions.T:
        path = lambda s, n=n: dynamics.forward(dynamics.project(dynamics.move(q, s * n))[0], v)  # noqa: E731
        wanted = difference(path)
        error = np.abs(found.by_q @ n - wanted).max() / max(np.abs(wanted).max(), scale)
        assert error < 1e-9, f"off by {error:.1e} of {scale:.2g}"
    return 1


def test_arrays_give_what_single_states_give():
    dynamics = Dynamics(scene("peaucellier"))
    random = np.random.default_rng(1)
    q = dynamics.q0 + 0.01 * random.normal(size=(4, 7))
    v = random.normal(size=(4, 7))
    out = np.empty((4, 3, 7, 7))
    whole = dynamics.forward_derivatives(q, v, out=out)
    assert whole.by_q.base is not None
    for k in range(4):
        for x, y in zip(whole, dynamics.forward_derivatives(q[k], v[k]), strict=True):
            assert np.array_equal(x[k], y)


def test_states_of_users_are_left_alone():
    dynamics = Dynamics(scene("spherical_pendulum"))
    q, v = dynamics.move(dynamics.q0, [0.1, 0.2, 0.3]), np.ones(3)
    before = q.copy(), v.copy()
    dynamics.forward_derivatives(q, v)
    assert np.array_equal(q, before[0])
    assert np.array_equal(v, before[1])


@pytest.mark.peers
def test_derivatives_agree_with_pinocchio():
    """Exact there, too: 1e-10 of the largest, which the condition of H takes of 1e-14."""
    pin = pytest.importorskip("pinocchio")
    compared = 0
    for seed in range(80):
        tree = Tree(seed, ("hinge", "slider", "screw"), passive=False, loads=0)
        if not tree.nv or len(tree.q) != tree.nv:  # balls have other displacements there
            continue
        dynamics, there = Dynamics(tree.model), InPinocchio(pin, tree)
        f = np.random.default_rng(seed).normal(size=tree.nv)
        data, B = there.data, there.B
        if not depth_first(there.model):  # which it takes for granted
            continue
        compared += 1
        pin.computeABADerivatives(there.model, data, there.q, there.v, B @ f)
        wanted = (
            B.T @ data.ddq_dq @ B,
            B.T @ data.ddq_dv @ B,
            B.T @ (np.triu(data.Minv) + np.triu(data.Minv, 1).T) @ B,
        )
        a = dynamics.forward(tree.q, tree.v, f)
        same(dynamics.forward_derivatives(tree.q, tree.v, f), wanted, np.abs(a).max(), 1e-10, f"seed {seed}")
    assert compared > 10


def depth_first(model):
    """Whether every joint follows its parent or what that carries."""
    for i in range(2, model.njoints):
        k = i - 1
        while k not in (0, model.parents[i]):
            k = model.parents[k]
        if k != model.parents[i]:
            return False
    return True
