"""Natural coordinates of a model: unknowns, the rows that remain, the constant inertia, and ways there and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.coordinates.natural import (
    NATURAL_BODY,
    NATURAL_VECTOR,
    RIGID_ROW,
    SLOTS,
    TERM,
    Natural,
    floating_state,
    natural_row,
    place_natural,
    rigid_gradient,
    rigid_rows,
)
from ...engine.coordinates.tree import place
from ...engine.kernels.record import named
from ...engine.kernels.rows import measure
from ...engine.tables import HOLD
from ...model.errors import LinkworkError
from ...model.rotation import Array
from ..constrain import RowTable
from ..order import ends_of
from ..rank import ROOM, pivoted
from ..spanning import FLOATING
from ..system import System
from .affine import Affine
from .basis import Basis
from .links import body_numbers
from .rows import rigid_products, satisfied_rows

# Sine of the angle between a row and the others below which it follows from them; rows and unknowns are in metres,
# which costs a digit.
_DEPENDENT = 10.0 * ROOM


@dataclass(frozen=True)
class NaturalTable:
    """A choice of natural coordinates z for a system of floating bodies."""

    system: System
    natural: Natural
    """For kernels; `fresh` gives a copy with scratch of its own."""
    names: tuple[str, ...]
    """What each unknown is."""
    rows: RowTable
    """Rows of the system that sharing does not satisfy and that do not follow from others."""
    satisfied: tuple[str, ...]
    """Names of the joint equations that hold for any z that the rigid rows allow."""
    redundant: tuple[str, ...]
    """Names of those that follow from the ones kept wherever the mechanism goes."""
    inertia: Array
    """Constant mass matrix [kg, kg m or kg m²]."""
    weight: Array
    """Constant force of gravity on z."""
    bodies: tuple[Affine, ...]
    """Where each body's dof frame is: origin and columns of its rotation matrix, by z."""
    readings: Array
    """Row k gives z_k from the twelve numbers of body `read_from[k]`."""
    read_from: Array

    @property
    def count(self) -> int:
        """How many unknowns."""
        return len(self.names)

    def fresh(self) -> Natural:
        """A copy for kernels with scratch of its own."""
        return Natural(*(named(np.copy(part)) for part in self.natural))

    def from_floating(self, q: Array, v: Array) -> tuple[Array, Array]:
        """z and z' of a state of the floating bodies."""
        y, rate = _twelve(self.system, q, v)
        z = np.einsum("ij,ij->i", self.readings, y[self.read_from])
        zd = np.einsum("ij,ij->i", self.readings, rate[self.read_from])
        return z, zd

    def to_floating(self, z: Array, zd: Array) -> tuple[Array, Array]:
        """Coordinates and rates of the floating bodies for z and z'."""
        q, v = self.system.q0.copy(), self.system.v0.copy()
        tables, natural = self.system.fresh_tables(), self.fresh()
        place_natural(tables, natural, z, zd)
        floating_state(tables, natural, q, v)
        return q, v

    def touched(self) -> tuple[list[set[int]], list[set[int]]]:
        """The unknowns that each rigid row, and each row, may depend on."""
        natural, constraints = self.natural, self.rows.constraints
        ends = natural.vectors["first"] + natural.vectors["count"]
        vectors = [
            set(natural.terms["unknown"][first:end].tolist())
            for first, end in zip(natural.vectors["first"], ends, strict=True)
        ]
        rigid = [vectors[row["alpha"]] | vectors[row["beta"]] for row in natural.rigid]

        def reached(row: Any) -> set[int]:
            ends = ends_of(self.system.tables, constraints, row)
            bodies = [natural.body_of[link] for both in ends for link in both]
            return {i for b in bodies if b >= 0 for i in self.bodies[b].index}

        return rigid, [reached(row) for row in constraints.rows]


def choose(system: System, poses: Sequence[Array]) -> NaturalTable:
    """Natural coordinates of a system of floating bodies (`Compiled.floating`).

    `poses` are coordinates of its floating bodies at which all joints are closed, none of them singular if possible:
    rows that depend on others at the pose where the fewest do are left out.
    """
    if system.rows is None or any(f"{FLOATING}{body}" not in system.joints for body in system.bodies):
        raise LinkworkError(f"natural coordinates need '{system.name}' compiled with every body floating")
    basis = Basis(system)
    natural = _tables(system, basis)
    satisfied = satisfied_rows(basis, system.rows)
    inertia, weight = _weigh(system, basis)
    table = NaturalTable(
        system=system,
        natural=natural,
        names=tuple(basis.names),
        rows=_without(system.rows, satisfied),
        satisfied=satisfied,
        redundant=(),
        inertia=inertia,
        weight=weight,
        bodies=tuple(basis.where(b) for b in range(len(system.bodies))),
        readings=np.array([row for _, row in basis.readings]).reshape(-1, SLOTS),
        read_from=np.array([body for body, _ in basis.readings], np.int64),
    )
    return _drop_redundant(table, poses)


def _tables(system: System, basis: Basis) -> Natural:
    """Bodies, vectors, rigid rows and terms."""
    terms: list[tuple[int, int, float]] = []

    def fill(records: np.ndarray, functions: Sequence[Affine]) -> None:
        for record, where in zip(records, functions, strict=True):
            record["first"], record["constant"] = len(terms), where.constant
            for slot, k in zip(*np.nonzero(where.matrix), strict=True):
                terms.append((int(slot), where.index[k], float(where.matrix[slot, k])))
            record["count"] = len(terms) - record["first"]

    functions, products = rigid_products(basis)
    bodies, vectors = np.zeros(len(system.bodies), NATURAL_BODY), np.zeros(len(functions), NATURAL_VECTOR)
    bodies["link"] = system.tables.bodies["link"]
    fill(bodies, [basis.where(b) for b in range(len(bodies))])
    fill(vectors, functions)
    rigid = np.zeros(len(products), RIGID_ROW)
    for row, (alpha, beta, value) in zip(rigid, products, strict=True):
        row["alpha"], row["beta"], row["value"] = alpha, beta, value
    return Natural(*map(named, (bodies, vectors, rigid, np.array(terms, TERM), body_numbers(system))))


def _weigh(system: System, basis: Basis) -> tuple[Array, Array]:
    """Inertia and weight: a body's mass and second moments times the squares of what it depends on."""
    inertia, weight = np.zeros((basis.count, basis.count)), np.zeros(basis.count)
    gravity = -np.array(system.tables.dofs["A0"][0, 3:])
    for b, link in enumerate(system.tables.bodies["link"]):
        dof = system.tables.dofs[link]
        mass, com = float(dof["mass"]), np.array(dof["com"])
        xx, xy, xz, yy, yz, zz = dof["inertia"]
        about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        second = 0.5 * np.trace(about_com) * np.eye(3) - about_com + mass * np.outer(com, com)
        moments = np.block([[np.array([[mass]]), mass * com[None]], [mass * com[:, None], second]])
        where = basis.where(b)
        index = list(where.index)
        inertia[np.ix_(index, index)] += where.matrix.T @ np.kron(moments, np.eye(3)) @ where.matrix
        weight[index] += where.matrix.T @ np.kron(moments[0], gravity)
    return inertia, weight


# --- there and back ---


def _twelve(system: System, q: Array, v: Array) -> tuple[Array, Array]:
    """Origin and columns of every body's dof frame, and their rates, at a state of the floating bodies."""
    tables = system.fresh_tables()
    place(tables.dofs, tables.islands, q, v)
    dofs = tables.dofs[tables.bodies["link"]]
    r, w = dofs["r"], dofs["V"][:, :3]
    columns = np.array(dofs["R"]).reshape(-1, 3, 3).transpose(0, 2, 1)
    y = np.hstack([r + tables.islands["o"][dofs["island"]], columns.reshape(-1, 9)])
    turning = np.cross(w[:, None], columns)
    return y, np.hstack([dofs["V"][:, 3:] + np.cross(w, r), turning.reshape(-1, 9)])


# --- rows that repeat what others say ---


def _without(table: RowTable, names: Collection[str]) -> RowTable:
    return table.chosen([i for i, name in enumerate(table.names) if name not in names])


def _drop_redundant(table: NaturalTable, poses: Sequence[Array]) -> NaturalTable:
    """Without rows that depend on others at the pose where the fewest do; rigid rows are dropped last."""
    hold = np.flatnonzero(table.rows.constraints.rows["role"] == HOLD)
    best: tuple[np.ndarray, np.ndarray] | None = None
    for q in poses:
        rigid, held = gradients(table, *table.from_floating(q, np.zeros(table.system.nv)))
        kept = independent(rigid, held[hold])
        if best is None or sum(map(len, kept)) > sum(map(len, best)):
            best = kept
    if best is None:
        return table
    dropped = set(hold) - set(hold[best[1]])
    names = tuple(table.rows.names[i] for i in sorted(dropped))
    natural = table.natural._replace(rigid=table.natural.rigid[best[0]])
    return dataclasses.replace(table, natural=natural, rows=_without(table.rows, names), redundant=names)


def gradients(table: NaturalTable, z: Array, zd: Array) -> tuple[Array, Array]:
    """Gradients against z of the rigid rows and of all rows, a row each, at any z that keeps bodies rigid."""
    tables, constraints, natural = table.system.fresh_tables(), table.rows.fresh(), table.fresh()
    place_natural(tables, natural, z, zd)
    measure(tables, constraints, table.system.q0)
    rigid_rows(natural, z, zd)
    rigid = np.zeros((len(natural.rigid), table.count))
    for row, x in zip(natural.rigid, rigid, strict=True):
        rigid_gradient(natural, row, 1.0, x)
    rows = np.zeros((len(constraints.rows), table.count))
    for row, x in zip(constraints.rows, rows, strict=True):
        natural_row(tables, natural, constraints, row, x)
    return rigid, rows


def independent(first: Array, second: Array) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of `first`, and then of `second`, are far from depending on those chosen before; each sorted."""
    parts, basis = [], np.zeros((0, first.shape[1]))
    for rows in (first, second):
        size = np.linalg.norm(rows, axis=1)
        idle = size <= ROOM * size.max(initial=1.0)  # but for the digits that the model is written with
        unit = np.where(idle, 0.0, 1.0 / np.where(idle, 1.0, size))[:, None] * rows
        chosen, _ = pivoted(unit - (unit @ basis.T) @ basis, _DEPENDENT)
        basis = np.linalg.qr(np.vstack([basis, unit[chosen]]).T).Q.T
        parts.append(np.array(sorted(chosen), np.int64))
    return parts[0], parts[1]
