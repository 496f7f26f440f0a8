"""Kernels that are called again and again with the same arguments: the right code for whatever comes."""

from typing import NamedTuple

import numpy as np
import pytest

from linkwork import Simulation, scene
from linkwork.engine.kernels.jit import kernel
from linkwork.engine.kernels.steady import LaidOut, Steady


class Pair(NamedTuple):
    x: np.ndarray
    y: np.ndarray


@kernel
def _weigh(pair, extra, weight, out):
    out[0] += weight[0] * (pair.x[0] + pair.y[0])
    if extra is not None:
        out[0] += extra[0]
    return 1, out.shape[0]


def test_arguments_may_change_in_value_identity_and_type():
    weigh, weight = Steady(_weigh, changing=2), np.zeros(1)
    floats, whole = Pair(np.array([1.5]), np.array([2.0])), Pair(np.array([3]), np.array([4]))
    for pair, extra, expected in (
        (floats, None, 3.5), (whole, None, 7.0), (floats, np.array([0.25]), 3.75), (floats, None, 3.5),
    ):  # fmt: skip
        for k in range(1, 6):  # found out, laid out, and known
            out = np.zeros(k // 4 + 1)  # others of the same type
            weight[0] = k
            for count in range(1, 4):
                assert weigh(pair, extra, weight, out) == (1, len(out))
                assert out[0] == count * (k * expected - (k - 1) * (0.0 if extra is None else extra[0]))
    floats.x[0] = 10.0  # the same array
    out = np.zeros(1)
    weight[0] = 1.0
    weigh(floats, None, weight, out)
    assert out[0] == 12.0


def test_an_argument_that_cannot_be_laid_out_is_refused():
    pair, out = Pair(np.ones(1), np.ones(1)), np.zeros(1)
    with pytest.raises(TypeError, match="a float cannot be laid out"):
        LaidOut(_scaled, (pair, 2.0, out))


@kernel
def _scaled(pair, weight, out):
    out[0] = weight * pair.x[0]
    return 1, 1


def test_steps_one_by_one_are_those_of_one_call():
    """By every kind of loop; a reset and a change of the step in between."""
    for name, options in (
        ("chain5", {"method": "tree"}), ("crank_rocker", {"method": "simgc"}),
        ("double_four_bar", {"method": "simgc", "solver": "impulses"}), ("gripper", {}),
        ("double_four_bar", {"method": "components"}),
    ):  # fmt: skip
        one, other = Simulation(scene(name), dt=1e-3, **options), Simulation(scene(name), dt=1e-3, **options)
        for simulation in (one, other):
            simulation.step(3)
            simulation.reset()
        for dt in (1e-3, 5e-4):
            one.step(20, dt=dt)
            for _ in range(20):
                other.step(dt=dt)
        assert np.array_equal(one.q, other.q), name
        assert np.array_equal(one.v, other.v), name
