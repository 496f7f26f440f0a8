"""Accelerations of a tree under all its loads, and what an audit of energy and momentum needs."""

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, chain, cross3, dot3, get3, get9, quat_log, rotate
from ..kernels.spatial import add6, add_scaled6, dot6, get6, inertia_times
from ..loads import apply_loads
from ..tables import BALL, SCREW
from .tree import accelerate, inverse, place


@inlined
def load(tables, q, v, t):
    """(q, v, t) => I, p, tau of every dof; returns the power supplied and dissipated [W]."""
    lost = place(tables.dofs, tables.islands, q, v)  # (q, v) => R r S V A0 I p tau
    supplied, dissipated = 0.0, 0.0
    if tables.loads.shape[0] > 0:
        supplied, dissipated = apply_loads(tables, q, v, t)  # loads => p, tau
    return supplied, dissipated + lost


@inlined
def derive(tables, q, v, t, qdd):
    """(q, v, t) => joint accelerations; returns the power supplied and dissipated [W]."""
    supplied, dissipated = load(tables, q, v, t)
    accelerate(tables.dofs, qdd)  # (I, p, tau) => qdd
    return supplied, dissipated


@kernel
def energies(tables, q, v, t):
    """Kinetic energy, potential of gravity (zero at the world's origin) and of springs [J]."""
    place(tables.dofs, tables.islands, q, v)
    apply_loads(tables, q, v, t)
    dofs, islands, loads = tables.dofs, tables.islands, tables.loads
    kinetic, height, strain = 0.0, 0.0, 0.0
    minus_g = (dofs[0].A0[3], dofs[0].A0[4], dofs[0].A0[5])
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        rate = v[dof.v]
        kinetic += 0.5 * dof.armature * rate * rate
        if dof.solid != 0:
            V = get6(dof.V)
            kinetic += 0.5 * dot6(V, inertia_times(dof.I, V))
            c = add3(get3(islands[dof.island].o), add3(get3(dof.r), rotate(get9(dof.R), get3(dof.com))))
            height += dof.mass * dot3(minus_g, c)
        if dof.motion == SCREW:
            stretch = q[dof.q] - dof.rest
            strain += 0.5 * dof.stiffness * stretch * stretch
        elif dof.motion == BALL:
            i = dof.q
            phi = quat_log((q[i], q[i + 1], q[i + 2], q[i + 3]))
            for k in range(3):
                stretch = phi[k] - dofs[d + k].rest
                strain += 0.5 * dofs[d + k].stiffness * stretch * stretch
    for i in range(loads.shape[0]):
        strain += loads[i].potential
    return kinetic, height, strain


@kernel
def momentum(tables, q, v, out):
    """Linear momentum (out[3:6]) [N s] and angular momentum about the world's origin (out[0:3]) [N m s]."""
    place(tables.dofs, tables.islands, q, v)
    dofs, islands = tables.dofs, tables.islands
    for k in range(6):
        out[k] = 0.0
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        if dof.solid != 0:
            P = inertia_times(dof.I, get6(dof.V))
            shift = cross3(get3(islands[dof.island].o), (P[3], P[4], P[5]))
            for k in range(3):
                out[k] += P[k] + shift[k]
                out[3 + k] += P[3 + k]


@kernel
def inverse_dynamics(tables, q, v, t, qdd, tau):
    """(q, v, qdd, t) => generalised forces needed beside all loads; dof.p: the force through each joint."""
    place(tables.dofs, tables.islands, q, v)
    apply_loads(tables, q, v, t)
    inverse(tables.dofs, qdd, tau)


@kernel
def body_pose(tables, index):
    """Position [m] and rotation matrix of a body in the world, on placed tables."""
    body = tables.bodies[index]
    dof = tables.dofs[body.link]
    R = get9(dof.R)
    p = add3(get3(dof.r), rotate(R, get3(body.X_p)))
    return add3(get3(tables.islands[dof.island].o), p), chain(R, get9(body.X_R))


@kernel
def body_twist(tables, index):
    """Angular velocity [rad/s] and velocity of the origin [m/s] of a body, world axes, on placed tables."""
    body = tables.bodies[index]
    dof = tables.dofs[body.link]
    p = add3(get3(dof.r), rotate(get9(dof.R), get3(body.X_p)))
    w = (dof.V[0], dof.V[1], dof.V[2])
    return w, add3((dof.V[3], dof.V[4], dof.V[5]), cross3(w, p))


@kernel
def body_acceleration(tables, index):
    """Angular acceleration [rad/s²] and acceleration of the origin [m/s²] of a body, world axes.

    On placed tables whose `A` holds what the joints' accelerations cause.
    """
    body = tables.bodies[index]
    dof, base = tables.dofs[body.link], get6(tables.dofs[0].A0)
    A = add_scaled6(add6(get6(dof.A0), get6(dof.A)), -1.0, base)  # gravity is no acceleration of the body
    e, w = (A[0], A[1], A[2]), (dof.V[0], dof.V[1], dof.V[2])
    p = add3(get3(dof.r), rotate(get9(dof.R), get3(body.X_p)))
    u = add3((dof.V[3], dof.V[4], dof.V[5]), cross3(w, p))
    # A spatial acceleration is that of a stream of points through the reference point: the last term follows one.
    return e, add3(add3((A[3], A[4], A[5]), cross3(e, p)), cross3(w, u))
