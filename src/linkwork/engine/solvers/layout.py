"""Arrays that the direct solver works on: few and wide, for every array that a kernel takes costs compile time.

A name in capitals is the number of a vector inside one of them: work.row[P, i] is the impulse of row i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# row: floats of each row
P, PLACE, TURN, RIGHT, SOFT, WANT, LO, HI, PIVOT, SCALE, BEGAN, BEGAN_RATE, SUM, USUAL = range(14)
"""Force or impulse; pushes that close gaps, and that stop rates; scratch; softness; wanted acceleration or velocity;
bounds; 1/pivot; largest diagonal so far; gap or slip at the start of a step, and its rate; scratch;
largest pivot so far."""
# flag: integers of each row
FIRST, START, ON, SIDE, KEPT = range(5)
"""First column of the envelope; element (i, j) of a matrix over rows stands at START + j; takes part; kept or at
which bound; kept."""
# dof: floats of each dof, numbered from 0: dof d of the table is d - 1
INVERSE, FORCE, RESPONSE, RESPONSE_PLACE, RESPONSE_TURN, DELTA, DELTA_TURN, AHEAD = range(8)
"""1/D of the factored inertia; forces, solved inward; scratch; displacements, changes of rates, and mean rates of a
step less those at its end, numbered like rates."""
LINK = np.dtype(
    [
        ("rate", "i8"),  # index of its rate
        ("begin", "i8"),  # first row that touches it or anything it carries,
        ("end", "i8"),  # and the one behind the last
    ]
)
"""A dof, numbered from 0, as rows see it."""

REPORT = np.dtype(
    [
        ("smallest", "f8"),  # pivot against its row's scale,
        ("smallest_row", "i8"),  # and that row
        ("supplied", "f8"),  # power by all [W]
        ("dissipated", "f8"),
        ("loads_supplied", "f8"),  # by loads alone [W]
        ("loads_dissipated", "f8"),
        ("weakest", "f8"),  # smallest pivot against its row's usual one
        ("worn", "f8"),  # below which share of that other joint equations are to be chosen; 0: never
    ]
)
"""What an evaluation tells beside accelerations and forces."""


class Work(NamedTuple):
    """Structure and scratch of the solver."""

    H: np.ndarray
    row: np.ndarray
    flag: np.ndarray
    dof: np.ndarray
    link: np.ndarray
    J: np.ndarray
    """Rows in joint space, J[d, r]; of each dof, only rows link.begin to link.end are ever touched."""
    Y: np.ndarray
    """J solved inward, for rows that are on."""
    A: np.ndarray
    L: np.ndarray
    report: np.ndarray
    """One record of `REPORT`."""
