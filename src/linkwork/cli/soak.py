"""The command that lets a page run for long while everything happens to it: soak."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..model.errors import LinkworkError
from .common import AsJson, app, compiling, need_folder, print_json, progress_bar, say


@app.command()
def soak(
    scenes: Annotated[
        list[str] | None, typer.Argument(metavar="[SCENE]...", help="Default: crank_rocker and a01_pendulum.")
    ] = None,
    duration: Annotated[float, typer.Option("--time", help="How long [s].", min=1.0)] = 600.0,
    seed: Annotated[int, typer.Option(help="Of what happens.", min=0)] = 0,
    report: Annotated[Path | None, typer.Option(help="Write what was measured to a JSON file.")] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="The whole page, as docs/soak.md.")] = False,
    as_json: AsJson = False,
) -> None:
    """Serve a page for long: visitors come, go and crash, numbers change, recordings, kills, full disks."""
    if sys.platform != "linux":
        raise LinkworkError("memory and file handles are counted on Linux alone")
    need_folder(report)
    with compiling(quiet=as_json or as_markdown):
        from ..soak.describe import page
        from ..soak.soak import SCENES
        from ..soak.soak import soak as soaked
    logging.getLogger("linkwork").setLevel(logging.ERROR)  # of disks that are full on purpose
    with progress_bar("soaking", quiet=as_json or as_markdown) as advance:
        found = soaked(duration, scenes=tuple(scenes or SCENES), seed=seed, progress=advance)
    if report is not None:
        report.write_text(json.dumps(found.to_dict(), indent=1), encoding="utf-8")
    if as_markdown:
        typer.echo(page(found), nl=False)
    elif as_json:
        print_json(found.to_dict())
    else:
        say(escape(found.text()))
    if not found.ok:
        raise typer.Exit(1)
