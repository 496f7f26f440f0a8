"""Scenes with loops at their start: their independent equations, and what holds them."""

import numpy as np

from linkwork import scene
from linkwork.compile.compiler import compile_model
from linkwork.mechanism.kinematics import Kinematics

# The equations of these mechanisms, of lengths around one metre, have singular values of 1e-2 to 1e1; those that
# vanish are left with rounding, some 1e-16.
RANK = 1e-9


def at_start(name, parameters):
    """The mechanism in its starting pose, and its system."""
    system = compile_model(scene(name, **parameters), rows=True)
    kinematics = Kinematics(system)
    kinematics.place(system.q0, system.v0)
    return kinematics, system


def rank(J):
    """Independent equations among the rows."""
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > RANK * values[0]).sum())


def slope_of_energy(kinematics, system):
    """Generalised forces that hold the tree of a mechanism, its loops cut, against gravity at its start [N m, N]."""
    return kinematics.demand(system.q0, np.zeros(system.nv), np.zeros(system.nv))


def holding(kinematics, system, drives):
    """Forces of drives that hold a mechanism at its start [N, N m], by virtual work over its free directions."""
    J = kinematics.jacobian()
    named = [
        next(i for i, row in enumerate(kinematics.names) if row.startswith(f"{name}:")) for name in drives
    ]
    _, _, rows = np.linalg.svd(J[kinematics.hold])
    free = rows[rank(J[kinematics.hold]) :]
    slope = slope_of_energy(kinematics, system)
    forces, *_ = np.linalg.lstsq(free @ J[named].T, free @ slope, rcond=None)
    np.testing.assert_allclose(free @ J[named].T @ forces, free @ slope, atol=1e-8 * np.abs(slope).max())
    return forces
