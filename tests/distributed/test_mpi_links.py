"""Lines between ranks of MPI: numbers, frames that do not fit, and ranks that die."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.processes import HERE, all_end, in_ranks, started, wait_until
from linkwork.distributed import launch
from linkwork.distributed.links import TIMEOUT
from linkwork.model.errors import LinkworkError, MissingExtraError, UnsupportedError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no wheels of an MPI library")


def told(folder: Path, name: str) -> dict[int, object]:
    return {int(p.name.rpartition("-")[2]): json.loads(p.read_text()) for p in folder.glob(f"{name}-*")}


def run_ranks(count: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    return in_ranks(count, "ranks.py", *arguments)


def nobody_is_left(folder: Path) -> None:
    pids = [pid for pair in told(folder, "pids").values() for pid in pair]
    assert pids
    all_end(pids)


@pytest.mark.parametrize("count", [2, 4])
def test_everybody_gets_exactly_what_the_others_send(count: int, tmp_path: Path) -> None:
    done = run_ranks(count, "exchange", tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(told(tmp_path, "done")) == list(range(count))
    nobody_is_left(tmp_path)


@pytest.mark.parametrize(
    ("victim", "way", "what"),
    [
        (1, "kill", "rank 1: has ended: its process was killed or crashed"),
        (2, "kill", "rank 2: has ended: its process was killed or crashed"),
        (1, "flood", "rank 1: has ended: its process was killed or crashed"),
        (2, "raise", "rank 2: stopped: the shaft broke"),
    ],
)
def test_rank_0_learns_of_a_death_and_saves_before_all_end(
    victim: int, way: str, what: str, tmp_path: Path
) -> None:
    done = run_ranks(4, "lockstep", tmp_path, victim, way)
    lost = told(tmp_path, "lost")[0]
    assert lost["what"] == what
    if way != "raise":
        assert lost["at"] - told(tmp_path, "died")[victim]["at"] < TIMEOUT  # not by its silence
    assert done.returncode == 1
    assert what in done.stderr  # what rank 0 said last was not dropped by mpiexec
    nobody_is_left(tmp_path)


def test_nobody_stays_when_rank_0_is_killed(tmp_path: Path) -> None:
    done = run_ranks(3, "lockstep", tmp_path, 0, "kill")
    assert done.returncode != 0
    nobody_is_left(tmp_path)


def test_nobody_stays_when_mpiexec_is_killed(tmp_path: Path) -> None:
    command = launch.mpiexec(3, [str(HERE / "ranks.py"), "lockstep", str(tmp_path), "99", "never"])
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        wait_until(lambda: len(told(tmp_path, "pids")) == 3, "three ranks run")
    nobody_is_left(tmp_path)


@pytest.mark.parametrize(
    ("way", "what"),
    [
        ("short", "rank 0: sent 3 numbers where 5 numbers were expected: the two sides are not in step"),
        ("long", "rank 0: sent more than the 5 numbers that were expected: the two sides are not in step"),
        ("kind", "rank 0: sent a message where 5 numbers were expected: the two sides are not in step"),
        ("kind of numbers", "rank 0: sent 9 numbers where a message was expected"),
        ("hang", "rank 0: no answer for 0.5 s: it hangs, or the network does"),
    ],
)
def test_what_does_not_fit_is_an_error_and_not_garbage(way: str, what: str, tmp_path: Path) -> None:
    done = run_ranks(2, "amiss", tmp_path, way)
    assert done.returncode == 1
    assert f"LinkLost: rank 1: stopped: {what}" in done.stderr
    nobody_is_left(tmp_path)


def test_the_command_line_starts_itself_again_in_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    from linkwork.cli.run import run

    became: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda path, command: became.append(command))
    monkeypatch.setattr("sys.argv", ["linkwork", "run", "chain5", "--method", "components", "--ranks", "4"])
    for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    launch.restart_in_ranks(4)
    assert Path(became[0][0]).name == "mpiexec"
    assert became[0][1:] == [
        "-n", "4", sys.executable, "-m", "linkwork", "run", "chain5", "--method", "components", "--ranks", "4",
    ]  # fmt: skip
    with pytest.raises(UnsupportedError, match="--ranks shares the work of method 'components'"):
        run("chain5", method="simgc", ranks=2)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LinkworkError, match=r"no mpiexec .* pip install 'linkwork\[mpi\]'"):
        launch.mpiexec(2, [])
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(MissingExtraError, match="mpi4py"):
        launch.mpiexec(2, [])


def test_the_benchmark_reports_both_lines() -> None:
    from benchmarks import SUITES

    result = SUITES["links"](quick=True)
    rows = result.to_dict()["rows"]
    assert {row["line"] for row in rows} == {"TCP", "MPI"}
    assert all(0 < row["min_us"] <= row["median_us"] <= row["p99_us"] for row in rows)
    assert len(list(result.tables())) == 1
