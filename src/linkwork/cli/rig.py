"""The command of rigs: a suspension over its travel."""

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


@app.command()
def rig(
    what: Annotated[Rig, typer.Argument(help="Which rig: suspension.")],
    subject: Annotated[str, typer.Argument(help="Type of suspension, such as macpherson.")],
    settings: Settings = None,
    count: Annotated[int, typer.Option(help="Places over the travel.")] = 11,
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Camber, toe, track and wheel rate over the travel of a wheel, and its limits by both formulas.

    --set changes the fields of a wheel (linkwork items wheel): --set radius=0.2 --set load=300
    --set 'spring="torsion"'.
    """
    from ..vehicle import SUSPENSIONS, Wheel
    from ..vehicle.rig import curves

    assert what is Rig.suspension
    if subject not in SUSPENSIONS:
        raise LinkworkError(f"there is no suspension '{subject}'{nearest(subject, SUSPENSIONS)}")
    need_folder(plot)
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
