"""The command that plots records: plot."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..model.errors import LinkworkError, nearest
from .common import AsJson, app, list_names, need_folder, notice, print_json

if TYPE_CHECKING:
    from ..results.record import Record


@app.command()
def plot(
    file: Annotated[Path, typer.Argument(metavar="FILE.h5", help="A record, also of a run that goes on.")],
    signals: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SIGNAL",
            help="Names or patterns, e.g. 'pivot.angle' 'energy.*'; default: coordinates and energy.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write (.png, .svg, .pdf); default: beside the record, as .png."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List signals and units; plot nothing.")] = False,
    start: Annotated[
        float, typer.Option("--from", metavar="T", help="First time, in seconds.", show_default=False)
    ] = -math.inf,
    end: Annotated[
        float, typer.Option("--to", metavar="T", help="Last time, in seconds.", show_default=False)
    ] = math.inf,
    as_json: AsJson = False,
) -> None:
    """Plot signals of a record over time, or list what there is."""
    from ..results.record import Record

    part = file.with_name(f"{file.name}.part")
    if not file.exists() and part.exists():
        file = part
    record = Record.load(file)
    if not record.complete:
        notice("notice", f"{file}: unfinished, its run goes on or was interrupted")
    if listed:
        _list(file, record, signals or ["*"], as_json)
        return
    target = out or _beside(file)
    need_folder(target)
    rows = record.between(start, end)
    if not len(rows):
        span = f": it runs from {record.time[0]:g} to {record.time[-1]:g} s" if len(record) else ""
        raise LinkworkError(f"{file}: the record has no rows to plot{span}")
    figure = rows.plot(*(signals or ()), path=target)
    if as_json:
        drawn = [str(line.get_label()) for axes in figure.axes for line in axes.lines]
        print_json({**_about(file, rows), "signals": drawn, "plot": str(target)})
    else:
        typer.echo(target)


def _list(file: Path, record: Record, patterns: list[str], as_json: bool) -> None:
    chosen: dict[str, None] = {}
    for pattern in patterns:
        names = record.find(pattern)
        if not names and record.names:
            raise LinkworkError(
                f"no signal of the record matches '{pattern}'{nearest(pattern, record.names)}"
            )
        chosen |= dict.fromkeys(names)
    if as_json:
        units = [{"signal": name, "unit": record.unit(name)} for name in chosen]
        print_json({**_about(file, record), "signals": units})
        return
    list_names({name: record.unit(name) for name in chosen}, as_json=False)


def _about(file: Path, record: Record) -> dict[str, Any]:
    return {
        "record": str(file),
        "title": record.title,
        "complete": record.complete,
        "rows": len(record),
        "from": float(record.time[0]) if len(record) else None,
        "to": float(record.time[-1]) if len(record) else None,
    }


def _beside(file: Path) -> Path:
    """The plot of a record, if no other name is wanted: run.png for run.h5 and for run.h5.part."""
    return (file.with_suffix("") if file.suffix == ".part" else file).with_suffix(".png")
