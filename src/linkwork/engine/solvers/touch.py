"""Contact by blocks: patches and bounded rows in turn, each solved against the motion that all others leave.

With the inertia factored, H = LᵀDL, velocities are kept as u = L v: a row J measures them by Y = L⁻ᵀJᵀ, which has
entries on the paths of its bodies to the root only, and an impulse changes them by Z = D⁻¹Y. No matrix over all rows
is ever formed: a pile costs what its contacts cost. Rows without bounds may be eliminated first (`Z` then holds what
they add), so that what is iterated sees the mechanism as it is: loops closed, springs and servos acting.

A patch is solved in the six-dimensional space of its relative twist, its points in turn: normal impulses by
complementarity, friction within the true cone, p_t = project(p_t - v_t / A): the fixed point is Coulomb's law, sticking
exactly as long as the cone allows. Sweeps over all patches are accelerated as a nonlinear conjugate gradient search
(Silcowitz-Hansen, Niebe and Erleben, "A nonsmooth nonlinear conjugate gradient method for interactive contact force
problems", The Visual Computer 26, 2010), without which a stack would take as many sweeps as the square of its height.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, get3, sub3
from ..kernels.spatial import add_scaled6, dot6, get6, set6
from .envelope import solve_envelope
from .layout import BEGAN, BEGAN_RATE, BEGIN, END, INVERSE, KEPT, ON, PLACE, RIGHT, SUM, TURN

CUT_SHORT = 1
_FAST = 1e-11  # share of its free mobility below which a point is held fast by rows
_INNER = 4  # rounds through the points of a patch, each time it is its turn
_SCRATCH = (PLACE, TURN, RIGHT, BEGAN, BEGAN_RATE, SUM)  # six vectors over rows that are free here
_ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Reach(NamedTuple):
    """Which dofs patches and rows reach, and the velocities that they act on."""

    yi: Any
    """Pool of lists of dofs (counted from 0)."""
    Y: Any
    """What a patch measures: six numbers a dof."""
    zi: Any
    Z: Any
    """How a dof responds to a wrench on the patch."""
    used: Any
    """How much of both pools is used, and of that of the rows."""
    slot: Any
    """Where a dof stands in the list that is being made."""
    u: Any
    """Velocities L v, pseudo velocities, those of before the step, and scratch; 5 x dofs."""
    row_first: Any
    """Dofs of each row: first in `row_dofs`, one more than rows."""
    row_dofs: Any
    rzi: Any
    RZ: Any
    """Pool of what responds to rows."""
    row: Any
    """Floats of each row: see ROW_MASS ..."""
    row_z: Any
    """First of each row in the pool, and how many; its cluster; its island."""
    cluster: Any
    """Of each dof: mechanisms that joints or rows hold together."""
    cluster_first: Any
    cluster_dofs: Any
    held: Any
    """1 for clusters with rows that are eliminated."""
    part: Any
    """Union-find over clusters, and the island of each; 2 x clusters."""
    order: Any
    """Patches by islands."""
    row_order: Any
    armature: Any
    """Of each dof, while rows are folded into it."""
    still: Any
    """How long each cluster has been at rest [s]."""
    restless: Any
    """1 for clusters with loads or drives, which never sleep."""
    rest: Any
    """How long each island has been at rest [s]."""
    starts: Any
    """First patch and first row of each island; 2 x (clusters + 1)."""


ROW_MASS, ROW_LAST, ROW_WAY, ROW_SHOVE, ROW_SHOVE_MASS, ROW_ALONE, ROW_LOOSE, ROW_DOF = range(8)
FIRST_Z, COUNT_Z, CLUSTER, ISLAND = range(4)
U, PSEUDO, BEFORE, BARE, KEEP = range(5)


# --- what patches and rows reach ---


@kernel
def reach_patch(tables, work, reach, patch):
    """Y, Z and G of a patch; returns False if the pools are too small."""
    dofs, islands, H, D = tables.dofs, tables.islands, work.H, work.dof[INVERSE]
    yi, Y, slot = reach.yi, reach.Y, reach.slot
    y = reach.used[0]
    if y + 2 * H.shape[1] > yi.shape[0]:
        return False
    a, b, end = patch.a, patch.b, y
    x = get3(patch.x)
    # Both paths to the root, merged from the tips down: children come before the dofs that carry them.
    while a != 0 or b != 0:
        d = max(a, b)
        dof = dofs[d]
        sign = (1.0 if b == d else 0.0) - (1.0 if a == d else 0.0)
        S = get6(dof.S)
        s = (S[0], S[1], S[2])
        m = add3((S[3], S[4], S[5]), cross3(s, sub3(x, get3(islands[dof.island].o))))
        for k in range(3):
            Y[end, k] = sign * s[k]
            Y[end, 3 + k] = sign * m[k]
        yi[end] = d - 1
        slot[d - 1] = end
        end += 1
        if a == d:
            a = dof.parent
        if b == d:
            b = dof.parent
    for e in range(y, end):
        d = yi[e] + 1
        i, k = dofs[d].parent, dofs[d].depth
        while i != 0:
            k -= 1
            weight, to = H[d - 1, k], slot[i - 1]
            for c in range(6):
                Y[to, c] -= weight * Y[e, c]
            i = dofs[i].parent
    patch.y, patch.ny = y, end - y
    reach.used[0] = end
    return _respond_patch(work, reach, patch, D)


@inlined
def _respond_patch(work, reach, patch, D):
    """Z = D⁻¹ (Y - rows that are eliminated), and G = Y Z."""
    yi, Y, zi, Z = reach.yi, reach.Y, reach.zi, reach.Z
    y, end, z = patch.y, patch.y + patch.ny, reach.used[1]
    stop = z
    first = reach.cluster[patch.b - 1] if patch.b != 0 else -1
    second = reach.cluster[patch.a - 1] if patch.a != 0 else -1
    tied = (first >= 0 and reach.held[first] != 0) or (second >= 0 and reach.held[second] != 0)
    for k in range(36):
        patch.G[k] = 0.0
    patch.loose = 0.0
    for e in range(y, end):
        for c in range(3, 6):
            patch.loose += D[yi[e]] * Y[e, c] * Y[e, c]
    if not tied:
        if z + patch.ny > zi.shape[0]:
            return False
        for e in range(y, end):
            zi[stop] = yi[e]
            inverse = D[yi[e]]
            for c in range(6):
                Z[stop, c] = inverse * Y[e, c]
            stop += 1
        _gram(patch, Y, Z, y, z, patch.ny)
    else:
        _reactions(work, reach, y, end)
        for turn in range(2):
            c = first if turn == 0 else second
            if c < 0 or (turn == 1 and c == first):
                continue
            if z + patch.ny + reach.cluster_first[c + 1] - reach.cluster_first[c] > zi.shape[0]:
                return False
            if reach.held[c] == 0:
                for e in range(y, end):
                    if reach.cluster[yi[e]] == c:
                        stop = _add_response(work, reach, patch, yi[e], y, end, stop, D)
            else:
                for k in range(reach.cluster_first[c], reach.cluster_first[c + 1]):
                    stop = _add_response(work, reach, patch, reach.cluster_dofs[k], y, end, stop, D)
    patch.z, patch.nz = z, stop - z
    reach.used[1] = stop
    return True


@kernel
def _gram(patch, Y, Z, y, z, count):
    G = patch.G
    for e in range(count):
        for r in range(6):
            value = Y[y + e, r]
            for c in range(6):
                G[6 * r + c] += value * Z[z + e, c]


@kernel
def _reactions(work, reach, y, end):
    """Impulses of the eliminated rows against unit wrenches on a patch => six vectors over rows."""
    row, link, D = work.row, work.link, work.dof[INVERSE]
    for c in range(6):
        for r in range(row.shape[1]):
            row[_SCRATCH[c], r] = 0.0
    for e in range(y, end):
        d = reach.yi[e]
        for r in range(link[BEGIN, d], link[END, d]):
            if work.flag[KEPT, r] != 0:
                weight = work.Y[d, r] * D[d]
                for c in range(6):
                    row[_SCRATCH[c], r] += weight * reach.Y[e, c]
    for c in range(6):
        solve_envelope(work, _SCRATCH[c])


@kernel
def _add_response(work, reach, patch, d, y, end, stop, D):
    """One dof's answer to a patch, beside rows that are eliminated."""
    Z, row, link = reach.Z, work.row, work.link
    at = reach.slot[d]
    known = y <= at < end and reach.yi[at] == d
    for c in range(6):
        total = reach.Y[at, c] if known else 0.0
        for r in range(link[BEGIN, d], link[END, d]):
            if work.flag[KEPT, r] != 0:
                total -= work.Y[d, r] * row[_SCRATCH[c], r]
        Z[stop, c] = total * D[d]
    if known:
        _gram(patch, reach.Y, Z, at, stop, 1)
    reach.zi[stop] = d
    return stop + 1


@kernel
def reach_row(work, reach, rows, r):
    """What responds to a row that is iterated, and its effective mass; returns False if the pool is too small."""
    D, Y, rzi, RZ = work.dof[INVERSE], work.Y, reach.rzi, reach.RZ
    first, last = reach.row_first[r], reach.row_first[r + 1]
    z = reach.used[2]
    c = reach.row_z[CLUSTER, r]
    stop, total = z, 0.0
    if z + max(last - first, reach.cluster_first[c + 1] - reach.cluster_first[c]) > rzi.shape[0]:
        return False
    if reach.held[c] == 0:
        for k in range(first, last):
            d = reach.row_dofs[k]
            rzi[stop], RZ[stop] = d, D[d] * Y[d, r]
            total += Y[d, r] * RZ[stop]
            stop += 1
    else:
        row, link = work.row, work.link
        for s in range(row.shape[1]):
            row[RIGHT, s] = 0.0
        for k in range(first, last):
            d = reach.row_dofs[k]
            for s in range(link[BEGIN, d], link[END, d]):
                if work.flag[KEPT, s] != 0:
                    row[RIGHT, s] += Y[d, s] * D[d] * Y[d, r]
        solve_envelope(work, RIGHT)
        for k in range(reach.cluster_first[c], reach.cluster_first[c + 1]):
            d = reach.cluster_dofs[k]
            value = Y[d, r] if link[BEGIN, d] <= r < link[END, d] else 0.0
            mine = value
            for s in range(link[BEGIN, d], link[END, d]):
                if work.flag[KEPT, s] != 0:
                    value -= Y[d, s] * row[RIGHT, s]
            rzi[stop], RZ[stop] = d, D[d] * value
            total += mine * RZ[stop]
            stop += 1
    reach.row_z[FIRST_Z, r], reach.row_z[COUNT_Z, r] = z, stop - z
    reach.used[2] = stop
    reach.row[ROW_SHOVE_MASS, r] = 1.0 / total if total > 0.0 else 0.0
    reach.row[ROW_MASS, r] = 1.0 / (total + rows[r].soft) if total + rows[r].soft > 0.0 else 0.0
    return True


@kernel
def prepare_points(patch, points):
    """Rows of the points against the relative twist at the patch's centre, and their effective masses."""
    G = patch.G
    c = get3(patch.x)
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        arm = sub3(get3(point.x), c)
        _row(point.Jn, point.gn, G, arm, get3(point.n))
        # What rows hold fast altogether cannot be pushed: rounding is all that moves there.
        least = _FAST * patch.loose
        nn = dot6(get6(point.Jn), get6(point.gn))
        point.mass = 1.0 / nn if nn > least else 0.0
        if point.mass == 0.0:
            point.p[0] = 0.0
        if patch.friction > 0.0:
            _row(point.Jt, point.gt, G, arm, get3(point.t))
            _row(point.Js, point.gs, G, arm, get3(point.s))
            tt = dot6(get6(point.Jt), get6(point.gt))
            ts = dot6(get6(point.Jt), get6(point.gs))
            ss = dot6(get6(point.Js), get6(point.gs))
            half, root = 0.5 * (tt + ss), math.sqrt(0.25 * (tt - ss) ** 2 + ts * ts)
            point.step = 1.0 / (half + root) if half + root > least else 0.0
            if half - root > least:
                scale = 1.0 / (tt * ss - ts * ts)
                point.inverse[0], point.inverse[1], point.inverse[2] = ss * scale, -ts * scale, tt * scale
            else:
                point.inverse[0], point.inverse[1], point.inverse[2] = point.step, 0.0, point.step
        else:
            point.p[1] = point.p[2] = 0.0


@inlined
def _row(J, g, G, arm, axis):
    """J = (arm × axis, axis), g = G J."""
    m = cross3(arm, axis)
    J6 = (m[0], m[1], m[2], axis[0], axis[1], axis[2])
    set6(J, J6)
    for r in range(6):
        k = 6 * r
        g[r] = (
            G[k] * J6[0] + G[k + 1] * J6[1] + G[k + 2] * J6[2]
            + G[k + 3] * J6[3] + G[k + 4] * J6[4] + G[k + 5] * J6[5]
        )  # fmt: skip


@inlined
def relative_twist(reach, patch, which):
    """What a patch measures of the velocities u[which]."""
    w, u = _ZERO6, reach.u[which]
    for e in range(patch.y, patch.y + patch.ny):
        w = add_scaled6(w, u[reach.yi[e]], get6(reach.Y[e]))
    return w


@inlined
def answer(reach, patch, f, which):
    """u[which] += Z f."""
    u = reach.u[which]
    for e in range(patch.z, patch.z + patch.nz):
        u[reach.zi[e]] += dot6(get6(reach.Z[e]), f)


@inlined
def row_rate(work, reach, r, which):
    """What row r measures of the velocities u[which]."""
    total, u = 0.0, reach.u[which]
    for k in range(reach.row_first[r], reach.row_first[r + 1]):
        d = reach.row_dofs[k]
        total += work.Y[d, r] * u[d]
    return total


@inlined
def answer_row(reach, r, p, which):
    u = reach.u[which]
    for e in range(reach.row_z[FIRST_Z, r], reach.row_z[FIRST_Z, r] + reach.row_z[COUNT_Z, r]):
        u[reach.rzi[e]] += reach.RZ[e] * p


# --- velocities ---


@kernel
def warm(reach, patch, points):
    """Begin with the impulses of the last step, as far as the cone allows."""
    f = _ZERO6
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        p = point.p
        most = patch.friction * p[0]
        size = math.sqrt(p[1] * p[1] + p[2] * p[2])
        if size > most:
            p[1] *= most / size
            p[2] *= most / size
        f = _add_wrench(f, point, patch, get6(p))
        for k in range(6):
            point.way[k] = 0.0
    answer(reach, patch, f, U)


@inlined
def wrench(patch, points):
    """Impulse and angular impulse about the centre that A gives B."""
    f = _ZERO6
    for i in range(patch.first, patch.first + patch.count):
        f = _add_wrench(f, points[i], patch, get6(points[i].p))
    return f


@inlined
def _add_wrench(f, point, patch, p):
    """f + the wrench of impulses p on a point."""
    f = add_scaled6(f, p[0], get6(point.Jn))
    if patch.friction > 0.0:
        f = add_scaled6(f, p[1], get6(point.Jt))
        f = add_scaled6(f, p[2], get6(point.Js))
    if patch.rolling > 0.0 or patch.torsion > 0.0:
        n, t, s = point.n, point.t, point.s
        f = (
            f[0] + p[3] * n[0] + p[4] * t[0] + p[5] * s[0],
            f[1] + p[3] * n[1] + p[4] * t[1] + p[5] * s[1],
            f[2] + p[3] * n[2] + p[4] * t[2] + p[5] * s[2],
            f[3],
            f[4],
            f[5],
        )
    return f


@kernel
def relax_patch(reach, patch, points, rounds, enough):
    """Solve a patch against what the others leave; returns the largest change of a velocity, of an impulse, and the
    change in the metric of energy."""
    start, friction = relative_twist(reach, patch, U), patch.friction
    w = start
    spins = patch.rolling > 0.0 or patch.torsion > 0.0
    first, last = patch.first, patch.first + patch.count
    for i in range(first, last):
        point = points[i]
        for k in range(6):
            point.last[k] = point.p[k]
    began = 0.0
    for turn in range(1 if patch.count == 1 and not spins else rounds):
        moved = 0.0
        for i in range(first, last):
            point = points[i]
            p = point.p
            change = max((point.goal - dot6(get6(point.Jn), w)) * point.mass, -p[0])
            p[0] += change
            moved = max(moved, abs(change))
            w = add_scaled6(w, change, get6(point.gn))
            if friction > 0.0:
                vt, vs = dot6(get6(point.Jt), w), dot6(get6(point.Js), w)
                most = friction * p[0]
                a = p[1] - point.inverse[0] * vt - point.inverse[1] * vs
                b = p[2] - point.inverse[1] * vt - point.inverse[2] * vs
                point.slides = 0
                if a * a + b * b > most * most:
                    a, b = p[1] - point.step * vt, p[2] - point.step * vs
                    size = a * a + b * b
                    if size > most * most:
                        size = most / math.sqrt(size)
                        a, b = a * size, b * size
                        point.slides = 1
                moved = max(moved, max(abs(a - p[1]), abs(b - p[2])))
                w = add_scaled6(add_scaled6(w, a - p[1], get6(point.gt)), b - p[2], get6(point.gs))
                p[1], p[2] = a, b
            if spins:
                w = _relax_spin(patch, point, w)
        if turn > 0 and moved <= enough * began:
            break
        if turn == 0:
            began = moved
    # What counts is how B moves against A: points that only share a load differently change nothing.
    fastest = max(abs(w[3] - start[3]), max(abs(w[4] - start[4]), abs(w[5] - start[5])))
    turned = max(abs(w[0] - start[0]), max(abs(w[1] - start[1]), abs(w[2] - start[2])))
    fastest = max(fastest, turned * patch.radius)
    largest, energy, f = 0.0, 0.0, _ZERO6
    for i in range(first, last):
        point = points[i]
        p, was = point.p, point.last
        change = (p[0] - was[0], p[1] - was[1], p[2] - was[2], p[3] - was[3], p[4] - was[4], p[5] - was[5])
        f = _add_wrench(f, point, patch, change)
        if point.mass > 0.0:
            largest = max(largest, abs(change[0]))
            energy += change[0] * change[0] / point.mass
        if friction > 0.0 and point.step > 0.0:
            largest = max(largest, max(abs(change[1]), abs(change[2])))
            energy += (change[1] * change[1] + change[2] * change[2]) / point.step
    answer(reach, patch, f, U)
    return fastest, largest, energy


@kernel
def _relax_spin(patch, point, w):
    """Torsional and rolling friction: torques within the arms times the normal impulse."""
    G, p, n, t, s = patch.G, point.p, get3(point.n), get3(point.t), get3(point.s)
    if patch.torsion > 0.0:
        most = patch.torsion * p[0]
        stiff = _turning(G, n)
        new = min(max(p[3] - (n[0] * w[0] + n[1] * w[1] + n[2] * w[2]) / stiff, -most), most)
        w = _add_turn(w, G, n, new - p[3])
        p[3] = new
    if patch.rolling > 0.0:
        most = patch.rolling * p[0]
        stiff = _turning(G, t) + _turning(G, s)
        a = p[4] - (t[0] * w[0] + t[1] * w[1] + t[2] * w[2]) / stiff
        b = p[5] - (s[0] * w[0] + s[1] * w[1] + s[2] * w[2]) / stiff
        size = math.sqrt(a * a + b * b)
        if size > most:
            a, b = a * most / size, b * most / size
        w = _add_turn(_add_turn(w, G, t, a - p[4]), G, s, b - p[5])
        p[4], p[5] = a, b
    return w


@inlined
def _turning(G, n):
    """How fast B turns against A about n under a unit of angular impulse about it."""
    total = 0.0
    for r in range(3):
        total += n[r] * (G[6 * r] * n[0] + G[6 * r + 1] * n[1] + G[6 * r + 2] * n[2])
    return total


@inlined
def _add_turn(w, G, n, p):
    return (
        w[0] + p * (G[0] * n[0] + G[1] * n[1] + G[2] * n[2]),
        w[1] + p * (G[6] * n[0] + G[7] * n[1] + G[8] * n[2]),
        w[2] + p * (G[12] * n[0] + G[13] * n[1] + G[14] * n[2]),
        w[3] + p * (G[18] * n[0] + G[19] * n[1] + G[20] * n[2]),
        w[4] + p * (G[24] * n[0] + G[25] * n[1] + G[26] * n[2]),
        w[5] + p * (G[30] * n[0] + G[31] * n[1] + G[32] * n[2]),
    )


@inlined
def relax_row(work, reach, rows, r):
    row, mass, p = rows[r], reach.row[ROW_MASS, r], rows[r].p
    reach.row[ROW_LAST, r] = p
    change = (row.goal - row_rate(work, reach, r, U) - row.soft * p) * mass
    change = min(max(p + change, row.lo), row.hi) - p
    row.p = p + change
    answer_row(reach, r, change, U)
    return change, mass


@kernel
def accelerate(reach, rows, patches, points, island, ratio):
    """p += ratio · way, way = ratio · way + what the sweep changed; a ratio below zero begins anew."""
    for k in range(reach.starts[1, island], reach.starts[1, island + 1]):
        r = reach.row_order[k]
        step = rows[r].p - reach.row[ROW_LAST, r]
        if ratio < 0.0:
            reach.row[ROW_WAY, r] = 0.0
            continue
        move = ratio * reach.row[ROW_WAY, r]
        rows[r].p += move
        reach.row[ROW_WAY, r] = move + step
        if move != 0.0:
            answer_row(reach, r, move, U)
    for k in range(reach.starts[0, island], reach.starts[0, island + 1]):
        patch = patches[reach.order[k]]
        f, moved = _ZERO6, False
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            p, was, way = point.p, point.last, point.way
            if ratio < 0.0:
                for m in range(6):
                    way[m] = 0.0
                continue
            move = (
                ratio * way[0], ratio * way[1], ratio * way[2], ratio * way[3], ratio * way[4], ratio * way[5],
            )  # fmt: skip
            for m in range(6):
                way[m] = move[m] + p[m] - was[m]
                p[m] += move[m]
            if ratio > 0.0:
                f, moved = _add_wrench(f, point, patch, move), True
        if moved:
            answer(reach, patch, f, U)


@kernel
def keep_island(reach, rows, patches, points, island, keep):
    """Remember impulses and velocities of an island, or go back to those that were remembered."""
    u, kept = reach.u[U], reach.u[KEEP]
    for k in range(reach.starts[1, island], reach.starts[1, island + 1]):
        r = reach.row_order[k]
        if keep:
            reach.row[ROW_WAY, r] = rows[r].p
        else:
            rows[r].p = reach.row[ROW_WAY, r]
            reach.row[ROW_WAY, r] = 0.0
        for e in range(reach.row_z[FIRST_Z, r], reach.row_z[FIRST_Z, r] + reach.row_z[COUNT_Z, r]):
            if keep:
                kept[reach.rzi[e]] = u[reach.rzi[e]]
            else:
                u[reach.rzi[e]] = kept[reach.rzi[e]]
    for k in range(reach.starts[0, island], reach.starts[0, island + 1]):
        patch = patches[reach.order[k]]
        for e in range(patch.z, patch.z + patch.nz):
            if keep:
                kept[reach.zi[e]] = u[reach.zi[e]]
            else:
                u[reach.zi[e]] = kept[reach.zi[e]]
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            for m in range(6):
                if keep:
                    point.way[m] = point.p[m]
                else:
                    point.p[m] = point.way[m]
                    point.way[m] = 0.0


# --- places ---


@kernel
def shove_island(work, reach, rows, patches, points, island, tolerance, limit, deadline):
    """Pseudo impulses: points that are too deep are lifted, those that stick are shifted back; returns sweeps."""
    for sweep in range(limit):
        fastest = 0.0
        for k in range(reach.starts[1, island], reach.starts[1, island + 1]):
            r = reach.row_order[k]
            row, mass, was = rows[r], reach.row[ROW_SHOVE_MASS, r], reach.row[ROW_SHOVE, r]
            if row.push == 0.0 and row.lo > -np.inf:
                continue
            change = (row.push - row_rate(work, reach, r, PSEUDO)) * mass
            if row.lo == 0.0:
                change = max(change, -was)
            reach.row[ROW_SHOVE, r] = was + change
            answer_row(reach, r, change, PSEUDO)
            fastest = max(fastest, abs(change) / mass if mass > 0.0 else 0.0)
        for k in range(reach.starts[0, island], reach.starts[0, island + 1]):
            fastest = max(fastest, _shove_patch(reach, patches[reach.order[k]], points))
        if fastest <= tolerance or cycles() > deadline:
            return sweep + 1
    return limit


@kernel
def _shove_patch(reach, patch, points):
    w, f, fastest = relative_twist(reach, patch, PSEUDO), _ZERO6, 0.0
    for turn in range(1 if patch.count == 1 else _INNER):
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            shove = point.shove
            change = max((point.push[0] - dot6(get6(point.Jn), w)) * point.mass, -shove[0])
            shove[0] += change
            w = add_scaled6(w, change, get6(point.gn))
            f = add_scaled6(f, change, get6(point.Jn))
            if turn == 0:
                fastest = max(fastest, abs(change) / point.mass if point.mass > 0.0 else 0.0)
            if patch.anchored != 0 and point.loaded != 0:
                vt = dot6(get6(point.Jt), w) - point.push[1]
                vs = dot6(get6(point.Js), w) - point.push[2]
                a = -point.inverse[0] * vt - point.inverse[1] * vs
                b = -point.inverse[1] * vt - point.inverse[2] * vs
                w = add_scaled6(add_scaled6(w, a, get6(point.gt)), b, get6(point.gs))
                f = add_scaled6(add_scaled6(f, a, get6(point.Jt)), b, get6(point.Js))
                shove[1] += a
                shove[2] += b
                if turn == 0:
                    fastest = max(fastest, max(abs(vt), abs(vs)))
    answer(reach, patch, f, PSEUDO)
    return fastest


# --- islands ---


@kernel
def find_islands(work, reach, patches, count, rows):
    """Clusters that touch each other, directly or through others => patches and rows by islands; their number."""
    part, starts = reach.part, reach.starts
    clusters = part.shape[1]
    for c in range(clusters):
        part[0, c] = c
    for k in range(count):
        patch = patches[k]
        if patch.a != 0 and patch.b != 0:
            a, b = _root(part, reach.cluster[patch.a - 1]), _root(part, reach.cluster[patch.b - 1])
            if a != b:
                part[0, max(a, b)] = min(a, b)
    islands = 0
    for c in range(clusters):
        root = _root(part, c)
        if root == c:
            part[1, c] = islands
            islands += 1
        else:
            part[1, c] = part[1, root]
    for i in range(islands + 1):
        starts[0, i], starts[1, i] = 0, 0
    for k in range(count):
        patch = patches[k]
        patch.island = part[1, reach.cluster[max(patch.a, patch.b) - 1]]
        starts[0, patch.island + 1] += 1
    for r in range(rows.shape[0]):
        if iterated(work, r):
            reach.row_z[ISLAND, r] = part[1, reach.row_z[CLUSTER, r]]
            starts[1, reach.row_z[ISLAND, r] + 1] += 1
    for i in range(islands):
        starts[0, i + 1] += starts[0, i]
        starts[1, i + 1] += starts[1, i]
    for k in range(count):
        i = patches[k].island
        reach.order[starts[0, i]] = k
        starts[0, i] += 1
    for r in range(rows.shape[0]):
        if iterated(work, r):
            i = reach.row_z[ISLAND, r]
            reach.row_order[starts[1, i]] = r
            starts[1, i] += 1
    for i in range(islands, 0, -1):
        starts[0, i], starts[1, i] = starts[0, i - 1], starts[1, i - 1]
    starts[0, 0], starts[1, 0] = 0, 0
    return islands


@inlined
def iterated(work, r):
    """Whether a row takes part and is not eliminated."""
    return work.flag[ON, r] != 0 and work.flag[KEPT, r] == 0


@inlined
def _root(part, c):
    while part[0, c] != c:
        part[0, c] = part[0, part[0, c]]
        c = part[0, c]
    return c
