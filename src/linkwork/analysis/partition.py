"""What the partition of a model looks like: its subsystems, how large their matrices are, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..compile.compiler import Compiled
from ..compile.partition import columns, cost, costs, refine
from ..compile.subsystems import borders, hierarchy, monolith, ties, without_merged
from ..model import Model


@dataclass(frozen=True)
class Share:
    """One subsystem and its share of the work."""

    name: str
    level: int
    """0 for the whole."""
    made: bool
    """Not written by the user."""
    bodies: int
    """Inside it, those of smaller subsystems too."""
    ports: int
    """Bordering bodies."""
    size: int
    """Rows of its matrix D."""
    equations: int
    """That it solves itself."""
    columns: int
    """Unknowns that it starts from."""
    cost: float
    """Of its own equations [multiplications]."""
    share: float
    """Of the whole cost."""
    inside: tuple[Share, ...] = field(repr=False)


@dataclass(frozen=True)
class Partition:
    """The subsystems that a model is divided into."""

    model: str
    top: Share
    cost: float
    """Of all equations [multiplications]."""
    written: float
    """Of all equations with nothing but the components that the user wrote [multiplications]."""
    monolithic: float
    """Of all equations without any subsystems [multiplications]."""

    def shares(self) -> list[Share]:
        """All subsystems, each before those inside it."""
        found, rest = [], [self.top]
        while rest:
            found.append(rest.pop())
            rest += reversed(found[-1].inside)
        return found

    def to_dict(self) -> dict[str, Any]:
        """For JSON: subsystems as a list, each with the names of those right inside it."""
        rows = [
            {name: value for name, value in vars(share).items() if name != "inside"}
            | {"inside": [inner.name for inner in share.inside]}
            for share in self.shares()
        ]
        numbers = {key: value for key, value in vars(self).items() if key != "top"}
        return {**numbers, "subsystems": rows}


def partition(model: Model) -> Partition:
    """Divide a model as the method `components` does."""
    compiled = Compiled(model)
    tied = ties(compiled.flat, compiled.merged)
    written = without_merged(hierarchy(model), compiled.merged)
    names = {part.name for part in written.walk()}
    top = refine(written, tied)
    found = borders(top, tied)
    price = costs(found)
    whole = sum(price.values())
    level = {top.name: 0}
    for part in reversed(list(top.walk())):
        level |= {child.name: level[part.name] + 1 for child in part.children}
    made: dict[str, Share] = {}
    for name, border in found.items():
        part = border.subsystem
        inside = tuple(made[child.name] for child in part.children)
        made[name] = Share(
            name,
            level[name],
            name not in names,
            len(part.bodies) + sum(inner.bodies for inner in inside),
            len(border.ports),
            border.size,
            border.rows,
            columns(border, found),
            price[name],
            price[name] / whole,
            inside,
        )
    return Partition(model.name, made[top.name], whole, cost(written, tied), cost(monolith(model), tied))


@dataclass(frozen=True)
class Group:
    """What is shown as one: a subsystem, or many made ones that are nested in each other like the links of a chain."""

    shares: tuple[Share, ...]
    """The outermost first; then those that hold no others and merely join on the way."""
    inside: tuple[Group, ...]

    @property
    def name(self) -> str:
        """Of the outermost and the innermost."""
        if len(self.shares) == 1:
            return self.shares[0].name
        return f"{self.shares[0].name} and {len(self.shares) - 1} within"

    @property
    def made(self) -> bool:
        """Not written by the user."""
        return self.shares[0].made

    @property
    def size(self) -> int:
        """Rows of the largest D."""
        return max(share.size for share in self.shares)

    def facts(self) -> str:
        """Bodies, size of D, equations and share of the work, in a line."""
        first, many = self.shares[0], len(self.shares) > 1
        sizes = {share.size for share in self.shares}
        size = f"up to {self.size}x{self.size}" if len(sizes) > 1 else f"{self.size}x{self.size}"
        equations = sum(share.equations for share in self.shares)
        parts = [
            f"{first.bodies} bod{'ies' if first.bodies != 1 else 'y'}",
            f"D {size}{' each' if many and len(sizes) == 1 else ''}",
            f"{equations} equation{'s' * (equations != 1)}",
            f"{100.0 * sum(share.share for share in self.shares):.1f}\N{NO-BREAK SPACE}%",
        ]
        return ", ".join(parts)


def grouped(top: Share) -> Group:
    """A tree short enough to be read."""
    if not top.made:
        return Group((top,), tuple(grouped(inner) for inner in top.inside))
    spine, joining, others = [top], [], []
    while True:
        leaves = [inner for inner in spine[-1].inside if inner.made and not inner.inside]
        branches = [inner for inner in spine[-1].inside if inner.made and inner.inside]
        others += [inner for inner in spine[-1].inside if not inner.made]
        if len(branches) != 1:
            break
        joining += leaves
        spine += branches
    return Group((*spine, *joining, *leaves), tuple(grouped(inner) for inner in (*branches, *others)))
