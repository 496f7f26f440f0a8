"""Commands for files of other programs: import, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from .common import AsJson, Settings, Subject, app, find_subject, need_folder, print_json, say

if TYPE_CHECKING:
    from ..interchange.report import LossReport

_COLOURS = {"mapped": "cyan", "approximated": "yellow", "dropped": "red"}


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A robot description: .urdf, .xml (MJCF).")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write a model file (.yaml), with meshes beside it.")
    ] = None,
    search: Annotated[
        list[Path] | None,
        typer.Option("--search", metavar="FOLDER", help="Where packages and meshes may be; repeatable."),
    ] = None,
    meshes: Annotated[bool, typer.Option("--meshes/--no-meshes", help="Leave mesh files out.")] = True,
    free_base: Annotated[
        bool, typer.Option("--free-base", help="Let the root move, which is welded to the ground otherwise.")
    ] = False,
    contact: Annotated[
        bool | None,
        typer.Option(
            "--contact/--no-contact", help="Let collision shapes touch; default: as the format means."
        ),
    ] = None,
    keyframe: Annotated[str | None, typer.Option(help="Of MJCF: the keyframe to start from.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read a file of another program, tell what was taken, mapped, approximated and dropped, write a model file."""
    from ..interchange.keep import save_imported
    from ..interchange.open_file import import_model

    need_folder(output)
    model, report = import_model(
        file, search=search or (), meshes=meshes, free_base=free_base, contact=contact, keyframe=keyframe
    )
    copies = [] if output is None else save_imported(model, output)
    if as_json:
        print_json(
            {
                "model": model.name, "bodies": len(model.bodies), "joints": len(model.joints),
                "output": None if output is None else str(output), "copied": list(map(str, copies)),
                "report": report.to_dict(),
            }
        )  # fmt: skip
        return
    say(
        f"[bold]{escape(model.name)}[/]: {len(model.bodies)} bodies, {len(model.joints)} joints; {report.summary()}"
    )
    _tell(report)
    if output is not None:
        beside = f", {len(copies)} meshes in {output.stem}_meshes" if copies else ""
        say(f"written to {escape(str(output))}{escape(beside)}")


@app.command()
def export(
    subject: Subject,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write it; default: the model's name, here."),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="Format: urdf; default: by the ending of the output.")
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Write a scene or a model file for other programs, and tell what was mapped, approximated and dropped."""
    from ..interchange.export_file import export_model, file_for

    model, _ = find_subject(subject, settings)
    file = output or file_for(model, to)
    need_folder(file)
    report = export_model(model, file, to=to)
    if as_json:
        print_json({"model": model.name, "output": str(file), "report": report.to_dict()})
        return
    say(f"[bold]{escape(model.name)}[/]: {report.summary()}")
    _tell(report)
    say(f"written to {escape(str(file))}")


def _tell(report: LossReport) -> None:
    """What was not simply taken."""
    for line in report.lines():
        fate, _, rest = line.partition(":")
        say(f"  [{_COLOURS[fate]}]{fate}[/]:{escape(rest)}")
