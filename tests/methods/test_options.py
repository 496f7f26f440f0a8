"""Options of methods: the same by names and by objects, checked, and kept where a model is altered."""

import numpy as np
import pytest

import linkwork
from helpers.featured import DT, arm, model_with, simulate, ways
from linkwork import Direct, Impulses, LinkworkError, Simulation
from linkwork.methods.options import Options
from linkwork.methods.registry import WAYS
from linkwork.model.edit import with_item


@ways
def test_names_and_objects_are_the_same(way):
    by_name = simulate(arm(), way)
    by_object = Simulation(arm(), method=way.options(**way.fixed), dt=DT)
    assert by_name.options == by_object.options
    for simulation in (by_name, by_object):
        simulation.step(5)
    assert np.array_equal(by_name.q, by_object.q)
    assert by_name.options == Simulation(arm(), solver=way.options(**way.fixed)).options


def test_objects_hold_all_options():
    simulation = Simulation(arm(), method=Direct(coordinates="maximal", integrator="rk4"))
    assert simulation.method.columns == ("simmc, direct",)
    assert simulation.integrator == "rk4"
    assert Simulation(arm(), method=Impulses(epsilon=1e-8)).method.info()["epsilon"] == 1e-8
    hybrid = Simulation(arm(), method=linkwork.Hybrid(rho=0.7))
    assert hybrid.method.info()["rho"] == 0.7
    assert hybrid.integrator == "alpha"
    touching = Simulation(model_with("contact"), method=Direct(slop=2e-5, iterations=7))
    assert touching.method.info()["iterations"] == 7
    assert touching.method.info()["slop"] == 2e-5
    for name in ("Tree", "Direct", "Impulses", "Hybrid", "Global", "Topological", "Components"):
        kind = getattr(linkwork, name)
        assert issubclass(kind, Options)
        assert kind in {way.options for way in WAYS}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Direct(integrator="rk5"), r"'direct' has no integrator 'rk5' \(it has adams, rk4, adaptive, euler\)"),
        (lambda: Direct(coordinates="polar"), r"there are no coordinates 'polar' \(known: generalized, maximal\)"),
        (lambda: Direct(integrator="rk4", tolerance=1e-8), "integrator 'rk4' takes fixed steps"),
        (lambda: Direct(slop=0.0), "slop must be a positive number of metres, not 0.0"),
        (lambda: Impulses(erp=1.5), "erp is a share of the gap"),
        (lambda: Impulses(iterations=0), "iterations must be at least 1, not 0"),
        (lambda: Impulses(integrator="adaptive"), "takes fixed steps of first order .* use solver 'direct'"),
        (lambda: linkwork.Hybrid(rho=2.0), "rho is a spectral radius"),
        (lambda: linkwork.Global(rho=0.5, integrator="trapezoidal"), "rho belongs to the integrator 'alpha'"),
        (lambda: linkwork.Components(budget="1"), "budget must be a positive number of seconds, not '1'"),
        (lambda: linkwork.Tree(tolerance=float("nan")), "tolerance must be a positive number, not nan"),
        (lambda: Simulation(arm(), method=Direct(), integrator="rk4"), "integrator: beside method=Direct"),
        (lambda: Simulation(arm(), method="simmc", solver=Direct()), "method: beside solver=Direct"),
        (lambda: Simulation(arm(), method=Direct(erp=0.5)), "erp: about contact .* without contact belongs to simgc"),
        (lambda: Simulation(arm(), method="tree", budget=1.0), "budget: no option of method 'tree'; .* hybrid"),
    ],
)  # fmt: skip
def test_options_are_checked(make, words):
    with pytest.raises(LinkworkError, match=words):
        make()


def test_altered_models_keep_the_options():
    simulation = Simulation(arm(), method=Direct(integrator="rk4", coordinates="maximal"), dt=DT)
    simulation.step(3, dt=2e-3)
    before = simulation.options
    simulation.alter(with_item(arm(), "bodies", "lower", mass=2.0))
    assert simulation.options == before
    assert simulation.method.columns == ("simmc, direct",)
    assert simulation.method.info()["integrator"] == "rk4"
