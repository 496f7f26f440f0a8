"""Derivatives of loads that are not rows: forces, torques and users' functions, by central differences."""

from ..kernels.jit import inlined, kernel
from ..kernels.math3 import add3, cross3, get3, get9
from ..kernels.spatial import zero6
from ..tables import SCREW
from . import apply_load

_NUDGE = 1e-6  # [rad, m, rad/s or m/s]: central differences are then good to some ten digits
PLACE, RATE = 0, 1


@kernel
def _move(dof, k, step, kept):
    """Move a link by a small twist about the reference point, component k of six; how it was is kept."""
    R, r = get9(dof.R), get3(dof.r)
    for j in range(9):
        kept[j] = R[j]
    for j in range(3):
        kept[9 + j] = r[j]
    if k >= 3:
        dof.r[k - 3] += step
        return
    w = (step if k == 0 else 0.0, step if k == 1 else 0.0, step if k == 2 else 0.0)
    for j in range(3):
        turned = cross3(w, (R[j], R[3 + j], R[6 + j]))
        dof.R[j] += turned[0]
        dof.R[3 + j] += turned[1]
        dof.R[6 + j] += turned[2]
    moved = add3(r, cross3(w, r))
    dof.r[0], dof.r[1], dof.r[2] = moved


@inlined
def _move_back(dof, kept):
    for k in range(9):
        dof.R[k] = kept[k]
    for k in range(3):
        dof.r[k] = kept[9 + k]


@inlined
def _collect(load, tables, q, v, t, weight, out, column):
    """out[:, column] += weight times the wrenches of a load on its links."""
    a, b = tables.dofs[load.a], tables.dofs[load.b]
    zero6(a.p)
    zero6(b.p)
    apply_load(load, tables, q, v, t)
    for k in range(6):  # loads are subtracted from p
        out[k, column] -= weight * a.p[k]
        if load.a != load.b:
            out[6 + k, column] -= weight * b.p[k]


@kernel
def differentiate(load, tables, q, v, t, out, kept):
    """out[PLACE] and out[RATE] (12 x 12): how the wrenches on links a and b change with small twists of a and b, and
    with their velocities, all at the links' reference points. `kept` is scratch (24)."""
    potential = load.potential
    for which in range(2):
        for i in range(12):
            for j in range(12):
                out[which, i, j] = 0.0
    for side in range(2):
        link = load.a if side == 0 else load.b
        if link == 0 or (side == 1 and load.a == load.b):
            continue
        dof = tables.dofs[link]
        a, b = tables.dofs[load.a], tables.dofs[load.b]
        for j in range(6):
            kept[12 + j] = a.p[j]
            kept[18 + j] = b.p[j]
        for k in range(6):
            for half in range(2):
                step = _NUDGE if half == 0 else -_NUDGE
                _move(dof, k, step, kept)
                _collect(load, tables, q, v, t, 0.5 / step, out[PLACE], 6 * side + k)
                _move_back(dof, kept)
                rate = dof.V[k]
                dof.V[k] = rate + step
                _collect(load, tables, q, v, t, 0.5 / step, out[RATE], 6 * side + k)
                dof.V[k] = rate
        for j in range(6):
            a.p[j] = kept[12 + j]
            b.p[j] = kept[18 + j]
    load.potential = potential


@inlined
def _nudge(dof, q, step):
    """Move one coordinate of a joint by a small local displacement."""
    i = dof.q
    if dof.motion == SCREW:
        q[i] += step
        return
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    half = 0.5 * step
    if dof.column == 0:
        q[i], q[i + 1], q[i + 2], q[i + 3] = w - half * x, x + half * w, y + half * z, z - half * y
    elif dof.column == 1:
        q[i], q[i + 1], q[i + 2], q[i + 3] = w - half * y, x - half * z, y + half * w, z + half * x
    else:
        q[i], q[i + 1], q[i + 2], q[i + 3] = w - half * z, x + half * y, y - half * x, z + half * w


@kernel
def differentiate_joint(load, tables, q, v, t, e, out, kept):
    """out[:, 0] and out[:, 1]: how the forces of a joint's function change along dof e of that joint, and with its
    rate; one per rate of the joint. `kept` is scratch (24)."""
    dofs, dof = tables.dofs, tables.dofs[e]
    first, count = int(load.value[2]), int(load.value[3])
    numbers = tables.numbers
    result = load.first + load.count + int(load.value[1]) + count  # where the function leaves its forces
    size = 1 if dof.motion == SCREW else 4
    for i in range(count):
        out[i, 0] = out[i, 1] = 0.0
    for d in range(1, dofs.shape[0]):
        if first <= dofs[d].v < first + count:
            kept[12 + dofs[d].v - first] = dofs[d].tau
    for half in range(2):
        step = _NUDGE if half == 0 else -_NUDGE
        for k in range(size):
            kept[k] = q[dof.q + k]
        _nudge(dof, q, step)
        apply_load(load, tables, q, v, t)
        for i in range(count):
            out[i, 0] += 0.5 / step * numbers[result + i]
        for k in range(size):
            q[dof.q + k] = kept[k]
        rate = v[dof.v]
        v[dof.v] = rate + step
        apply_load(load, tables, q, v, t)
        for i in range(count):
            out[i, 1] += 0.5 / step * numbers[result + i]
        v[dof.v] = rate
    for d in range(1, dofs.shape[0]):
        if first <= dofs[d].v < first + count:
            dofs[d].tau = kept[12 + dofs[d].v - first]
