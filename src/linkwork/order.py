"""The sparsity of a mechanism's rows: which dofs each touches, and an order in which elimination fills little."""

from __future__ import annotations

import numpy as np

from .solvers.layout import AT, COLUMN, DOF_OF, ENTRY, FIRST, RATE, ROW_OF, START, Work
from .tables import COORDINATE, Constraints, Tables


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
    for root in range(len(touching)):
        if root in seen:
            continue
        queue = [_far_end(root, neighbours)]
        seen.update(queue)
        for i in queue:
            new = [j for j in neighbours[i] if j not in seen]
            seen.update(new)
            queue += sorted(new, key=lambda j: (len(neighbours[j]), j))
        order += queue
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


def new_work(tables: Tables, constraints: Constraints) -> Work:
    """Structure and scratch for rows in the order that they stand in."""
    lists = [sorted(dofs, reverse=True) for dofs in touched(tables, constraints)]
    n, m = len(tables.dofs) - 1, len(lists)
    by_dof: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    flag = np.zeros((6, m + 1), np.int64)
    for i, dofs in enumerate(lists):
        flag[ENTRY, i + 1] = flag[ENTRY, i] + len(dofs)
        for k, d in enumerate(dofs):
            by_dof[d].append((i, int(flag[ENTRY, i]) + k))
        flag[FIRST, i] = min((by_dof[d][0][0] for d in dofs), default=i)
    widths = np.arange(m) - flag[FIRST, :m] + 1
    offsets = np.cumsum([0, *widths])
    flag[START, :m] = offsets[:-1] - flag[FIRST, :m]
    entries = int(flag[ENTRY, m])
    place = np.zeros((3, entries), np.int64)
    place[DOF_OF] = [d for dofs in lists for d in dofs]
    place[ROW_OF] = [row for column in by_dof for row, _ in column]
    place[AT] = [at for column in by_dof for _, at in column]
    link = np.zeros((2, n + 1), np.int64)
    link[RATE, :n] = tables.dofs["v"][1:]
    link[COLUMN, 1:] = np.cumsum([len(column) for column in by_dof])
    depth = int(tables.dofs["depth"].max(initial=0)) + 1
    return Work(
        np.zeros((n, depth)), np.zeros((12, m)), flag, np.zeros((8, n)), link, np.zeros((2, entries)), place,
        np.zeros(offsets[-1]), np.zeros(offsets[-1]), np.array([np.inf, -1.0, 0.0, 0.0, 0.0, 0.0]),
    )  # fmt: skip
