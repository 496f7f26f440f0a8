"""Sweeps over patches, accelerated, and what to go back to if that fails.

Changes of a sweep are directions of a nonlinear conjugate gradient search (Silcowitz-Hansen, Niebe and Erleben, "A
nonsmooth nonlinear conjugate gradient method for interactive contact force problems", The Visual Computer 26, 2010),
without which a stack would take as many sweeps as the square of its height.
"""

from ..kernels.jit import kernel
from .reach import answer, answer_row
from .relax import add_wrench

_ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def accelerate(reach, rows, patches, points, island, ratio):
    """p += ratio · way, way = ratio · way + what the sweep changed; a ratio below zero begins anew."""
    for k in range(reach.islands[island].row, reach.islands[island + 1].row):
        r = reach.row_order[k]
        step = rows[r].p - reach.rows[r].last
        if ratio < 0.0:
            reach.rows[r].way = 0.0
            continue
        move = ratio * reach.rows[r].way
        rows[r].p += move
        reach.rows[r].way = move + step
        if move != 0.0:
            answer_row(reach, r, move, reach.u)
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
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
                f, moved = add_wrench(f, point, patch, move), True
        if moved:
            answer(reach, patch, f, reach.u)


@kernel
def keep_island(reach, rows, patches, points, island, keep):
    """Remember impulses and velocities of an island, or go back to those that were remembered."""
    u, kept = reach.u, reach.kept
    for k in range(reach.islands[island].row, reach.islands[island + 1].row):
        r = reach.row_order[k]
        if keep:
            reach.rows[r].way = rows[r].p
        else:
            rows[r].p = reach.rows[r].way
        for e in range(reach.rows[r].z, reach.rows[r].z + reach.rows[r].nz):
            if keep:
                kept[reach.rzi[e]] = u[reach.rzi[e]]
            else:
                u[reach.rzi[e]] = kept[reach.rzi[e]]
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
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
