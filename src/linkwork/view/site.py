"""The files of the page: our own (web/), and viser's client as the canvas in it, with nothing of its own to be seen."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..control.svg import STYLE
from .reply import CANVAS_POLICY, Reply

CANVAS = "/canvas"
"""Where the picture of a visitor is: /canvas/<visitor>."""
_WEB = Path(__file__).parent / "web"
_DRAWING = "/web/drawing.css"
"""Style of drawn diagrams: a page takes no styles but those of files."""
_PAGES = {
    "/": "index.html", "/index.html": "index.html", "/gallery": "index.html", "/panel": "operator.html",
    "/diagram": "diagram.html",
}  # fmt: skip
# What a visitor sees and gets who has not shown a token yet.
_DOOR, _DOOR_FILES = "door.html", ("/web/door.css", "/web/door.js")
# Not kept by browsers: another version of the package may be started at the same address.
_FRESH = (("Cache-Control", "no-cache"),)
_KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


def answer(path: str, query: dict[str, str]) -> Reply | None:
    """A file of the page, or None."""
    if path in _PAGES:
        return _file(_PAGES[path])
    if path == _DRAWING:
        return Reply(200, "text/css; charset=utf-8", STYLE.encode(), _FRESH)
    place, _, name = path.rpartition("/")
    if place == CANVAS:
        return Reply(200, "text/html; charset=utf-8", canvas(), _FRESH, CANVAS_POLICY)
    if place == "/web" and name in _names():
        return _file(name)
    return None


def door(path: str) -> Reply | None:
    """Instead of a page, for who has not shown the token: one that asks for it, and its files; None for all else."""
    if path in _PAGES:
        return _file(_DOOR)._replace(status=403, headers=(("Cache-Control", "no-store"),))
    return _file(path.rpartition("/")[2]) if path in _DOOR_FILES else None


@cache
def canvas() -> bytes:
    """Viser's client, of which nothing but the picture is visible."""
    import viser

    page = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_bytes()
    style, script = ((_WEB / name).read_bytes() for name in ("canvas_inside.css", "canvas_inside.js"))
    own = b"<head><style>" + style + b"</style><script>" + script + b"</script>"
    return page.replace(b"<head>", own, 1)


@cache
def _names() -> frozenset[str]:
    return frozenset(path.name for path in _WEB.iterdir() if path.suffix in _KINDS)


def _file(name: str) -> Reply:
    kind = _KINDS[Path(name).suffix]
    return Reply(200, f"{kind}; charset=utf-8", (_WEB / name).read_bytes(), _FRESH)
