"""Kernels compiled ahead of time: all that a run needs, by processes that end with it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.processes import alive, all_end, python, wait_until
from linkwork.compile.colliders import may_touch
from linkwork.compile.compiler import Compiled
from linkwork.engine.kernels.jit import COMPILED, compiled
from linkwork.methods.registry import WAYS
from linkwork.model.errors import LinkworkError
from linkwork.run import crew, warmup
from linkwork.run.agenda import PLAN, STEP, STEP_COST, Agenda
from linkwork.run.pieces import PIECES, bounded, controlled, extras_of, parts_of, pieces_of, rough
from linkwork.run.warmup import left, make_ready, missing, telling, warm_up

FOREVER = "import sys, time\nprint('ready', flush=True)\ntime.sleep(600)\n"
"""Stands for a process that compiles and hears nothing."""


@pytest.fixture
def started(monkeypatch):
    """Processes that were started."""
    found, start = [], subprocess.Popen

    def note(*arguments, **options):
        found.append(start(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(crew.subprocess, "Popen", note)
    return found


@pytest.fixture
def acting(tmp_path, monkeypatch):
    """Lets a text stand for the program of the processes."""

    def act(text: str) -> None:
        (tmp_path / "script.py").write_text(text)
        shell = tmp_path / "python"
        shell.write_text(f'#!/bin/sh\nexec {sys.executable} -u {tmp_path / "script.py"} "$@"\n')
        shell.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(shell))

    if sys.platform == "win32":
        pytest.skip("a shell script stands for Python")
    return act


OBEDIENT = """
import sys
print("ready")
for line in sys.stdin:
    print(line.strip(), '[["a", 1.0, []], ["b", 2.0, ["a"]]]' if line.split()[1] == "plan" else "")
"""


def test_every_method_and_contact_have_a_piece():
    named = {(one.options["method"], one.options.get("solver")) for one in PIECES.values() if not one.later}
    # In maximal coordinates the kernels are those of relative ones.
    assert {(way.method, way.solver) for way in WAYS if way.method != "simmc"} | {("simgc", None)} == named
    for way in WAYS:
        assert pieces_of(None, way.name, False) == [way.solver or way.method]
        assert pieces_of(None, way.name, True) == ["contact"]
        assert pieces_of(None, way.name, True, "rk4") == ["smooth"]


@pytest.mark.parametrize(
    ("build", "extras"),
    [(bounded, []), (lambda: controlled(bounded()), ["control"]), (rough, ["terrain"])],
    ids=["neither", "diagram", "terrain"],
)
def test_what_few_models_need_is_compiled_for_them_alone(build, extras):
    flat = Compiled.of(build()).flat
    assert extras_of(flat) == extras
    assert pieces_of(flat, "simgc, direct", False) == ["direct", *extras]


def test_no_part_is_in_a_piece_that_does_not_wait_for_it():
    """Diagrams and terrain are pieces of their own."""
    of_diagrams = {name for name in parts_of("control") if ".control." in name}
    assert of_diagrams
    assert not of_diagrams & parts_of("direct").keys()
    assert not of_diagrams & parts_of("contact").keys()
    assert any(
        name.startswith("linkwork.engine.contact.heights.meet_heights:") for name in parts_of("terrain")
    )
    assert not any("meet_heights" in name for name in parts_of("contact"))


def test_parts_of_a_piece_come_after_those_that_they_call():
    parts = list(parts_of("tree").values())
    for i, part in enumerate(parts):
        assert set(part.calls) <= set(parts[:i])
        assert part.cost > 0.0


def test_a_rehearsal_leaves_kernels_compiled():
    parts_of("tree")
    assert compiled() == COMPILED


def test_what_is_unknown_is_refused_with_the_nearest_name():
    with pytest.raises(LinkworkError, match=r"nothing called 'hybird' to compile.*hybrid"):
        warm_up(["tree", "hybird"])


def test_jobs_are_done_once_and_the_piece_is_noted(tmp_path, monkeypatch, started, acting):
    acting(OBEDIENT)
    monkeypatch.setattr(warmup, "cache_directory", lambda: tmp_path / "kernels")
    assert missing(["tree", "hybrid"]) == ["tree", "hybrid"]
    told = []
    warm_up(["hybrid"], workers=3, report=lambda share, names: told.append((share, *names)))
    assert missing(["tree", "hybrid"]) == ["tree"]
    assert {name for _, *names in told for name in names} == {"hybrid"}
    shares = [share for share, *_ in told]
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] <= 1.0
    all_end([process.pid for process in started])


def test_a_process_that_fails_is_named_with_its_last_words(acting):
    acting("import sys\nprint('first', file=sys.stderr)\nsys.exit('the disk is full')\n")
    with pytest.raises(LinkworkError, match="'tree' cannot be compiled: the disk is full"):
        warm_up(["tree"])


def test_a_simulation_goes_on_by_itself_where_processes_fail(tmp_path, monkeypatch, acting):
    acting("import sys\nsys.exit('no')\n")
    monkeypatch.setattr(warmup, "cache_directory", lambda: tmp_path / "kernels")
    monkeypatch.delenv("LINKWORK_WARMUP", raising=False)
    make_ready(["tree"])
    assert missing(["tree"]) == ["tree"]


def test_it_can_be_switched_off_and_needs_a_folder(tmp_path, monkeypatch, started):
    monkeypatch.setattr(warmup, "cache_directory", lambda: tmp_path / "kernels")
    monkeypatch.setenv("LINKWORK_WARMUP", "0")
    make_ready(["tree"])
    monkeypatch.delenv("LINKWORK_WARMUP")
    monkeypatch.setattr(warmup, "cache_directory", lambda: None)
    make_ready(["tree"])
    assert started == []


def test_simulations_tell_who_listens(tmp_path, monkeypatch, acting):
    acting(OBEDIENT)
    monkeypatch.setattr(warmup, "cache_directory", lambda: tmp_path / "kernels")
    monkeypatch.delenv("LINKWORK_WARMUP", raising=False)
    told = []
    with telling(lambda share, names: told.append(names)):
        make_ready(["tree"])
    assert told
    assert told[0] == ["tree"]


def test_no_process_is_left_behind_an_interruption(started, acting):
    acting(FOREVER)

    def interrupt(share, pieces):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        warm_up(["tree", "impulses"], workers=2, report=interrupt)
    assert len(started) == 2
    all_end([process.pid for process in started])


def test_seconds_left_follow_from_the_share_and_the_time():
    assert left(0.25, 10.0) == pytest.approx(30.0)
    assert left(1.0, 10.0) == 0.0
    assert left(0.0, 0.0) == float("inf")


def planned() -> Agenda:
    """c calls a and b; d stands alone."""
    agenda = Agenda(["tree"])
    agenda.finish(agenda.first(0))
    agenda.plan("tree", [("a", 4.0, []), ("b", 1.0, []), ("c", 3.0, ["a", "b"]), ("d", 2.0, [])])
    return agenda


def test_jobs_wait_for_what_they_call_and_the_longest_way_comes_first():
    agenda, order = planned(), []
    while (job := agenda.next()) is not None:
        order.append(job.name)
        agenda.finish(job)
    assert order == ["a", "b", "c", "d", STEP]


def test_nothing_can_begin_while_all_waits():
    agenda = planned()
    under_way = [agenda.next() for _ in range(3)]
    assert [job.name for job in under_way] == ["a", "b", "d"]
    assert agenda.next() is None
    for job in under_way[:2]:
        agenda.finish(job)
    assert agenda.next().name == "c"


def test_parts_that_pieces_share_are_done_once():
    agenda = Agenda(["tree", "direct"])
    assert agenda.left([], 2, 1.0) == float("inf")
    for i, piece in enumerate(("tree", "direct")):
        agenda.finish(agenda.first(i))
        agenda.plan(piece, [("a", 4.0, [])])
    names = []
    while (job := agenda.next()) is not None:
        names.append((job.piece, job.name))
        agenda.finish(job)
    assert sorted(names) == [("direct", STEP), ("tree", "a"), ("tree", STEP)]
    assert PLAN not in {name for _, name in names}


def test_what_is_left_is_foreseen_as_jobs_will_be_handed_out():
    """At two seconds for a unit: a takes 7 s more; meanwhile b and d, 6 s; then c, 6 s, and the step."""
    agenda = planned()
    first = agenda.next()
    assert agenda.left([(first, 1.0)], 2, 2.0) == pytest.approx(7.0 + 6.0 + 2.0 * STEP_COST)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_one_that_started_them(tmp_path, sign):
    """While they compile: on an empty cache, however its end comes about."""
    script = (
        "import sys\nfrom linkwork.run import crew, warmup\n"
        "def told(share, names):\n"
        "    print(*(worker.process.pid for worker in team.workers), flush=True)\n"
        "enter = crew.Crew.__enter__\n"
        "def note(self):\n    global team\n    team = self\n    return enter(self)\n"
        "crew.Crew.__enter__ = note\n"
        "warmup.warm_up(['tree'], workers=2, report=told)\n"
    )
    environment = {**os.environ, "LINKWORK_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=environment,
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2
        wait_until(lambda: any(tmp_path.rglob("*.nbc")) or not all(map(alive, pids)), "something is compiled")
        parent.send_signal(sign)
        all_end([parent.pid, *pids])
        parent.stdout.close()
    assert not broken(tmp_path)


def broken(folder: Path) -> list[str]:
    """Files of a cache that cannot be read."""
    found = python(
        "-c",
        "import pickle, sys, pathlib\nimport linkwork.run.simulate\n"
        "for path in pathlib.Path(sys.argv[1]).rglob('*.nbc'):\n"
        "    try: pickle.loads(path.read_bytes())\n"
        "    except Exception: print(path.name)\n",
        str(folder),
    )
    return found.split()


COUNTED = """
import sys
from numba.core import event
compiled = []
class Count(event.Listener):
    def on_start(self, entry): compiled.append(entry.data["dispatcher"].py_func.__name__)
    def on_end(self, entry): pass
event.register("numba:compile", Count())
from linkwork import Simulation
from linkwork.run import pieces
Simulation(eval(sys.argv[1]), **eval(sys.argv[2])).run(0.01)
print(len(compiled))
"""


@pytest.mark.slow
def test_a_run_compiles_nothing_itself_and_leaves_nothing_to_the_next(tmp_path):
    cache = {"LINKWORK_CACHE_DIR": str(tmp_path)}
    run = ("-c", COUNTED, "pieces.open_chain()", "{'method': 'tree'}")
    assert python(*run, environment=cache).split() == ["0"]
    assert python(*run, environment={**cache, "LINKWORK_WARMUP": "0"}).split() == ["0"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "options", "needed"),
    [
        ("pieces.controlled(pieces.bounded())", {"solver": "direct"}, ["direct", "control"]),
        ("pieces.controlled(pieces.bounded())", {"solver": "impulses"}, ["impulses", "control"]),
        ("pieces.rough()", {}, ["contact", "terrain"]),
    ],
    ids=["direct", "impulses", "terrain"],
)
def test_nothing_is_left_to_compile_when_its_pieces_are(model, options, needed):
    """Kernels that loops ask for, too, have been compiled for the types of arguments that they are called with."""
    if missing(needed):
        warm_up(missing(needed))
    assert python("-c", COUNTED, model, repr({"method": "simgc", **options})).split() == ["0"]


def test_the_pieces_of_contact_touch_and_no_others_do():
    touching = [name for name, piece in PIECES.items() if may_touch(Compiled.of(piece.build()).flat)]
    assert touching == ["contact", "smooth", "terrain"]


def test_nothing_to_compile_takes_no_process():
    warm_up([], workers=1)
