"""What drives, springs, bushings and line functions exert, by name, at samples of a motion.

A row's force is what the solver found for it; a load's is what its law gives for the sampled state. `ElementForces` is
the one place that knows which of the two an element has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..compile.constrain import RowTable
from ..compile.system import System
from ..engine.coordinates.observe import observe_elements
from ..engine.elements import LAWS, SPRING
from ..engine.loads import KIND_CODES, Bushing, LineFunction, Spring
from ..engine.tables import CALLED, DISTANCE, DOT, FRICTION, HOLD, LAW, LIMIT, Tables
from ..model.rotation import Array

_ALONG_LINE = (KIND_CODES[Spring], KIND_CODES[LineFunction])
_BUSHING = KIND_CODES[Bushing]


class ElementForces:
    """Names, units and values of the forces of a system's elements.

    Signs: of a drive, a backlash, and of a joint's own springs, dampers, friction and limits, positive drives the
    coordinate upwards; of springs and line functions, positive pulls their points together; of bushings, positive along
    an axis pulls b's point down that axis; of tyres, what the road exerts on them: forward, to the left, upwards.
    """

    def __init__(self, system: System):
        self._columns: dict[str, str] = {}  # units by name
        self._rows: dict[str, tuple[int, float]] = {}  # by the name of a row: column, factor
        self._dofs, self._dof_columns = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._loads: list[tuple[int, int, int]] = []  # load, component, column
        if system.rows is not None:
            self._find_rows(system.rows.every)
        else:
            self._find_joint_springs(system)
        for i, (name, kind) in enumerate(zip(system.loads, system.tables.loads["kind"], strict=True)):
            parts = [f"{name}.force"] if kind in _ALONG_LINE else []
            if kind == _BUSHING:
                parts = [f"{name}.force.{axis}" for axis in "xyz"]
            for k, part in enumerate(parts):
                if part not in self._columns:  # else a drive has the same name
                    self._loads.append((i, k, self._column(part, "N")))
        self.columns = tuple(self._columns.items())
        """Names and units."""

    def measure(
        self, tables: Tables, t: Array, q: Array, v: Array, stretches: Sequence[tuple[Sequence[str], Array]]
    ) -> Array:
        """Samples × columns; `stretches` are names of rows and their forces, one stretch of samples after the other."""
        out = np.zeros((len(t), len(self.columns)))
        begin = 0
        for names, forces in stretches:
            end = begin + len(forces)
            for k, name in enumerate(names):
                if name in self._rows:
                    column, factor = self._rows[name]
                    out[begin:end, column] += factor * forces[:, k]
            begin = end
        if len(self._dofs) or self._loads:
            along, loads = np.empty((len(t), len(self._dofs))), np.empty((len(t), len(tables.loads), 3))
            observe_elements(tables, t, q, v, self._dofs, along, loads)
            out[:, self._dof_columns] = along
            for i, k, column in self._loads:
                out[:, column] = loads[:, i, k]
        return out

    def _column(self, name: str, unit: str) -> int:
        self._columns.setdefault(name, unit)
        return list(self._columns).index(name)

    def _find_rows(self, table: RowTable) -> None:
        rows = table.constraints.rows
        units = [_force_unit(m.rate_unit) for joint in table.joints for m in joint.motions() for _ in m.rates]
        for name, row in zip(table.names, rows, strict=True):
            label, role = name.partition(": ")[0], int(row["role"])
            own = row["input"] < 0  # of a joint itself
            if role == HOLD:
                continue
            unit = units[int(row["first"])] if row["first"] >= 0 else "N"
            if row["kind"] == CALLED:  # of a tyre: what the road exerts on it
                part = name.rpartition(": tyre ")[2]
                if part in _TYRE:
                    self._rows[name] = self._column(f"{label}.force.{_TYRE[part]}", "N"), 1.0
            elif row["kind"] in (DISTANCE, DOT):  # of a load: positive pulls together
                if label in table.drives:  # a drive has the same name
                    continue
                axis = name.rpartition("bushing ")[2] if ": bushing " in name else ""
                self._rows[name] = self._column(f"{label}.force{axis and '.'}{axis}", unit), -1.0
            elif name.endswith((": flanks", " flank")):  # of a joint with play, or of two
                if label not in table.drives:
                    self._rows[name] = self._column(f"{label}.force", unit), float(row["sign"])
            elif not own:
                self._rows[name] = self._column(f"{label}.force", unit), 1.0
            elif role in _OWN and (role != LAW or row["law"] == LAWS.index(SPRING)):
                factor = float(row["sign"]) if role == LIMIT else 1.0
                self._rows[name] = self._column(f"{label}_{_OWN[role]}_force", unit), factor

    def _find_joint_springs(self, system: System) -> None:
        dofs = system.tables.dofs
        springy = np.flatnonzero((dofs["stiffness"] != 0.0) | (dofs["damping"] != 0.0))
        columns = []
        for d in springy:
            rate, unit = system.rates[int(dofs["v"][d])]
            columns.append(self._column(f"{rate.removesuffix('_rate')}_spring_force", _force_unit(unit)))
        self._dofs, self._dof_columns = springy.astype(np.int64), np.array(columns, np.int64)


_TYRE = {"along": "x", "across": "y", "load": "z"}
_OWN = {LAW: "spring", FRICTION: "friction", LIMIT: "limit"}


def _force_unit(rate_unit: str) -> str:
    return "N m" if rate_unit == "rad/s" else "N"
