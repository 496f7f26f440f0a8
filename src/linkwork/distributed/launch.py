"""Starting the processes of a distributed run on this machine, and seeing to it that none is left behind.

What mpich's mpiexec (hydra 5.0) does when a process of a run is killed: at once it kills all others with SIGKILL,
rank 0 included, and `-disable-auto-cleanup` does not keep it from that reliably. So the process that mpiexec watches
is but a guard: it forks the one that computes before MPI begins, and waits. If that one dies, its guard stays,
mpiexec sees nothing, and rank 0, told by its lifeline, has all the time it wants to save. Then it aborts the run, and
mpiexec ends everybody. It does not matter who called mpiexec.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from ..model.errors import LinkworkError
from ..results.files import need
from .lifeline import Lifeline
from .links import TIMEOUT, LinkLost
from .mpi import MpiLink

_RANK = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
_DRAIN = 0.3
"""In which mpiexec reads what was printed last; an abort drops what it has not read [s]."""
_FINALE = 5.0
"""In which MPI must have ended once all ranks are done [s]."""
LISTENING = "listening on"
"""With which a server says where it can be reached."""
_START = 120.0
"""In which a server must have begun to listen, on a busy machine too; one that ends before is noticed at once [s]."""


def inside_mpi() -> bool:
    """Whether this process was started by mpiexec."""
    return any(name in os.environ for name in _RANK)


def mpiexec(ranks: int, arguments: Sequence[str]) -> list[str]:
    """The command that runs Python with these arguments in so many processes."""
    need("mpi4py", "mpi", "a run of several ranks")
    # The one beside this interpreter belongs to the MPI library that mpi4py was installed with.
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        raise LinkworkError(
            "there is no mpiexec to start ranks with; install it with: pip install 'linkwork[mpi]'"
        )
    return [found, "-n", str(ranks), sys.executable, *arguments]


def restart_in_ranks(ranks: int) -> NoReturn:
    """Become `mpiexec` that runs this same command line in so many processes."""
    command = mpiexec(ranks, ["-m", "linkwork", *sys.argv[1:]])
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)


class Ranks:
    """The processes of an MPI run, as one of them sees it. Use it in a `with` block: how that ends decides how all end.

    If it ends with an error, a rank other than 0 tells rank 0 why and ends; rank 0 goes on to report and save, and
    when Python exits the whole run ends with exit code 1.
    """

    def __init__(self, expected: int | None = None):
        """`expected` is the number of ranks that was asked for, if it was."""
        guard = _fork_guard() if inside_mpi() and not _begun() else None
        world = need("mpi4py.MPI", "mpi", "a run of several ranks").COMM_WORLD
        self.rank: int = world.Get_rank()
        self.size: int = world.Get_size()
        if expected not in (None, self.size):
            raise LinkworkError(f"--ranks {expected}, but mpiexec started {self.size}; leave one of them out")
        self.lifeline = Lifeline(world, guard)
        self._world = world
        self._failed = False
        self.busy = False
        """Whether a simulation uses the ranks."""
        atexit.register(self._end)

    def link(self, rank: int, channel: int = 0, timeout: float | None = TIMEOUT) -> MpiLink:
        """A line to another rank. Both sides must take the same `channel`."""
        return MpiLink(self.lifeline, rank, channel, timeout)

    def fail(self) -> None:
        """A rank was lost: when this process exits, all end."""
        self._failed = True

    def leave(self) -> None:
        """All is done: end together with the others, unless a rank was lost."""
        if not self._failed:
            with contextlib.suppress(LinkLost):  # has been told
                self._leave_together()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or (isinstance(error, SystemExit) and not error.code):
            self._leave_together()
            return
        self._failed = True
        if self.rank == 0:
            return
        if not self.lifeline.lost():  # else rank 0 knows of another that ended first
            if not isinstance(error, LinkworkError):
                traceback.print_exception(error)
            self.lifeline.leave(f"stopped: {str(error) or type(error).__name__}")
        self._end()

    def _leave_together(self) -> None:
        """Wait for all others here, where a death is noticed; the end of MPI would wait for the dead for ever."""
        done = self._world.Ibarrier()
        while not done.Test():
            if lost := self.lifeline.lost():
                self._failed = True
                if self.rank != 0:
                    self._end()
                raise LinkLost(*lost)
            time.sleep(1e-3)
        self.lifeline.leave()
        # The end of MPI was seen to hang (mpich 5.0, for reasons unknown), though all have met above.
        timer = threading.Timer(
            _FINALE, os._exit, (1 if self.rank == 0 and hasattr(sys, "last_value") else 0,)
        )
        timer.daemon = True
        timer.start()
        sys.stdout.flush()
        sys.stderr.flush()
        need("mpi4py.MPI", "mpi", "a run of several ranks").Finalize()
        timer.cancel()

    def _end(self) -> None:
        """At the exit of Python, before MPI would wait for ranks that are no more."""
        if self._failed:
            sys.stdout.flush()
            sys.stderr.flush()
            if self.rank == 0:
                time.sleep(_DRAIN)
                self._world.Abort(1)
            os._exit(1)


def _begun() -> bool:
    """Whether this process takes part in MPI already."""
    module: Any = sys.modules.get("mpi4py.MPI")
    return module is not None and bool(module.Is_initialized())


def _fork_guard() -> int:
    """Go on as a child of the process that mpiexec knows; gives a pipe that closes when that one ends."""
    ours, guards = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(guards)
        return ours
    os.close(ours)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the child by itself
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(child, number))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    first = next((os.environ[name] for name in _RANK if name in os.environ), "0") == "0"
    while code != 0 and not first:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pause()  # until rank 0 has saved and mpiexec ends all
    os._exit(code if code >= 0 else 128 - code)


class Servant:
    """A sealed component served by a process of its own on this machine, which ends with this one.

    It holds the reading end of a pipe to this process: however this one ends, the pipe closes, and the servant with it.
    """

    def __init__(self, file: str | os.PathLike[str], key_file: str | os.PathLike[str] | None = None):
        self.file = Path(file)
        command = [sys.executable, "-m", "linkwork", "serve", str(file), "--port", "0", "--child"]
        if key_file is not None:
            command += ["--key-file", str(key_file)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        atexit.register(self.close)
        try:
            self.address = self._listening()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def _listening(self) -> str:
        """Wait until it says where it listens."""
        out = self._process.stdout
        assert out is not None
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            ends = time.monotonic() + _START
            while selector.select(max(0.0, ends - time.monotonic())):
                line = out.readline()
                if not line:
                    assert self._process.stderr is not None
                    said = self._process.stderr.read().strip().removeprefix("error:").strip()
                    raise LinkworkError(said or f"{self.file}: its process ended before it could be reached")
                if match := re.search(rf"{LISTENING} (tcp://\S+)", line):
                    # A pipe that nobody empties stops who writes into it.
                    threading.Thread(
                        target=self._repeat, name=f"servant {self.file.name}", daemon=True
                    ).start()
                    return match[1]
        raise LinkworkError(f"{self.file}: its process did not begin to listen within {_START:g} s")

    def _repeat(self) -> None:
        """Pass on what it has to complain about."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            sys.stderr.write(line)

    def close(self) -> None:
        """End the process. Closing twice does no harm."""
        atexit.unregister(self.close)
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
