"""Contact of a small island at once: a Newton step for impulses of all that pushes, given who sticks and who slides.

Sweeps pass loads from body to body slowly: a heavy box on a light one takes as many as their ratio of mass. Given who
pushes, sticks and slides (`cone.judge`), impulses follow from one linear system (Alart and Curnier, "A mixed
formulation for frictional contact problems prone to Newton like solution methods", CMAME 92, 1991): a point that sticks
has no velocity; one that slides along d has µ times its load as friction, and across d, where friction turns with the
slip v, moves like one held by a damper, v_e + v/(µ p) p_e = 0.

Where loads may be shared in many ways, the smallest impulses are taken: all points are given the same tiny softness,
and impulses are solved for whole, from zero. What softness leaves is taken back by further solutions with the same
factors, which change no share (the proximal point method). Where that leads nowhere, because too many of these impulses
would be outside their cones, the origin is what there was before, in part: loads even out over some steps.
"""

from ..kernels.jit import kernel
from ..kernels.skyline import factor_rows, solve_rows
from ..kernels.spatial import add6, add_scaled6, dot6, get6, scale6
from .patch_basis import (
    MOST_PATCHES,
    MOST_ROWS,
    MOST_UNKNOWNS,
    POINTS,
    add_impulse,
    divide_normal,
    find_unknowns,
    lacking,
)
from .reach import answer, answer_row, relative_twist, row_rate
from .relax import wrench_of_forces
from .subspace_matrix import SOFTNESS, assemble, shape_matrix, soften

_PIVOT = 1e-12  # an unknown whose pivot is less than this share of its diagonal follows from others
_TIE = 1e-9  # points that pull this much later on the way are let go, too
_LEFT = 0.03  # share of the tolerance that may be left of what unknowns lack
_SOLUTIONS = 8  # with the same factors, at most


@kernel
def solve_subspace(work, reach, space, rows, patches, points, island, soft, tolerance):
    """Impulses of all points that push, giving way by `soft` [1/kg], and of rows within their bounds, at once. Returns
    how much they lacked before [m/s], or a negative number if there are too many of them."""
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    if last - first > MOST_PATCHES:
        return -1.0
    contacts, count = _count(work, reach, space, rows, patches, points, island)
    if count > MOST_UNKNOWNS or not shape_matrix(space, last - first, contacts, count):
        return -1.0
    space.number[0], space.number[1] = contacts, count
    for k in range(first, last):
        _begin(reach, patches[reach.order[k]], points)
    assemble(work, reach, space, rows, patches, points, first, last, contacts, count)
    soften(space, patches, points, reach, first, last, soft)
    factor_rows(space.matrix.shape, space.matrix.values, count, _PIVOT)
    return _solve(work, reach, space, rows, patches, points, island, soft, tolerance)


@kernel
def set_origins(reach, patches, points, island, share):
    """Newton steps change this share of the impulses as they are as little as possible; none: impulses are smallest."""
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            for m in range(3):
                points[i].origin[m] = share * points[i].p[m]


@kernel
def _begin(reach, patch, points):
    """Impulses of a patch go back to their origins, as far as those who push and slide now can have them."""
    f = scale6(-1.0, wrench_of_forces(patch, points))
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        p = point.p
        for m in range(3):
            p[m] = point.origin[m] if point.pushes != 0 else 0.0
        if point.slides != 0:
            p[1], p[2] = patch.friction * p[0] * point.d[0], patch.friction * p[0] * point.d[1]
    answer(reach, patch, add6(f, wrench_of_forces(patch, points)), reach.u)


@kernel
def stiffen(work, reach, space, rows, patches, points, island, tolerance, before):
    """Take back what softness has left of the last solution, until it is a small share of the tolerance [m/s].

    before: what that solution began with [m/s]. Each leaves about the same share, which tells what the last has left.
    """
    for _ in range(_SOLUTIONS):
        lack = _solve(work, reach, space, rows, patches, points, island, 0.0, tolerance)
        if lack * min(lack, before) <= _LEFT * tolerance * before:
            break
        before = lack


@kernel
def _solve(work, reach, space, rows, patches, points, island, soft, tolerance):
    """Give points and rows what they lack, by the factors at hand; how much that was [m/s].

    soft: of points, if it is the first solution; else zero.
    """
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    contacts, count, lack = space.number[0], space.number[1], 0.0
    for k in range(last - first):
        lack = max(lack, _lacking(reach, space, k, patches[reach.order[first + k]], points, soft, tolerance))
    for i in range(contacts, count):
        row = rows[space.who[i]]
        missing = row.goal - row_rate(work, reach, space.who[i], reach.u) - row.soft * row.p
        space.x[0, i], lack = missing, max(lack, abs(missing))
    solve_rows(space.matrix.shape, space.matrix.values, count, space.x[0])
    _apply(reach, space, rows, patches, points, first, last, contacts, count)
    return lack


@kernel
def drop_pulling(reach, patches, points, island):
    """Of points that would pull, the first ones to do so on the way from `last` are taken not to push; whether there
    were any. `last` moves on to there."""
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    share, found = 1.0, False
    for k in range(first, last):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            p, was = points[i].p[0], points[i].last[0]
            if points[i].pushes != 0 and p < 0.0:
                share, found = min(share, was / (was - p)), True
    if not found:
        return False
    for k in range(first, last):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            p, was = point.p[0], point.last[0]
            if point.pushes != 0 and p < 0.0 and was <= (share + _TIE) * (was - p):
                point.pushes = point.slides = 0
            point.last[0] = max(was + share * (p - was), 0.0)
    return True


@kernel
def softness(reach, patches, points, island):
    """What points of an island give way by: a tiny share of the smallest mean response of those that can be moved
    [1/kg]."""
    least = 0.0
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            if point.mass > 0.0 and (least == 0.0 or point.rho < least):
                least = point.rho
    return SOFTNESS * least


@kernel
def _count(work, reach, space, rows, patches, points, island):
    """Unknowns of the patches, then those of rows within their bounds; rows at a bound are set to it. Returns how many
    unknowns patches have, and how many there are: more than MOST_UNKNOWNS if there are too many."""
    size, near, count = space.size, space.near, 0
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    for k in range(last - first):
        patch = patches[reach.order[first + k]]
        if count + MOST_ROWS > MOST_UNKNOWNS:
            return count, MOST_UNKNOWNS + 1
        span = find_unknowns(space, k, patch, points)
        size[0, k], size[1, k] = span, count
        a = reach.dofs[patch.a - 1].cluster if patch.a != 0 else -1
        b = reach.dofs[patch.b - 1].cluster if patch.b != 0 else -1
        for i in range(count, count + span):
            near[i, 0], near[i, 1] = a, b
        count += span
    contacts = count
    for k in range(reach.islands[island].row, reach.islands[island + 1].row):
        r = reach.row_order[k]
        row = rows[r]
        lack = row.goal - row_rate(work, reach, r, reach.u) - row.soft * row.p
        wanted = row.p + lack * reach.rows[r].mass
        new = min(max(wanted, row.lo), row.hi)
        if new == wanted and reach.rows[r].mass > 0.0:
            if count == MOST_UNKNOWNS:
                return contacts, MOST_UNKNOWNS + 1
            near[count, 0] = near[count, 1] = reach.rows[r].cluster
            space.who[count] = r
            count += 1
            new = 0.0
        answer_row(reach, r, new - row.p, reach.u)
        row.p = new
    return contacts, count


@kernel
def _lacking(reach, space, k, patch, points, soft, tolerance):
    """The velocities that unknowns of a patch want and do not have; the largest of them [m/s].

    Points of a patch that acts as one may want what no motion gives them. Against that, they would push and pull each
    other without end, were it not for their softness: who pulls is let go then.
    """
    C, x, at, span = space.C[k], space.x[0], space.size[1, k], space.size[0, k]
    w, largest = relative_twist(reach, patch, reach.u), 0.0
    if space.size[2, k] <= POINTS:
        for s in range(span):
            m = space.which[k, s]
            x[at + s] = lacking(points[patch.first + m // 3], m % 3, w)
            largest = max(largest, abs(x[at + s]))
        return largest
    # With J = C Q, the velocities Q w that come nearest to what points want, less those that there are.
    wants = False
    for s in range(span):
        x[at + s] = 0.0
    for i in range(patch.count):
        point = points[patch.first + i]
        if point.pushes != 0 and point.goal != 0.0:
            wants = True
            for s in range(span):
                x[at + s] += C[3 * i, s] * point.goal
    if wants:
        divide_normal(space.N[k], x, at, span)
        if soft > 0.0:
            for i in range(patch.count):
                point = points[patch.first + i]
                if point.pushes != 0:
                    beyond = point.goal
                    for s in range(span):
                        beyond -= C[3 * i, s] * x[at + s]
                    if abs(beyond) > tolerance:
                        point.p[0] += beyond / soft
    for s in range(span):  # Q is of length one where angles are scaled by the radius
        x[at + s] -= dot6(get6(space.Q[k, s]), w)
        largest = max(largest, abs(x[at + s]))
    return largest


# All parts by themselves: bundled, they would be unpacked at every call.
@kernel
def _apply(reach, space, rows, patches, points, first, last, contacts, count):
    """Give points and rows the impulses that were found."""
    x, y, size = space.x[0], space.x[1], space.size
    for k in range(last - first):
        patch, F, at, span = patches[reach.order[first + k]], space.F[k], size[1, k], size[0, k]
        if span == 0:
            continue
        f = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for s in range(span):
            f = add_scaled6(f, x[at + s], get6(F[s]))
        answer(reach, patch, f, reach.u)
        if size[2, k] <= POINTS:
            for s in range(span):
                m = space.which[k, s]
                add_impulse(patch, points[patch.first + m // 3], m % 3, x[at + s])
            continue
        C = space.C[k]
        for s in range(span):
            y[s] = x[at + s]
        divide_normal(space.N[k], y, 0, span)
        for m in range(3 * patch.count):
            total = 0.0
            for s in range(span):
                total += C[m, s] * y[s]
            points[patch.first + m // 3].p[m % 3] += total
    for i in range(contacts, count):
        rows[space.who[i]].p += x[i]
        answer_row(reach, space.who[i], x[i], reach.u)
