"""Contact one patch after the other: each patch and each bounded row against the motion that all others leave.

A patch is solved in the six-dimensional space of its relative twist, its points in turn: normal impulses by
complementarity, friction within the true cone, p_t = project(p_t - v_t / A): the fixed point is Coulomb's law, sticking
exactly as long as the cone allows.
"""

import math

from ..kernels.jit import inlined, kernel
from ..kernels.spatial import add_scaled6, dot6, get6
from .reach import answer, answer_row, relative_twist, row_rate
from .spin import relax_spin

_ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


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
        f = add_wrench(f, point, patch, get6(p))
        for k in range(6):
            point.way[k] = 0.0
    answer(reach, patch, f, reach.u)


@inlined
def wrench(patch, points):
    """Impulse and angular impulse about the centre that A gives B."""
    f = _ZERO6
    for i in range(patch.first, patch.first + patch.count):
        f = add_wrench(f, points[i], patch, get6(points[i].p))
    return f


@inlined
def wrench_of_forces(patch, points):
    """Impulse and angular impulse about the centre by normal forces and friction, without torques of rolling."""
    f = _ZERO6
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        f = add_scaled6(f, point.p[0], get6(point.Jn))
        if patch.friction > 0.0:
            f = add_scaled6(f, point.p[1], get6(point.Jt))
            f = add_scaled6(f, point.p[2], get6(point.Js))
    return f


@inlined
def add_wrench(f, point, patch, p):
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
    start, friction = relative_twist(reach, patch, reach.u), patch.friction
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
                w = relax_spin(patch, point, w)
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
        f = add_wrench(f, point, patch, change)
        if point.mass > 0.0:
            largest = max(largest, abs(change[0]))
            energy += change[0] * change[0] / point.mass
        if friction > 0.0 and point.step > 0.0:
            largest = max(largest, max(abs(change[1]), abs(change[2])))
            energy += (change[1] * change[1] + change[2] * change[2]) / point.step
    answer(reach, patch, f, reach.u)
    return fastest, largest, energy


@inlined
def relax_row(work, reach, rows, r):
    """Give a row what it lacks, within its bounds; returns the change of its impulse and its effective mass."""
    row, mass, p = rows[r], reach.rows[r].mass, rows[r].p
    reach.rows[r].last = p
    change = (row.goal - row_rate(work, reach, r, reach.u) - row.soft * p) * mass
    change = min(max(p + change, row.lo), row.hi) - p
    row.p = p + change
    answer_row(reach, r, change, reach.u)
    return change, mass
