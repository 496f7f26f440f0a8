"""Arrays that the direct solver works on: few and wide, for every array that a kernel takes costs compile time.

A name in capitals is the number of a vector inside one of them: work.row[P, i] is the impulse of row i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# row: floats of each row
(
    P, PLACE, TURN, RIGHT, SOFT, WANT, LO, HI, PIVOT, SCALE, BEGAN, BEGAN_RATE, SUM, USUAL, TAKEN, WHOLE, NOISE,
) = range(17)  # fmt: skip
"""Force or impulse; pushes that close gaps, and that stop rates; scratch; softness; wanted acceleration or velocity;
bounds; 1/pivot; largest diagonal so far; gap or slip at the start of a step, and its rate; scratch;
largest pivot so far; what WANT has less than was asked for, since rows move without forces of their own;
diagonal before embedded rows are taken from it; the largest scale over pivot among these."""
# flag: integers of each row
FIRST, START, ON, SIDE, KEPT, ROOT = range(6)
"""First column of the envelope; element (i, j) of a matrix over rows stands at START + j; takes part; kept or at
which bound; kept; the dof (numbered as in the table, 0 for none) that carries all that the row measures."""
# dof: floats of each unknown, of dofs unless it says so
(
    INVERSE, LOAD, FORCE, FORCE_PLACE, FORCE_TURN, RESPONSE, RESPONSE_PLACE, RESPONSE_TURN, DELTA, DELTA_TURN, AHEAD,
    GIVEN,
) = range(12)  # fmt: skip
"""Of all unknowns: 1/D of the factors; (LOAD: forces on dofs;) forces and what embedded rows want, solved inward, of
accelerations, places and rates; scratch. Of dofs, numbered like rates: displacements, changes of rates, and mean rates
of a step less those at its end. What rates of locked dofs change by."""
LINK = np.dtype(
    [
        ("rate", "i8"),  # index of its rate; of embedded rows -1
        ("first", "i8"),  # first row that touches it,
        ("last", "i8"),  # and the one behind the last
        ("begin", "i8"),  # first row, not embedded, that touches it or anything eliminated before it,
        ("end", "i8"),  # and the one behind the last
        ("level", "i8"),  # how many dofs carry it: its column in `Work.H`
        ("column", "i8"),  # how many unknowns are eliminated behind it on its way: its column in `Work.K`
        ("near", "i8"),  # how many unknowns are coupled to it when it is eliminated
        ("trunk", "i8"),  # the first of six dofs of a floating body that carries all of them, or -1
        ("next", "i8"),  # of place k: the unknown that is eliminated as the k-th
        (
            "locked",
            "i8",
        ),  # 1 while its rate is given: it answers to nothing, and its row of `Work.K` is not divided
    ]
)
"""An unknown: dof d of the table is d - 1, and behind the dofs come the embedded rows, which are the first of all
rows."""

REPORT = np.dtype(
    [
        ("smallest", "f8"),  # pivot against its row's scale,
        ("smallest_row", "i8"),  # and that row
        ("inner", "f8"),  # the same among embedded rows,
        ("inner_row", "i8"),
        ("inner_weakest", "f8"),
        ("coupled", "i8"),  # 1 if any other row is on
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
    """Inertia: dofs x depth of the tree."""
    K: np.ndarray
    """Factors L of inertia and embedded rows, K[i, column]; in the place of H if there is no plan for such rows."""
    near: np.ndarray
    """near[0, i, :link.near]: the unknowns coupled to i when it is eliminated, those that come next first; near[1]:
    their columns in K."""
    row: np.ndarray
    flag: np.ndarray
    dof: np.ndarray
    link: np.ndarray
    J: np.ndarray
    """Rows in joint space, J[d, r]; of each dof, only rows link.first to link.last are ever touched."""
    Y: np.ndarray
    """J solved inward, for rows that are on and not embedded, link.begin to link.end of each unknown."""
    A: np.ndarray
    L: np.ndarray
    report: np.ndarray
    """One record of `REPORT`."""
