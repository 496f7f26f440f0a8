"""What is to be compiled, and when: parts wait for those that they call, and the longest way to the end comes first."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

__all__ = ["PLAN", "PLAN_COST", "STEP", "STEP_COST", "Agenda", "Job"]

PLAN, STEP = "plan", "step"
"""Jobs of every piece: to find its parts, and a run, which has all of them."""
PLAN_COST, STEP_COST = 1.5, 0.3  # [s]


class Job(NamedTuple):
    """Something to do for a piece of `pieces.PIECES`: PLAN, STEP, or to compile a part by its name."""

    piece: str
    name: str
    cost: float
    """[s], on some machine."""

    @property
    def key(self) -> str:
        """Parts are the same in all pieces that have them."""
        return f"{self.name} {self.piece}" if self.name in (PLAN, STEP) else self.name


class Agenda:
    """Jobs of processes that compile some pieces."""

    def __init__(self, pieces: Sequence[str]):
        self._pieces = list(pieces)
        self._jobs = {job.key: job for job in (Job(piece, PLAN, PLAN_COST) for piece in pieces)}
        self._needs: dict[str, frozenset[str]] = dict.fromkeys(self._jobs, frozenset())
        self._tails = dict.fromkeys(self._jobs, float("inf"))
        self._waiting = list(self._jobs)
        self._done: set[str] = set()

    @property
    def planned(self) -> bool:
        """Whether all that is to be done is known."""
        return all(Job(piece, PLAN, 0.0).key in self._done for piece in self._pieces)

    def first(self, i: int) -> Job:
        """What the i-th process begins with: it must know the parts of a piece before it can compile one."""
        job = Job(self._pieces[i % len(self._pieces)], PLAN, PLAN_COST)
        if job.key in self._waiting:
            self._waiting.remove(job.key)
        return job

    def next(self) -> Job | None:
        """A job that can be begun; None while all that is left waits for others."""
        for key in self._waiting:
            if self._needs[key] <= self._done:
                self._waiting.remove(key)
                return self._jobs[key]
        return None

    def finish(self, job: Job) -> None:
        """It has been done."""
        self._done.add(job.key)

    def plan(self, piece: str, parts: Iterable[tuple[str, float, Sequence[str]]]) -> None:
        """The parts of a piece are known: name, cost [s] and names of those that each calls, which come before it."""
        if Job(piece, STEP, 0.0).key in self._jobs:
            return
        mine = []
        for name, cost, calls in parts:
            mine.append(name)
            if name not in self._jobs:
                self._add(Job(piece, name, cost), calls)
        self._add(Job(piece, STEP, STEP_COST), mine)
        after: dict[str, float] = {}
        for key in reversed(self._jobs):  # callers come after what they call
            self._tails[key] = self._jobs[key].cost + after.get(key, 0.0)
            for need in self._needs[key]:
                after[need] = max(after.get(need, 0.0), self._tails[key])
        plans = {Job(name, PLAN, 0.0).key for name in self._pieces}
        self._waiting.sort(key=lambda key: (key not in plans, -self._tails[key]))

    def _add(self, job: Job, needs: Collection[str]) -> None:
        self._jobs[job.key], self._needs[job.key] = job, frozenset(needs)
        self._waiting.append(job.key)

    def left(self, busy: Sequence[tuple[Job, float]], workers: int, pace: float) -> float:
        """Time until all is done, jobs being handed out as they will be [s].

        busy: what is under way, and for how long [s]; pace: time per cost.
        """
        if not self.planned:
            return float("inf")
        ends = [(max(pace * job.cost - spent, 0.05 * pace * job.cost), job.key) for job, spent in busy]
        heapq.heapify(ends)
        done, waiting, now = set(self._done), list(self._waiting), 0.0
        while ends or waiting:
            for key in list(waiting):
                if len(ends) >= workers:
                    break
                if self._needs[key] <= done:
                    waiting.remove(key)
                    heapq.heappush(ends, (now + pace * self._jobs[key].cost, key))
            if not ends:
                break
            now, key = heapq.heappop(ends)
            done.add(key)
        return now
