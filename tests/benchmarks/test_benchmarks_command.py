"""The command `python -m benchmarks`."""

import subprocess
import sys
from pathlib import Path


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )


def test_a_mistake_gives_one_line_and_exit_code_one():
    result = command("trees")
    assert result.returncode == 1
    assert "no benchmark 'trees'" in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.stderr


def test_help():
    assert command("--help").returncode == 0
