"""How much of the equations of contact may be left in a step: the option `residual`."""

import pytest

from linkwork import Direct, Simulation, scene
from linkwork.methods.contact import SWEPT, TOLERANCE
from linkwork.model.errors import LinkworkError, UnsupportedError

H = 1e-3


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


def test_what_rests_needs_no_solution_for_many_steps():
    """What stops the last motion in one step is too much for the next: without a second solution, each other step would
    need one."""
    sim = Simulation(scene("stack10"), dt=H)
    sim.step(1000)
    taken = []
    for _ in range(200):
        sim.step(1)
        report = sim.method.report()
        taken.append(report["iterations"])
        assert report["residual"] <= 1e-2 * TOLERANCE * H
    assert sum(taken) <= 2
