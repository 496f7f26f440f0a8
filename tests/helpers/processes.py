"""Other processes in tests: started alike wherever tests run, waited for until a limit that only faults reach."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from linkwork.distributed import launch

HERE = Path(__file__).parent
PATIENCE = 120.0
"""For what takes moments, or seconds to compile, unless the machine is very busy [s]."""
IGNORED = signal.SIG_IGN
"""What processes are started with that shall not hear Ctrl-C, as in the background of a script."""

T = TypeVar("T")


def wait_until(condition: Callable[[], T], what: str = "it happens", patience: float = PATIENCE) -> T:
    """Wait until a condition is true; returns what it returned, and fails the test after a long time."""
    end = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > end:
            pytest.fail(f"{what}: not within {patience:g} s")
        time.sleep(0.01)
    return value


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX"
    except OSError:
        pass
    if Path("/proc/self").exists():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def all_end(pids: Sequence[int]) -> None:
    """Wait until none of some processes is left."""
    wait_until(lambda: not any(map(alive, pids)), f"processes {list(pids)} end")


def group_ends(leader: int) -> None:
    """Wait until no process of a group runs: those that watch for the end of another one end a moment after it."""

    def running() -> bool:
        try:
            os.killpg(leader, 0)
        except ProcessLookupError:
            return False
        found = list(Path("/proc").glob("[0-9]*/stat"))
        return not found or any(map(_runs_in(leader), found))

    wait_until(lambda: not running(), f"the processes of group {leader} end")


def _runs_in(leader: int) -> Callable[[Path], bool]:
    """Whether a file of /proc is of a process of this group that has not ended; whoever inherits it may wait late."""

    def runs(path: Path) -> bool:
        try:
            state, _, group = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            return False
        return int(group) == leader and state not in "ZX"

    return runs


@contextlib.contextmanager
def _interrupt_means(what: Any) -> Iterator[None]:
    """SIGINT as children inherit it: what this process ignores they ignore, and all else is the default to them.

    Tests may run where it is ignored, in the background of a script or under nohup.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone may set it
        raise RuntimeError("tests start processes in their main thread")
    before = signal.signal(signal.SIGINT, what)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def start(
    command: Sequence[object], interrupt: Any = signal.default_int_handler, **options: Any
) -> subprocess.Popen[str]:
    """Begin a command, which SIGINT interrupts unless `interrupt` is IGNORED; what it prints is kept to be read."""
    options = {"stdout": subprocess.PIPE, "text": True, **options}
    with _interrupt_means(interrupt):
        return subprocess.Popen([str(word) for word in command], **options)


@contextlib.contextmanager
def started(command: Sequence[object], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A command that runs while a test needs it, and not a moment longer."""
    with start(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def run(
    command: Sequence[object], environment: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """A command until it ends, however it ends; `environment` adds to that of the tests."""
    with start(
        command, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})}, **options
    ) as process:
        try:
            out, errors = process.communicate(timeout=5.0 * PATIENCE)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


def in_ranks(count: int, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A program of this folder in so many ranks of MPI until all have ended."""
    return run(launch.mpiexec(count, [str(HERE / script), *map(str, arguments)]))


def python(*arguments: object, **options: Any) -> str:
    """What Python prints, which must end well: `python("-c", code)`; options as `run` has them."""
    done = run([sys.executable, *arguments], **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command_line(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own until it ends, however it ends."""
    return run([sys.executable, "-m", "linkwork", *arguments], **options)
