"""What commands share: options, messages, progress, and the model that a command is about."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ..model.errors import LinkworkError

if TYPE_CHECKING:
    from ..model import Model
    from ..scenes import Scene

app = typer.Typer(
    help="Simulate mechanisms: bodies and joints as they stand, in Python at compiled speed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # units stand in brackets, which markup would swallow
)
console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

_BAR = 30  # characters of a bar
_PATIENCE = 2.0  # after which a wait is told [s]
_WAITING = "still preparing: large models with many loops take their time ..."

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Subject = Annotated[
    str,
    typer.Argument(
        metavar="SCENE_OR_FILE",
        help="A scene's name, a model file (.yaml, .urdf, .xml) or a scene's file (.py).",
    ),
]
Dt = Annotated[float | None, typer.Option(help="Step [s].")]
Method = Annotated[
    str | None,
    typer.Option(
        help="tree (open mechanisms), simgc, simmc (any mechanism), components (subsystem by subsystem), or for large "
        "steps of smooth motions hybrid, global, topological; default: the first of tree and simgc that can do the "
        "model. `linkwork methods` tells more."
    ),
]
Solver = Annotated[
    str | None,
    typer.Option(help="Of simgc and simmc: direct (exact, the default) or impulses (the papers')."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter of the scene or file; repeatable."),
]


def find_subject(subject: str, settings: list[str] | None) -> tuple[Model, Scene | None]:
    """The model that a scene's name or a file's path stands for."""
    from ..interchange.kinds import is_foreign
    from ..scenes import open_subject

    given = find_settings(settings)
    if is_foreign(subject):
        from ..interchange.kinds import open_options
        from ..interchange.open_file import import_model

        model, report = import_model(subject, **open_options(subject, given))
        if not report.lossless:
            notice("import", f"{report.summary()}; `linkwork import {subject}` tells what and where")
        return model, None
    return open_subject(subject, given)


def find_settings(settings: list[str] | None) -> dict[str, Any]:
    """What --set options say."""
    return dict(_setting(text) for text in settings or [])


def _setting(text: str) -> tuple[str, Any]:
    name, mark, value = text.partition("=")
    if not mark:
        raise LinkworkError(f"--set {text}: write NAME=VALUE")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        raise LinkworkError(f"--set {text}: '{value}' is not a number, true, false or [list]") from None


def warm(simulation: Any) -> None:
    """Compile what a run needs, by a step that is taken back."""
    simulation.run(simulation.dt)
    simulation.reset()


def list_names(units: dict[str, str], as_json: bool) -> None:
    """Print signals and their units."""
    if as_json:
        print_json({"signals": [{"signal": name, "unit": unit} for name, unit in units.items()]})
        return
    width = max(map(len, units), default=0)
    for name, unit in units.items():
        typer.echo(f"{name:{width}}  {unit}")


def need_folder(*paths: Path | None) -> None:
    """Fail before a long run, not after it."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise LinkworkError(f"{path}: there is no folder '{path.parent}' to write into")


@contextmanager
def compiling(*, quiet: bool) -> Iterator[None]:
    """Tell the user about the wait if kernels have to be compiled, or if a large model takes its time to be set up."""
    from ..engine.kernels.store import cache_directory
    from ..run.warmup import telling

    if quiet:
        yield
        return
    if not sys.stderr.isatty():
        told: list[str] = []

        def once(share: float, names: Sequence[str]) -> None:
            if not told:
                told.extend(names)
                errors.print(f"compiling kernels of {', '.join(names)}, once per version ...")

        def unless_told() -> None:
            if not told:
                errors.print(_WAITING)

        with telling(once), _after(_PATIENCE, unless_told):
            yield
        return
    unkept = "compiling kernels, which cannot be kept ..."
    began: list[float] = []
    with errors.status("loading ..." if cache_directory() is not None else unkept) as status:

        def update(share: float, names: Sequence[str]) -> None:
            began.append(time.monotonic())
            status.update(f"compiling {compile_text(share, names, began[-1] - began[0])}")

        def unless_begun() -> None:
            if not began:
                status.update(_WAITING)

        with telling(update), _after(_PATIENCE, unless_begun):
            yield


@contextmanager
def _after(seconds: float, call: Callable[[], object]) -> Iterator[None]:
    """Call something if what follows takes longer."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def compile_text(share: float, names: Sequence[str], passed: float) -> str:
    """What is being compiled after so many seconds: names, a bar, percent and the seconds that are left."""
    from ..run.warmup import left

    full = round(_BAR * share)
    remaining = f", {left(share, passed):.0f} s left" if share > 0.0 else ""
    return f"{', '.join(names)} {'━' * full}{'╌' * (_BAR - full)} {100.0 * share:.0f} %{remaining}"


@contextmanager
def progress_bar(label: str, *, quiet: bool) -> Iterator[Any]:
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


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say(text: str) -> None:
    """Print a text with markup; the terminal breaks its lines where it likes."""
    console.print(text, soft_wrap=True)


def notice(label: str, text: str) -> None:
    """Tell of something on the side that needs no end."""
    errors.print(f"[yellow]{label}:[/] {escape(text)}", soft_wrap=True)
