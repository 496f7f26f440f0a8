"""The command of rigs: a suspension over its travel, an axle over its steering or its roll, a tyre over its slip."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from ..model.errors import LinkworkError, nearest
from .common import AsJson, Settings, app, console, find_settings, need_folder, print_json, say

_DEGREES = ("°", 57.29577951308232)
_MM = ("mm", 1e3)
_WIDE = 7  # columns beside the first that fit a terminal
_UNITS: dict[str, tuple[str, float]] = {
    "travel": _MM, "track": _MM, "wheelbase": _MM, "wheel_rate": ("N/mm", 1e-3), "roll_centre": _MM, "scrub": _MM,
    "trail": _MM, "rack": _MM, "scrub_left": _MM, "trail_left": _MM, "lift": _MM, "aside": _MM, "ahead": _MM,
    "ratio": ("1", 1.0), "anti": ("%", 100.0),
}  # fmt: skip


class Rig(StrEnum):
    """What is put on a rig."""

    suspension = "suspension"
    tyre = "tyre"


class Over(StrEnum):
    """What is moved on it."""

    travel = "travel"
    steering = "steering"
    roll = "roll"


@app.command()
def rig(
    what: Annotated[Rig, typer.Argument(help="Which rig: suspension or tyre.")],
    subject: Annotated[
        str, typer.Argument(help="Type of suspension, such as macpherson; a .tir file, or brush.")
    ],
    settings: Settings = None,
    count: Annotated[int, typer.Option(help="Places over the travel, or over the slip.")] = 11,
    over: Annotated[
        Over | None,
        typer.Option(
            help="Travel of a wheel, steering of an axle, or roll of an axle that carries both wheels."
        ),
    ] = None,
    track: Annotated[float | None, typer.Option(help="Between the wheels [m]; default: five radii.")] = None,
    wheelbase: Annotated[
        float | None, typer.Option(help="Between the axles [m]; default: nine radii.")
    ] = None,
    height: Annotated[
        float | None, typer.Option(help="Of the centre of mass [m]; default: 1.8 radii.")
    ] = None,
    brake_share: Annotated[
        float, typer.Option(help="Share of the brake force on this axle, for anti-dive.")
    ] = 0.6,
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Camber, toe, kingpin, track, wheel rate, roll centre and anti-dive over the travel of a wheel, steer angles and
    the error of Ackermann's condition over the steering, or roll steer; forces and moment of a tyre over its slip.

    --set changes the fields of a wheel (linkwork items wheel): --set radius=0.2 --set load=300
    --set 'spring="torsion"'; or of a brush_tyre. `anti` is anti-dive of a front axle; of a rear one
    its negative is anti-lift.
    """
    need_folder(plot)
    if what is Rig.tyre:
        from .rig_tyre import show_tyre

        show_tyre(subject, find_settings(settings), count, plot, as_json)
        return
    from ..vehicle import AXLES, SUSPENSIONS, Axle, Rack, Wheel

    known = {**SUSPENSIONS, **AXLES}
    if subject not in known:
        raise LinkworkError(f"there is no suspension '{subject}'{nearest(subject, known)}")
    wheel = Wheel(**{"suspension": subject, **find_settings(settings)})
    over = (Over.roll if subject in AXLES else Over.travel) if over is None else over
    base = 9.0 * wheel.radius if wheelbase is None else wheelbase
    if over is Over.travel:
        centre = 1.8 * wheel.radius if height is None else height
        _over_travel(wheel, count, track, (base, centre, brake_share), plot, as_json)
        return
    from ..vehicle.rig_axle import rolling_curves, steering_curves

    width = 5.0 * wheel.radius if track is None else track
    if over is Over.steering:
        found: Any = steering_curves(Axle(track=width, wheel=wheel, steering=Rack()), base, count)
        sides = {"left": found.left, "right": found.right, "Ackermann error": found.ackermann_error}
        about = ("steering wheel [°]", found.wheel_angle, {"steer angle [°]": sides})
    else:
        found = rolling_curves(Axle(track=width, wheel=wheel), count)
        sides = {"left": found.camber_left, "right": found.camber_right}
        about = ("roll [°]", found.roll, {"camber [°]": sides, "roll steer [°]": {"axle": found.steer}})
    if plot is not None:
        from ..vehicle.rig_plot import plot_angles

        plot_angles(*about, plot)
    curves = found._asdict()
    if as_json:
        print_json({"suspension": subject, "over": over, "curves": _listed(curves)})
    else:
        _tabulate(curves, {})


def _over_travel(
    wheel: Any,
    count: int,
    track: float | None,
    vehicle: tuple[float, float, float],
    plot: Path | None,
    as_json: bool,
) -> None:
    from ..vehicle.rig import curves
    from ..vehicle.rig_axle import anti

    wheel.component()  # refuses what does not fit
    travel, found = wheel.travel_report(), curves(wheel, count, track)
    lines = found._asdict() | {"anti": anti(found, *vehicle)}
    if plot is not None:
        from ..vehicle.rig_plot import plot_curves

        plot_curves(found, plot)
    if as_json:
        print_json({"suspension": wheel.kind, "limits": travel.to_dict(), "curves": _listed(lines)})
        return
    unit, factor = _DEGREES if wheel.hung.torsion else _MM
    _tabulate(lines, {"coordinate": (unit, factor)})
    for label, (low, high), (z_low, z_high) in (
        ("exact", travel.exact, travel.requested),
        ("asin(z/l)", travel.approximate, travel.reached),
    ):
        say(
            f"limits, {label}: {factor * low:+.4f} to {factor * high:+.4f} {unit}, "
            f"the wheel goes {1e3 * z_low:+.4f} to {1e3 * z_high:+.4f} mm"
        )


def _listed(curves: dict[str, Any]) -> dict[str, list[float | None]]:
    """For JSON, which has no NaN."""
    return {
        name: [None if value != value else value for value in values.tolist()]
        for name, values in curves.items()
    }


def _tabulate(curves: dict[str, Any], more: dict[str, tuple[str, float]]) -> None:
    """Tables of few columns, each with the first; those of what a suspension does not have are left out."""
    shown = [name for name, values in curves.items() if (values == values).any()]
    first, *others = shown
    for start in range(0, len(others), _WIDE):
        units = {
            name: more.get(name) or _UNITS.get(name, _DEGREES)
            for name in (first, *others[start : start + _WIDE])
        }
        grid = Grid(*(escape(f"{name.replace('_', ' ')} [{unit}]") for name, (unit, _) in units.items()))
        columns = [curves[name] * factor for name, (_, factor) in units.items()]
        for values in zip(*columns, strict=True):
            grid.add_row(*(f"{round(float(value), 9) + 0.0:.4g}" for value in values))
        console.print(grid)


__all__ = ["rig"]
