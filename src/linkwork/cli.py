"""The command line. Importing this loads neither Numba nor the model layer: help is instant."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid

from . import __version__
from .errors import LinkworkError

if TYPE_CHECKING:
    from .model import Model
    from .record import Record
    from .scenes import Scene

app = typer.Typer(
    help="Simulate mechanisms: bodies and joints as they stand, in Python at compiled speed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
errors = Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Subject = Annotated[
    str, typer.Argument(metavar="SCENE_OR_FILE", help="A scene's name or a model file (.yaml).")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter of the scene or file; repeatable."),
]


def main() -> None:
    """Entry point: errors of ours become one readable message and exit code 1."""
    try:
        app(standalone_mode=True)
    except LinkworkError as error:
        errors.print(f"[bold red]error:[/] {_escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def scenes(as_json: AsJson = False) -> None:
    """List the scenes that come with Linkwork."""
    from .scenes import find_scene, scene_names

    found = [find_scene(name) for name in scene_names()]
    if as_json:
        _print_json(
            [
                {
                    "scene": s.name,
                    "description": s.description,
                    "source": s.source,
                    "duration": s.duration,
                    "dt": s.dt,
                    "parameters": s.parameters,
                }
                for s in found
            ]
        )
        return
    grid = Grid("scene", "what it is", "parameters")
    for s in found:
        grid.add_row(s.name, s.description, ", ".join(s.parameters))
    console.print(grid)


@app.command()
def run(
    subject: Subject,
    duration: Annotated[float | None, typer.Option("--time", help="Simulated time [s].")] = None,
    dt: Annotated[float | None, typer.Option(help="Step [s].")] = None,
    method: Annotated[
        str | None, typer.Option(help="tree, simgc or simmc; default: the first that can do the model.")
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(help="Of simgc and simmc: direct (exact, the default) or impulses (the papers')."),
    ] = None,
    integrator: Annotated[
        str | None, typer.Option(help="adams, rk4, euler or adaptive; default: the best for the method.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Local error to keep, by an adaptive integrator, instead of a fixed step."),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Change of impulses that ends iterations [N s].")
    ] = None,
    budget: Annotated[float | None, typer.Option(help="Time that a step may take [s].")] = None,
    every: Annotated[float | None, typer.Option(help="Time between samples [s].")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the record to this HDF5 file while running.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file (.png, .svg, .pdf).")] = None,
    signals: Annotated[
        list[str] | None, typer.Option("--signal", help="Signal to plot, e.g. 'pivot.*'; repeatable.")
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a scene or a model file and report how far energy strayed."""
    model, found = _subject(subject, settings)
    if plot is not None:
        _need_folder(plot)
    if save is not None:
        _need_folder(save)
    with _compiling(quiet=as_json):
        from .simulate import Simulation

        simulation = Simulation(
            model,
            method=method or (found.method if found else None),
            solver=solver,
            integrator=integrator,
            epsilon=epsilon,
            budget=budget,
            dt=dt if dt is not None else (found.dt if found else 1e-3),
            tolerance=tolerance,
        )
        _warm(simulation)
    length = duration if duration is not None else (found.duration if found else 10.0)
    with _progress(f"simulating {model.name}", quiet=as_json) as advance:
        record = simulation.run(length, every=every, save=save, progress=advance)
    if plot is not None:
        record.plot(*(signals or (found.plot if found else ())), path=plot)
    report = _report(subject, record)
    if as_json:
        _print_json(report)
        return
    _print_report(report, save, plot)


@app.command()
def check(
    subject: Subject,
    settings: Settings = None,
    test_run: Annotated[
        bool,
        typer.Option("--run/--no-run", help="Also simulate a second of it and look for singular positions."),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """The doctor: mobility, redundant joints, start, stiff parts, suspicious masses; all at once, with what to do."""
    from .study.check import check as examine

    model, _ = _subject(subject, settings)
    with _compiling(quiet=as_json):
        checkup = examine(model, test_run=test_run)
    if as_json:
        _print_json(checkup.to_dict())
    else:
        moves = checkup.dof if checkup.mobility is None else checkup.mobility
        head = (
            f"{checkup.bodies} bodies, {checkup.joints} joints, {moves} degree{'s' * (moves != 1)} of freedom"
        )
        if checkup.mobility is not None and checkup.mobility != checkup.dof:
            head += f" (Grübler's count: {checkup.dof})"
        console.print(f"[bold]{_escape(checkup.model)}[/]: {head}")
        for line in checkup.tree:
            console.print(f"  {_escape(line)}", highlight=False)
        for name in checkup.cuts:
            console.print(f"  cut: {_escape(name)} closes a loop", highlight=False)
        nearest = checkup.nearest_singular
        if nearest is not None:
            where = f"{nearest.distance:.2g} at t = {nearest.time:.3g} s of {nearest.duration:.3g} s"
            console.print(f"  nearest singular position: distance {where}", highlight=False)
        colours = {"error": "red", "warning": "yellow", "note": "cyan"}
        for finding in checkup.findings:
            label = f"[{colours[finding.level]}]{finding.level}[/]"
            text = f"{label} {_escape(finding.where)}: {_escape(finding.what)}"
            console.print(text, highlight=False, soft_wrap=True)
        if not checkup.findings:
            console.print("[green]nothing suspicious[/]")
    if not checkup.ok:
        raise typer.Exit(1)


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
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Find a pose in which a mechanism rests, what holds it there and whether it stays."""
    model, _ = _subject(subject, settings)
    held = {}
    for text in hold or []:
        name, _, value = text.partition("=")
        try:
            held[name] = float(value)
        except ValueError:
            raise LinkworkError(f"--hold {text}: write NAME=NUMBER") from None
    with _compiling(quiet=as_json):
        from .study.statics import equilibrium

        found = equilibrium(model, hold=held, stable=stable)
    if as_json:
        _print_json(found.to_dict())
        return
    for line in found.lines():
        console.print(_escape(line), highlight=False, soft_wrap=True)


@app.command()
def warmup(as_json: AsJson = False) -> None:
    """Compile all kernels ahead of time, so that the first run starts at once."""
    began = time.perf_counter()
    with _compiling(quiet=as_json, always=True):
        from .kernels.jit import cache_directory
        from .methods import TABLEAUS
        from .scenes import scene
        from .simulate import SOLVERS, Simulation

        for integrator in TABLEAUS:
            _warm(Simulation(scene("chain5"), integrator=integrator))
        for solver in SOLVERS:
            _warm(Simulation(scene("double_four_bar"), solver=solver))
    seconds = time.perf_counter() - began
    where = cache_directory()
    if as_json:
        _print_json({"seconds": seconds, "cache": None if where is None else str(where)})
    elif where is None:
        console.print(f"compiled in {seconds:.1f} s, but no folder could be written to keep the result")
    else:
        console.print(f"ready in {seconds:.1f} s; kept in {where}", highlight=False)


@app.command()
def bench(
    suite: Annotated[str, typer.Argument(help="What to measure: tree or loops.")] = "tree",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and repetitions.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure speed as ratios against other engines, interleaved in this process."""
    from .bench import SUITES

    if suite not in SUITES:
        raise LinkworkError(f"there is no benchmark '{suite}' (known: {', '.join(SUITES)})")
    with _progress(f"benchmark {suite}", quiet=as_json) as advance:
        result = SUITES[suite](quick=quick, progress=advance)
    if as_json:
        _print_json(result.to_dict())
    else:
        for grid in result.tables():
            console.print(grid)


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="Which paper: simgc.")],
    plot: Annotated[Path | None, typer.Option(help="Write a plot to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run what a paper shows and set it beside what the paper reports."""
    from .reproduce import PAPERS
    from .reproduce import reproduce as run_paper

    if paper not in PAPERS:
        raise LinkworkError(f"there is no paper '{paper}' (known: {', '.join(PAPERS)})")
    if plot is not None:
        _need_folder(plot)
    with _progress(f"reproducing {paper}", quiet=as_json) as advance:
        result = run_paper(paper, advance)
    if plot is not None and result.plot is not None:
        result.plot(plot)
    if as_json:
        _print_json(result.to_dict())
        return
    grid = Grid(*result.rows[0])
    for row in result.rows:
        grid.add_row(*(_cell(value) for value in row.values()))
    console.print(result.paper)
    console.print(grid)
    for note in result.notes:
        console.print(f"  {_escape(note)}", highlight=False)


@app.command()
def schema() -> None:
    """Print the JSON schema of model files, for editors."""
    from .io import model_schema

    _print_json(model_schema())


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
    out: Annotated[Path | None, typer.Option(help="Folder for failures: model files and texts.")] = None,
    as_json: AsJson = False,
) -> None:
    """Examine random mechanisms: two formulations must tell one motion; nothing may break, open or gain energy."""
    if out is not None:
        _need_folder(out / "failure")
    with _compiling(quiet=as_json):
        from .study.fuzz import fuzz as examine_many
        from .study.fuzz import span, write_failure
    with _progress("examining mechanisms", quiet=as_json) as advance:
        report = examine_many(
            count, seed, solver=solver, time_limit=time_limit, progress=advance,
            failed=None if out is None else lambda failure: write_failure(failure, out),
            bodies=span("bodies", bodies), loops=span("loops", loops), decades=decades, offset=offset,
        )  # fmt: skip
    if as_json:
        _print_json(report.to_dict())
    else:
        console.print(_escape(report.text()), highlight=False, soft_wrap=True)
    if not report.ok:
        raise typer.Exit(1)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _subject(subject: str, settings: list[str] | None) -> tuple[Model, Scene | None]:
    """The model that a scene's name or a file's path stands for."""
    parameters = dict(_setting(text) for text in settings or [])
    path = Path(subject)
    if path.suffix in (".yaml", ".yml") or path.exists():
        from .io import load_model

        return load_model(path, parameters), None
    from .scenes import find_scene, scene

    return scene(subject, **parameters), find_scene(subject)


def _setting(text: str) -> tuple[str, Any]:
    name, mark, value = text.partition("=")
    if not mark:
        raise LinkworkError(f"--set {text}: write NAME=VALUE")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        raise LinkworkError(f"--set {text}: '{value}' is not a number, true, false or [list]") from None


def _warm(simulation: Any) -> None:
    """Compile what a run needs, by a step that is taken back."""
    simulation.run(simulation.dt)
    simulation.reset()


def _report(subject: str, record: Record) -> dict[str, Any]:
    info = record.info
    return {
        "scene": subject,
        "method": info["method"],
        "integrator": info["integrator"],
        "dt": info["dt"],
        "time": float(record.time[-1]),
        "steps": info["steps"],
        "wall_s": info["wall_s"],
        "us_per_step": info["us_per_step"],
        "energy_drift_J": record.energy_drift,
        **{key: info[key] for key in _SOLVER_KEYS if key in info},
        "warnings": info["warnings"],
    }


_SOLVER_KEYS = (
    "solver", "worst_gap_m", "worst_row", "iterations_mean", "iterations_max", "steps_cut_short", "degenerate_rows",
    "evaluations_mean", "events", "steps_by_impulses", "steps_unsettled", "steps_over_budget", "nearest_singular",
    "redundant_rows", "reactions_indeterminate",
)  # fmt: skip


def _print_report(report: dict[str, Any], save: Path | None, plot: Path | None) -> None:
    grid = Grid(show_header=False, box=None)
    factor = report["time"] / report["wall_s"] if report["wall_s"] > 0 else float("inf")
    rows = {
        "simulated": f"{report['time']:g} s in {report['wall_s']:.3g} s, {factor:.3g} times real time",
        "steps": f"{report['steps']} of {report['integrator']}, {report['us_per_step']:.3g} µs each, "
        "recording included",
        "energy drift": f"{report['energy_drift_J']:.3g} J at most",
    }
    if "worst_gap_m" in report:
        where = f" in {report['worst_row']}" if report["worst_row"] else ""
        rows["largest gap"] = f"{report['worst_gap_m']:.3g} m{where}"
    if "iterations_mean" in report:
        rows["iterations"] = f"{report['iterations_mean']:.3g} a step, {report['iterations_max']} at most"
    if "evaluations_mean" in report:
        rows["evaluations"] = f"{report['evaluations_mean']:.3g} a step, {report['events']} events"
    if save is not None:
        rows["record"] = str(save)
    if plot is not None:
        rows["plot"] = str(plot)
    for name, value in rows.items():
        grid.add_row(f"[bold]{name}[/]", _escape(value))
    console.print(grid)
    for warning in report["warnings"]:
        console.print(f"[yellow]warning:[/] {_escape(warning)}", highlight=False)


def _need_folder(path: Path) -> None:
    """Fail before a long run, not after it."""
    if not path.parent.is_dir():
        raise LinkworkError(f"{path}: there is no folder '{path.parent}' to write into")


@contextmanager
def _compiling(*, quiet: bool, always: bool = False) -> Iterator[None]:
    """Tell the user about the wait if kernels have to be compiled."""
    if quiet or not sys.stderr.isatty():
        if not quiet and (always or _cold()):
            errors.print("compiling kernels, once per version (up to a minute) ...")
        yield
        return
    text = "compiling kernels, once per version ..." if always or _cold() else "loading ..."
    with errors.status(text):
        yield


def _cold() -> bool:
    from .kernels.jit import cache_directory

    where = cache_directory()
    return where is None or not any(where.glob("*run_*.nbi"))


@contextmanager
def _progress(label: str, *, quiet: bool) -> Iterator[Any]:
    """A progress bar on the terminal; gives a function that takes the share done."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(), console=errors,
    ) as bar:  # fmt: skip
        task = bar.add_task(label, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)
