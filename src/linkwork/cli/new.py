"""Commands for whoever writes a model: a file to begin with, and what can stand in it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .common import AsJson, app, print_json


class Kind(StrEnum):
    """What a file is about."""

    MODEL = "model"
    COMPONENT = "component"
    SCENE = "scene"
    ELEMENT = "element"


@app.command()
def new(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Where to write it; default: my.yaml, my_component.yaml, my_scene.py, my_element.py."
        ),
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(
            help="model: a mechanism (YAML); component: a part to be placed many times, and a model that does; "
            "scene: a mechanism with parameters in Python; element: a force law of your own in Python."
        ),
    ] = Kind.MODEL,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a commented file to begin with, which works as it is; then tell what to type next."""
    from ..io.starter import write_starter

    written = write_starter(
        kind.value, file or Path("my" if kind is Kind.MODEL else f"my_{kind.value}"), overwrite=force
    )
    for path in written:
        typer.echo(f"wrote {path}")
    typer.echo(
        f"next:  linkwork view {written[-1]}   (change the file and save: it goes on with what you wrote)"
    )


@app.command()
def items(
    name: Annotated[
        str | None, typer.Argument(help="An item, such as hinge; default: list them all.")
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="The whole reference, as docs/reference.md.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell what can stand in a model: every item, and of one every field with type, unit, default and meaning."""
    from ..io.reference import entries, find_entry, reference

    if as_markdown:
        typer.echo(reference(), nl=False)
    elif as_json:
        found = entries() if name is None else (find_entry(name),)
        print_json(
            [
                {
                    "item": e.name,
                    "section": e.section,
                    "about": e.about,
                    "fields": [f._asdict() for f in e.fields],
                }
                for e in found
            ]
        )
    elif name is None:
        for section in dict.fromkeys(entry.section for entry in entries()):
            typer.echo(f"{section}: {', '.join(e.name for e in entries() if e.section == section)}")
        typer.echo("linkwork items NAME tells more of one")
    else:
        entry = find_entry(name)
        typer.echo(f"{entry.name} ({entry.section}): {entry.written}\n\n{entry.cls.__doc__}")
