"""The sparsity of a mechanism's rows: which dofs each touches, and an order in which elimination fills little.

The same order serves bodies, which touch the equations of their joints.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engine.kernels.pairs import A_AXES
from ..engine.kernels.record import new_records
from ..engine.solvers.layout import FIRST, LINK, REPORT, ROOT, START, Work
from ..engine.tables import COORDINATE, DOT, Constraints, Tables
from .embedding import Elimination, eliminate


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


def measured(tables: Tables, constraints: Constraints) -> list[set[int]]:
    """The dofs that each row moves with, counted without the world's: not those that carry all that it measures."""
    return [
        {d - 1 for ends in ends_of(tables, constraints, row) for link in ends for d in path(tables, link)}
        - {d - 1 for d in path(tables, root_of(tables, constraints, row))}
        for row in constraints.rows
    ]


def root_of(tables: Tables, constraints: Constraints, row: Any) -> int:
    """The last dof that carries all that a row measures; the world if it measures along the world's own axes."""
    if row["kind"] == DOT and min(row["alpha"], row["beta"]) < A_AXES:
        return 0
    carried = [path(tables, link) for ends in ends_of(tables, constraints, row) for link in ends]
    return max(set.intersection(*carried), default=0)


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


def new_work(tables: Tables, constraints: Constraints, plan: Elimination | None = None) -> Work:
    """Structure and scratch for rows in the order that they stand in, the first of them embedded if a plan says so.

    With a plan, even one without rows, factors stand apart from the inertia.
    """
    touching, moved = touched(tables, constraints), measured(tables, constraints)
    apart, plan = plan is not None, plan or eliminate(tables, [])
    n, m, unknowns = len(tables.dofs) - 1, len(touching), len(plan.order)
    inner = unknowns - n
    near = np.zeros((2, unknowns, max(map(len, plan.near), default=0)), np.int64)
    link = new_records(unknowns, LINK)
    link["rate"] = -1
    link["rate"][:n] = tables.dofs["v"][1:]
    link["level"][:n] = tables.dofs["depth"][1:]
    link["next"], link["column"], link["near"] = plan.order, plan.column, [len(found) for found in plan.near]
    for i, found in enumerate(plan.near):
        near[0, i, : len(found)], near[1, i, : len(found)] = found, plan.column[found]
        link["trunk"][i] = found[-1] if _is_trunk(tables, plan, found[-6:]) else -1
    link["begin"] = m
    flag = np.zeros((6, m), np.int64)
    flag[ROOT], flag[FIRST] = [root_of(tables, constraints, row) for row in constraints.rows], np.arange(m)
    for r in range(inner, m):
        for i in plan.reached(touching[r]):
            link["begin"][i] = min(link["begin"][i], r)
            link["end"][i] = r + 1
    link["begin"] = np.minimum(link["begin"], link["end"])
    link["first"] = np.where(link["begin"] < link["end"], link["begin"], m)
    link["last"] = link["end"]
    for r, dofs in enumerate(moved):
        for d in dofs:
            link["first"][d] = min(link["first"][d], r)
            link["last"][d] = max(link["last"][d], r + 1)
    link["first"] = np.minimum(link["first"], link["last"])
    for r in range(inner, m):
        flag[FIRST, r] = min((link["begin"][i] for i in plan.reached(touching[r])), default=r)
    offsets = np.cumsum([0, *(np.arange(m) - flag[FIRST] + 1)])
    flag[START] = offsets[:-1] - flag[FIRST]
    report = new_records(1, REPORT)
    report["smallest"], report["smallest_row"], report["weakest"] = np.inf, -1, 1.0
    report["inner"], report["inner_row"], report["inner_weakest"] = np.inf, -1, 1.0
    H = np.zeros((n, int(tables.dofs["depth"].max(initial=0)) + 1))
    return Work(
        H, np.zeros((unknowns, int(plan.column.max(initial=0)) + 1)) if apart else H, near,
        np.zeros((17, m)), flag, np.zeros((12, unknowns)), link,
        np.zeros((n, m)), np.zeros((unknowns, m)), np.zeros(offsets[-1]), np.zeros(offsets[-1]),
        report,
    )  # fmt: skip


def _is_trunk(tables: Tables, plan: Elimination, last: list[int]) -> bool:
    """Whether these are six dofs that carry each other, the first of them carried by the world, and eliminated last.

    A free joint is so; two ball joints are too, unless rows of a loop that closes on the first of them come between.
    """
    first = last[-1] if last else 0
    if last != [*range(first + 5, first - 1, -1)] or first + 6 >= len(tables.dofs):
        return False
    carried = [int(tables.dofs["parent"][d + 1]) for d in last] == [*range(first + 5, first, -1), 0]
    return carried and plan.column[last].tolist() == [*range(5, -1, -1)]


def multiplications(work: Work) -> float:
    """Of an evaluation with all rows kept: factors, and three solutions (forces, gaps, rates)."""
    link, flag = work.link, work.flag
    inner = len(link) - len(work.J)
    # Of gaps and rates, what embedded rows want is solved inward too; and the matrix is filled anew.
    factors = float(work.near[1].sum()) + (8 if inner else 5) * float(link["near"].sum())
    wide = (link["end"] - link["begin"]).astype(float)
    coupling = float((wide * (link["near"] + 0.5 * (wide + 1.0) + 3.0)).sum())
    envelope = (np.arange(flag.shape[1]) - flag[FIRST])[inner:].astype(float)
    return factors + coupling + float((envelope * (0.5 * (envelope + 1.0) + 6.0)).sum())
