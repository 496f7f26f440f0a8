"""Models on several ranks: the same numbers as in one process, bit for bit, and ranks that die."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.processes import all_end, command_line, in_ranks
from linkwork.distributed.links import TIMEOUT
from linkwork.distributed.sealed_file import seal
from linkwork.library import wheel_corner

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no wheels of an MPI library")


def run_ranks(count: int, case: str, folder: Path, *more: object) -> subprocess.CompletedProcess[str]:
    return in_ranks(count, "ranked.py", case, folder, *map(json.dumps, more))


def told(folder: Path, name: str):
    return json.loads((folder / name).read_text())


@pytest.mark.parametrize(
    ("count", "model", "integrator"),
    [
        (2, "car", "rk4"),
        (3, "isostatic", "adaptive"),
        (2, "built_up", "adams"),
        (3, "built_up", "adaptive"),
        (4, "car", "adams"),
        (2, "four_bars", "adaptive"),
        (3, "four_bars", "rk4"),
        (4, "peaucellier", "adams"),
    ],
)
def test_ranks_and_one_process_agree_bit_for_bit(
    count: int, model: str, integrator: str, tmp_path: Path
) -> None:
    done = run_ranks(count, "equal", tmp_path, model, integrator)
    assert done.returncode == 0, done.stderr
    processes = told(tmp_path, "processes")
    assert len(processes) == len({process["process"] for process in processes}) == count
    assert all(process["components"] for process in processes)
    assert all(process["computed_s"] > 0.0 and process["waited_s"] > 0.0 for process in processes)


def test_what_users_do_between_steps(tmp_path: Path) -> None:
    done = run_ranks(2, "meddle", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_killed_rank_is_named_and_the_run_resumed(tmp_path: Path) -> None:
    done = run_ranks(4, "killed", tmp_path, 2)
    lost = told(tmp_path, "lost")
    assert done.returncode == 1
    assert lost["after"] < TIMEOUT  # not by its silence
    assert lost["names"]
    assert all(f"'{name}'" in lost["what"] for name in lost["names"])
    assert "is lost: rank 2: has ended: its process was killed or crashed" in lost["what"]
    assert "PartLostError" in done.stderr
    all_end(told(tmp_path, "pids"))
    (state,) = tmp_path.glob("*.state.npz")
    assert f"saved as {state.name}" in lost["what"]
    done = run_ranks(4, "resumed", tmp_path, state.name)
    assert done.returncode == 0, done.stderr
    assert told(tmp_path, "resumed") == lost["time"] >= 0.05


@pytest.mark.parametrize("body", ["b0", "b5"])
def test_a_rate_that_runs_away_is_named_whoever_holds_it(body: str, tmp_path: Path) -> None:
    done = run_ranks(2, "runaway", tmp_path, body)
    assert done.returncode == 0, done.stderr
    assert "the rate '~b" in told(tmp_path, "failed")


@pytest.mark.parametrize(
    ("count", "what", "text"),
    [
        (
            2, "switching",
            "UnsupportedError: method 'components' in ranks cannot share a joint that comes and goes, but joint 'h3'",
        ),
        (
            2, "sealed",
            "ranks has no process of its own for a sealed component, but component 'corner' is sealed; start the",
        ),
        (4, "many", "LinkworkError: 'n_four_bar1' has 3 parts, too few for 4 ranks"),
        (2, "mistake", "ValueError: the user made a mistake"),
    ],
)  # fmt: skip
def test_errors_end_all_ranks(count: int, what: str, text: str, tmp_path: Path) -> None:
    if what == "sealed":
        corner = wheel_corner()
        seal(corner, tmp_path / "corner.sealed", corner.ports)
    done = run_ranks(count, "refuse", tmp_path, what)
    assert done.returncode not in (0, None)
    assert text in done.stderr
    assert "all is well" not in done.stdout


def test_the_command_line_shows_who_computed_and_who_waited(tmp_path: Path) -> None:
    command = ["run", "car", "--method", "components", "--ranks", "2", "--time", "0.05"]
    done = command_line(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = [line for line in done.stdout.splitlines() if "front_left" in line or "front_right" in line]
    assert table
    assert "computed" in done.stdout
    done = command_line(*command, "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert [set(process) for process in report["processes"]] == [
        {"process", "components", "computed_s", "waited_s"}
    ] * 2
