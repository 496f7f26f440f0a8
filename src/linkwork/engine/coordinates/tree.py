"""Relative coordinates of a tree: placement, forward and inverse dynamics, mass matrix.

The recursion runs over *dofs*, not joints. A joint of several dofs is a run of dofs whose inner ones carry
no body: eliminating them one after the other from the same articulated inertia is algebraically exact, so
no joint needs code of its own. All spatial vectors of an island are taken at one reference point in
world axes: no pass needs a transform, inertias just add, and nothing loses digits far from the origin.

Letters inside the recursions are Featherstone's (RBDA, table 7.1): S, U, D, u, IA (here `I`), pA (here `p`).
One change saves 36 products a dof: the velocity-product accelerations are accumulated outward into A0, so
that the bias force of a *rigid* body already holds I A0, and the articulated pass has no c to carry.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import (
    add3,
    add_cross3,
    chain,
    cross3,
    dot3,
    get3,
    get9,
    quat_exp,
    quat_log,
    quat_matrix,
    quat_mul,
    rotate,
    rotate_symmetric,
    rotation_vector_rate,
    scale3,
    set3,
    set9,
    sincos,
    sub3,
    symmetric_times,
    turn_z,
)
from ..kernels.spatial import (
    add6,
    add_downdated,
    add_inertia,
    add_scaled6,
    cross_motion,
    dot6,
    get6,
    inertia_times,
    scale6,
    set6,
    set_rigid_inertia,
    zero6,
)
from ..tables import BALL, SCREW

NO_INERTIA = 1e-13
"""A dof whose share of the inertia behind it is below this has none: rounding leaves some 1e-16."""
WEIGH = True
"""For `pose`: with inertias. Without them it is None, so that they are left out of the compiled code."""


@kernel
def place(dofs, islands, q, v):
    """(q, v) => R, r, S, V, A0, I, p of every dof, and tau of the springs and dampers in the joints.

    RBDA table 7.1, first pass. Returns the power that the dampers dissipate [W].
    """
    lost = 0.0
    _begin(dofs, islands, q)
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        parent = dofs[dof.parent]
        R, r, S = _posture(dofs, islands, d, q)
        if dof.motion == SCREW:
            tau = dof.stiffness * (dof.rest - q[dof.q])
        else:
            tau = _ball_spring(dofs, dof.first, dof.column, q)

        # The axis is carried by the frame before this joint motion: c = V_before × S q̇.
        rate = v[dof.v]
        VJ = scale6(rate, S)
        V = add6(get6(parent.V), VJ)
        A0 = add6(get6(parent.A0), cross_motion(get6(dofs[dof.before].V), VJ))
        set9(dof.R, R)
        set3(dof.r, r)
        set6(dof.S, S)
        set6(dof.V, V)
        set6(dof.A0, A0)
        dof.tau = tau - dof.damping * rate
        lost += dof.damping * rate * rate
        set_inertia(dof, R, r, V, A0)
    return lost


@inlined
def _begin(dofs, islands, q):
    """Reference points at their bases, and sines of angles: ahead of a recursion, which waits for one result after the
    other. These do not wait for each other."""
    for k in range(islands.shape[0]):
        set3(islands[k].o, get3(islands[k].p0))
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        if dof.motion == SCREW and dof.rot != 0.0:
            dof.sin, dof.cos = sincos(dof.rot * q[dof.q])


@inlined
def _posture(dofs, islands, d, q):
    """(R, r of its parent) => R, r, S of a dof, which are not written."""
    dof = dofs[d]
    parent = dofs[dof.parent]
    island = islands[dof.island]
    R_parent = get9(parent.R)
    if dof.parent == 0:
        R = get9(dof.X_R)
        r = sub3(get3(dof.X_p), get3(island.o))
    else:
        R = R_parent if dof.aligned != 0 else chain(R_parent, get9(dof.X_R))
        r = add3(get3(parent.r), rotate(R_parent, get3(dof.X_p)))
    if dof.motion == SCREW:
        if dof.rot != 0.0:
            R = turn_z(R, dof.sin, dof.cos)
        axis = (R[2], R[5], R[8])
        if dof.trans != 0.0:
            x = q[dof.q]
            r = add3(r, scale3(dof.shift * x, axis))
            set3(island.o, add3(get3(island.o), scale3((dof.trans - dof.shift) * x, axis)))
    else:
        R, axis = _ball(dofs, d, q, R)
    s = scale3(dof.rot, axis)
    m = add3(cross3(r, s), scale3(dof.trans, axis))
    return R, r, (s[0], s[1], s[2], m[0], m[1], m[2])


@kernel
def pose(dofs, islands, q, weigh):
    """q => R, r, S of every dof; if `weigh` is not None also I. What moves is left out."""
    _begin(dofs, islands, q)
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        R, r, S = _posture(dofs, islands, d, q)
        set9(dof.R, R)
        set3(dof.r, r)
        set6(dof.S, S)
        if weigh is not None:
            if dof.solid == 0:
                set_rigid_inertia(dof.I, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            else:
                c = add3(r, rotate(R, get3(dof.com)))
                h = scale3(dof.mass, c)
                set_rigid_inertia(dof.I, dof.mass, h, _moved(rotate_symmetric(R, get6(dof.inertia)), h, c))


@kernel
def _ball(dofs, d, q, R):
    """Frame and axis of one column of a quaternion joint.

    Rates are the angular velocity in the axes of the outer frame (after the turn); in a joint that the tree
    passes backwards (rot = -1) that frame is the inner one. In both cases the axes' own motion adds
    V_before × S q̇, since the cross product of the relative twist with itself is zero.
    """
    dof = dofs[d]
    R_axes = R
    if dof.motion == BALL:
        i = dof.q
        w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
        if dof.rot > 0.0:
            R = chain(R, quat_matrix(w, x, y, z))
            R_axes = R
        else:
            R = chain(R, quat_matrix(w, -x, -y, -z))
    elif dof.rot < 0.0:
        R_axes = chain(get9(dofs[dof.before].R), get9(dofs[dof.first].X_R))
    k = dof.column
    if k == 0:
        return R, (R_axes[0], R_axes[3], R_axes[6])
    if k == 1:
        return R, (R_axes[1], R_axes[4], R_axes[7])
    return R, (R_axes[2], R_axes[5], R_axes[8])


@kernel
def _ball_spring(dofs, first, column, q):
    """One component of the spring torque of a quaternion joint, in its outer axes.

    The potential is ½ Σ k (φ - rest)², φ the rotation vector; the torque is -Bᵀ K (φ - rest), B the matrix of
    Bortz's equation φ' = B ω, and Bᵀ is B with φ reversed.
    """
    x, y, z = dofs[first], dofs[first + 1], dofs[first + 2]
    if x.stiffness == 0.0 and y.stiffness == 0.0 and z.stiffness == 0.0:
        return 0.0
    i = x.q
    phi = quat_log((q[i], q[i + 1], q[i + 2], q[i + 3]))
    pull = (
        x.stiffness * (x.rest - phi[0]),
        y.stiffness * (y.rest - phi[1]),
        z.stiffness * (z.rest - phi[2]),
    )
    return rotation_vector_rate((-phi[0], -phi[1], -phi[2]), pull)[column]


@inlined
def set_inertia(dof, R, r, V, A0):
    """(R, r, V, A0) => rigid inertia I and bias force p = I A0 + V ×* I V at the reference point."""
    if dof.solid == 0:
        set_rigid_inertia(dof.I, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        zero6(dof.p)
        return
    m = dof.mass
    c = add3(r, rotate(R, get3(dof.com)))
    h = scale3(m, c)
    J = rotate_symmetric(R, get6(dof.inertia))
    # Newton and Euler at the centre of mass: f = m a, n = J α + ω × J ω; then n about the reference point.
    w, u = (V[0], V[1], V[2]), (V[3], V[4], V[5])
    alpha, a = (A0[0], A0[1], A0[2]), (A0[3], A0[4], A0[5])
    f = scale3(m, add_cross3(add_cross3(a, alpha, c), w, add_cross3(u, w, c)))
    n = add_cross3(add_cross3(symmetric_times(J, alpha), w, symmetric_times(J, w)), c, f)
    set6(dof.p, (n[0], n[1], n[2], f[0], f[1], f[2]))
    set_rigid_inertia(dof.I, m, h, _moved(J, h, c))


@inlined
def _moved(J, h, c):
    """Inertia about the reference point, of that about the centre of mass c: Steiner's m (c·c 1 - c cᵀ), h = m c."""
    hc = dot3(h, c)
    return (
        J[0] + hc - h[0] * c[0],
        J[1] - h[0] * c[1],
        J[2] - h[0] * c[2],
        J[3] + hc - h[1] * c[1],
        J[4] - h[1] * c[2],
        J[5] + hc - h[2] * c[2],
    )


@kernel
def accelerate(dofs, qdd):
    """(I, p, tau) => joint accelerations by the articulated-body method.  RBDA table 7.1, passes 2 and 3."""
    for d in range(dofs.shape[0] - 1, 0, -1):
        dof = dofs[d]
        S, p = get6(dof.S), get6(dof.p)
        U = inertia_times(dof.I, S)
        dof.d = 1.0 / (dot6(S, U) + dof.armature)
        dof.u = dof.tau - dot6(S, p)
        set6(dof.U, U)
        if dof.parent != 0:
            parent = dofs[dof.parent]
            add_downdated(parent.I, dof.I, U, dof.d)
            set6(parent.p, add_scaled6(add6(get6(parent.p), p), dof.d * dof.u, U))
    A = get6(dofs[0].A)
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        if dof.parent != d - 1:  # else it is still at hand, and waiting for memory is what takes time here
            A = get6(dofs[dof.parent].A)
        a = dof.d * (dof.u - dot6(get6(dof.U), A))
        qdd[dof.v] = a
        A = add_scaled6(A, a, get6(dof.S))
        set6(dof.A, A)


@kernel
def inverse(dofs, qdd, tau):
    """(I, p, qdd) => generalised forces that cause qdd; dof.p becomes the force through each joint.

    Recursive Newton-Euler (RBDA table 5.1) on placed and loaded tables.
    """
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        A = add_scaled6(get6(dofs[dof.parent].A), qdd[dof.v], get6(dof.S))
        set6(dof.A, A)
        set6(dof.p, add6(get6(dof.p), inertia_times(dof.I, A)))
    for d in range(dofs.shape[0] - 1, 0, -1):
        dof = dofs[d]
        p = get6(dof.p)
        tau[dof.v] = dot6(get6(dof.S), p) + dof.armature * qdd[dof.v] - dof.tau
        if dof.parent != 0:
            parent = dofs[dof.parent]
            set6(parent.p, add6(get6(parent.p), p))


@kernel
def mass_matrix(dofs, H):
    """(S, I) => joint-space inertia H; dof.I becomes composite.  RBDA table 6.2 on placed tables."""
    for i in range(H.shape[0]):
        for k in range(H.shape[1]):
            H[i, k] = 0.0
    for d in range(dofs.shape[0] - 1, 0, -1):
        dof = dofs[d]
        if dof.parent != 0:
            add_inertia(dofs[dof.parent].I, dof.I)
        F = inertia_times(dof.I, get6(dof.S))
        H[dof.v, dof.v] = dot6(get6(dof.S), F) + dof.armature
        a = dof.parent
        while a != 0:
            H[dof.v, dofs[a].v] = H[dofs[a].v, dof.v] = dot6(get6(dofs[a].S), F)
            a = dofs[a].parent


@kernel
def inertia_shares(dofs, islands, q, v, share, whole):
    """How much of the inertia behind each dof resists it alone (articulated), and all of it (composite).

    A share of zero means that a dof can accelerate without any force: the mechanism has no dynamics there.
    Such dofs are left locked, so that those further in are judged without them.
    """
    place(dofs, islands, q, v)
    for d in range(dofs.shape[0] - 1, 0, -1):
        dof = dofs[d]
        if dof.parent != 0:
            add_inertia(dofs[dof.parent].I, dof.I)
        S = get6(dof.S)
        whole[dof.v] = dot6(S, inertia_times(dof.I, S)) + dof.armature
    place(dofs, islands, q, v)
    for d in range(dofs.shape[0] - 1, 0, -1):
        dof = dofs[d]
        U = inertia_times(dof.I, get6(dof.S))
        D = dot6(get6(dof.S), U) + dof.armature
        share[dof.v] = D
        if dof.parent != 0:
            resists = share[dof.v] > NO_INERTIA * whole[dof.v]
            yields = 1.0 / D if resists else 0.0
            add_downdated(dofs[dof.parent].I, dof.I, U, yields)


@kernel
def point_jacobian(dofs, link, point, J):
    """Jacobian (6 x nv) of a point given from the reference point: rows ω then velocity, world axes."""
    for i in range(6):
        for k in range(J.shape[1]):
            J[i, k] = 0.0
    d = link
    while d != 0:
        S = get6(dofs[d].S)
        u = cross3((S[0], S[1], S[2]), point)
        i = dofs[d].v
        J[0, i], J[1, i], J[2, i] = S[0], S[1], S[2]
        J[3, i], J[4, i], J[5, i] = S[3] + u[0], S[4] + u[1], S[5] + u[2]
        d = dofs[d].parent


@kernel
def retract(dofs, q0, delta, q):
    """q = q0 ⊕ delta: local displacements (one per rate) onto the coordinates, quaternions on the group."""
    if q0.shape[0] == dofs.shape[0] - 1:  # no quaternions: coordinates and rates are numbered alike
        for i in range(q0.shape[0]):
            q[i] = q0[i] + delta[i]
        return
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        i, k = dof.q, dof.v
        if dof.motion == SCREW:
            q[i] = q0[i] + delta[k]
        elif dof.motion == BALL:
            j = k - dof.column
            w, x, y, z = quat_mul(
                (q0[i], q0[i + 1], q0[i + 2], q0[i + 3]), quat_exp((delta[j], delta[j + 1], delta[j + 2]))
            )
            n = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
            q[i], q[i + 1], q[i + 2], q[i + 3] = n * w, n * x, n * y, n * z


@kernel
def local_rate(dofs, q, delta, v, rate):
    """Rate of the local displacements `delta` of a step, given the joint rates v; q tells by its length only."""
    if q.shape[0] == dofs.shape[0] - 1:
        for i in range(q.shape[0]):
            rate[i] = v[i]
        return
    for d in range(1, dofs.shape[0]):
        dof = dofs[d]
        k = dof.v
        if dof.motion == SCREW:
            rate[k] = v[k]
        elif dof.motion == BALL:
            j = k - dof.column
            rate[j], rate[j + 1], rate[j + 2] = rotation_vector_rate(
                (delta[j], delta[j + 1], delta[j + 2]), (v[j], v[j + 1], v[j + 2])
            )
