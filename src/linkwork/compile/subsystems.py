"""The hierarchy of subsystems that a model is simulated in: who holds which bodies, and who borders on whom.

Plain structure, before anything is compiled. A subsystem holds bodies and other subsystems; what ties bodies
together (joints, loads, couplings) belongs to the smallest subsystem that holds them all. A body is *bordering* if
something outside its subsystem is tied to it (Vlasenko and Kasper, section 3.1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..engine.elements import Repeater
from ..model import Component, Flat, Model
from ..model.item import GROUND, Refers
from .spanning import Edge
from .welded import carriers


@dataclass(frozen=True)
class Subsystem:
    """Bodies and smaller subsystems that are eliminated together."""

    name: str
    """Dotted name of the component it was written as; the model's own for the top (`car/` if a component is `car`)."""
    bodies: tuple[str, ...]
    """Its own; those of smaller subsystems left out."""
    children: tuple[Subsystem, ...] = ()

    def walk(self) -> Iterator[Subsystem]:
        """This and all inside it, the smaller ones first."""
        found, rest = [], [self]
        while rest:  # no recursion: a long chain is nested as deep as it is long
            part = rest.pop()
            found.append(part)
            rest += part.children
        yield from reversed(found)

    def everybody(self) -> list[str]:
        """All bodies inside it."""
        return [body for part in self.walk() for body in part.bodies]


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
    top = _subsystem(model, model.name, "")
    taken = {part.name for child in top.children for part in child.walk()}
    return replace(top, name=f"{top.name}/") if top.name in taken else top


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


def without_merged(top: Subsystem, merged: Collection[Edge]) -> Subsystem:
    """A hierarchy without the bodies that are part of others, or of the ground, by these welds."""
    if not merged:
        return top
    inside = carriers(top.everybody(), merged)
    children = [without_merged(child, merged) for child in top.children]
    return Subsystem(
        top.name,
        tuple(body for body in top.bodies if inside[body] == body),
        tuple(child for child in children if child.everybody()),
    )


def ties(flat: Flat, merged: Collection[Edge] = ()) -> list[Tie]:
    """Everything that holds bodies together, but for welds of bodies that count as one."""
    inside = carriers(flat.bodies, merged)
    welds = {edge.joint.name for edge in merged}
    tied = [
        replace(tie, bodies=frozenset(inside[body] for body in tie.bodies) - {GROUND})
        for tie in _ties(flat)
        if tie.name not in welds or tie.shelf != "joints"
    ]
    return [tie for tie in tied if tie.bodies]


def _ties(flat: Flat) -> list[Tie]:
    found = [
        Tie(joint.name, frozenset({joint.a, joint.b} - {GROUND}), joint.held, joint.shelf)
        for joint in flat.joints.values()
    ]
    for thing in (*flat.loads.values(), *flat.drives.values(), *flat.couplings.values()):
        bodies: set[str] = set()
        for _, what, target in thing.references():
            if what is Refers.BODY:
                bodies.add(target)
            elif what is Refers.JOINT:
                bodies |= {flat.joints[target].a, flat.joints[target].b}
        equations = int(isinstance(thing, Repeater))
        found.append(Tie(thing.name, frozenset(bodies - {GROUND}), equations, thing.shelf))
    return found


def borders(
    top: Subsystem, tied: Sequence[Tie], ports: Sequence[str] = (), remote: Collection[str] = ()
) -> dict[str, Border]:
    """Ports and ties of every subsystem, by name, the smaller ones first.

    `ports` are bodies of the whole that something outside is tied to. A subsystem of `remote` is another process': all
    its bodies are ports, and what ties them together here belongs to the one above.
    """
    found = {part.name: Border(part) for part in top.walk()}
    bordering: dict[str, dict[str, None]] = {name: {} for name in found}
    for body, way in ways_out(top, ports):
        for name in way:
            bordering[name][body] = None
    for tie, (home, ways) in zip(tied, ways_home(top, tied, remote), strict=True):
        found[home].ties.append(tie)
        for body, way in ways.items():
            for name in way:
                bordering[name][body] = None
    place = {body: i for i, body in enumerate(top.everybody())}
    for name, border in found.items():
        border.ports = tuple(sorted(bordering[name], key=place.__getitem__))
    for name in remote:
        found[name].ports = found[name].subsystem.bodies
    found[top.name].ports = tuple(ports)
    return found


def ways_out(top: Subsystem, bodies: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Bodies and all subsystems that hold them, inner ones first."""
    owner, above, _ = _places(top)
    for body in bodies:
        way = [owner[body]]
        while way[-1] in above:
            way.append(above[way[-1]])
        yield body, way


def ways_home(
    top: Subsystem, tied: Sequence[Tie], remote: Collection[str] = ()
) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """For each tie the smallest subsystem that solves it, and for each body those below it, inner ones first."""
    owner, above, depth = _places(top)
    for tie in tied:
        at = {body: owner[body] for body in tie.bodies}
        ways: dict[str, list[str]] = {body: [] for body in at}
        while len(set(at.values())) > 1 or next(iter(at.values())) in remote:
            deepest = max(depth[name] for name in at.values())
            for body, name in at.items():
                if depth[name] == deepest:
                    ways[body].append(name)
                    at[body] = above[name]
        yield next(iter(at.values())), ways


def _places(top: Subsystem) -> tuple[dict[str, str], dict[str, str], dict[str, int]]:
    """Which subsystem each body is in, which one each subsystem is in, and how deep."""
    owner: dict[str, str] = {}
    above: dict[str, str] = {}
    depth = {top.name: 0}
    for part in reversed(list(top.walk())):
        owner |= dict.fromkeys(part.bodies, part.name)
        for child in part.children:
            above[child.name], depth[child.name] = part.name, depth[part.name] + 1
    return owner, above, depth
