"""The down pass of component-based simulation, and what single bodies and other processes have to do with it."""

from ..kernels.jit import kernel, woven
from .hierarchy import (  # fmt: skip
    ACCELERATE,
    CHILD,
    CHILD_BEGIN,
    CHILD_COLUMN,
    CHILD_END,
    ENDS,
    FOREIGN,
    LOCAL,
    MOVE,
    NODE_A,
    NODE_COLUMN,
    NODE_D,
    NODE_Z,
    PORT_BEGIN,
    PORT_END,
    RANK,
    REMOTE,
    ROW_BEGIN,
    ROW_END,
    SIZE,
    STOP,
)
from .layout import PLACE, TURN, P


@woven
def _pass_down(h, i, columns):
    """τ of a subsystem => forces of its rows, τ of its children."""
    node, A, Z, tau = h.node[i], h.A, h.Z, h.tau
    begin, size, rank = node[ROW_BEGIN], node[ROW_END] - node[ROW_BEGIN], node[RANK]
    border = 6 * (node[PORT_END] - node[PORT_BEGIN])
    stride, a = border + 3, node[NODE_A]
    for row in range(begin, node[ROW_END]):
        for col in range(columns):
            h.row[(P, PLACE, TURN)[col], row] = 0.0
    for c in range(node[CHILD_BEGIN], node[CHILD_END]):
        column = h.child[c, CHILD_COLUMN]
        for e in range(column, column + h.child[c, SIZE]):
            for col in range(columns):
                tau[col, e] = 0.0
    for p in range(node[PORT_BEGIN], node[PORT_END]):
        column = h.child[h.port[p, CHILD], CHILD_COLUMN] + h.port[p, LOCAL]
        at = node[NODE_COLUMN] + 6 * (p - node[PORT_BEGIN])
        for j in range(6):
            for col in range(columns):
                tau[col, column + j] += tau[col, at + j]
    for col in range(columns):
        push = h.row[(P, PLACE, TURN)[col]]
        for k in range(rank - 1, -1, -1):
            top = node[NODE_Z] + k * stride
            total = Z[top + border + col]
            for e in range(border):
                total -= Z[top + e] * tau[col, node[NODE_COLUMN] + e]
            total *= A[a + k * size + k]
            for j in range(k + 1, rank):
                total -= A[a + j * size + k] * push[h.order[begin + j]]
            row = h.order[begin + k]
            push[row] = total
            for end in range(ENDS):
                c = h.block[row, end, CHILD]
                if c >= 0:
                    column = h.child[c, CHILD_COLUMN] + h.block[row, end, LOCAL]
                    for j in range(6):
                        tau[col, column + j] += h.J[row, end, j] * total


@kernel
def go_down(h, columns):
    """Forces of all rows, and what every body does: h.x. Forces on bodies of other processes are left in their nodes'
    τ."""
    for i in range(h.node.shape[0] - 1, -1, -1):
        if h.node[i, REMOTE] == 0:
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
        if node[REMOTE] == 0:
            continue
        border, at = 6 * (node[PORT_END] - node[PORT_BEGIN]), node[NODE_COLUMN]
        for p in range(node[PORT_BEGIN], node[PORT_END]):
            body = h.port[p, LOCAL]  # the first rate of the body that stands for it here
            for j in range(6):
                k = 6 * (p - node[PORT_BEGIN]) + j
                for col in range(columns):
                    total = h.r[col, at + k]
                    for e in range(border):
                        total += h.D[node[NODE_D] + k * border + e] * h.tau[col, at + e]
                    h.x[col, body + j] = total
        for p in range(
            node[PORT_BEGIN], node[PORT_END]
        ):  # now that r, which holds these forces already, has been used
            for j in range(6):
                h.tau[ACCELERATE, at + 6 * (p - node[PORT_BEGIN]) + j] += h.force[h.port[p, LOCAL] + j]


@kernel
def receive(h):
    """Loads of this process on bodies of another one act through the D that it sent."""
    for i in range(h.node.shape[0]):
        node = h.node[i]
        if node[REMOTE] == 0:
            continue
        border, at = 6 * (node[PORT_END] - node[PORT_BEGIN]), node[NODE_COLUMN]
        for p in range(node[PORT_BEGIN], node[PORT_END]):
            body = h.port[p, LOCAL]
            for j in range(6):
                push = h.force[body + j]
                if push != 0.0:
                    for k in range(border):
                        place = h.node[i, NODE_D] + k * border + 6 * (p - node[PORT_BEGIN]) + j
                        h.r[ACCELERATE, at + k] += h.D[place] * push


@kernel
def outflow(h, v):
    """Power that flows into subsystems whose inside is not known, through their ports [W]."""
    power = 0.0
    for i in range(h.node.shape[0]):
        node = h.node[i]
        if node[REMOTE] == FOREIGN:
            for p in range(node[PORT_BEGIN], node[PORT_END]):
                for j in range(6):
                    at = node[NODE_COLUMN] + 6 * (p - node[PORT_BEGIN]) + j
                    power += h.tau[ACCELERATE, at] * v[h.port[p, LOCAL] + j]
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
