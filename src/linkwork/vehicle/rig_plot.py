"""Plots of rigs as vehicle engineers draw them: a suspension over its travel, upwards; a tyre over slip."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..model.rotation import Array
from ..results.plot import STYLES, new_figure, write_figure
from .rig import Curves
from .tyre_rig import Curves as TyreCurves


def plot_curves(found: Curves, path: Path) -> None:
    """Camber, toe, track and wheel rate; of a wheel that can be steered caster, scrub radius and roll centre, too."""
    columns = [
        ("camber [°]", np.degrees(found.camber)),
        ("toe [°]", np.degrees(found.toe)),
        ("track, one side [mm]", 1e3 * found.track),
        ("wheel rate [N/mm]", 1e-3 * found.wheel_rate),
    ]
    if np.isfinite(found.caster).all():
        columns += [
            ("caster [°]", np.degrees(found.caster)),
            ("kingpin inclination [°]", np.degrees(found.kingpin)),
            ("scrub radius [mm]", 1e3 * found.scrub),
            ("roll centre [mm]", 1e3 * found.roll_centre),
        ]
    chart = new_figure(10.0, 4.0 * (len(columns) // 4))
    axes: Any = chart.subplots(len(columns) // 4, 4, sharey=True, squeeze=False)
    for axis, (label, values) in zip(axes.flat, columns, strict=True):
        axis.plot(values, 1e3 * found.travel, color=STYLES[0][0], linewidth=1.6)
        _dress(axis, label)
        middle, half = 0.5 * (values.max() + values.min()), 0.5 * np.ptp(values)
        if half < 1e-6 * max(1.0, abs(middle)):  # rounding is no curve
            axis.set_xlim(middle - 1.0, middle + 1.0)
    for axis in axes[:, 0]:
        axis.set_ylabel("travel [mm]")
    write_figure(chart, path)


def plot_angles(label: str, turned: Array, parts: Mapping[str, Mapping[str, Array]], path: Path) -> None:
    """Angles [rad] over an angle [rad], some in each of a row of charts, in degrees."""
    chart = new_figure(5.0 * len(parts), 4.0)
    axes: Any = chart.subplots(1, len(parts), squeeze=False)
    for axis, (name, lines) in zip(axes.flat, parts.items(), strict=True):
        for i, (line, values) in enumerate(lines.items()):
            colour, dashes = STYLES[i % len(STYLES)]
            axis.plot(
                np.degrees(turned),
                np.degrees(values),
                color=colour,
                linestyle=dashes,
                linewidth=1.6,
                label=line,
            )
        _dress(axis, label)
        axis.set_ylabel(name)
        if len(lines) > 1:
            axis.legend(frameon=False, fontsize=8)
    write_figure(chart, path)


def _dress(axis: Any, label: str) -> None:
    axis.set_xlabel(label)
    axis.grid(True, color="0.9", linewidth=0.8)
    axis.spines[["top", "right"]].set_visible(False)


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
