"""The command of rigs: a suspension over its travel, a tyre over its slip."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from ..model.errors import LinkworkError, nearest
from .common import AsJson, Settings, app, console, find_settings, need_folder, print_json, say


class Rig(StrEnum):
    """What is put on a rig."""

    suspension = "suspension"
    tyre = "tyre"


@app.command()
def rig(
    what: Annotated[Rig, typer.Argument(help="Which rig: suspension or tyre.")],
    subject: Annotated[
        str, typer.Argument(help="Type of suspension, such as macpherson; a .tir file, or brush.")
    ],
    settings: Settings = None,
    count: Annotated[int, typer.Option(help="Places over the travel, or over the slip.")] = 11,
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """A suspension over its travel: camber, toe, track, wheel rate, limits; or a tyre over its slip: forces and moment.

    --set changes the fields of a wheel (linkwork items wheel): --set radius=0.2 --set load=300
    --set 'spring="torsion"'; or of a brush_tyre.
    """
    need_folder(plot)
    if what is Rig.tyre:
        from .rig_tyre import show_tyre

        show_tyre(subject, find_settings(settings), count, plot, as_json)
        return
    from ..vehicle import SUSPENSIONS, Wheel
    from ..vehicle.rig import curves

    if subject not in SUSPENSIONS:
        raise LinkworkError(f"there is no suspension '{subject}'{nearest(subject, SUSPENSIONS)}")
    wheel = Wheel(**{"suspension": subject, **find_settings(settings)})
    wheel.component()  # refuses what does not fit
    travel, found = wheel.travel_report(), curves(wheel, count)
    if plot is not None:
        from ..vehicle.rig_plot import plot_curves

        plot_curves(found, plot)
    if as_json:
        lines = {name: values.tolist() for name, values in found._asdict().items()}
        print_json({"suspension": subject, "limits": travel.to_dict(), "curves": lines})
        return
    units: dict[str, tuple[str, float]] = {
        "travel": ("mm", 1e3), "coordinate": _unit(wheel), "camber": ("°", 57.29577951308232),
        "toe": ("°", 57.29577951308232), "track": ("mm", 1e3), "wheelbase": ("mm", 1e3), "wheel_rate": ("N/mm", 1e-3),
        "roll_centre": ("mm", 1e3),
    }  # fmt: skip
    grid = Grid(*(escape(f"{name.replace('_', ' ')} [{unit}]") for name, (unit, _) in units.items()))
    columns: list[Any] = [getattr(found, name) * factor for name, (_, factor) in units.items()]
    for values in zip(*columns, strict=True):
        grid.add_row(*(f"{round(float(value), 9) + 0.0:.4g}" for value in values))
    console.print(grid)
    unit, factor = units["coordinate"]
    for label, (low, high), (z_low, z_high) in (
        ("exact", travel.exact, travel.requested),
        ("asin(z/l)", travel.approximate, travel.reached),
    ):
        say(
            f"limits, {label}: {factor * low:+.4f} to {factor * high:+.4f} {unit}, "
            f"the wheel goes {1e3 * z_low:+.4f} to {1e3 * z_high:+.4f} mm"
        )


def _unit(wheel: Any) -> tuple[str, float]:
    turns = wheel.hung.torsion
    return ("°", 57.29577951308232) if turns else ("mm", 1e3)
