"""The down pass of component-based simulation, and what single bodies and other processes have to do with it."""

from ..kernels.jit import kernel, woven
from .hierarchy import (  # fmt: skip
    ACCELERATE,
    ENDS,
    FOREIGN,
    MOVE,
    STOP,
)
from .layout import PLACE, TURN, P


@woven
def _pass_down(h, i, columns):
    """τ of a subsystem => forces of its rows, τ of its children."""
    node, A, Z, tau = h.node[i], h.A, h.Z, h.tau
    begin, size, rank = node.row_begin, node.row_end - node.row_begin, node.rank
    border = 6 * (node.port_end - node.port_begin)
    stride, a = border + 3, node.A
    for row in range(begin, node.row_end):
        for col in range(columns):
            h.row[(P, PLACE, TURN)[col], row] = 0.0
    for c in range(node.child_begin, node.child_end):
        column = h.child[c].column
        for e in range(column, column + h.child[c].span):
            for col in range(columns):
                tau[col, e] = 0.0
    for p in range(node.port_begin, node.port_end):
        column = h.child[h.port[p].child].column + h.port[p].local
        at = node.column + 6 * (p - node.port_begin)
        for j in range(6):
            for col in range(columns):
                tau[col, column + j] += tau[col, at + j]
    for col in range(columns):
        push = h.row[(P, PLACE, TURN)[col]]
        for k in range(rank - 1, -1, -1):
            top = node.Z + k * stride
            total = Z[top + border + col]
            for e in range(border):
                total -= Z[top + e] * tau[col, node.column + e]
            total *= A[a + k * size + k]
            for j in range(k + 1, rank):
                total -= A[a + j * size + k] * push[h.order[begin + j]]
            row = h.order[begin + k]
            push[row] = total
            for end in range(ENDS):
                c = h.block[row, end].child
                if c >= 0:
                    column = h.child[c].column + h.block[row, end].local
                    for j in range(6):
                        tau[col, column + j] += h.J[row, end, j] * total


@kernel
def go_down(h, columns):
    """Forces of all rows, and what every body does: h.x. Forces on bodies of other processes are left in their nodes'
    τ."""
    for i in range(h.node.shape[0] - 1, -1, -1):
        if h.node[i].remote == 0:
            _pass_down(h, i, columns)
    bodies = h.inertia.shape[0]
    for b in range(bodies):
        for j in range(6):
            for col in range(columns):
                total = h.r[col, 6 * b + j]
                for e in range(6):
                    total += h.D[36 * b + 6 * j + e] * h.tau[col, 6 * b + e]
                h.x[col, 6 * b + j] = total
    for i in range(h.node.shape[0]):
        node = h.node[i]
        if node.remote == 0:
            continue
        border, at = 6 * (node.port_end - node.port_begin), node.column
        for p in range(node.port_begin, node.port_end):
            body = h.port[p].local  # the first rate of the body that stands for it here
            for j in range(6):
                k = 6 * (p - node.port_begin) + j
                for col in range(columns):
                    total = h.r[col, at + k]
                    for e in range(border):
                        total += h.D[node.D + k * border + e] * h.tau[col, at + e]
                    h.x[col, body + j] = total
        for p in range(
            node.port_begin, node.port_end
        ):  # now that r, which holds these forces already, has been used
            for j in range(6):
                h.tau[ACCELERATE, at + 6 * (p - node.port_begin) + j] += h.force[h.port[p].local + j]


@kernel
def receive(h):
    """Loads of this process on bodies of another one act through the D that it sent."""
    for i in range(h.node.shape[0]):
        node = h.node[i]
        if node.remote == 0:
            continue
        border, at = 6 * (node.port_end - node.port_begin), node.column
        for p in range(node.port_begin, node.port_end):
            body = h.port[p].local
            for j in range(6):
                push = h.force[body + j]
                if push != 0.0:
                    for k in range(border):
                        place = h.node[i].D + k * border + 6 * (p - node.port_begin) + j
                        h.r[ACCELERATE, at + k] += h.D[place] * push


@kernel
def outflow(h, v):
    """Power that flows into subsystems whose inside is not known, through their ports [W]."""
    power = 0.0
    for i in range(h.node.shape[0]):
        node = h.node[i]
        if node.remote == FOREIGN:
            for p in range(node.port_begin, node.port_end):
                for j in range(6):
                    at = node.column + 6 * (p - node.port_begin) + j
                    power += h.tau[ACCELERATE, at] * v[h.port[p].local + j]
    return power


@kernel
def lighten(inertia, D, force, r, b, R):
    """D and r of a body alone: M⁻¹, turned as the body is, and M⁻¹ f."""
    at = 36 * b
    if inertia[36] != 0.0:
        for i in range(3):
            for k in range(3):
                both, cross = 0.0, 0.0
                for j in range(3):
                    cross += R[3 * i + j] * inertia[6 * j + 3 + k]
                    for e in range(3):
                        both += R[3 * i + j] * inertia[6 * j + e] * R[3 * k + e]
                D[at + 6 * i + k] = both
                D[at + 6 * i + 3 + k] = cross
                D[at + 6 * (3 + k) + i] = cross
                D[at + 6 * (3 + i) + 3 + k] = inertia[6 * (3 + i) + 3 + k]
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += D[at + 6 * i + k] * force[6 * b + k]
        r[ACCELERATE, 6 * b + i] = total
        r[MOVE, 6 * b + i] = 0.0
        r[STOP, 6 * b + i] = 0.0
