"""What the server answers to a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Reply(NamedTuple):
    """An answer to a request that is not viser's own."""

    status: int
    kind: str
    """Content type."""
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[str, dict[str, str]], Reply | None]
"""Takes the path and the query of a request; None leaves it to others."""
