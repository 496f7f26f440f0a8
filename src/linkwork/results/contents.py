"""What files of records hold, whatever their format."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..model.rotation import Array
from .schema import Group


class Contents(NamedTuple):
    """A record as it stands in a file."""

    time: Array
    groups: tuple[Group, ...]
    data: dict[str, Array]
    info: dict[str, Any]
    complete: bool
