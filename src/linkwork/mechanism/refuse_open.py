"""Refuse a start whose loops stay open, or close the wrong way round."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ..compile.rank import ROOM
from ..compile.spanning import FLOATING
from ..compile.system import System
from ..engine.tables import DOT
from ..model.errors import ModelError, Problem
from ..model.joints.base import AX, AY, BY, BZ
from ..model.rotation import Array
from .closure import Closure, loop_of

ACCEPTED = ROOM
"""What may stay open, as a share of the mechanism's size: loops that only rounded numbers keep from closing."""


def refuse_open(system: System, closure: Closure, q: Array) -> None:
    """Raise if a joint is open at the assembled pose, or closed the wrong way round."""
    gaps = closure.gaps(q)
    rows = closure.kin.constraints.rows[closure.rows]
    allowed = ACCEPTED * np.where(closure.row_scale == 1.0, 1.0, np.minimum(1.0, 1.0 / closure.length))
    if (np.abs(gaps) > allowed).any():
        worst: dict[tuple[int, str], float] = defaultdict(float)
        for row, gap, unit in zip(rows, gaps, closure.units, strict=True):
            worst[int(row["group"]), unit] += gap * gap
        group, unit = max(worst, key=worst.__getitem__)
        size = np.sqrt(worst[group, unit]) * (closure.length if unit == "m" else 1.0)
        named = closure.kin.names[closure.rows[int(np.flatnonzero(rows["group"] == group)[0])]].partition(":")
        if group >= len(system.row_table.joints):
            where, loop = f"coupling '{named[0]}'", "the relation that it keeps"
        else:
            where, loop = f"joint '{named[0]}'", f"the loop that it closes{_through(system, named[0])}"
        raise ModelError(
            [
                Problem(
                    where,
                    f"stays open by {size:.3g} {unit}: {loop} cannot be assembled from this start; correct the start "
                    "positions or the lengths around it",
                )
            ]
        )
    reversed_ = _reversed(closure, rows)
    if reversed_:
        raise ModelError(
            Problem(
                f"joint '{name}'",
                f"would close half a turn from where it belongs, its axes reversed: the loop{_through(system, name)} "
                "cannot be assembled from this start; correct the start positions around it",
            )
            for name in reversed_
        )


def _reversed(closure: Closure, rows: Any) -> list[str]:
    """Joints whose axes are parallel but point against each other: their equations cannot tell, only the frames can."""
    held: dict[int, set[tuple[int, int]]] = defaultdict(set)
    names = {}
    for row, i in zip(rows, closure.rows, strict=True):
        if row["kind"] == DOT:
            held[int(row["pair"])].add((int(row["alpha"]), int(row["beta"])))
            names[int(row["pair"])] = closure.kin.names[i].partition(":")[0]
    found = []
    for pair, equations in held.items():
        record = closure.kin.constraints.pairs[pair]
        turn = (record["R_A"].reshape(3, 3) * record["R_B"].reshape(3, 3)).sum(
            axis=0
        )  # cosines between like axes
        along = {(AX, BZ), (AY, BZ)} <= equations
        if along and (turn[2] < 0.0 or ((AX, BY) in equations and turn[0] < 0.0)):
            found.append(names[pair])
    return found


def _through(system: System, name: str) -> str:
    joints = [p.joint for p in system.joints.values() if not p.name.startswith(FLOATING)]
    path = loop_of(joints, system.joints[name].joint)
    if not path:
        return ""
    shown = path if len(path) <= 6 else [*path[:3], "...", *path[-2:]]
    return f" (through {', '.join(shown)})"
