"""The joint-space inertia of a tree, factored, and rows in joint space.

H = Lᵀ D L with the sparsity of the tree and no fill-in (Featherstone, RBDA, section 6.5): scalars on the path to the
root instead of 6-vectors. Rows and columns are numbered by dof (dof d is number d - 1).
"""

from ..kernels.jit import inlined, kernel
from ..kernels.spatial import add6, add_inertia, dot6, get6, inertia_times, scale6, set6
from ..tables import COORDINATE


@kernel
def inertia(dofs, H, rhs):
    """(placed, loaded tables) => joint-space inertia in H; rhs = tau - bias forces.

    H[d - 1, k] belongs to dof d and the dof of depth k on its path to the root: as wide as the tree is deep. dof.I
    becomes composite and dof.p the sum of the forces behind each dof.
    """
    for d in range(dofs.shape[0] - 1, 0, -1):
        dof = dofs[d]
        S, p = get6(dof.S), get6(dof.p)
        F = inertia_times(dof.I, S)
        k = dof.depth
        H[d - 1, k] = dot6(S, F) + dof.armature
        rhs[d - 1] = dof.tau - dot6(S, p)
        a = dof.parent
        if a != 0:
            add_inertia(dofs[a].I, dof.I)
            set6(dofs[a].p, add6(get6(dofs[a].p), p))
        while a != 0:
            k -= 1
            H[d - 1, k] = dot6(get6(dofs[a].S), F)
            a = dofs[a].parent


@kernel
def factor(dofs, H, D, rhs):
    """(placed, loaded tables) => L in H, 1/D in D of the inertia; rhs = tau - bias forces. As `inertia` leaves it."""
    inertia(dofs, H, rhs)
    for d in range(dofs.shape[0] - 1, 0, -1):
        k = dofs[d].depth
        inverse = 1.0 / H[d - 1, k]
        D[d - 1] = inverse
        i = dofs[d].parent
        while i != 0:
            k -= 1
            ratio = H[d - 1, k] * inverse
            for j in range(k + 1):
                H[i - 1, j] -= ratio * H[d - 1, j]
            H[d - 1, k] = ratio
            i = dofs[i].parent


@kernel
def solve_inward(dofs, H, x):
    """x ← L⁻ᵀ x."""
    for d in range(dofs.shape[0] - 1, 0, -1):
        if x[d - 1] != 0.0:
            i, k = dofs[d].parent, dofs[d].depth
            while i != 0:
                k -= 1
                x[i - 1] -= H[d - 1, k] * x[d - 1]
                i = dofs[i].parent


@kernel
def solve_outward(dofs, H, x):
    """x ← L⁻¹ x."""
    for d in range(1, dofs.shape[0]):
        i, k = dofs[d].parent, dofs[d].depth
        while i != 0:
            k -= 1
            x[d - 1] -= H[d - 1, k] * x[i - 1]
            i = dofs[i].parent


@kernel
def project(dofs, link, root, factor, J, x):
    """x += factor J S along the path from a link to a dof that carries it, or to the world: a twist row in joint space.

    Returns the size of J, against which a result of rounding alone can be told.
    """
    w = scale6(factor, get6(J))
    while link != root:
        dof = dofs[link]
        x[link - 1] += dot6(w, get6(dof.S))
        link = dof.parent
    return abs(w[0]) + abs(w[1]) + abs(w[2]) + abs(w[3]) + abs(w[4]) + abs(w[5])


@kernel
def project_row(dofs, constraints, row, x):
    """x ← the row in joint space; returns the size of its Jacobian against twists."""
    for i in range(x.shape[0]):
        x[i] = 0.0
    return add_row(dofs, constraints, row, 0, x)


@inlined
def add_row(dofs, constraints, row, root, x):
    """x += the row in joint space, touching its own dofs only; returns the size of its Jacobian against twists.

    root: a dof that carries all that the row measures, so that it says nothing of it, nor of those further in; or 0.
    """
    coords, pairs = constraints.coords, constraints.pairs
    if row.kind != COORDINATE:
        pair = pairs[row.pair]
        on_a = project(dofs, pair.a, root, 1.0, row.J_A, x)
        return max(on_a, project(dofs, pair.b, root, 1.0, row.J_B, x))
    magnitude = _project_coordinate(dofs, pairs, coords[row.first], root, row.sign, x)
    if row.second >= 0:
        magnitude = max(magnitude, _project_coordinate(dofs, pairs, coords[row.second], root, -row.ratio, x))
    return magnitude


@kernel
def _project_coordinate(dofs, pairs, coord, root, factor, x):
    if coord.v >= 0:
        x[coord.v - 1] += factor
        return abs(factor)
    pair = pairs[coord.pair]
    on_a = project(dofs, pair.a, root, factor, coord.J_A, x)
    return max(on_a, project(dofs, pair.b, root, factor, coord.J_B, x))
