"""Lists and pools of the contact solver: which dofs each row reaches, and which of them hold together."""

from __future__ import annotations

import numpy as np

from ..engine.kernels.record import new_records
from ..engine.solvers.reach import CLUSTER, ISLAND, REACHED_DOF, REACHED_ROW, USED, Reach
from ..engine.tables import COORDINATE, Constraints, Tables
from ..model.rotation import Array
from .embedding import Elimination
from .order import measured, path, touched
from .union import Union


def new_reach(tables: Tables, constraints: Constraints, plan: Elimination, shapes: int) -> Reach:
    """Lists and pools for the rows in the order that they stand in, of which the first are embedded, and so many
    shapes."""
    n, m = len(plan.order), len(constraints.rows)
    inner = n - (len(tables.dofs) - 1)
    depth = int(plan.column.max(initial=0)) + 1
    touching = touched(tables, constraints)
    cluster, count = _clusters(tables, touching)
    cluster = np.array([*cluster, *(cluster[min(found)] for found in touching[:inner])], np.int64)
    reached = [set[int]() if r < inner else plan.reached(touching[r]) for r in range(m)]
    moved = measured(tables, constraints)
    order = np.argsort(cluster, kind="stable")
    ends = np.searchsorted(cluster[order], np.arange(count + 1))
    dofs, rows = new_records(n, REACHED_DOF), new_records(m, REACHED_ROW)
    dofs["cluster"], dofs["slot"] = cluster, -1
    rows["end"] = np.cumsum([len(found) for found in reached])
    rows["begin"] = rows["end"] - [len(found) for found in reached]
    rows["move_end"] = np.cumsum([len(found) for found in moved])
    rows["move"] = rows["move_end"] - [len(found) for found in moved]
    rows["chain"] = [_is_chain(tables, dofs) for dofs in moved]
    rows["dof"] = _own_dofs(constraints)
    rows["cluster"] = [cluster[min(found)] if found else 0 for found in touching]
    clusters = new_records(count, CLUSTER)
    clusters["begin"], clusters["end"] = ends[:-1], ends[1:]
    clusters["restless"] = _restless(tables, constraints, cluster, rows["cluster"], count)
    pool = 64 + 16 * shapes * min(2 * depth, n)
    row_pool = int(sum(np.diff(ends)[rows["cluster"]])) + 1
    return Reach(
        yi=np.zeros(pool, np.int64), Y=np.zeros((pool, 6)), zi=np.zeros(pool + n, np.int64), Z=np.zeros((pool + n, 6)),
        rzi=np.zeros(row_pool, np.int64), RZ=np.zeros(row_pool), used=new_records(1, USED),
        u=np.zeros(n), pseudo=np.zeros(n), before=np.zeros(n), bare=np.zeros(n), kept=np.zeros(n),
        reaction=np.zeros((m, 6)), dofs=dofs, rows=rows,
        row_dofs=np.array([d for found in reached for d in sorted(found)], np.int64),
        move_dofs=np.array([d for found in moved for d in sorted(found, reverse=True)], np.int64),
        row_order=np.zeros(m, np.int64), order=np.zeros(pool, np.int64),
        clusters=clusters, cluster_dofs=order, islands=new_records(count + 1, ISLAND),
    )  # fmt: skip


def _is_chain(tables: Tables, dofs: set[int]) -> bool:
    """Whether dofs, counted without the world's, carry each other."""
    return dofs <= {d - 1 for d in path(tables, max(dofs, default=-1) + 1)}


def _own_dofs(constraints: Constraints) -> np.ndarray:
    """The dof, counted from 1, whose rate is what a row measures; 0 if there is none."""
    rows, v = constraints.rows, constraints.coords["v"]
    found = np.zeros(len(rows), np.int64)
    alone = (rows["kind"] == COORDINATE) & (rows["second"] < 0)
    found[alone] = np.maximum(v[rows["first"][alone]], 0)
    return found


def enlarged(reach: Reach) -> Reach:
    """Lists and pools of patches of twice the size; all else is shared."""
    yi, zi = 2 * len(reach.yi), 2 * len(reach.zi)
    return reach._replace(
        yi=np.zeros(yi, np.int64), Y=np.zeros((yi, 6)), zi=np.zeros(zi, np.int64), Z=np.zeros((zi, 6)),
        order=np.zeros(yi, np.int64),
    )  # fmt: skip


def _restless(
    tables: Tables, constraints: Constraints, cluster: Array, of_rows: Array, count: int
) -> np.ndarray:
    """1 for clusters with loads or drives: what is commanded may change at any time."""
    found = np.zeros(count, np.int64)
    for side in ("a", "b"):
        links = tables.loads[side]
        found[cluster[links[links > 0] - 1]] = 1
    found[of_rows[constraints.rows["input"] >= 0]] = 1
    return found


def _clusters(tables: Tables, touching: list[set[int]]) -> tuple[Array, int]:
    """The mechanism that each dof belongs to: what joints or rows hold together; and how many there are."""
    parent = tables.dofs["parent"]
    together = Union(range(len(parent) - 1))
    for d in range(1, len(parent)):
        if parent[d] != 0:
            together.join(d - 1, int(parent[d]) - 1)
    for dofs in touching:
        one = min(dofs, default=0)
        for d in dofs:
            together.join(d, one)
    roots = [together.find(d) for d in range(len(parent) - 1)]
    number = {root: k for k, root in enumerate(dict.fromkeys(roots))}
    return np.array([number[root] for root in roots], np.int64), len(number)
