"""Partition: subsystems divided further, so that eliminating their equations costs little.

What the user wrote stays: every component remains a subsystem of its own. Bodies and components inside one of them are
gathered in intermediate subsystems (`car/1`, `car/2` ...; no component can be named so) wherever that saves work. The
cost is counted in multiplications; for chains, trees and rows of loops it grows in proportion to their bodies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count

from .contraction import FEW, OUTSIDE, Contraction, Link, Part, best_of_pairs, dissolve, work
from .subsystems import Border, Subsystem, Tie, borders, ways_home, ways_out


def refine(
    top: Subsystem, tied: Sequence[Tie], ports: Sequence[str] = (), remote: Collection[str] = ()
) -> Subsystem:
    """A hierarchy with further subsystems in between, never dearer than before.

    `ports` and `remote` as for `borders`; what is remote stays as it is.
    """
    links = _links(top, tied, ports, remote)
    names = {part.name for part in top.walk()}
    made: dict[str, Subsystem] = {}
    for part in top.walk():
        children = [made[child.name] for child in part.children]
        widths = [1] * len(part.bodies) + [len(c.bodies) if c.name in remote else None for c in part.children]
        ways = _ways(widths, links.get(part.name, []))
        made[part.name] = part if part.name in remote else _divided(part, children, ways, names)
    return made[top.name]


def cost(
    top: Subsystem, tied: Sequence[Tie], ports: Sequence[str] = (), remote: Collection[str] = ()
) -> float:
    """Multiplications to eliminate all equations."""
    return sum(costs(borders(top, tied, ports, remote)).values())


def costs(found: dict[str, Border]) -> dict[str, float]:
    """Multiplications to eliminate the equations of each subsystem, by its name."""
    return {name: work(columns(border, found), border.rows, border.size) for name, border in found.items()}


def columns(border: Border, found: dict[str, Border]) -> int:
    """Unknowns that a subsystem starts from: of its own bodies and of the borders inside it."""
    part = border.subsystem
    return 6 * len(part.bodies) + sum(found[child.name].size for child in part.children)


def _links(
    top: Subsystem, tied: Sequence[Tie], ports: Sequence[str], remote: Collection[str]
) -> dict[str, list[Link]]:
    """For each subsystem what ties its bodies and children, to each other or to something outside it."""
    bodies = {body: i for part in top.walk() for i, body in enumerate(part.bodies)}
    children = {
        child.name: len(part.bodies) + i for part in top.walk() for i, child in enumerate(part.children)
    }
    found: dict[str, list[Link]] = {}
    for tie, (home, ways) in zip(tied, ways_home(top, tied, remote), strict=True):
        at: dict[str, dict[str, int]] = {}
        for body, way in ways.items():
            unit = bodies[body]
            for name in way:
                at.setdefault(name, {})[body] = unit
                unit = children[name]
            at.setdefault(home, {})[body] = unit
        for name, places in at.items():
            if name != home:
                places |= {body: OUTSIDE for body in tie.bodies if body not in places}
            found.setdefault(name, []).append(Link(places, tie.rows))
    for body, way in ways_out(top, ports):
        unit = bodies[body]
        for name in way:
            found.setdefault(name, []).append(Link({body: unit, "": OUTSIDE}, 0))
            unit = children.get(name, OUTSIDE)
    return found


def _divided(part: Subsystem, children: list[Subsystem], ways: Iterable[Part], names: set[str]) -> Subsystem:
    """A subsystem whose bodies and children are gathered as cheaply as was found."""
    best = min(ways, key=lambda top: sum(piece.work for piece in top.walk() if piece.unit < 0))
    unused = (name for i in count(1) if (name := f"{part.name.rstrip('/')}/{i}") not in names)
    made: dict[Part, Subsystem] = {}
    for piece in best.walk():
        if piece.unit >= 0:
            continue
        units = sorted(inner.unit for inner in piece.inside if inner.unit >= 0)
        name = part.name if piece is best else next(unused)
        names.add(name)
        made[piece] = Subsystem(
            name,
            tuple(part.bodies[unit] for unit in units if unit < len(part.bodies)),
            (
                *(children[unit - len(part.bodies)] for unit in units if unit >= len(part.bodies)),
                *(made[inner] for inner in piece.inside if inner.unit < 0),
            ),
        )
    return made[best]


def _ways(widths: list[int | None], links: list[Link]) -> Iterator[Part]:
    """A subsystem as it was written, gathered pair by pair, half by half where pairs grow, in all orders if few."""

    def start() -> Contraction:
        return Contraction(widths, links)

    def whole(inside: list[Part], rows: int) -> Part:
        return Part(-1, len(border), len(border), rows, inside)

    outer = [link.at for link in links if OUTSIDE in link.at.values()]
    border = {body for at in outer for body, unit in at.items() if unit != OUTSIDE}
    leaves = [leaf for root in start().roots() for leaf in root.walk() if leaf.unit >= 0]
    yield whole(leaves, sum(link.rows for link in links if OUTSIDE not in link.at.values()))
    pairs, halves = start(), start()
    pairs.gather(range(len(leaves)))
    halves.dissect(halves.gather(range(len(leaves)), shrinking=True))
    made = [pairs.roots(), halves.roots()]
    if 0 < len(leaves) <= FEW:
        made.append([best_of_pairs(start())])
    for inside in made:
        top = whole(inside, 0)
        dissolve(top)
        yield top
