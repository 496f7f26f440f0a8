"""A suite's result: as JSON, and as tables for the terminal."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

from .targets import judge

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Result:
    """Everything that a suite measured, and how."""

    suite: str
    quick: bool
    made_with: dict[str, Any]
    how: dict[str, str]
    pinocchio_how: str | None
    rows: list[dict[str, Any]]
    exponent: float | None
    startup: dict[str, Any] | None
    allocations: list[dict[str, Any]] | None
    precision: dict[str, Any] | None
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        data = asdict(self)
        data["targets"] = [target._asdict() for target in judge(data)]
        return data

    def tables(self) -> Iterator[Table]:
        """Tables for the terminal."""
        return grids(sections(self.to_dict()))


class Section(NamedTuple):
    """A table of a result."""

    title: str
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]
    words: int = 1
    """Columns of text; those after them are numbers."""


def grids(found: Iterable[Section]) -> Iterator[Table]:
    """Tables for the terminal."""
    from rich.markup import escape
    from rich.table import Table

    for section in found:
        grid = Table(*map(escape, section.header), title=escape(section.title), title_justify="left")
        for column in grid.columns[section.words :]:
            column.justify = "right"
        for line in section.lines:
            grid.add_row(*map(escape, line))
        yield grid


def sections(data: dict[str, Any]) -> Iterator[Section]:
    """Every table of a result; the terminal and the page show the same."""
    yield Section(
        "Time of a step [µs], and times faster than others",
        ("case", "linkwork", "RK4", "RK4 / Euler", "MuJoCo", "×", "MuJoCo lean", "×", "Pinocchio", "×"),
        [_row(row) for row in data["rows"]],
    )
    if data["precision"]:
        work = data["precision"]
        yield Section(
            "Time per simulated second [ms] for a tip error of the chain of 5 after 1 s",
            ("engine", "method", *(f"{error:g} m" for error in work["errors_m"])),
            [(entry["engine"], entry["method"], *map(cost, entry["costs"])) for entry in work["methods"]],
            words=2,
        )
    if data["startup"]:
        from .startup import HOW

        yield Section(
            "Start-up [s]",
            ("what", "time"),
            [(HOW[name], number(value)) for name, value in data["startup"].items()],
        )
    if data["allocations"] is not None:
        yield Section(
            "Heap allocations",
            ("scene", "integrator", "steps", "allocations"),
            [
                (row["scene"], row["integrator"], str(row["steps"]), str(row["allocations"]))
                for row in data["allocations"]
            ],
            words=2,
        )
    yield from notes_and_targets(data)


def notes_and_targets(data: dict[str, Any]) -> Iterator[Section]:
    """What every suite ends with."""
    yield Section(
        "Targets",
        ("what", "target", "measured", "met"),
        [
            (t["what"], t["target"], number(t["measured"]), {True: "yes", False: "no", None: "-"}[t["met"]])
            for t in data["targets"]
        ],
    )
    if data["notes"]:
        yield Section("Notes", ("note",), [(note,) for note in data["notes"]])


def made_with(repetitions: int, shortest: float) -> dict[str, Any]:
    """Versions and circumstances that a figure cannot be read without."""
    found: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "system": platform.system(),
        "python": platform.python_version(),
        "repetitions": repetitions,
        "shortest_repetition_ms": 1e3 * shortest,
    }
    packages = {"pinocchio": "pin", "dart": "dartpy", "bullet": "pybullet"}
    for name in (
        "linkwork",
        "numpy",
        "numba",
        "mujoco",
        "pinocchio",
        "bullet",
        "dart",
        "drake",
        "exudyn",
        "mpi4py",
        "mpich",
        "bdsim",
        "control",
    ):
        try:
            found[name] = version(packages.get(name, name))
        except PackageNotFoundError:
            found[name] = None
    return found


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    cells = [row["case"], timed(row, "linkwork"), timed(row, "rk4"), number(row["rk4_ratio"])]
    for peer in ("mujoco", "mujoco_lean", "pinocchio"):
        cells += [timed(row, peer), number(row[f"ratio_{peer}"])]
    return tuple(cells)


def timed(row: dict[str, Any], name: str) -> str:
    """A time and its spread."""
    value, spread = row[f"{name}_us"], row[f"{name}_spread"]
    return "-" if value is None else f"{number(value)} ±{spread / value:.0%}"


def cost(found: dict[str, Any]) -> str:
    """What a precision costs."""
    if found["ms"] is None:
        return "-"
    return f"≤ {found['ms']:.2g}" if found["at_most"] else f"{found['ms']:.2g}"


def number(value: float | None) -> str:
    """Three digits, or a dash."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
