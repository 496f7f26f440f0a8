"""Outcomes of a study as one xarray data set, in memory and on disk (NetCDF)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.errors import LinkworkError, StorageError
from ..model.rotation import Array
from ..results.files import atomic, need, said
from ..version import __version__
from .design import CASE, Design
from .outcome import Outcome

if TYPE_CHECKING:
    import xarray as xr

TIME, FAILURE, STUDY = "time", "failure", "study"


def dataset_of(
    design: Design,
    outcomes: Mapping[int, Outcome],
    about: Mapping[str, Any],
    times: Array | None,
    units: Mapping[str, str],
) -> xr.Dataset:
    """Every result over the parameters of the study (or over cases), signals over time too; NaN where a case failed.

    `failure` is why, and empty where none did. `about` tells what the study was.
    """
    xarray = need("xarray", "data", "a study")
    dims, shape = tuple(design.dims), tuple(design.dims.values())
    names: dict[str, int] = {}
    for k in sorted(outcomes):
        for name, value in outcomes[k].values.items():
            names.setdefault(name, np.ndim(value) and len(np.atleast_1d(value)))
    variables: dict[str, Any] = {}
    for name, length in names.items():
        table = np.full((len(design), length) if length else len(design), np.nan)
        for k, outcome in outcomes.items():
            if name in outcome.values:
                value = outcome.values[name]
                if np.shape(value) != ((length,) if length else ()):
                    raise LinkworkError(
                        f"'{name}' has {np.size(value)} values in case {k} and others elsewhere: give all cases as many"
                    )
                table[k] = value
        along = dims
        if length:
            along = (*dims, TIME if times is not None and length == len(times) else f"{name} index")
        unit = {"units": units[name]} if name in units else {}
        variables[name] = (along, table.reshape((*shape, length) if length else shape), unit)
    reasons = [outcomes[k].failure if k in outcomes else "not done" for k in range(len(design))]
    variables[FAILURE] = (dims, np.array(reasons, object).reshape(shape))
    coords: dict[str, Any] = {}
    for name in design.names:
        unit = {"units": units[name]} if name in units else {}
        coords[name] = (name if design.grid is not None else CASE, design.axis(name), unit)
    if times is not None and any(TIME in along for along, *_ in variables.values()):
        coords[TIME] = (TIME, times, {"units": "s"})
    told = {"linkwork": __version__, STUDY: json.dumps(about, sort_keys=True)}
    return xarray.Dataset(variables, coords, told)  # type: ignore[no-any-return]


def save(dataset: xr.Dataset, path: Path | str) -> None:
    """Write a NetCDF file; an old one is replaced in the end."""
    need("h5netcdf", "data", "saving a study")
    with atomic(path) as temporary:
        dataset.to_netcdf(temporary, engine="h5netcdf")


def load(path: Path | str) -> xr.Dataset:
    """Read what `save` wrote."""
    xarray = need("xarray", "data", "reading a study")
    need("h5netcdf", "data", "reading a study")
    try:
        return xarray.load_dataset(path, engine="h5netcdf")  # type: ignore[no-any-return]
    except OSError as error:
        raise StorageError(path, f"cannot be read as a study: {said(error)}") from error


def study_of(path: Path | str) -> Mapping[str, Any] | None:
    """What the study in a file was; None if there is no such file, or it holds something else."""
    try:
        found: Mapping[str, Any] = json.loads(load(path).attrs[STUDY])
    except (StorageError, KeyError, ValueError):
        return None
    return found
