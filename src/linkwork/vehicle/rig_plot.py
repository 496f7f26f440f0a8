"""Plots of what a suspension does over its travel, which points upwards as vehicle engineers draw it, and a tyre over
slip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..results.plot import STYLES, new_figure, write_figure
from .rig import Curves
from .tyre_rig import Curves as TyreCurves


def plot_curves(found: Curves, path: Path) -> None:
    """Camber, toe, track and wheel rate."""
    chart = new_figure(10.0, 4.0)
    axes: Any = chart.subplots(1, 4, sharey=True)
    for axis, values, label in zip(
        axes,
        (np.degrees(found.camber), np.degrees(found.toe), 1e3 * found.track, 1e-3 * found.wheel_rate),
        ("camber [°]", "toe [°]", "track, one side [mm]", "wheel rate [N/mm]"),
        strict=True,
    ):
        axis.plot(values, 1e3 * found.travel, color=STYLES[0][0], linewidth=1.6)
        axis.set_xlabel(label)
        axis.grid(True, color="0.9", linewidth=0.8)
        axis.spines[["top", "right"]].set_visible(False)
        middle, half = 0.5 * (values.max() + values.min()), 0.5 * np.ptp(values)
        if half < 1e-6 * max(1.0, abs(middle)):  # rounding is no curve
            axis.set_xlim(middle - 1.0, middle + 1.0)
    axes[0].set_ylabel("travel [mm]")
    write_figure(chart, path)


def plot_tyre(found: TyreCurves, path: Path) -> None:
    """Forward force over slip, lateral force and aligning moment over the slip angle."""
    chart = new_figure(11.0, 4.0)
    axes: Any = chart.subplots(1, 3)
    alpha = np.degrees(found.alpha)
    panels = (
        (found.kappa, 1e-3 * found.braking, "slip [1]", "longitudinal force [kN]"),
        (alpha, 1e-3 * found.cornering, "slip angle [°]", "lateral force [kN]"),
        (alpha, found.aligning, "slip angle [°]", "aligning moment [N m]"),
    )
    for axis, (slip, lines, across, up) in zip(axes, panels, strict=True):
        for k, (load, values) in enumerate(zip(found.loads, lines, strict=True)):
            axis.plot(slip, values, color=STYLES[k % len(STYLES)][0], linewidth=1.6, label=f"{load:.0f} N")
        axis.set_xlabel(across)
        axis.set_ylabel(up)
        axis.grid(True, color="0.9", linewidth=0.8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    write_figure(chart, path)
