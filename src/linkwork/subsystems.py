"""The hierarchy of subsystems that a model is simulated in: who holds which bodies, and who borders on whom.

Plain structure, before anything is compiled. A subsystem holds bodies and other subsystems; what ties bodies
together (joints, loads, couplings) belongs to the smallest subsystem that holds them all. A body is *bordering* if
something outside its subsystem is tied to it (Vlasenko and Kasper, section 3.1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .item import GROUND, Refers
from .model import Component, Flat, Model


@dataclass(frozen=True)
class Subsystem:
    """Bodies and smaller subsystems that are eliminated together."""

    name: str
    """Dotted name of the component it was written as; the model's own for the top."""
    bodies: tuple[str, ...]
    """Its own; those of smaller subsystems left out."""
    children: tuple[Subsystem, ...] = ()

    def walk(self) -> Iterator[Subsystem]:
        """This and all inside it, the smaller ones first."""
        for child in self.children:
            yield from child.walk()
        yield self

    def everybody(self) -> list[str]:
        """All bodies inside it."""
        return [body for part in self.walk() for body in part.bodies]

    @property
    def levels(self) -> int:
        """How deep it is nested."""
        return 1 + max((child.levels for child in self.children), default=0)


@dataclass(frozen=True)
class Tie:
    """A joint, load, drive or coupling: what holds bodies together."""

    name: str
    bodies: frozenset[str]
    """Ground left out."""
    rows: int
    """How many equations it has."""
    shelf: str = ""
    """Where a model keeps it."""


@dataclass
class Border:
    """What a subsystem has to do with the others."""

    subsystem: Subsystem
    ports: tuple[str, ...] = ()
    """Bordering bodies: its matrix D has six times as many rows."""
    ties: list[Tie] = field(default_factory=list)
    """What it holds itself together with."""

    @property
    def size(self) -> int:
        """Rows of D."""
        return 6 * len(self.ports)

    @property
    def rows(self) -> int:
        """Equations that it solves."""
        return sum(tie.rows for tie in self.ties)


def hierarchy(model: Model) -> Subsystem:
    """The subsystems that the user wrote: one for each instance of a component."""
    return _subsystem(model, model.name, "")


def _subsystem(component: Component, name: str, prefix: str) -> Subsystem:
    children = [
        _subsystem(instance.component, f"{prefix}{instance.name}", f"{prefix}{instance.name}.")
        for instance in component.instances.values()
    ]
    return Subsystem(
        name,
        tuple(f"{prefix}{body}" for body in component.bodies),
        tuple(child for child in children if child.everybody()),
    )


def monolith(model: Model) -> Subsystem:
    """All bodies in one subsystem: the equations of motion of the whole, without any hierarchy."""
    return Subsystem(model.name, tuple(model.flatten().bodies))


def ties(flat: Flat) -> list[Tie]:
    """Everything that holds bodies together."""
    found = [
        Tie(joint.name, frozenset({joint.a, joint.b} - {GROUND}), 6 - len(joint.rates), joint.shelf)
        for joint in flat.joints.values()
    ]
    for thing in (*flat.loads.values(), *flat.drives.values(), *flat.couplings.values()):
        bodies: set[str] = set()
        for _, what, target in thing.references():
            if what is Refers.BODY:
                bodies.add(target)
            elif what is Refers.JOINT:
                bodies |= {flat.joints[target].a, flat.joints[target].b}
        equations = int(thing.shelf == "couplings")
        found.append(Tie(thing.name, frozenset(bodies - {GROUND}), equations, thing.shelf))
    return [tie for tie in found if tie.bodies]


def borders(
    top: Subsystem, tied: Sequence[Tie], ports: Sequence[str] = (), remote: Collection[str] = ()
) -> dict[str, Border]:
    """Ports and ties of every subsystem, by name, the smaller ones first.

    `ports` are bodies of the whole that something outside is tied to. A subsystem of `remote` is another process': all
    its bodies are ports, and what ties them together here belongs to the one above.
    """
    owner: dict[str, str] = {}
    above: dict[str, str | None] = {top.name: None}
    for part in top.walk():
        for body in part.bodies:
            owner[body] = part.name
        for child in part.children:
            above[child.name] = part.name
    found = {part.name: Border(part) for part in top.walk()}
    bordering: dict[str, dict[str, None]] = {name: {} for name in found}
    for body in ports:
        for name in _path(owner[body], above):
            bordering[name][body] = None
    for tie in tied:
        paths = {body: _path(owner[body], above) for body in tie.bodies}
        shared = set.intersection(*(set(path) for path in paths.values())) - set(remote)
        home = next(name for name in next(iter(paths.values())) if name in shared)
        found[home].ties.append(tie)
        for body, path in paths.items():
            for name in path[: path.index(home)]:
                bordering[name][body] = None
    place = {body: i for i, body in enumerate(top.everybody())}
    for name, border in found.items():
        border.ports = tuple(sorted(bordering[name], key=place.__getitem__))
    for name in remote:
        found[name].ports = found[name].subsystem.bodies
    found[top.name].ports = tuple(ports)
    return found


def _path(name: str, above: Mapping[str, str | None]) -> list[str]:
    """A subsystem and all that hold it, up to the top."""
    path = [name]
    while (upper := above[path[-1]]) is not None:
        path.append(upper)
    return path
