"""What commands share: options, messages, progress, and the model that a command is about."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
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

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Subject = Annotated[
    str, typer.Argument(metavar="SCENE_OR_FILE", help="A scene's name or a model file (.yaml).")
]
Dt = Annotated[float | None, typer.Option(help="Step [s].")]
Method = Annotated[
    str | None,
    typer.Option(
        help="tree, simgc, simmc, or for large steps of smooth motions hybrid, global, topological; "
        "default: the first of tree and simgc that can do the model."
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
    from ..scenes import open_subject

    return open_subject(subject, find_settings(settings))


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
def compiling(*, quiet: bool, always: bool = False) -> Iterator[None]:
    """Tell the user about the wait if kernels have to be compiled."""
    if quiet or not sys.stderr.isatty():
        if not quiet and (always or _cold()):
            errors.print("compiling kernels, once per version (10 to 60 s) ...")
        yield
        return
    text = "compiling kernels, once per version ..." if always or _cold() else "loading ..."
    with errors.status(text):
        yield


def _cold() -> bool:
    from ..engine.kernels.store import cache_directory

    where = cache_directory()
    return where is None or not any(where.glob("*/*run*.nbi"))


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
