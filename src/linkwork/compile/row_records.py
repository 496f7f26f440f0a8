"""Records of rows and of how coordinates are read from the frames of a joint, as tables have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..engine.tables import BALL_AXIS, COORDINATE, HOLD, NO_LAW, ROW, SLIDE, SPIN, TURN
from ..model.joints import Joint
from ..model.joints.base import AX, BX, Motion

VECTORS = ("x", "y", "z", "ax", "ay", "az", "bx", "by", "bz", "d")


def readings(joint: Joint) -> Iterator[tuple[Motion, int, tuple[int, ...]]]:
    """How each rate's coordinate is read from the joint frames A and B, slides standing before turns.

    A turn about axis k: sine a_j·b_i, cosine a_i·b_i, (k, i, j) cyclic. The second turn of a universal joint, whose
    first is about axis k: from a_k seen in B.
    """
    motions = joint.motions()
    turns = [motion for motion in motions if motion.rot and not motion.ball]
    for motion in motions:
        k = motion.axis
        i, j = (k + 1) % 3, (k + 2) % 3
        if motion.ball:
            for column in range(3):
                yield motion, BALL_AXIS, (0, 0, 0, 0, column)
        elif not motion.rot:
            yield motion, SLIDE, (0, 0, 0, 0, AX + k)
        elif len(turns) == 2 and motion is turns[1]:
            first = turns[0].axis
            third = 3 - k - first
            yield motion, TURN, (AX + first, BX + third, AX + first, BX + first, 0)
        else:
            yield motion, TURN, (AX + j, BX + i, AX + i, BX + i, 0)


def row_record(kind: int, role: int, group: int = 0, **fields: Any) -> Any:
    """A row that measures or does nothing but what is said."""
    row: Any = np.zeros((), ROW)
    row["kind"], row["role"], row["group"] = kind, role, group
    for name in ("pair", "first", "second", "input", "signal", "state", "column"):
        row[name] = -1
    row["law"], row["strength"], row["sign"] = NO_LAW, np.inf, 1.0
    for name, value in fields.items():
        if name == "value":
            row["value"][: len(value)] = value
        else:
            row[name] = value
    return row


def along_rate(record: Any, coord: int, role: int, group: int = 0, **fields: Any) -> Any:
    """A row along the rate of a coordinate: of a ball its angular velocity, not the rate of its rotation vector."""
    if record["how"] == BALL_AXIS:
        axis = BX + record["pick"][4]
        return row_record(SPIN, role, group, pair=record["pair"], alpha=axis, first=coord, **fields)
    return row_record(COORDINATE, role, group, first=coord, **fields)


def couplings(rows: Any) -> Any:
    """Indices of the rows that keep a relation of coordinates."""
    return np.flatnonzero((rows["kind"] == COORDINATE) & (rows["role"] == HOLD))


def stacked(rows: Sequence[Any], dtype: np.dtype) -> np.ndarray:
    """A table of records."""
    table = np.zeros(len(rows), dtype)
    for i, row in enumerate(rows):
        table[i] = row
    return table
