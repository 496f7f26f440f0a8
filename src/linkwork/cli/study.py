"""Commands that examine a model: check, statics, fuzz."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ..model.errors import LinkworkError
from .common import (
    AsJson,
    Settings,
    Subject,
    app,
    compiling,
    console,
    find_subject,
    need_folder,
    print_json,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from ..analysis.check import Checkup
    from ..analysis.partition import Group, Partition


@app.command()
def check(
    subject: Subject,
    settings: Settings = None,
    test_run: Annotated[
        bool,
        typer.Option("--run/--no-run", help="Also simulate a second of it and look for singular positions."),
    ] = True,
    partition: Annotated[
        bool,
        typer.Option(
            "--partition", help="Also show the subsystems that the method 'components' divides it into."
        ),
    ] = False,
    partition_picture: Annotated[
        Path | None, typer.Option(help="Write a picture of these subsystems to this file (.png, .svg, .pdf).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The doctor: mobility, redundant joints, start, stiff parts, suspicious masses; all at once, with what to do."""
    from ..analysis.check import check as examine

    model, _ = find_subject(subject, settings)
    need_folder(partition_picture)
    with compiling(quiet=as_json):
        checkup = examine(model, test_run=test_run)
    divided = None
    if (partition or partition_picture is not None) and checkup.ok:
        from ..analysis.partition import partition as divide

        divided = divide(model)
    if as_json:
        print_json(checkup.to_dict() | ({"partition": divided.to_dict()} if divided and partition else {}))
    else:
        _print_checkup(checkup)
        if divided and partition:
            _print_partition(divided)
    if divided and partition_picture is not None:
        from ..analysis.partition_plot import plot_partition

        plot_partition(divided, partition_picture)
        if not as_json:
            say(f"subsystems: {escape(str(partition_picture))}")
    if not checkup.ok:
        raise typer.Exit(1)


def _print_checkup(checkup: Checkup) -> None:
    moves = checkup.dof if checkup.mobility is None else checkup.mobility
    head = f"{checkup.bodies} bodies, {checkup.joints} joints, {moves} degree{'s' * (moves != 1)} of freedom"
    if moves != checkup.dof:
        head += f" (Grübler's count: {checkup.dof})"
    say(f"[bold]{escape(checkup.model)}[/]: {head}")
    for line in checkup.tree:
        say(f"  {escape(line)}")
    for name in checkup.cuts:
        say(f"  cut: {escape(name)} closes a loop")
    nearest = checkup.nearest_singular
    if nearest is not None:
        where = f"{nearest.distance:.2g} at t = {nearest.time:.3g} s of {nearest.duration:.3g} s"
        say(f"  nearest singular position: distance {where}")
    colours = {"error": "red", "warning": "yellow", "note": "cyan"}
    for finding in checkup.findings:
        say(f"[{colours[finding.level]}]{finding.level}[/] {escape(finding.where)}: {escape(finding.what)}")
    if not checkup.findings:
        say("[green]nothing suspicious[/]")


def _print_partition(found: Partition) -> None:
    from rich.tree import Tree

    from ..analysis.partition import grouped

    def branch(group: Group, above: Tree | None) -> Tree:
        name = f"[dim]{escape(group.name)}[/]" if group.made else f"[bold]{escape(group.name)}[/]"
        label = f"{name}: {escape(group.facts())}"
        tree = Tree(label, highlight=False) if above is None else above.add(label)
        for inner in group.inside:
            branch(inner, tree)
        return tree

    console.print(branch(grouped(found.top), None))
    say("[bold]bold[/]: written; [dim]dim[/]: made; %: of all multiplications")
    say(
        f"multiplications to solve all equations: monolithic {found.monolithic:.3g}, as written {found.written:.3g}, "
        f"partitioned {found.cost:.3g}: {found.monolithic / found.cost:.3g} times fewer than monolithic"
    )


@app.command()
def statics(
    subject: Subject,
    hold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Command of a drive, or coordinate to hold [rad, m]; repeatable."
        ),
    ] = None,
    stable: Annotated[
        bool, typer.Option("--stable", help="Leave an unstable pose for a stable one.")
    ] = False,
    patience: Annotated[
        float, typer.Option(help="Simulated time in which what may touch has to come to rest [s].")
    ] = 100.0,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Find a pose in which a mechanism rests, what holds it there, contacts included, and whether it stays."""
    model, _ = find_subject(subject, settings)
    held = {}
    for text in hold or []:
        name, _, value = text.partition("=")
        try:
            held[name] = float(value)
        except ValueError:
            raise LinkworkError(f"--hold {text}: write NAME=NUMBER") from None
    with compiling(quiet=as_json):
        from ..analysis.statics import Statics

        study = Statics(model, hold=held, patience=patience)  # compiles what it needs
    with progress_bar("creeping to rest", quiet=as_json or not study.creeps) as advance:
        found = study.find(stable=stable, progress=advance)
    if as_json:
        print_json(found.to_dict())
        return
    for line in found.lines():
        say(escape(line))


@app.command()
def fuzz(
    count: Annotated[int, typer.Option(help="How many mechanisms.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Of the first; the others follow.", min=0)] = 0,
    decades: Annotated[float, typer.Option(help="Largest ratio of masses, as a power of ten.")] = 6.0,
    bodies: Annotated[str, typer.Option(help="How many bodies: a number, or FEWEST-MOST.")] = "1-8",
    loops: Annotated[str, typer.Option(help="How many closed loops: a number, or FEWEST-MOST.")] = "0-3",
    offset: Annotated[bool, typer.Option("--offset", help="Loops start slightly open.")] = False,
    solver: Annotated[str, typer.Option(help="Of both formulations: direct or impulses.")] = "direct",
    time_limit: Annotated[float | None, typer.Option(help="Begin no mechanism after this time [s].")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report and failures: model files and texts.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Examine random mechanisms: two formulations must tell one motion; nothing may break, open or gain energy."""
    need_folder(out and out / "failure")
    with compiling(quiet=as_json):
        from ..fuzz.fuzz import fuzz as examine_many
        from ..fuzz.fuzz import span, write_failure, write_report
    with progress_bar("examining mechanisms", quiet=as_json) as advance:
        report = examine_many(
            count, seed, solver=solver, time_limit=time_limit, progress=advance,
            failed=None if out is None else lambda failure, so_far: write_failure(failure, out, so_far),
            bodies=span("bodies", bodies), loops=span("loops", loops), decades=decades, offset=offset,
        )  # fmt: skip
    if out is not None:
        write_report(report, out)
    if as_json:
        print_json(report.to_dict())
    else:
        say(escape(report.text()))
    if not report.ok:
        raise typer.Exit(1)
