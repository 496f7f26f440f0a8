"""The command that lists methods."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table as Grid

from .common import AsJson, app, compiling, console, print_json


@app.command()
def methods(
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="The whole page, as docs/methods.md.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the methods: what they are, their integrators, and what they cannot do."""
    with compiling(quiet=True):
        from ..methods.describe import described, markdown
    if as_markdown:
        typer.echo(markdown(), nl=False)
        return
    if as_json:
        print_json(described())
        return
    grid = Grid("method", "what it is", "integrators", "cannot do")
    for entry in described():
        name = entry["method"] if entry["solver"] is None else f"{entry['method']}, {entry['solver']}"
        grid.add_row(name, entry["description"], ", ".join(entry["integrators"]), ", ".join(entry["lacks"]))
    console.print(grid)
