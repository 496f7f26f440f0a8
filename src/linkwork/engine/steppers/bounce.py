"""Points of contact in a step: the velocities that they want at its end, bounces among them, and what came of it."""

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import dot3, get3
from ..kernels.spatial import dot6, get6, set6
from ..solvers.reach import relative_twist
from ..solvers.relax import wrench
from .sleep import asleep
from .state import DISSIPATED

_ROUNDING = 1e-12


@kernel
def aim_patch(reach, patch, points, h, slop):
    """Target velocities of points: no penetration at the end of the step, and a bounce where they hit fast enough."""
    w = relative_twist(reach, patch, reach.before)
    set6(patch.w, w)
    free = relative_twist(reach, patch, reach.u)
    set6(patch.free, free)
    for i in range(patch.first, patch.first + patch.count):
        point = points[i]
        rate = dot6(get6(point.Jn), w)
        # Nearer than the slop is touching: corners of a resting face must not want different things, which no rigid
        # motion gives them, and bodies must not dance on rounding errors. Pseudo velocities use up the slop.
        point.goal = -max(point.gap - slop, 0.0) / h
        if patch.restitution > 0.0 and point.gap + h * rate <= slop and -rate > patch.bounce:
            # Spin turns corners away within the step: no more may come back than would have hit.
            hit = max(rate, dot6(get6(point.Jn), free))
            point.goal = max(point.goal, -patch.restitution * hit)


@kernel
def gains_energy(reach, patches, points, island, last):
    """Whether bounces have given an island energy, as Newton's law may with friction; then they are made weaker.

    Impulses do work on the mean of the velocities before and after; without bounces that is never positive.
    """
    work, size, bounces = 0.0, 0.0, False
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            bounces |= points[i].goal > 0.0
    if not bounces:
        return False
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        patch = patches[reach.order[k]]
        f, was, now = wrench(patch, points), get6(patch.free), relative_twist(reach, patch, reach.u)
        before, after = 0.5 * dot6(f, was), 0.5 * dot6(f, now)
        work += before + after
        size += abs(before) + abs(after)
    if work <= _ROUNDING * size:
        return False
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            if points[i].goal > 0.0:
                points[i].goal *= 0.0 if last else 0.7
    return True


@inlined
def mark_loaded(patch, points):
    """Which points are loaded."""
    patch.touches = 0
    for i in range(patch.first, patch.first + patch.count):
        points[i].loaded = 1 if points[i].p[0] > 0.0 else 0
        patch.touches |= points[i].loaded


@kernel
def end_patches(reach, found, energy, sleep):
    """Work of contacts, whose impulses act on the mean of the velocities before and after."""
    side, count = found.counts[0].side, found.counts[0].patches
    patches, points = found.patches[side], found.points[side]
    for k in range(count):
        patch = patches[k]
        if asleep(reach, patch.island, sleep):
            continue
        w, was = relative_twist(reach, patch, reach.u), get6(patch.w)
        mean = (
            0.5 * (w[0] + was[0]), 0.5 * (w[1] + was[1]), 0.5 * (w[2] + was[2]),
            0.5 * (w[3] + was[3]), 0.5 * (w[4] + was[4]), 0.5 * (w[5] + was[5]),
        )  # fmt: skip
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            p = point.p
            if p[0] > 0.0:
                energy[DISSIPATED] -= p[0] * dot6(get6(point.Jn), mean)
                if patch.friction > 0.0:
                    energy[DISSIPATED] -= p[1] * dot6(get6(point.Jt), mean) + p[2] * dot6(
                        get6(point.Js), mean
                    )
                if patch.rolling > 0.0 or patch.torsion > 0.0:
                    turn = (mean[0], mean[1], mean[2])
                    energy[DISSIPATED] -= p[3] * dot3(get3(point.n), turn)
                    energy[DISSIPATED] -= p[4] * dot3(get3(point.t), turn) + p[5] * dot3(get3(point.s), turn)
