"""Simulate a model for many values of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import LinkworkError
from .design import Design, design_of
from .evaluate import Progress, Where, described, evaluate
from .subject import Buildable
from .trial import Trial, prepare

if TYPE_CHECKING:
    import xarray as xr


def sweep(
    what: Buildable,
    vary: Mapping[str, Any] | Design,
    *,
    measure: Sequence[str] = (),
    count: int | None = None,
    seed: int = 0,
    duration: float | None = None,
    every: float | None = None,
    settings: Mapping[str, Any] | None = None,
    on: Where = None,
    save: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> xr.Dataset:
    """Simulate a scene, model file, model or function that builds one, for all values of some parameters.

    `vary` gives parameters by name values, all of whose combinations are run, as lists or texts: "0.2:0.4:21", "1,2,5".
    Texts may be distributions, "normal(1, 0.1)", of which `count` cases are drawn (Monte Carlo), the same for the same
    `seed`. Or it is a design: `samples`, a `listed` table. Names without dots are parameters of the scene,
    file or function; with dots fields of items (`spring.stiffness`, `arm.com.x`, `gravity.z`) or parameters of
    instances (`left.length`). `settings` are parameters that stay the same.

    `measure` lists what is kept of each run: numbers such as "max(arm.angle)" (initial, final, max, min, peak, range,
    mean, rms), or signals over time; patterns with * may be used. `duration` [s] and `options` are those of a
    `Simulation`, `every` the time between samples [s], of which numbers are made too.

    `on` says where cases run: "processes" (the default, one for each core), "processes:4", "here", "dask", "ray",
    "dask://host:port", "ray://host:port", "mpi", or any executor of `concurrent.futures`. With `save`, outcomes are
    kept in `<save>.part` as they come; the same call goes on from there after a kill, and makes the NetCDF file in
    the end.

    Returns a data set over the parameters, or over cases if they form no grid. A case that fails is NaN in it, and
    `failure` says why.
    """
    design = design_of(vary, count, seed)
    trial, model = _prepared(what, design, measure, duration, every, settings or {}, options)
    about = {**trial.identity, "model": model, **described(design)}
    times = trial.times if any(m.over_time for m in trial.measures) else None
    units = {m.name: m.unit for m in trial.measures}
    return evaluate(trial, design, about=about, times=times, units=units, on=on, save=save, progress=progress)


def _prepared(what: Buildable, design: Design, *given: Any) -> tuple[Trial, str]:
    """A trial that fits the first case, or if that cannot begin, the middle or last one."""
    first: LinkworkError | None = None
    for k in dict.fromkeys((0, len(design) // 2, len(design) - 1)):
        try:
            return prepare(what, design.case(k), *given)
        except LinkworkError as error:
            first = first or error
    assert first is not None
    raise first
