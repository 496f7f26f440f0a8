"""What a record keeps of a motion, computed for a block of samples at once."""

from typing import NamedTuple

import numpy as np

from ..elements.respond import respond, stored_energy
from ..kernels.jit import kernel
from ..kernels.joint_coordinates import coordinate_rate
from ..kernels.math3 import cross3, get3, sub3
from ..kernels.quaternion import matrix_quaternion
from ..kernels.rows import measure
from ..kernels.spatial import add_scaled6, get6, set6
from ..loads import apply_loads
from .dynamics import body_acceleration, body_pose, body_twist, derive, energies, inverse_dynamics
from .tree import place


@kernel
def observe_accelerations(tables, t, q, v, out):
    """Joint accelerations of every sample [rad/s², m/s²]."""
    for i in range(t.shape[0]):
        derive(tables, q[i], v[i], t[i], out[i])


@kernel
def observe_bodies(tables, q, v, a, motion):
    """Motion of all bodies for every sample => a `BodyMotion`, quaternions near those before; a: derivatives of v."""
    dofs, rotations = tables.dofs, motion.rotations
    for i in range(q.shape[0]):
        place(dofs, tables.islands, q[i], v[i])
        for d in range(1, dofs.shape[0]):
            dof = dofs[d]
            set6(dof.A, add_scaled6(get6(dofs[dof.parent].A), a[i, dof.v], get6(dof.S)))
        for b in range(tables.bodies.shape[0]):
            p, R = body_pose(tables, b)
            quaternion = matrix_quaternion(R)
            sign = 1.0
            if i > 0:
                same = 0.0
                for k in range(4):
                    same += quaternion[k] * rotations[i - 1, 4 * b + k]
                sign = 1.0 if same >= 0.0 else -1.0
            for k in range(4):
                rotations[i, 4 * b + k] = sign * quaternion[k]
            w, u = body_twist(tables, b)
            e, f = body_acceleration(tables, b)
            for k in range(3):
                motion.positions[i, 3 * b + k] = p[k]
                motion.velocities[i, 3 * b + k] = u[k]
                motion.angular_velocities[i, 3 * b + k] = w[k]
                motion.accelerations[i, 3 * b + k] = f[k]
                motion.angular_accelerations[i, 3 * b + k] = e[k]


@kernel
def observe_elements(tables, t, q, v, dofs, along, loads):
    """Forces of the springs and dampers in some dofs [N or N m], and of all loads [N], of every sample."""
    for i in range(t.shape[0]):
        place(tables.dofs, tables.islands, q[i], v[i])
        for k in range(dofs.shape[0]):
            along[i, k] = tables.dofs[dofs[k]].tau
        apply_loads(tables, q[i], v[i], t[i])
        for k in range(tables.loads.shape[0]):
            for axis in range(3):
                loads[i, k, axis] = tables.loads[k].force[axis]


@kernel
def observe_energies(tables, t, q, v, work, out):
    """Kinetic, gravity, strain, supplied, dissipated of every sample [J]."""
    for i in range(t.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = energies(tables, q[i], v[i], t[i])
        out[i, 3] = work[i, 0]
        out[i, 4] = work[i, 1]


class JointEnds(NamedTuple):
    """Where reactions of the joints of a tree are taken."""

    outermost: np.ndarray
    """The last dof of each joint."""
    sign: np.ndarray
    """-1 where the tree passes the joint from b to a, else 1."""


@kernel
def observe_reactions(tables, t, q, v, qdd, ends, out, tau):
    """Force and torque of a on b through joints of the tree, at the outer body's joint frame, world axes => out.

    ends: a `JointEnds`; out: (forces, torques) of every sample [N, N m], of which springs, dampers and drives in the
    joint are part; tau: scratch for a force along every rate.
    """
    dofs, outermost, sign = tables.dofs, ends.outermost, ends.sign
    forces, torques = out
    for i in range(t.shape[0]):
        inverse_dynamics(tables, q[i], v[i], t[i], qdd[i], tau)
        for j in range(outermost.shape[0]):
            dof = dofs[outermost[j]]
            f = (dof.p[3], dof.p[4], dof.p[5])
            n = sub3((dof.p[0], dof.p[1], dof.p[2]), cross3(get3(dof.r), f))
            for k in range(3):
                forces[i, 3 * j + k] = sign[j] * f[k]
                torques[i, 3 * j + k] = sign[j] * n[k]


@kernel
def read_joints(tables, constraints, q, v, t, values, rates):
    """Coordinates and rates of all joints, read from their frames where they close a loop; returns strain [J].

    Angles go on from where they were last read: read every step, they count turns.
    """
    coords, pairs, dofs = constraints.coords, constraints.pairs, tables.dofs
    place(dofs, tables.islands, q, v)
    measure(tables, constraints, q)
    for c in range(coords.shape[0]):
        values[c] = coords[c].value
        rates[c] = coordinate_rate(dofs, pairs, coords[c], v)
    return stored_energy(tables, constraints, t)


@kernel
def observe_idle(tables, constraints, which, t, q, v, forces):
    """Forces of elements whose measure never changes, by their laws, of every sample [N or N m]."""
    for i in range(t.shape[0]):
        place(tables.dofs, tables.islands, q[i], v[i])
        measure(tables, constraints, q[i])
        for k in range(which.shape[0]):
            forces[i, k] = respond(tables, constraints.rows[which[k]], 0.0, t[i], False).force
