"""What the server answers to a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

_SAFE = "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; "
    f"font-src 'self'; connect-src 'self' {{sockets}}; frame-src 'self'; {_SAFE}"
)
"""Content security policy of whatever is served: nothing but files of this server, no scripts or styles in pages, no
other site may frame it. `{sockets}` stands for its own address."""
CANVAS_POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; worker-src 'self' blob: data:; "
    f"connect-src 'self' data: blob: {{sockets}}; {_SAFE}"
)
"""Of viser's client, one file with all of its scripts in it: these run, but reach no other server either."""


class Reply(NamedTuple):
    """An answer to a request that is not viser's own."""

    status: int
    kind: str
    """Content type."""
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    policy: str = STRICT
    """Content security policy; a page that needs another must say so."""


Handler = Callable[[str, dict[str, str]], Reply | None]
"""Takes the path and the query of a request; None leaves it to others."""
