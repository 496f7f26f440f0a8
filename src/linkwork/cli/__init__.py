"""The command line. Importing this loads neither Numba nor the model layer: help is instant."""

from __future__ import annotations

import atexit
import gc
import sys
from typing import Annotated

import typer
from rich.markup import escape

from ..model.errors import LinkworkError
from ..version import __version__
from .common import app, errors

# isort: off
# In the order in which help lists the commands.
from . import new, exchange, run, methods, picture, view, plot, recover  # noqa: F401
from . import study, modes, sweep, rig, manoeuvre, compare, sealed, measure, soak  # noqa: F401


def main() -> None:
    """Entry point: errors of ours become one readable message and exit code 1."""
    atexit.register(gc.freeze)  # all goes with the process: to look for cycles before took half a second
    try:
        app(standalone_mode=True)
    except LinkworkError as error:
        errors.print(f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(1)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
