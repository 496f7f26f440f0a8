"""Records for other tools: CSV, pandas, xarray. Imports them on use."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..model.rotation import Array
from .files import atomic, need
from .schema import TIME, TIME_UNIT

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from .record import Record


def to_csv(record: Record, path: Path | str) -> None:
    """One row per time, headed by `name [unit]`; numbers are written so that they read back exactly."""
    header = [f"{name} [{record.unit(name)}]" for name in (TIME, *record.names)]
    table = np.column_stack([record.time, _table(record)])
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        # In pieces, since Python's floats take several times the memory of the array.
        for start in range(0, len(table), 1024):
            writer.writerows(table[start : start + 1024].tolist())


def to_pandas(record: Record) -> pd.DataFrame:
    """A column per signal, indexed by time; `attrs["units"]` has the units by name."""
    pandas = need("pandas", "data", "Record.to_pandas")
    index = pandas.Index(record.time, name=TIME, copy=True)
    frame: pd.DataFrame = pandas.DataFrame(_table(record), index=index, columns=list(record.names))
    frame.attrs["units"] = {name: record.unit(name) for name in (TIME, *record.names)}
    return frame


def to_xarray(record: Record) -> xr.Dataset:
    """A variable per signal over the dimension `time`, each with its `units` and `group`."""
    xarray = need("xarray", "data", "Record.to_xarray")
    variables = {
        name: (TIME, record[name].copy(), {"units": record.unit(name), "group": group.name})
        for group in record.groups.values()
        for name in group.columns
    }
    time = (TIME, record.time.copy(), {"units": TIME_UNIT})
    # Text, since a NetCDF attribute cannot hold a dictionary.
    attributes = {"info": json.dumps(record.info)}
    dataset: xr.Dataset = xarray.Dataset(variables, coords={TIME: time}, attrs=attributes)
    return dataset


def _table(record: Record) -> Array:
    """All signals side by side, a copy."""
    blocks = [record.array(group) for group in record.groups]
    return np.concatenate([np.empty((len(record), 0)), *blocks], axis=1)
