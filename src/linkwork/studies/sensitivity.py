"""Sensitivity: how much what a run comes down to hangs on each parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.errors import LinkworkError
from ..results.files import need
from .batches import batches, values_of
from .evaluate import Where
from .subject import Buildable
from .trial import prepare

if TYPE_CHECKING:
    import xarray as xr


def sensitivity(
    what: Buildable,
    at: Mapping[str, float],
    *,
    measure: Sequence[str] = (),
    stride: float = 1e-3,
    duration: float | None = None,
    every: float | None = None,
    settings: Mapping[str, Any] | None = None,
    on: Where = None,
    **options: Any,
) -> xr.Dataset:
    """Derivatives of measures by parameters about a point, by central differences of fourth order.

    `at` gives each parameter (named as for `sweep`) its value; `stride` is a share of it, or of 1 if it is zero.

    For each measure (see `sweep`) the data set has its value at the point, `<measure>:slope` over the dimension
    `parameter`, and `<measure>:share`: by what share it changes over that of the parameter, slope × parameter ÷ value.
    """
    xarray = need("xarray", "data", "a study")
    if not at:
        raise LinkworkError("nothing varies: give at least one parameter and its value")
    names, point = list(at), np.array(list(at.values()), float)
    trial, _ = prepare(what, at, measure, duration, every, settings or {}, options)
    h = stride * np.where(point != 0.0, np.abs(point), 1.0)
    offsets = (-2.0, -1.0, 1.0, 2.0)
    points = [point, *(point + o * step for step in np.diag(h) for o in offsets)]
    with batches(trial, names, on) as run:
        found = [
            values_of(outcome, names, x) for outcome, x in zip(run(np.array(points)), points, strict=True)
        ]
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / 12.0
    variables: dict[str, Any] = {}
    for one in trial.measures:
        along = ["time"] if one.over_time else []
        table = np.array([values[one.name] for values in found])
        slope = np.stack(
            [np.tensordot(weights, table[1 + 4 * k : 5 + 4 * k], 1) / h[k] for k in range(len(names))]
        )
        shaped = point.reshape(-1, *[1] * len(along))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = slope * shaped / table[0]
        variables[one.name] = (along, table[0], {"units": one.unit})
        variables[f"{one.name}:slope"] = (["parameter", *along], slope)
        variables[f"{one.name}:share"] = (["parameter", *along], share)
    coords: dict[str, Any] = {"parameter": names, "at": ("parameter", point)}
    if any(one.over_time for one in trial.measures):
        coords["time"] = ("time", trial.times, {"units": "s"})
    return xarray.Dataset(variables, coords)  # type: ignore[no-any-return]
