"""Pseudo impulses: what is too deep is lifted, what sticks is shifted back, without a trace in the motion."""

import numpy as np

from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel
from ..kernels.spatial import add_scaled6, dot6, get6
from .reach import answer, answer_row, relative_twist, row_rate

_SWEEPS = 100  # at most: what is left is taken back in the next step
_ROUNDS = 4  # through the points of a patch, each time it is its turn
_ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined
def holds(point):
    """Whether a point is pressed together, and does not bounce: pseudo impulses may pull there, too."""
    return point.loaded != 0 and point.goal <= 0.0


@inlined
def to_shove(reach, rows, patches, points, island):
    """Whether anything in an island has to be moved."""
    for k in range(reach.islands[island].row, reach.islands[island + 1].row):
        if rows[reach.row_order[k]].push != 0.0:
            return True
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        patch = patches[reach.order[k]]
        for i in range(patch.first, patch.first + patch.count):
            push = points[i].push
            pulls = push[0] < 0.0 and holds(points[i])
            if push[0] > 0.0 or pulls or push[1] != 0.0 or push[2] != 0.0:
                return True
    return False


@kernel
def shove_island(work, reach, rows, patches, points, island, tolerance, deadline):
    """Pseudo impulses of an island, until pseudo velocities change by less than `tolerance` [m/s]."""
    for _ in range(_SWEEPS):
        fastest = 0.0
        for k in range(reach.islands[island].row, reach.islands[island + 1].row):
            r = reach.row_order[k]
            row, mass, was = rows[r], reach.rows[r].shove_mass, reach.rows[r].shove
            if row.push == 0.0 and row.lo > -np.inf:
                continue
            change = (row.push - row_rate(work, reach, r, reach.pseudo)) * mass
            if row.lo == 0.0:
                change = max(change, -was)
            reach.rows[r].shove = was + change
            answer_row(reach, r, change, reach.pseudo)
            fastest = max(fastest, abs(change) / mass if mass > 0.0 else 0.0)
        for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
            fastest = max(fastest, _shove_patch(reach, patches[reach.order[k]], points))
        if fastest <= tolerance or cycles() > deadline:
            break


@kernel
def _shove_patch(reach, patch, points):
    """Pseudo impulses of a patch; returns the largest change of a pseudo velocity [m/s]."""
    w, f, fastest = relative_twist(reach, patch, reach.pseudo), _ZERO6, 0.0
    for turn in range(1 if patch.count == 1 else _ROUNDS):
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            shove = point.shove
            change = (point.push[0] - dot6(get6(point.Jn), w)) * point.mass
            if not holds(point):
                change = max(change, -shove[0])
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
    answer(reach, patch, f, reach.pseudo)
    return fastest
