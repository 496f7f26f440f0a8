"""A picture of what the component-based method does: the car's height, its drift, and cost over size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..model.rotation import Array
from ..results.plot import STYLES, new_figure, write_figure

_OURS, _OTHER = (colour for colour, _ in STYLES[:2])
_FLOOR = 1e-17  # for logarithms of what is exactly zero


def plot(
    path: Path, t: Array, z: Array, t_ref: Array, z_ref: Array, gap: Array, figures: dict[str, Any]
) -> None:
    """Height beside the reference, their difference and the drift; times of a step over the number of bodies."""
    chart = new_figure(10.0, 6.4)
    halves: Any = chart.subfigures(1, 2)
    left, right = halves
    over_time = left.subplots(3, 1, sharex=True, height_ratios=(1.5, 1.0, 1.0))
    _height(over_time[0], t, z, t_ref, z_ref)
    stride = (len(t) - 1) // (len(t_ref) - 1)
    _logarithmic(over_time[1], t_ref, np.abs(z[::stride] - z_ref), figures["z_error_m"])
    over_time[1].set_ylabel("difference [m]")
    _logarithmic(over_time[2], t, gap, figures["drift_m"])
    over_time[2].set_ylabel("largest gap [m]")
    over_time[2].set_xlabel("time [s]")
    left.align_ylabels(over_time)
    _growth(right.subplots(1, 1), figures)
    for axes in (*over_time, *right.axes):
        axes.grid(True, color="0.88", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    write_figure(chart, path)


def _height(axes: Any, t: Array, z: Array, t_ref: Array, z_ref: Array) -> None:
    axes.plot(t, 1e3 * z, color=_OURS, linewidth=1.4, label="components, steps of 1 ms")
    axes.plot(
        t_ref[::20], 1e3 * z_ref[::20], "o", color=_OTHER, markersize=3.5, fillstyle="none", label="reference"
    )
    axes.set_ylabel("height of chassis [mm]")
    axes.margins(x=0.0)
    axes.legend(frameon=False, loc="upper right")


def _logarithmic(axes: Any, t: Array, size: Array, largest: float) -> None:
    axes.semilogy(t, np.maximum(size, _FLOOR), color=_OURS, linewidth=0.8)
    axes.text(0.99, 0.97, f"at most {largest:.1e} m", transform=axes.transAxes, ha="right", va="top")
    axes.set_ylim(top=50.0 * max(float(size.max()), _FLOOR))
    axes.margins(x=0.0)


def _growth(axes: Any, figures: dict[str, Any]) -> None:
    whole: list[tuple[int, float]] = []
    for name, (colour, _), label in zip(
        ("trains", "chains"), STYLES, ("trains of cars", "chains of four-bars"), strict=False
    ):
        lines = figures[name]
        own = [(line["bodies"], line["us_per_step"]) for line in lines]
        power = figures["exponents"][name]
        axes.loglog(
            *zip(*own, strict=True), "o-", color=colour, markersize=4, label=f"{label}, N^{power:.2f}"
        )
        dense = [(bodies, line["monolithic_us"]) for (bodies, _), line in zip(own, lines, strict=True)]
        dense = [point for point in dense if point[1] is not None]
        axes.loglog(
            *zip(*dense, strict=True),
            "s--",
            color=colour,
            markersize=4,
            fillstyle="none",
            label=f"{label}, monolithic",
        )
        whole += dense
    limits = axes.get_xlim(), axes.get_ylim()
    ends = np.array(limits[0])
    bodies, us = max((line["bodies"], line["us_per_step"]) for line in figures["trains"])
    axes.loglog(ends, 0.5 * us * ends / bodies, ":", color="0.5", label="slope 1")
    bodies, us = max(whole)
    axes.loglog(ends, 0.5 * us * (ends / bodies) ** 3, "-.", color="0.5", label="slope 3")
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.set_xlabel("bodies N")
    axes.set_ylabel("time of a step [µs]")
    axes.legend(frameon=False, loc="lower right", fontsize=9)
