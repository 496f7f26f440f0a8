"""What makes rows and rates of a mechanism compare: their units, sizes of the loops, rows that no motion changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile.rank import ROOM
from ..compile.system import System
from ..engine.tables import COORDINATE, DOT, SPIN
from ..model.joints.base import D
from ..model.rotation import Array
from .kinematics import Kinematics

_SAME = 1e-10  # distances below this share of the largest that they are computed from are rounding
_POSES = 5  # at which rows are tried: the pose itself and random ones


def idle_rows(system: System, q: Array) -> Any:
    """Which rows no motion of the tree changes by more than rounding of the model's numbers.

    A row in joint space is an analytic function of the coordinates: if it vanishes at a few random poses, it vanishes
    everywhere. Planar mechanisms built from spatial joints are full of such rows; joints whose axes should be parallel
    but are written with six to ten digits leave that much of them [rad, or m in sizes of the loop].
    """
    kin = Kinematics(system)
    kin.place(q)
    sizes, strides = local_sizes(kin)
    random = np.random.default_rng(0)
    rows: Any = np.arange(len(kin.names))
    moved = np.zeros(len(rows))
    for _ in range(_POSES):
        size = np.abs(kin.jacobian(rows) / sizes[rows, None] * strides).max(axis=1, initial=0.0)
        moved[rows] = np.maximum(moved[rows], size)
        rows = rows[moved[rows] <= ROOM]
        if not len(rows):
            break
        kin.place(q + random.normal(size=len(q)))
    return moved <= ROOM


def idle_here(kin: Kinematics) -> Any:
    """Which rows no rate changes where a mechanism stands, by more than rounding of the model's numbers.

    Such rows ask for nothing, however small the mass is that they would move: two balls on one body leave it free to
    turn about the line through both, and what is left of the row along that line is rounding.
    """
    sizes, strides = local_sizes(kin)
    moved = np.abs(kin.jacobian(np.arange(len(kin.names))) / sizes[:, None] * strides)
    return moved.max(axis=1, initial=0.0) <= ROOM


def local_sizes(kin: Kinematics) -> tuple[Array, Array]:
    """Lengths at the pose that make rows and rates dimensionless: of each row the size of its loop [m], 1 for angles.

    The size of a loop is how far its joints are from the one that closes it: a small mechanism on a large machine is
    measured by itself. Sliding rates count in sizes of the largest loop that they are part of.
    """
    dofs, pairs = kin.tables.dofs, kin.constraints.pairs
    slides = {int(v) for v, c in enumerate(kin.system.rates) if c.unit.startswith("m")}
    sizes, strides, units = np.ones(len(kin.names)), np.ones(kin.system.nv), row_units(kin.system)
    rounding = _SAME * _largest_distance(kin)
    loops: dict[int, float] = {}
    largest: dict[int, float] = {}
    for i, row in enumerate(kin.constraints.rows):
        pair = int(row["pair"])
        if row["kind"] == COORDINATE:
            continue
        if pair not in loops:
            loops[pair], rates = _loop_size(dofs, pairs[pair], rounding)
            for rate in slides.intersection(rates):
                largest[rate] = max(largest.get(rate, 0.0), loops[pair])
        if units[i] == "m" and loops[pair] > 0.0:
            sizes[i] = loops[pair]
    for rate, size in largest.items():
        strides[rate] = size if size > 0.0 else 1.0
    return sizes, strides


def _largest_distance(kin: Kinematics) -> float:
    """Of anything from what its place is told by: the world, a reference point, a body or a joint [m].

    Where a joint stands is a sum of such distances, also if the sum is zero: it is known to a share of the largest.
    """
    tables, pairs = kin.tables, kin.constraints.pairs
    frames = (pairs["X_A"][:, 9:], pairs["X_B"][:, 9:])
    told = (tables.islands["o"], tables.dofs["r"], tables.bodies["X_p"], *frames)
    return max(float(np.abs(part).max(initial=0.0)) for part in told)


def _loop_size(dofs: Any, pair: Any, rounding: float) -> tuple[float, list[int]]:
    """Distance of the farthest joint of a loop from the frames that close it [m]; rates of the joints in the loop.

    Where all of them stand in one place but for rounding [m], as of a joint that takes hold upon another, it is zero.
    """
    size, rates = 0.0, []
    a, b = int(pair["a"]), int(pair["b"])
    while a != b:  # up to where the paths to the root meet
        from_a = b == 0 or (a != 0 and dofs["depth"][a] >= dofs["depth"][b])
        d, r = (a, pair["r_A"]) if from_a else (b, pair["r_B"])
        size = max(size, float(np.linalg.norm(dofs["r"][d] - r)))
        rates.append(int(dofs["v"][d]))
        if from_a:
            a = int(dofs["parent"][a])
        else:
            b = int(dofs["parent"][b])
    return size if size > rounding else 0.0, rates


def row_units(system: System) -> list[str]:
    """m or rad for what every row measures."""
    table = system.row_table
    coords = [
        m.rate_unit.removesuffix("/s") for joint in table.joints for m in joint.motions() for _ in m.rates
    ]

    def unit(row: Any) -> str:
        if row["kind"] == COORDINATE:
            return coords[int(row["first"])]
        turns = row["kind"] == SPIN or (row["kind"] == DOT and D not in (row["alpha"], row["beta"]))
        return "rad" if turns else "m"

    return [unit(row) for row in table.constraints.rows]
