"""How patches and rows respond to their own impulses: what they reach, and their effective masses."""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, dot3, get3, scale3, sub3
from ..kernels.spatial import add_scaled6, dot6, get6, set6
from .envelope import solve_columns, solve_envelope
from .layout import INVERSE, KEPT, RIGHT

_ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_LEVEL = 1e-9  # rounding of heights, as a share of the size of a patch
_FAST = 1e-11  # share of its free mobility below which a point is held fast by rows


@kernel
def reach_patch(dofs, origins, work, reach, patch):
    """Y, Z and G of a patch; returns False if the pools are too small."""
    K, D, near, link = work.K, work.dof[INVERSE], work.near, work.link
    yi, Y, reached = reach.yi, reach.Y, reach.dofs
    y = reach.used[0].y
    if y + 2 * K.shape[1] > yi.shape[0]:
        return False
    a, b, end = patch.a, patch.b, y
    one, other = a - 1, b - 1
    x = get3(patch.x)
    # Both ways inward, merged from the tips: what is eliminated first comes first. Dofs that carry a side are on its
    # way, and so are loops, and dofs that these couple to it.
    while one >= 0 or other >= 0:
        i = one
        if one < 0 or (other >= 0 and link[other].column > link[one].column):
            i = other
        further = near[0, i, 0] if link[i].near > 0 else -1
        if i == one and i == other:
            one = other = further
        elif i == one:
            one = further
        else:
            other = further
        yi[end] = i
        reached[i].slot = end
        d = i + 1
        if d == a or d == b:
            dof = dofs[d]
            sign = (1.0 if b == d else 0.0) - (1.0 if a == d else 0.0)
            S = get6(dof.S)
            s = (S[0], S[1], S[2])
            m = add3((S[3], S[4], S[5]), cross3(s, sub3(x, get3(origins[dof.island].o))))
            for k in range(3):
                Y[end, k] = sign * s[k]
                Y[end, 3 + k] = sign * m[k]
            if a == d:
                a = dof.parent
            if b == d:
                b = dof.parent
        else:
            set6(Y[end], _ZERO6)
        end += 1
    for e in range(y, end):
        i = yi[e]
        if D[i] != 0.0:
            own = get6(Y[e])
            for k in range(link[i].near):
                to = Y[reached[near[0, i, k]].slot]
                set6(to, add_scaled6(get6(to), -K[i, near[1, i, k]], own))
    patch.y, patch.ny = y, end - y
    reach.used[0].y = end
    return _respond_patch(work, reach, patch, D)


@inlined
def _respond_patch(work, reach, patch, D):
    """Z = D⁻¹ (Y - rows that are eliminated), and G = Y Z."""
    yi, Y, zi, Z = reach.yi, reach.Y, reach.zi, reach.Z
    y, end, z = patch.y, patch.y + patch.ny, reach.used[0].z
    stop = z
    first = reach.dofs[patch.b - 1].cluster if patch.b != 0 else -1
    second = reach.dofs[patch.a - 1].cluster if patch.a != 0 else -1
    tied = (first >= 0 and reach.clusters[first].held != 0) or (
        second >= 0 and reach.clusters[second].held != 0
    )
    for k in range(36):
        patch.G[k] = 0.0
    patch.loose = 0.0
    for e in range(y, end):
        if D[yi[e]] > 0.0:  # embedded rows take some of it away
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
            if z + patch.ny + reach.clusters[c].end - reach.clusters[c].begin > zi.shape[0]:
                return False
            if reach.clusters[c].held == 0:
                for e in range(y, end):
                    if reach.dofs[yi[e]].cluster == c:
                        stop = _add_response(work, reach, patch, yi[e], y, end, stop, D)
            else:
                for k in range(reach.clusters[c].begin, reach.clusters[c].end):
                    stop = _add_response(work, reach, patch, reach.cluster_dofs[k], y, end, stop, D)
    patch.z, patch.nz = z, stop - z
    reach.used[0].z = stop
    return True


@kernel
def _gram(patch, Y, Z, y, z, count):
    """G += Y Z over entries of two lists."""
    G = patch.G
    for r in range(6):  # by rows, each in registers
        k = 6 * r
        g = (G[k], G[k + 1], G[k + 2], G[k + 3], G[k + 4], G[k + 5])
        for e in range(count):
            g = add_scaled6(g, Y[y + e, r], get6(Z[z + e]))
        G[k], G[k + 1], G[k + 2], G[k + 3], G[k + 4], G[k + 5] = g


@kernel
def _reactions(work, reach, y, end):
    """Impulses of the eliminated rows against unit wrenches on a patch."""
    reaction, link, D = reach.reaction, work.link, work.dof[INVERSE]
    for r in range(reaction.shape[0]):
        for c in range(6):
            reaction[r, c] = 0.0
    for e in range(y, end):
        d = reach.yi[e]
        for r in range(link[d].begin, link[d].end):
            if work.flag[KEPT, r] != 0:
                weight = work.Y[d, r] * D[d]
                for c in range(6):
                    reaction[r, c] += weight * reach.Y[e, c]
    solve_columns(work, reaction)


@kernel
def _add_response(work, reach, patch, d, y, end, stop, D):
    """One dof's answer to a patch, beside rows that are eliminated."""
    Z, reaction, link = reach.Z, reach.reaction, work.link
    at = reach.dofs[d].slot
    known = y <= at < end and reach.yi[at] == d
    for c in range(6):
        total = reach.Y[at, c] if known else 0.0
        for r in range(link[d].begin, link[d].end):
            if work.flag[KEPT, r] != 0:
                total -= work.Y[d, r] * reaction[r, c]
        Z[stop, c] = total * D[d]
    if known:
        _gram(patch, reach.Y, Z, at, stop, 1)
    reach.zi[stop] = d
    return stop + 1


@kernel
def reach_row(work, reach, rows, r):
    """What responds to a row that is iterated, and its effective mass; returns False if the pool is too small."""
    D, Y, zi, Z = work.dof[INVERSE], work.Y, reach.rzi, reach.RZ
    first, last = reach.rows[r].begin, reach.rows[r].end
    z = reach.used[0].row_z
    c = reach.rows[r].cluster
    stop, total = z, 0.0
    if z + max(last - first, reach.clusters[c].end - reach.clusters[c].begin) > zi.shape[0]:
        return False
    if reach.clusters[c].held == 0:
        for k in range(first, last):
            d = reach.row_dofs[k]
            zi[stop], Z[stop] = d, D[d] * Y[d, r]
            total += Y[d, r] * Z[stop]
            stop += 1
    else:
        row, link = work.row, work.link
        for s in range(row.shape[1]):
            row[RIGHT, s] = 0.0
        for k in range(first, last):
            d = reach.row_dofs[k]
            for s in range(link[d].begin, link[d].end):
                if work.flag[KEPT, s] != 0:
                    row[RIGHT, s] += Y[d, s] * D[d] * Y[d, r]
        solve_envelope(work, RIGHT)
        for k in range(reach.clusters[c].begin, reach.clusters[c].end):
            d = reach.cluster_dofs[k]
            value = Y[d, r] if link[d].begin <= r < link[d].end else 0.0
            mine = value
            for s in range(link[d].begin, link[d].end):
                if work.flag[KEPT, s] != 0:
                    value -= Y[d, s] * row[RIGHT, s]
            zi[stop], Z[stop] = d, D[d] * value
            total += mine * Z[stop]
            stop += 1
    reach.rows[r].z, reach.rows[r].nz = z, stop - z
    reach.used[0].row_z = stop
    reach.rows[r].shove_mass = 1.0 / total if total > 0.0 else 0.0
    reach.rows[r].mass = 1.0 / (total + rows[r].soft) if total + rows[r].soft > 0.0 else 0.0
    return True


@kernel
def prepare_points(patch, points):
    """Rows of the points against the relative twist at the patch's centre, and their effective masses."""
    G = patch.G
    c, gap = get3(patch.x), 0.0
    for i in range(patch.first, patch.first + patch.count):
        gap += points[i].gap / patch.count
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        n, arm = get3(point.n), sub3(get3(point.x), c)
        _row(point.Jn, point.gn, G, arm, n)
        # Points are halfway between two faces. Where these are not parallel, friction acts in one plane all the same:
        # at different heights, points of a face that turns could not stick together.
        height = dot3(n, arm)
        if abs(height) <= 0.5 * abs(point.gap - gap) + _LEVEL * patch.radius:
            arm = sub3(arm, scale3(height, n))
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
            point.rho = (nn + tt + ss) / 3.0
            half, root = 0.5 * (tt + ss), math.sqrt(0.25 * (tt - ss) ** 2 + ts * ts)
            point.step = 1.0 / (half + root) if half + root > least else 0.0
            if half - root > least:
                scale = 1.0 / (tt * ss - ts * ts)
                point.inverse[0], point.inverse[1], point.inverse[2] = ss * scale, -ts * scale, tt * scale
            else:
                point.inverse[0], point.inverse[1], point.inverse[2] = point.step, 0.0, point.step
        else:
            point.rho = nn
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
