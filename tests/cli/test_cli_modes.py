"""`linkwork modes`, and the code of its page."""

import json
import re
from pathlib import Path

import pytest

from helpers.processes import command_line

PAGE = (Path(__file__).parents[2] / "docs" / "linearisation.md").read_text()


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(code, {"__name__": "page"})
    assert "push.built_up" in capsys.readouterr().out


@pytest.mark.slow
def test_modes_are_told_drawn_and_played(tmp_path):
    done = command_line(
        "modes", "crank_rocker", "--set", "voltage=0", "--bode", "b.png", "--film", "m.html", "--steady", "",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 states, 1 inputs" in done.stdout
    assert (tmp_path / "b.png").exists()
    assert (tmp_path / "m.html").stat().st_size > 10_000
    told = json.loads(command_line("modes", "crank_rocker", "--json", cwd=tmp_path).stdout)
    assert len(told["A"]) == 2
    assert told["inputs"][0]["name"] == "motor"


def test_a_wrong_wish_is_refused(tmp_path):
    done = command_line("modes", "crank_rocker", "--steady", "crank.angle", cwd=tmp_path)
    assert done.returncode == 1
    assert "write NAME=NUMBER" in done.stderr
