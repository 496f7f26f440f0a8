"""Kernels compiled ahead of time: all that a run needs, by processes that end with it."""

import subprocess
import sys

import pytest

from helpers.processes import all_end, python
from linkwork.live import warmup
from linkwork.live.warmup import PIECES, warm_up
from linkwork.methods.registry import WAYS
from linkwork.model.errors import LinkworkError

COMPILED = """
from numba.core import event
compiled = []
class Count(event.Listener):
    def on_start(self, entry): compiled.append(entry.data["dispatcher"].py_func.__name__)
    def on_end(self, entry): pass
event.register("numba:compile", Count())
from linkwork import Simulation, scene
Simulation(scene("chain5"), method="tree").run(0.01)
print(len(compiled))
"""


@pytest.fixture
def started(monkeypatch):
    """Processes that were started."""
    found, start = [], subprocess.Popen

    def note(*arguments, **options):
        found.append(start(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(warmup.subprocess, "Popen", note)
    return found


@pytest.mark.slow
def test_a_run_after_it_compiles_nothing(tmp_path, monkeypatch, started):
    monkeypatch.setenv("LINKWORK_CACHE_DIR", str(tmp_path))
    told = []
    warm_up(["tree"], report=lambda share, pieces: told.append((share, *pieces)))
    assert python("-c", COMPILED).split() == ["0"]
    assert {names for _, *names in told for names in names} == {"tree"}
    assert all(0.0 <= share <= 1.0 for share, _ in told)
    all_end([process.pid for process in started])


def test_every_method_and_contact_have_a_piece():
    named = {(piece.options["method"], piece.options.get("solver")) for piece in PIECES.values()}
    # In maximal coordinates the kernels are those of relative ones.
    assert {(way.method, way.solver) for way in WAYS if way.method != "simmc"} | {("simgc", None)} == named
    costs = [piece.cost for piece in PIECES.values()]
    assert costs == sorted(costs, reverse=True)


def test_what_is_unknown_is_refused_with_the_nearest_name():
    with pytest.raises(LinkworkError, match=r"nothing called 'hybird' to compile.*hybrid"):
        warm_up(["tree", "hybird"])


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for Python")
def test_a_process_that_fails_is_named_with_its_last_words(tmp_path, monkeypatch):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho first >&2\necho the disk is full >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(LinkworkError, match="'tree' cannot be compiled: the disk is full"):
        warm_up(["tree"])


def test_no_process_is_left_behind_an_interruption(started):
    def interrupt(share, pieces):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        warm_up(["tree", "impulses"], workers=2, report=interrupt)
    assert len(started) == 2
    all_end([process.pid for process in started])
