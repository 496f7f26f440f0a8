"""Subsystems eliminated one after the other: the up and down passes of component-based simulation.

Every body and every subsystem tells the one above how its bordering bodies respond, x = D τ + r, and is told τ
(Vlasenko and Kasper, equations 1 to 41). A single body is the smallest subsystem: D = M⁻¹, r = M⁻¹ f. For children
stacked, with rows G between them and P picking the bodies that border outside,

    (G D̂ Gᵀ + soft) λ = want - G r̂ - G D̂ Pᵀ τ,    D = P D̂ Pᵀ - Zᵀ Z,    r = P r̂ + Zᵀ y

with G D̂ Gᵀ = L Lᵀ, Z = L⁻¹ G D̂ Pᵀ and y = L⁻¹ (want - G r̂): one formula for basic and derived subsystems. The
factorisation takes the row first that is farthest from following from the others, and leaves out those that do
follow: a redundant joint needs no special care. The same D serves accelerations, the displacements that close gaps
and the changes of velocity that stop rates (equations 43 to 48): they are columns of r, τ and λ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.jit import kernel, woven
from .layout import ON, PLACE, SCALE, SOFT, TURN, USUAL, WANT

NODE = np.dtype(
    [
        ("row_begin", "i8"),  # its rows
        ("row_end", "i8"),
        ("bound_begin", "i8"),  # the first of those that have bounds, behind the others
        ("child_begin", "i8"),  # bodies and subsystems directly inside it
        ("child_end", "i8"),
        ("width", "i8"),  # columns of all of these
        ("port_begin", "i8"),  # its bordering bodies, in `port`
        ("port_end", "i8"),
        ("D", "i8"),  # where its D begins,
        ("column", "i8"),  # its columns of r and τ,
        ("A", "i8"),  # its factors
        ("Z", "i8"),  # and its Z
        ("rank", "i8"),  # rows that did not follow from others,
        ("firm", "i8"),  # and those of them that have no bounds
        ("live", "i8"),  # how many the latter may be within a step,
        ("arrived", "i8"),  # and what that was when the last one ended
        (
            "remote",
            "i8",
        ),  # 1 if another process computes its D and r; FOREIGN if also its energy is not known here
        ("waits", "i8"),  # 1 if something inside it is remote
    ]
)
"""A subsystem; the smaller ones come first."""
FOREIGN = 2
CHILD = np.dtype(
    [
        ("D", "i8"),  # where its D begins
        ("column", "i8"),  # and its columns of r and τ
        ("span", "i8"),  # how many columns it has
        ("first", "i8"),  # the first of them among those of its siblings
    ]
)
"""A body or subsystem as seen from the one above."""
SPOT = np.dtype([("child", "i8"), ("local", "i8")])
"""Where a body stands: which child carries it (-1: none), its first column there."""
ENDS = 4
"""Bodies that a row can touch: two of each of the joints that a coupling couples."""

ACCELERATE, MOVE, STOP = range(3)
"""Columns: accelerations; displacements that close gaps; changes of rates that stop them."""

ROUNDING = 1e-13
"""What is left of a diagonal when it should vanish, as a share of what it would be if the bodies floated."""
# Nearer to a singular position than this, sin² of 1e-4 rad, a gap of 1e-12 would move bodies visibly; but light bodies
# between heavy ones make small pivots anywhere: then by what is usual.
_SHAKY, _UNUSUAL = 1e-8, 1e-6
# scale: of each row of the subsystem that is being eliminated
_SHARE, _NOISE = range(2)


class Hierarchy(NamedTuple):
    """Structure and scratch of the recursion. Bodies come before subsystems in D, r and tau, numbered like their
    rates."""

    node: np.ndarray
    """Subsystems: NODE."""
    child: np.ndarray
    """CHILD"""
    block: np.ndarray
    """Bodies that rows touch: SPOT of (row, end)."""
    port: np.ndarray
    """Bordering bodies: SPOT."""
    order: np.ndarray
    """Rows in the order in which they were eliminated."""
    J: np.ndarray
    """Rows against the rates of the bodies they touch: (row, end, 6)."""
    D: np.ndarray
    r: np.ndarray
    tau: np.ndarray
    x: np.ndarray
    """What the bodies do, numbered like the rates: accelerations, displacements, changes of rates."""
    W: np.ndarray
    A: np.ndarray
    Z: np.ndarray
    loose: np.ndarray
    """How far bodies would yield if they floated, numbered like r: the order of magnitude of M⁻¹. Rounding in D is
    judged by it."""
    inertia: np.ndarray
    """Of each body: the inverse of its mass matrix in its own axes (36), and whether it depends on how the body is
    turned."""
    force: np.ndarray
    scale: np.ndarray
    row: np.ndarray
    flag: np.ndarray
    report: np.ndarray
    """One record of `layout.REPORT`."""


@woven
def _couple(h, i, columns):
    """G D̂, G D̂ Gᵀ, G D̂ Pᵀ and the right-hand sides of a subsystem's rows that are on; returns how many there are."""
    node, J, D, W, A, Z, order = h.node[i], h.J, h.D, h.W, h.A, h.Z, h.order
    begin, width = node.row_begin, node.width
    border = 6 * (node.port_end - node.port_begin)
    stride = border + 3
    count = 0
    for row in range(begin, node.row_end):
        if h.flag[ON, row] != 0:
            order[begin + count] = row
            count += 1
    for k in range(count):
        row = order[begin + k]
        for c in range(width):
            W[k, c] = 0.0
        z = node.Z + k * stride + border
        wish, place, turn = h.row[WANT, row], h.row[PLACE, row], h.row[TURN, row]
        scale, noise = h.row[SOFT, row], 0.0
        for end in range(ENDS):
            c = h.block[row, end].child
            if c < 0:
                continue
            local, size, base = h.block[row, end].local, h.child[c].span, h.child[c].first
            d, column = h.child[c].D, h.child[c].column + local
            # What the row would yield if the body were as free this way as it is on the whole.
            for part in range(0, 6, 3):
                diagonal = d + (local + part) * (size + 1)
                free = (D[diagonal] + D[diagonal + size + 1] + D[diagonal + 2 * size + 2]) / 3.0
                x, y, z_ = J[row, end, part], J[row, end, part + 1], J[row, end, part + 2]
                length = x * x + y * y + z_ * z_
                scale += free * length
                noise += h.loose[column + part] * length
            J0, J1, J2 = J[row, end, 0], J[row, end, 1], J[row, end, 2]
            J3, J4, J5 = J[row, end, 3], J[row, end, 4], J[row, end, 5]
            for first in range(0, size, 6):
                lines = D[d + local * size + first : d + (local + 6) * size]
                total = W[k, base + first : base + first + 6]
                for e in range(6):
                    total[e] += (J0 * lines[e] + J1 * lines[size + e] + J2 * lines[2 * size + e]) + (
                        J3 * lines[3 * size + e] + J4 * lines[4 * size + e] + J5 * lines[5 * size + e]
                    )
            for j in range(6):
                x = J[row, end, j]
                wish -= x * h.r[ACCELERATE, column + j]
                if columns > 1:
                    place -= x * h.r[MOVE, column + j]
                    turn -= x * h.r[STOP, column + j]
        Z[z], Z[z + 1], Z[z + 2] = wish, place, turn
        h.scale[_SHARE, k] = 1.0 / scale if scale > 0.0 else 0.0
        h.row[SCALE, row] = scale
        h.scale[_NOISE, k] = ROUNDING * noise
        for p in range(node.port_begin, node.port_end):
            c = h.child[h.port[p].child].first + h.port[p].local
            at = node.Z + k * stride + 6 * (p - node.port_begin)
            for j in range(6):
                Z[at + j] = W[k, c + j]
    size = node.row_end - begin
    for s in range(count):
        row = order[begin + s]
        for end in range(ENDS):
            c = h.block[row, end].child
            if c < 0:
                continue
            base = h.child[c].first + h.block[row, end].local
            J0, J1, J2 = J[row, end, 0], J[row, end, 1], J[row, end, 2]
            J3, J4, J5 = J[row, end, 3], J[row, end, 4], J[row, end, 5]
            first = end == 0 or (h.block[row, 0].child < 0 and end == 1)
            for k in range(s, count):
                total = (W[k, base] * J0 + W[k, base + 1] * J1 + W[k, base + 2] * J2) + (
                    W[k, base + 3] * J3 + W[k, base + 4] * J4 + W[k, base + 5] * J5
                )
                at = node.A + k * size + s
                A[at] = total if first else A[at] + total
        A[node.A + s * size + s] += h.row[SOFT, row]
    return count


@woven
def _swap_rows(h, i, k, p):
    """Exchange two rows that have not been eliminated yet, k < p, in the lower triangle and right-hand sides."""
    node, A, Z = h.node[i], h.A, h.Z
    begin, size = node.row_begin, node.row_end - node.row_begin
    stride = 6 * (node.port_end - node.port_begin) + 3
    a, z = node.A, node.Z
    h.order[begin + k], h.order[begin + p] = h.order[begin + p], h.order[begin + k]
    for e in range(2):
        h.scale[e, k], h.scale[e, p] = h.scale[e, p], h.scale[e, k]
    for e in range(stride):
        Z[z + k * stride + e], Z[z + p * stride + e] = Z[z + p * stride + e], Z[z + k * stride + e]
    for j in range(k):
        A[a + k * size + j], A[a + p * size + j] = A[a + p * size + j], A[a + k * size + j]
    A[a + k * size + k], A[a + p * size + p] = A[a + p * size + p], A[a + k * size + k]
    for j in range(k + 1, p):
        A[a + j * size + k], A[a + p * size + j] = A[a + p * size + j], A[a + j * size + k]


@woven
def _eliminate(h, i, count, arriving, floor):
    """L D Lᵀ of the coupled rows with diagonal pivoting, right-hand sides along with it; 1/D on the diagonal.

    It ends where all that is left follows from the rest, or nearly so: the pivots, in their order, are set against the
    largest ones at ends of steps so far (USUAL). What follows exactly where a step begins stays out until it ends:
    there its rate is stopped, and not by forces in the midst of the step, which could do any work.

    Rows with bounds come after all others, so that what a joint holds anyway is never left to friction. With a
    `floor`, those that follow keep a pivot of this share of what it would be if the bodies floated: see `box.FLOOR`.
    """
    node, A, Z, column = h.node[i], h.A, h.Z, h.W[0]
    begin, size, bound = node.row_begin, node.row_end - node.row_begin, node.bound_begin
    border = 6 * (node.port_end - node.port_begin)
    stride = border + 3
    a, z = node.A, node.Z
    shaky, firmly, firm = False, True, 0
    while firm < count and h.order[begin + firm] < bound:
        firm += 1
    most = firm if arriving or floor > 0.0 else min(firm, node.arrived)
    usual = h.row[USUAL]
    k = 0
    while k < count:
        best, share = -1, _SHAKY
        if firmly:
            share = min(_SHAKY, _UNUSUAL * usual[begin + k])
            for j in range(k, firm if k < most else k):
                pivot = A[a + j * size + j]
                if pivot > h.scale[_NOISE, j]:
                    shaky = True
                    if pivot * h.scale[_SHARE, j] > share:
                        best, share = j, pivot * h.scale[_SHARE, j]
            if best < 0:
                firmly, firm = False, k
                continue
            shaky = False
        else:
            if floor > 0.0:
                share = -np.inf
            for j in range(k, count):
                pivot = A[a + j * size + j]
                relative = pivot * h.scale[_SHARE, j] if pivot > h.scale[_NOISE, j] else 0.0
                if h.order[begin + j] >= bound and relative > share:
                    best, share = j, relative
            if best < 0:
                break
        if best != k:
            for j in range(best + 1, count):
                x = A[a + j * size + k]
                A[a + j * size + k] = A[a + j * size + best]
                A[a + j * size + best] = x
            _swap_rows(h, i, k, best)
        if firmly:
            if share < h.report[0].smallest:
                h.report[0].smallest, h.report[0].smallest_row = share, h.order[begin + k]
            if arriving:
                usual[begin + k] = max(usual[begin + k], share)
                h.report[0].weakest = min(h.report[0].weakest, share / usual[begin + k])
        else:
            A[a + k * size + k] = max(A[a + k * size + k], floor / ROUNDING * h.scale[_NOISE, k])
        inverse = 1.0 / A[a + k * size + k]
        A[a + k * size + k] = inverse
        for j in range(k + 1, count):
            column[j] = A[a + j * size + k]
        top = Z[z + k * stride : z + (k + 1) * stride]
        for j in range(k + 1, count):
            weight = column[j] * inverse
            if weight != 0.0:
                line = A[a + j * size : a + j * size + j + 1]
                for e in range(k + 1, j + 1):
                    line[e] -= weight * column[e]
                low = Z[z + j * stride : z + (j + 1) * stride]
                for first in range(0, border, 6):
                    for e in range(6):
                        low[first + e] -= weight * top[first + e]
                for e in range(3):
                    low[border + e] -= weight * top[border + e]
            A[a + j * size + k] = weight
        k += 1
    if firmly:
        firm = k
    node.rank, node.firm = k, firm
    if arriving:
        node.live = most if shaky else firm


@woven
def _offer(h, i, columns):
    """D and r of a subsystem's bordering bodies, with its own rows at work."""
    node, A, Z, D = h.node[i], h.A, h.Z, h.D
    size = node.row_end - node.row_begin
    ports = node.port_end - node.port_begin
    border = 6 * ports
    stride, d, at = border + 3, node.D, node.column
    for p in range(ports):
        c, local = h.port[node.port_begin + p].child, h.port[node.port_begin + p].local
        inner, inner_size, column = h.child[c].D, h.child[c].span, h.child[c].column + local
        for j in range(6):
            h.loose[at + 6 * p + j] = h.loose[column + j]  # of another process, it is known only now
            for col in range(columns):
                h.r[col, at + 6 * p + j] = h.r[col, column + j]
        for s in range(ports):
            other = h.port[node.port_begin + s].local
            if h.port[node.port_begin + s].child == c:
                for j in range(6):
                    line = D[inner + (local + j) * inner_size + other : inner + (local + j + 1) * inner_size]
                    into = D[d + (6 * p + j) * border + 6 * s : d + (6 * p + j + 1) * border]
                    for e in range(6):
                        into[e] = line[e]
            else:
                for j in range(6):
                    into = D[d + (6 * p + j) * border + 6 * s : d + (6 * p + j + 1) * border]
                    for e in range(6):
                        into[e] = 0.0
    rank = node.rank
    factors = A[node.A : node.A + size * size]
    lines = Z[node.Z : node.Z + size * stride]
    for j in range(border):
        r0, r1, r2 = 0.0, 0.0, 0.0
        for k in range(rank):
            weight = lines[k * stride + j] * factors[k * size + k]
            r0 += weight * lines[k * stride + border]
            r1 += weight * lines[k * stride + border + 1]
            r2 += weight * lines[k * stride + border + 2]
        h.r[ACCELERATE, at + j] += r0
        if columns > 1:
            h.r[MOVE, at + j] += r1
            h.r[STOP, at + j] += r2
        for first in range(0, border, 6):
            into = D[d + j * border + first : d + j * border + first + 6]
            t0, t1, t2, t3, t4, t5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(rank):
                weight = lines[k * stride + j] * factors[k * size + k]
                t0 += weight * lines[k * stride + first]
                t1 += weight * lines[k * stride + first + 1]
                t2 += weight * lines[k * stride + first + 2]
                t3 += weight * lines[k * stride + first + 3]
                t4 += weight * lines[k * stride + first + 4]
                t5 += weight * lines[k * stride + first + 5]
            into[0] -= t0
            into[1] -= t1
            into[2] -= t2
            into[3] -= t3
            into[4] -= t4
            into[5] -= t5
    for j in range(border):
        if D[d + j * border + j] <= ROUNDING * h.loose[at + j]:
            for e in range(border):
                D[d + j * border + e] = 0.0
                D[d + e * border + j] = 0.0


@kernel
def go_up(h, columns, waits, floor):
    """D and r of the subsystems, the smaller ones first: those with something of another process inside, or the
    others; floor: of rows with bounds, see `_eliminate`."""
    for i in range(h.node.shape[0]):
        node = h.node[i]
        if node.remote == 0 and node.waits == waits:
            count = _couple(h, i, columns)
            _eliminate(h, i, count, columns > 1, floor)
            _offer(h, i, columns)
