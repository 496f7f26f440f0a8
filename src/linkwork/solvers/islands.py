"""Contact forces of an island: sweeps until nothing changes, with help where they are slow."""

import numpy as np

from ..kernels.clock import cycles
from ..kernels.jit import kernel
from .subspace import solve_subspace
from .touch import CUT_SHORT, accelerate, relax_patch, relax_row

_PATIENCE = 2  # sweeps before help is sought
_SOLUTIONS = 10  # of the whole island at once, before the search goes on by sweeps alone


@kernel
def settle_island(work, reach, space, rows, patches, points, island, tolerance, epsilon, limit, together, deadline):
    """Sweeps over the rows and patches of an island until nothing changes any more; (sweeps, cut short, last change).

    tolerance: of velocities [m/s]; epsilon: of impulses [N s], whichever is met first. together: whether small islands
    are also solved at once.
    """
    first, last = reach.starts[0, island], reach.starts[0, island + 1]
    first_row, last_row = reach.starts[1, island], reach.starts[1, island + 1]
    before, fastest = np.inf, 0.0
    solved = 0 if together else _SOLUTIONS
    for sweep in range(limit):
        fastest, largest, energy = 0.0, 0.0, 0.0
        for k in range(first_row, last_row):
            change, mass = relax_row(work, reach, rows, reach.row_order[k])
            if mass > 0.0:
                fastest = max(fastest, abs(change) / mass)
                energy += change * change / mass
            largest = max(largest, abs(change))
        for k in range(first, last):
            speed, size, more = relax_patch(reach, patches[reach.order[k]], points)
            fastest, largest = max(fastest, speed), max(largest, size)
            energy += more
        if fastest <= tolerance or largest <= epsilon:
            return sweep + 1, 0, fastest
        if cycles() > deadline:
            return sweep + 1, CUT_SHORT, fastest
        if sweep + 1 < _PATIENCE or sweep + 1 == limit:
            continue
        if solved < _SOLUTIONS:
            small = solve_subspace(work, reach, space, rows, patches, points, island)
            solved = solved + 1 if small else _SOLUTIONS
            before = np.inf
        if solved >= _SOLUTIONS:
            ratio = energy / before
            accelerate(reach, rows, patches, points, island, ratio if ratio < 1.0 else -1.0)
        before = energy
    return limit, CUT_SHORT, fastest
