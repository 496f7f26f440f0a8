"""States of a mechanism brought onto its constraints, with the least change in the metric of inertia."""

from ..coordinates.factor import factor
from ..coordinates.tree import place, retract
from ..kernels.jit import kernel
from ..tables import HOLD, SERVO_RATE
from .room import FORCE, INVERSE, KEPT, SOFT, WANT
from .rows import factor_kept, measure_rows, respond_rows, solve_kept, wanted_rate

_ITERATIONS = 50
_LONGEST = 0.3  # step of one coordinate [rad or m]
_STILL = 1e-15  # steps below this change nothing


@kernel
def project(tables, constraints, room, state, step, q, v):
    """(state) => the nearest q with all loops closed, the nearest rates that loops and servos allow there.

    Returns the largest gap that is left [m or rad]. `step` is scratch (nv).
    """
    q0, v0, x, u, t = state
    dofs, rows, force = tables.dofs, constraints.rows, room.line[FORCE]
    for i in range(q.shape[0]):
        q[i] = q0[i]
    for i in range(v.shape[0]):
        v[i] = v0[i]
    last = False
    for _ in range(_ITERATIONS):
        _weigh(tables, constraints, room, (q, v, x, u, t))
        for r in range(rows.shape[0]):
            if rows[r].role == SERVO_RATE:
                room.flag[KEPT, r] = 0
            room.row[WANT, r] = -rows[r].phi if rows[r].role == HOLD else 0.0  # rotors resist
        for d in range(force.shape[0]):
            force[d] = 0.0
        solve_kept(dofs, room, factor_kept(dofs, room), step)
        far = 0.0
        for i in range(step.shape[0]):
            far = max(far, abs(step[i]))
        if far > _LONGEST:
            for i in range(step.shape[0]):
                step[i] *= _LONGEST / far
        retract(dofs, q, step, q)
        if last or far <= _STILL:
            break
        last = far < 1e-8  # quadratic: the next one brings it to rounding
    _weigh(tables, constraints, room, (q, v, x, u, t))
    gap = 0.0
    for r in range(rows.shape[0]):
        if rows[r].role == HOLD:
            gap = max(gap, abs(rows[r].phi))
        room.row[WANT, r] = 0.0
        if room.row[SOFT, r] == 0.0:
            room.row[WANT, r] = wanted_rate(tables, constraints, rows[r], t) - rows[r].rate
    for d in range(force.shape[0]):
        force[d] = 0.0
    solve_kept(dofs, room, factor_kept(dofs, room), step)
    for i in range(v.shape[0]):
        v[i] += step[i]
    return gap


@kernel
def _weigh(tables, constraints, room, state):
    """(q, v, x, u, t) => rows measured, which are kept; inertia factored."""
    q, v, x, u, t = state
    place(tables.dofs, tables.islands, q, v)
    measure_rows(tables, constraints, room, q, v)
    respond_rows(tables, constraints, room, x, u, t)
    factor(tables.dofs, room.K, room.line[INVERSE], room.line[FORCE])
