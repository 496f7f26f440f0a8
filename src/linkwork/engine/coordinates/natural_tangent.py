"""What loads and soft rows add to the tangent in natural coordinates: exact stiffness and damping.

Both are first differentiated against the twists of their two bodies (12 x 12 blocks), then brought to the unknowns,
each of which moves a body with a twist T of its own. That twist turns, too, when another unknown moves:

    ∂ω_u/∂z_v = ½ Σ ∂e_i/∂z_v × ∂e_i/∂z_u,    T_u = (ω_u, ∂p/∂z_u - ω_u × p),
    ∂T_u/∂z_v = (∂ω_u/∂z_v,  ∂p/∂z_v × ω_u - ∂ω_u/∂z_v × p)

with p from the reference point of the body's island.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.curvature import bend_coordinate, bend_row
from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, get3, scale3, sub3
from ..kernels.skyline import add
from ..kernels.spatial import dot6, get6
from ..loads import apply_load
from ..loads.tangent import PLACE, RATE, differentiate
from ..tables import COORDINATE

# Columns of the motions of each unknown of a body: its twist, and what it does to the twist of the body by turning it.
TWIST, SWING, MOTION = 0, 6, 12


class Reach(NamedTuple):
    """The unknowns of each body: unknown[first[b]:first[b + 1]], and each term's number among those of its body."""

    first: np.ndarray
    unknown: np.ndarray
    local: np.ndarray


@inlined
def _unit(k):
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@inlined
def _unit6(k):
    return (
        1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0,
        1.0 if k == 3 else 0.0, 1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0,
    )  # fmt: skip


@kernel
def body_motions(tables, natural, reach, b, out):
    """(placed tables) => how each unknown of body b moves it; see `Reach`."""
    body = natural.bodies[b]
    y, rate, r = body.y, body.rate, get3(tables.dofs[body.link].r)
    for k in range(reach.first[b + 1] - reach.first[b]):
        for j in range(MOTION):
            out[k, j] = 0.0
    for i in range(body.first, body.first + body.count):
        term, k = natural.terms[i], reach.local[i]
        if term.slot < 3:
            out[k, 3 + term.slot] += term.factor
            continue
        j = 3 * (term.slot // 3)
        u = scale3(0.5 * term.factor, _unit(term.slot - j))
        w = cross3((y[j], y[j + 1], y[j + 2]), u)
        s = cross3(u, (rate[j], rate[j + 1], rate[j + 2]))
        for c in range(3):
            out[k, c] += w[c]
            out[k, SWING + c] += s[c]
    V = tables.dofs[body.link].V
    for k in range(reach.first[b + 1] - reach.first[b]):  # linear parts at the reference point
        drift = cross3((out[k, 3], out[k, 4], out[k, 5]), (V[0], V[1], V[2]))
        lift = cross3((out[k, 0], out[k, 1], out[k, 2]), r)
        swing = cross3((out[k, SWING], out[k, SWING + 1], out[k, SWING + 2]), r)
        for c in range(3):
            out[k, 3 + c] -= lift[c]
            out[k, SWING + 3 + c] = drift[c] - swing[c]


@kernel
def _row_block(tables, constraints, row, force, stiffness, damping, block):
    """Derivatives of the wrenches of a soft row on its two links along their twists, and with their velocities."""
    coords = constraints.coords
    on_coordinate = row.kind == COORDINATE
    coord = coords[max(row.first, 0)]
    pair = constraints.pairs[coord.pair if on_coordinate else row.pair]
    J_A, J_B, sign = get6(row.J_A), get6(row.J_B), 1.0
    if on_coordinate:
        J_A, J_B, sign = get6(coord.J_A), get6(coord.J_B), row.sign
    V_A, V_B = tables.dofs[pair.a].V, tables.dofs[pair.b].V
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for m in range(12):
        y_A, y_B = (_unit6(m), zero) if m < 6 else (zero, _unit6(m - 6))
        slope = 0.0
        for k in range(12):
            x_A, x_B = (_unit6(k), zero) if k < 6 else (zero, _unit6(k - 6))
            if on_coordinate:
                bent = sign * bend_coordinate(pair, coord, x_A, x_B, y_A, y_B)
            else:
                bent = bend_row(pair, coords, row, x_A, x_B, y_A, y_B)
            block[PLACE, k, m] = force * bent
            slope += bent * (V_A[k] if k < 6 else V_B[k - 6])
        along = sign * (J_A[m] if m < 6 else J_B[m - 6])
        for k in range(12):
            across = sign * (J_A[k] if k < 6 else J_B[k - 6])
            block[PLACE, k, m] += across * (stiffness * along + damping * slope)
            block[RATE, k, m] = across * damping * along


@kernel
def add_row_block(tables, constraints, work, row, answered, on_v, on_q):
    """matrix -= on_v ∂Q/∂z' + on_q ∂Q/∂z of a soft row; answered: its force, stiffness and damping."""
    force, stiffness, damping = answered
    _row_block(tables, constraints, row, force, stiffness, damping, work.block)
    coord = constraints.coords[max(row.first, 0)]
    if row.kind == COORDINATE:
        pair = constraints.pairs[coord.pair]
        _add_block(tables, work, (pair.a, pair.b), coord.J_A, coord.J_B, force * row.sign, on_v, on_q)
    else:
        pair = constraints.pairs[row.pair]
        _add_block(tables, work, (pair.a, pair.b), row.J_A, row.J_B, force, on_v, on_q)


@kernel
def add_load_blocks(tables, work, t, on_v, on_q):
    """matrix -= on_v ∂Q/∂z' + on_q ∂Q/∂z of all loads."""
    q, v, spare = work.state, work.speed, work.spare
    for i in range(tables.loads.shape[0]):
        load = tables.loads[i]
        differentiate(load, tables, q, v, t, work.block, spare)
        a, b = tables.dofs[load.a], tables.dofs[load.b]
        for k in range(6):
            spare[k], spare[6 + k] = a.p[k], b.p[k]
            a.p[k] = b.p[k] = 0.0
        apply_load(load, tables, q, v, t)
        for k in range(6):
            spare[12 + k], spare[18 + k] = -a.p[k], -b.p[k]
            a.p[k], b.p[k] = spare[k], spare[6 + k]
        links = load.a, load.b if load.b != load.a else 0
        _add_block(tables, work, links, spare[12:18], spare[18:24], 1.0, on_v, on_q)


@kernel
def _add_block(tables, work, links, W_A, W_B, weight, on_v, on_q):
    """matrix -= what wrenches weight (W_A, W_B) on two links and their derivatives mean for the unknowns."""
    natural, reach, block, motions = work.natural, work.reach, work.block, work.motions
    shape, values = work.matrix.shape, work.matrix.values
    link_a, link_b = links
    for side in range(2):
        link = link_a if side == 0 else link_b
        if natural.body_of[link] >= 0:
            body_motions(tables, natural, reach, natural.body_of[link], motions[side])
    for mover in range(2):
        link = link_a if mover == 0 else link_b
        if natural.body_of[link] < 0:
            continue
        first = reach.first[natural.body_of[link]]
        for m in range(reach.first[natural.body_of[link] + 1] - first):
            X = motions[mover, m]
            for side in range(2):
                other = link_a if side == 0 else link_b
                if natural.body_of[other] < 0:
                    continue
                # Wrench on `other` as unknown m moves `link`: along its twist, and with the twist that it adds.
                f = motions[2, 0]
                for k in range(6):
                    total = 0.0
                    for c in range(6):
                        total += on_q * block[PLACE, 6 * side + k, 6 * mover + c] * X[TWIST + c]
                        speed = on_v * X[TWIST + c] + on_q * X[SWING + c]
                        total += block[RATE, 6 * side + k, 6 * mover + c] * speed
                    f[k] = total
                begin = reach.first[natural.body_of[other]]
                for k in range(reach.first[natural.body_of[other] + 1] - begin):
                    pull = dot6(get6(motions[side, k]), get6(f))
                    add(shape, values, reach.unknown[begin + k], reach.unknown[first + m], -pull)
            W = W_A if mover == 0 else W_B
            force, r = (weight * W[3], weight * W[4], weight * W[5]), get3(tables.dofs[link].r)
            p = add3((X[3], X[4], X[5]), cross3((X[0], X[1], X[2]), r))
            # Twists turn with the other unknowns.
            for k in range(reach.first[natural.body_of[link] + 1] - first):
                U = motions[mover, k]
                turned = dot3(force, cross3(p, (U[0], U[1], U[2])))
                add(shape, values, reach.unknown[first + k], reach.unknown[first + m], -on_q * turned)
    for side in range(2):
        link = link_a if side == 0 else link_b
        if natural.body_of[link] >= 0:
            W = W_A if side == 0 else W_B
            about = cross3(get3(tables.dofs[link].r), (W[3], W[4], W[5]))
            n = scale3(weight, sub3((W[0], W[1], W[2]), about))
            _add_turning(natural, natural.body_of[link], n, shape, values, on_q)


@kernel
def _add_turning(natural, b, n, shape, values, on_q):
    """values -= on_q n·∂ω_u/∂z_v, n a torque about the origin of body b.

    Half the product of two columns' directions, for each pair of terms of a column.
    """
    body, terms = natural.bodies[b], natural.terms
    for i in range(body.first, body.first + body.count):
        if terms[i].slot < 3:
            continue
        column = terms[i].slot // 3
        for j in range(body.first, body.first + body.count):
            if terms[j].slot // 3 == column and terms[j].slot != terms[i].slot:
                u, v = _unit(terms[i].slot - 3 * column), _unit(terms[j].slot - 3 * column)
                turned = 0.5 * terms[i].factor * terms[j].factor * dot3(n, cross3(v, u))
                add(shape, values, terms[i].unknown, terms[j].unknown, -on_q * turned)
