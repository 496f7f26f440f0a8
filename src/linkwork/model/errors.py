"""What goes wrong, said so that the user can act: where, what, the offending value, what to do."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path


class LinkworkError(Exception):
    """Base of every error that Linkwork raises on purpose."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a model, and where it was written."""

    where: str
    """Path to it: `bodies.arm.mass`, `joint 'pivot'` ..."""
    what: str
    """What is wrong, with the offending value and what to do."""
    file: Path | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = f"{self.file}:"
            if self.line is not None:
                place += f"{self.line}:"
                if self.column is not None:
                    place += f"{self.column}:"
            place += " "
        return f"{place}{self.where}: {self.what}" if self.where else f"{place}{self.what}"


class ModelError(LinkworkError):
    """A model that cannot be simulated. Holds *all* problems found, not the first."""

    def __init__(self, problems: Iterable[Problem]):
        self.problems = tuple(problems)
        count = len(self.problems)
        head = "" if count == 1 else f"{count} problems in the model:\n  "
        super().__init__(head + "\n  ".join(str(problem) for problem in self.problems))


class UnsupportedError(LinkworkError):
    """A feature that the chosen method does not have, refused by name."""


class SimulationError(LinkworkError):
    """A run that could not go on. What was recorded until then is kept in `record`."""

    def __init__(self, message: str, time: float, record: object = None):
        super().__init__(message)
        self.time = time
        """Simulated time at which the run stopped [s]."""
        self.record = record
        """The Record up to that time, or None."""


class PartLostError(SimulationError):
    """A process that held part of a model has gone. The simulation stands where all its parts last agreed."""


class StorageError(LinkworkError):
    """A file of a record or a state that cannot be written or read: which one, and why.

    What was to be written is kept in `record`.
    """

    def __init__(self, path: Path | str, why: str, record: object = None):
        super().__init__(f"{path}: {why}")
        self.path = Path(path)
        """The file."""
        self.record = record
        """The Record that could not be written, whole, or None."""


class MissingExtraError(LinkworkError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str):
        super().__init__(
            f"{purpose} needs the package '{package}'; install it with: pip install 'linkwork[{extra}]'"
        )


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint such as ` (did you mean 'arm'?)`, or the known names if few, or nothing."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f" (did you mean '{close[0]}'?)"
    return f" (known: {', '.join(names)})" if 0 < len(names) <= 12 else ""


def need_positive(name: str, value: float) -> None:
    """Refuse a duration that is not a positive, finite number of seconds."""
    if not (isinstance(value, Real) and math.isfinite(value) and value > 0):
        raise LinkworkError(f"{name} must be a positive number of seconds, not {value!r}")
