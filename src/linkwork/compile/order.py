"""The sparsity of a mechanism's rows: which dofs each touches, and an order in which elimination fills little.

The same order serves bodies, which touch the equations of their joints.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engine.kernels.record import new_records
from ..engine.solvers.layout import FIRST, LINK, REPORT, START, Work
from ..engine.tables import COORDINATE, Constraints, Tables


def path(tables: Tables, link: int) -> set[int]:
    """The dofs that carry a link, its own included."""
    parent, dofs = tables.dofs["parent"], set()
    while link != 0:
        dofs.add(link)
        link = int(parent[link])
    return dofs


def ends_of(tables: Tables, constraints: Constraints, row: Any) -> list[tuple[int, int]]:
    """The links whose relative motion a row measures: those of its joint, or of each coordinate that it relates."""
    if row["kind"] == COORDINATE:
        coords = (row["first"], row["second"])
        return [coordinate_ends(tables, constraints, int(c)) for c in coords if c >= 0]
    pair = constraints.pairs[row["pair"]]
    return [(int(pair["a"]), int(pair["b"]))]


def coordinate_ends(tables: Tables, constraints: Constraints, coordinate: int) -> tuple[int, int]:
    """The links whose relative motion is that of a joint coordinate."""
    coord = constraints.coords[coordinate]
    if coord["v"] >= 0:
        return int(coord["v"]), int(tables.dofs["parent"][coord["v"]])
    pair = constraints.pairs[coord["pair"]]
    return int(pair["a"]), int(pair["b"])


def between(tables: Tables, ends: Iterable[tuple[int, int]]) -> set[int]:
    """The dofs that move links against each other: what carries both alike does not."""
    return set().union(*(path(tables, a) ^ path(tables, b) for a, b in ends))


def touched(tables: Tables, constraints: Constraints) -> list[set[int]]:
    """The dofs that each row may move with, ancestors included, counted without the world's."""
    return [
        {d - 1 for ends in ends_of(tables, constraints, row) for link in ends for d in path(tables, link)}
        for row in constraints.rows
    ]


def elimination_order(touching: list[set[int]], *, both_ends: bool = False) -> list[int]:
    """Rows in the reverse Cuthill-McKee order of the graph in which rows that touch the same thing are neighbours.

    With `both_ends`, each connected part is numbered from its other end too, and the narrower envelope is kept.
    """
    touched_by: dict[int, list[int]] = {}
    for i, things in enumerate(touching):
        for thing in things:
            touched_by.setdefault(thing, []).append(i)
    neighbours = [
        sorted({j for x in things for j in touched_by[x]} - {i}) for i, things in enumerate(touching)
    ]
    order: list[int] = []
    seen: set[int] = set()
    for root in range(len(touching)):
        if root in seen:
            continue
        end = _far_end(root, neighbours)
        part = _numbered(end, neighbours)
        if both_ends:
            other = _numbered(_far_end(end, neighbours), neighbours)
            part = min(part, other, key=lambda part: _envelope(part, neighbours))
        seen.update(part)
        order = part + order
    return order


def _far_end(root: int, neighbours: list[list[int]]) -> int:
    """A row at the end of the longest way from `root`: a good place to begin numbering."""
    distance = {root: 0}
    queue = [root]
    for i in queue:
        for j in neighbours[i]:
            if j not in distance:
                distance[j] = distance[i] + 1
                queue.append(j)
    far = distance[queue[-1]]
    return min((i for i in queue if distance[i] == far), key=lambda i: (len(neighbours[i]), i))


def _numbered(start: int, neighbours: list[list[int]]) -> list[int]:
    """The rows connected with `start`, which is the last of them."""
    queue, seen = [start], {start}
    for i in queue:
        new = [j for j in neighbours[i] if j not in seen]
        seen.update(new)
        queue += sorted(new, key=lambda j: (len(neighbours[j]), j))
    return queue[::-1]


def _envelope(part: list[int], neighbours: list[list[int]]) -> int:
    """How many entries lie between each row's first neighbour and its diagonal."""
    place = {row: k for k, row in enumerate(part)}
    return sum(k - min([k, *(place[j] for j in neighbours[row])]) for k, row in enumerate(part))


def new_work(tables: Tables, constraints: Constraints) -> Work:
    """Structure and scratch for rows in the order that they stand in."""
    touching = touched(tables, constraints)
    n, m = len(tables.dofs) - 1, len(touching)
    link = new_records(n, LINK)
    link["rate"] = tables.dofs["v"][1:]
    link["begin"] = m
    for i, dofs in enumerate(touching):
        for d in dofs:
            link["begin"][d] = min(link["begin"][d], i)
            link["end"][d] = i + 1
    link["begin"] = np.minimum(link["begin"], link["end"])
    flag = np.zeros((5, m), np.int64)
    flag[FIRST] = [min((link["begin"][d] for d in dofs), default=i) for i, dofs in enumerate(touching)]
    offsets = np.cumsum([0, *(np.arange(m) - flag[FIRST] + 1)])
    flag[START] = offsets[:-1] - flag[FIRST]
    report = new_records(1, REPORT)
    report["smallest"], report["smallest_row"], report["weakest"] = np.inf, -1, 1.0
    return Work(
        np.zeros((n, int(tables.dofs["depth"].max(initial=0)) + 1)), np.zeros((14, m)), flag, np.zeros((8, n)), link,
        np.zeros((n, m)), np.zeros((n, m)), np.zeros(offsets[-1]), np.zeros(offsets[-1]),
        report,
    )  # fmt: skip
