"""The command that reads what is still good of a record: recover."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..model.errors import LinkworkError
from .common import AsJson, app, need_folder, print_json, say


@app.command()
def recover(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A damaged record (.h5), or what a run left (.part).")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Where to write it; default: beside FILE, by a name that is free."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a record of what is still good of a file whose run did not end, or that is damaged."""
    from ..results.record import Record

    target = output or _beside(file)
    need_folder(target)
    if target.exists():
        raise LinkworkError(f"{target}: there is a file already; choose another name with --output")
    record, lost = Record.recover(file)
    record.save(target)
    end = float(record.time[-1]) if len(record) else None
    told: dict[str, Any] = {
        "record": str(target), "rows": len(record), "signals": len(record.names), "to": end, "lost": lost,
    }  # fmt: skip
    if as_json:
        print_json(told)
        return
    until = f", until {end:g} s" if end is not None else ""
    say(f"{len(record)} rows of {len(record.names)} signals{until}, written to {escape(str(target))}")
    for what in lost:
        say(f"[yellow]lost:[/] {escape(what)}")


def _beside(file: Path) -> Path:
    """run.h5 of run.h5.part, if that is free, else run-recovered.h5."""
    target = file.with_suffix("") if file.suffix == ".part" else file
    return target.with_name(f"{target.stem}-recovered{target.suffix}") if target.exists() else target
