"""Commands that simulate: scenes, run, schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Column
from rich.table import Table as Grid

from ..model.errors import UnsupportedError
from .common import (
    AsJson,
    Dt,
    Method,
    Settings,
    Solver,
    Subject,
    app,
    compiling,
    console,
    find_subject,
    list_names,
    need_folder,
    notice,
    print_json,
    progress_bar,
    say,
    warm,
)

if TYPE_CHECKING:
    from ..analysis.verify import Verification
    from ..results.record import Record
    from ..run.simulate import Simulation
    from ..scenes import Scene


@app.command()
def scenes(as_json: AsJson = False) -> None:
    """List the scenes that come with Linkwork."""
    from ..scenes import find_scene, gallery_names

    found = [find_scene(name) for name in gallery_names()]
    if as_json:
        keys = ("description", "source", "duration", "dt", "parameters")
        print_json([{"scene": s.name, **{key: getattr(s, key) for key in keys}} for s in found])
        return
    grid = Grid("scene", "what it is", "parameters")
    for s in found:
        grid.add_row(s.name, s.description, ", ".join(s.parameters))
    console.print(grid)


@app.command()
def run(
    subject: Subject,
    duration: Annotated[float | None, typer.Option("--time", help="Simulated time [s].")] = None,
    dt: Dt = None,
    method: Method = None,
    solver: Solver = None,
    integrator: Annotated[
        str | None,
        typer.Option(
            help="adams, rk4, euler or adaptive; trapezoidal or alpha for large steps; "
            "default: the best for the method."
        ),
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(
            help="Of alpha: share of an oscillation too fast for the step that is left after it, 0 to 1."
        ),
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
    list_signals: Annotated[
        bool,
        typer.Option(
            "--list-signals", help="List signals and units that a run would record, or derive; run nothing."
        ),
    ] = False,
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Processes to share the work of method components, by MPI.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Run once more at half the step (a tenth of the tolerance), and tell what differs.",
        ),
    ] = False,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a scene or a model file and report how far energy strayed."""
    if ranks is not None:
        _go_into_ranks(ranks, method)
    model, found = find_subject(subject, settings)
    need_folder(plot, save)
    with compiling(quiet=as_json):
        from ..run.simulate import Simulation

        step = dt if dt is not None else (found.dt if found else 1e-3)
        options: dict[str, Any] = {
            "method": method or _usual_method(found, solver), "solver": solver, "integrator": integrator,
            "epsilon": epsilon, "budget": budget, "rho": rho,
        }  # fmt: skip
        simulation = Simulation(model, dt=step, tolerance=tolerance, **options)
        if not list_signals:
            warm(simulation)
    if list_signals:
        list_names(simulation.signals, as_json)
        return
    length = duration if duration is not None else (found.duration if found else 10.0)
    with progress_bar(f"simulating {model.name}", quiet=as_json) as advance:
        try:
            record = simulation.run(length, every=every, save=save, progress=advance)
        except KeyboardInterrupt:
            if save is not None and save.with_name(f"{save.name}.part").exists():
                notice("interrupted", f"what was recorded until {simulation.time:g} s is in {save}.part")
            raise
    checked = _verified(simulation, record, length, options, as_json) if verify else None
    if plot is not None:
        record.plot(*(signals or (found.plot if found else ())), path=plot)
    report = _report(subject, record)
    if as_json:
        print_json(report if checked is None else {**report, "verify": checked.to_dict()})
    else:
        _print_report(report, save, plot)
        if checked is not None:
            _print_verification(checked)
    if checked is not None and not checked.converged:
        raise typer.Exit(1)


def _verified(
    first: Simulation, record: Record, length: float, options: dict[str, Any], quiet: bool
) -> Verification:
    """A second run that is finer, and what differs."""
    from ..analysis.verify import verify
    from ..run.simulate import Simulation

    adaptive = first.method.adaptive
    finer = {"dt": first.dt, "tolerance": 0.1 * first.tolerance} if adaptive else {"dt": 0.5 * first.dt}
    told = f"a tolerance of {0.1 * first.tolerance:g}" if adaptive else f"steps of {0.5 * first.dt:g} s"
    second = Simulation(first.compiled or first.system, **{**options, **finer})
    with progress_bar(f"verifying with {told}", quiet=quiet) as advance:
        fine = second.run(length, every=record.info["every"], progress=advance)
    second.close()
    return verify(record, fine, told)


def _print_verification(checked: Verification) -> None:
    grid = Grid("kind", "differs most", *(Column(head, justify="right") for head in ("by", "of", "at [s]")))
    for one in checked.differences:
        by, of = (f"{value:.2g} {escape(one.unit)}" for value in (one.largest, one.range))
        grid.add_row(one.group, escape(one.signal), by, of, f"{one.time:.3g}")
    console.print(grid)
    if checked.converged:
        say(f"[green]{escape(checked.text())}[/]")
    else:
        say(f"[yellow]warning:[/] {escape(checked.text())}")


def _go_into_ranks(ranks: int, method: str | None) -> None:
    """Begin anew in as many processes, unless this is one of them."""
    from ..distributed.launch import inside_mpi, restart_in_ranks
    from ..methods.capabilities import PROCESSES, has
    from ..methods.registry import WAYS

    sharing = [way.name for way in WAYS if has([way.name], PROCESSES)]
    if method not in sharing:
        raise UnsupportedError(f"--ranks shares the work of method '{sharing[0]}'; say --method {sharing[0]}")
    if not inside_mpi():
        restart_in_ranks(ranks)


@app.command()
def schema() -> None:
    """Print the JSON schema of model files, for editors."""
    from ..io import model_schema

    print_json(model_schema())


def _report(subject: str, record: Record) -> dict[str, Any]:
    info = {
        "scene": subject, "time": float(record.time[-1]), "energy_drift_J": record.energy_drift, **record.info
    }  # fmt: skip
    return {key: info[key] for key in _REPORTED if key in info}


_REPORTED = (
    "scene", "method", "integrator", "dt", "time", "steps", "wall_s", "us_per_step", "energy_drift_J", "solver",
    "worst_gap_m", "worst_row", "deepest_m", "iterations_mean", "iterations_max", "steps_cut_short",
    "degenerate_rows", "evaluations_mean", "events", "steps_by_impulses", "steps_unsettled", "steps_over_budget",
    "nearest_singular", "redundant_rows", "reactions_indeterminate", "rho", "factorisations_mean", "steps_halved",
    "sets_chosen_anew", "processes", "warnings",
)  # fmt: skip


def _usual_method(found: Scene | None, solver: str | None) -> str | None:
    """The scene's own method, unless a solver is asked for that it does not have."""
    from ..methods.registry import ways_of

    if found is None or (solver is not None and not ways_of(method=found.method, solver=solver)):
        return None
    return found.method


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
    if "deepest_m" in report:
        rows["deepest contact"] = f"{report['deepest_m']:.3g} m"
    if "iterations_mean" in report:
        rows["iterations"] = f"{report['iterations_mean']:.3g} a step, {report['iterations_max']} at most"
    if report.get("steps_halved"):
        rows["halved"] = f"{report['steps_halved']} steps, for want of convergence or accuracy"
    if "evaluations_mean" in report:
        rows["evaluations"] = f"{report['evaluations_mean']:.3g} a step"
        if "events" in report:
            rows["evaluations"] += f", {report['events']} events"
    if save is not None:
        rows["record"] = str(save)
    if plot is not None:
        rows["plot"] = str(plot)
    for name, value in rows.items():
        grid.add_row(f"[bold]{name}[/]", escape(value))
    console.print(grid)
    if "processes" in report:
        console.print(_processes(report["processes"]))
    for warning in report["warnings"]:
        say(f"[yellow]warning:[/] {escape(warning)}")


def _processes(processes: list[dict[str, Any]]) -> Grid:
    """How long each process of a distributed run computed and waited for others."""
    grid = Grid(
        "process", "holds", Column("computed [s]", justify="right"), Column("waited [s]", justify="right")
    )
    for process in processes:
        held = escape(", ".join(process["components"]))
        computed, waited = (f"{process[key]:.3g}" for key in ("computed_s", "waited_s"))
        grid.add_row(str(process["process"]), held, computed, waited)
    return grid
