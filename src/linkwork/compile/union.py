"""Things that hold together, joined two by two (union-find)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

Thing = TypeVar("Thing", bound=Hashable)


class Union(Generic[Thing]):
    """Disjoint sets of things, each known by one of its members."""

    def __init__(self, things: Iterable[Thing]):
        self._leader = {thing: thing for thing in things}

    def find(self, thing: Thing) -> Thing:
        """The one that the set of a thing is known by."""
        leader = self._leader
        while leader[thing] != thing:
            leader[thing] = thing = leader[leader[thing]]
        return thing

    def join(self, a: Thing, b: Thing) -> None:
        """Make one set of two, known by that of b."""
        self._leader[self.find(a)] = self.find(b)
