"""What the joints of a model say of its start, as columns of the tree and rows of closing joints."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..compile.row_records import along_rate, row_record
from ..compile.system import System, rate_columns
from ..engine.tables import COORDINATE, HOLD
from ..model.joints import Joint
from ..model.rotation import rotation_vectors


class Wishes:
    """What the joints of a model say of one field of the start: columns of the tree, and rows of closing joints."""

    def __init__(self, system: System, field: str):
        self.columns = np.zeros(system.nv, bool)
        rows: list[Any] = []
        self.names: list[str] = []
        self.units: list[str] = []
        self.values: list[float] = []
        table, coord = system.row_table, 0
        for joint in table.joints:
            placed = system.joints.get(joint.name)
            if getattr(joint, field) is None:
                pass
            elif placed is not None and placed.in_tree:
                self.columns[placed.v] = True
            else:
                values = joint.per_rate(field) if field == "velocity" else _positions(joint)
                for k, column in enumerate(rate_columns(joint)):
                    if field == "velocity":
                        name, unit = column
                        row = along_rate(
                            table.constraints.coords[coord + k], coord + k, HOLD, offset=values[k]
                        )
                    else:
                        name, unit = column.name.removesuffix("_rate"), column.unit.removesuffix("/s")
                        row = row_record(COORDINATE, HOLD, first=coord + k, offset=values[k])
                    rows.append(row)
                    self.names.append(name)
                    self.units.append(unit)
                self.values += values
            coord += len(joint.rates)
        self.rows: Any = np.arange(len(table.names), len(table.names) + len(rows))
        self.system = dataclasses.replace(system, rows=table.with_rows(rows, self.names))


def _positions(joint: Joint) -> list[float]:
    """The written position of a joint, one number per rate: of a quaternion, its rotation vector."""
    numbers, values = list(joint.start()), list[float]()
    for motion in joint.motions():
        part, numbers = numbers[: len(motion.coordinates)], numbers[len(motion.coordinates) :]
        values += rotation_vectors(np.array([part]))[0].tolist() if motion.ball else part
    return values
