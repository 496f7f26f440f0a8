"""The command `python -m benchmarks`."""

import sys
from pathlib import Path

from helpers.processes import run


def command(*arguments):
    return run([sys.executable, "-m", "benchmarks", *arguments], cwd=Path(__file__).parents[2])


def test_a_mistake_gives_one_line_and_exit_code_one():
    result = command("trees")
    assert result.returncode == 1
    assert "no benchmark 'trees'" in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.stderr


def test_help():
    assert command("--help").returncode == 0
