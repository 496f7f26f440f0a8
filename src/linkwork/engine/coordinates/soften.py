"""What loads and soft rows add to the tangent of a tree: exact stiffness and damping, geometry included."""

from ..kernels.curvature import bend_coordinate, bend_row
from ..kernels.jit import inlined, kernel
from ..kernels.skyline import add
from ..kernels.spatial import add6, add_scaled6, cross_motion, dot6, get6, scale6
from ..loads import JOINT_FUNCTION
from ..loads.tangent import PLACE, RATE, differentiate, differentiate_joint
from ..tables import CALLED, COORDINATE
from .tangent import AXIS_RATE, axis_change

_REST = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined
def _block(M, row, column, x):
    """A 6 x 6 block of M times x."""
    total = _REST
    for k in range(6):
        c = column + k
        total = add_scaled6(
            total,
            x[k],
            (M[row, c], M[row + 1, c], M[row + 2, c], M[row + 3, c], M[row + 4, c], M[row + 5, c]),
        )
    return total


@kernel
def add_load_tangent(tables, work, q, v, t, on_v, on_q):
    """(balanced tables) => matrix -= on_v ∂Q/∂v + on_q ∂Q/∂q of all loads, but for what the turning of axes does to
    their wrenches."""
    dofs, loads, spat, block = tables.dofs, tables.loads, work.spat, work.block
    shape, values = work.matrix.shape, work.matrix.values
    for i in range(loads.shape[0]):
        load = loads[i]
        if load.kind == JOINT_FUNCTION:
            _add_joint_function(load, tables, work, q, v, t, on_v, on_q)
            continue
        differentiate(load, tables, q, v, t, block, work.spare)
        for side in range(2):
            mover = load.a if side == 0 else load.b
            if side == 1 and load.a == load.b:
                continue
            V, e = get6(dofs[mover].V), mover
            while e != 0:
                S = get6(dofs[e].S)
                P = spat[e]
                x = scale6(on_q, S)
                y = cross_motion(S, V)
                y = add6(y, (P[AXIS_RATE], P[AXIS_RATE + 1], P[AXIS_RATE + 2], P[AXIS_RATE + 3],
                             P[AXIS_RATE + 4], P[AXIS_RATE + 5]))  # fmt: skip
                y = add_scaled6(scale6(on_q, y), on_v, S)
                for other in range(2):
                    d = load.a if other == 0 else load.b
                    w = add6(
                        _block(block[PLACE], 6 * other, 6 * side, x),
                        _block(block[RATE], 6 * other, 6 * side, y),
                    )
                    while d != 0:
                        add(shape, values, dofs[d].v, dofs[e].v, -dot6(get6(dofs[d].S), w))
                        d = dofs[d].parent
                e = dofs[e].parent


@kernel
def _add_joint_function(load, tables, work, q, v, t, on_v, on_q):
    dofs, out, matrix = tables.dofs, work.block[0], work.matrix
    first, count = int(load.value[2]), int(load.value[3])
    for e in range(1, dofs.shape[0]):
        if first <= dofs[e].v < first + count:
            differentiate_joint(load, tables, q, v, t, e, out, work.spare)
            for k in range(count):
                slope = -on_q * out[k, 0] - on_v * out[k, 1]
                add(matrix.shape, matrix.values, first + k, dofs[e].v, slope)


@inlined
def _motion(dofs, above, d, link):
    """Twist of a link along dof d."""
    return get6(dofs[d].S) if above[d, link] != 0 else _REST


@kernel
def second(tables, constraints, above, row, d, e):
    """How the component of a row along dof d changes along dof e."""
    coords, pairs = constraints.coords, constraints.pairs
    if row.kind != COORDINATE:
        pair = pairs[row.pair]
        x_A, x_B = _motion(tables.dofs, above, d, pair.a), _motion(tables.dofs, above, d, pair.b)
        y_A, y_B = _motion(tables.dofs, above, e, pair.a), _motion(tables.dofs, above, e, pair.b)
        bent = bend_row(pair, coords, row, x_A, x_B, y_A, y_B)
        return bent + _turned(tables.dofs, above, pair, row, d, e)
    bent = row.sign * _second_coordinate(tables, pairs, above, coords[row.first], d, e)
    if row.second >= 0:
        bent -= row.ratio * _second_coordinate(tables, pairs, above, coords[row.second], d, e)
    return bent


@kernel
def _second_coordinate(tables, pairs, above, coord, d, e):
    if coord.v >= 0:  # a coordinate of the tree is straight in itself
        return 0.0
    pair = pairs[coord.pair]
    x_A, x_B = _motion(tables.dofs, above, d, pair.a), _motion(tables.dofs, above, d, pair.b)
    y_A, y_B = _motion(tables.dofs, above, e, pair.a), _motion(tables.dofs, above, e, pair.b)
    bent = bend_coordinate(pair, coord, x_A, x_B, y_A, y_B)
    return bent + _turned(tables.dofs, above, pair, coord, d, e)


@inlined
def _turned(dofs, above, pair, row, d, e):
    """What the turning of axis d along e adds: J·(∂S_d/∂q_e)."""
    total = 0.0
    if above[d, pair.a] != 0 and above[e, pair.a] != 0:
        total += dot6(get6(row.J_A), axis_change(dofs, d, e))
    if above[d, pair.b] != 0 and above[e, pair.b] != 0:
        total += dot6(get6(row.J_B), axis_change(dofs, d, e))
    return total


@inlined
def straight(coords, row):
    """Whether a row is linear in the coordinates of the tree, or taken to be."""
    if row.kind == CALLED:
        return True
    if row.kind != COORDINATE or coords[row.first].v < 0:
        return False
    return row.second < 0 or coords[row.second].v >= 0
