"""The sparsity of a mechanism's rows: which dofs each touches, and an order in which elimination fills little."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .tables import COORDINATE, Constraints, Tables


class Pattern(NamedTuple):
    """Fixed by the model; kernels only read it. Dofs are numbered from 0 here: dof d of the table is d - 1."""

    ptr: np.ndarray
    """Row i touches the dofs dof[ptr[i]:ptr[i + 1]], outermost first."""
    dof: np.ndarray
    col_ptr: np.ndarray
    """Dof d is touched by the rows col_row[col_ptr[d]:col_ptr[d + 1]], whose entries stand at col_at."""
    col_row: np.ndarray
    col_at: np.ndarray
    start: np.ndarray
    """Element (k, j) of a matrix over rows stands at start[k] + j."""
    first: np.ndarray
    """First column of row k's envelope."""
    rate_of: np.ndarray
    """Index of the rate of each dof."""
    size: int
    """Numbers in the envelope."""


def touched(tables: Tables, constraints: Constraints) -> list[set[int]]:
    """The dofs that each row may move with, ancestors included."""
    parent = tables.dofs["parent"]

    def path(link: int) -> set[int]:
        dofs = set()
        while link != 0:
            dofs.add(link - 1)
            link = int(parent[link])
        return dofs

    pairs, coords = constraints.pairs, constraints.coords

    def of_pair(index: int) -> set[int]:
        pair = pairs[index]
        return path(int(pair["a"])) | path(int(pair["b"]))

    def of_coordinate(index: int) -> set[int]:
        coord = coords[index]
        return path(int(coord["v"])) if coord["v"] >= 0 else of_pair(int(coord["pair"]))

    found = []
    for row in constraints.rows:
        if row["kind"] == COORDINATE:
            dofs = of_coordinate(int(row["first"]))
            if row["second"] >= 0:
                dofs |= of_coordinate(int(row["second"]))
        else:
            dofs = of_pair(int(row["pair"]))
        found.append(dofs)
    return found


def elimination_order(touching: list[set[int]]) -> list[int]:
    """Rows in the reverse Cuthill-McKee order of the graph in which rows that share a dof are neighbours."""
    by_dof: dict[int, list[int]] = {}
    for i, dofs in enumerate(touching):
        for d in dofs:
            by_dof.setdefault(d, []).append(i)
    neighbours = [sorted({j for d in dofs for j in by_dof[d]} - {i}) for i, dofs in enumerate(touching)]
    order: list[int] = []
    seen: set[int] = set()
    for root in sorted(range(len(touching)), key=lambda i: len(neighbours[i])):
        if root in seen:
            continue
        seen.add(root)
        queue = [_far_end(root, neighbours)] if len(neighbours[root]) else [root]
        seen.add(queue[0])
        part: list[int] = []
        reached = set(queue)
        while queue:
            i = queue.pop(0)
            part.append(i)
            new = [j for j in neighbours[i] if j not in reached]
            reached.update(new)
            queue += sorted(new, key=lambda j: (len(neighbours[j]), j))
        seen |= reached
        order += part
    return order[::-1]


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


def sparsity(tables: Tables, constraints: Constraints) -> Pattern:
    """The pattern of rows in the order that they stand in."""
    touching = touched(tables, constraints)
    n = len(tables.dofs) - 1
    lists = [sorted(dofs, reverse=True) for dofs in touching]
    ptr = np.cumsum([0, *(len(dofs) for dofs in lists)])
    by_dof: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    first = []
    for i, dofs in enumerate(lists):
        for k, d in enumerate(dofs):
            by_dof[d].append((i, int(ptr[i]) + k))
        first.append(min((by_dof[d][0][0] for d in dofs), default=i))
    offsets = np.cumsum([0, *(i - low + 1 for i, low in enumerate(first))])
    entries = [entry for column in by_dof for entry in column]
    return Pattern(
        ptr.astype(np.int64),
        np.array([d for dofs in lists for d in dofs], np.int64),
        np.cumsum([0, *(len(column) for column in by_dof)]).astype(np.int64),
        np.array([row for row, _ in entries], np.int64),
        np.array([at for _, at in entries], np.int64),
        (offsets[:-1] - np.array(first, np.int64)).astype(np.int64),
        np.array(first, np.int64),
        tables.dofs["v"][1:].astype(np.int64),
        int(offsets[-1]),
    )
