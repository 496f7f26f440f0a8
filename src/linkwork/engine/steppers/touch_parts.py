"""Forces of contacts between floating bodies: what the passes over subsystems answer to unit forces at the points.

An evaluation has eliminated all subsystems; its factors serve every further right-hand side. So a point costs three
passes up and down without elimination, and the forces that follow one more.
"""

from ..kernels.jit import apart, inlined, kernel
from ..kernels.math3 import cross3, get3, sub3
from ..solvers.hierarchy import ACCELERATE, ENDS
from ..solvers.layout import WANT
from ..solvers.passing import go_down
from .touch_forces import couple_touch, note_lost
from .touch_modes import look_touch, settle_touch
from .touch_survey import survey_bias


@apart
def push_parts(tables, h, touch, motion, course):
    """(rows solved) => forces of contact, with their effect on accelerations and on forces of rows: h.x, h.row."""
    for i in range(motion.a.shape[0]):
        motion.a[i] = h.x[ACCELERATE, i]
    if not look_touch(tables, touch, course):
        return
    _reach(tables, h, touch)
    settle_touch(touch, motion.a, course)
    note_lost(touch)
    if touch.state[0].closed == 0:
        return
    for c in range(touch.state[0].closed):
        slot = touch.slots[touch.order[c]]
        for m in range(3):
            if slot.p[m] != 0.0:
                for d in range(h.force.shape[0]):
                    h.force[d] += touch.J[3 * c + m, d] * slot.p[m]
    _yield_to(h, h.force)
    _answer(h, True)


@kernel
def _reach(tables, h, touch):
    """J, Z and G of all slots that touch, and their velocity-product accelerations."""
    survey_bias(tables, touch)
    slots, order, J = touch.slots, touch.order, touch.J
    for c in range(touch.state[0].closed):
        slot = slots[order[c]]
        for m in range(3):
            r = 3 * c + m
            for d in range(J.shape[1]):
                J[r, d] = 0.0
            _project(tables, slot.a, slot.x, slot.axes, m, -1.0, J[r])
            _project(tables, slot.b, slot.x, slot.axes, m, 1.0, J[r])
            _yield_to(h, J[r])
            _answer(h, False)
            for d in range(J.shape[1]):
                touch.Z[r, d] = h.x[ACCELERATE, d]
    couple_touch(touch)


@inlined
def _project(tables, link, x, axes, m, sign, out):
    """out += sign times the velocity, along axis m, of the point x of a floating body, per rate of the body."""
    if link == 0:
        return
    dof = tables.dofs[link]
    n, R, at = (axes[3 * m], axes[3 * m + 1], axes[3 * m + 2]), dof.R, tables.dofs[link - 5].v
    turn = cross3(sub3(get3(x), get3(tables.islands[dof.island].o)), n)
    for j in range(3):
        out[at + j] += sign * n[j]
        out[at + 3 + j] += sign * (R[j] * turn[0] + R[3 + j] * turn[1] + R[6 + j] * turn[2])


@kernel
def _yield_to(h, force):
    """(forces, numbered like rates) => r of each body alone."""
    for b in range(h.inertia.shape[0]):
        for j in range(6):
            total = 0.0
            for k in range(6):
                total += h.D[36 * b + 6 * j + k] * force[6 * b + k]
            h.r[ACCELERATE, 6 * b + j] = total


@kernel
def _answer(h, wanted):
    """(r of bodies, subsystems eliminated) => accelerations h.x and forces of rows, which want what they do or, unless
    that is `wanted`, nothing: equations 34 to 41 with the factors that are there."""
    for i in range(h.node.shape[0]):
        node, A, Z = h.node[i], h.A, h.Z
        begin, size, border = (
            node.row_begin,
            node.row_end - node.row_begin,
            6 * (node.port_end - node.port_begin),
        )
        stride, a, z = border + 3, node.A, node.Z
        for k in range(node.rank):
            row = h.order[begin + k]
            wish = h.row[WANT, row] if wanted else 0.0
            for end in range(ENDS):
                c = h.block[row, end].child
                if c >= 0:
                    column = h.child[c].column + h.block[row, end].local
                    for j in range(6):
                        wish -= h.J[row, end, j] * h.r[ACCELERATE, column + j]
            for e in range(k):
                wish -= A[a + k * size + e] * Z[z + e * stride + border]
            Z[z + k * stride + border] = wish
        for p in range(node.port_end - node.port_begin):
            port = h.port[node.port_begin + p]
            column = h.child[port.child].column + port.local
            for j in range(6):
                total = h.r[ACCELERATE, column + j]
                for k in range(node.rank):
                    weight = Z[z + k * stride + 6 * p + j] * A[a + k * size + k]
                    total += weight * Z[z + k * stride + border]
                h.r[ACCELERATE, node.column + 6 * p + j] = total
    go_down(h, 1)
