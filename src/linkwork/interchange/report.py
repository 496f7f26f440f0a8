"""What became of everything in a file: taken, mapped, approximated or dropped, each with its place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..model import Model

Fate = Literal["taken", "mapped", "approximated", "dropped"]
FATES: tuple[Fate, ...] = ("taken", "mapped", "approximated", "dropped")
"""As it is; exactly, by other means; nearly; not at all."""


@dataclass(frozen=True)
class Entry:
    """What became of one thing."""

    fate: Fate
    what: str
    """The thing: `joint 'elbow' mimic`."""
    how: str = ""
    """What became of it, and what to do about that."""
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line is not None else ""
        return f"{place}{self.what}" + (f": {self.how}" if self.how else "")


@dataclass
class LossReport:
    """What became of everything in a file, in the order in which it was read or written."""

    entries: list[Entry] = field(default_factory=list)

    def of(self, fate: Fate) -> list[Entry]:
        """Entries of a fate."""
        return [entry for entry in self.entries if entry.fate == fate]

    @property
    def lossless(self) -> bool:
        """Whether nothing was approximated or dropped."""
        return not self.of("approximated") and not self.of("dropped")

    def add(
        self, fate: Fate, what: str, how: str = "", file: Path | str = "", line: int | None = None
    ) -> None:
        """Note what became of a thing."""
        self.entries.append(Entry(fate, what, how, str(file), line))

    def summary(self) -> str:
        """One line: how much of it was taken, mapped, approximated and dropped."""
        count = Counter(entry.fate for entry in self.entries)
        return ", ".join(f"{count[fate]} {fate}" for fate in FATES)

    def lines(self) -> list[str]:
        """What is not simply taken, for people: one line each, equal ones once with their number."""
        told: list[str] = []
        for fate in FATES[1:]:
            alike: dict[tuple[str, str], list[Entry]] = {}
            for entry in self.of(fate):
                alike.setdefault((_kind(entry.what), entry.how), []).append(entry)
            for (kind, how), entries in alike.items():
                if len(entries) < 4:
                    told += [f"{fate}: {entry}" for entry in entries]
                else:
                    lines = [str(entry.line) for entry in entries if entry.line is not None]
                    at = (
                        f" (lines {', '.join(lines[:6])}{', ...' if len(lines) > 6 else ''})" if lines else ""
                    )
                    told.append(f"{fate}: {len(entries)} x {kind}{at}" + (f": {how}" if how else ""))
        return told

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            fate: [
                {"what": e.what, "how": e.how, "file": e.file, "line": e.line} for e in self.of(fate)
            ]
            for fate in FATES
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join([self.summary(), *self.lines()])


def _kind(what: str) -> str:
    """What a thing is, without its name."""
    words = what.split("'")
    return " ".join("".join(words[::2]).split())


class Imported(NamedTuple):
    """A model that was read from a file of another program."""

    model: Model
    report: LossReport
