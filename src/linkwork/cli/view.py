"""Commands with a page in the browser: view, replay."""

from __future__ import annotations

import json
import os
import sys
import time
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..model.errors import LinkworkError
from .common import Dt, Method, Settings, Solver, app, errors, find_settings, notice, say
from .ending import ended_by_signals

Host = Annotated[
    str, typer.Option(help="Address to listen on; others than loopback want a token of visitors.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any that is free.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(help="File with a secret that visitors must know; made up and told if --host is given."),
]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser of this machine.")]
Folder = Annotated[Path, typer.Option(help="Where recordings and exports go.")]

_LOOPBACK = "127.0.0.1"
_FOREVER = 3600.0  # [s]


@app.command()
def view(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENE_OR_FILE",
            help="A scene's name, a model file (.yaml, .urdf, .xml) or a scene's file (.py); default: the gallery.",
        ),
    ] = None,
    method: Method = None,
    solver: Solver = None,
    dt: Dt = None,
    budget: Annotated[
        float | None, typer.Option(help="Time that a step may take [s]; default: the step.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Simulated time per time.")] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Do not begin to move.")] = False,
    folder: Folder = Path(),
    host: Host = _LOOPBACK,
    port: Port = 8080,
    token_file: TokenFile = None,
    udp: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Let programs drive it by datagrams at this port; 0 for any."),
    ] = None,
    browse: Open = True,
    settings: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as JSON.")] = False,
) -> None:
    """Simulate in real time and show it in the browser: 3-D picture, panel, plots, recording."""
    with ended_by_signals() as closers:
        from ..view.live import begin

        given, token = find_settings(settings), _token(token_file)
        page = begin(
            lambda page: page.begin(subject, given), host=host, port=port, token=token, folder=folder, speed=speed,
            paused=paused, method=method, solver=solver, dt=dt, budget=budget,
        )  # fmt: skip
        closers.append(page.close)
        if udp is not None:
            from ..live.remote import UdpPort

            programs = UdpPort(lambda: page.session, port=udp, host=host, token=page.server.token)
            closers.append(programs.close)
            errors.print(f"programs may drive it by datagrams at {host}:{programs.port}")
        url = page.server.url + ("" if subject else "gallery")
        _serve(page, url, browse, as_json, tell_token=token is None)


@app.command()
def replay(
    record: Annotated[
        Path, typer.Argument(help="A record (.h5), as `linkwork run --save` or the page writes.")
    ],
    host: Host = _LOOPBACK,
    port: Port = 8080,
    token_file: TokenFile = None,
    browse: Open = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as JSON.")] = False,
) -> None:
    """Play a record in the browser, with a slider for its time."""
    with ended_by_signals() as closers:
        from ..view.live import begin

        if not record.exists():
            raise LinkworkError(f"{record}: there is no such file")
        token = _token(token_file)
        page = begin(
            lambda page: page.replay(record), host=host, port=port, token=token, folder=record.parent
        )
        closers.append(page.close)
        _serve(page, page.server.url, browse, as_json, tell_token=token is None)


def _token(path: Path | None) -> str | None:
    """What a file says that visitors must know."""
    if path is None:
        return None
    from ..distributed.handshake import read_token

    return (read_token(path) or b"").decode(errors="replace")


def _serve(page: Any, url: str, browse: bool, as_json: bool, tell_token: bool) -> None:
    """Say where a page is and let it be until a signal ends the process, which may be as soon as it was said."""
    _greet(page, url, as_json, page.server.token if tell_token else None)
    if browse:
        _browse(url)
    while True:
        time.sleep(_FOREVER)


def _browse(url: str) -> None:
    """Open a browser with a window; without a screen one of text might take the terminal."""
    screen = (
        sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if screen:
        webbrowser.open(url)


def _greet(page: Any, url: str, as_json: bool, token: str | None) -> None:
    if page.server.host != _LOOPBACK:
        what = "can drive this simulation and write recordings; nothing is encrypted"
        notice("warning", f"whoever reaches {page.server.host} and has the token {what}")
    if as_json:
        made = {} if token is None else {"token": token}
        typer.echo(json.dumps({"url": url, "port": page.server.port, **made}))
    else:
        say(f"[bold]{escape(page.subject)}[/] runs at [link={url}]{escape(url)}[/link]   (Ctrl-C ends it)")
        if token is not None:
            say(f"visitors must type this token: [bold]{escape(token)}[/]")
        if page.compiling:
            errors.print("compiling kernels, once per version: the page shows how far it is")
