"""A model is flattened once and compiled once per kind of table, whoever asks; forces are set in one place."""

import numpy as np
import pytest

from linkwork import Simulation, check, equilibrium, inverse, scene
from linkwork.compile.compiler import Compiled
from linkwork.compile.tabulate import Tabulator
from linkwork.live.session import Session
from linkwork.model import Component
from linkwork.observe.reactions import indeterminate
from linkwork.stage.stage import stage_of

# Kinds of table: joint coordinates without rows, joint coordinates with rows, floating bodies, floating bodies with a
# reference point each. Every method with loops needs the second for its start; those in other coordinates one more.
# What joints transmit, recorded by default, is asked of floating bodies.
TABLES = {
    ("simgc", "direct"): (1, 2),
    ("simgc", "impulses"): (1, 1),
    ("simmc", "direct"): (2, 2),
    ("simmc", "impulses"): (2, 2),
    ("hybrid", None): (1, 2),
    ("topological", None): (1, 2),
    ("global", None): (2, 2),
    ("components", None): (2, 3),
}


@pytest.fixture
def counts(monkeypatch):
    """How often a model was flattened, and tables compiled."""
    made = {"flat": 0, "tables": 0}
    flatten, system = Component.flatten, Tabulator.system

    def counted(key, function):
        def call(self):
            made[key] += 1
            return function(self)

        return call

    monkeypatch.setattr(Component, "flatten", counted("flat", flatten))
    monkeypatch.setattr(Tabulator, "system", counted("tables", system))
    return made


@pytest.mark.parametrize(("method", "solver"), TABLES)
def test_a_simulation_flattens_once_and_compiles_each_kind_once(counts, method, solver):
    simulation = Simulation(scene("bennett"), method=method, solver=solver)
    alone, recorded = TABLES[method, solver]
    assert counts == {"flat": 1, "tables": alone}
    record = simulation.run(0.002)
    assert record.info["stage"] is not None
    assert counts == {"flat": 1, "tables": recorded}
    simulation.run(0.002)
    simulation.energies()
    simulation.point(simulation.system.bodies[0])
    assert counts == {"flat": 1, "tables": recorded}


def test_a_tree_is_compiled_once_with_its_record(counts):
    simulation = Simulation(scene("chain5"), method="tree")
    simulation.run(0.002)
    assert simulation.stage is not None
    assert counts == {"flat": 1, "tables": 1}


def test_the_default_method_is_chosen_on_what_is_compiled_anyway(counts):
    Simulation(scene("bennett"))
    assert counts == {"flat": 1, "tables": 1}


def test_studies_share_tables(counts):
    model = scene("crank_rocker")
    equilibrium(model, hold={"crank.angle": 0.0})
    assert counts == {"flat": 1, "tables": 1}
    counts.update(flat=0, tables=0)
    times = np.linspace(0.0, 0.1, 5)
    inverse(model, {"crank.angle": 0.1 * times}, times)
    assert counts == {"flat": 1, "tables": 1}
    counts.update(flat=0, tables=0)
    indeterminate(model)
    assert counts == {"flat": 1, "tables": 2}


def test_the_doctor_looks_at_one_compiled_model_and_at_its_skeleton(counts):
    """The skeleton is another model: same joints, all bodies alike. Its cure, had it one, would be a third."""
    check(scene("crank_rocker"), test_run=False)
    model, skeleton = (
        (1, 1),
        (1, 2),
    )  # the skeleton also with floating bodies: planar hinges are overconstrained
    cured = (1, 1)
    assert counts["flat"] == model[0] + skeleton[0] + cured[0]
    assert counts["tables"] == model[1] + skeleton[1] + cured[1]


def test_one_compiled_model_serves_all(counts):
    compiled = Compiled(scene("bennett"))
    stage_of(compiled)
    for method in ("simgc", "simmc", "hybrid", "topological", "global"):
        Simulation(compiled, method=method).run(0.001)
    assert counts == {"flat": 1, "tables": 2}


def test_a_live_session_flattens_what_was_opened_and_what_the_hand_holds(counts):
    Session(scene("bennett"))
    assert counts == {"flat": 2, "tables": 1}


def test_what_is_added_later_is_seen_by_the_next_simulation():
    model = scene("chain5")
    before = Simulation(model)
    extra = scene("chain").bodies
    name = next(body for body in extra if body not in model.bodies)
    model.add(extra[name])
    assert name in Simulation(model).system.bodies
    assert name not in before.system.bodies
