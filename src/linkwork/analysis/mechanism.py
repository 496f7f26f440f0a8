"""A mechanism for studies in NumPy: its poses, what pushes in it, and how its rows bend.

Beside the rows of the model there are two for every joint coordinate: one that measures it, so that it can be
prescribed, and one that pushes along it, so that a force there can be asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..compile.compiler import Compiled
from ..compile.rank import null_space
from ..engine.elements.respond import bounded, respond, settled
from ..engine.kernels.signal import signal_value
from ..engine.tables import FRICTION, LAW, LIMIT, SERVO_RATE
from ..mechanism.assemble import assemble
from ..mechanism.kinematics import Indices
from ..mechanism.linkage import Linkage
from ..methods.capabilities import STUDIES, require
from ..model import Model
from ..model.rotation import Array


class Mechanism(Linkage):
    """A model compiled with rows. Rates, Jacobians and forces are numbered like the rates of the system.

    Bodies that touch carry load that nothing here knows of: studies refuse them, or ask a simulation.
    """

    def __init__(self, model: Model | Compiled):
        compiled = Compiled.of(model)
        require([STUDIES], compiled.flat)
        self.drives = compiled.flat.drives
        super().__init__(compiled.rows)
        self.limits = self._of_role(LIMIT)
        self.friction = self._of_role(FRICTION)
        self.servos = self._of_role(SERVO_RATE)
        """Rows of velocity servos: constraints of a kind, not forces."""
        self.kin.settle(self.system.q0)

    def _of_role(self, role: int) -> Indices:
        found: Indices = np.flatnonzero(self.kin.constraints.rows["role"][: self.count] == role)
        return found

    # --- names ---

    def force_unit(self, coordinate: int) -> str:
        """Unit of a force along a coordinate."""
        return self.row_force_unit(int(self.places[coordinate]))

    def row_force_unit(self, row: int) -> str:
        """Unit of a force along what a row measures."""
        return "N" if self.units[row] == "m" else "N m"

    def drives_at(self, coordinate: int) -> list[int]:
        """Rows of the drives that act on a coordinate."""
        rows = self.kin.constraints.rows
        return [i for i in range(self.count) if rows["input"][i] >= 0 and rows["first"][i] == coordinate]

    def drive_name(self, row: int) -> str:
        """Name of the drive that a row belongs to."""
        return self.system.row_table.drives[int(self.kin.constraints.rows["input"][row])]

    def busiest(self, direction: Array) -> str:
        """Name of the coordinate of the tree that moves most in a direction of motion; of equals, the first."""
        size = np.abs(direction) / self.strides
        column = self.system.rates[int(np.argmax(size >= 0.9 * size.max()))]
        return column.name.removesuffix("_rate")

    # --- poses ---

    def mobility(self, rows: Indices) -> Array:
        """Directions of motion at the pose that no row of these resists, as columns."""
        N: Array = self.strides[:, None] * null_space(self.dimensionless(rows=rows))
        return N

    def independent(self, rows: Indices, more: Indices) -> Indices:
        """Those of `more` that resist, each in turn, a motion at the pose that all before them leave free."""
        kept = list(rows)
        rank = self.system.nv - self.mobility(rows).shape[1]
        for row in more:
            wider = self.system.nv - self.mobility(np.array([*kept, row], np.int64)).shape[1]
            if wider > rank:
                kept.append(row)
                rank = wider
        return np.array(kept[len(rows) :], np.int64)

    def assemble(self) -> Array:
        """The pose in which a run would start: as written, with its loops closed."""
        q = assemble(self.system).q
        self.kin.place(q)
        return q

    def bias(self, q: Array, v: Array) -> Array:
        """How the rates of all rows change by motion alone, J' v [rad/s² or m/s²]; goes back to the pose q."""
        self.kin.place(q, v)
        bias = self.kin.bias()
        self.kin.place(q)
        return bias

    # --- forces ---

    def command(self, row: int, t: float) -> float:
        """What the drive of a row is told at a time."""
        record = self.kin.constraints.rows[row]
        if record["input"] < 0:
            return 0.0
        told = float(self.kin.constraints.inputs[record["input"]])
        return told * float(signal_value(self.kin.tables, int(record["signal"]), t))

    def acting(self, without: Iterable[int] = ()) -> Indices:
        """Rows that push by a law of their own: springs, friction, drives; less those in `without`."""
        roles = self.kin.constraints.rows["role"][: self.count]
        return np.setdiff1d(np.flatnonzero(np.isin(roles, (LAW, FRICTION))), list(without))

    def law(self, row: int, rate: float, acceleration: float, command: float, t: float) -> float:
        """Force of an acting row at the pose, along what it measures [N m or N]; its state has settled."""
        record = self.kin.constraints.rows[row]
        if record["role"] == FRICTION:
            return float(-record["strength"] * np.sign(rate))
        record["rate"] = rate
        if record["state"] >= 0:
            record["x"] = settled(record, command)
        answer = bounded(record, respond(self.kin.tables, record, command, t, False))
        return float(answer.force - record["inertia"] * acceleration)
