"""The matrix of a Newton step for contact: what unknowns do to each other, and how they give way."""

from ..kernels.jit import inlined, kernel
from ..kernels.skyline import FIRST, LOWER, START, UPPER
from ..kernels.spatial import add_scaled6, dot6, get6
from .patch_basis import POINTS, SLIDING

SOFTNESS = 1e-6  # share of the smallest response of a point
_WORK = 2.0e6  # products that a solution may take: more are better spent on sweeps


@kernel
def shape_matrix(space, patches, contacts, count):
    """Where the rows of the matrix begin, emptied; False if a solution would take too long."""
    shape, values, near, size = space.matrix.shape, space.matrix.values, space.near, space.size
    cost, room = 0.0, 0
    for k in range(patches):
        if size[0, k] > 0:
            start = _first_met(near, size, size[1, k], k)
            room, cost = _lay(shape, size[1, k], size[1, k] + size[0, k], start, room, cost)
    for i in range(contacts, count):
        start = _first_met(near, size, i, patches)
        for j in range(contacts, i):
            if start < i:
                break
            if _meet(near, i, j):
                start = j
        room, cost = _lay(shape, i, i + 1, start, room, cost)
    if cost > _WORK:
        return False
    for k in range(room):
        values[LOWER, k] = 0.0
        values[UPPER, k] = 0.0
    return True


@inlined
def _first_met(near, size, i, patches):
    """The first unknown of the first patch, of so many, that unknown i meets; else i itself."""
    for k in range(patches):
        if size[0, k] > 0 and _meet(near, i, size[1, k]):
            return size[1, k]
    return i


@inlined
def _lay(shape, first, last, start, room, cost):
    """Rows of the matrix that begin at the same column; the room that is used, and products of a solution."""
    for i in range(first, last):
        shape[FIRST, i], shape[START, i] = start, room - start
        room += i - start + 1
        cost += (i - start + 1.0) ** 2
    return room, cost


@inlined
def _meet(near, i, j):
    """Whether two unknowns act on a common mechanism."""
    a, b, c, d = near[i, 0], near[i, 1], near[j, 0], near[j, 1]
    return (a >= 0 and (a == c or a == d)) or (b >= 0 and (b == c or b == d))


# All parts by themselves, as in `subspace._apply`: bundled, they would be unpacked at every call.
@kernel
def assemble(work, reach, space, rows, patches, points, first, last, contacts, count):
    """M = (what an unknown measures) of (what another one does)."""
    shape, values, T, size = space.matrix.shape, space.matrix.values, space.T, space.size
    for k in range(last - first):
        patch, F, at, span = patches[reach.order[first + k]], space.F[k], size[1, k], size[0, k]
        if span == 0:
            continue
        for e in range(patch.z, patch.z + patch.nz):
            z, d = get6(reach.Z[e]), reach.zi[e]
            for s in range(span):
                T[d, s] = dot6(get6(F[s]), z)
        for other in range(last - first):
            # What two patches do to each other is the same, but where friction follows the load.
            even = size[2, k] != SLIDING and size[2, other] != SLIDING
            if even and other < k:
                continue
            if other == k:
                _measure_own(space, patch, k, even)
            elif size[0, other] > 0 and _meet(space.near, size[1, other], at):
                _measure(reach, space, patches[reach.order[first + other]], other, at, span, even)
        for i in range(contacts, count):
            if _meet(space.near, i, at):
                for s in range(span):
                    values[LOWER, shape[START, i] + at + s] = _measure_row(work, reach, T, space.who[i], s)
        for e in range(patch.z, patch.z + patch.nz):
            for s in range(span):
                T[reach.zi[e], s] = 0.0
    for i in range(contacts, count):
        r = space.who[i]
        z, stop = reach.rows[r].z, reach.rows[r].z + reach.rows[r].nz
        for e in range(z, stop):
            T[reach.rzi[e], 0] = reach.RZ[e]
        for other in range(last - first):
            if size[0, other] > 0 and _meet(space.near, size[1, other], i):
                _measure(reach, space, patches[reach.order[first + other]], other, i, 1, False)
        for j in range(i, count):
            if shape[FIRST, j] <= i:
                rate = _measure_row(work, reach, T, space.who[j], 0)
                values[LOWER, shape[START, j] + i] = rate
                values[UPPER, shape[START, j] + i] = rate
        for e in range(z, stop):
            T[reach.rzi[e], 0] = 0.0
        values[LOWER, shape[START, i] + i] *= 1.0 + SOFTNESS
        values[LOWER, shape[START, i] + i] += rows[r].soft


@inlined
def _measure_row(work, reach, T, r, s):
    """What row r measures of T."""
    total = 0.0
    for m in range(reach.rows[r].begin, reach.rows[r].end):
        d = reach.row_dofs[m]
        total += work.Y[d, r] * T[d, s]
    return total


@kernel
def _measure(reach, space, patch, k, column, width, even):
    """What patch k measures of T, into columns of the matrix; and into rows, too, if that is `even`."""
    shape, values, T = space.matrix.shape, space.matrix.values, space.T
    Q, at, span = space.Q[k], space.size[1, k], space.size[0, k]
    for s in range(width):
        w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for e in range(patch.y, patch.y + patch.ny):
            t = T[reach.yi[e], s]
            if t != 0.0:
                w = add_scaled6(w, t, get6(reach.Y[e]))
        for r in range(span):
            if even and at + r < column + s:
                continue
            value = dot6(get6(Q[r]), w)
            if at + r >= column + s:
                values[LOWER, shape[START, at + r] + column + s] = value
                if even and at + r > column + s:
                    values[UPPER, shape[START, at + r] + column + s] = value
            else:
                values[UPPER, shape[START, column + s] + at + r] = value


@kernel
def _measure_own(space, patch, k, even):
    """What patch k measures of itself, by its own response."""
    shape, values = space.matrix.shape, space.matrix.values
    Q, F, G, at, span = space.Q[k], space.F[k], patch.G, space.size[1, k], space.size[0, k]
    for s in range(span):
        w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for c in range(6):
            w = add_scaled6(w, F[s, c], (G[c], G[6 + c], G[12 + c], G[18 + c], G[24 + c], G[30 + c]))
        for r in range(s if even else 0, span):
            value = dot6(get6(Q[r]), w)
            if r >= s:
                values[LOWER, shape[START, at + r] + at + s] = value
            else:
                values[UPPER, shape[START, at + s] + at + r] = value
            if even and r > s:
                values[UPPER, shape[START, at + r] + at + s] = value


@kernel
def soften(space, patches, points, reach, first, last, soft):
    """Add the softness of all points, and that of sliding ones across their direction."""
    shape, values, size = space.matrix.shape, space.matrix.values, space.size
    for k in range(last - first):
        at, span, patch = size[1, k], size[0, k], patches[reach.order[first + k]]
        if size[2, k] <= POINTS:
            for s in range(span):
                m = space.which[k, s]
                point = points[patch.first + m // 3]
                turn = point.turn if point.slides != 0 and m % 3 == 1 else 0.0
                values[LOWER, shape[START, at + s] + at + s] += soft + turn
            continue
        N = space.N[k]
        for r in range(span):
            for s in range(r + 1):
                total = 0.0
                for i in range(r, span):
                    total += N[i, r] * N[i, s]
                values[LOWER, shape[START, at + r] + at + s] += soft * total
                if s < r:
                    values[UPPER, shape[START, at + r] + at + s] += soft * total
