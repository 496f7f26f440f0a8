"""`show(model)`: the live page, from Python as from the command line."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model import Model
from ..model.errors import LinkworkError
from .server import DEFAULT_PORT, LOOPBACK, Server, new_token

if TYPE_CHECKING:
    from .page import Page


def show(
    subject: Model | str,
    *,
    host: str = LOOPBACK,
    port: int = DEFAULT_PORT,
    token: str | None = None,
    folder: Path | str = ".",
    speed: float = 1.0,
    paused: bool = False,
    settings: dict[str, Any] | None = None,
    block: bool = True,
    **options: Any,
) -> Page:
    """Run a model, a scene or a model file in real time and show it in the browser.

    Listens on loopback unless `host` is given, and then wants `token` of visitors, 16 characters or more. One is made
    if there is none: `page.server.token`.
    Recordings go to `folder`; `settings` are parameters of the scene or file; `options` are those of `Simulation`.
    Returns when interrupted; without `block`, at once, and the page is to be closed by `close`.
    """
    # Many arguments: each is a wish of its own, told by name.
    what = str(subject) if isinstance(subject, Path) else subject
    page = begin(
        lambda page: page.open(what, settings),
        host=host, port=port, token=token, folder=folder, speed=speed, paused=paused, **options,
    )  # fmt: skip
    if block:
        try:
            wait()
        finally:
            page.close()
    return page


def begin(
    first: Callable[[Page], object], *, host: str, port: int, token: str | None, **options: Any
) -> Page:
    """A page that runs, with something on it that `first` puts there; options are those of `Page`."""
    if not Path(options.get("folder", ".")).is_dir():
        raise LinkworkError(f"there is no folder '{options['folder']}' for recordings")
    if token is None and host not in (LOOPBACK, "localhost", "::1"):
        token = new_token()
    server = Server(host=host, port=port, token=token, complete=False)
    try:
        from .page import Page  # takes longer than the server, which answers meanwhile

        page = Page(server, **options)
        server.complete = True
    except BaseException:
        server.stop()
        raise
    try:
        page.start()
        first(page)
    except BaseException:
        page.close()
        raise
    return page


def wait() -> None:
    """Until interrupted or terminated."""
    end = threading.Event()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: end.set())
    with contextlib.suppress(KeyboardInterrupt):
        # Not without a limit: a signal that comes just before a wait would be heard after it.
        while not end.wait(0.2):
            pass
