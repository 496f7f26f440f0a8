"""What assembly changed of a start, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..compile.spanning import FLOATING
from ..model.rotation import Array
from .closure import CLOSED

_SHOWN = 4  # coordinates and rates that a report names


class Gap(NamedTuple):
    """How far a row is from closed."""

    size: float
    row: str
    unit: str

    @property
    def owner(self) -> str:
        """The joint or coupling that the row belongs to."""
        return self.row.partition(": ")[0]

    @property
    def beyond(self) -> str:
        """Of a limit, in words."""
        return f"start: {self.row.replace(': ', ' is beyond its ')} by {self.size:.3g} {self.unit}"


class Change(NamedTuple):
    """A number of the start that assembly changed."""

    name: str
    before: float
    after: float
    unit: str

    @property
    def by(self) -> float:
        return self.after - self.before

    @property
    def label(self) -> str:
        """Its name without the mark of floating bodies."""
        return self.name.removeprefix(FLOATING)


@dataclass
class Assembly:
    """A start that satisfies every loop, and what had to change for it."""

    q: Array
    v: Array
    gap_before: Gap
    gap_after: Gap
    moved: list[Change] = field(default_factory=list)
    """Coordinates that changed by more than 1e-9, those that moved most first."""
    rates_changed: list[Change] = field(default_factory=list)
    """Rates that changed by more than 1e-9, those that changed most first."""
    contradicted: list[Change] = field(default_factory=list)
    """Written rates, not zero, that changed by more than 1 %; written starts of closing joints that had to give way."""
    beyond: list[Gap] = field(default_factory=list)
    """Limits that this start violates, and by how much."""
    gave_way: bool = False
    """Something that was written had to change, not only what was left open."""

    @property
    def changed(self) -> bool:
        """Whether the start is not the one that was written."""
        return bool(self.moved or self.rates_changed)

    def report(self) -> list[str]:
        """What changed, in words; empty if the start was right as written."""
        lines = []
        if self.moved:
            gap = self.gap_before
            first, *others = [_describe(change, "moved") for change in self.moved[:_SHOWN]]
            lines.append(
                f"assembled: {first}; the largest gap was {gap.size:.3g} {gap.unit} in joint '{gap.owner}'"
                if gap.size > CLOSED
                else f"assembled: {first}"
            )
            lines += [f"assembled: {text}" for text in others]
            lines += _more(self.moved, "coordinates moved")
        if self.gap_after.size > CLOSED and self.changed:
            gap = self.gap_after
            lines.append(f"assembled: joint '{gap.owner}' stays open by {gap.size:.3g} {gap.unit}")
        contradicted = {change.name for change in self.contradicted}
        lines += [
            f"start: '{change.label}' starts at {change.after:.6g} {change.unit}, not at {change.before:.6g} as "
            "written: the loops contradict it"
            for change in self.contradicted[:_SHOWN]
        ]
        lines += _more(self.contradicted, "written starts contradict the loops")
        followed = [change for change in self.rates_changed if change.name not in contradicted]
        if followed:
            listed = ", ".join(
                f"'{c.label}' {c.before:.6g} → {c.after:.6g} {c.unit}" for c in followed[:_SHOWN]
            )
            rest = f" and {len(followed) - _SHOWN} more" if len(followed) > _SHOWN else ""
            lines.append(f"rates follow the loops: {listed}{rest}")
        if lines:
            lines += [gap.beyond for gap in self.beyond[:_SHOWN]]
        return lines


def _describe(change: Change, verb: str) -> str:
    unit = "" if change.unit == "1" else f" {change.unit}"  # of a quaternion
    return (
        f"'{change.label}' {verb} by {change.by:.3g}{unit} (from {change.before:.6g} to {change.after:.6g})"
    )


def _more(changes: Sequence[Change], what: str) -> list[str]:
    return [f"assembled: and {len(changes) - _SHOWN} more {what}"] if len(changes) > _SHOWN else []
