"""Which process holds what: the parts of a model in as many groups of about equal size as there are ranks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..compile.bisection import Weights, components, halves
from ..compile.partition import refine
from ..compile.subsystems import Subsystem, Tie
from ..model.errors import LinkworkError


def divide(top: Subsystem, tied: Sequence[Tie], ranks: int) -> tuple[Subsystem, list[str]]:
    """The hierarchy with a subsystem for every rank but the first, which holds the rest; and their names."""
    while not top.bodies and len(top.children) == 1:
        top = top.children[0]
    units = [Subsystem("", (body,)) for body in top.bodies] + list(top.children)
    if len(units) < ranks:
        raise LinkworkError(
            f"'{top.name}' has {len(units)} parts, too few for {ranks} ranks: take fewer, or write more components"
        )
    weights = _weights(units, tied)
    groups = [sorted(weights)]
    while len(groups) < ranks:
        largest = max(
            groups, key=lambda group: sum(len(units[i].everybody()) for i in group) if len(group) > 1 else 0
        )
        groups.remove(largest)
        groups += halves(_connected(weights, largest))
    # The first rank holds the group that is tied to the others most, and with it what ties all together.
    groups.sort(key=lambda group: (-_cut(weights, group), group))
    names, made = [], []
    for k, group in enumerate(groups[1:], 1):
        names.append(f"{top.name}/rank{k}")
        made.append(_gathered(names[-1], [units[i] for i in group]))
    rest = _gathered(top.name, [units[i] for i in groups[0]])
    return refine(Subsystem(top.name, rest.bodies, (*rest.children, *made)), tied), names


def _gathered(name: str, units: Sequence[Subsystem]) -> Subsystem:
    bodies = tuple(body for unit in units if not unit.name for body in unit.bodies)
    return Subsystem(name, bodies, tuple(unit for unit in units if unit.name))


def _weights(units: Sequence[Subsystem], tied: Sequence[Tie]) -> Weights:
    """How strongly units are tied to each other."""
    owner = {body: i for i, unit in enumerate(units) for body in unit.everybody()}
    weights: Weights = {i: {} for i in range(len(units))}
    for tie in tied:
        ends = sorted({owner[body] for body in tie.bodies})
        for a in ends:
            for b in ends:
                if a != b:
                    weights[a][b] = weights[a].get(b, 0) + max(tie.rows, 1)
    return weights


def _connected(weights: Weights, group: Sequence[int]) -> Weights:
    """The graph of a group, in which unconnected pieces hang together by edges without weight."""
    inside = set(group)
    found: Weights = {a: {b: w for b, w in weights[a].items() if b in inside} for a in group}
    pieces = list(components(found))
    for one, next_ in pairwise(pieces):
        found[one[0]][next_[0]] = found[next_[0]][one[0]] = 0
    return found


def _cut(weights: Weights, group: Sequence[int]) -> int:
    inside = set(group)
    return sum(w for a in group for b, w in weights[a].items() if b not in inside)
