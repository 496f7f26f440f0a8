"""Sensors: what a tape measures on placed tables and measured rows."""

import math

from ..coordinates.dynamics import body_acceleration, body_pose, body_twist
from ..kernels.jit import kernel, later
from ..kernels.joint_coordinates import coordinate_rate
from ..kernels.math3 import add3, chain, cross3, dot3, quat_matrix, rotate
from ..kernels.quaternion import matrix_quaternion
from ..kernels.spatial import add_scaled6, get6, set6
from ..kernels.tape import HEAD
from .codes import (
    ACCELERATION,
    COORDINATE,
    DRIVE_FORCE,
    POSITION,
    RATE,
    ROTATION,
    SPECIFIC_FORCE,
    SPIN,
    TURNING,
    VELOCITY,
)


@kernel
def sense(tables, constraints, op, v):
    """Value of a sensor, and its rate where that is known. a: coordinate or body, b: which component."""
    kind = op.kind
    if kind == ROTATION and op.c >= 0:  # another component of the same quaternion
        return constraints.tape[op.c].memory[op.b], math.nan
    if kind == COORDINATE:
        coord = constraints.coords[op.a]
        return coord.value, coordinate_rate(tables.dofs, constraints.pairs, coord, v)
    if kind == RATE:
        return coordinate_rate(tables.dofs, constraints.pairs, constraints.coords[op.a], v), math.nan
    p, R = body_pose(tables, op.a)
    w, u = body_twist(tables, op.a)
    arm = rotate(R, (op.p[0], op.p[1], op.p[2]))
    if kind == POSITION:
        return add3(p, arm)[op.b], add3(u, cross3(w, arm))[op.b]
    if kind == VELOCITY:
        return add3(u, cross3(w, arm))[op.b], math.nan
    if kind == TURNING:
        return w[op.b], math.nan
    if kind == SPIN:  # about an axis of the body, which p holds behind the place
        return dot3(rotate(R, (op.p[3], op.p[4], op.p[5])), w), math.nan
    if kind == ROTATION:
        quaternion = matrix_quaternion(chain(R, quat_matrix(op.p[0], op.p[1], op.p[2], op.p[3])))
        for k in range(4):
            op.memory[k] = quaternion[k]
        return quaternion[op.b], math.nan
    return op.value, 0.0


@later
def sense_later(tables, constraints, a):
    """(end of a step; a: accelerations) What sensors of forces and accelerations tell during the next one."""
    tape, dofs = constraints.tape, tables.dofs
    if tape[HEAD].c == 0:
        return
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        set6(dof.A, add_scaled6(get6(dofs[dof.parent].A), a[dof.v], get6(dof.S)))
    for i in range(1, tape.shape[0]):
        op = tape[i]
        if op.kind == DRIVE_FORCE:
            op.memory[0] = _force_of(constraints.rows, op.a)
        elif op.kind == ACCELERATION or op.kind == SPECIFIC_FORCE:
            _, R = body_pose(tables, op.a)
            w, _ = body_twist(tables, op.a)
            e, f = body_acceleration(tables, op.a)
            arm = rotate(R, (op.p[0], op.p[1], op.p[2]))
            f = add3(f, add3(cross3(e, arm), cross3(w, cross3(w, arm))))
            if op.kind == ACCELERATION:
                op.memory[0] = f[op.b]
            else:
                up = get6(dofs[0].A0)
                op.memory[0] = dot3(rotate(R, (op.p[3], op.p[4], op.p[5])), add3(f, (up[3], up[4], up[5])))


@kernel
def sense_means(tables, constraints, t):
    """(placed at the start of a step by impulses) Accelerations as means over the last step: differences of velocities.

    memory[1:]: velocity of the place then; samples: when that was, -1 for never.
    """
    tape, up = constraints.tape, get6(tables.dofs[0].A0)
    for i in range(1, tape.shape[0]):
        op = tape[i]
        if op.kind != ACCELERATION and op.kind != SPECIFIC_FORCE:
            continue
        _, R = body_pose(tables, op.a)
        w, u = body_twist(tables, op.a)
        u = add3(u, cross3(w, rotate(R, (op.p[0], op.p[1], op.p[2]))))
        m, h = op.memory, t - op.samples
        if op.samples >= 0.0 and h > 0.0:
            f = ((u[0] - m[1]) / h, (u[1] - m[2]) / h, (u[2] - m[3]) / h)
            if op.kind == ACCELERATION:
                m[0] = f[op.b]
            else:
                m[0] = dot3(rotate(R, (op.p[3], op.p[4], op.p[5])), add3(f, (up[3], up[4], up[5])))
        if op.samples < 0.0 or h > 0.0:
            m[1], m[2], m[3], op.samples = u[0], u[1], u[2], t


@later
def sense_forces(constraints, h):
    """(end of a step of h by impulses, which know forces alone) What sensors of forces tell during the next one."""
    tape, rows = constraints.tape, constraints.rows
    if tape[HEAD].p[4] != 0.0:
        for r in range(rows.shape[0]):
            rows[r].force = rows[r].p / h
        for i in range(1, tape.shape[0]):
            if tape[i].kind == DRIVE_FORCE:
                tape[i].memory[0] = _force_of(rows, tape[i].a)


@kernel
def _force_of(rows, drive):
    """Force of a drive, whose command stands at that place."""
    for r in range(rows.shape[0]):
        if rows[r].input == drive:
            return rows[r].force
    return 0.0
