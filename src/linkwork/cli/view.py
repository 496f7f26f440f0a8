"""Commands with a page in the browser: view, replay."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from ..model.errors import LinkworkError
from .common import Settings, app, compiling, console, errors, escape, find_settings

Host = Annotated[
    str, typer.Option(help="Address to listen on; others than loopback want a token of visitors.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any that is free.")]
Token = Annotated[str | None, typer.Option(help="What visitors must know; made up if --host is given.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser of this machine.")]
Folder = Annotated[Path, typer.Option(help="Where recordings and exports go.")]

_LOOPBACK = "127.0.0.1"
_FIRST_SCENE = "excavator"


@app.command()
def view(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENE_OR_FILE", help="A scene's name or a model file (.yaml); default: the gallery."
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="tree, simgc, simmc, hybrid, global or topological.")
    ] = None,
    solver: Annotated[str | None, typer.Option(help="Of simgc and simmc: direct or impulses.")] = None,
    dt: Annotated[float | None, typer.Option(help="Step [s].")] = None,
    budget: Annotated[
        float | None, typer.Option(help="Time that a step may take [s]; default: the step.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Simulated time per time.")] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Do not begin to move.")] = False,
    folder: Folder = Path(),
    host: Host = _LOOPBACK,
    port: Port = 8080,
    token: Token = None,
    browse: Open = True,
    settings: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as JSON.")] = False,
) -> None:
    """Simulate in real time and show it in the browser: 3-D picture, panel, plots, recording."""
    with compiling(quiet=as_json):
        from ..view.live import show

        page = show(
            subject or _FIRST_SCENE, host=host, port=port, token=token, folder=folder, speed=speed, paused=paused,
            settings=find_settings(settings), method=method, solver=solver, dt=dt, budget=budget, block=False,
        )  # fmt: skip
    _serve(page, page.server.url if subject else _at_gallery(page.server.url), browse, as_json)


@app.command()
def replay(
    record: Annotated[
        Path, typer.Argument(help="A record (.h5), as `linkwork run --save` or the page writes.")
    ],
    host: Host = _LOOPBACK,
    port: Port = 8080,
    token: Token = None,
    browse: Open = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as JSON.")] = False,
) -> None:
    """Play a record in the browser, with a slider for its time."""
    from ..view.page import Page
    from ..view.server import Server, new_token

    if not record.exists():
        raise LinkworkError(f"{record}: there is no such file")
    if token is None and host not in (_LOOPBACK, "localhost", "::1"):
        token = new_token()
    page = Page(Server(host=host, port=port, token=token), folder=record.parent)
    try:
        page.replay(record)
        page.start()
    except BaseException:
        page.close()
        raise
    _serve(page, page.server.url, browse, as_json)


def _serve(page: Any, url: str, browse: bool, as_json: bool) -> None:
    """Say where a page is and let it be until interrupted or terminated, which may be as soon as it was said."""
    from ..view.live import wait

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            _greet(page, url, as_json)
            if browse:
                _browse(url)
            wait()
    finally:
        page.close()


def _browse(url: str) -> None:
    """Open a browser with a window; without a screen one of text might take the terminal."""
    screen = (
        sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if screen:
        webbrowser.open(url)


def _at_gallery(url: str) -> str:
    start, mark, query = url.partition("?")
    return f"{start}gallery{mark}{query}"


def _greet(page: Any, url: str, as_json: bool) -> None:
    if page.server.host != _LOOPBACK:
        errors.print(
            f"[yellow]warning:[/] whoever reaches {escape(page.server.host)} and has the token can drive this "
            "simulation and write recordings; nothing is encrypted",
            highlight=False,
        )
    if as_json:
        typer.echo(json.dumps({"url": url, "port": page.server.port}))
    else:
        console.print(f"[bold]{escape(page.subject)}[/] runs at [link={url}]{escape(url)}[/link]   (Ctrl-C ends it)",
                      highlight=False, soft_wrap=True)  # fmt: skip
