"""Natural coordinates: points and unit vectors, many of them shared by the bodies that a joint connects.

A body is where its origin p and the columns e1, e2, e3 of its rotation matrix are: twelve numbers y, an affine
function of the unknowns z that never changes. What keeps the columns orthonormal are *rigid rows* u·v = constant
between vectors of a body, each an affine function of z too. Rows of joints, drives and springs are those of floating
bodies (`engine/kernels/rows.py`); between the two stands the twist

    ω = ½ Σ e_i × e_i'        n·ω + f·p' = Σ (½ n × e_i)·e_i' + f·p'

which is exact where the rigid rows hold. A row's gradient against z, found that way, differs from the derivative of its
gap by a combination of the rigid rows' gradients, which changes no motion.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, get3, get9, scale3, set3, set9, sub3
from ..kernels.quaternion import matrix_quaternion
from ..kernels.spatial import set6, zero6
from ..tables import COORDINATE

SLOTS = 12
"""Numbers that say where a body is: p, e1, e2, e3, three each."""

TERM = np.dtype(
    [
        ("slot", "i8"),  # which number of the body or vector it is part of
        ("unknown", "i8"),  # index in z
        ("factor", "f8"),
    ]
)

NATURAL_BODY = np.dtype(
    [
        ("link", "i8"),  # the dof whose frame it is, in the tables of floating bodies
        ("first", "i8"),  # its terms
        ("count", "i8"),
        ("constant", "f8", SLOTS),  # y = constant + terms; p [m], columns [1]
        # --- written by every evaluation; world axes ---
        ("y", "f8", SLOTS),
        ("rate", "f8", SLOTS),  # y'
        ("force", "f8", SLOTS),  # scratch: what acts on each number
    ]
)

NATURAL_VECTOR = np.dtype(
    [
        ("first", "i8"),  # its terms, slots 0 to 2
        ("count", "i8"),
        ("constant", "f8", 3),
        # --- written by every evaluation; world axes ---
        ("x", "f8", 3),
        ("rate", "f8", 3),
    ]
)

RIGID_ROW = np.dtype(
    [
        ("alpha", "i8"),  # the two vectors
        ("beta", "i8"),
        ("value", "f8"),  # of their dot product on a rigid body
        # --- written by every evaluation ---
        ("phi", "f8"),  # α·β - value
        ("rate", "f8"),  # φ'
        ("bias", "f8"),  # φ'' if z'' = 0
    ]
)


class Natural(NamedTuple):
    """What kernels read of a choice of natural coordinates, and the scratch they write."""

    bodies: np.ndarray
    vectors: np.ndarray
    rigid: np.ndarray
    terms: np.ndarray
    body_of: np.ndarray
    """For every dof the number of the body whose frame it is, or -1."""


def no_natural() -> Natural:
    """Of no bodies: for kernels that take other coordinates, too."""
    kinds = (NATURAL_BODY, NATURAL_VECTOR, RIGID_ROW, TERM, np.dtype(np.int64))
    return Natural(*(np.zeros(0, kind) for kind in kinds))


@kernel
def place_natural(tables, natural, z, zd):
    """(z, z') => R, r, V, A0 of the dofs that carry bodies, no force on them, and reference points of islands.

    A0 is the spatial acceleration for z'' = 0, gravity as a base acceleration of -g: then e_i'' = 0 and p'' = 0, hence
    ω' = ½ Σ e_i × e_i'' = 0, and the point p has the acceleration a + ω × p' = -g.
    """
    dofs, islands, bodies = tables.dofs, tables.islands, natural.bodies
    for k in range(islands.shape[0]):
        set3(islands[k].o, get3(islands[k].p0))
    for b in range(bodies.shape[0] - 1, -1, -1):  # the first body of an island carries its reference point
        body = bodies[b]
        _evaluate(natural.terms, body.first, body.count, body.constant, z, zd, body.y, body.rate)
        y = body.y
        set3(islands[dofs[body.link].island].o, (y[0], y[1], y[2]))
    base = dofs[0].A0
    for b in range(bodies.shape[0]):
        body = bodies[b]
        dof = dofs[body.link]
        y, rate = body.y, body.rate
        w = (0.0, 0.0, 0.0)
        for i in range(1, 4):
            w = add3(w, cross3(_triple(y, i), _triple(rate, i)))
        w = scale3(0.5, w)
        velocity = _triple(rate, 0)
        r = sub3(_triple(y, 0), get3(islands[dof.island].o))
        u = sub3(velocity, cross3(w, r))
        turning = cross3(w, velocity)
        set9(dof.R, (y[3], y[6], y[9], y[4], y[7], y[10], y[5], y[8], y[11]))
        set3(dof.r, r)
        set6(dof.V, (w[0], w[1], w[2], u[0], u[1], u[2]))
        set6(dof.A0, (0.0, 0.0, 0.0, base[3] - turning[0], base[4] - turning[1], base[5] - turning[2]))
        zero6(dof.p)


@kernel
def _evaluate(terms, first, count, constant, z, zd, x, rate):
    """An affine function of z and its rate."""
    for k in range(x.shape[0]):
        x[k] = constant[k]
        rate[k] = 0.0
    for i in range(first, first + count):
        term = terms[i]
        x[term.slot] += term.factor * z[term.unknown]
        rate[term.slot] += term.factor * zd[term.unknown]


@inlined
def _triple(y, i):
    return y[3 * i], y[3 * i + 1], y[3 * i + 2]


@kernel
def floating_state(tables, natural, q, v):
    """(placed tables) => coordinates and rates of the floating bodies: how far each has moved, and a unit quaternion.

    Six dofs a body: three slides along the world's axes from where it was written, then the ball whose last dof is its
    link.
    """
    for b in range(natural.bodies.shape[0]):
        body = natural.bodies[b]
        dof = tables.dofs[body.link]
        written = tables.dofs[body.link - 5].X_p
        R = get9(dof.R)
        i, k = dof.q, dof.v - 5
        q[i], q[i + 1], q[i + 2], q[i + 3] = matrix_quaternion(R)
        V = dof.V
        for a in range(3):
            q[i - 3 + a] = body.y[a] - written[a]
            v[k + a] = body.rate[a]
            v[k + 3 + a] = R[a] * V[0] + R[3 + a] * V[1] + R[6 + a] * V[2]


@kernel
def floating_accelerations(tables, natural, zdd, a):
    """(placed tables, z'') => accelerations of the rates of the floating bodies: p'', and ω' in their own axes."""
    for b in range(natural.bodies.shape[0]):
        body = natural.bodies[b]
        dof, twice = tables.dofs[body.link], body.force
        for k in range(SLOTS):
            twice[k] = 0.0
        for i in range(body.first, body.first + body.count):
            term = natural.terms[i]
            twice[term.slot] += term.factor * zdd[term.unknown]
        turning = (0.0, 0.0, 0.0)
        for i in range(1, 4):
            turning = add3(turning, cross3(_triple(body.y, i), _triple(twice, i)))
        R, k = dof.R, dof.v - 5
        for c in range(3):
            a[k + c] = twice[c]
            a[k + 3 + c] = 0.5 * (R[c] * turning[0] + R[3 + c] * turning[1] + R[6 + c] * turning[2])


# --- forces and rows ---


@kernel
def spread(natural, b, n, f, out):
    """out += a torque n and a force f at the origin of body b as generalised forces on z, on placed tables."""
    body = natural.bodies[b]
    y, force = body.y, body.force
    force[0], force[1], force[2] = f[0], f[1], f[2]
    for i in range(1, 4):
        m = cross3(n, _triple(y, i))
        for k in range(3):
            force[3 * i + k] = 0.5 * m[k]
    for i in range(body.first, body.first + body.count):
        term = natural.terms[i]
        out[term.unknown] += term.factor * force[term.slot]


@kernel
def _spread_spatial(tables, natural, link, factor, W, out):
    """out += `factor` times a wrench W (or a Jacobian against a twist) at the reference point, as forces on z."""
    b = natural.body_of[link]
    if b >= 0:
        f = (factor * W[3], factor * W[4], factor * W[5])
        n = (factor * W[0], factor * W[1], factor * W[2])
        spread(natural, b, sub3(n, cross3(get3(tables.dofs[link].r), f)), f, out)


@kernel
def natural_loads(tables, natural, out):
    """out += the forces of loads, which `apply_loads` left in `p` of placed tables, on z."""
    for b in range(natural.bodies.shape[0]):
        link = natural.bodies[b].link
        _spread_spatial(tables, natural, link, -1.0, tables.dofs[link].p, out)


@kernel
def natural_row(tables, natural, constraints, row, x):
    """x += gradient of a surveyed row against z: φ' = x·z' where the rigid rows hold."""
    if row.kind != COORDINATE:
        pair = constraints.pairs[row.pair]
        _spread_spatial(tables, natural, pair.a, 1.0, row.J_A, x)
        _spread_spatial(tables, natural, pair.b, 1.0, row.J_B, x)
        return
    _add_coordinate(tables, natural, constraints, constraints.coords[row.first], row.sign, x)
    if row.second >= 0:
        _add_coordinate(tables, natural, constraints, constraints.coords[row.second], -row.ratio, x)


@kernel
def _add_coordinate(tables, natural, constraints, coord, factor, x):
    pair = constraints.pairs[coord.pair]
    _spread_spatial(tables, natural, pair.a, factor, coord.J_A, x)
    _spread_spatial(tables, natural, pair.b, factor, coord.J_B, x)


# --- rigid rows ---


@kernel
def rigid_rows(natural, z, zd):
    """(z, z') => gap, rate and bias of the rigid rows, exact anywhere: they are quadratic in z."""
    vectors, rigid = natural.vectors, natural.rigid
    for k in range(vectors.shape[0]):
        vector = vectors[k]
        _evaluate(natural.terms, vector.first, vector.count, vector.constant, z, zd, vector.x, vector.rate)
    for i in range(rigid.shape[0]):
        row = rigid[i]
        alpha, beta = vectors[row.alpha], vectors[row.beta]
        row.phi = dot3(get3(alpha.x), get3(beta.x)) - row.value
        row.rate = dot3(get3(alpha.rate), get3(beta.x)) + dot3(get3(alpha.x), get3(beta.rate))
        row.bias = 2.0 * dot3(get3(alpha.rate), get3(beta.rate))


@kernel
def rigid_gradient(natural, row, factor, x):
    """x += factor times the gradient of a rigid row against z, after `rigid_rows`."""
    alpha, beta = natural.vectors[row.alpha], natural.vectors[row.beta]
    _add_factor(natural.terms, alpha, beta.x, factor, x)
    _add_factor(natural.terms, beta, alpha.x, factor, x)


@kernel
def _add_factor(terms, vector, other, factor, x):
    for i in range(vector.first, vector.first + vector.count):
        term = terms[i]
        x[term.unknown] += factor * term.factor * other[term.slot]
