"""The command of manoeuvres: a car does what test tracks and standards ask for."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as Grid

from ..model.errors import LinkworkError, nearest
from .common import AsJson, Settings, app, compiling, console, find_settings, need_folder, print_json

_NAMES = (
    "acceleration, braking, bump, constant-radius, double-lane-change, frequency-response, pull-away, ramp, "
    "side-slope, sine-with-dwell, step-steer"
)


@app.command()
def manoeuvre(
    name: Annotated[str, typer.Argument(help=f"Which one: {_NAMES}.")],
    settings: Settings = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the record to this HDF5 file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Drive a car through a manoeuvre and tell what came of it.

    --set changes the manoeuvre (--set speed=25 --set friction=0.5; SI units throughout) and the car
    (help(linkwork.vehicle.Car)): --set mass=1500 --set 'front="double_wishbone"' --set 'tyre={"type": "magic",
    "file": "x.tir"}'.
    """
    need_folder(plot, save)
    from ..vehicle.car import car
    from ..vehicle.manoeuvres import MANOEUVRES

    if name not in MANOEUVRES:
        raise LinkworkError(
            f"there is no manoeuvre '{name}'{nearest(name, MANOEUVRES)}; known: {', '.join(MANOEUVRES)}"
        )
    function = MANOEUVRES[name]
    own = {key for key in inspect.signature(function).parameters if key != "car"}
    chosen = find_settings(settings)
    options = {key: value for key, value in chosen.items() if key in own}
    for key, value in options.items():
        fits = isinstance(value, bool) if key == "one_side" else type(value) in (int, float)
        if not fits:
            wanted = "true or false" if key == "one_side" else "a number"
            raise LinkworkError(f"--set {key}: must be {wanted} (got {value!r})")
    vehicle = car(**{key: value for key, value in chosen.items() if key not in own})
    with compiling(quiet=as_json):
        outcome = function(vehicle, **options)
    if plot is not None:
        from ..vehicle.manoeuvres.plot import plot_outcome

        plot_outcome(outcome, plot)
    if save is not None:
        outcome.record.save(save)
    if as_json:
        figures = {
            key: {"value": found.value if math.isfinite(found.value) else None, "unit": found.unit}
            for key, found in outcome.figures.items()
        }
        motion: dict[str, Any] = {key: values.tolist() for key, values in outcome.motion._asdict().items()}
        print_json({"manoeuvre": name, "figures": figures, "motion": motion})
        return
    grid = Grid("figure", "value", "unit")
    for key, found in outcome.figures.items():
        value = f"{round(found.value, 9) + 0.0:.4g}" if math.isfinite(found.value) else "never"
        grid.add_row(key, value, found.unit)
    console.print(grid)


__all__ = ["manoeuvre"]
