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
from .common import AsJson, app, compiling, console, need_folder, print_json, progress_bar, say


@app.command()
def warmup(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...",
            help="tree, direct, impulses, contact, smooth, hybrid, global, topological, components; control, terrain: "
            "what diagrams and height fields need besides; all by default.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile kernels ahead of time, on all cores, so that the first run starts at once."""
    from ..engine.kernels.store import cache_directory
    from ..run.warmup import PIECES, warm_up

    began, where = time.perf_counter(), cache_directory()
    if where is None:
        raise LinkworkError(
            "there is no folder to keep kernels in; name one that can be written to by LINKWORK_CACHE_DIR"
        )
    with compiling(quiet=as_json):
        warm_up(what or PIECES)
    seconds = time.perf_counter() - began
    if as_json:
        print_json({"seconds": seconds, "cache": str(where)})
    else:
        say(f"ready in {seconds:.1f} s; kept in {escape(str(where))}")


@app.command()
def reproduce(
    paper: Annotated[
        str, typer.Argument(help="Which paper: simgc, hybrid, components, limits or suspensions.")
    ],
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file.")] = None,
    film: Annotated[
        Path | None, typer.Option(help="Write a film of what it shows (.mp4, .gif; limits, suspensions).")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Leave large models out (components).")] = False,
    as_json: AsJson = False,
) -> None:
    """Run what a paper shows and set it beside what the paper reports."""
    from ..reproduce import FILMED, PAPERS
    from ..reproduce import reproduce as run_paper
    from ..view.film import check_film
    from ..view.film import film as write_film

    if paper not in PAPERS:
        raise LinkworkError(f"there is no paper '{paper}' (known: {', '.join(PAPERS)})")
    if film is not None and paper not in FILMED:
        raise LinkworkError(f"paper '{paper}' has no film (films have: {', '.join(FILMED)})")
    need_folder(plot, film)
    if film is not None:
        check_film(film)
    with progress_bar(f"reproducing {paper}", quiet=as_json) as advance:
        result = run_paper(paper, advance, quick)
    if plot is not None and result.plot is not None:
        result.plot(plot)
    if film is not None and result.shown is not None:
        with progress_bar("drawing the film", quiet=as_json) as advance:
            write_film(result.shown(), film, progress=advance)
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
