"""What the doctor tells of starts, stiffness and broken models, and how it is asked."""

import dataclasses
import json
from math import pi, sqrt, tau

import pytest
from typer.testing import CliRunner

from helpers.checkups import PARALLELOGRAM, chain, said
from helpers.models import changed, solid
from linkwork import Body, Force, Hinge, Model, Simulation, Slider, Spherical, scene
from linkwork.analysis.check import check
from linkwork.cli import app
from linkwork.engine.elements import PositionServo
from linkwork.model.item import GROUND
from linkwork.model.joints import Weld
from linkwork.scenes import scene_names

# --- the start ---


def test_a_start_that_is_off_is_told():
    model = scene("crank_rocker")
    for name, angle in (("crank", 0.3), ("knee", -0.35), ("wrist", 0.11)):
        changed(model, name, position=angle)
    checkup = check(model, test_run=False)
    assert checkup.ok
    assert said(checkup, "start", "'wrist.angle' moved by", "in joint 'rocker'", level="warning")
    assert said(checkup, "start", "write these numbers into the model")
    # What was left open and follows what was written is no reason to worry.
    checkup = check(changed(scene("crank_rocker"), "crank", position=0.3), test_run=False)
    assert said(checkup, "'knee.angle' moved by", level="note")
    assert not said(checkup, "start", level="warning")


def test_rates_that_contradict_loops_are_told():
    model = changed(changed(scene("crank_rocker"), "rocker", velocity=2.0), "crank", velocity=2.0)
    assert said(
        check(model, test_run=False), "'rocker.angle_rate' starts at 0.294602", "not at 2", level="warning"
    )


def test_a_limit_that_the_start_violates_is_told():
    model = changed(scene("crank_rocker"), "crank", limits=(0.1, 0.5))
    assert said(
        check(model, test_run=False), "crank.angle", "beyond its lower limit by 0.1 rad", level="warning"
    )


def test_a_mechanism_that_cannot_be_assembled_is_an_error_with_everything_else_told():
    model = Model("tied")
    model.add(Body("arm", mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)))
    model.add(Body("dust", mass=1e-6, inertia=(1e-12, 1e-12, 1e-12)))
    model.add(Hinge("shoulder", GROUND, "arm", position=pi))
    model.add(Spherical("tie", GROUND, "arm", at=(1.0, 0.0, 0.0)))
    model.add(Slider("rail", GROUND, "dust"))
    checkup = check(model)
    assert not checkup.ok
    assert said(checkup, "joint 'tie'", "stays open by 2 m", "correct the start positions", level="error")
    assert checkup.mobility == 1  # as drawn: the arm is tied, the dust slides
    assert said(checkup, "bodies.dust", "lighter than 'arm'", level="warning")


# --- stiffness ---


def pendulum(**fields):
    model = Model("pendulum")
    model.add(Body("bob", mass=2.0, com=(0.0, 0.0, -0.5), inertia=(0.1, 0.1, 0.1)))
    model.add(Hinge("pivot", GROUND, "bob", axis=(0.0, 1.0, 0.0), **fields))
    return model


INERTIA = 2.0 * 0.5**2 + 0.1


@pytest.mark.parametrize(("fields", "step"), [
    ({"spring": 1e8}, 2.0 / sqrt(1e8 / INERTIA)), ({"damping": 1e4}, 2.0 * INERTIA / 1e4),
])  # fmt: skip
def test_elements_too_stiff_for_explicit_steps_are_taken_implicitly(fields, step):
    """By the same figure as the error of explicit steps names: below it they stay, at twice of it they run away."""
    model, usual = pendulum(position=0.1, **fields), Simulation(pendulum(position=0.1, **fields))
    assert usual.method.name == "simgc"
    (implicit,) = usual.run(0.5).info["implicit_elements"]
    assert implicit.startswith("pivot.angle: ")
    told = rf"(running away|not a number); .*take dt below {step:.2g} s"
    with pytest.raises(Exception, match=told):
        Simulation(model, method="tree", dt=2 * step).run(2000 * step)
    Simulation(model, method="tree", dt=0.9 * step).run(900 * step)
    assert Simulation(model, dt=0.9 * step).method.name == "tree"
    assert (
        Simulation(model, dt=2 * step, tolerance=1e-6).method.name == "tree"
    )  # adaptive steps follow anything


def test_a_soft_spring_is_nothing_to_tell():
    assert Simulation(pendulum(spring=1e6)).method.name == "tree"
    assert not check(pendulum(spring=1e6), test_run=False).findings
    assert not check(pendulum(damping=1.0), test_run=False).findings


def test_vibrations_that_implicit_steps_lose_are_told():
    checkup = check(pendulum(spring=1e6, friction=0.1), test_run=False)
    frequency = sqrt(1e6 / INERTIA) / tau
    assert said(checkup, f"vibrates at {frequency:.3g} Hz", "damped out", level="note")
    model = pendulum()
    model.add(PositionServo("servo", "pivot", stiffness=1e6, damping=1.0))
    assert said(check(model, test_run=False), "servo", f"{frequency:.3g} Hz", level="note")
    # One that creeps to its place does not vibrate.
    model.drives["servo"] = dataclasses.replace(model.drives["servo"], damping=1e5)
    assert not check(model, test_run=False).findings


def test_loops_add_to_the_inertia_that_a_spring_feels():
    # Both uprights and the coupler of the parallelogram move: J = 2 m/3 + m for unit links, not m/3.
    model = chain(*PARALLELOGRAM, gravity=(0.0, 0.0, 0.0))
    inertia = 2 * 1.0 / 3 + 1.0
    stiffness = inertia * (tau * 100.0) ** 2
    checkup = check(changed(model, "pin0", spring=stiffness), test_run=False)
    assert said(checkup, "pin0.angle", "vibrates at 100 Hz", level="note")


# --- all at once, whatever is wrong ---


@pytest.mark.parametrize("name", scene_names())
def test_scenes_are_healthy(name):
    assert check(scene(name), test_run=False).ok


def test_broken_models_become_findings():
    empty = check(Model("empty"))
    assert said(empty, "the model has none", level="error")
    model = pendulum()
    model.add(Hinge("lost", "bob", "bib"))
    assert said(check(model), "hinge 'lost'.b", "did you mean 'bob'?", level="error")
    model = Model("massless")
    model.add(Body("ghost", mass=0.0))
    model.add(Hinge("pivot", GROUND, "ghost"))
    checkup = check(model)
    assert said(checkup, "has no inertia to accelerate", level="error")
    assert said(checkup, "bodies.ghost", "neither mass nor inertia")
    assert checkup.mobility == 1
    model = Model("fixed")
    model.add(solid())
    model.add(Weld("weld", GROUND, "body"))
    assert said(check(model), "nothing can move", level="warning")


def test_a_run_that_fails_is_a_finding():
    model = pendulum()
    model.add(Force("storm", "bob", force=(1e12, 0.0, 0.0), at=(0.0, 0.0, -1.0)))
    checkup = check(model)
    assert said(checkup, "test run", "running away", level="warning")
    assert checkup.ok


def test_the_command_prints_and_tells_programs():
    runner = CliRunner()
    text = runner.invoke(app, ["check", "peaucellier"]).output
    assert "7 bodies, 10 joints, 1 degree of freedom (Grübler's count: -8)" in text
    assert "overconstrained by 3: make '" in text
    report = json.loads(runner.invoke(app, ["check", "peaucellier", "--json"]).output)
    assert (report["mobility"], report["dof"], report["redundant_equations"]) == (1, -8, 9)
    assert len(report["redundant"]) == 10
    assert len(report["suggestions"]) == 6
    assert 0.0 < report["nearest_singular"]["distance"] <= report["singular_distance"]
    assert 0.0 <= report["nearest_singular"]["time"] <= 1.0
    report = json.loads(runner.invoke(app, ["check", "peaucellier", "--json", "--no-run"]).output)
    assert report["nearest_singular"] is None
