"""Compiling kernels ahead of time, in as many processes as the machine has cores.

What a process compiles is kept on disk, so that an interrupted warm-up goes on from there. `Simulation` does it by
itself for what a model needs and nobody has compiled. Without a folder to keep kernels in, or with `LINKWORK_WARMUP=0`,
each process compiles what it needs by itself.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ..engine.kernels.jit import compiled
from ..engine.kernels.store import cache_directory, source_stamp
from ..model.errors import LinkworkError, nearest
from .agenda import Agenda
from .crew import SWITCH, Crew, cores
from .pieces import PIECES

__all__ = ["PIECES", "left", "make_ready", "missing", "telling", "warm_up"]

Report = Callable[[float, Sequence[str]], None]
_POLL = 0.2  # how often progress is told [s]
_START = 1.5  # time until a process can begin, where costs are as jobs have them [s]
_TRUST = 3.0  # how much that counts, in costs of jobs [s]
_reports: list[Report] = []


def warm_up(
    names: Iterable[str] = PIECES, *, workers: int | None = None, report: Report | None = None
) -> None:
    """Compile these pieces in `workers` processes, one for each core by default.

    `report` is told several times a second which share of the time has passed, as far as can be foreseen, and which
    pieces are being compiled: after t seconds, `left(share, t)` is what remains. By default, who listens by `telling`.
    """
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in PIECES:
            raise LinkworkError(f"there is nothing called '{name}' to compile{nearest(name, PIECES)}")
    if not wanted:
        return
    tell = report or (_reports[-1] if _reports else None)
    share, began = 0.0, time.monotonic()
    with Crew(Agenda(wanted), workers or cores()) as crew:
        took, cost = 0.0, 0.0
        while busy := crew.busy:
            if tell is not None:
                passed = time.monotonic() - began
                pace = (crew.start or _START) / _START  # by how long starting took, until jobs tell more
                pace = (_TRUST * pace + took) / (_TRUST + cost)
                rest = crew.agenda.left(busy, len(crew.workers), pace)
                share = max(share, passed / (passed + rest + 1e-9))
                tell(share, list(dict.fromkeys(job.piece for job, _ in busy)))
            if finished := crew.wait(_POLL):
                took, cost = took + finished[1], cost + finished[0].cost
    for name in wanted:
        _note(name)


def left(share: float, passed: float) -> float:
    """Seconds that remain when a share of the time has passed in so many seconds."""
    return passed * (1.0 - share) / share if share > 0.0 else float("inf")


def _note_of(name: str) -> Path | None:
    """The file that tells that a piece is compiled, for this version of the kernels: asking the kernels themselves
    would load all of them."""
    directory = cache_directory()
    return None if directory is None else directory.parent / "compiled" / source_stamp() / name


def _note(name: str) -> None:
    note = _note_of(name)
    if note is not None:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.touch()


def missing(names: Iterable[str]) -> list[str]:
    """Those pieces that nobody has noted as compiled; none if nothing is kept: compiling elsewhere would not help."""
    return [name for name in names if (note := _note_of(name)) is not None and not note.exists()]


def make_ready(names: Iterable[str]) -> None:
    """Compile pieces in several processes, if that is worth it: before this process would compile it all by itself."""
    if not compiled() or os.environ.get(SWITCH) == "0":
        return
    if getattr(sys, "frozen", False) or not sys.executable or not (lacking := missing(names)):
        return
    with suppress(OSError, LinkworkError):  # this process meets the same trouble, if it is one
        warm_up(lacking)


@contextmanager
def telling(report: Report) -> Iterator[None]:
    """While this lasts, `report` is told of what simulations compile, as by `warm_up`."""
    _reports.append(report)
    try:
        yield
    finally:
        _reports.remove(report)
