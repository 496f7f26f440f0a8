"""Load kernels: how they push on the links they touch.

To add a load, write one file with a subclass of `Load`, whose `fill` writes a record of the load table,
and a kernel of the form

    apply(load, tables, q, v, t) -> (supplied, dissipated)

which pushes with `push` or `twist` (or adds to `dofs[d].tau`), keeps `load.potential` [J] up to date if it
stores energy and `load.force` [N] if records should tell what it exerts (see `element_forces.py`), and
returns the power [W] it feeds in from outside and the power it takes out by friction. Name both in
`engine/loads/__init__.py`.
"""

from __future__ import annotations

from ..kernels.jit import kernel
from ..kernels.math3 import add3, cross3, get3, get9, rotate, sub3


@kernel
def end_point(tables, link, X):
    """Position (from the island's reference point) and velocity of a load's frame X on a link."""
    dof = tables.dofs[link]
    r = add3(get3(dof.r), rotate(get9(dof.R), (X[9], X[10], X[11])))
    w = (dof.V[0], dof.V[1], dof.V[2])
    return r, add3((dof.V[3], dof.V[4], dof.V[5]), cross3(w, r))


@kernel
def gap_between(tables, link_a, r_a, link_b, r_b):
    """Vector from a point on A to a point on B, each given from its own island's reference point."""
    dofs, islands = tables.dofs, tables.islands
    o_a, o_b = get3(islands[dofs[link_a].island].o), get3(islands[dofs[link_b].island].o)
    return add3(sub3(r_b, r_a), sub3(o_b, o_a))


@kernel
def push(tables, link, r, f):
    """Add a force f at the point r (from the reference point) to what acts on a link."""
    if link != 0:
        p = tables.dofs[link].p
        n = cross3(r, f)
        p[0] -= n[0]
        p[1] -= n[1]
        p[2] -= n[2]
        p[3] -= f[0]
        p[4] -= f[1]
        p[5] -= f[2]


@kernel
def twist(tables, link, n):
    """Add a torque n to what acts on a link."""
    if link != 0:
        p = tables.dofs[link].p
        p[0] -= n[0]
        p[1] -= n[1]
        p[2] -= n[2]
