"""In which order dofs and the rows of loops inside the tree are eliminated, and what that couples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..engine.tables import Tables


class Elimination(NamedTuple):
    """An order of unknowns: dofs, counted without the world's, and behind them embedded rows."""

    order: list[int]
    """From the first that is eliminated."""
    near: list[list[int]]
    """Of each unknown: those that are coupled to it when it is eliminated, in the order of their own elimination."""
    column: np.ndarray
    """Of each unknown: how many are eliminated behind it along its way in the elimination tree."""

    def reached(self, dofs: set[int]) -> set[int]:
        """These dofs, and all unknowns that eliminating them couples to what they are coupled to."""
        found, rest = set(dofs), list(dofs)
        while rest:
            for a in self.near[rest.pop()]:
                if a not in found:
                    found.add(a)
                    rest.append(a)
        return found


def eliminate(tables: Tables, embedded: Sequence[set[int]]) -> Elimination:
    """Dofs from the tips inward, each row right behind the last of the dofs that it moves with.

    The elimination tree and the fill-in follow as for any sparse Cholesky factorisation.
    """
    parent = tables.dofs["parent"]
    n = len(parent) - 1
    last: dict[int, list[int]] = {}
    for r, dofs in enumerate(embedded):
        last.setdefault(min(dofs), []).append(n + r)
    order = [i for d in range(n - 1, -1, -1) for i in (d, *last.get(d, ()))]
    place = {i: k for k, i in enumerate(order)}
    coupled: list[set[int]] = [set() for _ in order]
    for d in range(n):
        link = int(parent[d + 1])
        while link != 0:
            coupled[d].add(link - 1)
            link = int(parent[link])
    for r, dofs in enumerate(embedded):
        for d in dofs:
            coupled[d].add(n + r)
    near: list[list[int]] = [[] for _ in order]
    column = np.zeros(len(order), np.int64)
    for i in order:
        near[i] = sorted(coupled[i], key=place.__getitem__)
        if near[i]:
            coupled[near[i][0]].update(near[i][1:])
    for i in reversed(order):
        if near[i]:
            column[i] = column[near[i][0]] + 1
    return Elimination(order, near, column)
