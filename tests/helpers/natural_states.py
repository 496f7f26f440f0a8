"""Mechanisms in natural coordinates beside their trees, and states of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.compile.compiler import Compiled, compile_model
from linkwork.compile.natural import NaturalTable, choose
from linkwork.compile.rank import null_space
from linkwork.compile.system import System
from linkwork.engine.coordinates.natural import (
    Natural,
    natural_loads,
    natural_row,
    place_natural,
    rigid_gradient,
    rigid_rows,
)
from linkwork.engine.coordinates.tree import place
from linkwork.engine.kernels.rows import survey
from linkwork.engine.loads import apply_loads
from linkwork.engine.tables import Constraints, Tables
from linkwork.mechanism.kinematics import Kinematics, settle
from linkwork.mechanism.mobility import Mobility, analyse
from linkwork.methods.rows import Start, floating
from linkwork.model import Model
from linkwork.model.rotation import Array


@dataclass
class Placed:
    """Natural coordinates at a state, with everything that kernels say of it."""

    tables: Tables
    constraints: Constraints
    natural: Natural
    rigid: Array
    """Gradients of the rigid rows."""
    rows: Array
    """Gradients of the rows."""
    forces: Array
    """Of loads, on z."""
    power: float
    """That loads supply [W]."""


class Mechanism:
    """A model as a tree and in natural coordinates."""

    def __init__(self, model: Model):
        self.model = model
        self.start = Start(model, False)
        self.tree: System = self.start.tree
        self.system = Compiled(model).floating
        self.mobility: Mobility = analyse(self.tree, self.start.tree_q)
        poses = [self.floating(q, np.zeros(self.tree.nv))[0] for q in (self.start.tree_q, self.mobility.pose)]
        self.table: NaturalTable = choose(self.system, poses)

    def floating(self, q: Array, v: Array) -> tuple[Array, Array]:
        return floating(self.model, self.system, self.tree, q, v)

    def natural(self, q: Array, v: Array) -> tuple[Array, Array]:
        """z and z' of a state of the tree."""
        return self.table.from_floating(*self.floating(q, v))

    def moving(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """A closed pose of the tree that is not singular, with random rates that the loops allow."""
        kin = Kinematics(self.tree)
        kin.place(self.mobility.pose)
        N = null_space(kin.jacobian(kin.hold), 1e-9)
        v = N @ rng.normal(size=N.shape[1])
        return self.mobility.pose, v / max(1.0, np.abs(v).max(initial=0.0))

    def place(self, z: Array, zd: Array, t: float = 0.0) -> Placed:
        tables, constraints, natural = self.system.fresh_tables(), self.table.rows.fresh(), self.table.fresh()
        settle(tables, constraints, self.floating(self.start.tree_q, np.zeros(self.tree.nv))[0])
        constraints.coords["used"] = 1
        place_natural(tables, natural, z, zd)
        supplied, _ = apply_loads(tables, self.system.q0, self.system.v0, t)
        survey(tables, constraints, self.system.q0)
        rigid_rows(natural, z, zd)
        n = self.table.count
        rigid, rows = np.zeros((len(natural.rigid), n)), np.zeros((len(constraints.rows), n))
        for row, x in zip(natural.rigid, rigid, strict=True):
            rigid_gradient(natural, row, 1.0, x)
        for row, x in zip(constraints.rows, rows, strict=True):
            natural_row(tables, natural, constraints, row, x)
        forces = np.zeros(n)
        natural_loads(tables, natural, forces)
        return Placed(tables, constraints, natural, rigid, rows, forces, supplied)


def tree_inertia(system: System, q: Array) -> Array:
    """Joint-space inertia of the bodies alone, without rotors."""
    kin = Kinematics(system)
    kin.tables.dofs["armature"] = 0.0
    kin.place(q)
    return kin.inertia()


def tree_accelerations(model: Model, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """Angular accelerations of all bodies and accelerations of their origins, for joint accelerations a."""
    system = compile_model(model, rows=True)
    tables = system.fresh_tables()
    place(tables.dofs, tables.islands, q, v)
    dofs = tables.dofs
    A = np.array(dofs["A0"])
    for d in range(1, len(dofs)):
        carried = d
        while carried != 0:
            A[d] += a[dofs[carried]["v"]] * dofs[carried]["S"]
            carried = int(dofs[carried]["parent"])
    A[:, 3:] -= dofs["A0"][0, 3:]
    turning, moving = [], []
    for body in tables.bodies:
        link = int(body["link"])
        r = dofs[link]["r"] + dofs[link]["R"].reshape(3, 3) @ body["X_p"]
        w, u = dofs[link]["V"][:3], dofs[link]["V"][3:]
        e, f = (A[link][:3], A[link][3:]) if link else (np.zeros(3), np.zeros(3))
        turning.append(e)
        moving.append(f + np.cross(e, r) + np.cross(w, u + np.cross(w, r)))
    return np.array(turning), np.array(moving)


def natural_accelerations(mechanism: Mechanism, placed: Placed, zdd: Array) -> tuple[Array, Array]:
    """The same for accelerations of z."""
    turning, moving = [], []
    for b, where in enumerate(mechanism.table.bodies):
        y = placed.natural.bodies["y"][b]
        ydd = where.matrix @ zdd[list(where.index)]
        at = np.array(mechanism.system.tables.bodies["X_p"][b])
        turning.append(0.5 * np.cross(y[3:].reshape(3, 3), ydd[3:].reshape(3, 3)).sum(axis=0))
        moving.append(ydd[:3] + at @ ydd[3:].reshape(3, 3))
    return np.array(turning), np.array(moving)
