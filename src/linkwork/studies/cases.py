"""Cases through a pool: a few more under way than it has workers, each result kept as it comes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any

from ..model.errors import LinkworkError
from .design import Design
from .outcome import Outcome, Task, attempt
from .pools import Pool

_DIED = "the process that ran it died"


def run_cases(
    task: Task,
    design: Design,
    todo: Iterable[int],
    get: Callable[[], Pool],
    keep: Callable[[int, Outcome], None],
) -> None:
    """Run these cases of a design and hand each outcome to `keep` as it comes.

    If a process of the pool dies, what was under way is tried again one by one in a process of its own; a case that
    kills that one too has failed.
    """
    waiting = deque(todo)
    pool = get()
    suspects: deque[int] = deque()
    under: dict[Future[Any], int] = {}
    proven = False
    try:
        while waiting or under:
            while waiting and len(under) < pool.under_way:
                k = waiting.popleft()
                try:
                    under[pool.executor.submit(attempt, task, design.case(k))] = k
                except BrokenExecutor:
                    waiting.appendleft(k)
                    break
            done, _ = wait(under, return_when=FIRST_COMPLETED)
            broken = False
            for future in sorted(done, key=under.__getitem__):
                k = under.pop(future)
                try:
                    outcome = future.result()
                    proven = True
                except BrokenExecutor:
                    broken = True
                    suspects.append(k)
                    continue
                except Exception as error:  # of the executor: a lost worker, a task that cannot be sent
                    outcome = Outcome({}, f"{type(error).__name__}: {error}")
                keep(k, outcome)
            if broken or (not under and waiting and not done):
                suspects.extend(under.values())
                under.clear()
                if not proven and pool.renew is not None:
                    _refuse_unguarded(task, design, suspects, pool)
                proven = True
                _alone(task, design, suspects, pool, keep)
                pool = get()
    except BaseException:
        pool.abandon()
        for future in under:
            future.cancel()
        raise


def _alone(
    task: Task, design: Design, suspects: deque[int], pool: Pool, keep: Callable[[int, Outcome], None]
) -> None:
    """Try cases one by one, each in a process that nobody else needs once one has died."""
    if pool.renew is None:
        while suspects:
            keep(suspects.popleft(), Outcome({}, _DIED))
        return
    single = pool.renew()
    while suspects:
        k = suspects.popleft()
        try:
            keep(k, single.executor.submit(attempt, task, design.case(k)).result())
        except BrokenExecutor:
            keep(k, Outcome({}, _DIED))
            single = pool.renew()


def _refuse_unguarded(task: Task, design: Design, suspects: deque[int], pool: Pool) -> None:
    """Raise if no process can even begin: a script that starts processes must be safe to be read again by them."""
    assert pool.renew is not None
    single = pool.renew()
    try:
        single.executor.submit(math.sqrt, 1.0).result()
    except BrokenExecutor:
        raise LinkworkError(
            "no process can begin: each reads the script that started it, so let what is at its top level stand under "
            "`if __name__ == '__main__':`, or run cases with on='here'"
        ) from None
