"""Addresses of components that other processes serve: tcp://host:port."""

from __future__ import annotations

from urllib.parse import urlsplit

from .errors import LinkworkError


def is_address(source: str) -> bool:
    """Whether a text is meant as an address and not as a file."""
    return "://" in source


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of `tcp://host:port`."""
    try:
        parts = urlsplit(address)
        if parts.scheme == "tcp" and parts.hostname and parts.port and not parts.path.strip("/"):
            return parts.hostname, parts.port
    except ValueError:
        pass
    raise LinkworkError(f"'{address}' is not an address; write tcp://host:port")
