"""The command that draws: pictures and films of scenes, model files and records."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from ..model.errors import LinkworkError, nearest
from .common import Settings, app, compiling, find_subject, need_folder, progress_bar, say, warm

if TYPE_CHECKING:
    from ..results.record import Record
    from ..stage.stage import Stage

_KINDS = (".png", ".mp4", ".gif", ".html", ".svg")
_RECORDS = (".h5", ".hdf5", ".part")
_USUAL_DURATION, _USUAL_DT = 10.0, 1e-3  # of a model file [s]
_EVERY = 0.01  # between samples of a run that is only watched [s]


@app.command()
def picture(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SCENE_OR_FILE_OR_RECORD",
            help="A scene's name, a model file (.yaml, .urdf, .xml) or a record (.h5).",
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="What to write: .png, .mp4, .gif, .html, or .svg of its control diagram."
        ),
    ],
    duration: Annotated[float | None, typer.Option("--time", help="Time to simulate [s].")] = None,
    at: Annotated[
        float | None, typer.Option(help="Time of a picture [s]; default: the middle of the motion.")
    ] = None,
    fps: Annotated[float, typer.Option(help="Frames a second of a film.")] = 30.0,
    speed: Annotated[float, typer.Option(help="Seconds of motion in a second of a film.")] = 1.0,
    size: Annotated[str, typer.Option(metavar="WxH", help="Width and height in pixels.")] = "800x512",
    camera: Annotated[str, typer.Option(help="best, front, side or top.")] = "best",
    show: Annotated[
        list[str] | None,
        typer.Option(
            help="Layers: ground, bodies, joints, springs (these by default), limits, coms, frames; "
            "repeatable, or with commas."
        ),
    ] = None,
    trace: Annotated[
        list[str] | None,
        typer.Option(metavar="MARKER", help="Marker to trace; repeatable; default: all; 'none' for none."),
    ] = None,
    settings: Settings = None,
) -> None:
    """Draw a scene, a model file or a record: a picture (.png), a film (.mp4, .gif), a page that plays it (.html), or
    the control diagram of a model (.svg)."""
    from ..view.camera import PRESETS
    from ..view.render import render

    kind = out.suffix.lower()
    still = kind == ".png"
    if kind not in _KINDS:
        raise LinkworkError(f"{out}: not written as '{kind}', but as one of {', '.join(_KINDS)}")
    need_folder(out)
    if kind == ".svg":
        _draw_diagram(subject, settings, out)
        return
    if camera not in PRESETS:
        raise LinkworkError(f"there is no camera '{camera}'{nearest(camera, PRESETS)}")
    if at is not None and not still:
        raise LinkworkError("--at is the time of a picture; a film shows all times")
    width, height = _size(size)
    layers = [layer.strip() for text in show or [] for layer in text.split(",") if layer.strip()]
    traces = None if trace is None else [name for name in trace if name != "none"]
    if Path(subject).suffix in _RECORDS:
        record, stage = _recorded(subject, settings, duration)
    else:
        record, stage = _simulated(subject, settings, duration, at, not still)
        if still:
            at = float(record.time[-1]) if at is None else min(at, float(record.time[-1]))
    options: dict[str, Any] = {"stage": stage, "traces": traces}
    if layers:
        options["layers" if kind == ".html" else "show"] = layers
    if kind != ".html":
        options |= {"width": width, "height": height, "preset": camera}
    if still:
        with compiling(quiet=False):
            render(record, out, t=at, **options)
        say(f"{escape(str(out))}: {width} × {height} pixels")
        return
    if kind != ".html":
        options["speed"] = speed
    with progress_bar(f"drawing {out.name}", quiet=False) as advance:
        frames = render(record, out, fps=fps, progress=advance, **options)
    if kind == ".html":
        say(f"{escape(str(out))}: open it in a browser; it needs no server")
    else:
        say(f"{escape(str(out))}: {frames} frames of {width} × {height} pixels, {frames / fps:.3g} s")


def _draw_diagram(subject: str, settings: list[str] | None, out: Path) -> None:
    """The control diagram of a model."""
    from ..control.diagram import Diagram
    from ..control.svg import diagram_svg

    if Path(subject).suffix in _RECORDS:
        raise LinkworkError(f"{subject} is a record: a diagram is drawn of a model or a scene")
    model, _ = find_subject(subject, settings)
    flat = model.flatten()
    if not flat.control:
        raise LinkworkError(
            f"the model '{model.name}' has no control diagram: nothing to draw as {out.suffix}"
        )
    out.write_text(diagram_svg(Diagram.of(flat)), encoding="utf-8")
    say(f"{escape(str(out))}: {len(flat.control)} blocks")


def _recorded(subject: str, settings: list[str] | None, duration: float | None) -> tuple[Record, Stage]:
    """A record that was saved, and what is to be seen in it."""
    if settings or duration is not None:
        raise LinkworkError(f"{subject} is a record: --set and --time are for what is simulated anew")
    from ..results.record import Record
    from ..view.motion import stage_in

    record = Record.load(subject)
    return record, stage_in(record)


def _simulated(
    subject: str, settings: list[str] | None, duration: float | None, at: float | None, whole: bool
) -> tuple[Record, Stage]:
    """The motion of a scene or a model file: all of it, or until the time of a picture."""
    model, found = find_subject(subject, settings)
    length = duration if duration is not None else (found.duration if found else _USUAL_DURATION)
    if not 0.0 < length < math.inf:
        raise LinkworkError(f"--time must be a positive number of seconds, not {length:g}")
    if not whole:
        moment = length / 2 if at is None else at
        if not 0.0 <= moment <= length:
            raise LinkworkError(f"--at {moment:g} s is outside of the motion, which lasts {length:g} s")
        length = moment
    with compiling(quiet=False):
        from ..run.simulate import Simulation
        from ..stage.stage import stage_of

        dt = found.dt if found else _USUAL_DT
        simulation = Simulation(model, method=found.method if found else None, dt=dt)
        warm(simulation)
    # Whole steps, and at least one: the start itself makes a picture too.
    steps = max(1, math.ceil(length / dt - 1e-9))
    every = min(max(1, round(_EVERY / dt)), steps) * dt
    with progress_bar(f"simulating {model.name}", quiet=False) as advance:
        record = simulation.run(steps * dt, every=every, progress=advance, reactions=False)
    return record, stage_of(model)


def _size(text: str) -> tuple[int, int]:
    width, cross, height = text.lower().partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise LinkworkError(f"--size {text}: write width and height in pixels as 800x512")
    return int(width), int(height)
