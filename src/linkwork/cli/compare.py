"""The command that runs a model by every method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table as Grid

from .common import (
    AsJson,
    Settings,
    Subject,
    app,
    compiling,
    console,
    find_subject,
    need_folder,
    print_json,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from ..analysis.comparison import Comparison, Entry

_LONGEST = 2.0  # simulated time of scenes that go on for longer [s]
_REASON = 150  # characters of a refusal


@app.command()
def compare(
    subject: Subject,
    duration: Annotated[
        float | None, typer.Option(help=f"Simulated time [s]; default: the scene's, at most {_LONGEST:g} s.")
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Step [s]; half of it is taken too.")] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="Distance within which motions are one [m]; default: a thousandth of the longest way of a body."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write distances over time to this file (.png, .svg, .pdf).")
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Run every method that can do a model: how far they are apart, in what time, and whether they agree."""
    model, scene = find_subject(subject, settings)
    need_folder(plot)
    length = duration if duration is not None else min(_LONGEST, scene.duration if scene else _LONGEST)
    step = dt if dt is not None else (scene.dt if scene else 1e-3)
    with compiling(quiet=as_json):
        from ..analysis.compare import compare as compare_methods
        from ..analysis.compare_plot import plot_comparison
    with progress_bar(f"comparing methods on {model.name}", quiet=as_json) as advance:
        found = compare_methods(model, duration=length, dt=step, tolerance=tolerance, progress=advance)
    if plot is not None:
        plot_comparison(found, plot)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found, plot)
    if not found.agree:
        raise typer.Exit(1)


def _print(found: Comparison, plot: Path | None) -> None:
    say(f"[bold]{escape(found.model)}[/]: {found.duration:g} s in steps of {found.dt:g} s")
    good = f"itself good to {found.uncertainty:.1g} m; tolerance {found.tolerance:.2g} m"
    say(f"reference: {escape(found.reference)}, {good}")
    grid = Grid(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    grid.add_column("method", no_wrap=True)
    grid.add_column("distance\n\\[m]", justify="right", no_wrap=True)
    grid.add_column("of", max_width=12, overflow="ellipsis")
    for head in ("at\n\\[s]", "order\nseen", "drift\n\\[J]", "gap\n\\[m]", "µs a\nstep", "wall\n\\[s]"):
        grid.add_column(head, justify="right", no_wrap=True)
    grid.add_column("verdict", min_width=8)
    for entry in found.entries:
        grid.add_row(*_cells(entry))
    console.print(grid)
    for entry in found.entries:
        if entry.why:
            say(f"[red]{escape(entry.name)}[/] failed: {escape(entry.why)}")
    for name, why in found.refused.items():
        reason = " ".join(why.split())
        reason = reason if len(reason) <= _REASON else f"{reason[:_REASON]} ..."
        say(f"[dim]{escape(name)} cannot run it: {escape(reason)}[/]")
    say(f"[{'green' if found.agree else 'yellow'}]{escape(found.verdict())}[/]")
    if plot is not None:
        say(f"distances over time: {escape(str(plot))}")


def _cells(entry: Entry) -> list[str]:
    """A row of the table."""
    colours = {
        "agrees": "green",
        "agrees, order not seen": "green",
        "too coarse": "yellow",
        "cannot tell": "yellow",
    }
    order = "" if entry.expected_order is None else f"/{entry.expected_order:g}"
    return [
        escape(entry.name),
        _number(entry.distance),
        escape(entry.body or ""),
        "" if entry.time is None else f"{entry.time:.3g}",
        "-" if entry.order is None else f"{entry.order:.1f}{order}",
        _number(entry.energy_drift),
        _number(entry.worst_gap),
        f"{entry.us_per_step:.3g}",
        f"{entry.wall:.1g}",
        f"[{colours.get(entry.verdict, 'red')}]{entry.verdict}[/]",
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"
