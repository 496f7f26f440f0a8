"""What the joints of a model say of its start, as columns of the tree and rows of closing joints."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..compile.system import System
from ..engine.tables import BALL_AXIS, COORDINATE, HOLD, ROW, SPIN
from ..model.joints.base import BX


class Wishes:
    """What the joints of a model say of one field of the start: columns of the tree, and rows of closing joints."""

    def __init__(self, system: System, field: str):
        self.columns = np.zeros(system.nv, bool)
        rows: list[Any] = []
        self.names: list[str] = []
        self.units: list[str] = []
        self.values: list[float] = []
        coord = 0
        for joint in system.row_table.joints:
            placed = system.joints.get(joint.name)
            written = getattr(joint, field) is not None
            if written and placed is not None and placed.in_tree:
                self.columns[placed.v] = True
            elif written:
                values = _rotation_vectors(joint) if field == "position" else joint.per_rate(field)
                for k, name in enumerate(joint.rates):
                    row: Any = np.zeros((), ROW)
                    row["kind"], row["role"], row["sign"] = COORDINATE, HOLD, 1.0
                    row["first"], row["offset"] = coord + k, values[k]
                    row["pair"] = row["second"] = row["input"] = row["signal"] = -1
                    record = system.row_table.constraints.coords[coord + k]
                    if (
                        field == "velocity" and record["how"] == BALL_AXIS
                    ):  # angular velocity, about axes of B
                        row["kind"], row["pair"], row["alpha"] = SPIN, record["pair"], BX + record["pick"][4]
                    rows.append(row)
                    rate = f"{joint.name}.{name}"
                    self.names.append(rate if field == "velocity" else rate.removesuffix("_rate"))
                    self.values.append(values[k])
                self.units += [
                    m.rate_unit if field == "velocity" else m.rate_unit.removesuffix("/s")
                    for m in joint.motions()
                    for _ in m.rates
                ]
            coord += len(joint.rates)
        table = np.zeros(len(rows), ROW)
        for i, row in enumerate(rows):
            table[i] = row
        kept = system.row_table.constraints.rows
        constraints = system.row_table.constraints._replace(
            rows=np.concatenate([kept, table]).view(type(kept))
        )
        self.rows: Any = np.arange(len(kept), len(kept) + len(rows))
        self.system = dataclasses.replace(
            system,
            rows=dataclasses.replace(
                system.row_table, constraints=constraints, names=(*system.row_table.names, *self.names)
            ),
        )


def _rotation_vectors(joint: Any) -> list[float]:
    """The written position of a joint, one number per rate: of a quaternion, its rotation vector."""
    numbers, i = list(joint.start()), 0
    values: list[float] = []
    for motion in joint.motions():
        part = numbers[i : i + len(motion.coordinates)]
        i += len(part)
        if motion.ball:
            w, u = part[0], np.array(part[1:])
            sine = float(np.linalg.norm(u))
            turn = 2.0 * np.arctan2(sine, abs(w)) * (1.0 if w >= 0.0 else -1.0)
            values += (turn / sine * u).tolist() if sine > 0.0 else [0.0, 0.0, 0.0]
        else:
            values += part
    return values
