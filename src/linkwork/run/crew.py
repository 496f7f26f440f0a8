"""Processes that compile, as the one sees them that started them."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress

from ..model.errors import LinkworkError
from .agenda import PLAN, Agenda, Job

__all__ = ["Crew", "cores"]

SWITCH = "LINKWORK_WARMUP"
"""Environment variable: 0 lets each process compile what it needs by itself."""
_LAST_WORDS = 4096  # of what a process writes to its standard error [characters]


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Worker:
    """A process that does one job after the other."""

    def __init__(self, heard: queue.Queue[tuple[Worker, str]]):
        self.job: Job | None = None
        self.began = time.monotonic()
        self._said = ""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "linkwork.run.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, SWITCH: "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self._threads = [
            threading.Thread(target=self._listen, args=(heard,), daemon=True),
            threading.Thread(target=self._overhear, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _listen(self, heard: queue.Queue[tuple[Worker, str]]) -> None:
        """Pass its answers on; an empty one means that it has ended."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            heard.put((self, line.strip()))
        heard.put((self, ""))

    def _overhear(self) -> None:
        """Keep what it complains of: a pipe that nobody reads fills up, and it would wait."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._said = (self._said + line)[-_LAST_WORDS:]

    def begin(self, job: Job) -> None:
        """Do this."""
        assert self.process.stdin is not None
        self.job, self.began = job, time.monotonic()
        with suppress(OSError):  # it has ended: `_listen` tells
            print(job.piece, job.name, file=self.process.stdin, flush=True)

    def why(self) -> str:
        """(ended) What it complained of."""
        status = self.process.wait()
        self._threads[1].join()
        lines = self._said.strip().splitlines()
        return lines[-1] if lines else f"it ended with status {status}"

    def stop(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


class Crew:
    """Several of them, with an agenda."""

    def __init__(self, agenda: Agenda, size: int):
        self.agenda = agenda
        self._heard: queue.Queue[tuple[Worker, str]] = queue.Queue()
        self.workers: list[Worker] = []
        self._size = size
        self.start: float | None = None
        """Time until the first of them was ready to begin [s]."""

    def __enter__(self) -> Crew:
        self._began = time.monotonic()
        try:
            for i in range(self._size):
                self.workers.append(Worker(self._heard))
                self.workers[-1].begin(self.agenda.first(i))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self.workers:
            worker.stop()

    @property
    def busy(self) -> list[tuple[Job, float]]:
        """What is being done, and for how long already [s]."""
        now = time.monotonic()
        return [(worker.job, now - worker.began) for worker in self.workers if worker.job is not None]

    def wait(self, patience: float) -> tuple[Job, float] | None:
        """A job that has been done and the time that it took [s]; None after so much time [s] without one."""
        try:
            worker, answer = self._heard.get(timeout=patience)
        except queue.Empty:
            return None
        job = worker.job
        if answer == "ready":
            worker.began = time.monotonic()
            self.start = self.start or worker.began - self._began
            return None
        if job is None:
            return None
        done = f"{job.piece} {job.name}"
        if not f"{answer} ".startswith(f"{done} "):
            raise LinkworkError(f"'{job.piece}' cannot be compiled: {worker.why()}")
        took, worker.job = time.monotonic() - worker.began, None
        if job.name == PLAN:
            self.agenda.plan(job.piece, json.loads(answer.removeprefix(done)))
        self.agenda.finish(job)
        for idle in self.workers:
            if idle.job is None and (task := self.agenda.next()) is not None:
                idle.begin(task)
        return job, took
