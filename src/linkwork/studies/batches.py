"""Batches of cases through one pool, one batch after the other: what searches need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from ..model.errors import LinkworkError
from ..model.rotation import Array
from .cases import run_cases
from .design import Design
from .evaluate import Where
from .outcome import Outcome, Task
from .pools import Pool, pool_of

Batches = Callable[[Array], list[Outcome]]
"""Points, a row of parameters each => what came of them, in order."""


@contextmanager
def batches(task: Task, names: Sequence[str], on: Where) -> Iterator[Batches]:
    """Something that runs a task at points; its pool ends with the context."""
    with pool_of(on) as get:
        pools = [get()]

        def last() -> Pool:
            """The pool, or once its processes have died another one."""
            return pools.pop() if pools else get()

        def run(points: Array) -> list[Outcome]:
            design = Design(tuple(names), np.atleast_2d(points))
            found: dict[int, Outcome] = {}
            used: list[Pool] = []

            def pool() -> Pool:
                used.append(last())
                return used[-1]

            run_cases(task, design, range(len(design)), pool, found.__setitem__)
            pools.append(used[-1])
            return [found[k] for k in range(len(design))]

        yield run


def values_of(outcome: Outcome, names: Sequence[str], point: Array) -> Mapping[str, float | Array]:
    """What came of a point, or an error that tells why nothing did."""
    if outcome.failure:
        where = ", ".join(f"{name} = {x:.6g}" for name, x in zip(names, point, strict=True))
        raise LinkworkError(f"at {where}: {outcome.failure}")
    return outcome.values
