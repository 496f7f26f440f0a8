"""Published results beside ours: one file a paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

PAPERS = {
    "simgc": "Mikhaylyuk, Strashnov, Timokhin: articulated-body method with sequential impulses, Table 1",
    "hybrid": "Cuadrado, Dopico: a combined penalty and semi-recursive formulation for closed loops, Tables 1 to 3",
}


@dataclass
class Reproduction:
    """Rows of a published table beside ours."""

    paper: str
    rows: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    plot: Callable[..., Any] | None = None
    hidden: tuple[str, ...] = ()
    """Columns that a terminal has no room for; notes say them in words."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"paper": self.paper, "rows": self.rows, "notes": self.notes}


def reproduce(name: str, progress: Callable[[float], object] | None = None) -> Reproduction:
    """Run everything that a paper shows and set it beside what it reports."""
    return import_module(f"{__name__}.{name}").reproduce(progress)  # type: ignore[no-any-return]
