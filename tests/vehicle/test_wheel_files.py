"""Wheels in model files, on the command line and in the doctor: the same choices, the same errors, with their lines."""

import pytest

from helpers.command import call, document
from linkwork import Simulation, load_model, save_model
from linkwork.analysis.check import check
from linkwork.io import model_schema
from linkwork.io.reference import find_entry
from linkwork.model.errors import ModelError
from linkwork.vehicle import SUSPENSIONS, DoubleTransverse, HubMotor, Torsion, wheel

TEXT = """\
linkwork: 1
units: SI
materials: {soil: {friction: 0.8}}
scenery: {floor: {shapes: [{shape: plane}], material: soil}}
bodies:
  deck: {at: [0, 0, 0.2], mass: 100, inertia: [3, 6, 7], com: [0, 0, 0.2]}
components:
  corner:
    parameters: {load: 245.25, k: 160}
    wheel:
      suspension: {type: double_transverse, lower_mass: 1}
      radius: 0.2
      load: =load
      travel: [-0.06, 0.06]
      spring: {type: torsion, stiffness: =k}
      drive: {stall_torque: 2.56, idle_speed: 795, time_constant: 0.004, gear: 43}
instances:
  fl: {component: corner, at: [0.4, 0.4, 0.2]}
  fr: {component: corner, at: [0.4, -0.4, 0.2], mirror: [0, 1, 0]}
  rl: {component: corner, at: [-0.4, 0.4, 0.2]}
  rr: {component: corner, at: [-0.4, -0.4, 0.2], mirror: [0, 1, 0], parameters: {k: 320}}
joints:
  fl_mount: {type: weld, a: deck, b: fl.mount}
  fr_mount: {type: weld, a: deck, b: fr.mount}
  rl_mount: {type: weld, a: deck, b: rl.mount}
  rr_mount: {type: weld, a: deck, b: rr.mount}
"""


def written(tmp_path, text=TEXT):
    path = tmp_path / "cart.yaml"
    path.write_text(text)
    return path


def test_a_file_makes_what_python_makes(tmp_path):
    model = load_model(written(tmp_path))
    made = wheel(
        suspension=DoubleTransverse(lower_mass=1.0), radius=0.2, load=245.25, travel=(-0.06, 0.06),
        spring=Torsion(stiffness=160.0),
        drive=HubMotor(stall_torque=2.56, idle_speed=795.0, time_constant=0.004, gear=43.0),
    )  # fmt: skip
    read = model.instances["fl"].component
    made.name = read.name
    assert read == made
    assert model.instances["rr"].component.joints["lower_pivot"].spring == 320.0
    save_model(model, tmp_path / "again.yaml")
    assert load_model(tmp_path / "again.yaml") == model
    simulation = Simulation(model)
    simulation.step(300)
    assert simulation["deck.position.z"] == pytest.approx(0.2, abs=1e-7)  # softer or stiffer, it is preloaded


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("type: double_transverse", "type: double_transvers", 11, "did you mean 'double_transverse'"),
        ("lower_mass: 1", "lower_mas: 1", 11, "did you mean 'lower_mass'"),
        ("radius: 0.2", "radius: -1", 12, "wheel.radius: must be greater than 0"),
        ("[-0.06, 0.06]", "[0.01, 0.06]", 14, "travel: must lead from below"),
        (
            "[-0.06, 0.06]",
            "[-0.26, 0.06]",
            10,
            "a travel of -260 mm is beyond the mechanism, which goes to -160 mm",
        ),
        ("{type: double_transverse, lower_mass: 1}", "sliding_pillar", 10, "no hinge for a torsion spring"),
        ("lower_mass: 1", "lower_end: [0, -0.2, -0.02]", 10, "lower_pivot and lower_end are the same point"),
        ("idle_speed: 795, ", "", 16, "drive.idle_speed: is required"),
        (
            "    wheel:",
            "    bodies: {}\n    wheel:",
            10,
            "bodies: is not allowed here: the wheel constructor makes",
        ),
        ("b: fl.mount", "b: fl.upright", 23, "not among the ports"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, old, new, line, told):
    path = written(tmp_path, TEXT.replace(old, new))
    with pytest.raises(ModelError) as error:
        load_model(path)
    assert len(error.value.problems) == 1, str(error.value)
    (problem,) = error.value.problems
    assert told in str(problem)
    assert problem.line == line


def test_schema_and_reference_know_every_suspension():
    schema = model_schema()
    assert "wheel" in schema["$defs"]
    for name, cls in SUSPENSIONS.items():
        assert schema["$defs"][cls.__name__]["properties"]["type"]["const"] == name
        assert find_entry(name).cls is cls


def test_the_doctor_names_wheels_without_a_road(tmp_path):
    sound = check(load_model(written(tmp_path)), test_run=False)
    assert not [f for f in sound.findings if f.level == "warning"]
    lost = check(load_model(written(tmp_path, TEXT.replace(", material: soil}}", "}}"))), test_run=False)
    (warning,) = [f for f in lost.findings if f.level == "warning"]
    assert "fl.wheel" in warning.what
    assert "add a road" in warning.what


def test_the_rig_on_the_command_line():
    told = call(
        "rig", "suspension", "double_transverse", "--set", "radius=0.2", "--set", "travel=[-0.06,0.06]"
    )
    assert "asin(z/l): -17.3" in told.output
    assert "-47.7618" in told.output
    found = document("rig", "suspension", "swing_axle", "--count", "3", "--json")
    assert found["curves"]["camber"][2] == pytest.approx(-found["curves"]["coordinate"][2])
    assert found["limits"]["requested"] == pytest.approx([-0.09, 0.09])
    wrong = call("rig", "suspension", "swing_axel")
    assert wrong.exit_code == 1
    assert "did you mean 'swing_axle'" in str(wrong.exception)
