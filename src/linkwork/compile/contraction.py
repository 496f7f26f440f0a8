"""Contracting a graph of parts that are tied together: pairs become one part, until everything tied is one.

The order decides the cost: eliminating a part's equations costs by its border, and a border that has grown is carried
along. First, pairs are merged whose border is no larger than that of one of them: ends of chains, branches of trees.
What is left is cut in halves by few ties, and these again (nested dissection: George, SIAM J. Numer. Anal. 10, 1973).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from .bisection import components, halves

OUTSIDE = -1
"""Where bodies of a tie are that belong to no part: it can not be closed here."""

_OVERHEAD = 200.0  # of visiting a subsystem [multiplications]
# What the third power of a border's growth is worth [multiplications]. Tried from 0.3 to 30: trees and rows are all the
# same, on grids and random graphs 1 costs up to a third more, 10 and 30 are at times better and at times worse.
_FORESIGHT = 3.0
FEW = 6
"""Parts that are not cut in halves any more (better than 12, 24 or 60 on grids); of so few, all orders can be tried."""
_MANY = 32  # ties of a part beyond which pairs with its neighbours are weighed only when their turn comes


def work(columns: int, rows: int, border: int) -> float:
    """Multiplications to eliminate `rows` equations among `columns` unknowns, of which a border remains."""
    return (
        6.0 * rows * columns
        + rows**2 * (12.0 + rows / 3.0)
        + rows * border * (rows + border / 2.0)
        + _OVERHEAD
    )


@dataclass(eq=False)
class Part:
    """A part of the whole: one that was given, or several made into one."""

    unit: int
    """Number of the given part; -1 if it was made."""
    width: int
    """Bodies that whoever holds it has to reckon with."""
    ports: int
    """Bodies that are tied to something outside it."""
    rows: int = 0
    """Equations that are solved when it is made."""
    inside: list[Part] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """Unknowns when it is made."""
        return 6 * sum(part.width for part in self.inside)

    @property
    def work(self) -> float:
        """Of making it [multiplications]."""
        return work(self.columns, self.rows, 6 * self.ports)

    def walk(self) -> list[Part]:
        """This and all inside it, the smaller ones first."""
        found, rest = [], [self]
        while rest:
            part = rest.pop()
            found.append(part)
            rest += part.inside
        return found[::-1]


@dataclass(frozen=True)
class Link:
    """A tie as the parts see it."""

    at: dict[str, int]
    """For each body the part that it is in; OUTSIDE if in none."""
    rows: int


class Contraction:
    """Clusters of parts, merged two by two."""

    def __init__(self, widths: Sequence[int | None], links: Sequence[Link]):
        """For each part how many bodies others have to reckon with; None for as many as are tied to something else."""
        units = len(widths)
        self.links = links
        self.where = [set(link.at.values()) for link in links]
        self.tied: list[set[int]] = [set() for _ in range(units)]
        self.open: Counter[str] = Counter()  # ties of a body that lead out of its cluster
        own = [0] * units
        for i, link in enumerate(links):
            if len(self.where[i]) == 1:
                own[next(iter(self.where[i]))] += link.rows
                continue
            self.open.update(body for body, unit in link.at.items() if unit != OUTSIDE)
            for unit in self.where[i] - {OUTSIDE}:
                self.tied[unit].add(i)
        ports = Counter(
            {body: unit for link in links for body, unit in link.at.items() if self.open[body]}.values()
        )
        self.part = []
        for unit, width in enumerate(widths):
            leaf = Part(unit, ports[unit] if width is None else width, ports[unit])
            # A body held by the ground is relieved of its equations before others join it.
            self.part.append(Part(-1, leaf.ports, leaf.ports, own[unit], [leaf]) if own[unit] else leaf)
        self.version = [0] * units
        self.into = list(range(units))

    def find(self, cluster: int) -> int:
        """What a cluster has become."""
        while self.into[cluster] != cluster:
            self.into[cluster] = self.into[self.into[cluster]]
            cluster = self.into[cluster]
        return cluster

    def around(self, cluster: int) -> set[int]:
        """Clusters that it is tied to."""
        return {other for i in self.tied[cluster] for other in self.where[i]} - {cluster, OUTSIDE}

    def roots(self) -> list[Part]:
        """What the parts have become."""
        return [self.part[c] for c in range(len(self.into)) if self.into[c] == c]

    def union(self, a: int, b: int) -> tuple[list[int], Counter[str], Part]:
        """What merging two clusters closes: ties, how many of each body, and the part that it makes."""
        few, many = sorted((self.tied[a], self.tied[b]), key=len)
        closed = [i for i in few if i in many and len(self.where[i]) == 2]
        bodies = Counter(body for i in closed for body in self.links[i].at)
        ports = self.part[a].ports + self.part[b].ports
        ports -= sum(self.open[body] == count for body, count in bodies.items())
        rows = sum(self.links[i].rows for i in closed)
        return closed, bodies, Part(-1, ports, ports, rows, [self.part[a], self.part[b]])

    def merge(self, a: int, b: int) -> int:
        """Make one cluster of two, under the name of the one with more ties."""
        closed, bodies, part = self.union(a, b)
        if len(self.tied[a]) < len(self.tied[b]):
            a, b = b, a
        self.open.subtract(bodies)
        for i in closed:
            self.where[i] = set()
        for i in self.tied[b].difference(closed):
            self.where[i].discard(b)
            self.where[i].add(a)
        self.tied[a] |= self.tied[b]
        self.tied[a].difference_update(closed)
        self.tied[b] = set()
        self.into[b] = a
        self.version[a] = max(self.version[a], self.version[b]) + 1
        self.part[a] = part
        return a

    def gather(self, members: Iterable[int], *, shrinking: bool = False) -> list[int]:
        """Merge pairs of these clusters, the cheapest first; with `shrinking` only where the border does not grow."""
        return _Gathering(self, set(members), shrinking).run()

    def dissect(self, members: Iterable[int]) -> list[int]:
        """Merge these clusters half by half, each of them the same way."""
        found: list[int] = []
        for group in components(self._weights(members)):
            if len(group) > FEW:
                one, other = halves(self._weights(group))
                found += self.gather(self.dissect(one) + self.dissect(other))
            else:
                found += self.gather(group)
        return sorted(found)

    def _weights(self, members: Iterable[int]) -> dict[int, dict[int, int]]:
        """How much holds neighbours together: a tie that is cut brings its equations and two ports."""
        inside = set(members)
        weights: dict[int, dict[int, int]] = {}
        for a in sorted(inside):
            near = weights[a] = {}
            for i in self.tied[a]:
                for b in self.where[i] & inside - {a}:
                    near[b] = near.get(b, 0) + self.links[i].rows + 6
        return weights


class _Gathering:
    """Greedy merging; a heap holds pairs by the work of merging them and the border that they leave."""

    def __init__(self, all_: Contraction, members: set[int], shrinking: bool):
        self.all, self.members, self.shrinking = all_, members, shrinking
        self.heap: list[tuple[tuple[bool, float], int, int, int, int, int]] = []
        self.weighed: dict[tuple[int, int], tuple[int, int]] = {}
        for a in sorted(members):
            self._weigh_around(a)
        if not self.heap:  # nothing but parts of many ties
            for a in sorted(members):
                self._weigh_around(a, always=True)

    def run(self) -> list[int]:
        """The clusters that are left."""
        all_ = self.all
        while self.heap:
            _, _, a, b, *versions = heappop(self.heap)
            x, y = sorted((all_.find(a), all_.find(b)))
            if x == y:
                continue
            if (x, y) != (a, b) or versions != [all_.version[a], all_.version[b]]:
                key = self._key(x, y)  # they have changed since
                if key is None:
                    continue
                if self.heap and self.heap[0][0] < key:
                    self._push(key, x, y)
                    continue
            made = all_.merge(x, y)
            self.members -= {x, y}
            self.members.add(made)
            self._weigh_around(made)
        return sorted(self.members)

    def _weigh_around(self, a: int, *, always: bool = False) -> None:
        if always or len(self.all.tied[a]) <= _MANY:
            for b in sorted(self.all.around(a) & self.members):
                key = self._key(min(a, b), max(a, b))
                if key is not None:
                    self._push(key, min(a, b), max(a, b))

    def _push(self, key: tuple[bool, float], a: int, b: int) -> None:
        age, other = self.all.version[a], self.all.version[b]
        heappush(self.heap, (key, max(age, other), a, b, age, other))  # young ones first: flat trees

    def _key(self, a: int, b: int) -> tuple[bool, float] | None:
        """How soon a pair should be merged; None if not at all or if that was told before."""
        versions = self.all.version[a], self.all.version[b]
        if self.weighed.get((a, b)) == versions:
            return None
        self.weighed[a, b] = versions
        one, other, part = self.all.part[a], self.all.part[b], self.all.union(a, b)[2]
        if self.shrinking and part.ports > max(one.ports, other.ports):
            return None
        growth = part.ports**3 - one.ports**3 - other.ports**3
        # What closes no equations comes last: it would only carry a border along.
        return part.rows == 0, part.work + _FORESIGHT * 6.0**3 * growth


def best_of_pairs(start: Contraction) -> Part:
    """A few parts, merged two by two in the best order of all: dynamic programming over their subsets."""
    units = range(len(start.part))
    places = [sum(1 << unit for unit in where - {OUTSIDE}) for where in start.where]
    closes = [OUTSIDE not in where and len(where) > 1 for where in start.where]
    rows, best = {0: 0}, {1 << unit: (0.0, start.part[unit]) for unit in units}
    for some in range(1, 1 << len(units)):
        inside = [closes[i] and not place & ~some for i, place in enumerate(places)]
        rows[some] = sum(link.rows for link, closed in zip(start.links, inside, strict=True) if closed)
        if some in best:
            continue
        tied = {
            body
            for i, link in enumerate(start.links)
            if not inside[i] and len(start.where[i]) > 1
            for body, unit in link.at.items()
            if unit != OUTSIDE and some >> unit & 1
        }
        found = []
        one = (some - 1) & some
        while one > some ^ one:
            other = some ^ one
            pair = [best[one], best[other]]
            part = Part(-1, len(tied), len(tied), rows[some] - rows[one] - rows[other], [p for _, p in pair])
            found.append((part.work + sum(total for total, _ in pair), part))
            one = (one - 1) & some
        best[some] = min(found, key=lambda pair: pair[0])
    return best[(1 << len(units)) - 1][1]


def dissolve(top: Part) -> None:
    """Undo what does not pay: solve the equations of a part together with those of the part that holds it."""
    for part in top.walk():
        while True:
            columns, before = part.columns, part.work
            best, most = None, 0.0
            for inner in part.inside:
                if inner.inside:
                    rows = part.rows + inner.rows
                    after = work(columns - 6 * inner.width + inner.columns, rows, 6 * part.ports)
                    gain = before + inner.work - after
                    if gain > most:
                        best, most = inner, gain
            if best is None:
                break
            i = part.inside.index(best)
            part.inside[i : i + 1] = best.inside
            part.rows += best.rows
