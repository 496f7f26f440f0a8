"""Commands for sealed components: seal, serve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from .common import AsJson, Settings, app, find_subject, notice, print_json, say

if TYPE_CHECKING:
    from ..model.header import Header

KeyFile = Annotated[
    Path | None,
    typer.Option(help="File with the owner's key, 16 bytes or more; default: LINKWORK_SEAL_KEY, or no key."),
]


@app.command()
def seal(
    subject: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A component's model file (.yaml); with --show a sealed file."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write it; default: beside FILE, as .sealed."),
    ] = None,
    ports: Annotated[
        str | None, typer.Option(help="Bodies to which others may be joined, with commas between them.")
    ] = None,
    key_file: KeyFile = None,
    show: Annotated[
        bool, typer.Option("--show", help="Only tell what a sealed file says of itself.")
    ] = False,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Make a file of a component that can be simulated but not read."""
    from ..distributed.sealed_file import find_key, read_header
    from ..distributed.sealed_file import seal as write

    if show:
        _tell(read_header(subject), as_json)
        return
    key = find_key(key_file)
    component, _ = find_subject(subject, settings)
    named = [name.strip() for name in (ports or "").split(",") if name.strip()] or list(component.ports or ())
    path = output or Path(subject).with_suffix(".sealed")
    header = write(component, path, named, key)
    _tell(header, as_json)
    if not as_json:
        say(f"written to {escape(str(path))}")
        if not header.keyed:
            notice("note", "without a key the content is only obscured; see docs/sealed.md")


@app.command()
def serve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A sealed file.")],
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine must ask for it.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 7001,
    key_file: KeyFile = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with a secret that callers must know, in their LINKWORK_TOKEN.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="End after the first model that was simulated.")
    ] = False,
    child: Annotated[
        bool, typer.Option("--child", hidden=True, help="End when standard input closes.")
    ] = False,
) -> None:
    """Serve a sealed component to models elsewhere, until Ctrl-C."""
    from ..distributed.handshake import read_token
    from ..distributed.launch import LISTENING
    from ..distributed.sealed_file import find_key, unseal
    from ..distributed.server import Server, end_with_parent, is_loopback, stop_on_signals

    token = read_token(token_file)
    if child:
        end_with_parent()
    component, header = unseal(file, find_key(key_file))
    if not is_loopback(host) and token is None:
        what = "can use this component: there is no access control without --token-file"
        notice("warning", f"anybody who reaches {host} {what}")
    stop_on_signals()

    def say(text: str) -> None:
        if not child or LISTENING in text:  # who started a child wants to know where it listens, no more
            print(text, flush=True)

    Server(component, header, host, port, token, say).run(once)


def _tell(header: Header, as_json: bool) -> None:
    if as_json:
        print_json(header.as_dict())
        return
    lock = "only its owner's key opens it" if header.keyed else "obscured, without a key"
    say(f"[bold]{escape(header.name)}[/]: sealed by Linkwork {escape(header.linkwork)}; {lock}")
    for port in header.ports:
        x, y, z = port.at
        say(f"  port {escape(port.name)} at \\[{x:g}, {y:g}, {z:g}] m")
    if header.features:
        say(f"  has {', '.join(map(escape, header.features))}")
    say(f"  checksum {header.checksum}")
