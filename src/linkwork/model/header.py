"""What a sealed component tells of itself, wherever it comes from: a file or a server."""

from __future__ import annotations

import dataclasses
from typing import Any

from .item import Name, Orientation, Point, item


@item
class PortPose:
    """A body of a sealed component to which others may be joined, in the component's own axes."""

    name: Name
    at: Point
    """Origin of its frame at the design position [m]."""
    rotation: Orientation


@item
class Header:
    """What a sealed component tells of itself."""

    format: int
    name: str
    linkwork: str
    """Version that sealed it."""
    ports: tuple[PortPose, ...]
    features: tuple[str, ...] = ()
    """What is in it that not every method can do: limits, friction, drives …"""
    keyed: bool = False
    """Whether only its owner's key opens it."""
    salt: str = ""
    checksum: str = ""
    """SHA-256 of the file: two of the same checksum are the same component."""

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dataclasses.asdict(self)
