"""What an implicit step has to balance: inertial forces, loads and laws of rows, with their exact derivatives.

Everything here is written for the unknowns of a formulation, be they coordinates of the tree or natural ones: `_place`,
`move`, `evaluate` and `evaluate_rows` are where the two differ.
"""

from ..coordinates.factor import add_row
from ..coordinates.natural import (
    floating_state,
    natural_loads,
    natural_row,
    place_natural,
    rigid_gradient,
    rigid_rows,
)
from ..coordinates.natural_tangent import add_load_blocks, add_row_block
from ..coordinates.soften import add_load_tangent, second, straight
from ..coordinates.tangent import add_motion_tangent, balance, hold, prepare
from ..coordinates.tree import place, retract
from ..kernels.jit import inlined, kernel, woven
from ..kernels.rows import survey
from ..kernels.skyline import add, clear
from ..loads import apply_loads
from ..solvers.equations import SOFT, multiply, scatter
from .responses import account, answer


@inlined
def is_natural(work):
    return work.natural.bodies.shape[0] > 0


@kernel
def _place(tables, work, q, v):
    """(q, v) => poses and twists of all bodies in the tables."""
    if is_natural(work):
        place_natural(tables, work.natural, q, v)
    else:
        place(tables.dofs, tables.islands, q, v)


@kernel
def move(tables, work, q0, delta, q):
    """q = q0 ⊕ delta."""
    if is_natural(work):
        for i in range(q.shape[0]):
            q[i] = q0[i] + delta[i]
    else:
        retract(tables.dofs, q0, delta, q)


@kernel
def evaluate(equations, q, v, a, t, on_v, on_q, tangent):
    """(q, v, a, t) => residual without constraint forces, rows measured; if asked for, the matrix of its derivatives
    by accelerations, on_v times those by rates and on_q times those by displacements."""
    tables, constraints, work = equations
    _place(tables, work, q, v)
    if is_natural(work):
        _balance_natural(tables, work, a, t, on_v, on_q, tangent)
    else:
        _balance_tree(tables, work, q, v, a, t, on_v, on_q, tangent)
    _measure_rows(equations, q, v)
    for r in range(constraints.rows.shape[0]):
        if work.kept[r] == SOFT:
            answered = _respond(equations, r, a, t, tangent)
            scatter(work, work.val, r, -answered[0], work.residual)
            if tangent:
                _soften(equations, r, v, answered, on_v, on_q)


@woven
def evaluate_rows(equations, q, v):
    """(q, v) => gap, rate, bias and gradient of every row."""
    _place(equations.tables, equations.work, q, v)
    _measure_rows(equations, q, v)


# State, accelerations and weights of the derivatives by themselves: vectors of whichever iteration asks.
@woven
def _balance_tree(tables, work, q, v, a, t, on_v, on_q, tangent):
    """(placed tables) => inertial and gravity forces less loads, and their derivatives."""
    dofs = tables.dofs
    hold(dofs, work.spat, a)
    if tangent:
        prepare(dofs, work.spat)
    _load(tables, work, q, v, t)
    balance(dofs, work.spat, a, work.residual)
    if tangent:
        clear(work.matrix)
        shape, values = work.matrix.shape, work.matrix.values
        add_motion_tangent(dofs, work.spat, shape, values, 1.0, on_v, on_q)
        if tables.loads.shape[0] > 0:
            add_load_tangent(tables, work, q, v, t, on_v, on_q)


@woven
def _balance_natural(tables, work, a, t, on_v, on_q, tangent):
    """(placed tables) => inertial and gravity forces less loads in natural coordinates, and their derivatives."""
    residual = work.residual
    for i in range(residual.shape[0]):
        residual[i] = 0.0
    if tables.loads.shape[0] > 0:
        floating_state(tables, work.natural, work.state, work.speed)
        _load(tables, work, work.state, work.speed, t)
        natural_loads(tables, work.natural, residual)
    for i in range(residual.shape[0]):
        residual[i] = -residual[i] - work.weight[i]
    for k in range(work.mass.shape[0]):
        residual[work.mass_at[0, k]] += work.mass[k] * a[work.mass_at[1, k]]
    if tangent:
        clear(work.matrix)
        shape, values = work.matrix.shape, work.matrix.values
        for k in range(work.mass.shape[0]):
            add(shape, values, work.mass_at[0, k], work.mass_at[1, k], work.mass[k])
        if tables.loads.shape[0] > 0:
            add_load_blocks(tables, work, t, on_v, on_q)


@inlined
def _load(tables, work, q, v, t):
    """(placed tables) => forces of loads on the bodies, and their power in the report."""
    report = work.report
    report.load_supply, report.load_loss = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        report.load_supply, report.load_loss = apply_loads(tables, q, v, t)


@kernel
def _measure_rows(equations, q, v):
    """(placed tables) => gap, rate, bias and gradient of every row."""
    tables, constraints, work = equations
    rows, natural = constraints.rows, work.natural
    survey(tables, constraints, q)
    line, m = work.line, constraints.rows.shape[0]
    if is_natural(work):
        rigid_rows(natural, q, v)
    for r in range(work.kept.shape[0]):
        row = work.rows[r]
        if r >= m:
            rigid_gradient(natural, natural.rigid[r - m], 1.0, line)
            row.phi, row.bias = natural.rigid[r - m].phi, natural.rigid[r - m].bias
        else:
            if is_natural(work):
                natural_row(tables, natural, constraints, rows[r], line)
            else:
                add_row(tables.dofs, constraints, rows[r], 0, line)
            row.phi, row.bias = rows[r].phi, rows[r].bias
        rate = 0.0
        for k in range(work.ptr[r], work.ptr[r + 1]):
            d = work.dof_of[work.idx[k]]
            work.val[k] = line[d]
            rate += line[d] * v[work.idx[k]]
        for d in range(line.shape[0]):  # what carries both bodies of a row alike leaves rounding
            line[d] = 0.0
        if r < m:
            rows[r].rate = rate


@kernel
def _respond(equations, r, a, t, slopes):
    """Force of a soft row, with the inertia that it may have, into the row; returns it with its slopes."""
    row, found = equations.constraints.rows[r], answer(equations, r, t, slopes)
    row.force = found.force
    if row.inertia > 0.0:
        row.force -= row.inertia * (multiply(equations.work, equations.work.val, r, a) + row.bias)
    return row.force, found.by_phi, found.by_rate


@woven
def _soften(equations, r, v, answered, on_v, on_q):
    """(force and slopes by gap and rate of a soft row) => their derivatives subtracted from the matrix."""
    tables, constraints, work = equations
    row, shape, values = constraints.rows[r], work.matrix.shape, work.matrix.values
    force, stiffness, damping = answered
    curved = not is_natural(work) and force != 0.0 and not straight(constraints.coords, row)
    along = row.inertia
    if is_natural(work):
        add_row_block(tables, constraints, work, row, answered, on_v, on_q)
    else:
        along -= on_v * damping + on_q * stiffness
    begin, end = work.ptr[r], work.ptr[r + 1]
    for k in range(begin, end):
        for m in range(begin, end):
            add(shape, values, work.idx[k], work.idx[m], along * work.val[k] * work.val[m])
    if not curved:
        return
    # The rate of the row changes with position, too, and its acceleration with rates.
    change = on_q * damping - 2.0 * on_v * row.inertia
    for m in range(begin, end):
        e, slope = work.dof_of[work.idx[m]] + 1, 0.0
        for k in range(begin, end):
            bent = second(tables, constraints, work.above, row, work.dof_of[work.idx[k]] + 1, e)
            slope += bent * v[work.idx[k]]
            add(shape, values, work.idx[k], work.idx[m], -on_q * force * bent)
        for k in range(begin, end):
            add(shape, values, work.idx[k], work.idx[m], -change * work.val[k] * slope)


@woven
def settle_forces(equations, q, v, a, t):
    """(tables placed, rows measured) => forces of soft rows and constraints, power of everything."""
    tables, constraints, work = equations
    if is_natural(work) and tables.loads.shape[0] > 0:
        floating_state(tables, work.natural, work.state, work.speed)
        _load(tables, work, work.state, work.speed, t)
    else:
        _load(tables, work, q, v, t)
    for r in range(constraints.rows.shape[0]):
        if work.kept[r] == SOFT:
            _respond(equations, r, a, t, False)
    account(constraints, work)
