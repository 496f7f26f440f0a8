"""Arrays of states, of which several go in lock step, against the same functions of one state after the other."""

import math

import numpy as np
import pytest

from helpers.peer_trees import Tree
from helpers.trees import KINDS
from linkwork import Dynamics, scene
from linkwork.engine.kernels.jit import kernel
from linkwork.engine.kernels.lanes import LANES, aligned, lanes_in
from linkwork.engine.kernels.math3 import quat_exp, quat_log, rotation_vector_rate, sincos

COUNT = 6 * LANES + 3
"""Several rounds, the last one not full."""
SAME = 1e-12
"""Of the largest entry: the same operations, of which others may be fused, along chains of a dozen joints."""


def states(tree, dynamics, seed):
    """States all over, coordinates of single axes beyond several turns."""
    random = np.random.default_rng(seed)
    q = dynamics.move(tree.q, random.normal(scale=9.0, size=(COUNT, tree.nv)))
    return q, random.normal(size=(COUNT, tree.nv)), random.normal(size=(COUNT, tree.nv))


def functions(dynamics, q, v, a):
    """What goes in lock step, by name: function and arguments."""
    last = dynamics.bodies[-1]
    at = (0.1, -0.2, 0.3)
    return {
        "forward": (dynamics.forward, q, v, a), "inverse": (dynamics.inverse, q, v, a),
        "mass matrix": (dynamics.mass_matrix, q), "bias": (dynamics.bias, q, v), "gravity": (dynamics.gravity, q),
        "poses": (dynamics.poses, q), "twists": (dynamics.twists, q, v),
        "pose": (lambda q: dynamics.pose(q, last, at), q), "jacobian": (lambda q: dynamics.jacobian(q, last, at), q),
        "drift": (lambda q, v: dynamics.jacobian_drift(q, v, last), q, v),
        "centre": (dynamics.centre_of_mass, q), "its Jacobian": (dynamics.centre_of_mass_jacobian, q),
        "momentum": (dynamics.momentum, q, v), "move": (dynamics.move, q, a),
    }  # fmt: skip


def same(plan, name, function, *arguments):
    many, one_by_one = function(*arguments), [function(*one) for one in zip(*arguments, strict=True)]
    if not isinstance(many, tuple):
        many, one_by_one = (many,), [(one,) for one in one_by_one]
    for got, each in zip(many, zip(*one_by_one, strict=True), strict=True):
        wanted = np.array(each)
        error = np.abs(got - wanted).max(initial=0.0) / max(np.abs(wanted).max(initial=0.0), 1.0)
        assert error <= SAME, f"{name} is off by {error:.1e} in {plan}"


@pytest.mark.parametrize("loads", [0, 2])
def test_random_trees_do_in_lock_step_what_each_state_does(loads):
    for seed in range(20):
        tree = Tree(seed, KINDS, loads=loads)
        dynamics = Dynamics(tree.model)
        for name, asked in functions(dynamics, *states(tree, dynamics, seed)).items():
            same(tree.plan, name, *asked)


def test_loops_move_in_lock_step():
    linkage = Dynamics(scene("peaucellier"))
    random = np.random.default_rng(0)
    q = linkage.q0 + random.normal(size=(COUNT, linkage.nq))
    v, a = random.normal(size=(2, COUNT, linkage.nv))
    for name, asked in functions(linkage, q, v, a).items():
        same("peaucellier", name, *asked)


def test_a_state_out_of_its_mind_leaves_the_others_alone():
    """Angles beyond what is reduced by hand, and what is no number, go another way for all lanes beside them."""
    arm = Dynamics(scene("puma560", rotors=False, friction=False))
    q = np.random.default_rng(1).normal(size=(COUNT, arm.nq))
    wanted = arm.mass_matrix(q)
    q[3, 2], q[LANES + 1, 4], q[2 * LANES] = 1e6, np.inf, np.nan
    got = arm.mass_matrix(q)
    assert np.abs(got[3] - arm.mass_matrix(q[3])).max() <= SAME * np.abs(got[3]).max()
    assert np.isnan(got[LANES + 1]).any()
    assert np.isnan(got[2 * LANES]).any()
    untouched = np.delete(np.arange(COUNT), [3, LANES + 1, 2 * LANES])
    assert np.abs(got - wanted)[untouched].max() <= SAME * np.abs(wanted).max()


@kernel
def _trigonometry(x, out):
    angles, results = lanes_in(x), lanes_in(out)
    for i in range(angles.shape[0]):
        results[2 * i], results[2 * i + 1] = sincos(angles[i])


def test_sines_of_lanes_are_those_of_numbers():
    x = aligned((2000, LANES))
    random = np.random.default_rng(2)
    x[:] = random.choice([-1.0, 1.0], x.shape) * 10.0 ** random.uniform(-9, 6, x.shape)
    x[:9] = np.arange(-4, 5)[:, None] * (math.pi / 4)  # where quarters begin and end
    out = aligned((4000, LANES))
    _trigonometry(x, out)
    eps = np.finfo(float).eps
    assert np.abs(out[0::2] - np.sin(x)).max() <= eps
    assert np.abs(out[1::2] - np.cos(x)).max() <= eps
    assert np.array_equal(out[0::2], np.vectorize(lambda angle: sincos(angle)[0])(x))
    assert np.array_equal(out[1::2], np.vectorize(lambda angle: sincos(angle)[1])(x))


@kernel
def _quaternions(x, out):
    turns, results = lanes_in(x), lanes_in(out)
    for i in range(turns.shape[0] // 3):
        phi = turns[3 * i], turns[3 * i + 1], turns[3 * i + 2]
        back, rate = quat_log(quat_exp(phi)), rotation_vector_rate(phi, (1.0, 2.0, 3.0))
        for k in range(3):
            results[3 * i + k], results[3 * (i + 100) + k] = back[k], rate[k]


def test_what_branches_is_done_lane_by_lane():
    """Small turns beside large ones in the same lanes."""
    random = np.random.default_rng(3)
    x, out = aligned((300, LANES)), aligned((600, LANES))
    x[:] = random.normal(size=x.shape) * (10.0 ** random.uniform(-14, 0, (100, LANES))).repeat(3, axis=0)
    _quaternions(x, out)
    for i in range(100):
        for lane in range(LANES):
            phi = tuple(x[3 * i : 3 * i + 3, lane])
            assert np.allclose(out[3 * i : 3 * i + 3, lane], quat_log(quat_exp(phi)), rtol=1e-14, atol=0)
            rate = out[300 + 3 * i : 303 + 3 * i, lane]
            assert np.allclose(rate, rotation_vector_rate(phi, (1.0, 2.0, 3.0)), rtol=1e-14, atol=0)
