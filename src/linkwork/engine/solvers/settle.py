"""Contact forces of an island: until the residual is within the tolerance, or until no impulse changes (sweeps)."""

import numpy as np

from ..kernels.clock import cycles
from ..kernels.jit import kernel
from .cone import judge, residual
from .impulses import CUT_SHORT
from .patch_basis import MOST_PATCHES
from .relax import relax_patch, relax_row
from .search import accelerate, keep_island
from .subspace import drop_pulling, set_origins, softness, solve_subspace, stiffen

EVENLY, UNEVENLY, BY_CHANCE = range(3)
"""How points share loads that could be shared in many ways: impulses are the smallest; they may not be, for the
smallest are outside of their cones; sweeps have found them, and nobody has looked for the smallest yet."""
_RESISTING = 1e3  # how much coarser the tolerance may become where Newton steps fail, if none is asked for
_AT_REST = 1e-2  # share of the tolerance at which the impulses of the last step are good enough for this one,
_COMING = 1e-4  # where they have not been so a step ago, and that to which what is nearly at rest is solved
_TRIES = 3  # Newton steps from an origin, before another one, or sweeps, are to find a better start
_AGED = 0.9  # share of uneven impulses that steps begin with
_ROUNDS, _MOST_ROUNDS = 4, 60  # through the points of a patch, each time it is its turn
_FAR = 1e6  # tolerances that the impulses of the last step are off by to be of no use
_HELP = 3  # sweeps between Newton steps that fail
_LOOK = 4  # sweeps between two looks at the residual
_LEAST = 8  # sweeps of a step whose time is up: after one or two, what is held may be worse off than before


@kernel
def settle_island(work, reach, space, rows, patches, points, island, options, deadline):
    """Impulses of an island; (iterations, cut short, residual [m/s]).

    Small islands by Newton steps, from the best impulses so far; where these lead nowhere, a few sweeps find out who
    pushes and who slides. All parts by themselves: bundled, they would be unpacked at every call.
    """
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    if options.eliminate == 0 or last - first > MOST_PATCHES:
        return _sweep_until(work, reach, rows, patches, points, island, options, deadline)
    left = residual(work, reach, rows, patches, points, island, 0.0)
    shared, rests = EVENLY, True
    for k in range(first, last):
        patch = patches[reach.order[k]]
        shared, rests = max(shared, patch.uneven), rests and patch.rests != 0
    # What stops a motion in one step is too much for the next: forces at rest come from a second solution, which then
    # holds for many steps, if it is good to rounding.
    rests = shared != BY_CHANCE and left <= (_AT_REST if rests else _COMING) * options.tolerance
    for k in range(first, last):
        patches[reach.order[k]].rests = 1 if rests else 0
    if rests:
        return 0, 0, left
    soft = softness(reach, patches, points, island)
    best, tolerance, share = left, options.tolerance, _AGED if shared == UNEVENLY else 0.0
    enough, most = tolerance, min(_RESISTING * tolerance, max(options.swept, tolerance))
    fine = _COMING * tolerance if left <= tolerance else tolerance
    keep_island(reach, rows, patches, points, island, True)
    # Impulses of the last step tell little of this one if something hits: sweeps come first.
    begin = 2 * _TRIES if left > _FAR * tolerance else 0
    for turn in range(options.most_sweeps):
        stage = (begin + turn) % (2 * _TRIES + 1)
        if stage == 2 * _TRIES:
            keep_island(reach, rows, patches, points, island, False)
            for _ in range(_HELP):
                _sweep(work, reach, rows, patches, points, island, _MOST_ROUNDS, 1e-4)
        else:
            if stage == _TRIES:
                keep_island(reach, rows, patches, points, island, False)
                share = 1.0
            if stage % _TRIES == 0:
                set_origins(reach, patches, points, island, share)
            for k in range(first, last):
                judge(reach, patches[reach.order[k]], points, soft, turn > 0)
            pulls, lack = True, 0.0
            while pulls:
                lack = solve_subspace(work, reach, space, rows, patches, points, island, soft, tolerance)
                if lack < 0.0:
                    return _sweep_until(work, reach, rows, patches, points, island, options, deadline)
                pulls = drop_pulling(reach, patches, points, island)
            if residual(work, reach, rows, patches, points, island, soft) <= tolerance:
                stiffen(work, reach, space, rows, patches, points, island, fine, lack)
        left = residual(work, reach, rows, patches, points, island, 0.0)
        if (
            stage == 2 * _TRIES and turn > 0
        ):  # what resists so long may be left at what large islands are left at
            enough = min(10.0 * enough, most)
        if left <= enough:
            found = UNEVENLY if share > 0.0 else EVENLY
            _note(reach, patches, island, BY_CHANCE if stage == 2 * _TRIES else found)
            return turn + 1, 0, left
        if left < best or stage == 2 * _TRIES:
            best = left
            keep_island(reach, rows, patches, points, island, True)
        if cycles() > deadline:
            break
    keep_island(reach, rows, patches, points, island, False)
    for _ in range(_LEAST):
        _sweep(work, reach, rows, patches, points, island, _ROUNDS, 0.1)
    _note(reach, patches, island, UNEVENLY)
    left = residual(work, reach, rows, patches, points, island, 0.0)
    return turn + 1, CUT_SHORT, left


@kernel
def _note(reach, patches, island, shared):
    """Remember how loads are shared."""
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        patches[reach.order[k]].uneven = shared


@kernel
def _sweep(work, reach, rows, patches, points, island, rounds, enough):
    """Once through the rows and patches of an island; the largest change of a velocity and of an impulse, and the
    change in the metric of energy."""
    fastest, largest, energy = 0.0, 0.0, 0.0
    for k in range(reach.islands[island].row, reach.islands[island + 1].row):
        change, mass = relax_row(work, reach, rows, reach.row_order[k])
        if mass > 0.0:
            fastest = max(fastest, abs(change) / mass)
            energy += change * change / mass
        largest = max(largest, abs(change))
    for k in range(reach.islands[island].patch, reach.islands[island + 1].patch):
        speed, size, more = relax_patch(reach, patches[reach.order[k]], points, rounds, enough)
        fastest, largest = max(fastest, speed), max(largest, size)
        energy += more
    return fastest, largest, energy


@kernel
def _sweep_until(work, reach, rows, patches, points, island, options, deadline):
    """Sweeps until the residual is within the tolerance (direct) or no impulse changes by more than epsilon; like
    `settle_island`."""
    tolerance, before, left = options.swept, np.inf, 0.0
    for sweep in range(options.most_sweeps):
        fastest, largest, energy = _sweep(work, reach, rows, patches, points, island, _ROUNDS, 0.1)
        left = fastest
        if options.eliminate == 0:
            if largest <= options.epsilon:
                return sweep + 1, 0, left
        elif fastest <= tolerance or sweep % _LOOK == _LOOK - 1:
            left = residual(work, reach, rows, patches, points, island, 0.0)
            if left <= tolerance:
                return sweep + 1, 0, left
        if sweep + 1 >= _LEAST and cycles() > deadline:
            return sweep + 1, CUT_SHORT, left
        ratio = energy / before
        accelerate(reach, rows, patches, points, island, ratio if ratio < 1.0 else -1.0)
        before = energy
    return options.most_sweeps, CUT_SHORT, left
