"""Commands about speed and papers: warmup, reproduce."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Column
from rich.table import Table as Grid

from ..model.errors import LinkworkError
from .common import AsJson, app, compiling, console, need_folder, print_json, progress_bar, say, warm


@app.command()
def warmup(as_json: AsJson = False) -> None:
    """Compile all kernels ahead of time, so that the first run starts at once."""
    began = time.perf_counter()
    with compiling(quiet=as_json, always=True):
        from ..engine.kernels.store import cache_directory
        from ..methods.registry import WAYS
        from ..methods.tree import Tree
        from ..run.simulate import Simulation
        from ..scenes import scene

        for integrator in Tree.integrators:
            warm(Simulation(scene("chain5"), method=Tree(integrator=integrator)))
        for kind in dict.fromkeys(way.options for way in WAYS if way.options is not Tree):
            warm(Simulation(scene("double_four_bar"), method=kind()))
    seconds = time.perf_counter() - began
    where = cache_directory()
    if as_json:
        print_json({"seconds": seconds, "cache": None if where is None else str(where)})
    elif where is None:
        say(f"compiled in {seconds:.1f} s, but no folder could be written to keep the result")
    else:
        say(f"ready in {seconds:.1f} s; kept in {escape(str(where))}")


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="Which paper: simgc, hybrid or components.")],
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Leave large models out (components).")] = False,
    as_json: AsJson = False,
) -> None:
    """Run what a paper shows and set it beside what the paper reports."""
    from ..reproduce import PAPERS
    from ..reproduce import reproduce as run_paper

    if paper not in PAPERS:
        raise LinkworkError(f"there is no paper '{paper}' (known: {', '.join(PAPERS)})")
    need_folder(plot)
    with progress_bar(f"reproducing {paper}", quiet=as_json) as advance:
        result = run_paper(paper, advance, quick)
    if plot is not None and result.plot is not None:
        result.plot(plot)
    if as_json:
        print_json(result.to_dict())
        return
    shown = [name for name in result.rows[0] if name not in result.hidden]
    grid = Grid(*(Column(name, overflow="fold") for name in shown))
    for row in result.rows:
        grid.add_row(*(_cell(row[name]) for name in shown))
    console.print(result.paper)
    console.print(grid)
    for note in result.notes:
        console.print(f"  {escape(note)}")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
