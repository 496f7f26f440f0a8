"""Published results beside ours: one file a paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..model.errors import LinkworkError

if TYPE_CHECKING:
    from ..results.record import Record

PAPERS = {
    "simgc": "Mikhaylyuk, Strashnov, Timokhin: articulated-body method with sequential impulses, Table 1",
    "hybrid": "Cuadrado, Dopico: a combined penalty and semi-recursive formulation for closed loops, Tables 1 to 3",
    "components": "Vlasenko, Kasper: algorithm for component based simulation of multibody dynamics, section 8",
    "limits": "Strashnov, Mikhaylyuk: restrictions for the relative motion of articulated rigid bodies, KRT100-MP",
    "suspensions": "Strashnov, Torgashev: suspension dynamics of wheeled robots, KRT-100M, Figures 5 and 6",
}
QUICK = ("components",)
"""Papers that have a shorter form, for a first look."""
FILMED = ("limits", "suspensions")
"""Papers whose situations are shown in a film."""


@dataclass
class Reproduction:
    """Rows of a published table beside ours."""

    paper: str
    rows: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    plot: Callable[..., Any] | None = None
    shown: Callable[[], Sequence[Record]] | None = None
    """Runs what a film of it shows, one after the other."""
    hidden: tuple[str, ...] = ()
    """Columns that a terminal has no room for; notes say them in words."""
    figures: dict[str, Any] = field(default_factory=dict)
    """More for programs, beside the rows."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"paper": self.paper, "rows": self.rows, "notes": self.notes, **self.figures}


def reproduce(
    name: str, progress: Callable[[float], object] | None = None, quick: bool = False
) -> Reproduction:
    """Run everything that a paper shows and set it beside what it reports; `quick` leaves large models out."""
    if quick and name not in QUICK:
        raise LinkworkError(f"paper '{name}' has no quick form; leave --quick out")
    options = {"quick": True} if quick else {}
    return import_module(f"{__name__}.{name}").reproduce(progress, **options)  # type: ignore[no-any-return]
