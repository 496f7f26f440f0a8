"""A picture of a comparison: how far methods are from the reference over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..results.plot import STYLES, new_figure, plain, write_figure
from .comparison import Comparison


def plot_comparison(comparison: Comparison, path: Path | str) -> None:
    """Distances over time on a logarithmic axis, written to a file (PNG, PDF, SVG ... by its ending)."""
    figure = new_figure(9.0, 4.5)
    axes = figure.subplots()
    shown = [entry for entry in comparison.entries if len(entry.distances)]
    for entry, (colour, dash) in zip(shown, STYLES, strict=False):
        distances = np.where(entry.distances > 0.0, entry.distances, np.nan)  # a logarithm has no zero
        axes.plot(comparison.times, distances, dash, color=colour, linewidth=1.4, label=entry.name)
    if comparison.uncertainty > 0.0:
        axes.axhline(
            comparison.uncertainty,
            color="0.5",
            linewidth=1.0,
            linestyle=":",
            label="the reference's own error",
        )
    axes.set_yscale("log")
    plain(axes)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("distance from the reference [m]")
    axes.set_title(f"reference: {comparison.reference}", fontsize="small", color="0.35", parse_math=False)
    figure.suptitle(f"{comparison.model}: methods compared, steps of {comparison.dt:g} s", parse_math=False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)
    write_figure(figure, path)
