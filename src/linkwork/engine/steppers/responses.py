"""What rows ask for and answer in an implicit step: goals of servos, laws with their states, power."""

from ..elements.law import Response
from ..elements.respond import bounded, command_of, flow, note, power_of, respond
from ..kernels.jit import kernel, woven
from ..kernels.signal import signal_slope, signal_value
from ..solvers.equations import DRIVEN, SOFT
from ..tables import HOLD, LAW

_SETTLING = 20  # iterations for the state of an element


# --- constraints: displacements, rates and accelerations that they want ---


@kernel
def _rate_command(tables, constraints, row, t):
    """Rate that a velocity servo should have at time t, and its slope."""
    scale = constraints.inputs[row.input]
    return scale * signal_value(tables, row.signal, t), scale * signal_slope(tables, row.signal, t)


@woven
def aim_servos(equations, t, h):
    """Where the coordinates of servos that keep a rate should be at the end of a step of h from t."""
    tables, constraints, work = equations
    for r in range(work.kept.shape[0]):
        if work.kept[r] == DRIVEN:
            now = _rate_command(tables, constraints, constraints.rows[r], t)[0]
            later = _rate_command(tables, constraints, constraints.rows[r], t + h)[0]
            work.rows[r].aim = work.rows[r].target + 0.5 * h * (now + later)


@woven
def want_rates(equations, t):
    """Rates that constraints want at time t."""
    tables, constraints, work = equations
    for r in range(work.kept.shape[0]):
        work.rows[r].want = 0.0
        if work.kept[r] == DRIVEN:
            work.rows[r].want = _rate_command(tables, constraints, constraints.rows[r], t)[0]


@woven
def want_accelerations(equations, t):
    """(measured rows) Accelerations that constraints want of the unknowns at time t."""
    tables, constraints, work = equations
    for r in range(work.kept.shape[0]):
        work.rows[r].want = -work.rows[r].bias
        if work.kept[r] == DRIVEN:
            work.rows[r].want += _rate_command(tables, constraints, constraints.rows[r], t)[1]


# --- elements ---


@woven
def answer(equations, r, t, slopes):
    """Response of an element at its present gap and rate, within its strength; a state follows to the trial.

    States go by the trapezoidal rule, x = x₀ + h/2 (f₀ + f(x)), solved on the spot, and what they make of the force
    along the motion is part of its slopes.
    """
    tables, constraints, work = equations
    row = constraints.rows[r]
    command = command_of(tables, constraints, row, t)
    if row.state < 0:
        found = bounded(row, respond(tables, row, command, t, slopes))
        note(row, found)
        return found
    half = work.report.half
    began = work.rows[r].state + half * work.rows[r].flow
    change = flow(row, command)
    for _ in range(_SETTLING):
        move = (began + half * change.rate - row.x) / (1.0 - half * change.by_state)
        row.x += move
        change = flow(row, command)
        if abs(move) <= 1e-14 * abs(row.x):
            break
    found = bounded(row, respond(tables, row, command, t, slopes))
    note(row, found)
    gain = found.by_state * half / (1.0 - half * change.by_state)
    return Response(
        found.force, found.by_phi + gain * change.by_phi, found.by_rate + gain * change.by_rate, 0.0, found.stored,
        found.supplied, found.dissipated,
    )  # fmt: skip


@kernel
def keep_states(equations, t):
    """(measured rows) The states of elements are those that the next step begins with."""
    tables, constraints, work = equations
    rows = constraints.rows
    work.report.half = 0.0
    for r in range(rows.shape[0]):
        if rows[r].state >= 0:
            rows[r].flow = flow(rows[r], command_of(tables, constraints, rows[r], t)).rate
            work.rows[r].state, work.rows[r].flow = rows[r].x, rows[r].flow


@woven
def begin_states(constraints, work, h):
    """States of elements back to where a step of h begins."""
    rows = constraints.rows
    work.report.half = 0.5 * h
    for r in range(rows.shape[0]):
        if rows[r].state >= 0:
            rows[r].x = work.rows[r].state


@kernel
def account(constraints, work):
    """Power supplied and dissipated now, and forces of the constraints, into the rows and the report."""
    supplied, dissipated = work.report.load_supply, work.report.load_loss
    for r in range(constraints.rows.shape[0]):
        row = constraints.rows[r]
        if work.kept[r] != SOFT:
            row.force = -work.rows[r].multiplier
        if row.role == HOLD:
            continue
        if row.role == LAW:
            accel = 0.0
            if row.inertia > 0.0:
                accel = (row.pull - row.force) / row.inertia
            gain, loss = power_of(row, accel)
            supplied += gain
            dissipated += loss
        else:
            supplied += row.force * row.rate
    work.report.supply, work.report.loss = supplied, dissipated


@woven
def timed(tables, constraints):
    """Whether forces may change with time alone, and so jump."""
    for i in range(tables.loads.shape[0]):
        if tables.loads[i].signal >= 0 or tables.loads[i].function != 0:
            return True
    for r in range(constraints.rows.shape[0]):
        if constraints.rows[r].signal >= 0 or constraints.rows[r].function != 0:
            return True
    return False
