"""Structure of implicit steps: which unknowns rows and loads couple, and the order in which they are eliminated."""

from __future__ import annotations

import numpy as np

from ..engine.coordinates.natural_tangent import MOTION, Reach
from ..engine.coordinates.tangent import SCRATCH
from ..engine.kernels.skyline import new_skyline
from ..engine.solvers.equations import Step, kept_rows, new_step
from ..engine.tables import Constraints
from .natural import NaturalTable
from .order import between, elimination_order, ends_of, path
from .system import System


def new_tree_step(system: System, constraints: Constraints) -> Step:
    """Structure and scratch of implicit steps of a tree under some rows."""
    dofs = system.tables.dofs
    rate, n, count = dofs["v"], system.nv, len(dofs)
    above = np.zeros((count, count), np.int8)
    for link in range(1, count):
        above[list(path(system.tables, link)), link] = 1
    paths = [set(rate[above[:, link] == 1].tolist()) for link in range(count)]
    moved = [between(system.tables, ends_of(system.tables, constraints, row)) for row in constraints.rows]
    gradients = [set(rate[list(found)].tolist()) for found in moved]
    cliques = [*paths, *gradients]
    cliques += [paths[int(load["a"])] | paths[int(load["b"])] for load in system.tables.loads]
    touching = [{k for k, clique in enumerate(cliques) if i in clique} for i in range(n)]
    order = elimination_order(touching, both_ends=True)
    dof_of = np.zeros(n, np.int64)
    dof_of[rate[1:]] = np.arange(n)
    matrix = new_skyline(order, cliques)
    return new_step(matrix, gradients, kept_rows(constraints), dof_of)._replace(
        spat=np.zeros((count, SCRATCH)), above=above
    )


def new_natural_step(table: NaturalTable) -> Step:
    """Structure and scratch of implicit steps in natural coordinates."""
    natural, n = table.fresh(), table.count
    rigid, rows = table.touched()
    reached = [sorted(set(body.index)) for body in table.bodies]
    cliques = [*rigid, *rows, *(set(unknowns) for unknowns in reached)]
    loads = table.system.tables.loads
    for load in loads:
        both = [natural.body_of[int(load[side])] for side in ("a", "b")]
        cliques.append({i for b in both if b >= 0 for i in reached[b]})
    touching = [{k for k, clique in enumerate(cliques) if i in clique} for i in range(n)]
    matrix = new_skyline(elimination_order(touching, both_ends=True), cliques)
    local = np.zeros(len(natural.terms), np.int64)
    for body, unknowns in zip(natural.bodies, reached, strict=True):
        for i in range(body["first"], body["first"] + body["count"]):
            local[i] = unknowns.index(int(natural.terms[i]["unknown"]))
    first = np.cumsum([0, *map(len, reached)]).astype(np.int64)
    flat = np.array([i for unknowns in reached for i in unknowns], np.int64)
    at = np.array(np.nonzero(table.inertia), np.int64)
    step = new_step(matrix, [*rows, *rigid], kept_rows(table.rows.constraints, len(rigid)), np.arange(n))
    return step._replace(
        natural=natural,
        reach=Reach(first, flat, local),
        mass_at=at,
        mass=table.inertia[at[0], at[1]],
        weight=table.weight,
        motions=np.zeros((3, max(map(len, reached), default=0) + 1, MOTION)),
        state=table.system.q0.copy(),
        speed=table.system.v0.copy(),
    )
