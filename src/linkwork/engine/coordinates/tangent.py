"""What holds a tree in a motion, and its exact derivatives: the residual and tangent of an implicit step.

The residual is r = H a + bias forces - forces of loads, by recursive Newton-Euler. Its derivatives follow from one
fact: to turn joint e is to move everything behind it rigidly, by S_e. Inertias, axes and forces behind it are carried
along; what is not carried along are the velocity V and acceleration A of the frame in front of the joint. With

    P = V × S,    Q = A × S + V × P,    D = V × S + V_behind × S,
    2B x = V ×* I x - I (V × x) + x ×* I V            (of each body; summed like inertias)

the derivatives of r_d, d in front of e or e itself, and of r_e along d, are

    ∂r_d/∂q_e = S_d·(S_e ×* F + I Q_e + 2B P_e)       ∂r_e/∂q_d = S_e·(I Q_d + 2B P_d) - (S_d × S_e)·W
    ∂r_d/∂v_e = S_d·(I D_e + 2B S_e)                  ∂r_e/∂v_d = S_e·(I D_d + 2B S_d)

with I, B, the inertial force F and the loads' wrench W of everything behind e. At one reference point 2B is
[[X, 0], [-2 f×, 0]], f the momentum of the body.
"""

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3
from ..kernels.skyline import add
from ..kernels.spatial import add6, add_inertia, add_scaled6, cross_motion, dot6, get6, inertia_times, set6
from ..tables import SCREW

# Columns of the scratch of each dof.
FORCE, WRENCH, TURNING, MOMENTUM, AXIS_RATE, AXIS_TURN, AXIS_DRAG, SCRATCH = 0, 6, 12, 21, 24, 30, 36, 42


@inlined
def _six(x, k):
    return x[k], x[k + 1], x[k + 2], x[k + 3], x[k + 4], x[k + 5]


@inlined
def _put6(x, k, a):
    x[k], x[k + 1], x[k + 2], x[k + 3], x[k + 4], x[k + 5] = a


@inlined
def _cross_force(v, h):
    """v ×* h: how a force h that is carried along changes (RBDA eq. 2.32)."""
    w, u = (v[0], v[1], v[2]), (v[3], v[4], v[5])
    n, f = (h[0], h[1], h[2]), (h[3], h[4], h[5])
    a, b, c = cross3(w, n), cross3(u, f), cross3(w, f)
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], c[0], c[1], c[2]


@kernel
def hold(dofs, spat, a):
    """(placed tables, accelerations) => inertial force of every dof; loads are to be applied next."""
    for d in range(1, dofs.shape[0]):
        dof, scratch = dofs[d], spat[d]
        A = add_scaled6(get6(dofs[dof.parent].A), a[dof.v], get6(dof.S))
        set6(dof.A, A)
        p = get6(dof.p)
        _put6(scratch, WRENCH, p)
        if dof.solid != 0:
            p = add6(p, inertia_times(dof.I, A))
        _put6(scratch, FORCE, p)


@kernel
def balance(dofs, spat, a, r):
    """(held, loaded tables) => r = H a + bias - loads; I, F and W become those of everything behind each dof."""
    for d in range(1, dofs.shape[0]):
        scratch = spat[d]
        for k in range(6):  # loads have been subtracted from p
            scratch[WRENCH + k] -= dofs[d].p[k]
    for d in range(dofs.shape[0] - 1, 0, -1):
        dof, scratch = dofs[d], spat[d]
        S, F, W = get6(dof.S), _six(scratch, FORCE), _six(scratch, WRENCH)
        r[dof.v] = dot6(S, add_scaled6(F, -1.0, W)) + dof.armature * a[dof.v] - dof.tau
        if dof.parent != 0:
            parent = spat[dof.parent]
            for k in range(12):
                parent[k] += scratch[k]
            add_inertia(dofs[dof.parent].I, dof.I)


@inlined
def _set_turning(dof, scratch):
    """X and momentum f of one body: X = K + Kᵀ - (h vᵀ + v hᵀ) + 2 (v·h) 1 - n×, K = ω× J, n = J ω + h × v."""
    I = dof.I
    w, v = (dof.V[0], dof.V[1], dof.V[2]), (dof.V[3], dof.V[4], dof.V[5])
    h, m = (I[13], I[8], I[9]), I[15]
    J = (I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5])
    n = add3(
        cross3(h, v),
        (
            J[0] * w[0] + J[1] * w[1] + J[2] * w[2],
            J[3] * w[0] + J[4] * w[1] + J[5] * w[2],
            J[6] * w[0] + J[7] * w[1] + J[8] * w[2],
        ),
    )
    c0, c1, c2 = cross3(w, (J[0], J[3], J[6])), cross3(w, (J[1], J[4], J[7])), cross3(w, (J[2], J[5], J[8]))
    K = (c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2])
    twice = 2.0 * dot3(v, h)
    skew = (0.0, -n[2], n[1], n[2], 0.0, -n[0], -n[1], n[0], 0.0)
    for i in range(3):
        for j in range(3):
            x = K[3 * i + j] + K[3 * j + i] - h[i] * v[j] - v[i] * h[j] - skew[3 * i + j]
            scratch[TURNING + 3 * i + j] = x + twice if i == j else x
    f = cross3(w, h)
    for k in range(3):
        scratch[MOMENTUM + k] = f[k] + m * v[k]


@inlined
def _turn(scratch, x):
    """2B x."""
    X = scratch[TURNING:MOMENTUM]
    f = cross3((scratch[MOMENTUM], scratch[MOMENTUM + 1], scratch[MOMENTUM + 2]), (x[0], x[1], x[2]))
    return (
        X[0] * x[0] + X[1] * x[1] + X[2] * x[2],
        X[3] * x[0] + X[4] * x[1] + X[5] * x[2],
        X[6] * x[0] + X[7] * x[1] + X[8] * x[2],
        -2.0 * f[0],
        -2.0 * f[1],
        -2.0 * f[2],
    )


@inlined
def _turn_back(scratch, s):
    """(2B)ᵀ s: its angular part, the other being zero."""
    X = scratch[TURNING:MOMENTUM]
    f = cross3((scratch[MOMENTUM], scratch[MOMENTUM + 1], scratch[MOMENTUM + 2]), (s[3], s[4], s[5]))
    return (
        X[0] * s[0] + X[3] * s[1] + X[6] * s[2] + 2.0 * f[0],
        X[1] * s[0] + X[4] * s[1] + X[7] * s[2] + 2.0 * f[1],
        X[2] * s[0] + X[5] * s[1] + X[8] * s[2] + 2.0 * f[2],
    )


@kernel
def prepare(dofs, spat):
    """(held tables, inertias still those of single bodies) => X, f of every body and P, Q, D of every dof."""
    for d in range(1, dofs.shape[0]):
        dof, scratch = dofs[d], spat[d]
        if dof.solid != 0:
            _set_turning(dof, scratch)
        else:
            for k in range(TURNING, AXIS_RATE):
                scratch[k] = 0.0
        S = get6(dof.S)
        # What a turn does not carry along: of a ball whose axes are its outer ones, all that is in front of it; of one
        # that is passed backwards, whose axes stay, it carries only what is behind it.
        front = dofs[dof.before]
        behind = dof if dof.motion == SCREW else dofs[dof.first + 2]
        carrier = behind if dof.motion != SCREW and dof.rot < 0.0 else front
        V = get6(carrier.V)
        P = cross_motion(V, S)
        A = add6(get6(carrier.A0), get6(carrier.A))
        _put6(scratch, AXIS_RATE, P)
        _put6(scratch, AXIS_TURN, add6(cross_motion(A, S), cross_motion(V, P)))
        drag = add6(cross_motion(get6(front.V), S), cross_motion(get6(behind.V), S))
        _put6(scratch, AXIS_DRAG, drag)


@kernel
def add_motion_tangent(dofs, spat, shape, values, on_a, on_v, on_q):
    """values += on_a H + on_v ∂r/∂v + on_q ∂r/∂q, row forces and direct effects of loads left out.

    (balanced tables) Composites of X and f are made on the way.
    """
    for e in range(dofs.shape[0] - 1, 0, -1):
        dof, scratch = dofs[e], spat[e]
        if dof.parent != 0:
            parent = spat[dof.parent]
            for k in range(TURNING, AXIS_RATE):
                parent[k] += scratch[k]
        S = get6(dof.S)
        U = inertia_times(dof.I, S)
        back = _turn_back(scratch, S)
        F, W = _six(scratch, FORCE), _six(scratch, WRENCH)
        drag = add6(inertia_times(dof.I, _six(scratch, AXIS_DRAG)), _turn(scratch, S))
        turn = add6(inertia_times(dof.I, _six(scratch, AXIS_TURN)), _turn(scratch, _six(scratch, AXIS_RATE)))
        carried = add6(turn, _cross_force(S, F))
        along = on_a * (dot6(S, U) + dof.armature) + on_v * dot6(S, drag) + on_q * dot6(S, carried)
        add(shape, values, dof.v, dof.v, along)
        d = dof.parent
        while d != 0:
            other, before = dofs[d], spat[d]
            S_d, P_d = get6(other.S), _six(before, AXIS_RATE)
            mass = on_a * dot6(S_d, U)
            same_ball = dof.motion != SCREW and other.motion != SCREW and other.first == dof.first
            x = dot6(S_d, carried)
            y = dot6(U, _six(before, AXIS_TURN)) + dot3(back, (P_d[0], P_d[1], P_d[2]))
            if same_ball and dof.rot > 0.0:  # both axes turn with either
                x = dot6(S_d, turn) - dot6(cross_motion(S, S_d), W)
                y -= dot6(cross_motion(S_d, S), W)
            elif same_ball:  # neither does
                y += dot6(S, _cross_force(S_d, F))
            else:
                y -= dot6(cross_motion(S_d, S), W)
            x = mass + on_v * dot6(S_d, drag) + on_q * x
            turned = dot3(back, (S_d[0], S_d[1], S_d[2]))
            y = mass + on_v * (dot6(U, _six(before, AXIS_DRAG)) + turned) + on_q * y
            add(shape, values, other.v, dof.v, x)
            add(shape, values, dof.v, other.v, y)
            d = other.parent


@inlined
def axis_change(dofs, d, e):
    """How the axis of dof d changes along dof e, both on one path."""
    first, second = dofs[d], dofs[e]
    same_ball = first.motion != SCREW and second.motion != SCREW and first.first == second.first
    turns = first.rot > 0.0 if same_ball else d > e
    if turns:
        return cross_motion(get6(second.S), get6(first.S))
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
