"""`linkwork sweep`."""

import json
import re
from pathlib import Path

import pytest

from helpers.processes import command_line
from helpers.studied import PENDULUMS
from linkwork.studies import dataset

PAGE = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text()


def test_the_code_of_the_page_runs(capsys):
    """One block after another, as somebody types them who reads on: later ones use names of the earlier."""
    names = {"__name__": "page"}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(code, names)
    assert "('pin.damping', 'rod.com.z', 'time')" in capsys.readouterr().out


@pytest.mark.slow
def test_a_sweep_prints_saves_and_draws(tmp_path):
    (tmp_path / "two.yaml").write_text(PENDULUMS)
    words = [
        "sweep",
        "two.yaml",
        "--vary",
        "a.damping=0,-1",
        "--time",
        "0.1",
        "--on",
        "here",
        "--save",
        "s.nc",
    ]
    done = command_line(
        *words, "--plot", "s.png", "--measure", "max(a.angle)", "--measure", "b.angle", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "2 cases, 1 failed" in done.stdout
    assert "must not be less than 0" in done.stdout
    assert (tmp_path / "s.png").stat().st_size > 1000
    assert dataset.load(tmp_path / "s.nc")["b.angle"].dims == ("a.damping", "time")
    again = command_line(*words, "--json", "--measure", "max(a.angle)", "--measure", "b.angle", cwd=tmp_path)
    told = json.loads(again.stdout)
    assert told["data_vars"]["max(a.angle)"]["data"] == [0.3, None]
    assert told["failed"][0]["case"] == {"a.damping": -1.0}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "nothing varies"),
        (["--vary", "length"], "write NAME=VALUES"),
        (["--vary", "length=1,2", "--vary", "length=3"], "given twice"),
        (["--vary", "length=1,2", "--save", "no/such/s.nc"], "no folder"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, words, what):
    (tmp_path / "two.yaml").write_text(PENDULUMS)
    done = command_line("sweep", "two.yaml", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert what in done.stderr
