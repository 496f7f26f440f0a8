"""Contact forces of an island: sweeps until nothing changes, with help where they are slow."""

import numpy as np

from ..kernels.clock import cycles
from ..kernels.jit import kernel
from .impulses import CUT_SHORT
from .relax import relax_patch, relax_row
from .search import accelerate, keep_island
from .subspace import solve_subspace

# Degenerate islands, where loads may be shared in many ways, settle to within the tolerance slowly or never.
_LATE, LATER = 8, 1e3
_PATIENCE = 2  # sweeps before help is sought
_DAMPING = 1e-4  # share of the diagonal
_FEW, _MANY = 4, 60  # rounds through the points of a patch, each time it is its turn
_LEAST = 8  # sweeps of a step whose time is up: after one or two, what is held may be worse off than before
_SOLUTIONS = 10  # of the whole island at once, before the search goes on by sweeps alone


@kernel
def settle_island(work, reach, space, rows, patches, points, island, options, deadline):
    """Sweeps over the rows and patches of an island until nothing changes any more; (sweeps, cut short, last change).

    Velocities or impulses, whichever meets its tolerance first. With rows eliminated, small islands are also solved at
    once; a solution after which more changes than before is taken back, and sought with more damping (Levenberg and
    Marquardt): where many points stick, all of them may need forces that the cone does not allow. All parts by
    themselves: bundled, they would be unpacked at every call.
    """
    tolerance, epsilon, limit = options.tolerance, options.epsilon, options.most_sweeps
    together = options.eliminate != 0
    first, last = reach.islands[island].patch, reach.islands[island + 1].patch
    first_row, last_row = reach.islands[island].row, reach.islands[island + 1].row
    before, fastest, trusted, damping = np.inf, 0.0, np.inf, 0.0
    solved, doubtful, large = 0 if together else _SOLUTIONS, False, False
    for sweep in range(limit):
        fastest, largest, energy = 0.0, 0.0, 0.0
        rounds, enough = (_FEW, 0.1) if sweep < _PATIENCE or not together or large else (_MANY, 1e-4)
        for k in range(first_row, last_row):
            change, mass = relax_row(work, reach, rows, reach.row_order[k])
            if mass > 0.0:
                fastest = max(fastest, abs(change) / mass)
                energy += change * change / mass
            largest = max(largest, abs(change))
        for k in range(first, last):
            speed, size, more = relax_patch(reach, patches[reach.order[k]], points, rounds, enough)
            fastest, largest = max(fastest, speed), max(largest, size)
            energy += more
        enough_now = tolerance if sweep < _LATE else LATER * tolerance
        if fastest <= enough_now or largest <= epsilon:
            return sweep + 1, 0, fastest
        if (sweep + 1 >= _LEAST and cycles() > deadline) or sweep + 1 == limit:
            return sweep + 1, CUT_SHORT, fastest
        if sweep + 1 < _PATIENCE:
            continue
        if doubtful and fastest > trusted:
            keep_island(reach, rows, patches, points, island, False)
            damping = max(_DAMPING, 30.0 * damping)
        else:
            trusted = fastest
        doubtful = False
        if solved < _SOLUTIONS:
            keep_island(reach, rows, patches, points, island, True)
            doubtful = solve_subspace(work, reach, space, rows, patches, points, island, damping)
            solved = solved + 1 if doubtful else _SOLUTIONS
            large = not doubtful
            before = np.inf
        if not doubtful:
            ratio = energy / before
            accelerate(reach, rows, patches, points, island, ratio if ratio < 1.0 else -1.0)
            before = energy
    return limit, CUT_SHORT, fastest
