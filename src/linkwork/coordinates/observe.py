"""What a record keeps of a motion, computed for a block of samples at once."""

import math

from ..kernels.jit import kernel
from ..kernels.math3 import cross3, get3, sub3
from .dynamics import body_pose, derive, energies, inverse_dynamics
from .tree import place


@kernel
def matrix_quaternion(R):
    """Unit quaternion of a rotation matrix; the largest component is found first (Shepperd)."""
    t = R[0] + R[4] + R[8]
    if t >= R[0] and t >= R[4] and t >= R[8]:
        w, x, y, z = 1.0 + t, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif R[0] >= R[4] and R[0] >= R[8]:
        w, x, y, z = R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]
    elif R[4] >= R[8]:
        w, x, y, z = R[2] - R[6], R[1] + R[3], 1.0 + R[4] - R[0] - R[8], R[5] + R[7]
    else:
        w, x, y, z = R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 + R[8] - R[0] - R[4]
    n = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return n * w, n * x, n * y, n * z


@kernel
def observe_accelerations(tables, t, q, v, out):
    """Joint accelerations of every sample [rad/s², m/s²]."""
    for i in range(t.shape[0]):
        derive(tables, q[i], v[i], t[i], out[i])


@kernel
def observe_poses(tables, q, v, positions, rotations):
    """Positions (3 a body) [m] and quaternions (4 a body, each near the last one) of every sample."""
    for i in range(q.shape[0]):
        place(tables.dofs, tables.islands, q[i], v[i])
        for b in range(tables.bodies.shape[0]):
            p, R = body_pose(tables, b)
            for k in range(3):
                positions[i, 3 * b + k] = p[k]
            quaternion = matrix_quaternion(R)
            sign = 1.0
            if i > 0:
                same = 0.0
                for k in range(4):
                    same += quaternion[k] * rotations[i - 1, 4 * b + k]
                sign = 1.0 if same >= 0.0 else -1.0
            for k in range(4):
                rotations[i, 4 * b + k] = sign * quaternion[k]


@kernel
def observe_energies(tables, t, q, v, work, out):
    """Kinetic, gravity, strain, supplied, dissipated of every sample [J]."""
    for i in range(t.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = energies(tables, q[i], v[i], t[i])
        out[i, 3] = work[i, 0]
        out[i, 4] = work[i, 1]


@kernel
def observe_reactions(tables, t, q, v, qdd, outermost, sign, forces, torques, tau):
    """Force and torque of a on b through joints of the tree, at the outer body's joint frame, world axes.

    outermost[j] is the last dof of joint j; sign[j] is -1 where the tree passes the joint from b to a.
    Springs, dampers and drives in the joint are part of what it transmits [N, N m].
    """
    dofs = tables.dofs
    for i in range(t.shape[0]):
        inverse_dynamics(tables, q[i], v[i], t[i], qdd[i], tau)
        for j in range(outermost.shape[0]):
            dof = dofs[outermost[j]]
            f = (dof.p[3], dof.p[4], dof.p[5])
            n = sub3((dof.p[0], dof.p[1], dof.p[2]), cross3(get3(dof.r), f))
            for k in range(3):
                forces[i, 3 * j + k] = sign[j] * f[k]
                torques[i, 3 * j + k] = sign[j] * n[k]
