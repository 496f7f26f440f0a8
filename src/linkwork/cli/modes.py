"""The command of linear motion: eigenvalues and modes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Column
from rich.table import Table as Grid

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
    say,
)

if TYPE_CHECKING:
    from ..analysis.linear_system import LinearSystem

_SHOWN = 3  # states of a mode


@app.command()
def modes(
    subject: Subject,
    time: Annotated[
        float, typer.Option(help="Simulate so long first [s]; default: about the start, as written.")
    ] = 0.0,
    steady: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Seek a steady motion near the state, in which an independent coordinate or rate has this value; "
            "repeatable. --steady '' keeps nothing.",
        ),
    ] = None,
    cyclic: Annotated[
        bool,
        typer.Option(
            "--drop-cyclic", help="Leave out positions on which nothing depends, such as where a vehicle is."
        ),
    ] = False,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="A drive, or a joint coordinate for a force along it; repeatable. Default: all drives.",
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output", help="What is measured: arm.angle, arm.angle_rate, hand.position.x …; repeatable."
        ),
    ] = None,
    film: Annotated[
        Path | None,
        typer.Option(
            help="Show modes one after the other: a page that plays them (.html), a film (.mp4, .gif)."
        ),
    ] = None,
    bode: Annotated[
        Path | None, typer.Option(help="Write gain and phase over frequency to this file (.png, .svg, .pdf).")
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Small motions about a state or a steady motion: eigenvalues, modes, state-space matrices (--json)."""
    model, found = find_subject(subject, settings)
    need_folder(film, bode)
    with compiling(quiet=as_json):
        from ..analysis.linearise import linearise

        what: object = model
        if time > 0.0:
            from ..run.simulate import Simulation

            what = Simulation(model, dt=found.dt if found else 1e-3, method="simgc")
            what.run(time, reactions=False)
        system = linearise(
            what,  # type: ignore[arg-type]
            inputs=inputs, outputs=outputs, drop_cyclic=cyclic, steady=None if steady is None else _held(steady),
        )  # fmt: skip
    if bode is not None:
        from ..analysis.bode import bode as draw

        draw(system, None, bode)
    if film is not None:
        from ..analysis.linear_motion import modes_record
        from ..view.render import render

        render(modes_record(system), film)
    if as_json:
        print_json(system.to_dict())
    else:
        _print(system, film, bode)


def _held(texts: list[str]) -> dict[str, float]:
    held = {}
    for text in filter(None, texts):
        name, mark, value = text.partition("=")
        try:
            held[name] = float(value)
        except ValueError:
            mark = ""
        if not mark:
            raise LinkworkError(f"--steady {text}: write NAME=NUMBER")
    return held


def _print(system: LinearSystem, film: Path | None, bode: Path | None) -> None:
    grid = Grid(
        Column("eigenvalue [1/s]", justify="right"), Column("frequency [Hz]", justify="right"),
        Column("damping ratio", justify="right"), "what moves",
    )  # fmt: skip
    for mode in system.modes:
        s = mode.eigenvalue
        value = f"{s.real:.6g} ± {s.imag:.6g}j" if s.imag else f"{s.real:.6g}"
        sizes = abs(mode.shape) / system.scales
        most = [k for k in sizes.argsort()[::-1][:_SHOWN] if sizes[k] > 0.1 * sizes.max()]
        swings = bool(s.imag)
        grid.add_row(
            value,
            f"{mode.frequency:.6g}" if swings else "–",
            f"{mode.damping:.4g}" if swings else "–",
            escape(", ".join(system.states[k].name for k in most)),
        )
    say(f"[bold]{escape(system.name)}[/]: {len(system.states)} states, {len(system.inputs)} inputs")
    console.print(grid)
    if system.residual > 1e-6:
        say(
            "[yellow]note:[/] the reference is no equilibrium: states change by up to "
            f"{system.residual:.3g} a second there; --steady '' seeks one"
        )
    for note in system.notes:
        say(f"[yellow]note:[/] {escape(note)}")
    for label, path in (("film", film), ("Bode plot", bode)):
        if path is not None:
            say(f"{label}: {escape(str(path))}")
