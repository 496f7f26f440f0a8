"""Compiling kernels ahead of time, in as many processes as the machine has cores.

Each process takes the next piece, the longest first, by a step of a small mechanism; what it compiles is kept on disk,
so that an interrupted warm-up goes on from there. `python -m linkwork.live.warmup` is such a process: it reads
names of pieces from its standard input and answers each with a line.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..model.errors import LinkworkError, nearest

__all__ = ["PIECES", "Piece", "compile_piece", "warm_up"]

_POLL = 0.2  # how often progress is told [s]
_POLITE = 5  # niceness of the processes: whoever warms up may want to look at something


class Piece(NamedTuple):
    """Kernels that are compiled together."""

    cost: float
    """CPU time on an empty cache, with the pieces before it compiled [s]; only ratios count."""
    scene: str
    options: dict[str, Any]
    """Of `Simulation`."""


PIECES = {
    "contact": Piece(50.0, "gripper", {"method": "simgc"}),
    "hybrid": Piece(36.0, "double_four_bar", {"method": "hybrid"}),
    "direct": Piece(22.0, "double_four_bar", {"method": "simgc", "solver": "direct"}),
    "components": Piece(20.0, "double_four_bar", {"method": "components"}),
    "topological": Piece(15.0, "double_four_bar", {"method": "topological"}),
    "global": Piece(10.0, "double_four_bar", {"method": "global"}),
    "impulses": Piece(8.0, "double_four_bar", {"method": "simgc", "solver": "impulses"}),
    "tree": Piece(6.0, "chain5", {"method": "tree"}),
}
"""All kernels that stepping and recording need: those of a method or solver, or of contact."""


def compile_piece(name: str) -> None:
    """Compile a piece in this process, or load what of it is kept on disk."""
    from ..run.simulate import Simulation
    from ..scenes import scene

    piece = PIECES[name]
    simulation = Simulation(scene(piece.scene), **piece.options)
    simulation.run(simulation.dt)


class _Worker:
    """A process that compiles one piece after the other."""

    def __init__(self) -> None:
        self.piece: str | None = None
        self.began = 0.0
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def begin(self, name: str) -> None:
        """Compile this piece."""
        assert self.process.stdin is not None
        self.piece, self.began = name, time.monotonic()
        with suppress(BrokenPipeError):  # it has ended: `listen` tells
            print(name, file=self.process.stdin, flush=True)

    def listen(self, heard: queue.Queue[tuple[_Worker, str]]) -> None:
        """Pass its answers on; an empty one means that it has ended."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            heard.put((self, line.strip()))
        heard.put((self, ""))

    def why(self) -> str:
        """(ended) What it complained of."""
        lines = self.process.communicate()[1].strip().splitlines()
        return lines[-1] if lines else f"it ended with status {self.process.returncode}"

    def stop(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.communicate()


def warm_up(
    names: Iterable[str] = PIECES,
    *,
    workers: int | None = None,
    report: Callable[[float, Sequence[str]], None] | None = None,
) -> None:
    """Compile these pieces in `workers` processes, one for each core by default.

    `report` is told several times a second which share of the work is done, as far as can be foreseen, and which
    pieces are being compiled.
    """
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in PIECES:
            raise LinkworkError(f"there is nothing called '{name}' to compile{nearest(name, PIECES)}")
    waiting = sorted(wanted, key=lambda name: -PIECES[name].cost)
    total = sum(PIECES[name].cost for name in wanted)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    heard: queue.Queue[tuple[_Worker, str]] = queue.Queue()
    crew: list[_Worker] = []
    done, pace = 0.0, 1.0
    try:
        for name in waiting[: workers or cores]:
            crew.append(_Worker())
            crew[-1].begin(name)
            threading.Thread(target=crew[-1].listen, args=(heard,), daemon=True).start()
        waiting = waiting[len(crew) :]
        while busy := [worker for worker in crew if worker.piece is not None]:
            if report is not None:
                under_way = sum(_share(worker, pace) for worker in busy)
                report((done + under_way) / total, [worker.piece for worker in busy if worker.piece])
            try:
                worker, answer = heard.get(timeout=_POLL)
            except queue.Empty:
                continue
            if worker.piece is None:
                continue
            if answer != worker.piece:
                raise LinkworkError(f"'{worker.piece}' cannot be compiled: {worker.why()}")
            cost = PIECES[worker.piece].cost
            pace = (time.monotonic() - worker.began) / cost
            done, worker.piece = done + cost, None
            if waiting:
                worker.begin(waiting.pop(0))
    finally:
        for worker in crew:
            worker.stop()


def _share(worker: _Worker, pace: float) -> float:
    """How much of the cost of its piece a worker has done, by how long other pieces took."""
    cost = PIECES[worker.piece or ""].cost
    return min((time.monotonic() - worker.began) / pace, 0.95 * cost)


def _work() -> None:
    if hasattr(os, "nice"):
        os.nice(_POLITE)
    for line in sys.stdin:
        compile_piece(line.strip())
        print(line.strip(), flush=True)


if __name__ == "__main__":
    _work()
