"""A compiled mechanism as functions of its coordinates, for studies that work in NumPy.

Gaps, Jacobian, inertia and forces at a pose; steps on the manifold of coordinates. One pose costs some microseconds and
a few small arrays: right for assembly, statics and checks, not for stepping.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..compile.row_records import couplings
from ..compile.system import System
from ..engine.coordinates.dynamics import inverse_dynamics
from ..engine.coordinates.factor import project_row
from ..engine.coordinates.tree import mass_matrix, place, retract
from ..engine.kernels.rows import measure, measure_motion
from ..engine.tables import HOLD, Constraints, Tables
from ..model.rotation import Array

Indices = npt.NDArray[np.signedinteger[Any]]
"""Numbers of rows or coordinates."""


class Kinematics:
    """Rows of a system compiled with `rows=True`. Jacobians and inertia are numbered like the rates of the system."""

    def __init__(self, system: System):
        self.system = system
        self.tables = system.fresh_tables()
        self.constraints = system.row_table.fresh()
        self.constraints.coords["used"] = 1  # `bias` may be asked of any
        self.names = system.row_table.names
        self.hold: Indices = np.flatnonzero(self.constraints.rows["role"] == HOLD)
        """Indices of the rows that hold a position: joint equations and couplings."""
        self._order = np.argsort(self.tables.dofs["v"][1:])

    def place(self, q: Array, v: Array | None = None) -> None:
        """Go to a pose; what follows is about it."""
        rates = np.zeros(self.system.nv) if v is None else v
        place(self.tables.dofs, self.tables.islands, q, rates)
        measure(self.tables, self.constraints, q)

    def settle(self, q: Array) -> None:
        """Let couplings hold the joints in the relation that they are in at a pose."""
        settle(self.tables, self.constraints, q)

    @property
    def gaps(self) -> Array:
        """phi of every row at the pose [rad or m]."""
        return np.array(self.constraints.rows["phi"])

    def bias(self) -> Array:
        """J' v of every row at the pose and the rates given with it: phi'' if no joint accelerates."""
        measure_motion(self.tables, self.constraints)
        return np.array(self.constraints.rows["bias"])

    def jacobian(self, rows: Indices | None = None) -> Array:
        """J of the chosen rows (all by default) at the pose: phi' = J v."""
        chosen = range(len(self.names)) if rows is None else rows
        J = np.zeros((len(chosen), self.system.nv))
        for k, i in enumerate(chosen):
            project_row(self.tables.dofs, self.constraints, self.constraints.rows[i], J[k])
        return J[:, self._order]

    def inertia(self) -> Array:
        """Joint-space inertia at the pose; spoils the placed tables."""
        H = np.zeros((self.system.nv, self.system.nv))
        mass_matrix(self.tables.dofs, H)
        return H

    def demand(self, q: Array, v: Array, qdd: Array, t: float = 0.0) -> Array:
        """Generalised forces for accelerations qdd beside gravity and loads that are no rows; spoils the tables."""
        tau = np.zeros(self.system.nv)
        inverse_dynamics(self.tables, q, v, t, qdd, tau)
        return tau

    def moved(self, q: Array, delta: Array) -> Array:
        """q ⊕ delta: a displacement, numbered like the rates, onto the coordinates."""
        result = np.empty_like(q)
        retract(self.tables.dofs, q, delta, result)
        return result


def settle(tables: Tables, constraints: Constraints, q: Array) -> None:
    """Start of the rows, measured at a pose: couplings hold the joints in the relation that they are in there."""
    place(tables.dofs, tables.islands, q, np.zeros(len(tables.dofs) - 1))
    measure(tables, constraints, q)
    held = couplings(constraints.rows)
    constraints.rows["offset"][held] += constraints.rows["phi"][held]
