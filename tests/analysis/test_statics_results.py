"""What statics gives back: the pose as a model, JSON, the command and the page."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from helpers.command import call
from helpers.one_dof import arm
from helpers.processes import python
from linkwork import Body, Component, Hinge, LinkworkError, Model, Simulation, Slider, Spring
from linkwork.analysis.statics import equilibrium

# --- the pose as a model ---


def test_parts_inside_components_and_free_bodies_are_posed():
    leg = Component("leg")
    leg.add(Body("shin", mass=1.0, com=(0.0, 0.0, -0.2), inertia=(0.01, 0.01, 0.01)))
    leg.add(Body("frame", mass=1.0, inertia=(0.01, 0.01, 0.01)))
    leg.add(Hinge("knee", "frame", "shin", axis=(0.0, 1.0, 0.0), position=0.5, velocity=1.0))
    model = Model("walker")
    model.add(leg.instance("left"))
    model.add(leg.instance("right", at=(0.0, 0.3, 0.0)))
    for side in ("left", "right"):
        model.add(Slider(f"{side}_rail", "ground", f"{side}.frame", spring=200.0))
    found = equilibrium(model)
    posed = found.posed()
    assert posed.joints["left.knee"].position == (pytest.approx(0.0, abs=1e-11),)
    assert posed.joints["left.knee"].velocity is None
    simulation = Simulation(posed)
    assert np.abs(simulation.accelerations()).max() < 1e-9
    again = equilibrium(posed)
    np.testing.assert_allclose(again.q, found.q, atol=1e-11)


def test_a_body_on_three_springs_is_posed_with_its_free_joint():
    model = Model("float")
    model.add(Body("plate", mass=2.0, inertia=(0.05, 0.05, 0.05)))
    corners = [(0.5, 0.0), (-0.3, 0.4), (-0.3, -0.4)]
    for k, (x, y) in enumerate(corners):
        model.add(
            Spring(
                f"coil{k}",
                "ground",
                "plate",
                at_a=(1.5 * x, 1.5 * y, 0.6),
                at_b=(x, y, 0.0),
                stiffness=100.0 + 30 * k,
            )
        )
    found = equilibrium(model)
    assert found.stability == "stable"
    assert "plate_free" in found.posed().joints
    simulation = Simulation(found.posed())
    assert np.abs(simulation.accelerations()).max() < 1e-9


def test_other_coordinates_are_refused_politely():
    model = arm(limits=(-0.4, 1.0))
    found = equilibrium(model)
    with pytest.raises(LinkworkError, match="simmc"):
        found.start(Simulation(model, method="simmc"))


def test_the_result_fits_json():
    document = json.loads(json.dumps(equilibrium(arm(limits=(-0.4, 1.0))).to_dict()))
    assert document["stability"] == "stable"
    assert document["holders"][0]["kind"] == "limit"
    modes = json.loads(json.dumps(equilibrium(arm(position=math.pi / 2)).to_dict()))["modes"]
    assert modes[0]["growth_per_s"] > 0.0


# --- command line and page ---


def test_the_command_tells_the_pose_and_what_holds_it():
    result = call("statics", "torsion_bar")
    assert result.exit_code == 0, result.output
    for text in ("stable", "bar.angle = -0.0245", "spring 'bar.angle' pulls with 4.90", "5.51"):
        assert text in result.output
    document = json.loads(call("statics", "crank_rocker", "--hold", "motor=0", "--json").stdout)
    assert document["stability"] == "stable"
    assert document["coordinates"]["crank.angle"] == pytest.approx(-3.01466, abs=1e-5)
    unstable = json.loads(call("statics", "double_four_bar", "--json").stdout)
    assert unstable["stability"] == "unstable"
    assert (
        json.loads(call("statics", "double_four_bar", "--stable", "--json").stdout)["stability"] == "stable"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("crank_rocker",), r"'crank\.angle' turns on and on"),
        (("crank_rocker", "--hold", "motor"), "write NAME=NUMBER"),
        (("crank_rocker", "--hold", "moter=0"), "did you mean 'motor'"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, message):
    result = call("statics", *arguments)
    assert isinstance(result.exception, LinkworkError)
    assert re.search(message, str(result.exception))


def test_the_code_of_the_page_runs(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "inverse-and-statics.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.S))
    assert "moved by" in python("-c", code, cwd=tmp_path)
