"""Plots of manoeuvres as vehicle engineers draw them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...results.plot import STYLES, new_figure, write_figure
from .base import KMH, Motion, Outcome

_BLUE, _RED, _GREEN = (STYLES[k][0] for k in range(3))
_PLAIN = {
    "speed [km/h]": lambda m: m.speed / KMH,
    "longitudinal acceleration [m/s²]": lambda m: m.forward,
    "lateral acceleration [m/s²]": lambda m: m.lateral,
    "vertical acceleration [m/s²]": lambda m: m.upward,
    "yaw rate [°/s]": lambda m: np.degrees(m.yaw_rate),
    "steering wheel [°]": lambda m: np.degrees(m.wheel),
    "sideslip [°]": lambda m: np.degrees(m.slip),
    "roll [°]": lambda m: np.degrees(m.roll),
    "pitch [°]": lambda m: np.degrees(m.pitch),
    "way [m]": lambda m: m.x - m.x[0],
    "y [m]": lambda m: m.y,
}
_STEERED = (
    "steering wheel [°]",
    "yaw rate [°/s]",
    "lateral acceleration [m/s²]",
    "sideslip [°]",
    "roll [°]",
    "speed [km/h]",
)
_STRAIGHT = ("speed [km/h]", "longitudinal acceleration [m/s²]", "pitch [°]", "way [m]")
_ROUGH = ("vertical acceleration [m/s²]", "pitch [°]", "roll [°]", "speed [km/h]")
_SHOWN: dict[str, tuple[str, ...]] = {
    "acceleration": _STRAIGHT,
    "braking": _STRAIGHT,
    "pull-away": _STRAIGHT,
    "bump": _ROUGH,
    "ramp": _ROUGH,
    "side slope": ("steering wheel [°]", "roll [°]", "sideslip [°]", "y [m]"),
}


def plot_outcome(outcome: Outcome, path: Path) -> None:
    """Write the plot of a manoeuvre to a file."""
    special = {
        "constant radius": _constant_radius,
        "frequency response": _frequency_response,
        "double lane change": _lane_change,
    }.get(outcome.name)
    if special is None:
        _over_time(outcome, path)
    else:
        special(outcome, path)


def _dress(axis: Any, across: str, up: str) -> None:
    axis.set_xlabel(across)
    axis.set_ylabel(up)
    axis.grid(True, color="0.9", linewidth=0.8)
    axis.spines[["top", "right"]].set_visible(False)


def _over_time(outcome: Outcome, path: Path) -> None:
    names = _SHOWN.get(outcome.name, _STEERED)
    rows = (len(names) + 1) // 2
    chart = new_figure(10.0, 0.6 + 2.2 * rows)
    axes: Any = chart.subplots(rows, 2, sharex=True, squeeze=False)
    m: Motion = outcome.motion
    for axis, name in zip(axes.flat, names, strict=False):
        axis.plot(m.time, _PLAIN[name](m), color=_BLUE, linewidth=1.5)
        _dress(axis, "", name)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    chart.suptitle(outcome.name)
    write_figure(chart, path)


def _constant_radius(outcome: Outcome, path: Path) -> None:
    """Steer angle, sideslip and roll over lateral acceleration, as ISO 4138 shows them."""
    m, lateral = outcome.motion, outcome.marks["lateral"]
    shown = (lateral > 1.0) & (m.time < m.time[-1] - 0.5)
    chart = new_figure(11.0, 4.0)
    axes: Any = chart.subplots(1, 3)
    for axis, name, values in (
        (axes[0], "steer angle [°]", np.degrees(outcome.marks["angle"])),
        (axes[1], "sideslip [°]", np.degrees(m.slip)),
        (axes[2], "roll [°]", np.degrees(m.roll)),
    ):
        axis.plot(lateral[shown], values[shown], color=_BLUE, linewidth=1.5)
        _dress(axis, "lateral acceleration [m/s²]", name)
    ackermann = outcome["wheelbase over radius"]
    axes[0].axhline(ackermann, color="0.5", linestyle=":", linewidth=1.2, label="wheelbase over radius")
    for theory, colour, dash in (("linear theory", _RED, "--"), ("linear theory with roll", _GREEN, ":")):
        slope = outcome[f"understeer gradient of {theory}"] / 9.81
        axes[0].plot(
            lateral[shown], ackermann + slope * lateral[shown], color=colour, linestyle=dash, label=theory
        )
    axes[0].legend(frameon=False, fontsize=8)
    write_figure(chart, path)


def _frequency_response(outcome: Outcome, path: Path) -> None:
    """Gains and phases over frequency, as ISO 7401 shows them, beside linear theory."""
    marks = outcome.marks
    f = marks["frequency"]
    chart = new_figure(10.0, 6.0)
    axes: Any = chart.subplots(2, 2, sharex=True)
    for column, (name, unit) in enumerate(
        (("yaw", "yaw rate gain [1/s]"), ("lateral", "lateral acceleration gain [m/s²/rad]"))
    ):
        for k, (values, label) in enumerate(
            (
                (marks[name], "the car"),
                (marks["theory"][column], "linear theory"),
                (marks["theory with roll"][column], "linear theory with roll"),
            )
        ):
            colour, dash = ((_BLUE, "-"), (_RED, "--"), (_GREEN, ":"))[k]
            axes[0, column].plot(f, np.abs(values), color=colour, linestyle=dash, label=label)
            axes[1, column].plot(f, np.degrees(np.unwrap(np.angle(values))), color=colour, linestyle=dash)
        _dress(axes[0, column], "", unit)
        _dress(axes[1, column], "frequency [Hz]", "phase [°]")
        axes[0, column].set_ylim(bottom=0.0)
    axes[0, 0].legend(frameon=False)
    write_figure(chart, path)


def _lane_change(outcome: Outcome, path: Path) -> None:
    """The way between the lanes, and what the driver did."""
    m = outcome.motion
    chart = new_figure(10.0, 7.0)
    axes: Any = chart.subplots(4, 1, sharex=True, height_ratios=(2, 1, 1, 1))
    for begin, end, right, left in outcome.marks["lanes"]:
        for edge in (right, left):
            axes[0].plot((begin, end), (edge, edge), color="0.2", linewidth=2.0)
    axes[0].plot(*outcome.marks["path"].T, color=_RED, linestyle="--", linewidth=1.0, label="wanted")
    axes[0].plot(m.x, m.y, color=_BLUE, linewidth=1.5, label="centre of mass")
    axes[0].set_xlim(m.x[0], m.x[-1])
    axes[0].legend(frameon=False, fontsize=8)
    _dress(axes[0], "", "y [m]")
    for axis, name in zip(
        axes[1:], ("steering wheel [°]", "lateral acceleration [m/s²]", "yaw rate [°/s]"), strict=True
    ):
        axis.plot(m.x, _PLAIN[name](m), color=_BLUE, linewidth=1.5)
        _dress(axis, "", name)
    axes[-1].set_xlabel("x [m]")
    write_figure(chart, path)


__all__ = ["plot_outcome"]
