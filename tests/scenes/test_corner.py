"""The parameter sheet of a wheel: what it says is what the constructor makes, and its lines make the same corner."""

import math

import numpy as np
import pytest

from linkwork import Simulation, load_model, scene
from linkwork.model.errors import LinkworkError
from linkwork.scenes import find_scene
from linkwork.scenes.corner import wheel

CORNER = find_scene("corner")
OWN = {name: value for name, value in CORNER.parameters.items() if name not in ("stroke", "frequency")}


@pytest.mark.parametrize("suspension", CORNER.choices["suspension"])
def test_the_lines_for_a_file_make_the_same_corner(tmp_path, suspension):
    settings = {**OWN, "suspension": suspension, "drive": "motor", "side": "right", "stiffness": 4e4}
    head = "linkwork: 1\nunits: SI\nbodies: {frame: {mass: 1, inertia: [1, 1, 1]}}\n"
    rest = "\ninstances: {one: {component: corner}}\njoints: {hold: {type: weld, a: frame, b: one.mount}}\n"
    path = tmp_path / "corner.yaml"
    text = CORNER.written(**settings)
    path.write_text(head + text + rest)
    read = load_model(path).instances["one"].component
    made = wheel(**settings).component()
    made.name = read.name
    for name, drive in made.drives.items():  # the line has no command
        assert read.drives[name].gear == drive.gear
    made.drives, read.drives = {}, {}
    assert read == made


def test_the_sheet_says_what_the_paper_asks_for():
    """On KRT's parallelogram ±60 mm become ±48 by equation 7."""
    settings = {**OWN, "radius": 0.2, "load": 294.3, "lowest": -0.06, "highest": 0.06, "limits": "asin"}
    rows = CORNER.sheet(**settings, stroke=0.0, frequency=1.0)
    found = {name: value for name, value, _ in rows}
    assert (
        found["limits, exact"]
        == f"{-math.degrees(math.asin(0.375)):+.3f} … {math.degrees(math.asin(0.375)):+.3f}"
    )
    reached = [value for name, value, _ in rows if name == "reach"]
    assert reached[0] == "-60.000 … +60.000"
    assert float(reached[1].split()[0]) == pytest.approx(-47.76, abs=0.01)


def test_the_road_moves_the_wheel_and_the_chassis_rides():
    simulation = Simulation(scene("corner", frequency=0.2, stroke=0.03), dt=2e-3)
    record = simulation.run(5.0, every=0.02)
    z = record["chassis.position.z"] - record["chassis.position.z"][0]
    assert abs(z - record["road.travel"]).max() < 0.02  # it follows a slow road
    assert np.ptp(z) > 0.05


def test_what_does_not_go_together_is_told():
    with pytest.raises(LinkworkError, match="no hinge for a torsion spring"):
        scene("corner", suspension="sliding_pillar", spring="torsion")
    with pytest.raises(LinkworkError, match="beyond the mechanism"):
        scene("corner", highest=0.5)
