"""The command that simulates one model many times."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Column
from rich.table import Table as Grid

from ..model.errors import LinkworkError
from .common import (
    AsJson,
    Method,
    Settings,
    Solver,
    Subject,
    app,
    compiling,
    console,
    errors,
    find_settings,
    need_folder,
    notice,
    print_json,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    import xarray as xr

_SHOWN = 20  # cases of a table on the terminal


@app.command()
def sweep(
    subject: Subject,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="A parameter and its values: length=0.2:0.4:21 (from, to, how many), k=10:1e4:7:log, mass=1,2,5, or a "
            "distribution: normal(1, 0.1), uniform, triangular, lognormal. NAME is a parameter, one of an instance "
            "(left.length) or a field of an item (spring.stiffness, arm.com.x). Repeatable: all combinations.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="What is kept of a run: max(arm.angle), also initial, final, min, peak, range, mean, rms; or a signal "
            "over time. Repeatable; patterns with * too. Default: where coordinates end, and how far they go."
        ),
    ] = None,
    duration: Annotated[float | None, typer.Option("--time", help="Simulated time of each case [s].")] = None,
    every: Annotated[float | None, typer.Option(help="Time between samples [s].")] = None,
    count: Annotated[int | None, typer.Option(help="How many cases to draw from distributions.")] = None,
    seed: Annotated[int, typer.Option(help="Of the draws.", min=0)] = 0,
    on: Annotated[
        str,
        typer.Option(
            help="Where cases run: processes (one for each core), processes:4, here, dask, ray, dask://host:port, "
            "ray://host:port, mpi."
        ),
    ] = "processes",
    save: Annotated[
        Path | None,
        typer.Option(help="Write results to this NetCDF file (.nc); after a kill the same command goes on."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file (.png, .svg, .pdf).")] = None,
    dt: Annotated[float | None, typer.Option(help="Step [s].")] = None,
    method: Method = None,
    solver: Solver = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Local error to keep, instead of a fixed step.")
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a scene or model file for many values of its parameters, on all cores or a cluster."""
    from ..studies.design import design_of
    from ..studies.evaluate import failures
    from ..studies.sweep import sweep as run_all

    need_folder(save, plot)
    design = design_of(_variations(vary), count, seed)
    options: dict[str, Any] = {"dt": dt, "method": method, "solver": solver, "tolerance": tolerance}
    logging.getLogger("linkwork").addHandler(_Told())
    with (
        compiling(quiet=as_json),
        progress_bar(f"{len(design)} cases of {subject}", quiet=as_json) as advance,
    ):
        try:
            found = run_all(
                subject, design, measure=measure or (), duration=duration, every=every,
                settings=find_settings(settings), on=on, save=save, progress=advance, **options,
            )  # fmt: skip
        except KeyboardInterrupt:
            if save is not None and save.with_name(f"{save.name}.part").exists():
                notice("interrupted", f"what was done is in {save}.part; the same command goes on from there")
            raise
    if plot is not None:
        from ..studies.plot import plot_study

        plot_study(found, plot)
    failed = failures(found)
    if as_json:
        print_json({**_finite(found.to_dict()), "failed": [{"case": c, "why": w} for c, w in failed]})
    else:
        _print(found, failed, save, plot)


class _Told(logging.Handler):
    """Shows what a study tells on the side."""

    def emit(self, record: logging.LogRecord) -> None:
        errors.print(f"[yellow]note:[/] {escape(record.getMessage())}", soft_wrap=True)


def _variations(texts: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts or []:
        name, mark, values = text.partition("=")
        if not mark or not name:
            raise LinkworkError(f"--vary {text}: write NAME=VALUES, such as length=0.2:0.4:21")
        if name in found:
            raise LinkworkError(f"--vary: '{name}' is given twice")
        found[name] = values
    if not found:
        raise LinkworkError("nothing varies: write --vary NAME=VALUES, such as --vary length=0.2:0.4:21")
    return found


def _print(
    found: xr.Dataset, failed: list[tuple[dict[str, float], str]], save: Path | None, plot: Path | None
) -> None:
    numbers = [n for n, v in found.data_vars.items() if n != "failure" and "time" not in v.dims]
    parameters = [str(n) for n in found.coords if n != "time"]
    table = found[[*numbers]].to_dataframe().reset_index() if numbers else None
    if table is not None:
        grid = Grid(*(Column(_headed(found, str(n)), justify="right") for n in (*parameters, *numbers)))
        for _, row in table.head(_SHOWN).iterrows():
            grid.add_row(*(f"{row[n]:.6g}" for n in (*parameters, *numbers)))
        console.print(grid)
        if len(table) > _SHOWN:
            say(f"and {len(table) - _SHOWN} more cases")
    say(f"{found['failure'].size} cases, {len(failed)} failed")
    for case, why in failed[:_SHOWN]:
        told = ", ".join(f"{name} = {value:.6g}" for name, value in case.items())
        say(f"[yellow]failed[/] {escape(told)}: {escape(why)}")
    for label, path in (("results", save), ("plot", plot)):
        if path is not None:
            say(f"{label}: {escape(str(path))}")


def _finite(value: Any) -> Any:
    """JSON knows no NaN: null."""
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _headed(found: xr.Dataset, name: str) -> str:
    unit = found[name].attrs.get("units")
    return escape(f"{name} [{unit}]" if unit else name)
