"""Pseudo impulses: what is too deep is lifted, what sticks is shifted back, without a trace in the motion."""

import numpy as np

from ..kernels.clock import cycles
from ..kernels.jit import inlined, kernel
from ..kernels.spatial import add_scaled6, dot6, get6, set6
from .patch_basis import MOST_PATCHES
from .reach import answer, answer_row, relative_twist, row_rate

_SWEEPS = 100  # at most: what is left is taken back in the next step
_SAME = 1e-3  # share of the tolerance that pseudo velocities may change by in a sweep that changes nothing
_SHARE = 0.03  # of what the first sweep changes: less may be left in islands that are too large to be solved at once
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
def shove_island(work, reach, rows, patches, points, island, tolerance, swept, deadline):
    """Pseudo impulses of an island, until points want no more than `tolerance` [m/s].

    Points that hold may want what no motion gives them: impulses then push against each other without end, but what
    they do together comes to rest, and a sweep leaves pseudo velocities as the one before did. (Of points that may only
    push, the weaker ones would let go at last.) In an island too large to be solved at once, it is enough if that is so
    to `swept` [m/s].
    """
    same, large = _SAME * tolerance, False
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        set6(patches[reach.order[k]].free, _ZERO6)
    for sweep in range(_SWEEPS):
        bounded, held, moved = 0.0, 0.0, 0.0
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
            bounded = max(bounded, abs(change) / mass if mass > 0.0 else 0.0)
        for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
            one, other, way = _shove_patch(reach, patches[reach.order[k]], points)
            bounded, held, moved = max(bounded, one), max(held, other), max(moved, way)
        if moved <= same and (large or bounded <= tolerance):
            break
        if max(bounded, held) <= tolerance or cycles() > deadline:
            break
        if sweep == 0 and reach.islands[island + 1].patch - reach.islands[island].patch > MOST_PATCHES:
            same, large = max(swept, _SHARE * moved), True


@kernel
def _shove_patch(reach, patch, points):
    """Pseudo impulses of a patch; returns what those of its points wanted that may only push, what those that hold
    did, and how far the pseudo twist that is left is from the one that was left a sweep ago [m/s]."""
    w, f, bounded, held = relative_twist(reach, patch, reach.pseudo), _ZERO6, 0.0, 0.0
    for turn in range(1 if patch.count == 1 else _ROUNDS):
        for i in range(patch.first, patch.first + patch.count):
            point = points[i]
            shove = point.shove
            change = (point.push[0] - dot6(get6(point.Jn), w)) * point.mass
            holding = holds(point)
            if not holding:
                change = max(change, -shove[0])
            shove[0] += change
            w = add_scaled6(w, change, get6(point.gn))
            f = add_scaled6(f, change, get6(point.Jn))
            if turn == 0:
                speed = abs(change) / point.mass if point.mass > 0.0 else 0.0
                bounded, held = max(bounded, 0.0 if holding else speed), max(held, speed if holding else 0.0)
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
                    held = max(held, max(abs(vt), abs(vs)))
    answer(reach, patch, f, reach.pseudo)
    left = get6(patch.free)
    set6(patch.free, w)
    turned = max(abs(w[0] - left[0]), max(abs(w[1] - left[1]), abs(w[2] - left[2])))
    moved = max(abs(w[3] - left[3]), max(abs(w[4] - left[4]), abs(w[5] - left[5])))
    return bounded, held, max(moved, turned * patch.radius)
