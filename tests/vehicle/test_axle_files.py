"""Axles in model files and on the rig's command line: the same choices, the same errors, with their lines."""

import pytest

from helpers.command import call, document
from linkwork import Simulation, load_model, save_model
from linkwork.io import model_schema
from linkwork.io.reference import find_entry
from linkwork.model.errors import ModelError
from linkwork.vehicle import AXLES, AntiRollBar, Rack, axle

TEXT = """\
linkwork: 1
units: SI
materials: {soil: {friction: 0.8}}
scenery: {floor: {shapes: [{shape: plane}], material: soil}}
bodies:
  deck: {at: [0, 0, 0.3], mass: 1200, inertia: [300, 1600, 1700], com: [0, 0, 0.3]}
components:
  front:
    parameters: {load: 2943}
    axle:
      track: 1.5
      wheel: {suspension: double_wishbone, radius: 0.3, load: =load}
      steering: {per_turn: 0.05}
      anti_roll: {stiffness: 400}
  rear:
    axle: {track: 1.5, wheel: {suspension: twist_beam, radius: 0.3, load: 2943}}
instances:
  front: {component: front, at: [1.3, 0, 0.3]}
  rear: {component: rear, at: [-1.3, 0, 0.3]}
joints:
  front_mount: {type: weld, a: deck, b: front.mount}
  rear_mount: {type: weld, a: deck, b: rear.mount}
"""


def written(tmp_path, text=TEXT):
    path = tmp_path / "car.yaml"
    path.write_text(text)
    return path


def test_a_file_makes_what_python_makes(tmp_path):
    model = load_model(written(tmp_path))
    made = axle(
        track=1.5, suspension="double_wishbone", radius=0.3, load=2943.0, steering=Rack(per_turn=0.05),
        anti_roll=AntiRollBar(stiffness=400.0),
    )  # fmt: skip
    read = model.instances["front"].component
    made.name = read.name
    assert read == made
    save_model(model, tmp_path / "again.yaml")
    assert load_model(tmp_path / "again.yaml") == model
    simulation = Simulation(model)
    simulation.step(300)
    # Rack, bar and axles count for the springs: it stands as drawn, but for the lever arm of the twist beam's weight,
    # 48 kg some 0.2 m ahead of its wheels, which unload the rear springs by 36 N of 66 N/mm.
    assert simulation["deck.position.z"] == pytest.approx(0.3, abs=5e-4)
    simulation.command("front.steering", 3.0)
    simulation.step(300)
    assert simulation["front.column.angle"] == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("track: 1.5\n", "track: -1\n", 11, "track: must be greater than 0"),
        ("suspension: double_wishbone", "suspension: double_wishbon", 12, "must be one of 'swing_axle'"),
        ("per_turn", "per_trun", 13, "did you mean 'per_turn'"),
        ("suspension: double_wishbone", "suspension: swing_axle", 10, "a rack steers by tie rods"),
        ("{stiffness: 400}", "{}", 14, "anti_roll.stiffness: is required"),
        ("per_turn: 0.05", "travel: 0.5", 10, "of the rack are beyond the mechanism"),
        ("    axle:\n      track", "    wheel: {}\n    axle:\n      track", 11, "axle: is not"),
        ("b: front.mount", "b: front.left.upright", 21, "not among the ports"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, old, new, line, told):
    path = written(tmp_path, TEXT.replace(old, new, 1))
    with pytest.raises(ModelError) as error:
        load_model(path)
    first = error.value.problems[0]
    assert told in str(first)
    assert first.line == line


def test_schema_and_reference_know_axles():
    schema = model_schema()
    assert "axle" in schema["$defs"]
    for name, cls in AXLES.items():
        assert schema["$defs"][cls.__name__]["properties"]["type"]["const"] == name
        assert find_entry(name).cls is cls


def test_the_rig_shows_steering_and_roll():
    found = document("rig", "suspension", "macpherson_strut", "--over", "steering", "--count", "5", "--json")
    assert found["over"] == "steering"
    assert found["curves"]["left"][4] == pytest.approx(-found["curves"]["right"][0])
    rolled = document("rig", "suspension", "solid_axle", "--count", "5", "--json")["curves"]
    assert rolled["camber_left"] == pytest.approx([-x for x in rolled["roll"]], abs=1e-9)
    flat = document("rig", "suspension", "swing_axle", "--count", "3", "--json")["curves"]
    assert flat["caster"] == [None, None, None]
    told = call("rig", "suspension", "double_wishbone", "--count", "3")
    assert "caster" in told.output
    wrong = call("rig", "suspension", "trailing_arm", "--over", "steering")
    assert "a rack steers by tie rods" in str(wrong.exception)
    wrong = call("rig", "suspension", "trailing_arm", "--over", "roll")
    assert "each wheel moves by itself" in str(wrong.exception)
