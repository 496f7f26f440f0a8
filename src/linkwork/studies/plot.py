"""Pictures of studies: lines over one parameter, maps over two, histograms of random cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.errors import LinkworkError
from ..results.files import atomic, need
from .dataset import FAILURE, TIME
from .design import CASE

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_MOST = 12  # results in one picture


def plot_study(found: xr.Dataset, path: Path | str | None = None) -> Figure:
    """One plot for each result: of a grid over one parameter a line, over two a map, over more lines along the last;
    of random cases how results are spread; of signals over time all their curves. Needs the extra `plot`."""
    need("matplotlib", "plot", "a plot")
    from matplotlib.figure import Figure

    names = [str(n) for n in found.data_vars if n != FAILURE]
    if not names:
        raise LinkworkError("there is nothing to plot: all cases failed")
    if len(names) > _MOST:
        raise LinkworkError(f"{len(names)} results do not fit in a picture: measure up to {_MOST}")
    across = min(len(names), 3)
    down = -(-len(names) // across)
    figure = Figure(figsize=(4.5 * across, 3.4 * down), layout="constrained")
    for i, name in enumerate(names):
        _draw(figure, figure.add_subplot(down, across, i + 1), found, name)
    if path is not None:
        with atomic(path) as temporary:
            figure.savefig(temporary, dpi=150)
    return figure


def _draw(figure: Any, axes: Any, found: xr.Dataset, name: str) -> None:
    data = found[name]
    axes.set_title(_label(found, name), fontsize="medium")
    dims = [str(d) for d in data.dims]
    if TIME in dims:
        axes.plot(found[TIME], data.stack(_case=[d for d in dims if d != TIME]).values, lw=0.8)
        axes.set_xlabel("time [s]")
    elif dims == [CASE]:
        axes.hist(data.values[np.isfinite(data.values)], bins="auto")
        axes.set_xlabel(_label(found, name))
        axes.set_ylabel("cases")
    elif len(dims) == 2:
        mesh = axes.pcolormesh(
            found[dims[1]].values, found[dims[0]].values, data.values, shading="nearest", rasterized=True
        )
        figure.colorbar(mesh, ax=axes)
        axes.set_xlabel(_label(found, dims[1]))
        axes.set_ylabel(_label(found, dims[0]))
    else:
        table = data.values.reshape(-1, data.sizes[dims[-1]])
        axes.plot(found[dims[-1]].values, table.T, marker=".", lw=1.0)
        axes.set_xlabel(_label(found, dims[-1]))


def _label(found: xr.Dataset, name: str) -> str:
    unit = found[name].attrs.get("units")
    return f"{name} [{unit}]" if unit else name
