"""Implicit steps by the index-3 augmented Lagrangian (Cuadrado and Dopico, eqs. 1-2 and 21-29).

Positions at the end of a step are sought by Newton's method,

    M z'' + Φᵀ (λ* + α Φ) = Q,    λ* ← λ* + α (Φ + Φ_z Δz) after every iteration Δz,

with the rates and accelerations that the integrator gives for them: generalized-α with spectral radius 1, which is the
trapezoidal rule, or less, which damps what the step cannot resolve. The tangent M + h/2 C + s (K + Φᵀ α Φ), s = h²/4 of
the trapezoidal rule, has the exact derivatives of inertial forces, loads, springs and drives; second derivatives of
constraints are left out: they cost an iteration at most. Multipliers follow the gap that an iteration should leave,
not the one that it does leave, whose curvature times α would be a force out of all proportion; and as long as a tangent
is in use, αΦ pushes along the gradients in it, since what turns out of them is not resisted.

Rates and accelerations are then projected onto the constraints with the same factors. Relative and natural coordinates
differ in what `evaluate` and `look` make of them.
"""

import numpy as np

from ..coordinates.factor import add_row
from ..coordinates.natural import (
    floating_accelerations,
    floating_state,
    natural_loads,
    natural_row,
    place_natural,
    rigid_gradient,
    rigid_rows,
)
from ..coordinates.natural_tangent import add_load_blocks, add_row_block
from ..coordinates.observe import read_joints
from ..coordinates.soften import add_load_tangent, second, straight
from ..coordinates.tangent import add_motion_tangent, balance, hold, prepare
from ..coordinates.tree import place, retract
from ..integrate import OK, finite
from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel
from ..kernels.rows import survey
from ..loads import apply_loads
from ..solvers.multipliers import (
    ACCELERATIONS,
    AIM,
    AUXILIARY,
    BIAS,
    CHANGE,
    CHANGED,
    DELTA,
    DRIVEN,
    FACTORED,
    GAP,
    GAP_ROW,
    GAP_TIME,
    HALVED,
    HELD,
    ITERATIONS,
    LAST_GAP,
    LAST_ITERATIONS,
    MOST_ITERATIONS,
    MULTIPLIER,
    OVERRUNS,
    PENALTY,
    PHI,
    RATE,
    RATES,
    RESIDUAL,
    SAFE,
    SLOW_STEPS,
    SOFT,
    STEEPEST,
    TARGET,
    TRIAL_ACCELERATION,
    TRIAL_AUX,
    TRIAL_RATE,
    WANT,
    multiply,
    rate_command,
    row_law,
    scatter,
)
from ..solvers.skyline import LOWER, START, add, clear, factor, solve
from ..solvers.skyline import PLACE as ROW_OF
from ..tables import HOLD, SPRING

NO_CONVERGENCE = 4
"""How a stretch of steps ended: Newton's method found no end of a step however short."""

NOW, TRIAL = 0, 1
# Penalty against the largest inertia that a row moves: each round takes at least so much off a gap. Were it the
# smallest, a heavy body held by a light rod would be held loosely.
_FIRM, _SHARE, _LEAST = 1e6, 0.03, 1e-3  # the last: of the heaviest unknown, for rows of bodies without mass
_ROUNDS, _EXACT = (
    8,
    1e-15,
)  # of projection: each is worth three digits at least; and what is left of rates is rounding
_SLOW = 0.1  # contraction beyond which the tangent is made anew
_NEARLY = 1e-5  # share of a step's displacement that may be left after the last iteration
_ROUNDING, _NOISE = (
    1e-14,
    1e-11,
)  # of displacements [rad or m]; near singular positions gaps weigh a thousandfold
ASIDE = 1e-9  # share of a step: forces that jump at its end are those of just before in it, of just after in the next
JUMP = 1e-2  # share of the accelerations by which forces may miss balance before these are found anew
_PLACED = 1e-13  # gaps that a start may have [rad or m]


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
def _push(tables, constraints, work, r, v, a, t, on_v, on_q, tangent):
    """Force of a soft row subtracted from the residual, and its derivatives from the matrix."""
    row, residual = constraints.rows[r], work.x[RESIDUAL]
    force, stiffness, damping, inertia = row_law(tables, constraints, row, t)
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
def _shove(work, r, weight, out):
    """out += weight times row r as it was when the matrix was made."""
    for k in range(work.ptr[r], work.ptr[r + 1]):
        out[work.idx[k]] += weight * work.pushed[k]


@kernel
def _along(work, r, x):
    """That row times a vector of unknowns."""
    total = 0.0
    for k in range(work.ptr[r], work.ptr[r + 1]):
        total += work.pushed[k] * x[work.idx[k]]
    return total


@kernel
def _project(work, s, q_rates):
    """Rates or accelerations onto the constraints (eqs. 28 and 29), round after round, to rounding.

    q_rates ← q_rates - F⁻¹ s Φᵀ α (Φ q_rates - want). Returns whether anything was left to do.
    """
    change, last, moved = work.x[CHANGE], np.inf, False
    for _ in range(_ROUNDS):
        worst, size = 0.0, 0.0
        for i in range(change.shape[0]):
            change[i] = 0.0
            size = max(size, abs(q_rates[i]))
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                miss = multiply(work, r, q_rates) - work.row[WANT, r]
                worst = max(worst, abs(miss))
                _shove(work, r, -s * work.row[PENALTY, r] * miss, change)
        if worst <= _EXACT * size or worst > 0.5 * last:
            break
        solve(work.matrix, change)
        for i in range(change.shape[0]):
            q_rates[i] += change[i]
        last, moved = worst, True
    return moved


@kernel
def _close_gaps(tables, work, q, s):
    """(measured rows, factored matrix) => q moved so that gaps close, if they are worth it; returns the largest."""
    change, gap = work.x[CHANGE], 0.0
    for i in range(change.shape[0]):
        change[i] = 0.0
    for r in range(work.kept.shape[0]):
        if work.kept[r] == HELD:
            phi = work.row[PHI, r]
            gap = max(gap, abs(phi))
            _shove(work, r, -s * work.row[PENALTY, r] * phi, change)
    if gap > _PLACED:
        solve(work.matrix, change)
        move(tables, work, q, change, q)
    return gap


@kernel
def _want_rates(tables, constraints, work, t):
    """row[WANT] = the rates that constraints want."""
    for r in range(work.kept.shape[0]):
        work.row[WANT, r] = 0.0
        if work.kept[r] == DRIVEN:
            work.row[WANT, r] = rate_command(tables, constraints, constraints.rows[r], t)[0]


@kernel
def _want_accelerations(tables, constraints, work, t):
    """row[WANT] = the accelerations that constraints want of the unknowns."""
    for r in range(work.kept.shape[0]):
        work.row[WANT, r] = -work.row[BIAS, r]
        if work.kept[r] == DRIVEN:
            work.row[WANT, r] += rate_command(tables, constraints, constraints.rows[r], t)[1]


@kernel
def _project_motion(tables, constraints, work, q, v, a, t, s):
    """(factored matrix) => rates and accelerations on the constraints, rows measured there."""
    for _ in range(_ROUNDS):
        put(tables, work, q, v)
        look(tables, constraints, work, q, v)
        if _close_gaps(tables, work, q, s) <= _PLACED:
            break
    _want_rates(tables, constraints, work, t)
    if _project(work, s, v):
        put(tables, work, q, v)
        look(tables, constraints, work, q, v)
    _want_accelerations(tables, constraints, work, t)
    _project(work, s, a)


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
        power = row.force * row.rate
        if row.role == SPRING:
            dissipated -= power + row.value[0] * row.phi * row.rate
        else:
            supplied += power
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
            force, _, _, inertia = row_law(tables, constraints, row, t)
            row.force = force
            if inertia > 0.0:
                row.force -= inertia * (multiply(work, r, a) + row.bias)
    account(constraints, work)


@kernel
def begin(tables, constraints, work, path, t, h):
    """Bring a state onto the constraints and find its accelerations and multipliers."""
    q, v, a, s = path.q[NOW], path.y[RATES], path.y[ACCELERATIONS], 0.25 * h * h
    for i in range(a.shape[0]):
        a[i] = 0.0
    for r in range(work.kept.shape[0]):
        work.row[MULTIPLIER, r] = 0.0
    for _ in range(2 * _ROUNDS):
        evaluate(tables, constraints, work, q, v, a, t, 0.0, 0.0, True)
        stiffen(work, s)
        factor(work.matrix)
        if _close_gaps(tables, work, q, s) <= _PLACED:
            break
    for r in range(work.kept.shape[0]):
        if work.kept[r] == DRIVEN:
            work.row[TARGET, r] = work.row[PHI, r]
    _want_rates(tables, constraints, work, t)
    _project(work, s, v)
    find_accelerations(tables, constraints, work, path, t + ASIDE * h, s)


@kernel
def find_accelerations(tables, constraints, work, path, t, s):
    """(inertia and penalties factored) => accelerations and multipliers of a state."""
    q, v, a = path.q[NOW], path.y[RATES], path.y[ACCELERATIONS]
    residual, change = work.x[RESIDUAL], work.x[CHANGE]
    n = change.shape[0]
    for turn in range(_ROUNDS):  # M a + Φᵀ λ = Q with Φ a = want, augmented likewise
        evaluate(tables, constraints, work, q, v, a, t, 0.0, 0.0, False)
        _want_accelerations(tables, constraints, work, t)
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                pull = s * work.row[PENALTY, r] * (multiply(work, r, a) - work.row[WANT, r])
                work.row[MULTIPLIER, r] += pull if turn > 0 else 0.0
                scatter(work, r, work.row[MULTIPLIER, r] + pull, residual)
        for i in range(n):
            change[i] = -residual[i]
        solve(work.matrix, change)
        for i in range(n):
            a[i] += change[i]
    for i in range(n):
        path.y[AUXILIARY, i] = a[i]
    account(constraints, work)


@kernel
def aim_servos(tables, constraints, work, t, h):
    """Where the coordinates of servos that keep a rate should be at the end of a step."""
    for r in range(work.kept.shape[0]):
        if work.kept[r] == DRIVEN:
            now = rate_command(tables, constraints, constraints.rows[r], t)[0]
            later = rate_command(tables, constraints, constraints.rows[r], t + h)[0]
            work.row[AIM, r] = work.row[TARGET, r] + 0.5 * h * (now + later)


@kernel
def try_end(work, path, h, method):
    """(displacement) => rates, auxiliary accelerations and accelerations at the end of a step; method: β, γ, αm, αf."""
    beta, gamma, am, af = method[0], method[1], method[2], method[3]
    x, y = work.x, path.y
    for i in range(x.shape[1]):
        aux = (x[DELTA, i] - h * y[RATES, i]) / (beta * h * h) - (0.5 - beta) / beta * y[AUXILIARY, i]
        x[TRIAL_AUX, i] = aux
        x[TRIAL_RATE, i] = y[RATES, i] + h * ((1.0 - gamma) * y[AUXILIARY, i] + gamma * aux)
        mixed = (1.0 - am) * aux + am * y[AUXILIARY, i] - af * y[ACCELERATIONS, i]
        x[TRIAL_ACCELERATION, i] = mixed / (1.0 - af)


@inlined
def converged(turn, size, ratio, enough):
    """Whether corrections are small enough, or the next one will be, or they are rounding and will not get smaller."""
    if size <= enough or (turn > 0 and ratio < 0.5 and size * ratio <= enough):
        return True
    return turn > 1 and size <= _NOISE and ratio > 0.3


@kernel
def attempt(tables, constraints, work, path, stats, t, h, method, tolerance, limit):
    """Newton's method for the end of one step of size h; returns whether it converged, everything at the trial."""
    x = work.x
    n, delta, change, residual = x.shape[1], x[DELTA], x[CHANGE], x[RESIDUAL]
    s = (
        method[0] * h * h * (1.0 - method[3]) / (1.0 - method[2])
    )  # what a position is worth as an acceleration
    on_v = s * method[1] / (method[0] * h)
    for i in range(n):
        delta[i] = h * path.y[RATES, i] + 0.5 * h * h * path.y[AUXILIARY, i]
    aim_servos(tables, constraints, work, t, h)
    last, ratio, size, moved, end = np.inf, 0.0, 0.0, 0.0, t + (1.0 - ASIDE) * h
    for turn in range(limit):
        try_end(work, path, h, method)
        move(tables, work, path.q[NOW], delta, path.q[TRIAL])
        anew = turn == 0 or ratio > _SLOW
        evaluate(
            tables, constraints, work, path.q[TRIAL], x[TRIAL_RATE], x[TRIAL_ACCELERATION], end, on_v, s, anew
        )  # fmt: skip
        if anew:
            stiffen(work, s)
            factor(work.matrix)
            stats[FACTORED] += 1
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                if work.kept[r] == DRIVEN:
                    work.row[PHI, r] -= work.row[AIM, r]
                scatter(work, r, work.row[MULTIPLIER, r], residual)
                _shove(work, r, work.row[PENALTY, r] * work.row[PHI, r], residual)
        for i in range(n):
            change[i] = -s * residual[i]
        solve(work.matrix, change)
        for r in range(work.kept.shape[0]):
            if work.kept[r] != SOFT:
                work.row[MULTIPLIER, r] += work.row[PENALTY, r] * (work.row[PHI, r] + _along(work, r, change))
        size, moved = 0.0, 0.0
        for i in range(n):
            delta[i] += change[i]
            size, moved = max(size, abs(change[i])), max(moved, abs(delta[i]))
        if not size < 1e6:  # or not a number
            return False
        ratio = size / last if turn > 0 else 0.0
        stats[LAST_ITERATIONS] = turn + 1
        enough = tolerance * moved + _ROUNDING
        if converged(turn, size, ratio, enough):
            return True
        if turn > 3 and ratio > 2.0:
            return False
        last = size
    # At a singular position penalties resist little, and a gap closes slowly: what is left of it is told by the ratio.
    if ratio < 1.0 and size * ratio <= _NEARLY * moved * (1.0 - ratio):
        stats[SLOW_STEPS] += 1
        return True
    return False


@kernel
def local_error(work, path, h):
    """Error of a step: what accelerations that changed made of it, a third of it being that of the trapezoidal rule."""
    worst = 0.0
    for i in range(work.x.shape[1]):
        straight_on = h * path.y[RATES, i] + 0.5 * h * h * path.y[AUXILIARY, i]
        worst = max(worst, abs(work.x[DELTA, i] - straight_on))
    return worst / 3.0


@kernel
def take(tables, constraints, work, path, t, h, method):
    """(converged trial) => the state at its end, on the constraints, and the work done on the way."""
    x, n = work.x, work.x.shape[1]
    s = method[0] * h * h * (1.0 - method[3]) / (1.0 - method[2])
    supplied, dissipated = work.report[2], work.report[3]
    try_end(work, path, h, method)
    move(tables, work, path.q[NOW], x[DELTA], path.q[TRIAL])
    v, a, q = path.y[RATES], path.y[ACCELERATIONS], path.q[NOW]
    for i in range(q.shape[0]):
        q[i] = path.q[TRIAL, i]
    for i in range(n):
        v[i], a[i] = x[TRIAL_RATE, i], x[TRIAL_ACCELERATION, i]
    _project_motion(tables, constraints, work, q, v, a, t + h, s)
    for i in range(n):
        path.y[AUXILIARY, i] = x[TRIAL_AUX, i] + a[i] - x[TRIAL_ACCELERATION, i]
    for r in range(work.kept.shape[0]):
        work.row[TARGET, r] = work.row[AIM, r]
    settle_forces(tables, constraints, work, q, v, a, t + (1.0 - ASIDE) * h)
    path.energy[0] += 0.5 * h * (supplied + work.report[2])
    path.energy[1] += 0.5 * h * (dissipated + work.report[3])
    if timed(tables, constraints):
        _meet_jump(tables, constraints, work, path, t + h, h, s)


@kernel
def timed(tables, constraints):
    """Whether forces may change with time alone, and so jump."""
    for i in range(tables.loads.shape[0]):
        if tables.loads[i].signal >= 0 or tables.loads[i].function != 0:
            return True
    for r in range(constraints.rows.shape[0]):
        if constraints.rows[r].signal >= 0:
            return True
    return False


@kernel
def _meet_jump(tables, constraints, work, path, t, h, s):
    """If forces just after t do not balance the accelerations, find these anew."""
    q, v, a, residual = path.q[NOW], path.y[RATES], path.y[ACCELERATIONS], work.x[RESIDUAL]
    evaluate(tables, constraints, work, q, v, a, t + ASIDE * h, 0.0, 0.0, False)
    for r in range(work.kept.shape[0]):
        if work.kept[r] != SOFT:
            scatter(work, r, work.row[MULTIPLIER, r], residual)
    solve(work.matrix, residual)
    miss, size = 0.0, 0.0
    for i in range(residual.shape[0]):
        miss, size = max(miss, abs(residual[i])), max(size, abs(a[i]))
    if miss > JUMP * size:
        begin(tables, constraints, work, path, t, h)
    else:
        account(constraints, work)


@kernel
def seen(constraints, path, write):
    """Whether state and commands are those that the last call left; with `write`, leave them."""
    kept, k, same = path.seen, 0, True
    for i in range(path.q.shape[1]):
        same &= kept[k] == path.q[NOW, i]
        kept[k] = path.q[NOW, i] if write else kept[k]
        k += 1
    for i in range(path.y.shape[1]):
        same &= kept[k] == path.y[RATES, i]
        kept[k] = path.y[RATES, i] if write else kept[k]
        k += 1
    for i in range(constraints.inputs.shape[0]):
        same &= kept[k] == constraints.inputs[i]
        kept[k] = constraints.inputs[i] if write else kept[k]
        k += 1
    return same


@kernel
def run_implicit(tables, constraints, every_row, work, path, clock, counts, stats, h, options, targets, out):
    """Steps of size h with a sample at each step count in `targets`; returns (samples, status).

    options: β, γ, αm, αf, tolerance of Newton's method, limits of its iterations and of halvings, budget of a step in
    clock ticks (0 for none), error that a step may make [rad or m], and how often it is halved for that. A step whose
    iterations do not converge or whose error is too large is taken in halves, and these in halves, up to the limits.
    """
    tolerance, limit, halvings, budget = options[4], int(options[5]), int(options[6]), options[7]
    refinements = int(options[9])
    if not seen(constraints, path, False):
        begin(tables, constraints, work, path, clock[2], h)
        stats[CHANGED] += 1
    for row in range(targets.shape[0]):
        while counts[0] < targets[row]:
            began = cycles() if budget > 0.0 else 0
            t0 = clock[0] + counts[0] * h
            parts, done, level, iterations = 1, 0, 0, 0
            while done < parts:
                part = h / parts
                t = t0 + done * part
                for r in range(work.kept.shape[0]):
                    work.row[SAFE, r] = work.row[MULTIPLIER, r]
                ended = attempt(tables, constraints, work, path, stats, t, part, options, tolerance, limit)
                iterations += stats[LAST_ITERATIONS]
                if ended and (level >= refinements or local_error(work, path, part) <= options[8]):
                    take(tables, constraints, work, path, t, part, options)
                    done += 1
                    continue
                for r in range(work.kept.shape[0]):
                    work.row[MULTIPLIER, r] = work.row[SAFE, r]
                    work.row[STEEPEST, r] = 0.0  # a trial that goes astray may have seen anything
                level += 1
                if level > halvings and not ended:
                    clock[2] = t
                    return row, NO_CONVERGENCE
                stats[HALVED] += 1
                parts, done = 2 * parts, 2 * done
            stats[ITERATIONS] += iterations
            stats[MOST_ITERATIONS] = max(stats[MOST_ITERATIONS], iterations)
            stats[LAST_ITERATIONS] = iterations
            counts[0] += 1
            counts[1] += 1
            clock[2] = clock[0] + counts[0] * h
            if budget > 0.0 and cycles() - began > budget:
                stats[OVERRUNS] += 1
            status = finite(path.y[RATES], counts, h)
            if status != OK:
                return row, status
        sample(tables, constraints, every_row, work, path, stats, clock[2], out, row)
    seen(constraints, path, True)
    return targets.shape[0], OK


@kernel
def sample(tables, constraints, every_row, work, path, stats, t, out, row):
    """State, accelerations, forces of rows, coordinates of all joints and the largest gap, measured."""
    q, y = path.q[NOW], path.y
    out.t[row] = t
    if is_natural(work):
        place_natural(tables, work.natural, q, y[RATES])
        floating_state(tables, work.natural, out.q[row], out.v[row])
        floating_accelerations(tables, work.natural, y[ACCELERATIONS], out.a[row])
    else:
        for i in range(q.shape[0]):
            out.q[row, i] = q[i]
        for i in range(y.shape[1]):
            out.v[row, i] = y[RATES, i]
            out.a[row, i] = y[ACCELERATIONS, i]
    out.work[row, 0], out.work[row, 1] = path.energy[0], path.energy[1]
    for i in range(constraints.rows.shape[0]):
        out.forces[row, i] = constraints.rows[i].force
    strain = read_joints(tables, every_row, out.q[row], out.v[row], out.values[row], out.rates[row])
    gap, rows = 0.0, every_row.rows
    for i in range(rows.shape[0]):
        if rows[i].role == HOLD and abs(rows[i].phi) > gap:
            gap = abs(rows[i].phi)
            if gap > stats[GAP]:
                stats[GAP], stats[GAP_ROW], stats[GAP_TIME] = gap, i, t
    stats[LAST_GAP] = gap
    out.solver[row, 0], out.solver[row, 1], out.solver[row, 2] = strain, stats[LAST_ITERATIONS], gap
