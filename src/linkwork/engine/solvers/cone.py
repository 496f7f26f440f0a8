"""Contact and Coulomb's law as equations: who pushes, sticks and slides, and how far from a solution impulses are.

With the velocity u = (u_n - goal, u_t) of a point and its impulse p, friction is a complementarity of cones (de Saxcé
and Feng, "The bipotential method", 1998): p ∈ K, û ∈ K*, û · p = 0, with K = {|p_t| ≤ µ p_n}, its dual
K* = {û_n ≥ µ |û_t|} and û = u + µ |u_t| n. Without the last term sliding bodies would lift.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.spatial import dot6, get6
from .reach import relative_twist, row_rate
from .spin import spin_residual


@kernel
def patch_residual(reach, patch, points, soft):
    """The largest natural-map residual of the points of a patch, |û - Π(û - ρ p)| with the projection Π onto K* and ρ
    the mean response of a point [m/s]; of points that give way by `soft` [1/kg]."""
    w, mu, largest = relative_twist(reach, patch, reach.u), patch.friction, 0.0
    spins = patch.rolling > 0.0 or patch.torsion > 0.0
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        if point.mass == 0.0:
            continue
        p, rho, origin = point.p, point.rho, point.origin
        n, t, s = dot6(get6(point.Jn), w) - point.goal + soft * (p[0] - origin[0]), 0.0, 0.0
        if mu > 0.0:
            t = dot6(get6(point.Jt), w) + soft * (p[1] - origin[1])
            s = dot6(get6(point.Js), w) + soft * (p[2] - origin[2])
            n += mu * math.sqrt(t * t + s * s)
        zn, zt, zs = n - rho * p[0], t - rho * p[1], s - rho * p[2]
        size = math.sqrt(zt * zt + zs * zs)
        if zn < mu * size:
            if size <= -mu * zn:
                zn, zt, zs = 0.0, 0.0, 0.0
            else:  # onto the edge of K*
                share = (mu * zn + size) / (1.0 + mu * mu)
                zn, zt, zs = mu * share, share * zt / size, share * zs / size
        n, t, s = n - zn, t - zt, s - zs
        largest = max(largest, n * n + t * t + s * s)
    largest = math.sqrt(largest)
    if spins:
        for i in range(patch.first, patch.first + patch.count):
            largest = max(largest, spin_residual(patch, points[i], w))
    return largest


@inlined
def row_residual(work, reach, rows, r):
    """How far a row with bounds is from what it wants, or from a bound that keeps it [m/s or rad/s]."""
    row, mass = rows[r], reach.rows[r].mass
    if mass == 0.0:
        return 0.0
    lack = (row.goal - row_rate(work, reach, r, reach.u) - row.soft * row.p) * mass
    return abs(min(max(row.p + lack, row.lo), row.hi) - row.p) / mass


@kernel
def residual(work, reach, rows, patches, points, island, soft):
    """The largest of an island [m/s], with points that give way by `soft` [1/kg]."""
    largest = 0.0
    for k in range(reach.islands[island].row, reach.islands[island + 1].row):
        largest = max(largest, row_residual(work, reach, rows, reach.row_order[k]))
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        largest = max(largest, patch_residual(reach, patches[reach.order[k]], points, soft))
    return largest


@kernel
def judge(reach, patch, points, soft, anew):
    """Who pushes and who slides, and in which direction, by impulses and velocities of points that give way by `soft`
    [1/kg]; unless `anew`, of points of which nothing is known.

    A point pushes, sticks or slides as the projection of p - u/A onto its cone tells (Alart and Curnier, "A mixed
    formulation for frictional contact problems prone to Newton like solution methods", CMAME 92, 1991). Friction of a
    sliding point turns with the slip: across its direction it moves like one held by a damper.
    """
    w, friction = relative_twist(reach, patch, reach.u), patch.friction
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        p, origin = point.p, point.origin
        point.last[0] = max(p[0], 0.0)
        if point.mass == 0.0:
            point.pushes = point.slides = 0
            continue
        if point.pushes >= 0 and not anew:
            continue
        normal = p[0] + (point.goal - dot6(get6(point.Jn), w) - soft * (p[0] - origin[0])) * point.mass
        point.pushes, point.slides = 1 if normal > 0.0 else 0, 0
        if friction > 0.0 and normal > 0.0 and point.step > 0.0:
            a = p[1] - point.step * (dot6(get6(point.Jt), w) + soft * (p[1] - origin[1]))
            b = p[2] - point.step * (dot6(get6(point.Js), w) + soft * (p[2] - origin[2]))
            size, most = math.sqrt(a * a + b * b), friction * normal
            if size > most:
                point.slides = 1
                point.d[0], point.d[1] = a / size, b / size
                point.turn = (size - most) / (point.step * most)
