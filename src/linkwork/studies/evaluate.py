"""Run all cases of a study: anywhere, once each, and never again after a kill."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import LinkworkError
from ..model.rotation import Array
from . import dataset
from .cases import run_cases
from .design import Design
from .journal import StudyJournal
from .outcome import Outcome, Task
from .pools import pool_of

if TYPE_CHECKING:
    import xarray as xr

_log = logging.getLogger("linkwork")
Progress = Callable[[float], object]
Where = str | Executor | None


def evaluate(
    task: Task,
    design: Design,
    *,
    about: Mapping[str, Any] | None = None,
    times: Array | None = None,
    units: Mapping[str, str] | None = None,
    on: Where = None,
    save: str | Path | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Call a function with each case of a design, {parameter: value}, and gather what it gives, {name: number or list}.

    `about` tells this study from others when it is resumed, by default the function's name and the cases. `times` [s]
    are those of results that have as many values. The rest is as for `sweep.sweep`.
    """
    told = dict(about or {"task": getattr(task, "__qualname__", repr(task)), **described(design)})
    if save is not None and dataset.study_of(save) == told:
        return dataset.load(save)  # it is finished
    outcomes: dict[int, Outcome] = {}
    journal = None if save is None else StudyJournal(save, told)
    finished = False
    try:
        if journal is not None:
            outcomes |= journal.known
            _tell(journal, len(design))

        def keep(k: int, outcome: Outcome) -> None:
            outcomes[k] = outcome
            if journal is not None:
                journal.append(k, outcome)
            if progress is not None:
                progress(len(outcomes) / len(design))

        todo = [k for k in range(len(design)) if k not in outcomes]
        if todo:
            with pool_of(on) as get:
                run_cases(task, design, todo, get, keep)
        made = dataset.dataset_of(design, outcomes, told, times, units or {})
        if journal is not None:
            dataset.save(made, journal.path)
            finished = True
        return made
    finally:
        if journal is not None:
            journal.close(remove=finished)


def described(design: Design) -> dict[str, Any]:
    """What tells a design from others."""
    digest = hashlib.sha256(design.values.astype("<f8").tobytes()).hexdigest()
    grid = None if design.grid is None else list(design.grid)
    return {"parameters": list(design.names), "grid": grid, "cases": len(design), "values": digest}


def _tell(journal: StudyJournal, total: int) -> None:
    if journal.known:
        _log.info("%s: %d of %d cases are done already", journal.part, len(journal.known), total)
    if journal.damaged:
        _log.warning(
            "%s was damaged: what follows case %d in it is done again", journal.part, len(journal.known)
        )
    if journal.kept is not None:
        _log.warning("the part file of another study is kept as %s", journal.kept)


def failures(found: xr.Dataset) -> list[tuple[dict[str, float], str]]:
    """Cases of a study that failed: their parameters, and why."""
    told = (
        found[dataset.FAILURE].stack(_case=found[dataset.FAILURE].dims)
        if found[dataset.FAILURE].ndim
        else None
    )
    if told is None:
        raise LinkworkError("this data set has no cases")
    result = []
    for k in range(told.sizes["_case"]):
        one = told.isel(_case=k)
        if str(one.values):
            names = [n for n in found.coords if n not in (dataset.TIME, "_case")]
            result.append(({str(n): float(one.coords[n]) for n in names}, str(one.values)))
    return result
