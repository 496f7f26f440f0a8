"""The robot of docs/drive-a-robot.md: every stage of its file is a model, and its program tells what the page says."""

import re
from pathlib import Path

import pytest

from linkwork import ModelError, Simulation
from linkwork.engine.kernels.jit import COMPILED
from linkwork.io.reader import parse_model

TEXT = (Path(__file__).parents[2] / "docs/drive-a-robot.md").read_text(encoding="utf-8")
STAGES = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


def stage(*numbers):
    return parse_model("\n".join(STAGES[k] for k in numbers), Path("rover.yaml"))


def test_every_stage_of_the_file_is_a_model():
    robot, motors, hand, loop = stage(0), stage(0, 1), stage(0, 1, 2), stage(0, 1, 3)
    assert list(robot.joints) == ["left", "right", "stays"]
    assert list(motors.drives) == ["left_motor", "right_motor"]
    assert {"stick", "speedometer"} <= set(hand.control)
    assert {"turning", "keeps", "gyro"} <= set(loop.control)


def test_the_mistake_is_told_as_the_page_says():
    told = re.search(r"```\n(rover\.yaml:(\d+):(\d+): .*)\n```", TEXT)
    assert told is not None
    text = "\n".join(STAGES[:3]).replace("left.angle_rate", "left.angel_rate")
    with pytest.raises(ModelError) as raised:
        parse_model(text, Path("rover.yaml"))
    assert told[1] in str(raised.value)


@pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")
def test_its_program_shows_that_the_loop_keeps_the_heading(tmp_path, monkeypatch):
    (tmp_path / "rover.yaml").write_text("\n".join((STAGES[0], STAGES[1], STAGES[3])), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = {}
    (program,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(program, shown)  # of this repository
    off = {keeps: abs(record["chassis.position.y"][-1]) for keeps, record in shown["paths"].items()}
    assert off[1.0] < 0.05 < 0.2 < off[0.0]


@pytest.mark.skipif(not COMPILED, reason="takes for ever as plain Python")
def test_the_panel_of_the_third_stage_drives_it():
    sim = Simulation(stage(0, 1, 2))
    sim.operate("stick.y", 1.0)
    sim.operate("stick.x", -0.5)
    sim.run(1.0)
    assert sim["speed.out"] > 0.3
    assert sim["chassis.angular_velocity.z"] > 0.2  # stick to the left: to the left
