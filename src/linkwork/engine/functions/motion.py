"""Where bodies are, how they move, and how that follows from the rates: on placed tables."""

from ..coordinates.dynamics import body_pose, body_twist
from ..coordinates.tree import point_jacobian
from ..kernels.jit import kernel
from ..kernels.math3 import add3, cross3, get3, get9, rotate


@kernel
def put_poses(tables, p, R):
    """(placed tables) => positions [m] and rotation matrices of all bodies."""
    for b in range(tables.bodies.shape[0]):
        put_pose(tables, b, (0.0, 0.0, 0.0), p[3 * b : 3 * b + 3], R[9 * b : 9 * b + 9])


@kernel
def put_pose(tables, body, at, p, R):
    """(placed tables) => world position of a point of a body [m] and the body's rotation matrix."""
    position, turned = body_pose(tables, body)
    x = add3(position, rotate(turned, at))
    for k in range(3):
        p[k] = x[k]
    for k in range(9):
        R[k] = turned[k]


@kernel
def put_twists(tables, out):
    """(placed tables) => angular velocity [rad/s] and velocity of the origin [m/s] of all bodies, world axes."""
    for b in range(tables.bodies.shape[0]):
        w, v = body_twist(tables, b)
        for k in range(3):
            out[6 * b + k] = w[k]
            out[6 * b + 3 + k] = v[k]


@kernel
def _arm(tables, body, at):
    """A point of a body, from the reference point of its island, world axes."""
    record = tables.bodies[body]
    R = get9(tables.dofs[record.link].R)
    local = add3(get3(record.X_p), rotate(get9(record.X_R), at))
    return add3(get3(tables.dofs[record.link].r), rotate(R, local))


@kernel
def put_jacobian(tables, body, at, J):
    """(placed tables) => 6 × nv: how rates make the angular velocity of a body and the velocity of its point."""
    point_jacobian(tables.dofs, tables.bodies[body].link, _arm(tables, body, at), J)


@kernel
def put_drift(tables, body, at, out):
    """(placed tables) => J̇ v: angular acceleration, and that of the point, if no joint accelerates; without gravity."""
    link = tables.dofs[tables.bodies[body].link]
    base, A = tables.dofs[0].A0, link.A0
    e = (A[0] - base[0], A[1] - base[1], A[2] - base[2])
    a = (A[3] - base[3], A[4] - base[4], A[5] - base[5])
    w, point = (link.V[0], link.V[1], link.V[2]), _arm(tables, body, at)
    v = add3((link.V[3], link.V[4], link.V[5]), cross3(w, point))
    a = add3(add3(a, cross3(e, point)), cross3(w, v))
    for k in range(3):
        out[k] = e[k]
        out[3 + k] = a[k]


@kernel
def put_centre(tables, out):
    """(placed tables) => the common centre of mass [m]."""
    dofs, total = tables.dofs, 0.0
    x = (0.0, 0.0, 0.0)
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        if dof.solid != 0:
            c = add3(get3(tables.islands[dof.island].o), _com(dof))
            total += dof.mass
            x = (x[0] + dof.mass * c[0], x[1] + dof.mass * c[1], x[2] + dof.mass * c[2])
    for k in range(3):
        out[k] = x[k] / total


@kernel
def _com(dof):
    return add3(get3(dof.r), rotate(get9(dof.R), get3(dof.com)))


@kernel
def put_centre_jacobian(tables, out):
    """(placed tables) => 3 × nv (flat): how rates move the common centre of mass. Spoils the inertias.

    The first moments of everything behind a dof are in its composite inertia: m and m c are entries of that.
    """
    dofs, n, total = tables.dofs, tables.dofs.shape[0] - 1, 0.0
    for d in range(1, dofs.shape[0]):
        if dofs[d].solid != 0:
            total += dofs[d].mass
    for d in range(n, 0, -1):
        dof = dofs[d]
        I, S, parent = dof.I, dof.S, dof.parent
        m, h = I[15], (I[13], I[8], I[9])
        u = cross3((S[0], S[1], S[2]), h)
        for k in range(3):
            out[k * n + dof.v] = (u[k] + m * S[3 + k]) / total
        if parent != 0:
            for k in range(21):
                dofs[parent].I[k] += I[k]
