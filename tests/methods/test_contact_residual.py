"""How much of the equations of contact may be left in a step: the option `residual`, large islands and small ones."""

import numpy as np
import pytest

from linkwork import Direct, Simulation, scene
from linkwork.engine.kernels.jit import COMPILED
from linkwork.methods.contact import SWEPT, TOLERANCE
from linkwork.model.errors import LinkworkError, UnsupportedError

compiled_only = pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")
H = 1e-3
LARGE = 64
"""Pairs of shapes that hang together beyond which forces are swept for."""


def settled(residual):
    """A pile that has come down, with steps that end at a residual [m/s²]; residuals [m/s], depths [m] and sweeps of
    more steps."""
    sim = Simulation(scene("pile200", count=60), dt=H, residual=residual, iterations=1000)
    sim.step(800)
    left, deep, sweeps = [], [], []
    for _ in range(100):
        sim.step(1)
        report = sim.method.report()
        assert report["contacts"] > LARGE
        assert not report["cut_short"]
        left.append(report["residual"])
        deep.append(report["depth"])
        sweeps.append(report["iterations"])
    return np.array(left), np.array(deep), np.array(sweeps)


@compiled_only
def test_a_large_island_ends_at_the_residual_that_is_asked_for_and_takes_less_for_more():
    fine, coarse = settled(0.01), settled(1.0)
    assert fine[0].max() <= 0.01 * H
    assert coarse[0].max() <= 1.0 * H
    assert coarse[0].max() > 0.01 * H  # it does end sooner
    assert coarse[2].mean() < 0.5 * fine[2].mean()
    # In a step a point may get nearer by the residual, of which the next ones take back 0.8 each, beside the slop.
    assert coarse[1].max() < 3e-4


@compiled_only
def test_a_small_island_ends_at_it_too():
    sim = Simulation(scene("stack10"), dt=H, residual=1e-3)
    for _ in range(50):
        sim.step(1)
        assert sim.method.report()["residual"] <= 1e-3 * H


def test_it_is_told_and_scales_with_the_step():
    sim = Simulation(scene("stack10"), dt=H)
    told = sim.method.info()
    assert (told["residual"], told["residual_of_large_islands"]) == (TOLERANCE, SWEPT)
    told = Simulation(scene("stack10"), dt=H, method=Direct(residual=0.5)).method.info()
    assert (told["residual"], told["residual_of_large_islands"]) == (0.5, 0.5)


def test_bad_ones_and_misplaced_ones_are_refused():
    with pytest.raises(LinkworkError, match=r"residual must be a positive number of m/s², not -1"):
        Direct(residual=-1)
    with pytest.raises((LinkworkError, UnsupportedError), match="residual: about contact"):
        Simulation(scene("crank_rocker"), method=Direct(residual=1.0))
    with pytest.raises((LinkworkError, UnsupportedError), match="residual: no option"):
        Simulation(scene("stack10"), solver="impulses", residual=1.0)
