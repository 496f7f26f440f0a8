"""Forward and inverse dynamics, inertia and bias of a mechanism, with its loads, elements and loops."""

from ..coordinates.factor import factor, solve_inward
from ..coordinates.tree import WEIGH, accelerate, inverse, mass_matrix, place, pose
from ..kernels.jit import inlined, kernel
from ..kernels.spatial import add6, dot6, get6, set6
from ..loads import apply_loads
from ..tables import LAW
from .room import FORCE, INVERSE, KEPT, MULTIPLIER
from .rows import factor_kept, measure_rows, push_laws, respond_rows, solve_kept

ALL = True
"""For `stir`: with loads. Without them it is None, so that they are left out of the compiled code."""


@inlined
def stir(tables, constraints, room, whole, state):
    """(q, v, x, u, t) => placed tables, loaded unless `whole` is None; rows measured, their laws evaluated."""
    q, v, x, u, t = state
    place(tables.dofs, tables.islands, q, v)
    if whole is not None and tables.loads.shape[0] > 0:
        apply_loads(tables, q, v, t)
    if constraints is not None:
        measure_rows(tables, constraints, room, q, v)
        respond_rows(tables, constraints, room, x, u, t)


@kernel
def put_accelerations(tables, constraints, room, tau, a, multipliers):
    """(stirred tables, generalised forces tau) => accelerations, and forces of all rows."""
    dofs = tables.dofs
    if constraints is None:
        for d in range(1, dofs.shape[0]):
            dofs[d].tau += tau[dofs[d].v]
        accelerate(dofs, a)
    else:
        eliminate(tables, constraints, room, tau, a)
        for r in range(multipliers.shape[0]):
            multipliers[r] = room.row[MULTIPLIER, r] if room.flag[KEPT, r] != 0 else constraints.rows[r].force


@kernel
def eliminate(tables, constraints, room, tau, a):
    """(stirred tables, generalised forces tau) => accelerations and factors; returns the number of independent rows."""
    dofs, force = tables.dofs, room.line[FORCE]
    factor(dofs, room.K, room.line[INVERSE], force)
    for d in range(1, dofs.shape[0]):
        force[d - 1] += tau[dofs[d].v]
    if constraints is not None:
        push_laws(constraints, room)
    solve_inward(dofs, room.K, force)
    rank = factor_kept(dofs, room)
    solve_kept(dofs, room, rank, a)
    return rank


@kernel
def put_forces(tables, constraints, room, a, tau):
    """(stirred tables, accelerations) => the generalised forces that cause them beside loads and elements.

    Loops push nothing here: what they may carry of these forces is up to them.
    """
    dofs = tables.dofs
    inverse(dofs, a, tau)
    if constraints is not None:
        rows, J = constraints.rows, room.J
        for r in range(rows.shape[0]):
            if rows[r].role == LAW:
                pull = rows[r].force
                if rows[r].inertia > 0.0:
                    pull -= rows[r].inertia * (_along(dofs, J[r], a) + rows[r].bias)
                for d in range(1, dofs.shape[0]):
                    tau[dofs[d].v] -= J[r, d - 1] * pull


@kernel
def _along(dofs, line, a):
    """A row in joint space times accelerations, numbered like the rates."""
    total = 0.0
    for d in range(1, dofs.shape[0]):
        total += line[d - 1] * a[dofs[d].v]
    return total


@kernel
def put_bias(tables, constraints, room, q, v, out):
    """(q, v) => forces that keep all joints from accelerating where nothing pushes but gravity."""
    dofs = tables.dofs
    place(dofs, tables.islands, q, v)
    for d in range(dofs.shape[0] - 1, 0, -1):
        dof = dofs[d]
        p = get6(dof.p)
        out[dof.v] = dot6(get6(dof.S), p)
        if dof.parent != 0:
            parent = dofs[dof.parent]
            set6(parent.p, add6(get6(parent.p), p))
    if constraints is not None:
        measure_rows(tables, constraints, room, q, v)
        for r in range(constraints.rows.shape[0]):
            row = constraints.rows[r]
            if row.role == LAW and row.inertia > 0.0:
                for d in range(1, dofs.shape[0]):
                    out[dofs[d].v] += room.J[r, d - 1] * row.inertia * row.bias


@kernel
def put_inertia(tables, constraints, room, q, v, H):
    """(q) => joint-space inertia, rotors included."""
    dofs = tables.dofs
    if constraints is None:
        pose(dofs, tables.islands, q, WEIGH)
    else:
        place(dofs, tables.islands, q, v)
        measure_rows(tables, constraints, room, q, v)
    mass_matrix(dofs, H)
    if constraints is not None:
        for r in range(constraints.rows.shape[0]):
            row, line = constraints.rows[r], room.J[r]
            if row.role == LAW and row.inertia > 0.0:
                for d in range(1, dofs.shape[0]):
                    for e in range(1, dofs.shape[0]):
                        H[dofs[d].v, dofs[e].v] += row.inertia * line[d - 1] * line[e - 1]
