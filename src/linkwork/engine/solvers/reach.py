"""What contact and iterated rows act on: the dofs that they reach, how these respond, and their velocities.

With the inertia factored, H = LᵀDL, velocities are kept as u = L v: a row J measures them by Y = L⁻ᵀJᵀ, which has
entries on the paths of its bodies to the root only, and an impulse changes them by Z = D⁻¹Y. No matrix over all rows
is ever formed: a pile costs what its contacts cost. Rows without bounds are folded in or eliminated first, so that what
is iterated sees the mechanism as it is: loops closed, springs and servos acting. Where loops are eliminated together
with the tree (`saddle`), they are unknowns like dofs, with a place on the ways to the root and D < 0; of others, `Z`
holds what they add.

Clusters are mechanisms: dofs that joints or rows hold together. Islands are clusters that touch each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.jit import inlined
from ..kernels.spatial import add_scaled6, dot6, get6
from .layout import KEPT, ON

REACHED_DOF = np.dtype(
    [
        ("cluster", "i8"),  # the mechanism it belongs to
        ("slot", "i8"),  # where it stands in the list of dofs of a patch that is being made
    ]
)

REACHED_ROW = np.dtype(
    [
        ("begin", "i8"),  # its dofs: from here in `row_dofs`
        ("end", "i8"),  # to before here
        ("z", "i8"),  # where the list of dofs that respond to it begins in the pool, and how many they are
        ("nz", "i8"),
        ("cluster", "i8"),  # the mechanism it belongs to
        ("island", "i8"),
        ("loose", "i8"),  # 1 if it may be at a bound, so that it is iterated
        ("move", "i8"),  # the dofs that it moves with, the tip first: from here in `move_dofs`
        ("move_end", "i8"),  # to before here
        ("chain", "i8"),  # 1 if these carry each other
        ("dof", "i8"),  # the dof (counted from 1) whose rate is what it measures, or 0
        ("bound", "i8"),  # which of its bounds it is taken to be at: `eliminate.LOWEST`, `HIGHEST`, or 0
        ("becomes", "i8"),  # how it is solved for: `eliminate.FOLDED` and others, or 0
        ("mass", "f8"),  # 1/(response to a unit impulse + softness) [kg or kg m²]
        ("last", "f8"),  # impulse before the present sweep
        ("way", "f8"),  # direction of the accelerated search
        ("shove", "f8"),  # pseudo impulse
        ("shove_mass", "f8"),  # 1/(response to a unit impulse)
        ("alone", "f8"),  # impulse if nothing were iterated, of an eliminated row
    ]
)

CLUSTER = np.dtype(
    [
        ("begin", "i8"),  # its dofs: from here in `cluster_dofs`
        ("end", "i8"),  # to before here
        ("held", "i8"),  # 1 if some of its rows are eliminated
        ("leader", "i8"),  # a cluster that it touches, or itself: a forest of what touches
        ("island", "i8"),
        ("restless", "i8"),  # 1 if it has loads or drives, and never sleeps
        ("still", "f8"),  # how long it has been at rest [s]
    ]
)

ISLAND = np.dtype(
    [
        ("patch", "i8"),  # its first patch in `order`; those of the next island begin where its own end
        ("row", "i8"),  # its first row in `row_order`
        ("rest", "f8"),  # how long all of it has been at rest [s]
    ]
)

USED = np.dtype([("y", "i8"), ("z", "i8"), ("row_z", "i8")])
"""How much of each pool is used."""

_ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Reach(NamedTuple):
    """Which dofs (counted from 0) patches and rows reach, and the velocities that they act on; embedded rows count as
    dofs, behind these."""

    yi: Any
    """Pool of lists of dofs that patches measure."""
    Y: Any
    """What a patch measures of a dof: six numbers."""
    zi: Any
    """Pool of lists of dofs that respond to patches."""
    Z: Any
    """How a dof responds to a wrench on the patch: six numbers."""
    rzi: Any
    """Pool of lists of dofs that respond to rows."""
    RZ: Any
    used: Any
    """How much of the pools is used: a table of one record of `USED`."""
    u: Any
    """Velocities L v of dofs."""
    pseudo: Any
    """Pseudo velocities, which move places but never enter the motion."""
    before: Any
    """Velocities at the start of the step."""
    bare: Any
    """Scratch: impulses or displacements of dofs."""
    kept: Any
    """Velocities to go back to if a solution proves worse."""
    reaction: Any
    """Impulses of eliminated rows against unit wrenches on a patch: rows x 6."""
    dofs: Any
    rows: Any
    row_dofs: Any
    """Dofs of each row."""
    move_dofs: Any
    """Dofs that rows move with."""
    row_order: Any
    """Iterated rows by islands."""
    order: Any
    """Patches by islands."""
    clusters: Any
    cluster_dofs: Any
    """Dofs by clusters."""
    islands: Any
    """One more than there are clusters, the most islands that there can be."""


@inlined
def relative_twist(reach, patch, u):
    """What a patch measures of velocities u."""
    w = _ZERO6
    for e in range(patch.y, patch.y + patch.ny):
        w = add_scaled6(w, u[reach.yi[e]], get6(reach.Y[e]))
    return w


@inlined
def answer(reach, patch, f, u):
    """u += Z f: velocities after a wrench on a patch."""
    for e in range(patch.z, patch.z + patch.nz):
        u[reach.zi[e]] += dot6(get6(reach.Z[e]), f)


@inlined
def row_rate(work, reach, r, u):
    """What row r measures of velocities u."""
    total = 0.0
    for k in range(reach.rows[r].begin, reach.rows[r].end):
        d = reach.row_dofs[k]
        total += work.Y[d, r] * u[d]
    return total


@inlined
def answer_row(reach, r, p, u):
    """u += Z p: velocities after an impulse of row r."""
    row = reach.rows[r]
    for e in range(row.z, row.z + row.nz):
        u[reach.rzi[e]] += reach.RZ[e] * p


@inlined
def iterated(work, r):
    """Whether a row takes part and is not eliminated."""
    return work.flag[ON, r] != 0 and work.flag[KEPT, r] == 0
