"""What an implicit step has to balance: inertial forces, loads and laws of rows, with their exact derivatives.

Everything here is written for the unknowns of a formulation, be they coordinates of the tree or natural ones: `put`,
`move`, `evaluate` and `look` are where the two differ.
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
from ..elements.law import Response
from ..elements.respond import bounded, command_of, flow, note, power_of, respond
from ..kernels.jit import inlined, kernel
from ..kernels.rows import survey
from ..kernels.skyline import LOWER, START, add, clear
from ..kernels.skyline import PLACE as ROW_OF
from ..loads import apply_loads
from ..solvers.multipliers import (
    BIAS,
    FLOW,
    HALF,
    MULTIPLIER,
    PENALTY,
    PHI,
    RATE,
    RESIDUAL,
    SOFT,
    STATE,
    STEEPEST,
    multiply,
    scatter,
)
from ..tables import HOLD, LAW

# Penalty against the largest inertia that a row moves: each round takes at least so much off a gap. Were it the
# smallest, a heavy body held by a light rod would be held loosely.
_SETTLING = 20  # iterations for the state of an element
_FIRM, _SHARE, _LEAST = 1e6, 0.03, 1e-3  # the last: of the heaviest unknown, for rows of bodies without mass


@inlined
def is_natural(work):
    return work.natural.bodies.shape[0] > 0


@kernel
def put(tables, work, q, v):
    """(q, v) => tables placed."""
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
def evaluate(tables, constraints, work, q, v, a, t, on_v, on_q, tangent):
    """(q, v, a, t) => residual without constraint forces, rows measured; the matrix if asked for."""
    put(tables, work, q, v)
    if is_natural(work):
        _balance_natural(tables, work, a, t, on_v, on_q, tangent)
    else:
        _balance_tree(tables, work, q, v, a, t, on_v, on_q, tangent)
    look(tables, constraints, work, q, v)
    for r in range(constraints.rows.shape[0]):
        if work.kept[r] == SOFT:
            _push(tables, constraints, work, r, v, a, t, on_v, on_q, tangent)


@kernel
def _balance_tree(tables, work, q, v, a, t, on_v, on_q, tangent):
    """(placed tables) => inertial and gravity forces less loads, and their derivatives."""
    dofs = tables.dofs
    hold(dofs, work.spat, a)
    if tangent:
        prepare(dofs, work.spat)
    _load(tables, work, q, v, t)
    balance(dofs, work.spat, a, work.x[RESIDUAL])
    if tangent:
        clear(work.matrix)
        shape, values = work.matrix.shape, work.matrix.values
        add_motion_tangent(dofs, work.spat, shape, values, 1.0, on_v, on_q)
        if tables.loads.shape[0] > 0:
            add_load_tangent(tables, work.spat, work.block, work.spare, q, v, t, shape, values, on_v, on_q)


@kernel
def _balance_natural(tables, work, a, t, on_v, on_q, tangent):
    """The same with a constant inertia and constant weight."""
    residual = work.x[RESIDUAL]
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
            add_load_blocks(
                tables, work.natural, work.reach, work.state, work.speed, t, work.block, work.motions, work.spare,
                shape, values, on_v, on_q,
            )  # fmt: skip


@inlined
def _load(tables, work, q, v, t):
    work.report[0], work.report[1] = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        work.report[0], work.report[1] = apply_loads(tables, q, v, t)


@kernel
def look(tables, constraints, work, q, v):
    """(placed tables) => gap, rate, bias and gradient of every row."""
    rows, row, natural = constraints.rows, work.row, work.natural
    survey(tables, constraints, q)
    line, m = work.line, constraints.rows.shape[0]
    if is_natural(work):
        rigid_rows(natural, q, v)
    for r in range(work.kept.shape[0]):
        if r >= m:
            rigid_gradient(natural, natural.rigid[r - m], 1.0, line)
            row[PHI, r], row[BIAS, r] = natural.rigid[r - m].phi, natural.rigid[r - m].bias
        else:
            if is_natural(work):
                natural_row(tables, natural, constraints, rows[r], line)
            else:
                add_row(tables.dofs, constraints, rows[r], line)
            row[PHI, r], row[BIAS, r] = rows[r].phi, rows[r].bias
        rate = 0.0
        for k in range(work.ptr[r], work.ptr[r + 1]):
            d = work.dof_of[work.idx[k]]
            work.val[k] = line[d]
            rate += line[d] * v[work.idx[k]]
        for d in range(line.shape[0]):  # what carries both bodies of a row alike leaves rounding
            line[d] = 0.0
        row[RATE, r] = rate
        if r < m:
            rows[r].rate = rate


@kernel
def _answer(tables, constraints, work, r, t, slopes):
    """Response of an element at its present gap and rate, within its strength; a state follows to the trial.

    States go by the trapezoidal rule, x = x₀ + h/2 (f₀ + f(x)), solved on the spot, and what they make of the force
    along the motion is part of its slopes.
    """
    row = constraints.rows[r]
    command = command_of(tables, constraints, row, t)
    if row.state < 0:
        answer = bounded(row, respond(tables, row, command, t, slopes))
        note(row, answer)
        return answer
    half, began = work.report[HALF], work.row[STATE, r] + work.report[HALF] * work.row[FLOW, r]
    change = flow(row, command)
    for _ in range(_SETTLING):
        move = (began + half * change.rate - row.x) / (1.0 - half * change.by_state)
        row.x += move
        change = flow(row, command)
        if abs(move) <= 1e-14 * abs(row.x):
            break
    answer = bounded(row, respond(tables, row, command, t, slopes))
    note(row, answer)
    gain = answer.by_state * half / (1.0 - half * change.by_state)
    return Response(
        answer.force, answer.by_phi + gain * change.by_phi, answer.by_rate + gain * change.by_rate, 0.0, answer.stored,
        answer.supplied, answer.dissipated,
    )  # fmt: skip


@kernel
def keep_states(tables, constraints, work, t):
    """(measured rows) The states of elements are those that the next step begins with."""
    rows = constraints.rows
    work.report[HALF] = 0.0
    for r in range(rows.shape[0]):
        if rows[r].state >= 0:
            rows[r].flow = flow(rows[r], command_of(tables, constraints, rows[r], t)).rate
            work.row[STATE, r], work.row[FLOW, r] = rows[r].x, rows[r].flow


@kernel
def begin_states(constraints, work, h):
    """States of elements back to where a step of h begins."""
    rows = constraints.rows
    work.report[HALF] = 0.5 * h
    for r in range(rows.shape[0]):
        if rows[r].state >= 0:
            rows[r].x = work.row[STATE, r]


@kernel
def _push(tables, constraints, work, r, v, a, t, on_v, on_q, tangent):
    """Force of a soft row subtracted from the residual, and its derivatives from the matrix."""
    row, residual = constraints.rows[r], work.x[RESIDUAL]
    answer = _answer(tables, constraints, work, r, t, tangent)
    stiffness, damping, inertia = answer.by_phi, answer.by_rate, row.inertia
    force = answer.force
    if inertia > 0.0:
        force -= inertia * (multiply(work, r, a) + row.bias)
    row.force = force
    scatter(work, r, -force, residual)
    if not tangent:
        return
    shape, values = work.matrix.shape, work.matrix.values
    curved = not is_natural(work) and force != 0.0 and not straight(constraints.coords, row)
    along = inertia
    if is_natural(work):
        add_row_block(
            tables, constraints, work.natural, work.reach, row, force, stiffness, damping, work.block, work.motions,
            shape, values, on_v, on_q,
        )  # fmt: skip
    else:
        along -= on_v * damping + on_q * stiffness
    begin, end = work.ptr[r], work.ptr[r + 1]
    for k in range(begin, end):
        for m in range(begin, end):
            add(shape, values, work.idx[k], work.idx[m], along * work.val[k] * work.val[m])
    if not curved:
        return
    for m in range(begin, end):
        e, slope = work.dof_of[work.idx[m]] + 1, 0.0
        for k in range(begin, end):
            bent = second(tables, constraints, work.above, row, work.dof_of[work.idx[k]] + 1, e)
            slope += bent * v[work.idx[k]]
            add(shape, values, work.idx[k], work.idx[m], -on_q * force * bent)
        for k in range(
            begin, end
        ):  # the rate of the row changes with position, too, and its acceleration with rates
            change = on_q * damping - 2.0 * on_v * inertia
            add(shape, values, work.idx[k], work.idx[m], -change * work.val[k] * slope)


@kernel
def stiffen(work, s):
    """Penalties of the constraints, added to the matrix: s Φᵀ α Φ. Their gradients are kept: projections with the
    factors must push along these, since what is not in the matrix is not resisted by its penalties."""
    shape, values = work.matrix.shape, work.matrix.values
    for k in range(work.val.shape[0]):
        work.pushed[k] = work.val[k]
    heaviest = 0.0
    for i in range(shape.shape[1]):
        heaviest = max(heaviest, abs(values[LOWER, shape[START, i] + i]))
    for r in range(work.kept.shape[0]):
        if work.kept[r] == SOFT:
            continue
        begin, end = work.ptr[r], work.ptr[r + 1]
        largest, mass = 0.0, _LEAST * heaviest
        for k in range(begin, end):
            largest = max(largest, abs(work.val[k]))
        for k in range(begin, end):
            if abs(work.val[k]) >= _SHARE * largest:
                i = shape[ROW_OF, work.idx[k]]
                mass = max(mass, abs(values[LOWER, shape[START, i] + i]))
        work.row[STEEPEST, r] = max(work.row[STEEPEST, r], largest)
        work.row[PENALTY, r] = 0.0
        if largest > 0.0:
            work.row[PENALTY, r] = _FIRM * mass / (s * work.row[STEEPEST, r] ** 2)
    for r in range(work.kept.shape[0]):
        if work.kept[r] == SOFT:
            continue
        weight = s * work.row[PENALTY, r]
        for k in range(work.ptr[r], work.ptr[r + 1]):
            x = weight * work.val[k]
            for m in range(work.ptr[r], work.ptr[r + 1]):
                add(shape, values, work.idx[k], work.idx[m], x * work.val[m])


@kernel
def account(constraints, work):
    """Power supplied and dissipated now, and forces of the constraints, into the rows and the report."""
    supplied, dissipated = work.report[0], work.report[1]
    for r in range(constraints.rows.shape[0]):
        row = constraints.rows[r]
        if work.kept[r] != SOFT:
            row.force = -work.row[MULTIPLIER, r]
        if row.role == HOLD:
            continue
        if row.role == LAW:
            gain, loss = power_of(row)
            supplied += gain
            dissipated += loss
        else:
            supplied += row.force * row.rate
    work.report[2], work.report[3] = supplied, dissipated


@kernel
def settle_forces(tables, constraints, work, q, v, a, t):
    """(tables placed, rows measured) => forces of soft rows and constraints, power of everything."""
    if is_natural(work) and tables.loads.shape[0] > 0:
        floating_state(tables, work.natural, work.state, work.speed)
        _load(tables, work, work.state, work.speed, t)
    else:
        _load(tables, work, q, v, t)
    for r in range(constraints.rows.shape[0]):
        if work.kept[r] == SOFT:
            row = constraints.rows[r]
            row.force = _answer(tables, constraints, work, r, t, False).force
            if row.inertia > 0.0:
                row.force -= row.inertia * (multiply(work, r, a) + row.bias)
    account(constraints, work)
